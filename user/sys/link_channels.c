// SPDX-License-Identifier: GPL-2.0-or-later
/* Queues of an interface, over the ethtool ioctl; see link_channels.h. Called by port/xsk_queue.c and port/xsk_steer.c.
 */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/ethtool.h>
#include <linux/if.h>
#include <linux/sockios.h>

#include "base/error.h"
#include "sys/link_channels.h"
#include "sys/rtnl.h"

int link_channels(const char *name, unsigned int *receive, unsigned int *transmit)
{
	struct ethtool_channels channels = { .cmd = ETHTOOL_GCHANNELS };
	struct ifreq request = { .ifr_data = (void *)&channels };
	struct rtnl_link link;
	int fd, code;

	*receive = *transmit = 0;
	code = rtnl_link_get(name, &link);
	if (code)
		return code;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return error_set(errno, "%s: cannot ask for its queues: %s", name, strerror(errno));
	strncpy(request.ifr_name, name, sizeof(request.ifr_name) - 1);
	code = ioctl(fd, SIOCETHTOOL, &request) ? -errno : 0;
	close(fd);
	if (!code) { /* a channel serves one direction, or both */
		*receive = channels.rx_count + channels.combined_count;
		*transmit = channels.tx_count + channels.combined_count;
	}
	if (!*receive)
		*receive = link.rx_queues ? link.rx_queues : 1;
	if (!*transmit)
		*transmit = link.tx_queues ? link.tx_queues : 1;
	return 0;
}
