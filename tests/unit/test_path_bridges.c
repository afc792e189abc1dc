// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Paths through made-up networks of wires and bridges: the order of points, what decides, what is said where a path is cut. Other devices:
 * test_path_devices.c; live networks: tests/lab/path.sh.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "discover/path_follow.h"
#include "network_facts.h"
#include "path_expect.h"

/* a - b - c, wires between, bridges inside. */
static struct facts *chain(void)
{
	struct facts *facts = facts_new();

	net_pair(facts, "a0@a", "b0@b");
	net_pair(facts, "b1@b", "c0@c");
	net_link(facts, "br0@b", "bridge");
	net_enslave(facts, "b0@b", "br0");
	net_enslave(facts, "b1@b", "br0");
	return facts;
}

static void test_wire(void **state)
{
	struct facts *facts = facts_new();

	(void)state;
	net_pair(facts, "a0", "b0@b");
	expect_complete(facts, "a0", "b0@ns:b", "a0 >wire> b0@ns:b");
	assert_string_equal(path.hops[0].name, "wire a0-b0");
	expect_complete(facts, "b0@ns:b", "a0", "b0@ns:b >wire> a0");
	assert_int_equal(path.way_count, 1);
	facts_free(facts);
}

static void test_chain_and_fdb(void **state)
{
	struct facts *facts = chain();

	(void)state;
	expect_complete(facts, "a0@ns:a", "c0@ns:c", "a0@ns:a >wire> b0@ns:b >bridge> b1@ns:b >wire> c0@ns:c");
	expect_note(2, "flooded to 1 ports");
	assert_string_equal(path.hops[1].name, "bridge br0");
	assert_int_equal(path.hops[1].ifindex, net_at(facts, "br0@b")->ifindex);
	net_learn(facts, "b1@b", "c0@c", 0);
	expect_complete(facts, "a0@ns:a", "c0@ns:c", "a0@ns:a >wire> b0@ns:b >bridge> b1@ns:b >wire> c0@ns:c");
	expect_note(2, "its FDB knows");
	/* Its own device; the way ends at a port; the port as source. */
	expect_complete(facts, "a0@ns:a", "br0@ns:b", "a0@ns:a >wire> b0@ns:b >bridge> br0@ns:b");
	expect_complete(facts, "br0@ns:b", "c0@ns:c", "br0@ns:b >bridge> b1@ns:b:out >wire> c0@ns:c");
	expect_complete(facts, "a0@ns:a", "b1@ns:b", "a0@ns:a >wire> b0@ns:b >bridge> b1@ns:b:out");
	expect_incomplete(facts, "b0@ns:b", "c0@ns:c", "b0@ns:b:in >bridge> b1@ns:b >wire> c0@ns:c",
			  "run sends out of its source");
	facts_free(facts);
}

static void test_fdb_of_four_ports(void **state)
{
	struct facts *facts = facts_new();
	struct facts_fdb *entry;

	(void)state;
	net_link(facts, "br0@b", "bridge");
	for (int i = 0; i < 4; i++) {
		char a[16], b[16];

		snprintf(a, sizeof(a), "p%d@b", i);
		snprintf(b, sizeof(b), "s%d@s%d", i, i);
		net_pair(facts, b, a);
		net_enslave(facts, a, "br0");
	}
	net_learn(facts, "p2@b", "s2@s2", 0);
	expect_complete(facts, "s0@ns:s0", "s2@ns:s2", "s0@ns:s0 >wire> p0@ns:b >bridge> p2@ns:b >wire> s2@ns:s2");
	expect_note(2, "its FDB knows 02:");
	/* Stale: it says another port, the one that it came from, or the bridge. */
	net_learn(facts, "p1@b", "s3@s3", 0);
	expect_incomplete(facts, "s0@ns:s0", "s3@ns:s3", "s0@ns:s0 >wire> p0@ns:b >cut> p3@ns:b >wire> s3@ns:s3",
			  "behind p1@ns:b, not here");
	net_learn(facts, "p0@b", "s1@s1", 0);
	expect_incomplete(facts, "s0@ns:s0", "s1@ns:s1", "s0@ns:s0 >wire> p0@ns:b >cut> p1@ns:b >wire> s1@ns:s1",
			  "where the frame came from");
	entry = &facts->fdb[1];
	entry->is_local = 1;
	expect_incomplete(facts, "s0@ns:s0", "s3@ns:s3", "s0@ns:s0 >wire> p0@ns:b >cut> p3@ns:b >wire> s3@ns:s3",
			  "is the bridge's own");
	facts_free(facts);
}

