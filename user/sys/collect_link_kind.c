// SPDX-License-Identifier: GPL-2.0-or-later
/* IFLA_LINKINFO to facts: what a kind of link, and a port of a kind of master, has of its own. One row a kind; see
 * collect_link_parse.h. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include <linux/if_bonding.h>
#include <linux/if_bridge.h>
#include <linux/if_link.h>
#include <linux/if_tun.h>

#include "sys/collect_link_parse.h"
#include "sys/nl_attribute.h"

#define MS_PER_CLOCK_TICK 10 /* USER_HZ is 100 in every kernel's interface */

/* Kinds have few attributes that are facts; the newest kernel's numbers may exceed those of the headers. */
#define ATTRIBUTES 64

struct int_row {
	int attribute;
	size_t offset; /* of an int */
};

static void set_ints(const struct int_row *rows, size_t count, struct nlattr **data, void *into)
{
	for (size_t i = 0; i < count; i++)
		if (data[rows[i].attribute]) {
			int value = nl_int(data[rows[i].attribute]);

			memcpy((char *)into + rows[i].offset, &value, sizeof(value));
		}
}

#define ROW(attribute, type, field)                     \
	{                                               \
		attribute, offsetof(struct type, field) \
	}
#define ROWS(rows) rows, sizeof(rows) / sizeof(rows[0])

static void parse_bridge(struct nlattr **data, struct facts_link *link)
{
	static const struct int_row rows[] = {
		ROW(IFLA_BR_STP_STATE, facts_bridge, stp),
		ROW(IFLA_BR_VLAN_FILTERING, facts_bridge, vlan_filtering),
		ROW(IFLA_BR_VLAN_DEFAULT_PVID, facts_bridge, vlan_default_pvid),
		ROW(IFLA_BR_MCAST_SNOOPING, facts_bridge, multicast_snooping),
		ROW(IFLA_BR_MCAST_QUERIER, facts_bridge, multicast_querier),
		ROW(IFLA_BR_NF_CALL_IPTABLES, facts_bridge, nf_call_iptables),
		ROW(IFLA_BR_NF_CALL_IP6TABLES, facts_bridge, nf_call_ip6tables),
		ROW(IFLA_BR_NF_CALL_ARPTABLES, facts_bridge, nf_call_arptables),
	};

	set_ints(ROWS(rows), data, &link->bridge);
	if (data[IFLA_BR_AGEING_TIME])
		link->bridge.ageing_ms = (int64_t)nl_u32(data[IFLA_BR_AGEING_TIME]) * MS_PER_CLOCK_TICK;
	if (data[IFLA_BR_FORWARD_DELAY])
		link->bridge.forward_delay_ms = (int64_t)nl_u32(data[IFLA_BR_FORWARD_DELAY]) * MS_PER_CLOCK_TICK;
}

static void parse_vlan(struct nlattr **data, struct facts_link *link)
{
	link->vlan_id = (int)nl_u16(data[IFLA_VLAN_ID]);
	link->vlan_protocol = ntohs((uint16_t)nl_u16(data[IFLA_VLAN_PROTOCOL]));
}

static void parse_macvlan(struct nlattr **data, struct facts_link *link)
{
	static const struct {
		uint32_t mode;
		const char *name;
	} modes[] = {
		{ MACVLAN_MODE_PRIVATE, "private" }, { MACVLAN_MODE_VEPA, "vepa" },
		{ MACVLAN_MODE_BRIDGE, "bridge" },   { MACVLAN_MODE_PASSTHRU, "passthru" },
		{ MACVLAN_MODE_SOURCE, "source" },
	};

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (nl_u32(data[IFLA_MACVLAN_MODE]) == modes[i].mode)
			snprintf(link->macvlan_mode, sizeof(link->macvlan_mode), "%s", modes[i].name);
}

/* An address of four or sixteen bytes as text; of the two attributes the one that is there. */
static void address_text(char *into, size_t size, const struct nlattr *four, const struct nlattr *sixteen)
{
	unsigned char bytes[16] = { 0 };

	if (four && nla_len(four) == 4) {
		memcpy(bytes, nla_data(four), 4);
		inet_ntop(AF_INET, bytes, into, (socklen_t)size);
	} else if (sixteen && nla_len(sixteen) == 16) {
		memcpy(bytes, nla_data(sixteen), 16);
		inet_ntop(AF_INET6, bytes, into, (socklen_t)size);
	}
}

