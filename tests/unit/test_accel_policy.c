// SPDX-License-Identifier: GPL-2.0-or-later
/* What the bridge fast path may take: accel/accel_policy, accel/stations. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <linux/neighbour.h>

#include "accel/accel_policy.h"
#include "accel/accel_ports.h"
#include "accel/fast_path.h"
#include "accel/forward_table.h"
#include "accel/reasons.h"
#include "accel/stations.h"
#include "base/error.h"
#include "map_bridge.h"

static const struct accel_bridge_facts good_bridge = { .is_there = 1, .is_up = 1, .ageing_s = 300 };

static const struct accel_port_facts good_port = { .is_asked = 1,
						   .is_member = 1,
						   .is_up = 1,
						   .has_carrier = 1,
						   .is_forwarding = 1,
						   .mtu_bytes = 1500,
						   .has_slot = 1,
						   .learning = 1,
						   .is_veth = 1,
						   .peer_gro = 1,
						   .native = 1,
						   .xmit = 1,
						   .xmit_buffers = 1 };

/* One fact that is wrong, where it stands, and what follows from it alone. */
struct port_case {
	size_t offset;
	int value;
	enum accel_refusal source, target;
};

#define PORT_CASE(member, value, source, target)                                 \
	{                                                                        \
		offsetof(struct accel_port_facts, member), value, source, target \
	}

static void test_each_fact_of_a_port(void **state)
{
	static const struct port_case cases[] = {
		PORT_CASE(is_asked, 0, ACCEL_NOT_ASKED, ACCEL_NOT_ASKED),
		PORT_CASE(is_member, 0, ACCEL_NO_PORT, ACCEL_NO_PORT),
		PORT_CASE(is_up, 0, ACCEL_PORT_DOWN, ACCEL_PORT_DOWN),
		PORT_CASE(has_carrier, 0, ACCEL_PORT_DOWN, ACCEL_PORT_DOWN),
		PORT_CASE(is_forwarding, 0, ACCEL_PORT_STATE, ACCEL_PORT_STATE),
		PORT_CASE(has_switch_id, 1, ACCEL_PORT_SWITCH, ACCEL_PORT_SWITCH),
		PORT_CASE(vlan_tunnel, 1, ACCEL_PORT_VLAN_TUNNEL, ACCEL_PORT_VLAN_TUNNEL),
		PORT_CASE(has_backup, 1, ACCEL_PORT_BACKUP, ACCEL_PORT_BACKUP),
		PORT_CASE(has_slot, 0, ACCEL_PORT_SLOTS, ACCEL_PORT_SLOTS),
		PORT_CASE(has_failed, 1, ACCEL_PORT_FAILED, ACCEL_PORT_FAILED),
		PORT_CASE(foreign_xdp, 1, ACCEL_PORT_XDP, ACCEL_FINE),
		PORT_CASE(learning, 0, ACCEL_PORT_LEARNING, ACCEL_FINE),
		PORT_CASE(locked, 1, ACCEL_PORT_LOCKED, ACCEL_FINE),
		PORT_CASE(ingress_tc, 1, ACCEL_PORT_INGRESS_TC, ACCEL_FINE),
		PORT_CASE(has_upper, 1, ACCEL_PORT_UPPER, ACCEL_FINE),
		PORT_CASE(native, 0, ACCEL_PORT_NO_NATIVE, ACCEL_FINE),
		PORT_CASE(peer_is_hidden, 1, ACCEL_PORT_PEER_HIDDEN, ACCEL_FINE),
		PORT_CASE(peer_checksum, 1, ACCEL_PORT_PEER_CHECKSUM, ACCEL_FINE),
		PORT_CASE(peer_checksum, -1, ACCEL_PORT_PEER_CHECKSUM, ACCEL_FINE), /* not known speaks against */
		PORT_CASE(peer_tag, 1, ACCEL_PORT_PEER_TAG, ACCEL_FINE),
		PORT_CASE(peer_tag, -1, ACCEL_PORT_PEER_TAG, ACCEL_FINE),
		PORT_CASE(egress_tc, 1, ACCEL_FINE, ACCEL_PORT_EGRESS_TC),
		PORT_CASE(qdisc_is_policy, 1, ACCEL_FINE, ACCEL_PORT_QDISC),
		PORT_CASE(xmit, 0, ACCEL_FINE, ACCEL_PORT_NO_XMIT),
		PORT_CASE(xmit, -1, ACCEL_FINE, ACCEL_PORT_NO_XMIT),
		PORT_CASE(isolated, 1, ACCEL_FINE, ACCEL_FINE), /* a matter of both ends: the program's */
		PORT_CASE(xmit_buffers, 0, ACCEL_FINE, ACCEL_FINE),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct accel_port_facts facts = good_port;
		struct accel_port_verdict verdict;

		*(int *)((char *)&facts + cases[i].offset) = cases[i].value;
		verdict = accel_policy_port(&facts, ACCEL_FINE);
		if (verdict.source != cases[i].source || verdict.target != cases[i].target)
			fail_msg("case %zu: %s, %s", i, accel_policy_name(verdict.source),
				 accel_policy_name(verdict.target));
		verdict = accel_policy_port(&facts, ACCEL_BRIDGE_NF_CALL); /* the bridge's reason comes first */
		assert_int_equal(verdict.source, ACCEL_BRIDGE_NF_CALL);
		assert_int_equal(verdict.target, ACCEL_BRIDGE_NF_CALL);
	}
}

