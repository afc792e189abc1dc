// SPDX-License-Identifier: GPL-2.0-or-later
/* Taps; see tap.h. Called by lab/lab_build.c. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/if.h>
#include <linux/if_tun.h>

#include "base/error.h"
#include "sys/tap.h"

#define TUN_DEVICE "/dev/net/tun"

int tap_create(const char *name, int several_queues)
{
	struct ifreq request = { .ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR };
	int fd, result = 0;

	if (!*name || strlen(name) >= sizeof(request.ifr_name))
		return error_set(EINVAL, "'%s' is no interface name: it has 1 to %zu characters", name,
				 sizeof(request.ifr_name) - 1);
	strcpy(request.ifr_name, name);
	if (several_queues)
		request.ifr_flags |= IFF_MULTI_QUEUE;
	fd = open(TUN_DEVICE, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return error_set(errno, "cannot open " TUN_DEVICE ", which makes taps: %s", strerror(errno));
	if (ioctl(fd, TUNSETIFF, &request) < 0 || ioctl(fd, TUNSETPERSIST, 1) < 0)
		result = error_set(errno, "cannot make the tap %s: %s", name, strerror(errno));
	close(fd);
	return result;
}
