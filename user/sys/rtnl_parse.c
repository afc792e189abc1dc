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
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <netlink/msg.h>

#include "sys/nl_attribute.h"

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

	if (nl_nest(info, IFLA_INFO_MAX, nest) < 0)
		return;
	nl_text(link->kind, sizeof(link->kind), info[IFLA_INFO_KIND]);
	nl_text(slave_kind, sizeof(slave_kind), info[IFLA_INFO_SLAVE_KIND]);
	if (strcmp(slave_kind, "bridge") || nl_nest(port, IFLA_BRPORT_MAX, info[IFLA_INFO_SLAVE_DATA]) < 0)
		return;
	if (port[IFLA_BRPORT_STATE])
		snprintf(link->bridge_port_state, sizeof(link->bridge_port_state), "%s",
			 bridge_state_name(nl_u8(port[IFLA_BRPORT_STATE])));
}

/* With programs in several modes at once (driver and offload) the kernel names each mode's program: the driver's
 * counts most. */
static void parse_link_xdp(struct nlattr *nest, struct rtnl_link *link)
{
	struct nlattr *xdp[IFLA_XDP_MAX + 1];

	if (nl_nest(xdp, IFLA_XDP_MAX, nest) < 0)
		return;
	link->xdp_mode = nl_u8(xdp[IFLA_XDP_ATTACHED]);
	link->xdp_program_id = nl_u32(xdp[IFLA_XDP_PROG_ID]);
	if (!link->xdp_program_id)
		link->xdp_program_id = nl_u32(xdp[IFLA_XDP_DRV_PROG_ID]);
	if (!link->xdp_program_id)
		link->xdp_program_id = nl_u32(xdp[IFLA_XDP_SKB_PROG_ID]);
	if (!link->xdp_program_id)
		link->xdp_program_id = nl_u32(xdp[IFLA_XDP_HW_PROG_ID]);
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
	nl_text(link->name, sizeof(link->name), table[IFLA_IFNAME]);
	if (table[IFLA_ADDRESS] && nla_len(table[IFLA_ADDRESS]) == sizeof(link->address))
		memcpy(link->address, nla_data(table[IFLA_ADDRESS]), sizeof(link->address));
	link->mtu_bytes = nl_u32(table[IFLA_MTU]);
	link->operstate = nl_u8(table[IFLA_OPERSTATE]);
	link->master_ifindex = (int)nl_u32(table[IFLA_MASTER]);
	link->peer_ifindex = (int)nl_u32(table[IFLA_LINK]);
	link->peer_netnsid = table[IFLA_LINK_NETNSID] ? (int)nl_u32(table[IFLA_LINK_NETNSID]) : -1;
	link->rx_queues = nl_u32(table[IFLA_NUM_RX_QUEUES]);
	link->tx_queues = nl_u32(table[IFLA_NUM_TX_QUEUES]);
	parse_link_info(table[IFLA_LINKINFO], link);
	parse_link_xdp(table[IFLA_XDP], link);
	nl_struct(&stats, sizeof(stats), table[IFLA_STATS64]);
	link->rx_frames = stats.rx_packets;
	link->tx_frames = stats.tx_packets;
	link->rx_dropped = stats.rx_dropped;
	link->tx_dropped = stats.tx_dropped;
	link->rx_errors = stats.rx_errors;
	link->tx_errors = stats.tx_errors;
	return 1;
}

uint64_t rtnl_tbf_rate(struct nlattr *const *options)
{
	struct tc_tbf_qopt parameters = { 0 };

	nl_struct(&parameters, sizeof(parameters), options[TCA_TBF_PARMS]);
	return options[TCA_TBF_RATE64] ? nl_u64(options[TCA_TBF_RATE64]) : parameters.rate.rate;
}