static void test_kinds_of_ports(void **state)
{
	struct accel_port_facts tap = good_port, nic = good_port, veth = good_port;

	(void)state;
	tap.is_veth = 0;
	tap.is_tap = 1;
	tap.peer_checksum = tap.peer_tag = tap.strips_tags = 1; /* nothing to do with a tap */
	assert_int_equal(accel_policy_port(&tap, ACCEL_FINE).source, ACCEL_FINE);
	tap.tap_vnet_header = 1; /* a guest behind it: a target still */
	assert_int_equal(accel_policy_port(&tap, ACCEL_FINE).source, ACCEL_PORT_TAP_HEADER);
	assert_int_equal(accel_policy_port(&tap, ACCEL_FINE).target, ACCEL_FINE);
	nic.is_veth = 0;
	nic.peer_is_hidden = 1;
	assert_int_equal(accel_policy_port(&nic, ACCEL_FINE).source, ACCEL_FINE);
	nic.strips_tags = 1;
	assert_int_equal(accel_policy_port(&nic, ACCEL_FINE).source, ACCEL_PORT_TAG_STRIPPED);
	veth.xmit = veth.peer_gro = 0;
	assert_int_equal(accel_policy_port(&veth, ACCEL_FINE).target, ACCEL_PORT_PEER_NO_GRO);
}