static void test_local_addresses(void **state)
{
	struct facts *facts = chain();

	(void)state;
	/* A bridge has the address of a port of its: the entry is the port's, and local. */
	memcpy(net_at(facts, "br0@b")->address, net_at(facts, "b1@b")->address, 6);
	net_learn(facts, "b1@b", "b1@b", 0);
	facts->fdb[0].is_local = 1;
	expect_complete(facts, "a0@ns:a", "br0@ns:b", "a0@ns:a >wire> b0@ns:b >bridge> br0@ns:b");
	expect_complete(facts, "a0@ns:a", "b1@ns:b", "a0@ns:a >wire> b0@ns:b >bridge> b1@ns:b:out");
	expect_note(2, "end in the bridge");
	facts_free(facts);
}

static void test_vlans(void **state)
{
	struct facts *facts = chain();

	(void)state;
	net_above(facts, "a100@a", "vlan", "a0@a")->vlan_id = 100;
	net_above(facts, "c100@c", "vlan", "c0@c")->vlan_id = 100;
	net_above(facts, "c200@c", "vlan", "c0@c")->vlan_id = 200;
	expect_complete(
		facts, "a100@ns:a", "c100@ns:c",
		"a100@ns:a >stack> a0@ns:a:out >wire> b0@ns:b >bridge> b1@ns:b >wire> c0@ns:c >stack> c100@ns:c");
	expect_note(1, "adds tag 100");
	expect_note(5, "takes tag 100 off");
	expect_incomplete(
		facts, "a100@ns:a", "c200@ns:c",
		"a100@ns:a >stack> a0@ns:a:out >wire> b0@ns:b >bridge> b1@ns:b >wire> c0@ns:c >cut> c200@ns:c",
		"takes frames with tag 200");
	/* A VLAN-aware bridge: an access port takes the tag off, and each VLAN has an FDB of its own. */
	net_at(facts, "br0@b")->bridge.vlan_filtering = 1;
	net_at(facts, "br0@b")->bridge.vlan_default_pvid = 1;
	net_at(facts, "b0@b")->port.pvid = 1;
	net_at(facts, "b1@b")->port.pvid = 100;
	net_learn(facts, "b0@b", "c0@c", 1);
	net_learn(facts, "b1@b", "c0@c", 100);
	expect_complete(facts, "a100@ns:a", "c0@ns:c",
			"a100@ns:a >stack> a0@ns:a:out >wire> b0@ns:b >bridge> b1@ns:b >wire> c0@ns:c");
	expect_note(3, "its FDB knows");
	expect_incomplete(facts, "a0@ns:a", "c0@ns:c", "a0@ns:a >wire> b0@ns:b >cut> b1@ns:b >wire> c0@ns:c",
			  "where the frame came from");
	net_at(facts, "b0@b")->port.pvid = 0;
	expect_incomplete(facts, "a0@ns:a", "c0@ns:c", "a0@ns:a >wire> b0@ns:b >cut> b1@ns:b >wire> c0@ns:c",
			  "drops untagged frames");
	facts_free(facts);
}

static void test_cuts(void **state)
{
	struct facts *facts = chain();

	(void)state;
	net_at(facts, "b1@b")->flags = 0;
	expect_incomplete(facts, "a0@ns:a", "c0@ns:c", "a0@ns:a >wire> b0@ns:b >cut> b1@ns:b >wire> c0@ns:c",
			  "b1@ns:b is down; ip -n b link set b1 up");
	net_at(facts, "b1@b")->flags = 1;
	net_at(facts, "b1@b")->port.state = 4;
	expect_incomplete(facts, "a0@ns:a", "c0@ns:c", "a0@ns:a >wire> b0@ns:b >cut> b1@ns:b >wire> c0@ns:c",
			  "blocking");
	/* A port is shut because its link has no carrier, and that because of the other end: one cut. */
	net_at(facts, "b1@b")->carrier = 0;
	net_at(facts, "c0@c")->flags = 0;
	expect_incomplete(facts, "a0@ns:a", "c0@ns:c", "a0@ns:a >wire> b0@ns:b >bridge> b1@ns:b >cut> c0@ns:c",
			  "c0@ns:c is down");
	facts_free(facts);

	facts = chain();
	net_at(facts, "b1@b")->master_ifindex = 0;
	expect_incomplete(facts, "a0@ns:a", "c0@ns:c", "a0@ns:a >wire> b0@ns:b >cut> c0@ns:c",
			  "has no other port that leads on");
	net_at(facts, "b0@b")->master_ifindex = 0;
	expect_incomplete(facts, "a0@ns:a", "c0@ns:c", "a0@ns:a >wire> b0@ns:b >cut> c0@ns:c",
			  "b0@ns:b stay in its namespace");
	net_at(facts, "a0@a")->flags = 0;
	expect_incomplete(facts, "a0@ns:a", "b0@ns:b", "a0@ns:a >cut> b0@ns:b", "a0@ns:a is down");
	facts_free(facts);

	facts = chain();
	net_at(facts, "b0@b")->port.isolated = 1;
	net_at(facts, "b1@b")->port.isolated = 1;
	expect_incomplete(facts, "a0@ns:a", "c0@ns:c", "a0@ns:a >wire> b0@ns:b >cut> b1@ns:b >wire> c0@ns:c",
			  "isolated");
	net_at(facts, "b0@b")->port.isolated = 0;
	net_at(facts, "b1@b")->port.unicast_flood = 0;
	expect_incomplete(facts, "a0@ns:a", "c0@ns:c", "a0@ns:a >wire> b0@ns:b >cut> b1@ns:b >wire> c0@ns:c",
			  "flooding is off");
	net_learn(facts, "b1@b", "c0@c", 0);
	expect_complete(facts, "a0@ns:a", "c0@ns:c", "a0@ns:a >wire> b0@ns:b >bridge> b1@ns:b >wire> c0@ns:c");
	facts_free(facts);
}

