// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Paths through made-up networks: the order of points, the kinds of hops, what is said where a path is cut. Live networks are
 * tests/lab/path.sh.
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

static struct facts_path path;

/* "a0 >wire> b0:in": points and kinds, in order. */
static void print_path(char *text, size_t size)
{
	text[0] = 0;
	for (int i = 0; i < path.point_count; i++) {
		size_t used = strlen(text);

		snprintf(text + used, size - used, "%s%s%s", path.points[i].text, i + 1 < path.point_count ? " >" : "",
			 i + 1 < path.point_count ? facts_hop_kind_name(path.hops[i].kind) : "");
		used = strlen(text);
		if (i + 1 < path.point_count)
			snprintf(text + used, size - used, "> ");
	}
}

static void expect(struct facts *facts, const char *source, const char *sink, const char *wanted)
{
	char text[8192];

	facts_sort(facts);
	if (path_follow(facts, source, sink, &path))
		fail_msg("%s", error_text());
	print_path(text, sizeof(text));
	assert_string_equal(text, wanted);
}

static void expect_incomplete(struct facts *facts, const char *source, const char *sink, const char *wanted,
			      const char *why)
{
	expect(facts, source, sink, wanted);
	assert_false(path.is_complete);
	if (!strstr(path.why_incomplete, why))
		fail_msg("'%s' is not in '%s'", why, path.why_incomplete);
}

static void expect_complete(struct facts *facts, const char *source, const char *sink, const char *wanted)
{
	expect(facts, source, sink, wanted);
	if (!path.is_complete)
		fail_msg("%s", path.why_incomplete);
	assert_string_equal(path.why_incomplete, "");
}

/* Says that a hop's note holds a text. */
static void expect_note(int hop, const char *text)
{
	if (!strstr(path.hops[hop - 1].note, text))
		fail_msg("hop %d: '%s' is not in '%s'", hop, text, path.hops[hop - 1].note);
}

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

static void test_macvlan(void **state)
{
	struct facts *facts = facts_new();

	(void)state;
	net_pair(facts, "up", "far@far");
	strcpy(net_above(facts, "m1@m1", "macvlan", "up")->macvlan_mode, "bridge");
	strcpy(net_above(facts, "m2@m2", "macvlan", "up")->macvlan_mode, "bridge");
	strcpy(net_above(facts, "v1@m1", "macvlan", "up")->macvlan_mode, "vepa");
	expect_complete(facts, "m1@ns:m1", "m2@ns:m2", "m1@ns:m1 >stack> m2@ns:m2");
	expect_complete(facts, "m1@ns:m1", "far@ns:far", "m1@ns:m1 >stack> up:out >wire> far@ns:far");
	expect_complete(facts, "far@ns:far", "m2@ns:m2", "far@ns:far >wire> up >stack> m2@ns:m2");
	expect_incomplete(facts, "v1@ns:m1", "m2@ns:m2", "v1@ns:m1 >cut> m2@ns:m2", "mode vepa");
	facts_free(facts);
}