/* The user-space forwarder: whatever stands between interface and stack would see nothing any more. */
static void test_forwarder(void **state)
{
	static const struct {
		size_t offset;
		int value;
		enum accel_refusal refusal;
	} cases[] = {
		{ offsetof(struct accel_port_facts, is_up), 0, ACCEL_PORT_DOWN },
		{ offsetof(struct accel_port_facts, has_switch_id), 1, ACCEL_PORT_SWITCH },
		{ offsetof(struct accel_port_facts, other_master), 1, ACCEL_PORT_SLAVE }, /* a bond's slave */
		{ offsetof(struct accel_port_facts, foreign_xdp), 1, ACCEL_PORT_XDP },
		{ offsetof(struct accel_port_facts, ingress_tc), 1, ACCEL_PORT_INGRESS_TC },
		{ offsetof(struct accel_port_facts, egress_tc), 1, ACCEL_PORT_EGRESS_TC },
		{ offsetof(struct accel_port_facts, qdisc_is_policy), 1, ACCEL_PORT_QDISC },
		{ offsetof(struct accel_port_facts, has_upper), 1, ACCEL_PORT_UPPER },
		{ offsetof(struct accel_port_facts, native), 0, ACCEL_PORT_NO_NATIVE },
		{ offsetof(struct accel_port_facts, mtu_bytes), 3401, ACCEL_PORT_MTU },
		{ offsetof(struct accel_port_facts, peer_checksum), 1, ACCEL_PORT_PEER_CHECKSUM },
		{ offsetof(struct accel_port_facts, peer_tag), 1, ACCEL_PORT_PEER_TAG },
		{ offsetof(struct accel_port_facts, peer_is_hidden), 1, ACCEL_PORT_PEER_HIDDEN },
		/* a bridge's matters are not its own */
		{ offsetof(struct accel_port_facts, learning), 0, ACCEL_FINE },
		{ offsetof(struct accel_port_facts, is_member), 0, ACCEL_FINE },
		{ offsetof(struct accel_port_facts, xmit), 0, ACCEL_FINE },
	};
	struct accel_port_facts facts = good_port;

	(void)state;
	assert_int_equal(accel_policy_forward(&facts, 3400), ACCEL_FINE);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		facts = good_port;
		memcpy((char *)&facts + cases[i].offset, &cases[i].value, sizeof(cases[i].value));
		assert_int_equal(accel_policy_forward(&facts, 3400), cases[i].refusal);
	}
	facts = good_port;
	facts.is_veth = 0;
	facts.is_tap = facts.tap_vnet_header = 1;
	assert_int_equal(accel_policy_forward(&facts, 3400), ACCEL_PORT_TAP_HEADER);
	facts.is_tap = facts.tap_vnet_header = 0;
	facts.strips_tags = 1;
	assert_int_equal(accel_policy_forward(&facts, 3400), ACCEL_PORT_TAG_STRIPPED);
	assert_non_null(strstr(accel_policy_text(ACCEL_PORT_SLAVE), "bond"));
	assert_non_null(strstr(accel_policy_text(ACCEL_NO_PORT), "of a bond give the bond"));
}

/* What an old kernel answers to a program it does not know, in words. */
static void test_old_kernel(void **state)
{
	(void)state;
	assert_int_equal(fast_path_refused(EINVAL), -EINVAL);
	assert_non_null(strstr(error_text(), "Linux 6.1 or newer is needed"));
	fast_path_refused(E2BIG);
	assert_non_null(strstr(error_text(), "Linux 6.1 or newer is needed"));
	fast_path_refused(EPERM);
	assert_non_null(strstr(error_text(), "CAP_BPF"));
	assert_null(strstr(error_text(), "6.1"));
}

static void test_learning_sides(void **state)
{
	static struct forward_table table;
	const unsigned char a[6] = { 2, 0, 0, 0, 0, 1 }, b[6] = { 2, 0, 0, 0, 0, 2 };
	uint64_t one = forward_table_address(a), two = forward_table_address(b);

	(void)state;
	assert_int_not_equal(one, two);
	assert_int_equal(forward_table_side(&table, one, 5), -1);
	assert_int_equal(forward_table_side(&table, 0, 5), -1); /* zeros are no entry, though empty places look like them */
	forward_table_learn(&table, one, 0, 5);
	forward_table_learn(&table, two, 1, 5);
	assert_int_equal(forward_table_side(&table, one, 6), 0);
	assert_int_equal(forward_table_side(&table, two, 6), 1);
	forward_table_learn(&table, one, 1, 7); /* it moved */
	assert_int_equal(forward_table_side(&table, one, 7), 1);
	assert_int_equal(forward_table_side(&table, two, 5 + FORWARD_TABLE_AGE_S), 1);
	assert_int_equal(forward_table_side(&table, two, 6 + FORWARD_TABLE_AGE_S), -1);
	forward_table_learn(&table, two, 0, 32767);
	assert_int_equal(forward_table_side(&table, two, 32768 + 10), 0); /* the clock of seconds wraps */
	for (uint64_t address = 1; address < 100000; address++) { /* others may take its place, never its name */
		int side = forward_table_side(&table, two, 32767);

		forward_table_learn(&table, address << 8 | 2, 1, 32767);
		assert_true(side == 0 || side == -1);
	}
}

