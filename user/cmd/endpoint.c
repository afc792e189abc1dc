// SPDX-License-Identifier: GPL-2.0-or-later
/* Endpoints; see endpoint.h. Called by cmd/send.c, sink.c, reflect.c. */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cmd/endpoint.h"
#include "sys/netns.h"
#include "sys/rtnl.h"
#include "sys/link_settings.h"
#include "sys/uplink.h"

static int inspect(struct endpoint *endpoint, int generates, int force_uplink)
{
	struct rtnl_link link;
	int code = rtnl_link_get(endpoint->interface, &link);

	if (code == -ENODEV)
		return error_set(ENODEV, "%s: no such interface; `%s link` lists them", endpoint->name,
				 point_ip(endpoint->netns).text);
	if (code)
		return code;
	if (!(link.flags & IFF_UP))
		return error_set(ENETDOWN, "%s: the interface is down; `%s link set %s up` first", endpoint->name,
				 point_ip(endpoint->netns).text, endpoint->interface);
	if (!(link.flags & IFF_RUNNING))
		return error_set(ENETDOWN, "%s: the interface has no carrier; is its other end up?", endpoint->name);
	if (generates && !force_uplink) {
		code = uplink_guard(endpoint->name, &link);
		if (code)
			return code;
	}
	endpoint->ifindex = link.ifindex;
	endpoint->is_veth = !strcmp(link.kind, "veth");
	endpoint->mtu_bytes = link.mtu_bytes;
	memcpy(endpoint->address, link.address, 6);
	endpoint->line_bps = 1e6 * link_speed_mbps(endpoint->interface);
	return 0;
}

int endpoint_open(const char *text, int generates, int force_uplink, struct endpoint *endpoint)
{
	struct netns_token token;
	int code;

	memset(endpoint, 0, sizeof(*endpoint));
	code = point_parse(text, &endpoint->text);
	if (code)
		return code;
	snprintf(endpoint->interface, sizeof(endpoint->interface), "%s", endpoint->text.interface);
	snprintf(endpoint->netns, sizeof(endpoint->netns), "%s", endpoint->text.netns);
	if (snprintf(endpoint->name, sizeof(endpoint->name), "%s%s%s", endpoint->interface,
		     endpoint->netns[0] ? "@ns:" : "", endpoint->netns) >= (int)sizeof(endpoint->name))
		return error_set(EINVAL, "point '%s' is too long", text);
	code = netns_enter(endpoint->netns, &token);
	if (code)
		return code;
	code = inspect(endpoint, generates, force_uplink);
	netns_leave(&token);
	return code;
}
