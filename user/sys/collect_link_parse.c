// SPDX-License-Identifier: GPL-2.0-or-later
/* RTM_NEWLINK to facts: what all links have, virtual functions, XDP, counters; see collect_link_parse.h. */
#include "sys/collect_link_parse.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include <linux/if_bridge.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <netlink/msg.h>

#include "sys/nl_attribute.h"

#define VLAN_MAX 4094

/* With programs in several modes at once (driver and offload) the kernel names each mode's program: the driver's counts most. */
static void parse_xdp(struct nlattr *nest, struct facts_link *link)
{
	static const int by_weight[] = { IFLA_XDP_PROG_ID, IFLA_XDP_DRV_PROG_ID, IFLA_XDP_SKB_PROG_ID,
					 IFLA_XDP_HW_PROG_ID };
	struct nlattr *xdp[IFLA_XDP_MAX + 1];

	if (nl_nest(xdp, IFLA_XDP_MAX, nest) < 0)
		return;
	link->xdp_mode = (int)nl_u8(xdp[IFLA_XDP_ATTACHED]);
	for (size_t i = 0; i < sizeof(by_weight) / sizeof(by_weight[0]) && !link->xdp_program_id; i++)
		link->xdp_program_id = nl_u32(xdp[by_weight[i]]);
}

/* Drivers that do not tell a switch leave all its bits set. */
static int vf_switch(const struct nlattr *attribute)
{
	struct ifla_vf_spoofchk setting = { .setting = UINT32_MAX }; /* all switches have this form */

	nl_struct(&setting, sizeof(setting), attribute);
	return setting.setting == UINT32_MAX ? FACTS_UNKNOWN : setting.setting != 0;
}

static void parse_vf(struct nlattr *nest, struct facts_vf *vf)
{
	struct ifla_vf_mac address = { 0 };
	struct ifla_vf_vlan vlan = { 0 };
	struct ifla_vf_tx_rate only_max = { 0 };
	struct ifla_vf_rate rate = { 0 };
	struct ifla_vf_link_state state = { 0 };
	struct nlattr *table[IFLA_VF_MAX + 1];

	if (nl_nest(table, IFLA_VF_MAX, nest) < 0)
		return;
	nl_struct(&address, sizeof(address), table[IFLA_VF_MAC]);
	if (table[IFLA_VF_MAC])
		vf->index = (int)address.vf;
	memcpy(vf->address, address.mac, sizeof(vf->address));
	nl_struct(&vlan, sizeof(vlan), table[IFLA_VF_VLAN]);
	vf->vlan = (int)vlan.vlan;
	vf->qos = (int)vlan.qos;
	nl_struct(&only_max, sizeof(only_max), table[IFLA_VF_TX_RATE]);
	if (table[IFLA_VF_TX_RATE])
		vf->max_tx_mbit_per_s = only_max.rate;
	nl_struct(&rate, sizeof(rate), table[IFLA_VF_RATE]);
	if (table[IFLA_VF_RATE]) {
		vf->max_tx_mbit_per_s = rate.max_tx_rate;
		vf->min_tx_mbit_per_s = rate.min_tx_rate;
	}
	nl_struct(&state, sizeof(state), table[IFLA_VF_LINK_STATE]);
	if (table[IFLA_VF_LINK_STATE] && state.link_state < __IFLA_VF_LINK_STATE_MAX)
		vf->link_state = (int)state.link_state;
	vf->spoof_check = vf_switch(table[IFLA_VF_SPOOFCHK]);
	vf->trust = vf_switch(table[IFLA_VF_TRUST]);
	vf->rss_query = vf_switch(table[IFLA_VF_RSS_QUERY_EN]);
}

static int parse_vf_list(struct nlattr *list, struct facts_link *link)
{
	struct nlattr *entry;
	int rest, position = 0;

	if (!list)
		return 0;
	nla_for_each_nested(entry, list, rest)
	{
		struct facts_vf *vf;

		if (nla_type(entry) != IFLA_VF_INFO)
			continue;
		vf = facts_add_vf(link);
		if (!vf)
			return -ENOMEM;
		vf->index = position++;
		parse_vf(entry, vf);
	}
	return 0;
}