static void test_bridges(void **state)
{
	struct accel_bridge_facts facts = good_bridge;

	(void)state;
	assert_int_equal(accel_policy_bridge(&facts), ACCEL_FINE);
	facts.nf_rules = -1;
	assert_int_equal(accel_policy_bridge(&facts), ACCEL_FINE);
	facts.is_up = 0;
	assert_int_equal(accel_policy_bridge(&facts), ACCEL_BRIDGE_DOWN);
	facts.is_promiscuous = 1;
	assert_int_equal(accel_policy_bridge(&facts), ACCEL_BRIDGE_PROMISCUOUS);
	facts.ageing_s = 2.99;
	assert_int_equal(accel_policy_bridge(&facts), ACCEL_BRIDGE_AGEING);
	facts.has_proxy = 1;
	assert_int_equal(accel_policy_bridge(&facts), ACCEL_BRIDGE_PROXY);
	facts.nf_rules = 1;
	assert_int_equal(accel_policy_bridge(&facts), ACCEL_BRIDGE_NF_RULES);
	facts.nf_call = 1;
	assert_int_equal(accel_policy_bridge(&facts), ACCEL_BRIDGE_NF_CALL);
	facts.vlan_filtering = 1;
	assert_int_equal(accel_policy_bridge(&facts), ACCEL_BRIDGE_VLAN_FILTERING);
	facts.is_there = 0;
	assert_int_equal(accel_policy_bridge(&facts), ACCEL_BRIDGE_GONE);
}

static void test_entries(void **state)
{
	const struct bridge_fdb_entry good = {
		.bridge_ifindex = 7, .port_ifindex = 9, .address = { 2, 0, 0, 0, 0, 1 }, .state = NUD_REACHABLE
	};
	struct bridge_fdb_entry entry = good;

	(void)state;
	assert_true(accel_policy_entry(&entry, 7));
	assert_true(accel_policy_ages(&entry));
	assert_false(accel_policy_entry(&entry, 8));
	entry.state = NUD_STALE; /* old, but the bridge still finds it */
	assert_true(accel_policy_entry(&entry, 7));
	entry.state = NUD_NOARP;
	assert_true(accel_policy_entry(&entry, 7));
	assert_false(accel_policy_ages(&entry));
	entry.state = NUD_PERMANENT; /* the bridge's own */
	assert_false(accel_policy_entry(&entry, 7));
	entry.state = NUD_PERMANENT | NUD_NOARP;
	assert_false(accel_policy_entry(&entry, 7));
	entry.state = 0;
	assert_false(accel_policy_entry(&entry, 7));
	entry = good;
	entry.vlan = 1;
	assert_false(accel_policy_entry(&entry, 7));
	entry = good;
	entry.more_flags = 2; /* locked, or what is invented later */
	assert_false(accel_policy_entry(&entry, 7));
	entry = good;
	entry.port_ifindex = 7;
	assert_false(accel_policy_entry(&entry, 7));
	entry = good;
	entry.address[0] = 1;
	assert_false(accel_policy_entry(&entry, 7));
	entry = good;
	entry.is_gone = 1;
	assert_false(accel_policy_entry(&entry, 7));
	entry = good;
	entry.flags = NTF_EXT_LEARNED;
	assert_true(accel_policy_entry(&entry, 7));
	assert_false(accel_policy_ages(&entry));
}

static void test_numbers_and_words(void **state)
{
	(void)state;
	assert_int_equal(accel_policy_max_bytes(1500), 1518);
	assert_true(accel_policy_refresh_s(300, 0, 15) == 60);
	assert_true(accel_policy_refresh_s(30, 0, 15) == 10);
	assert_true(accel_policy_refresh_s(300, 1, 15) == 5);
	assert_true(accel_policy_refresh_s(300, 1, 0) == 60);
	assert_true(accel_policy_qdisc_is_plain("noqueue"));
	assert_true(accel_policy_qdisc_is_plain("fq_codel"));
	assert_false(accel_policy_qdisc_is_plain("tbf"));
	assert_false(accel_policy_qdisc_is_plain(""));
	for (int i = 0; i < ACCEL_REFUSALS; i++) {
		assert_true(strlen(accel_policy_text((enum accel_refusal)i)) > 5);
		for (int k = 0; k < i; k++)
			assert_string_not_equal(accel_policy_name((enum accel_refusal)i),
						accel_policy_name((enum accel_refusal)k));
	}
	for (int i = 0; i < BRIDGE_REASONS; i++)
		assert_true(strlen(bridge_reason_name((enum bridge_reason)i)) > 3);
	assert_true(accel_policy_can_be_set(ACCEL_PORT_PEER_CHECKSUM));
	assert_false(accel_policy_can_be_set(ACCEL_PORT_XDP));
}

