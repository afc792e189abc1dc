// SPDX-License-Identifier: GPL-2.0-or-later
/* sysfs without a path; see sysfs_mount.h. Called by link_napi.c and collect_links.c. */
#include "sys/sysfs_mount.h"

#include <errno.h>
#include <sys/mount.h>
#include <unistd.h>

int sysfs_mount(void)
{
	int context = fsopen("sysfs", FSOPEN_CLOEXEC), result = -1;

	if (context >= 0 && fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
		result = fsmount(context, FSMOUNT_CLOEXEC, 0);
	if (result < 0)
		result = -errno;
	if (context >= 0)
		close(context);
	return result;
}