/* In the order of struct rtnl_link_stats64, which older kernels send less of. */
static int parse_counters(const struct nlattr *attribute, struct facts_link *link)
{
	static const char *const names[] = {
		"rx_packets",	    "tx_packets",	 "rx_bytes",	      "tx_bytes",	 "rx_errors",
		"tx_errors",	    "rx_dropped",	 "tx_dropped",	      "multicast",	 "collisions",
		"rx_length_errors", "rx_over_errors",	 "rx_crc_errors",     "rx_frame_errors", "rx_fifo_errors",
		"rx_missed_errors", "tx_aborted_errors", "tx_carrier_errors", "tx_fifo_errors",	 "tx_heartbeat_errors",
		"tx_window_errors", "rx_compressed",	 "tx_compressed",     "rx_nohandler",
	};
	size_t count = attribute ? (size_t)nla_len(attribute) / sizeof(uint64_t) : 0;

	for (size_t i = 0; i < count && i < sizeof(names) / sizeof(names[0]); i++) {
		struct facts_counter *counter = facts_add_counter(link);

		if (!counter)
			return -ENOMEM;
		snprintf(counter->name, sizeof(counter->name), "%s", names[i]);
		memcpy(&counter->value, (const char *)nla_data(attribute) + i * sizeof(uint64_t), sizeof(uint64_t));
	}
	return 0;
}

static void parse_info(struct nlattr *nest, struct facts_link *link)
{
	struct nlattr *info[IFLA_INFO_MAX + 1];
	char slave_kind[sizeof(link->kind)] = "";

	if (nl_nest(info, IFLA_INFO_MAX, nest) < 0)
		return;
	nl_text(link->kind, sizeof(link->kind), info[IFLA_INFO_KIND]);
	nl_text(slave_kind, sizeof(slave_kind), info[IFLA_INFO_SLAVE_KIND]);
	collect_parse_kind(link->kind, info[IFLA_INFO_DATA], link);
	collect_parse_slave_kind(slave_kind, info[IFLA_INFO_SLAVE_DATA], link);
}

static void hexadecimal(char *into, size_t size, const struct nlattr *attribute)
{
	const unsigned char *bytes = attribute ? nla_data(attribute) : NULL;

	for (int i = 0; bytes && i < nla_len(attribute) && 2 * (size_t)i + 2 < size; i++)
		snprintf(into + 2 * i, 3, "%02x", bytes[i]);
}

static void parse_numbers(struct nlattr **table, struct facts_link *link)
{
	link->operstate = nl_int(table[IFLA_OPERSTATE]);
	link->carrier = nl_int(table[IFLA_CARRIER]);
	link->carrier_changes = nl_number(table[IFLA_CARRIER_CHANGES]);
	link->mtu_bytes = nl_int(table[IFLA_MTU]);
	link->min_mtu_bytes = nl_int(table[IFLA_MIN_MTU]);
	link->max_mtu_bytes = nl_int(table[IFLA_MAX_MTU]);
	if (!link->max_mtu_bytes) /* 0: the driver names no bound */
		link->max_mtu_bytes = FACTS_UNKNOWN;
	link->tx_queue_len = nl_int(table[IFLA_TXQLEN]);
	/* What was made room for; how many of them are in use only sysfs and ethtool say. One cannot be less. */
	if (nl_u32(table[IFLA_NUM_RX_QUEUES]) == 1)
		link->rx_queues = 1;
	if (nl_u32(table[IFLA_NUM_TX_QUEUES]) == 1)
		link->tx_queues = 1;
	link->group = (int)nl_u32(table[IFLA_GROUP]);
	link->master_ifindex = nl_ifindex(table[IFLA_MASTER]);
	link->lower_ifindex = nl_ifindex(table[IFLA_LINK]);
}

static void parse_texts(struct nlattr **table, struct facts_link *link)
{
	nl_text(link->name, sizeof(link->name), table[IFLA_IFNAME]);
	if (table[IFLA_ADDRESS] && nla_len(table[IFLA_ADDRESS]) == sizeof(link->address))
		memcpy(link->address, nla_data(table[IFLA_ADDRESS]), sizeof(link->address));
	if (table[IFLA_PERM_ADDRESS] && nla_len(table[IFLA_PERM_ADDRESS]) == sizeof(link->permanent_address))
		memcpy(link->permanent_address, nla_data(table[IFLA_PERM_ADDRESS]), sizeof(link->permanent_address));
	hexadecimal(link->phys_switch_id, sizeof(link->phys_switch_id), table[IFLA_PHYS_SWITCH_ID]);
	nl_text(link->phys_port_name, sizeof(link->phys_port_name), table[IFLA_PHYS_PORT_NAME]);
}

