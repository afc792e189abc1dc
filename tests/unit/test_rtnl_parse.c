// SPDX-License-Identifier: GPL-2.0-or-later
/* rtnetlink messages to structs: what stands where, what other messages do, and that no cut or damaged message is
 * read past its end. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <linux/gen_stats.h>
#include <linux/if.h>
#include <linux/if_bridge.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include "netlink_message.h"
#include "sys/rtnl_parse.h"

static struct nlmsghdr *bridge_port(void)
{
	const struct ifinfomsg header = { .ifi_index = 7, .ifi_flags = IFF_UP | IFF_LOWER_UP };
	const struct rtnl_link_stats64 stats = {
		.rx_packets = 11, .tx_packets = 1ULL << 40, .rx_dropped = 3, .tx_errors = 4
	};
	const unsigned char address[6] = { 2, 0, 0, 0, 0, 9 };
	struct nl_msg *building = message_start(RTM_NEWLINK, &header, sizeof(header));
	struct nlattr *info, *data, *xdp;

	nla_put_string(building, IFLA_IFNAME, "trunk0");
	nla_put(building, IFLA_ADDRESS, sizeof(address), address);
	nla_put_u32(building, IFLA_MTU, 9000);
	nla_put_u8(building, IFLA_OPERSTATE, 6);
	nla_put_u32(building, IFLA_MASTER, 3);
	nla_put_u32(building, IFLA_LINK, 2);
	nla_put_s32(building, IFLA_LINK_NETNSID, 0);
	nla_put_u32(building, IFLA_NUM_RX_QUEUES, 1);
	nla_put_u32(building, IFLA_NUM_TX_QUEUES, 2);
	nla_put(building, IFLA_STATS64, sizeof(stats), &stats);
	info = message_nest(building, IFLA_LINKINFO);
	nla_put_string(building, IFLA_INFO_KIND, "veth");
	nla_put_string(building, IFLA_INFO_SLAVE_KIND, "bridge");
	data = message_nest(building, IFLA_INFO_SLAVE_DATA);
	nla_put_u8(building, IFLA_BRPORT_STATE, BR_STATE_FORWARDING);
	nla_nest_end(building, data);
	nla_nest_end(building, info);
	xdp = message_nest(building, IFLA_XDP);
	nla_put_u8(building, IFLA_XDP_ATTACHED, XDP_ATTACHED_DRV);
	nla_put_u32(building, IFLA_XDP_PROG_ID, 42);
	nla_nest_end(building, xdp);
	return message_finish(building);
}

static void test_link(void **state)
{
	struct nlmsghdr *message = bridge_port();
	struct rtnl_link link;

	(void)state;
	assert_int_equal(rtnl_parse_link(message, &link), 1);
	assert_int_equal(link.ifindex, 7);
	assert_string_equal(link.name, "trunk0");
	assert_string_equal(link.kind, "veth");
	assert_int_equal(link.address[5], 9);
	assert_int_equal(link.mtu_bytes, 9000);
	assert_int_equal(link.operstate, 6);
	assert_int_equal(link.master_ifindex, 3);
	assert_int_equal(link.peer_ifindex, 2);
	assert_int_equal(link.peer_netnsid, 0);
	assert_int_equal(link.rx_queues, 1);
	assert_int_equal(link.tx_queues, 2);
	assert_string_equal(link.bridge_port_state, "forwarding");
	assert_int_equal(link.xdp_program_id, 42);
	assert_int_equal(link.xdp_mode, XDP_ATTACHED_DRV);
	assert_int_equal(link.rx_frames, 11);
	assert_true(link.tx_frames == 1ULL << 40);
	assert_int_equal(link.rx_dropped, 3);
	assert_int_equal(link.tx_errors, 4);
	free(message);
}

static void test_link_of_few_words(void **state)
{
	const struct ifinfomsg header = { .ifi_index = 1 };
	struct nl_msg *building = message_start(RTM_NEWLINK, &header, sizeof(header));
	struct nlmsghdr *message;
	struct rtnl_link link;

	(void)state;
	nla_put(building, IFLA_IFNAME, 20, "abcdefghijklmnopqrstuvwxyz"); /* too long, and no zero at its end */
	message = message_finish(building);
	assert_int_equal(rtnl_parse_link(message, &link), 1);
	assert_string_equal(link.name, "abcdefghijklmno");
	assert_int_equal(link.peer_netnsid, -1);
	assert_string_equal(link.kind, "");
	assert_string_equal(link.bridge_port_state, "");
	message->nlmsg_type = RTM_DELLINK;
	assert_int_equal(rtnl_parse_link(message, &link), 0);
	free(message);
	message = message_finish(message_start(RTM_NEWLINK, &header, sizeof(header)));
	assert_int_equal(rtnl_parse_link(message, &link), -EBADMSG);
	free(message);
}

