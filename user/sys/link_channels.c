// SPDX-License-Identifier: GPL-2.0-or-later
/* Queues of an interface, over the ethtool ioctl; see link_channels.h. Called by port/xsk_queue.c and port/xsk_steer.c.
 */
#include <linux/ethtool.h>

#include "sys/ethtool_call.h"
#include "sys/link_channels.h"
#include "sys/rtnl.h"

int link_channels(const char *name, unsigned int *receive, unsigned int *transmit)
{
	struct ethtool_channels channels = { .cmd = ETHTOOL_GCHANNELS };
	struct rtnl_link link;
	int code;

	*receive = *transmit = 0;
	code = rtnl_link_get(name, &link);
	if (code)
		return code;
	code = ethtool_call(name, &channels);
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