int collect_parse_link(struct nlmsghdr *message, struct facts *facts, int netns, int *netnsid)
{
	struct nlattr *table[IFLA_MAX + 1];
	struct ifinfomsg *header;
	struct facts_link *link;
	int code;

	if (message->nlmsg_type != RTM_NEWLINK)
		return 0;
	if (nlmsg_parse(message, sizeof(*header), table, IFLA_MAX, NULL) < 0 || !table[IFLA_IFNAME])
		return -EBADMSG;
	header = nlmsg_data(message);
	if (header->ifi_index <= 0)
		return -EBADMSG;
	link = facts_add_link(facts);
	if (!link)
		return -ENOMEM;
	link->netns = netns;
	link->ifindex = header->ifi_index;
	link->flags = header->ifi_flags;
	parse_numbers(table, link);
	parse_texts(table, link);
	parse_info(table[IFLA_LINKINFO], link); /* after the numbers: a vxlan's lower device stands here */
	parse_xdp(table[IFLA_XDP], link);
	*netnsid = table[IFLA_LINK_NETNSID] ? (int)nl_u32(table[IFLA_LINK_NETNSID]) : COLLECT_NETNSID_NONE;
	if (*netnsid < 0 && *netnsid != COLLECT_NETNSID_NONE)
		*netnsid = -1;
	link->lower_netns = *netnsid == COLLECT_NETNSID_NONE && link->lower_ifindex ? netns : -1;
	code = parse_counters(table[IFLA_STATS64], link);
	if (!code)
		code = parse_vf_list(table[IFLA_VFINFO_LIST], link);
	return code ? code : 1;
}

/* Adds "7" or "10-20"; a list that does not fit is not known. */
static void add_vlans(char *list, size_t size, int first, int last, int *is_full)
{
	size_t used = strlen(list);
	int length =
		snprintf(list + used, size - used, first == last ? "%s%d" : "%s%d-%d", used ? "," : "", first, last);

	if (length >= (int)(size - used))
		*is_full = 1;
	if (*is_full)
		list[0] = '\0';
}

static void parse_vlan_list(struct nlattr *list, struct facts_bridge_port *port)
{
	struct bridge_vlan_info vlan;
	int rest, first = 0, is_full[2] = { 0, 0 };
	struct nlattr *entry;

	nla_for_each_nested(entry, list, rest)
	{
		if (nla_type(entry) != IFLA_BRIDGE_VLAN_INFO || nla_len(entry) < (int)sizeof(vlan))
			continue;
		memcpy(&vlan, nla_data(entry), sizeof(vlan));
		if (vlan.vid < 1 || vlan.vid > VLAN_MAX)
			continue;
		if (vlan.flags & BRIDGE_VLAN_INFO_PVID)
			port->pvid = vlan.vid;
		if (vlan.flags & BRIDGE_VLAN_INFO_RANGE_BEGIN) {
			first = vlan.vid;
			continue;
		}
		if (!(vlan.flags & BRIDGE_VLAN_INFO_RANGE_END) || first < 1 || first > vlan.vid)
			first = vlan.vid;
		add_vlans(port->vlans, sizeof(port->vlans), first, vlan.vid, &is_full[0]);
		if (vlan.flags & BRIDGE_VLAN_INFO_UNTAGGED)
			add_vlans(port->untagged, sizeof(port->untagged), first, vlan.vid, &is_full[1]);
		first = 0;
	}
	if (!port->vlans[0] && !is_full[0])
		strcpy(port->vlans, "none");
	if (!port->untagged[0] && !is_full[1])
		strcpy(port->untagged, "none");
}

int collect_parse_port_vlan(struct nlmsghdr *message, int *port_ifindex, int *bridge_ifindex,
			    struct facts_bridge_port *port)
{
	struct nlattr *table[IFLA_MAX + 1];
	struct ifinfomsg *header;

	port->pvid = 0;
	port->vlans[0] = port->untagged[0] = '\0';
	if (message->nlmsg_type != RTM_NEWLINK)
		return 0;
	if (nlmsg_parse(message, sizeof(*header), table, IFLA_MAX, NULL) < 0)
		return -EBADMSG;
	header = nlmsg_data(message);
	if (header->ifi_family != AF_BRIDGE || !table[IFLA_MASTER])
		return 0;
	*port_ifindex = header->ifi_index;
	*bridge_ifindex = (int)nl_u32(table[IFLA_MASTER]);
	if (table[IFLA_AF_SPEC])
		parse_vlan_list(table[IFLA_AF_SPEC], port);
	else /* the kernel leaves an empty list out */
		snprintf(port->vlans, sizeof(port->vlans), "none");
	return 1;
}