static void test_bond(void **state)
{
	struct facts *facts = facts_new();

	(void)state;
	net_link(facts, "bond0@a", "bond");
	net_link(facts, "bond0@b", "bond");
	for (int i = 0; i < 2; i++) {
		char a[16], b[16];

		snprintf(a, sizeof(a), "a%d@a", i);
		snprintf(b, sizeof(b), "b%d@b", i);
		net_pair(facts, a, b);
		net_enslave(facts, a, "bond0");
		net_enslave(facts, b, "bond0");
	}
	strcpy(net_at(facts, "bond0@a")->bond_mode, "802.3ad");
	strcpy(net_at(facts, "bond0@a")->bond_hash, "layer3+4");
	strcpy(net_at(facts, "bond0@b")->bond_mode, "802.3ad");
	expect_complete(facts, "bond0@ns:a", "bond0@ns:b",
			"bond0@ns:a >stack> a0@ns:a:out >wire> b0@ns:b >stack> bond0@ns:b");
	expect_note(1, "hash layer3+4 decides");
	assert_int_equal(path.way_count, 2);
	expect_note(3, "as good as this one");
	/* One active: that one alone, and frames that come in at the other are dropped. */
	strcpy(net_at(facts, "bond0@a")->bond_mode, "active-backup");
	strcpy(net_at(facts, "bond0@b")->bond_mode, "active-backup");
	net_at(facts, "a1@a")->bond_is_active = 1;
	net_at(facts, "a0@a")->bond_is_active = 0;
	net_at(facts, "b1@b")->bond_is_active = 1;
	net_at(facts, "b0@b")->bond_is_active = 0;
	expect_complete(facts, "bond0@ns:a", "bond0@ns:b",
			"bond0@ns:a >stack> a1@ns:a:out >wire> b1@ns:b >stack> bond0@ns:b");
	expect_note(1, "a1 is the active slave");
	assert_int_equal(path.way_count, 1);
	net_at(facts, "b1@b")->bond_is_active = 0;
	net_at(facts, "b0@b")->bond_is_active = 1;
	expect(facts, "bond0@ns:a", "bond0@ns:b", "bond0@ns:a >stack> a1@ns:a:out >wire> b1@ns:b >cut> bond0@ns:b");
	assert_false(path.is_complete);
	facts_free(facts);
}

/* Guests on vxlan over an underlay of two hosts with a bridge between. */
static struct facts *overlay(void)
{
	struct facts *facts = facts_new();
	struct facts_link *vxlan;

	net_pair(facts, "u1@h1", "s1@switch");
	net_pair(facts, "u2@h2", "s2@switch");
	net_link(facts, "fabric@switch", "bridge");
	net_enslave(facts, "s1@switch", "fabric");
	net_enslave(facts, "s2@switch", "fabric");
	net_address(facts, "u1@h1", "10.0.0.1", 24);
	net_address(facts, "u2@h2", "10.0.0.2", 24);
	net_route(facts, "u1@h1", "10.0.0.0", 24, "");
	net_route(facts, "u2@h2", "10.0.0.0", 24, "");
	vxlan = net_link(facts, "vx1@h1", "vxlan");
	vxlan->vxlan_id = 42;
	strcpy(vxlan->vxlan_remote, "10.0.0.2");
	vxlan = net_link(facts, "vx2@h2", "vxlan");
	vxlan->vxlan_id = 42;
	strcpy(vxlan->vxlan_remote, "10.0.0.1");
	return facts;
}

static void test_vxlan(void **state)
{
	struct facts *facts = overlay();

	(void)state;
	expect_complete(
		facts, "vx1@ns:h1", "vx2@ns:h2",
		"vx1@ns:h1 >stack> u1@ns:h1 >wire> s1@ns:switch >bridge> s2@ns:switch >wire> u2@ns:h2 >stack> vx2@ns:h2");
	assert_true(path.points[1].is_inside_tunnel);
	assert_false(facts_path_is_usable(&path.points[4]));
	assert_true(facts_path_is_usable(&path.points[5]));
	assert_int_equal(path.points[5].is_out, 0);
	/* The FDB of the tunnel decides before its remote does. */
	strcpy(net_at(facts, "vx1@h1")->vxlan_remote, "10.0.0.99");
	expect_incomplete(facts, "vx1@ns:h1", "vx2@ns:h2", "vx1@ns:h1 >stack> u1@ns:h1 >wire> s1@ns:switch >cut> vx2@ns:h2", "none of the 2 ways");
	net_learn(facts, "vx1@h1", "vx2@h2", 0);
	strcpy(facts->fdb[0].vxlan_remote, "10.0.0.2");
	expect(facts, "vx1@ns:h1", "vx2@ns:h2",
	       "vx1@ns:h1 >stack> u1@ns:h1 >wire> s1@ns:switch >bridge> s2@ns:switch >wire> u2@ns:h2 >stack> vx2@ns:h2");
	assert_true(path.is_complete);
	/* A cut of the underlay is a cut of the path. */
	net_at(facts, "s2@switch")->port.state = 4;
	expect_incomplete(
		facts, "vx1@ns:h1", "vx2@ns:h2",
		"vx1@ns:h1 >stack> u1@ns:h1 >wire> s1@ns:switch >cut> s2@ns:switch >wire> u2@ns:h2 >stack> vx2@ns:h2",
		"blocking");
	facts_free(facts);
}

