// SPDX-License-Identifier: GPL-2.0-or-later
/* Forwarding tables, neighbours, addresses and routes to facts: what stands where, what is left out, and hostile bytes. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <linux/if_addr.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>

#include "netlink_message.h"
#include "sys/collect_tables_parse.h"

static const unsigned char mac[6] = { 2, 0, 0, 0, 0, 9 };

/* master 0: an entry of the device's own. */
static struct nlmsghdr *fdb(uint32_t master, uint16_t state, uint8_t flags, int with_remote)
{
	const struct ndmsg header = {
		.ndm_family = AF_BRIDGE, .ndm_ifindex = 6, .ndm_state = state, .ndm_flags = flags
	};
	struct nl_msg *building = message_start(RTM_NEWNEIGH, &header, sizeof(header));

	nla_put(building, NDA_LLADDR, sizeof(mac), mac);
	if (master)
		nla_put_u32(building, NDA_MASTER, master);
	nla_put_u16(building, NDA_VLAN, 12);
	if (with_remote)
		nla_put_u32(building, NDA_DST, htonl(0x0a000002));
	return message_finish(building);
}

static void test_fdb_of_a_bridge(void **state)
{
	static const struct {
		uint16_t state;
		uint8_t flags;
		int is_local, is_static, is_external;
	} cases[] = {
		{ NUD_REACHABLE, 0, 0, 0, 0 },
		{ NUD_PERMANENT, 0, 1, 0, 0 },
		{ NUD_NOARP, 0, 0, 1, 0 },
		{ NUD_STALE, NTF_EXT_LEARNED, 0, 0, 1 },
	};
	struct facts_fdb entry;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct nlmsghdr *message = fdb(3, cases[i].state, cases[i].flags, 0);

		assert_int_equal(collect_parse_fdb(message, &entry), 1);
		assert_int_equal(entry.bridge_ifindex, 3);
		assert_int_equal(entry.port_ifindex, 6);
		assert_int_equal(entry.vlan, 12);
		assert_memory_equal(entry.address, mac, sizeof(mac));
		assert_int_equal(entry.is_local, cases[i].is_local);
		assert_int_equal(entry.is_static, cases[i].is_static);
		assert_int_equal(entry.is_external, cases[i].is_external);
		assert_string_equal(entry.vxlan_remote, "");
		free(message);
	}
}

static void test_fdb_of_a_vxlan(void **state)
{
	struct nlmsghdr *message = fdb(0, NUD_PERMANENT, NTF_SELF, 1);
	struct facts_fdb entry;

	(void)state;
	assert_int_equal(collect_parse_fdb(message, &entry), 1);
	assert_int_equal(entry.bridge_ifindex, 0);
	assert_int_equal(entry.is_static, 1);
	assert_int_equal(entry.is_local, 0);
	assert_string_equal(entry.vxlan_remote, "10.0.0.2");
	message->nlmsg_type = RTM_DELNEIGH;
	assert_int_equal(collect_parse_fdb(message, &entry), 0);
	free(message);
}

static struct nlmsghdr *neighbour(unsigned char family, uint16_t state, int address_bytes)
{
	const struct ndmsg header = { .ndm_family = family, .ndm_ifindex = 6, .ndm_state = state };
	const unsigned char internet[16] = { 10, 1, 2, 3 };
	struct nl_msg *building = message_start(RTM_NEWNEIGH, &header, sizeof(header));

	nla_put(building, NDA_DST, address_bytes, internet);
	nla_put(building, NDA_LLADDR, sizeof(mac), mac);
	return message_finish(building);
}

static void test_neighbour(void **state)
{
	static const struct {
		unsigned char family;
		uint16_t state;
		int address_bytes, expected;
	} cases[] = {
		{ AF_INET, NUD_STALE, 4, 1 },	   { AF_INET6, NUD_PERMANENT, 16, 1 }, { AF_INET, NUD_FAILED, 4, 0 },
		{ AF_INET, NUD_INCOMPLETE, 4, 0 }, { AF_INET6, NUD_NOARP, 16, 0 },     { AF_BRIDGE, NUD_STALE, 4, 0 },
		{ AF_INET, NUD_STALE, 5, 0 },
	};
	struct facts_neighbour found;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct nlmsghdr *message = neighbour(cases[i].family, cases[i].state, cases[i].address_bytes);

		assert_int_equal(collect_parse_neighbour(message, &found), cases[i].expected);
		if (i == 0) {
			assert_string_equal(found.address, "10.1.2.3");
			assert_int_equal(found.ifindex, 6);
			assert_memory_equal(found.mac, mac, sizeof(mac));
		}
		free(message);
	}
}