/* Three bridges in a triangle; stations at the first and the second. */
static struct facts *triangle(void)
{
	struct facts *facts = facts_new();

	for (int i = 1; i <= 3; i++) {
		char name[16];

		snprintf(name, sizeof(name), "br%d@n", i);
		net_link(facts, name, "bridge");
	}
	net_pair(facts, "p12@n", "p21@n");
	net_pair(facts, "p23@n", "p32@n");
	net_pair(facts, "p31@n", "p13@n");
	net_pair(facts, "a0@a", "pa@n");
	net_pair(facts, "b0@b", "pb@n");
	net_enslave(facts, "p12@n", "br1");
	net_enslave(facts, "p13@n", "br1");
	net_enslave(facts, "p21@n", "br2");
	net_enslave(facts, "p23@n", "br2");
	net_enslave(facts, "p31@n", "br3");
	net_enslave(facts, "p32@n", "br3");
	net_enslave(facts, "pa@n", "br1");
	net_enslave(facts, "pb@n", "br2");
	return facts;
}

static void test_loops(void **state)
{
	struct facts *facts = triangle();

	(void)state;
	expect_incomplete(facts, "a0@ns:a", "b0@ns:b",
			  "a0@ns:a >wire> pa@ns:n >cut> p12@ns:n >wire> p21@ns:n >bridge> pb@ns:n >wire> b0@ns:b",
			  "bridges br1@ns:n, br2@ns:n and br3@ns:n are joined in a loop");
	/* STP blocks one port: the way is the other one's, and there is no loop. */
	net_at(facts, "p12@n")->port.state = 4;
	expect_complete(
		facts, "a0@ns:a", "b0@ns:b",
		"a0@ns:a >wire> pa@ns:n >bridge> p13@ns:n >wire> p31@ns:n >bridge> p32@ns:n >wire> p23@ns:n >bridge> pb@ns:n >wire> b0@ns:b");
	/* FDBs that send frames round: they are obeyed as far as they lead on, and the port that they avoid is the cut. */
	net_at(facts, "p12@n")->port.state = 3;
	net_learn(facts, "p13@n", "b0@b", 0);
	net_learn(facts, "p32@n", "b0@b", 0);
	net_learn(facts, "p21@n", "b0@b", 0);
	expect_incomplete(
		facts, "a0@ns:a", "b0@ns:b",
		"a0@ns:a >wire> pa@ns:n >cut> p13@ns:n >wire> p31@ns:n >bridge> p32@ns:n >wire> p23@ns:n >cut> pb@ns:n >wire> b0@ns:b",
		"loop");
	expect_note(6, "behind p21@ns:n, not here");
	facts_free(facts);

	/* A bridge wired to itself; two bridges with two wires, off the path. */
	facts = chain();
	net_pair(facts, "l0@b", "l1@b");
	net_enslave(facts, "l0@b", "br0");
	net_enslave(facts, "l1@b", "br0");
	expect_incomplete(facts, "a0@ns:a", "c0@ns:c", "a0@ns:a >wire> b0@ns:b >cut> b1@ns:b >wire> c0@ns:c",
			  "two ports of bridge br0@ns:b are joined");
	net_at(facts, "l0@b")->master_ifindex = 0;
	expect_complete(facts, "a0@ns:a", "c0@ns:c", "a0@ns:a >wire> b0@ns:b >bridge> b1@ns:b >wire> c0@ns:c");
	facts_free(facts);
}