static void parse_vxlan(struct nlattr **data, struct facts_link *link)
{
	link->vxlan_id = nl_int(data[IFLA_VXLAN_ID]);
	address_text(link->vxlan_local, sizeof(link->vxlan_local), data[IFLA_VXLAN_LOCAL], data[IFLA_VXLAN_LOCAL6]);
	address_text(link->vxlan_remote, sizeof(link->vxlan_remote), data[IFLA_VXLAN_GROUP], data[IFLA_VXLAN_GROUP6]);
	link->vxlan_port = ntohs((uint16_t)nl_u16(data[IFLA_VXLAN_PORT]));
	if (data[IFLA_VXLAN_LINK])
		link->lower_ifindex = nl_ifindex(data[IFLA_VXLAN_LINK]);
}

static void set_name(char *into, size_t size, const char *const *names, size_t count, const struct nlattr *attribute)
{
	int number = nl_int(attribute);

	if (number >= 0 && (size_t)number < count)
		snprintf(into, size, "%s", names[number]);
}

static void parse_bond(struct nlattr **data, struct facts_link *link)
{
	static const char *const modes[] = { "balance-rr", "active-backup", "balance-xor", "broadcast",
					     "802.3ad",	   "balance-tlb",   "balance-alb" };
	static const char *const hashes[] = { "layer2", "layer3+4", "layer2+3", "encap2+3", "encap3+4", "vlan+srcmac" };

	set_name(link->bond_mode, sizeof(link->bond_mode), modes, sizeof(modes) / sizeof(modes[0]),
		 data[IFLA_BOND_MODE]);
	set_name(link->bond_hash, sizeof(link->bond_hash), hashes, sizeof(hashes) / sizeof(hashes[0]),
		 data[IFLA_BOND_XMIT_HASH_POLICY]);
}

/* The flags that TUNSETIFF took; those that netlink does not tell (IFF_NAPI) only sysfs has. */
static void parse_tun(struct nlattr **data, struct facts_link *link)
{
	unsigned int type = nl_u8(data[IFLA_TUN_TYPE]);

	if (type != IFF_TUN && type != IFF_TAP)
		return;
	link->tun_flags = (int)type;
	if (!nl_u8(data[IFLA_TUN_PI]))
		link->tun_flags |= IFF_NO_PI;
	if (nl_u8(data[IFLA_TUN_VNET_HDR]))
		link->tun_flags |= IFF_VNET_HDR;
	if (nl_u8(data[IFLA_TUN_PERSIST]))
		link->tun_flags |= IFF_PERSIST;
	if (nl_u8(data[IFLA_TUN_MULTI_QUEUE]))
		link->tun_flags |= IFF_MULTI_QUEUE;
}

static void parse_bridge_port(struct nlattr **data, struct facts_link *link)
{
	static const struct int_row rows[] = {
		ROW(IFLA_BRPORT_STATE, facts_bridge_port, state),
		ROW(IFLA_BRPORT_LEARNING, facts_bridge_port, learning),
		ROW(IFLA_BRPORT_UNICAST_FLOOD, facts_bridge_port, unicast_flood),
		ROW(IFLA_BRPORT_ISOLATED, facts_bridge_port, isolated),
		ROW(IFLA_BRPORT_MODE, facts_bridge_port, hairpin),
		ROW(IFLA_BRPORT_VLAN_TUNNEL, facts_bridge_port, vlan_tunnel),
	};

	set_ints(ROWS(rows), data, &link->port);
}

static void parse_bond_slave(struct nlattr **data, struct facts_link *link)
{
	if (data[IFLA_BOND_SLAVE_STATE])
		link->bond_is_active = nl_u8(data[IFLA_BOND_SLAVE_STATE]) == BOND_STATE_ACTIVE;
}

struct kind_row {
	const char *kind;
	void (*parse)(struct nlattr **data, struct facts_link *link);
};

static const struct kind_row kinds[] = {
	{ "bridge", parse_bridge }, { "vlan", parse_vlan }, { "macvlan", parse_macvlan }, { "macvtap", parse_macvlan },
	{ "vxlan", parse_vxlan },   { "bond", parse_bond }, { "tun", parse_tun },
};

static const struct kind_row slave_kinds[] = {
	{ "bridge", parse_bridge_port },
	{ "bond", parse_bond_slave },
};

static void parse_by(const struct kind_row *rows, size_t count, const char *kind, struct nlattr *data,
		     struct facts_link *link)
{
	struct nlattr *table[ATTRIBUTES + 1];

	for (size_t i = 0; i < count; i++)
		if (!strcmp(rows[i].kind, kind) && nl_nest(table, ATTRIBUTES, data) >= 0)
			rows[i].parse(table, link);
}

void collect_parse_kind(const char *kind, struct nlattr *data, struct facts_link *link)
{
	parse_by(ROWS(kinds), kind, data, link);
}

void collect_parse_slave_kind(const char *kind, struct nlattr *data, struct facts_link *link)
{
	parse_by(ROWS(slave_kinds), kind, data, link);
}