static void test_vxlan_over_bond(void **state)
{
	struct facts *facts = facts_new();
	struct facts_link *vxlan;

	(void)state;
	net_link(facts, "bond0", "bond");
	for (int i = 0; i < 2; i++) {
		char a[16], b[16];

		snprintf(a, sizeof(a), "e%d", i);
		snprintf(b, sizeof(b), "r%d@rack", i);
		net_pair(facts, a, b);
		net_enslave(facts, a, "bond0");
	}
	net_link(facts, "tor@rack", "bridge");
	net_enslave(facts, "r0@rack", "tor");
	net_enslave(facts, "r1@rack", "tor");
	net_pair(facts, "r2@rack", "e0@other");
	net_enslave(facts, "r2@rack", "tor");
	strcpy(net_at(facts, "bond0")->bond_mode, "active-backup");
	net_at(facts, "e0")->bond_is_active = 0;
	net_at(facts, "e1")->bond_is_active = 1;
	net_address(facts, "bond0", "192.0.2.1", 24);
	net_address(facts, "e0@other", "192.0.2.2", 24);
	vxlan = net_above(facts, "vx0", "vxlan", "bond0");
	vxlan->vxlan_id = 7;
	strcpy(vxlan->vxlan_remote, "192.0.2.2");
	vxlan = net_above(facts, "vx0@other", "vxlan", "e0@other");
	vxlan->vxlan_id = 7;
	net_link(facts, "br0", "bridge");
	net_enslave(facts, "vx0", "br0");
	net_pair(facts, "tenant@guest", "g0");
	net_enslave(facts, "g0", "br0");
	expect_complete(
		facts, "tenant@ns:guest", "vx0@ns:other",
		"tenant@ns:guest >wire> g0 >bridge> vx0 >stack> bond0 >stack> e1 >wire> r1@ns:rack >bridge> r2@ns:rack >wire> "
		"e0@ns:other >stack> vx0@ns:other");
	facts_free(facts);
}

static const char *const good_qemu[] = { "qemu-system-x86_64",
					 "-netdev",
					 "tap,id=n0,ifname=tap0,script=no,vhost=on",
					 "-device",
					 "virtio-net-pci,netdev=n0,mac=52:54:00:12:34:56",
					 NULL };
static const char *const hub_qemu[] = {
	"qemu-system-x86_64",	     "-net", "nic,model=virtio,macaddr=52:54:00:12:34:56", "-net",
	"tap,ifname=tap0,script=no", NULL
};

/* bond0 of two NICs, VLAN 30 on it in a bridge with a guest's tap. */
static struct facts *hypervisor(const char *const *arguments, int vhost)
{
	struct facts *facts = facts_new();

	net_link(facts, "bond0", "bond");
	for (int i = 0; i < 2; i++) {
		char name[16];
		struct facts_link *nic;

		snprintf(name, sizeof(name), "eth%d", i);
		nic = net_link(facts, name, "");
		strcpy(nic->bus, "pci");
		snprintf(nic->bus_address, sizeof(nic->bus_address), "0000:03:00.%d", i);
		net_enslave(facts, name, "bond0");
	}
	net_above(facts, "bond0.30", "vlan", "bond0")->vlan_id = 30;
	net_link(facts, "br30", "bridge");
	net_enslave(facts, "bond0.30", "br30");
	net_link(facts, "tap0", "tun");
	net_enslave(facts, "tap0", "br30");
	net_qemu(facts, 4711, "tap0", vhost, arguments);
	return facts;
}