static void test_equally_good(void **state)
{
	struct facts *facts = triangle();

	(void)state;
	/* Two parallel wires, STP nowhere known: both ways are counted and the loop is told. */
	net_pair(facts, "q12@n", "q21@n");
	net_enslave(facts, "q12@n", "br1");
	net_enslave(facts, "q21@n", "br2");
	expect(facts, "a0@ns:a", "b0@ns:b",
	       "a0@ns:a >wire> pa@ns:n >cut> p12@ns:n >wire> p21@ns:n >bridge> pb@ns:n >wire> b0@ns:b");
	assert_int_equal(path.way_count, 2);
	expect_note(4, "1 ways up to pb are as good");
	facts_free(facts);
}

static void refuse(struct facts *facts, const char *source, const char *sink, int code, const char *text)
{
	facts_sort(facts);
	assert_int_equal(path_follow(facts, source, sink, &path), code);
	if (!strstr(error_text(), text))
		fail_msg("'%s' is not in '%s'", text, error_text());
}

static void test_refusals(void **state)
{
	struct facts *facts = chain();

	(void)state;
	refuse(facts, "a0@ns:a", "a0@ns:a", -EINVAL, "one interface");
	refuse(facts, "a0@ns:a", "b0@ns:a", -ENODEV, "b0@ns:a: no such interface in namespace a");
	refuse(facts, "a0@ns:nowhere", "b0@ns:b", -ENODEV, "'nowhere'");
	refuse(facts, "", "b0@ns:b", -EINVAL, "a point is");
	refuse(facts, "a0@mars", "b0@ns:b", -EINVAL, "domain");
	expect_complete(facts, "a0@ns:a", "b1@ns:b:out", "a0@ns:a >wire> b0@ns:b >bridge> b1@ns:b:out");
	facts_free(facts);
}

/* Links whose numbers contradict each other, as saved facts of anybody may have: an answer, whatever it is, and an end. */
static void test_nonsense(void **state)
{
	static const char *const kinds[] = { "veth", "vlan",	    "macvlan", "bridge", "bond",   "vxlan",
					     "tun",  "openvswitch", "",	       "ifb",	 "strange" };
	unsigned int seed = 1;

	(void)state;
	for (int round = 0; round < 200; round++) {
		struct facts *facts = facts_new();

		for (int i = 0; i < 24; i++) {
			char name[16];
			struct facts_link *link;

			snprintf(name, sizeof(name), "l%d@%c", i, 'a' + rand_r(&seed) % 3);
			link = net_link(facts, name, kinds[rand_r(&seed) % 11]);
			snprintf(link->name, sizeof(link->name), "l%d", i);
			link->lower_netns = rand_r(&seed) % 4;
			link->lower_ifindex = rand_r(&seed) % 12;
			link->master_ifindex = rand_r(&seed) % 12;
			link->port.state = rand_r(&seed) % 6 - 1;
			link->vlan_id = rand_r(&seed) % 3;
			link->vxlan_id = 1;
			strcpy(link->vxlan_remote, "10.0.0.1");
			strcpy(link->physfn_address, rand_r(&seed) % 4 ? "" : "0000:01:00.0");
			strcpy(link->bus_address, rand_r(&seed) % 4 ? "" : "0000:01:00.0");
			strcpy(link->bus, link->bus_address[0] ? "pci" : "");
		}
		for (int i = 0; i < 12; i++) {
			struct facts_link *link = &facts->links[rand_r(&seed) % 24];
			char where[32];

			snprintf(where, sizeof(where), "%s@%s", link->name, facts->netns[link->netns].name);
			net_address(facts, where, rand_r(&seed) % 2 ? "10.0.0.1" : "10.0.0.2", 24);
			net_route(facts, where, "10.0.0.0", rand_r(&seed) % 33, rand_r(&seed) % 2 ? "10.0.0.1" : "");
		}
		facts_sort(facts);
		for (int i = 1; i < 24; i++) {
			char a[96], b[96];

			snprintf(a, sizeof(a), "%s@ns:%s", facts->links[0].name,
				 facts->netns[facts->links[0].netns].name);
			snprintf(b, sizeof(b), "%s@ns:%s", facts->links[i].name,
				 facts->netns[facts->links[i].netns].name);
			assert_int_equal(path_follow(facts, a, b, &path), 0);
			assert_in_range(path.point_count, 2, FACTS_PATH_MAX_POINTS);
		}
		facts_free(facts);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wire),
		cmocka_unit_test(test_chain_and_fdb),
		cmocka_unit_test(test_fdb_of_four_ports),
		cmocka_unit_test(test_local_addresses),
		cmocka_unit_test(test_vlans),
		cmocka_unit_test(test_cuts),
		cmocka_unit_test(test_loops),
		cmocka_unit_test(test_equally_good),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