static void test_xdp_in_two_modes(void **state)
{
	const struct ifinfomsg header = { .ifi_index = 1 };
	struct nl_msg *building = message_start(RTM_NEWLINK, &header, sizeof(header));
	struct nlmsghdr *message;
	struct rtnl_link link;
	struct nlattr *xdp;

	(void)state;
	nla_put_string(building, IFLA_IFNAME, "nic0");
	xdp = message_nest(building, IFLA_XDP);
	nla_put_u8(building, IFLA_XDP_ATTACHED, XDP_ATTACHED_MULTI);
	nla_put_u32(building, IFLA_XDP_HW_PROG_ID, 9);
	nla_put_u32(building, IFLA_XDP_DRV_PROG_ID, 8);
	nla_nest_end(building, xdp);
	message = message_finish(building);
	assert_int_equal(rtnl_parse_link(message, &link), 1);
	assert_int_equal(link.xdp_program_id, 8);
	free(message);
}

static struct nlmsghdr *shaper(int wide_rate)
{
	const struct tcmsg header = { .tcm_ifindex = 5, .tcm_handle = 0x80010000, .tcm_parent = TC_H_ROOT };
	const struct tc_tbf_qopt parameters = { .rate = { .rate = 50000000 } };
	const struct gnet_stats_basic basic = { .bytes = 1000, .packets = 10 };
	const struct gnet_stats_queue queue = {
		.qlen = 1, .backlog = 1514, .drops = 7, .requeues = 2, .overlimits = 5
	};
	struct nl_msg *building = message_start(RTM_NEWQDISC, &header, sizeof(header));
	struct nlattr *inner;

	nla_put_string(building, TCA_KIND, "tbf");
	inner = message_nest(building, TCA_OPTIONS);
	nla_put(building, TCA_TBF_PARMS, sizeof(parameters), &parameters);
	if (wide_rate)
		nla_put_u64(building, TCA_TBF_RATE64, 10000000000ULL);
	nla_nest_end(building, inner);
	inner = message_nest(building, TCA_STATS2);
	nla_put(building, TCA_STATS_BASIC, sizeof(basic), &basic);
	nla_put(building, TCA_STATS_QUEUE, sizeof(queue), &queue);
	if (wide_rate)
		nla_put_u64(building, TCA_STATS_PKT64, 1ULL << 33);
	nla_nest_end(building, inner);
	return message_finish(building);
}

static void test_qdisc(void **state)
{
	struct nlmsghdr *message = shaper(0);
	struct rtnl_qdisc qdisc;

	(void)state;
	assert_int_equal(rtnl_parse_qdisc(message, &qdisc), 1);
	assert_string_equal(qdisc.kind, "tbf");
	assert_int_equal(qdisc.ifindex, 5);
	assert_int_equal(qdisc.parent, TC_H_ROOT);
	assert_true(qdisc.rate_bytes_per_s == 50000000);
	assert_true(qdisc.bytes == 1000 && qdisc.frames == 10);
	assert_int_equal(qdisc.drops, 7);
	assert_int_equal(qdisc.overlimits, 5);
	assert_int_equal(qdisc.requeues, 2);
	assert_int_equal(qdisc.backlog_bytes, 1514);
	assert_int_equal(qdisc.backlog_frames, 1);
	free(message);
	message = shaper(1);
	assert_int_equal(rtnl_parse_qdisc(message, &qdisc), 1);
	assert_true(qdisc.rate_bytes_per_s == 10000000000ULL);
	assert_true(qdisc.frames == 1ULL << 33);
	free(message);
}