static struct nlmsghdr *address(int point_to_point)
{
	const struct ifaddrmsg header = { .ifa_family = AF_INET, .ifa_prefixlen = 24, .ifa_index = 6 };
	struct nl_msg *building = message_start(RTM_NEWADDR, &header, sizeof(header));

	nla_put_u32(building, IFA_ADDRESS, htonl(point_to_point ? 0x0a000001 : 0x0a000002));
	if (point_to_point)
		nla_put_u32(building, IFA_LOCAL, htonl(0x0a000002));
	return message_finish(building);
}

static void test_address(void **state)
{
	struct facts_address found;

	(void)state;
	for (int point_to_point = 0; point_to_point <= 1; point_to_point++) {
		struct nlmsghdr *message = address(point_to_point);

		assert_int_equal(collect_parse_address(message, &found), 1);
		assert_string_equal(found.address, "10.0.0.2");
		assert_int_equal(found.prefix_length, 24);
		assert_int_equal(found.ifindex, 6);
		message->nlmsg_type = RTM_DELADDR;
		assert_int_equal(collect_parse_address(message, &found), 0);
		free(message);
	}
}

struct route_form {
	unsigned char prefix_length, type;
	uint32_t table, flags;
	int hops; /* 0: RTA_OIF */
};

static struct nlmsghdr *route(const struct route_form *form)
{
	const struct rtmsg header = { .rtm_family = AF_INET,
				      .rtm_dst_len = form->prefix_length,
				      .rtm_type = form->type,
				      .rtm_table = RT_TABLE_COMPAT,
				      .rtm_flags = form->flags };
	struct {
		struct rtnexthop hop;
		struct rtattr header;
		uint32_t gateway;
	} hops[2] = { 0 };
	struct nl_msg *building = message_start(RTM_NEWROUTE, &header, sizeof(header));
	struct nlattr *metrics;

	nla_put_u32(building, RTA_TABLE, form->table);
	nla_put_u32(building, RTA_PRIORITY, 100);
	nla_put_u32(building, RTA_DST, htonl(0x0a010000));
	metrics = message_nest(building, RTA_METRICS);
	nla_put_u32(building, RTAX_MTU, 1400);
	nla_nest_end(building, metrics);
	for (int i = 0; i < 2; i++) {
		hops[i].hop.rtnh_len = sizeof(hops[i]);
		hops[i].hop.rtnh_ifindex = 4 + i;
		hops[i].header = (struct rtattr){ .rta_len = RTA_LENGTH(4), .rta_type = RTA_GATEWAY };
		hops[i].gateway = htonl(0x0a0000fe + (uint32_t)i);
	}
	if (form->hops) {
		nla_put(building, RTA_MULTIPATH, (int)sizeof(hops[0]) * form->hops, hops);
	} else {
		nla_put_u32(building, RTA_OIF, 2);
		nla_put_u32(building, RTA_GATEWAY, htonl(0x0a0000fe));
	}
	return message_finish(building);
}

static struct facts *routes_of(const struct route_form *form, int expected)
{
	struct nlmsghdr *message = route(form);
	struct facts *facts = facts_new();

	assert_non_null(facts);
	assert_int_equal(collect_parse_route(message, facts, 5), expected);
	free(message);
	return facts;
}

static void test_route(void **state)
{
	const struct route_form form = { 16, RTN_UNICAST, RT_TABLE_MAIN, 0, 0 };
	struct facts *facts = routes_of(&form, 1);

	(void)state;
	assert_int_equal(facts->route_count, 1);
	assert_int_equal(facts->routes[0].netns, 5);
	assert_int_equal(facts->routes[0].out_ifindex, 2);
	assert_int_equal(facts->routes[0].prefix_length, 16);
	assert_int_equal(facts->routes[0].metric, 100);
	assert_int_equal(facts->routes[0].mtu_bytes, 1400);
	assert_string_equal(facts->routes[0].destination, "10.1.0.0");
	assert_string_equal(facts->routes[0].gateway, "10.0.0.254");
	facts_free(facts);
}

