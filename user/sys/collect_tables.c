// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Forwarding tables, VLANs of bridge ports, neighbours, addresses and routes of one namespace, as facts.
 *
 * Owns: what is asked of rtnetlink. Leaves to others: the bytes of the answers (collect_tables_parse.c). Called by
 * collect_links.c.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>

#include "base/error.h"
#include "sys/collect_dump.h"
#include "sys/collect_link_parse.h"
#include "sys/collect_scope.h"
#include "sys/collect_tables_parse.h"

/* Of each table that many bytes are looked at, which is 10000 entries and more; a router with all of the internet's routes would
 * take seconds. Default routes come first. */
#define TABLE_LIMIT_BYTES (2u << 20)

static int add_fdb(struct nlmsghdr *message, const struct collect_scope *scope)
{
	const struct facts_link *link;
	struct facts_fdb entry, *added;
	int code = collect_parse_fdb(message, &entry);

	if (code != 1)
		return code;
	link = collect_scope_link(scope, entry.port_ifindex);
	if (!entry.bridge_ifindex && (!link || strcmp(link->kind, "vxlan")))
		return 0;
	entry.netns = scope->netns;
	added = facts_add_fdb(scope->facts);
	if (!added)
		return -ENOMEM;
	*added = entry;
	return 1;
}

static int add_neighbour(struct nlmsghdr *message, const struct collect_scope *scope)
{
	struct facts_neighbour neighbour, *added;
	int code = collect_parse_neighbour(message, &neighbour);

	if (code != 1)
		return code;
	neighbour.netns = scope->netns;
	added = facts_add_neighbour(scope->facts);
	if (!added)
		return -ENOMEM;
	*added = neighbour;
	return 1;
}

static int add_address(struct nlmsghdr *message, const struct collect_scope *scope)
{
	struct facts_address address, *added;
	int code = collect_parse_address(message, &address);

	if (code != 1)
		return code;
	address.netns = scope->netns;
	added = facts_add_address(scope->facts);
	if (!added)
		return -ENOMEM;
	*added = address;
	return 1;
}

static int add_route(struct nlmsghdr *message, const struct collect_scope *scope)
{
	return collect_parse_route(message, scope->facts, scope->netns);
}

static int set_port_vlan(struct nlmsghdr *message, const struct collect_scope *scope)
{
	struct facts_bridge_port found;
	int port, bridge, code = collect_parse_port_vlan(message, &port, &bridge, &found);
	struct facts_link *link = code == 1 ? collect_scope_link(scope, port) : NULL;
	const struct facts_link *master = link ? collect_scope_link(scope, bridge) : NULL;

	/* A kernel that cannot filter VLANs lists none, too, which says nothing. */
	if (!link || link->master_ifindex != bridge || !master ||
	    (master->bridge.vlan_filtering != 1 && !strcmp(found.vlans, "none")))
		return code;
	link->port.pvid = found.pvid;
	memcpy(link->port.vlans, found.vlans, sizeof(found.vlans));
	memcpy(link->port.untagged, found.untagged, sizeof(found.untagged));
	return code;
}

/* Every header starts with the family, and all bytes behind it may be zero. */
union family_header {
	unsigned char family;
	struct ifinfomsg link;
	struct ifaddrmsg address;
	struct ndmsg neighbour;
	struct rtmsg route;
};

static const struct table_row {
	const char *what;
	int request;
	unsigned char family;
	size_t header_bytes;
	uint32_t extension; /* IFLA_EXT_MASK; 0 none */
	int (*add)(struct nlmsghdr *message, const struct collect_scope *scope);
} tables[] = {
	{ "VLANs of bridge ports", RTM_GETLINK, AF_BRIDGE, sizeof(struct ifinfomsg), RTEXT_FILTER_BRVLAN_COMPRESSED,
	  set_port_vlan },
	{ "forwarding tables of bridges", RTM_GETNEIGH, AF_BRIDGE, sizeof(struct ndmsg), 0, add_fdb },
	{ "neighbours", RTM_GETNEIGH, AF_UNSPEC, sizeof(struct ndmsg), 0, add_neighbour },
	{ "addresses", RTM_GETADDR, AF_UNSPEC, sizeof(struct ifaddrmsg), 0, add_address },
	{ "IPv4 routes", RTM_GETROUTE, AF_INET, sizeof(struct rtmsg), 0, add_route },
	{ "IPv6 routes", RTM_GETROUTE, AF_INET6, sizeof(struct rtmsg), 0, add_route },
};

static int read_table(const struct table_row *row, struct collect_dump *dump, char reason[RTNL_REASON_BYTES])
{
	union family_header header;
	struct nl_msg *request;

	memset(&header, 0, sizeof(header));
	header.family = row->family;
	*dump = (struct collect_dump){ 0 };
	request = rtnl_message_new(row->request, NLM_F_REQUEST | NLM_F_DUMP, &header, row->header_bytes);
	if (!request)
		return -ENOMEM;
	if (row->extension && nla_put_u32(request, IFLA_EXT_MASK, row->extension) < 0) {
		nlmsg_free(request);
		return -ENOMEM;
	}
	return collect_dump(dump, request, TABLE_LIMIT_BYTES, reason);
}

static int collect_table(const struct table_row *row, const struct collect_scope *scope)
{
	char reason[RTNL_REASON_BYTES] = "", label[96];
	struct nlmsghdr *message = NULL;
	struct collect_dump dump;
	int code = read_table(row, &dump, reason), damaged = 0;

	while (!code && (message = collect_dump_next(&dump, message))) {
		int added = row->add(message, scope);

		damaged += added == -EBADMSG;
		code = added == -ENOMEM ? added : 0;
	}
	collect_scope_label(scope, label, sizeof(label));
	/* A kernel without this family has no such table. */
	if (code && code != -ENOMEM && code != -EOPNOTSUPP && code != -EAFNOSUPPORT)
		code = facts_add_gap(scope->facts, "%s%s: %s", row->what, label, reason);
	else if (code != -ENOMEM)
		code = 0;
	if (!code && dump.is_cut)
		code = facts_add_gap(scope->facts, "%s%s: there are more than were read (%u MB of them)", row->what,
				     label, TABLE_LIMIT_BYTES >> 20);
	if (!code && damaged)
		code = facts_add_gap(scope->facts, "%s%s: %d of the kernel's messages cannot be understood", row->what,
				     label, damaged);
	collect_dump_free(&dump);
	return code;
}

int collect_tables(const struct collect_scope *scope)
{
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		if (collect_table(&tables[i], scope) < 0)
			return error_set(ENOMEM, "out of memory for %s", tables[i].what);
	return 0;
}