static struct nlmsghdr *route(unsigned char prefix_bits, unsigned char type, uint32_t table, int by_next_hops)
{
	const struct rtmsg header = {
		.rtm_family = AF_INET, .rtm_dst_len = prefix_bits, .rtm_type = type, .rtm_table = RT_TABLE_COMPAT
	};
	const struct rtnexthop hop = { .rtnh_len = sizeof(hop), .rtnh_ifindex = 4 };
	struct nl_msg *building = message_start(RTM_NEWROUTE, &header, sizeof(header));

	nla_put_u32(building, RTA_TABLE, table);
	nla_put_u32(building, RTA_PRIORITY, 100);
	if (by_next_hops)
		nla_put(building, RTA_MULTIPATH, sizeof(hop), &hop);
	else
		nla_put_u32(building, RTA_OIF, 2);
	return message_finish(building);
}

static void check_route(struct nlmsghdr *message, int expected, int ifindex)
{
	struct rtnl_default found;

	assert_int_equal(rtnl_parse_default_route(message, &found), expected);
	if (expected == 1) {
		assert_int_equal(found.ifindex, ifindex);
		assert_int_equal(found.metric, 100);
	}
	free(message);
}

static void test_default_route(void **state)
{
	(void)state;
	check_route(route(0, RTN_UNICAST, RT_TABLE_MAIN, 0), 1, 2);
	check_route(route(0, RTN_UNICAST, RT_TABLE_MAIN, 1), 1, 4);
	check_route(route(24, RTN_UNICAST, RT_TABLE_MAIN, 0), 0, 0);
	check_route(route(0, RTN_UNREACHABLE, RT_TABLE_MAIN, 0), 0, 0);
	check_route(route(0, RTN_UNICAST, 1000, 0), 0, 0);
}

static struct nlmsghdr *neighbour(unsigned char family, int with_master)
{
	const struct ndmsg header = { .ndm_family = family, .ndm_ifindex = 6 };
	const unsigned char address[6] = { 2, 1, 1, 1, 1, 1 };
	struct nl_msg *building = message_start(RTM_NEWNEIGH, &header, sizeof(header));

	nla_put(building, NDA_LLADDR, sizeof(address), address);
	if (with_master)
		nla_put_u32(building, NDA_MASTER, 3);
	return message_finish(building);
}

static void test_fdb_entry(void **state)
{
	struct nlmsghdr *message = neighbour(AF_BRIDGE, 1);
	struct rtnl_fdb_entry entry;

	(void)state;
	assert_int_equal(rtnl_parse_fdb_entry(message, &entry), 1);
	assert_int_equal(entry.bridge_ifindex, 3);
	assert_int_equal(entry.port_ifindex, 6);
	assert_int_equal(entry.address[1], 1);
	free(message);
	message = neighbour(AF_BRIDGE, 0);
	assert_int_equal(rtnl_parse_fdb_entry(message, &entry), 0);
	free(message);
	message = neighbour(AF_INET, 1);
	assert_int_equal(rtnl_parse_fdb_entry(message, &entry), 0);
	free(message);
}

static void parse_all(struct nlmsghdr *message, void *context)
{
	struct rtnl_fdb_entry entry;
	struct rtnl_default found;
	struct rtnl_qdisc qdisc;
	struct rtnl_link link;

	(void)context;
	rtnl_parse_link(message, &link);
	rtnl_parse_qdisc(message, &qdisc);
	rtnl_parse_default_route(message, &found);
	rtnl_parse_fdb_entry(message, &entry);
	assert_true(memchr(link.name, 0, sizeof(link.name)) != NULL);
	assert_true(memchr(qdisc.kind, 0, sizeof(qdisc.kind)) != NULL);
}

static void test_cut_and_damaged_messages(void **state)
{
	struct nlmsghdr *messages[] = { bridge_port(), shaper(1), route(0, RTN_UNICAST, RT_TABLE_MAIN, 1),
					neighbour(AF_BRIDGE, 1) };

	(void)state;
	for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); i++) {
		message_cut(messages[i], parse_all, NULL);
		message_damage(messages[i], 10000, parse_all, NULL);
		free(messages[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_link),
		cmocka_unit_test(test_link_of_few_words),
		cmocka_unit_test(test_xdp_in_two_modes),
		cmocka_unit_test(test_qdisc),
		cmocka_unit_test(test_default_route),
		cmocka_unit_test(test_fdb_entry),
		cmocka_unit_test(test_cut_and_damaged_messages),
	};

	return cmocka_run_group_tests_name("rtnl_parse", tests, NULL, NULL);
}