static void test_default_route_over_two_hops(void **state)
{
	const struct route_form form = { 0, RTN_UNICAST, RT_TABLE_MAIN, 0, 2 };
	struct facts *facts = routes_of(&form, 1);

	(void)state;
	assert_int_equal(facts->route_count, 2);
	for (int i = 0; i < 2; i++) {
		assert_string_equal(facts->routes[i].destination, "");
		assert_int_equal(facts->routes[i].out_ifindex, 4 + i);
		assert_string_equal(facts->routes[i].gateway, i ? "10.0.0.255" : "10.0.0.254");
	}
	facts_free(facts);
}

static void test_routes_left_out(void **state)
{
	const struct route_form forms[] = {
		{ 16, RTN_UNICAST, RT_TABLE_LOCAL, 0, 0 },
		{ 16, RTN_UNICAST, 1000, 0, 0 },
		{ 16, RTN_UNREACHABLE, RT_TABLE_MAIN, 0, 0 },
		{ 16, RTN_UNICAST, RT_TABLE_MAIN, RTM_F_CLONED, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct facts *facts = routes_of(&forms[i], 0);

		assert_int_equal(facts->route_count, 0);
		facts_free(facts);
	}
}

/* A gateway of the other family. */
static void test_route_via(void **state)
{
	const struct rtmsg header = { .rtm_family = AF_INET, .rtm_type = RTN_UNICAST, .rtm_table = RT_TABLE_MAIN };
	const unsigned char via[18] = { AF_INET6, 0, 0xfe, 0x80, [17] = 1 };
	struct nl_msg *building = message_start(RTM_NEWROUTE, &header, sizeof(header));
	struct facts *facts = facts_new();
	struct nlmsghdr *message;

	(void)state;
	nla_put_u32(building, RTA_OIF, 2);
	nla_put(building, RTA_VIA, sizeof(via), via);
	message = message_finish(building);
	assert_int_equal(collect_parse_route(message, facts, 0), 1);
	assert_string_equal(facts->routes[0].gateway, "fe80::1");
	free(message);
	facts_free(facts);
}

static void parse_hostile(struct nlmsghdr *message, void *context)
{
	struct facts *facts = facts_new();
	struct facts_neighbour neighbour_found;
	struct facts_address address_found;
	struct facts_fdb entry;

	(void)context;
	assert_non_null(facts);
	collect_parse_fdb(message, &entry);
	assert_non_null(memchr(entry.vxlan_remote, 0, sizeof(entry.vxlan_remote)));
	collect_parse_neighbour(message, &neighbour_found);
	collect_parse_address(message, &address_found);
	collect_parse_route(message, facts, 0);
	for (int i = 0; i < facts->route_count; i++)
		assert_true(facts->routes[i].out_ifindex > 0 && facts->routes[i].metric >= 0);
	facts_free(facts);
}

static void test_cut_and_damaged_messages(void **state)
{
	const struct route_form over_two = { 16, RTN_UNICAST, RT_TABLE_MAIN, 0, 2 };
	struct nlmsghdr *messages[] = { fdb(3, NUD_NOARP, 0, 1), neighbour(AF_INET6, NUD_STALE, 16), address(1),
					route(&over_two) };

	(void)state;
	for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); i++) {
		message_cut(messages[i], parse_hostile, NULL);
		message_damage(messages[i], 10000, parse_hostile, NULL);
		free(messages[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fdb_of_a_bridge),
		cmocka_unit_test(test_fdb_of_a_vxlan),
		cmocka_unit_test(test_neighbour),
		cmocka_unit_test(test_address),
		cmocka_unit_test(test_route),
		cmocka_unit_test(test_default_route_over_two_hops),
		cmocka_unit_test(test_routes_left_out),
		cmocka_unit_test(test_route_via),
		cmocka_unit_test(test_cut_and_damaged_messages),
	};

	return cmocka_run_group_tests_name("collect_tables_parse", tests, NULL, NULL);
}