static void test_tap_with_qemu(void **state)
{
	struct facts *facts = hypervisor(good_qemu, 1);

	(void)state;
	/* Out of the guest, in its source's direction: run cannot send there, and says so. */
	expect_incomplete(
		facts, "tap0", "eth0",
		"virtio-net-pci of qemu 4711 >guest> tap0:in >bridge> bond0.30 >stack> bond0:out >stack> eth0:out",
		"come in at tap0");
	assert_string_equal(path.hops[0].name, "vhost of qemu 4711");
	expect_note(1, "52:54:00:12:34:56");
	/* To the guest: its address, not the tap's, is what the FDB is asked for. */
	expect(facts, "bond0.30", "tap0", "bond0.30:in >bridge> tap0:out >guest> virtio-net-pci of qemu 4711");
	expect_note(1, "52:54:00:12:34:56 is not in its FDB");
	expect_complete(facts, "br30", "tap0", "br30 >bridge> tap0:out >guest> virtio-net-pci of qemu 4711");
	facts_free(facts);

	facts = hypervisor(hub_qemu, 0);
	expect(facts, "br30", "tap0", "br30 >bridge> tap0:out >guest> virtio of qemu 4711");
	assert_string_equal(path.hops[1].name, "hub of qemu 4711");
	/* libvirt hands descriptors over, and the addresses match but for the first byte. */
	facts_free(facts);
	facts = hypervisor(
		(const char *const[]){
			"qemu", "-netdev",
			"{\"type\":\"tap\",\"fd\":\"35\",\"vhost\":true,\"vhostfd\":\"36\",\"id\":\"hostnet0\"}",
			"-netdev", "tap,fd=40,id=hostnet1", "-device", "e1000,netdev=hostnet1,mac=52:54:00:99:99:99",
			"-device",
			"{\"driver\":\"virtio-net-pci\",\"netdev\":\"hostnet0\",\"mac\":\"52:54:00:aa:bb:cc\"}", NULL },
		1);
	memcpy(net_at(facts, "tap0")->address, "\xfe\x54\x00\xaa\xbb\xcc", 6);
	expect(facts, "br30", "tap0", "br30 >bridge> tap0:out >guest> virtio-net-pci of qemu 4711");
	expect_note(2, "52:54:00:aa:bb:cc");
	facts_free(facts);
}

static void test_tap_without_a_guest(void **state)
{
	struct facts *facts = hypervisor(NULL, 0);

	(void)state;
	strcpy(facts->processes[0].name, "vde_plug");
	facts->processes[0].is_qemu = 0;
	expect_complete(facts, "br30", "tap0", "br30 >bridge> tap0:out >opaque> vde_plug 4711");
	expect_note(2, "holds tap0");
	facts_free(facts);

	facts = hypervisor(NULL, 0);
	facts->processes[0].tun_count = 0;
	net_at(facts, "tap0")->carrier = 0;
	expect_incomplete(facts, "br30", "tap0", "br30 >cut> tap0:out", "no carrier");
	facts->processes[0].tun_count = 1;
	facts_free(facts);
}

static void test_macvtap(void **state)
{
	struct facts *facts = facts_new();

	(void)state;
	net_pair(facts, "up", "far@far");
	strcpy(net_above(facts, "macvtap0", "macvtap", "up")->macvlan_mode, "bridge");
	memcpy(net_at(facts, "macvtap0")->address, "\x52\x54\x00\x12\x34\x56", 6);
	net_qemu(facts, 99, NULL, 1,
		 (const char *const[]){ "qemu", "-netdev", "tap,fd=30,id=h0,vhost=on,vhostfd=31", "-device",
					"virtio-net-pci,netdev=h0,mac=52:54:00:12:34:56", NULL });
	expect_complete(facts, "far@ns:far", "macvtap0",
			"far@ns:far >wire> up >stack> macvtap0 >guest> virtio-net-pci of qemu 99");
	expect(facts, "macvtap0", "far@ns:far",
	       "virtio-net-pci of qemu 99 >guest> macvtap0 >stack> up:out >wire> far@ns:far");
	facts_free(facts);
}

static struct facts_link *nic(struct facts *facts, const char *where, const char *address, const char *driver)
{
	struct facts_link *link = net_link(facts, where, "");

	strcpy(link->bus, "pci");
	strcpy(link->bus_address, address);
	strcpy(link->driver, driver);
	return link;
}