static void test_lists_of_names(void **state)
{
	(void)state;
	assert_true(accel_ports_is_asked(NULL, "p1"));
	assert_true(accel_ports_is_asked("", "p1"));
	assert_true(accel_ports_is_asked("p0,p1,p2", "p1"));
	assert_true(accel_ports_is_asked("p1", "p1"));
	assert_true(accel_ports_is_asked("p0,p1", "p1"));
	assert_false(accel_ports_is_asked("p0,p11", "p1"));
	assert_false(accel_ports_is_asked("xp1,p2", "p1"));
	assert_false(accel_ports_is_asked("p", "p1"));
}

static void count_one(struct station *station, void *context)
{
	(void)station;
	++*(unsigned int *)context;
}

static void put_number(unsigned char address[6], unsigned int number)
{
	memset(address, 2, 6);
	memcpy(address + 2, &number, 4);
}

#define MANY 20000u

static void test_table_of_stations(void **state)
{
	struct stations stations;
	unsigned char address[6];
	unsigned int count = 0;

	(void)state;
	assert_int_equal(stations_open(&stations), 0);
	for (unsigned int i = 0; i < MANY; i++) {
		put_number(address, i);
		assert_null(stations_find(&stations, address));
		stations_get(&stations, address)->port_ifindex = (int)i;
	}
	for (unsigned int i = 0; i < MANY; i++) {
		put_number(address, i);
		assert_int_equal(stations_find(&stations, address)->port_ifindex, i);
		assert_ptr_equal(stations_get(&stations, address), stations_find(&stations, address));
		assert_int_equal(stations_find(&stations, address)->slot, HOPCAP_BRIDGE_NO_PORT);
	}
	stations_each(&stations, count_one, &count);
	assert_int_equal(count, MANY);
	for (unsigned int i = 0; i < MANY; i += 2) {
		put_number(address, i);
		stations_mark_dirty(&stations, stations_find(&stations, address));
		stations_remove(&stations, stations_find(&stations, address));
		assert_null(stations_find(&stations, address));
	}
	assert_int_equal(stations.count, MANY / 2);
	assert_null(stations_next_dirty(&stations)); /* what is removed is not dirty any more */
	stations_close(&stations);
}

static void test_sweep_and_dirty(void **state)
{
	struct stations stations;
	unsigned char address[6];
	struct station *station;
	unsigned int dirty = 0;

	(void)state;
	assert_int_equal(stations_open(&stations), 0);
	for (unsigned int i = 0; i < 100; i++) {
		put_number(address, i);
		stations_get(&stations, address)->is_known = 1;
	}
	stations_sweep_begin(&stations);
	for (unsigned int i = 0; i < 100; i += 4) {
		put_number(address, i);
		stations_find(&stations, address)->sweep = stations.sweep;
	}
	stations_sweep_end(&stations);
	while ((station = stations_next_dirty(&stations))) {
		assert_false(station->is_known);
		assert_int_equal(station->address[2] % 4 != 0, 1);
		stations_mark_dirty(&stations, station);
		stations_mark_dirty(&stations, station); /* once in the list */
		assert_ptr_equal(stations_next_dirty(&stations), station);
		dirty++;
	}
	assert_int_equal(dirty, 75);
	stations_close(&stations);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_fact_of_a_port),
		cmocka_unit_test(test_kinds_of_ports),
		cmocka_unit_test(test_forwarder),
		cmocka_unit_test(test_old_kernel),
		cmocka_unit_test(test_learning_sides),
		cmocka_unit_test(test_bridges),
		cmocka_unit_test(test_entries),
		cmocka_unit_test(test_numbers_and_words),
		cmocka_unit_test(test_lists_of_names),
		cmocka_unit_test(test_table_of_stations),
		cmocka_unit_test(test_sweep_and_dirty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