static void parse_queue_stats(struct nlattr *nest, struct rtnl_qdisc *qdisc)
{
	struct nlattr *table[TCA_STATS_MAX + 1];
	struct gnet_stats_basic basic = { 0 };
	struct gnet_stats_queue queue = { 0 };

	if (nl_nest(table, TCA_STATS_MAX, nest) < 0)
		return;
	nl_struct(&basic, sizeof(basic), table[TCA_STATS_BASIC]);
	nl_struct(&queue, sizeof(queue), table[TCA_STATS_QUEUE]);
	qdisc->bytes = basic.bytes;
	qdisc->frames = table[TCA_STATS_PKT64] ? nl_u64(table[TCA_STATS_PKT64]) : basic.packets;
	qdisc->drops = queue.drops;
	qdisc->overlimits = queue.overlimits;
	qdisc->requeues = queue.requeues;
	qdisc->backlog_bytes = queue.backlog;
	qdisc->backlog_frames = queue.qlen;
}

int rtnl_parse_queue(struct nlmsghdr *message, struct rtnl_qdisc *queue, struct nlattr **options)
{
	struct nlattr *table[TCA_MAX + 1];
	struct tcmsg *header;

	memset(queue, 0, sizeof(*queue));
	*options = NULL;
	if (message->nlmsg_type != RTM_NEWQDISC && message->nlmsg_type != RTM_NEWTCLASS)
		return 0;
	if (nlmsg_parse(message, sizeof(*header), table, TCA_MAX, NULL) < 0 || !table[TCA_KIND])
		return -EBADMSG;
	header = nlmsg_data(message);
	queue->ifindex = header->tcm_ifindex;
	queue->handle = header->tcm_handle;
	queue->parent = header->tcm_parent;
	nl_text(queue->kind, sizeof(queue->kind), table[TCA_KIND]);
	parse_queue_stats(table[TCA_STATS2], queue);
	*options = table[TCA_OPTIONS];
	return 1;
}

int rtnl_parse_qdisc(struct nlmsghdr *message, struct rtnl_qdisc *qdisc)
{
	struct nlattr *options, *table[TCA_TBF_MAX + 1];
	int result = rtnl_parse_queue(message, qdisc, &options);

	if (result != 1)
		return result;
	if (message->nlmsg_type != RTM_NEWQDISC) {
		memset(qdisc, 0, sizeof(*qdisc));
		return 0;
	}
	if (!strcmp(qdisc->kind, "tbf") && nl_nest(table, TCA_TBF_MAX, options) >= 0)
		qdisc->rate_bytes_per_s = rtnl_tbf_rate(table);
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
	table_id = table[RTA_TABLE] ? nl_u32(table[RTA_TABLE]) : header->rtm_table;
	if (header->rtm_dst_len != 0 || header->rtm_type != RTN_UNICAST || table_id != RT_TABLE_MAIN)
		return 0;
	route->ifindex = table[RTA_OIF] ? (int)nl_u32(table[RTA_OIF]) : first_next_hop(table[RTA_MULTIPATH]);
	route->metric = nl_u32(table[RTA_PRIORITY]);
	return route->ifindex > 0;
}

int rtnl_parse_fdb_message(struct nlmsghdr *message, struct nlattr **table, struct ndmsg **header)
{
	if (message->nlmsg_type != RTM_NEWNEIGH)
		return 0;
	if (nlmsg_parse(message, sizeof(**header), table, NDA_MAX, NULL) < 0)
		return -EBADMSG;
	*header = nlmsg_data(message);
	return (*header)->ndm_family == AF_BRIDGE && table[NDA_LLADDR] && nla_len(table[NDA_LLADDR]) == ETH_ALEN;
}

int rtnl_parse_fdb_entry(struct nlmsghdr *message, struct rtnl_fdb_entry *entry)
{
	struct nlattr *table[NDA_MAX + 1];
	struct ndmsg *header;
	int result = rtnl_parse_fdb_message(message, table, &header);

	memset(entry, 0, sizeof(*entry));
	if (result != 1)
		return result;
	if (!table[NDA_MASTER])
		return 0;
	entry->bridge_ifindex = (int)nl_u32(table[NDA_MASTER]);
	entry->port_ifindex = header->ndm_ifindex;
	memcpy(entry->address, nla_data(table[NDA_LLADDR]), sizeof(entry->address));
	return 1;
}