static void test_sriov(void **state)
{
	struct facts *facts = facts_new();
	struct facts_link *vf;

	(void)state;
	nic(facts, "eth0", "0000:03:00.0", "ixgbe")->vf_total = 63;
	for (int i = 0; i < 2; i++) {
		char where[16], address[16];

		snprintf(where, sizeof(where), "vf%d@g%d", i, i);
		snprintf(address, sizeof(address), "0000:03:10.%d", i);
		vf = nic(facts, where, address, "ixgbevf");
		vf->vf_index = i;
		strcpy(vf->physfn_address, "0000:03:00.0");
	}
	expect_incomplete(facts, "vf0@ns:g0", "vf1@ns:g1", "vf0@ns:g0 >opaque> vf1@ns:g1", "switch of eth0");
	expect_incomplete(facts, "vf0@ns:g0", "eth0", "vf0@ns:g0 >opaque> eth0", "switch of eth0");
	facts_free(facts);
}

static void test_representors(void **state)
{
	struct facts *facts = facts_new();
	struct facts_link *link;

	(void)state;
	link = nic(facts, "p0", "0000:03:00.0", "mlx5_core");
	strcpy(link->phys_switch_id, "abcd");
	strcpy(link->phys_port_name, "p0");
	link = net_link(facts, "p0_1", "");
	strcpy(link->phys_switch_id, "abcd");
	strcpy(link->phys_port_name, "pf0vf1");
	link = nic(facts, "eth0@guest", "0000:03:00.3", "mlx5_core");
	link->vf_index = 1;
	strcpy(link->physfn_address, "0000:03:00.0");
	net_link(facts, "br0", "bridge");
	net_enslave(facts, "p0", "br0");
	net_enslave(facts, "p0_1", "br0");
	expect_complete(facts, "eth0@ns:guest", "p0", "eth0@ns:guest >wire> p0_1 >bridge> p0:out");
	expect_note(1, "pass the representor by");
	expect_complete(facts, "br0", "eth0@ns:guest", "br0 >bridge> p0_1:out >wire> eth0@ns:guest");
	facts_free(facts);
}

static void test_netvsc(void **state)
{
	struct facts *facts = facts_new();
	struct facts_link *link;

	(void)state;
	link = net_link(facts, "eth0", "");
	strcpy(link->bus, "vmbus");
	strcpy(link->driver, "hv_netvsc");
	link = nic(facts, "enP1p0s2", "0001:00:02.0", "mlx5_core");
	link->master_ifindex = net_at(facts, "eth0")->ifindex;
	net_pair(facts, "v0", "v1@x");
	expect_incomplete(facts, "eth0", "v1@ns:x", "eth0 >stack> enP1p0s2:out >opaque> v1@ns:x",
			  "cannot be asked from here without an agent");
	expect_note(1, "through its VF enP1p0s2");
	facts_free(facts);
}

static void test_open_vswitch(void **state)
{
	struct facts *facts = facts_new();

	(void)state;
	net_link(facts, "ovs-system", "openvswitch");
	net_link(facts, "br-int", "openvswitch");
	net_pair(facts, "a0@a", "pa");
	net_pair(facts, "b0@b", "pb");
	net_enslave(facts, "pa", "ovs-system");
	net_enslave(facts, "pb", "ovs-system");
	expect_incomplete(facts, "a0@ns:a", "b0@ns:b", "a0@ns:a >wire> pa >opaque> pb >wire> b0@ns:b",
			  "datapath ovs-system");
	expect_incomplete(facts, "a0@ns:a", "br-int", "a0@ns:a >wire> pa >opaque> br-int", "ovs-appctl");
	expect_incomplete(facts, "br-int", "b0@ns:b", "br-int >opaque> pb:out >wire> b0@ns:b", "ovs-appctl");
	facts_free(facts);
}

