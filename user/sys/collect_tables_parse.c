// SPDX-License-Identifier: GPL-2.0-or-later
/* Forwarding tables, neighbours, addresses and routes; see collect_tables_parse.h. */
#include "sys/collect_tables_parse.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include <linux/if_addr.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <netlink/msg.h>

#include "sys/nl_attribute.h"
#include "sys/rtnl_parse.h"

/* An internet address; its length tells its family. "" when it is none. */
static void bytes_to_text(char *into, size_t size, const void *bytes, int length)
{
	unsigned char copy[16];

	into[0] = '\0';
	if (length != 4 && length != 16)
		return;
	memcpy(copy, bytes, (size_t)length);
	inet_ntop(length == 4 ? AF_INET : AF_INET6, copy, into, (socklen_t)size);
}

static void attribute_to_text(char *into, size_t size, const struct nlattr *attribute)
{
	into[0] = '\0';
	if (attribute)
		bytes_to_text(into, size, nla_data(attribute), nla_len(attribute));
}

int collect_parse_fdb(struct nlmsghdr *message, struct facts_fdb *entry)
{
	struct nlattr *table[NDA_MAX + 1];
	struct ndmsg *header;
	int result = rtnl_parse_fdb_message(message, table, &header);

	memset(entry, 0, sizeof(*entry));
	if (result != 1)
		return result;
	entry->bridge_ifindex = nl_ifindex(table[NDA_MASTER]);
	entry->port_ifindex = header->ndm_ifindex;
	memcpy(entry->address, nla_data(table[NDA_LLADDR]), sizeof(entry->address));
	entry->vlan = (int)nl_u16(table[NDA_VLAN]);
	/* A bridge calls its own addresses permanent; a vxlan device calls what it was told so. */
	entry->is_local = entry->bridge_ifindex && header->ndm_state & NUD_PERMANENT;
	entry->is_static = header->ndm_state & NUD_NOARP ||
			   (!entry->bridge_ifindex && header->ndm_state & NUD_PERMANENT);
	entry->is_external = (header->ndm_flags & NTF_EXT_LEARNED) != 0;
	attribute_to_text(entry->vxlan_remote, sizeof(entry->vxlan_remote), table[NDA_DST]);
	return 1;
}

int collect_parse_neighbour(struct nlmsghdr *message, struct facts_neighbour *neighbour)
{
	const unsigned int usable = NUD_PERMANENT | NUD_REACHABLE | NUD_STALE | NUD_DELAY | NUD_PROBE;
	struct nlattr *table[NDA_MAX + 1];
	struct ndmsg *header;

	memset(neighbour, 0, sizeof(*neighbour));
	if (message->nlmsg_type != RTM_NEWNEIGH)
		return 0;
	if (nlmsg_parse(message, sizeof(*header), table, NDA_MAX, NULL) < 0)
		return -EBADMSG;
	header = nlmsg_data(message);
	if ((header->ndm_family != AF_INET && header->ndm_family != AF_INET6) || !(header->ndm_state & usable) ||
	    !table[NDA_LLADDR] || nla_len(table[NDA_LLADDR]) != (int)sizeof(neighbour->mac))
		return 0;
	neighbour->ifindex = header->ndm_ifindex;
	memcpy(neighbour->mac, nla_data(table[NDA_LLADDR]), sizeof(neighbour->mac));
	attribute_to_text(neighbour->address, sizeof(neighbour->address), table[NDA_DST]);
	return neighbour->address[0] != '\0';
}

int collect_parse_address(struct nlmsghdr *message, struct facts_address *address)
{
	struct nlattr *table[IFA_MAX + 1];
	struct ifaddrmsg *header;

	memset(address, 0, sizeof(*address));
	if (message->nlmsg_type != RTM_NEWADDR)
		return 0;
	if (nlmsg_parse(message, sizeof(*header), table, IFA_MAX, NULL) < 0)
		return -EBADMSG;
	header = nlmsg_data(message);
	address->ifindex = (int)header->ifa_index;
	address->prefix_length = header->ifa_prefixlen;
	/* On a point-to-point link IFA_ADDRESS is the other end's. */
	attribute_to_text(address->address, sizeof(address->address),
			  table[IFA_LOCAL] ? table[IFA_LOCAL] : table[IFA_ADDRESS]);
	return address->address[0] != '\0';
}

