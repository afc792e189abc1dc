// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Paths through made-up networks of stacks, bonds, tunnels, taps, cards of several functions, Open vSwitch, routers. Bridges:
 * test_path_bridges.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "discover/path_follow.h"
#include "network_facts.h"
#include "path_expect.h"

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
	expect_incomplete(facts, "vx1@ns:h1", "vx2@ns:h2",
			  "vx1@ns:h1 >stack> u1@ns:h1 >wire> s1@ns:switch >cut> vx2@ns:h2", "none of the 2 ways");
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_macvlan),	      cmocka_unit_test(test_bond),
		cmocka_unit_test(test_vxlan),	      cmocka_unit_test(test_vxlan_over_bond),
		cmocka_unit_test(test_tap_with_qemu), cmocka_unit_test(test_tap_without_a_guest),
		cmocka_unit_test(test_macvtap),	      cmocka_unit_test(test_sriov),
		cmocka_unit_test(test_representors),  cmocka_unit_test(test_netvsc),
		cmocka_unit_test(test_open_vswitch),  cmocka_unit_test(test_guesses),
		cmocka_unit_test(test_routed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
