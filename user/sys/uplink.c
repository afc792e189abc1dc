// SPDX-License-Identifier: GPL-2.0-or-later
/* Finding the machine's lifeline; see uplink.h. Called by measure/path.c, cmd/endpoint.c,
 * collect_links.c. */
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "sys/uplink.h"

void uplink_ssh_interface(char name[16])
{
	const char *connection = getenv("SSH_CONNECTION");
	char local[64] = "", text[INET6_ADDRSTRLEN];
	struct ifaddrs *list, *entry;

	name[0] = 0;
	if (!connection || sscanf(connection, "%*s %*s %63s", local) != 1 || getifaddrs(&list))
		return;
	for (entry = list; entry; entry = entry->ifa_next) {
		const struct sockaddr *address = entry->ifa_addr;

		if (!address || (address->sa_family != AF_INET && address->sa_family != AF_INET6))
			continue;
		if (address->sa_family == AF_INET)
			inet_ntop(AF_INET, &((const struct sockaddr_in *)address)->sin_addr, text, sizeof(text));
		else
			inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)address)->sin6_addr, text, sizeof(text));
		if (!strcmp(text, local))
			snprintf(name, 16, "%s", entry->ifa_name);
	}
	freeifaddrs(list);
}

/*
 * Frames are made at the source, and a few that teach bridges the way at the sink: neither may be the machine's lifeline, nor
 * a port of the bridge or bond that is. An uplink that cannot be told for sure is taken for one.
 */
int uplink_guard(const char *point_name, const struct rtnl_link *link)
{
	char ssh[16] = "";
	int carries = rtnl_carries_default_route(link->ifindex);
	struct rtnl_link master = { 0 };

	if (!carries && link->master_ifindex) {
		carries = rtnl_carries_default_route(link->master_ifindex);
		rtnl_link_get_index(link->master_ifindex, &master);
	}
	if (carries < 0)
		return carries;
	if (carries)
		return error_set(
			EPERM,
			"%s carries the default route of its namespace; nothing is generated there without --force-uplink",
			point_name);
	uplink_ssh_interface(ssh);
	if (ssh[0] && (!strcmp(ssh, link->name) || !strcmp(ssh, master.name)))
		return error_set(EPERM,
				 "%s carries this ssh session; nothing is generated there without --force-uplink",
				 point_name);
	return 0;
}
