// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From rtnetlink messages to the structs of rtnl.h. See rtnl_parse.h. Called by rtnl_links.c and rtnl_qdisc.c; no
 * system calls.
 */
#include "sys/rtnl_parse.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <linux/gen_stats.h>
#include <linux/if_bridge.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>

/* Copies as much of a struct as this kernel sends; what it does not know stays zero. */
static void copy_struct(void *into, size_t size, const struct nlattr *attribute)
{
	if (attribute)
		nla_memcpy(into, attribute, (int)size);
}

static uint32_t get_u32(const struct nlattr *attribute)
{
	return attribute && nla_len(attribute) >= 4 ? nla_get_u32(attribute) : 0;
}

static uint64_t get_u64(const struct nlattr *attribute)
{
	return attribute && nla_len(attribute) >= 8 ? nla_get_u64(attribute) : 0;
}

static unsigned int get_u8(const struct nlattr *attribute)
{
	return attribute && nla_len(attribute) >= 1 ? nla_get_u8(attribute) : 0;
}

/* Like nla_strlcpy, but does not rely on a terminating zero. */
static void get_text(char *into, size_t size, const struct nlattr *attribute)
{
	if (attribute)
		snprintf(into, size, "%.*s", nla_len(attribute), (const char *)nla_data(attribute));
}

static int parse_nested(struct nlattr **table, int max, struct nlattr *nest)
{
	return nest ? nla_parse_nested(table, max, nest, NULL) : -ENOENT;
}

static const char *bridge_state_name(unsigned int state)
{
	static const char *const names[] = {
		[BR_STATE_DISABLED] = "disabled", [BR_STATE_LISTENING] = "listening",
		[BR_STATE_LEARNING] = "learning", [BR_STATE_FORWARDING] = "forwarding",
		[BR_STATE_BLOCKING] = "blocking",
	};

	return state < sizeof(names) / sizeof(names[0]) ? names[state] : "unknown";
}

static void parse_link_info(struct nlattr *nest, struct rtnl_link *link)
{
	struct nlattr *info[IFLA_INFO_MAX + 1], *port[IFLA_BRPORT_MAX + 1];
	char slave_kind[sizeof(link->kind)] = "";

	if (parse_nested(info, IFLA_INFO_MAX, nest) < 0)
		return;
	get_text(link->kind, sizeof(link->kind), info[IFLA_INFO_KIND]);
	get_text(slave_kind, sizeof(slave_kind), info[IFLA_INFO_SLAVE_KIND]);
	if (strcmp(slave_kind, "bridge") || parse_nested(port, IFLA_BRPORT_MAX, info[IFLA_INFO_SLAVE_DATA]) < 0)
		return;
	if (port[IFLA_BRPORT_STATE])
		snprintf(link->bridge_port_state, sizeof(link->bridge_port_state), "%s",
			 bridge_state_name(get_u8(port[IFLA_BRPORT_STATE])));
}

/* With programs in several modes at once (driver and offload) the kernel names each mode's program: the driver's
 * counts most. */
static void parse_link_xdp(struct nlattr *nest, struct rtnl_link *link)
{
	struct nlattr *xdp[IFLA_XDP_MAX + 1];

	if (parse_nested(xdp, IFLA_XDP_MAX, nest) < 0)
		return;
	link->xdp_mode = get_u8(xdp[IFLA_XDP_ATTACHED]);
	link->xdp_program_id = get_u32(xdp[IFLA_XDP_PROG_ID]);
	if (!link->xdp_program_id)
		link->xdp_program_id = get_u32(xdp[IFLA_XDP_DRV_PROG_ID]);
	if (!link->xdp_program_id)
		link->xdp_program_id = get_u32(xdp[IFLA_XDP_SKB_PROG_ID]);
	if (!link->xdp_program_id)
		link->xdp_program_id = get_u32(xdp[IFLA_XDP_HW_PROG_ID]);
}

int rtnl_parse_link(struct nlmsghdr *message, struct rtnl_link *link)
{
	struct rtnl_link_stats64 stats = { 0 };
	struct nlattr *table[IFLA_MAX + 1];
	struct ifinfomsg *header;

	memset(link, 0, sizeof(*link));
	if (message->nlmsg_type != RTM_NEWLINK)
		return 0;
	if (nlmsg_parse(message, sizeof(*header), table, IFLA_MAX, NULL) < 0 || !table[IFLA_IFNAME])
		return -EBADMSG;
	header = nlmsg_data(message);
	link->ifindex = header->ifi_index;
	link->flags = header->ifi_flags;
	get_text(link->name, sizeof(link->name), table[IFLA_IFNAME]);
	if (table[IFLA_ADDRESS] && nla_len(table[IFLA_ADDRESS]) == sizeof(link->address))
		memcpy(link->address, nla_data(table[IFLA_ADDRESS]), sizeof(link->address));
	link->mtu_bytes = get_u32(table[IFLA_MTU]);
	link->operstate = get_u8(table[IFLA_OPERSTATE]);
	link->master_ifindex = (int)get_u32(table[IFLA_MASTER]);
	link->peer_ifindex = (int)get_u32(table[IFLA_LINK]);
	link->peer_netnsid = table[IFLA_LINK_NETNSID] ? (int)get_u32(table[IFLA_LINK_NETNSID]) : -1;
	link->rx_queues = get_u32(table[IFLA_NUM_RX_QUEUES]);
	link->tx_queues = get_u32(table[IFLA_NUM_TX_QUEUES]);
	parse_link_info(table[IFLA_LINKINFO], link);
	parse_link_xdp(table[IFLA_XDP], link);
	copy_struct(&stats, sizeof(stats), table[IFLA_STATS64]);
	link->rx_frames = stats.rx_packets;
	link->tx_frames = stats.tx_packets;
	link->rx_dropped = stats.rx_dropped;
	link->tx_dropped = stats.tx_dropped;
	link->rx_errors = stats.rx_errors;
	link->tx_errors = stats.tx_errors;
	return 1;
}

