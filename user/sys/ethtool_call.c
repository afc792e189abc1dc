// SPDX-License-Identifier: GPL-2.0-or-later
/* The ethtool ioctl; see ethtool_call.h. Called by link_settings.c, link_channels.c and collect_ethtool.c. */
#include "sys/ethtool_call.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/if.h>
#include <linux/sockios.h>

int ethtool_socket(void)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	return fd < 0 ? -errno : fd;
}

int ethtool_call_on(int socket_fd, const char *interface, void *command)
{
	struct ifreq request = { .ifr_data = command };
	int result;

	if (!*interface || strlen(interface) >= sizeof(request.ifr_name))
		return -ENODEV;
	memcpy(request.ifr_name, interface, strlen(interface) + 1);
	result = ioctl(socket_fd, SIOCETHTOOL, &request);
	return result < 0 ? -errno : result;
}

int ethtool_call(const char *interface, void *command)
{
	int fd = ethtool_socket(), result;

	if (fd < 0)
		return fd;
	result = ethtool_call_on(fd, interface, command);
	close(fd);
	return result;
}