static void test_guesses(void **state)
{
	struct facts *facts = facts_new();

	(void)state;
	nic(facts, "eth0", "0000:03:00.0", "ixgbe");
	nic(facts, "eth1", "0000:04:00.0", "ixgbe");
	expect_incomplete(facts, "eth0", "eth1", "eth0 >opaque> eth1", "a guess");
	net_link(facts, "br1@far", "bridge");
	expect_incomplete(facts, "eth0", "br1@ns:far", "eth0 >opaque> br1@ns:far", "network behind eth0");
	facts_free(facts);

	/* Ends of pairs whose peers are in a namespace that could not be looked into. */
	facts = facts_new();
	net_link(facts, "v0@a", "veth")->lower_ifindex = 77;
	net_link(facts, "v1@b", "veth")->lower_ifindex = 78;
	expect_incomplete(facts, "v0@ns:a", "v1@ns:b", "v0@ns:a >opaque> v1@ns:b", "not in these facts");
	/* A peer that says whose it is is enough. */
	net_at(facts, "v1@b")->lower_netns = net_netns(facts, "a");
	net_at(facts, "v1@b")->lower_ifindex = net_at(facts, "v0@a")->ifindex;
	expect_complete(facts, "v0@ns:a", "v1@ns:b", "v0@ns:a >wire> v1@ns:b");
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
	expect_incomplete(facts, "a0@ns:a", "c0@ns:c", "a0@ns:a >wire> b0@ns:b >cut> c0@ns:c", "has no other port that leads on");
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

static void test_routed(void **state)
{
	struct facts *facts = facts_new();

	(void)state;
	net_pair(facts, "a0@a", "r0@r");
	net_pair(facts, "b0@b", "r1@r");
	net_address(facts, "a0@a", "10.1.0.2", 24);
	net_address(facts, "r0@r", "10.1.0.1", 24);
	net_address(facts, "r1@r", "10.2.0.1", 24);
	net_address(facts, "b0@b", "10.2.0.2", 24);
	net_route(facts, "a0@a", "10.1.0.0", 24, "");
	expect_incomplete(facts, "a0@ns:a", "b0@ns:b", "a0@ns:a >wire> r0@ns:r >cut> b0@ns:b",
			  "no route to 10.2.0.2 in namespace a");
	net_route(facts, "a0@a", "", 0, "10.1.0.1");
	net_route(facts, "r0@r", "10.1.0.0", 24, "");
	net_route(facts, "r1@r", "10.2.0.0", 24, "");
	expect_incomplete(facts, "a0@ns:a", "b0@ns:b", "a0@ns:a >wire> r0@ns:r >stack> r1@ns:r >wire> b0@ns:b",
			  "routes: run sends to");
	expect_note(2, "routed: to 10.2.0.2 by r1");
	assert_int_equal(facts_add_file(facts, net_netns(facts, "r"), "/proc/sys/net/ipv4/ip_forward", "0", 0), 0);
	expect_incomplete(facts, "a0@ns:a", "b0@ns:b", "a0@ns:a >wire> r0@ns:r >cut> r1@ns:r >wire> b0@ns:b",
			  "does not forward packets");
	facts_free(facts);

	/* Routes in a circle end. */
	facts = facts_new();
	net_pair(facts, "a0@a", "b0@b");
	net_address(facts, "a0@a", "10.1.0.1", 24);
	net_address(facts, "b0@b", "10.1.0.2", 24);
	net_link(facts, "x@c", "dummy");
	net_address(facts, "x@c", "10.9.0.1", 24);
	net_route(facts, "a0@a", "", 0, "10.1.0.2");
	net_route(facts, "b0@b", "", 0, "10.1.0.1");
	expect_incomplete(facts, "a0@ns:a", "x@ns:c", "a0@ns:a >wire> b0@ns:b >cut> x@ns:c", "circle");
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
		cmocka_unit_test(test_macvlan),
		cmocka_unit_test(test_bond),
		cmocka_unit_test(test_vxlan),
		cmocka_unit_test(test_vxlan_over_bond),
		cmocka_unit_test(test_tap_with_qemu),
		cmocka_unit_test(test_tap_without_a_guest),
		cmocka_unit_test(test_macvtap),
		cmocka_unit_test(test_sriov),
		cmocka_unit_test(test_representors),
		cmocka_unit_test(test_netvsc),
		cmocka_unit_test(test_open_vswitch),
		cmocka_unit_test(test_guesses),
		cmocka_unit_test(test_cuts),
		cmocka_unit_test(test_loops),
		cmocka_unit_test(test_equally_good),
		cmocka_unit_test(test_routed),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