static void parse_gateway(struct facts_route *route, const struct nlattr *gateway, const struct nlattr *via)
{
	const int family_bytes = (int)sizeof(((struct rtvia *)NULL)->rtvia_family);

	attribute_to_text(route->gateway, sizeof(route->gateway), gateway);
	if (!gateway && via && nla_len(via) > family_bytes) /* of another family than the route */
		bytes_to_text(route->gateway, sizeof(route->gateway), (const char *)nla_data(via) + family_bytes,
			      nla_len(via) - family_bytes);
}

static int add_route(struct facts *facts, const struct facts_route *route)
{
	struct facts_route *added;

	if (route->out_ifindex <= 0)
		return 0;
	added = facts_add_route(facts);
	if (!added)
		return -ENOMEM;
	*added = *route;
	return 1;
}

/* A list of struct rtnexthop, each with attributes of its own behind it. */
static int add_next_hops(struct facts *facts, struct facts_route *route, const struct nlattr *list)
{
	const char *at = nla_data(list);
	int left = nla_len(list), added = 0;

	while (left >= (int)sizeof(struct rtnexthop)) {
		struct nlattr *table[RTA_MAX + 1];
		struct rtnexthop hop;
		int whole, code;

		memcpy(&hop, at, sizeof(hop));
		if (hop.rtnh_len < sizeof(hop) || hop.rtnh_len > left)
			break;
		if (nla_parse(table, RTA_MAX, (struct nlattr *)(uintptr_t)(at + sizeof(hop)),
			      hop.rtnh_len - (int)sizeof(hop), NULL) < 0)
			break;
		route->out_ifindex = hop.rtnh_ifindex;
		parse_gateway(route, table[RTA_GATEWAY], table[RTA_VIA]);
		code = add_route(facts, route);
		if (code < 0)
			return code;
		added |= code;
		whole = (int)RTNH_ALIGN(hop.rtnh_len);
		if (whole >= left)
			break;
		at += whole;
		left -= whole;
	}
	return added;
}

int collect_parse_route(struct nlmsghdr *message, struct facts *facts, int netns)
{
	struct nlattr *table[RTA_MAX + 1], *metrics[RTAX_MAX + 1];
	struct facts_route route = { .netns = netns };
	struct rtmsg *header;
	uint32_t table_id;

	if (message->nlmsg_type != RTM_NEWROUTE)
		return 0;
	if (nlmsg_parse(message, sizeof(*header), table, RTA_MAX, NULL) < 0)
		return -EBADMSG;
	header = nlmsg_data(message);
	table_id = table[RTA_TABLE] ? nl_u32(table[RTA_TABLE]) : header->rtm_table;
	if (header->rtm_type != RTN_UNICAST || header->rtm_flags & RTM_F_CLONED || table_id != RT_TABLE_MAIN)
		return 0;
	route.prefix_length = header->rtm_dst_len;
	if (header->rtm_dst_len > 0)
		attribute_to_text(route.destination, sizeof(route.destination), table[RTA_DST]);
	route.metric = nl_count(table[RTA_PRIORITY]);
	if (nl_nest(metrics, RTAX_MAX, table[RTA_METRICS]) >= 0)
		route.mtu_bytes = nl_count(metrics[RTAX_MTU]);
	if (!table[RTA_OIF] && table[RTA_MULTIPATH])
		return add_next_hops(facts, &route, table[RTA_MULTIPATH]);
	route.out_ifindex = nl_ifindex(table[RTA_OIF]);
	parse_gateway(&route, table[RTA_GATEWAY], table[RTA_VIA]);
	return add_route(facts, &route);
}