static uint64_t parse_tbf_rate(struct nlattr *options)
{
	struct nlattr *table[TCA_TBF_MAX + 1];
	struct tc_tbf_qopt parameters = { 0 };

	if (parse_nested(table, TCA_TBF_MAX, options) < 0)
		return 0;
	copy_struct(&parameters, sizeof(parameters), table[TCA_TBF_PARMS]);
	return table[TCA_TBF_RATE64] ? get_u64(table[TCA_TBF_RATE64]) : parameters.rate.rate;
}

static void parse_qdisc_stats(struct nlattr *nest, struct rtnl_qdisc *qdisc)
{
	struct nlattr *table[TCA_STATS_MAX + 1];
	struct gnet_stats_basic basic = { 0 };
	struct gnet_stats_queue queue = { 0 };

	if (parse_nested(table, TCA_STATS_MAX, nest) < 0)
		return;
	copy_struct(&basic, sizeof(basic), table[TCA_STATS_BASIC]);
	copy_struct(&queue, sizeof(queue), table[TCA_STATS_QUEUE]);
	qdisc->bytes = basic.bytes;
	qdisc->frames = table[TCA_STATS_PKT64] ? get_u64(table[TCA_STATS_PKT64]) : basic.packets;
	qdisc->drops = queue.drops;
	qdisc->overlimits = queue.overlimits;
	qdisc->requeues = queue.requeues;
	qdisc->backlog_bytes = queue.backlog;
	qdisc->backlog_frames = queue.qlen;
}

int rtnl_parse_qdisc(struct nlmsghdr *message, struct rtnl_qdisc *qdisc)
{
	struct nlattr *table[TCA_MAX + 1];
	struct tcmsg *header;

	memset(qdisc, 0, sizeof(*qdisc));
	if (message->nlmsg_type != RTM_NEWQDISC)
		return 0;
	if (nlmsg_parse(message, sizeof(*header), table, TCA_MAX, NULL) < 0 || !table[TCA_KIND])
		return -EBADMSG;
	header = nlmsg_data(message);
	qdisc->ifindex = header->tcm_ifindex;
	qdisc->handle = header->tcm_handle;
	qdisc->parent = header->tcm_parent;
	get_text(qdisc->kind, sizeof(qdisc->kind), table[TCA_KIND]);
	parse_qdisc_stats(table[TCA_STATS2], qdisc);
	if (!strcmp(qdisc->kind, "tbf"))
		qdisc->rate_bytes_per_s = parse_tbf_rate(table[TCA_OPTIONS]);
	return 1;
}

/* A route over several next hops lists them; its first one stands for it. */
static int first_next_hop(struct nlattr *attribute)
{
	struct rtnexthop hop;

	if (!attribute || nla_len(attribute) < (int)sizeof(hop))
		return 0;
	memcpy(&hop, nla_data(attribute), sizeof(hop));
	return hop.rtnh_ifindex;
}

int rtnl_parse_default_route(struct nlmsghdr *message, struct rtnl_default *route)
{
	struct nlattr *table[RTA_MAX + 1];
	struct rtmsg *header;
	uint32_t table_id;

	memset(route, 0, sizeof(*route));
	if (message->nlmsg_type != RTM_NEWROUTE)
		return 0;
	if (nlmsg_parse(message, sizeof(*header), table, RTA_MAX, NULL) < 0)
		return -EBADMSG;
	header = nlmsg_data(message);
	table_id = table[RTA_TABLE] ? get_u32(table[RTA_TABLE]) : header->rtm_table;
	if (header->rtm_dst_len != 0 || header->rtm_type != RTN_UNICAST || table_id != RT_TABLE_MAIN)
		return 0;
	route->ifindex = table[RTA_OIF] ? (int)get_u32(table[RTA_OIF]) : first_next_hop(table[RTA_MULTIPATH]);
	route->metric = get_u32(table[RTA_PRIORITY]);
	return route->ifindex > 0;
}

int rtnl_parse_fdb_entry(struct nlmsghdr *message, struct rtnl_fdb_entry *entry)
{
	struct nlattr *table[NDA_MAX + 1];
	struct ndmsg *header;

	memset(entry, 0, sizeof(*entry));
	if (message->nlmsg_type != RTM_NEWNEIGH)
		return 0;
	if (nlmsg_parse(message, sizeof(*header), table, NDA_MAX, NULL) < 0)
		return -EBADMSG;
	header = nlmsg_data(message);
	if (header->ndm_family != AF_BRIDGE || !table[NDA_MASTER] || !table[NDA_LLADDR] ||
	    nla_len(table[NDA_LLADDR]) != (int)sizeof(entry->address))
		return 0;
	entry->bridge_ifindex = (int)get_u32(table[NDA_MASTER]);
	entry->port_ifindex = header->ndm_ifindex;
	memcpy(entry->address, nla_data(table[NDA_LLADDR]), sizeof(entry->address));
	return 1;
}
