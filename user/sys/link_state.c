// SPDX-License-Identifier: GPL-2.0-or-later
/* State of an interface; see link_state.h. Called by probe/hop_probe.c, traffic/reflector.c. */
#include <errno.h>
#include <net/if.h>

#include "base/error.h"
#include "sys/link_state.h"
#include "sys/netns.h"
#include "sys/rtnl.h"

int link_state_check(const char *interface, const char *netns, int ifindex)
{
	struct netns_token token;
	struct rtnl_link link;
	int code = netns_enter(netns, &token);

	if (code)
		return code;
	code = rtnl_link_get_index(ifindex, &link);
	netns_leave(&token);
	if (code == -ENODEV)
		return error_set(ENODEV, "%s: the interface is gone", interface);
	if (!code && !(link.flags & IFF_UP))
		return error_set(ENETDOWN, "%s: the interface went down", interface);
	return code;
}
