// SPDX-License-Identifier: GPL-2.0-or-later
/* Paths and trees as a reader sees them, and how long thousands of links take. What paths are found is test_path_follow.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/error.h"
#include "discover/path_follow.h"
#include "discover/tree.h"
#include "network_facts.h"
#include "report/path_text.h"

static struct facts_path path;

static char *tree_text(struct facts *facts)
{
	struct facts_tree tree;
	size_t length;
	char *text;
	FILE *stream = open_memstream(&text, &length);

	facts_sort(facts);
	assert_int_equal(tree_build(facts, &tree), 0);
	report_tree(&tree, stream, NULL);
	tree_free(&tree);
	fclose(stream);
	return text;
}

static void test_tree(void **state)
{
	struct facts *facts = facts_new();
	struct facts_link *link;
	struct facts_vf *vf;
	char *text;

	(void)state;
	link = net_link(facts, "eth0", "");
	strcpy(link->driver, "ixgbe");
	strcpy(link->bus, "pci");
	strcpy(link->bus_address, "0000:03:00.0");
	link->speed_mbit_per_s = 10000;
	link->numa_node = 1;
	link->vf_total = 63;
	link->vf_count = 2;
	for (int i = 0; i < 2; i++) {
		vf = facts_add_vf(link);
		vf->index = i;
		vf->address[5] = (uint8_t)i;
	}
	link = net_link(facts, "eth0v1", "");
	strcpy(link->driver, "ixgbevf");
	strcpy(link->physfn_address, "0000:03:00.0");
	link->vf_index = 1;
	link->flags = 0;
	net_link(facts, "br0", "bridge");
	net_above(facts, "eth0.30", "vlan", "eth0")->vlan_id = 30;
	net_enslave(facts, "eth0.30", "br0");
	net_pair(facts, "v0", "v1@far");
	net_enslave(facts, "v0", "br0");
	net_at(facts, "v0")->port.state = 4;
	net_link(facts, "tap0", "tun");
	net_enslave(facts, "tap0", "br0");
	net_qemu(facts, 7, "tap0", 1,
		 (const char *const[]){ "qemu", "-netdev", "tap,id=a,ifname=tap0,vhost=on", "-device",
					"virtio-net-pci,netdev=a", "-netdev", "vhost-user,id=b,chardev=c", "-device",
					"vfio-pci,host=03:10.0", NULL });
	link = net_link(facts, "evil\033[2J", "");
	text = tree_text(facts);
	assert_string_equal(
		text,
		"this namespace\n"
		"  eth0       ixgbe        pci 0000:03:00.0, 10 Gbit/s, NUMA node 1, 2 of 63 VFs\n"
		"    VF 0     vf           00:00:00:00:00:00, no interface here: without a driver, or given to a guest (vfio)\n"
		"    eth0v1   ixgbevf      VF 1, down\n"
		"  br0        bridge       3 ports\n"
		"    eth0.30  vlan         tag 30, on eth0\n"
		"    v0       veth         peer v1@ns:far, does not forward (blocking)\n"
		"    tap0     tun          held by qemu 7, vhost, guest's virtio-net-pci\n"
		"  evil?[2J   device     \n"
		"\n"
		"namespace far\n"
		"  v1         veth         peer v0\n"
		"\n"
		"guests without an interface in this kernel\n"
		"  qemu 7     vhost-user   -netdev vhost-user,id=b,chardev=c\n"
		"  qemu 7     vfio-pci     -device vfio-pci,host=03:10.0\n");
	free(text);
	facts_free(facts);
}

/* Links that hang on each other in a ring are all shown, once. */
static void test_tree_of_a_ring(void **state)
{
	struct facts *facts = facts_new();
	char *text;

	(void)state;
	for (int i = 0; i < 40; i++) {
		char name[16];
		struct facts_link *link;

		snprintf(name, sizeof(name), "l%d", i);
		link = net_link(facts, name, "vlan");
		link->lower_netns = 0;
		link->lower_ifindex = 2 + (i + 1) % 40;
	}
	text = tree_text(facts);
	for (int i = 0; i < 40; i++) {
		char name[16], *first;

		snprintf(name, sizeof(name), " l%d ", i);
		first = strstr(text, name);
		assert_non_null(first);
		assert_null(strstr(first + 1, name));
	}
	free(text);
	facts_free(facts);
}

static void test_path_text(void **state)
{
	struct facts *facts = facts_new();
	size_t length;
	char *text;
	FILE *stream;

	(void)state;
	net_pair(facts, "a0@a", "b0@b");
	net_pair(facts, "b1@b", "c0@c");
	net_link(facts, "br0@b", "bridge");
	net_enslave(facts, "b0@b", "br0");
	net_enslave(facts, "b1@b", "br0");
	net_at(facts, "c0@c")->flags = 0;
	facts_sort(facts);
	assert_int_equal(path_follow(facts, "a0@ns:a", "c0@ns:c", &path), 0);
	stream = open_memstream(&text, &length);
	report_path(&path, stream, NULL);
	fclose(stream);
	assert_string_equal(
		text,
		"  out  a0@ns:a\n"
		"      1  wire a0-b0\n"
		"  in   b0@ns:b\n"
		"      2  bridge br0: 02:00:00:03:00:02 is not in its FDB: flooded to 1 ports until the sink has sent\n"
		"  out  b1@ns:b\n"
		"      3  CUT: wire b1-c0: c0@ns:c is down; ip -n c link set c0 up\n"
		"  in   c0@ns:c\n"
		"incomplete  cut at hop 3 (wire b1-c0): c0@ns:c is down; ip -n c link set c0 up\n");
	free(text);
	facts_free(facts);
}

static void test_path_json(void **state)
{
	struct facts *facts = facts_new();
	json_t *json, *point;

	(void)state;
	net_pair(facts, "a0@a", "b\xff@b");
	facts_sort(facts);
	assert_int_equal(path_follow(facts, "a0@ns:a", "b\xff@ns:b", &path), 0);
	json = facts_path_to_json(&path);
	assert_non_null(json);
	assert_string_equal(json_string_value(json_object_get(json, "schema")), "hopcap.path/1");
	assert_true(json_is_true(json_object_get(json, "complete")));
	assert_int_equal(json_array_size(json_object_get(json, "points")), 2);
	point = json_array_get(json_object_get(json, "points"), 1);
	assert_string_equal(json_string_value(json_object_get(point, "text")), "b?@ns:b");
	assert_string_equal(json_string_value(json_object_get(point, "direction")), "in");
	assert_string_equal(
		json_string_value(json_object_get(json_array_get(json_object_get(json, "hops"), 0), "kind")), "wire");
	json_decref(json);
	facts_free(facts);
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now); /* of this process: others may have the CPU */
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* A link of a kind in a namespace that is numbered; cheaper than net_link(), which counts. */
static struct facts_link *add(struct facts *facts, int netns, int ifindex, const char *kind)
{
	struct facts_link *link = facts_add_link(facts);

	assert_non_null(link);
	link->netns = netns;
	link->ifindex = ifindex;
	snprintf(link->name, sizeof(link->name), "l%d", ifindex);
	strcpy(link->kind, kind);
	link->flags = 1;
	link->address[0] = 2;
	link->address[3] = (uint8_t)netns;
	link->address[4] = (uint8_t)(ifindex >> 8);
	link->address[5] = (uint8_t)ifindex;
	return link;
}

static void expect_soon(struct facts *facts, const char *source, const char *sink, int points)
{
	double start = seconds();
	struct facts_tree tree;

	facts_sort(facts);
	if (path_follow(facts, source, sink, &path))
		fail_msg("%s", error_text());
	assert_int_equal(path.point_count, points);
	assert_int_equal(tree_build(facts, &tree), 0);
	assert_true(tree.count >= facts->link_count);
	tree_free(&tree);
	assert_true(seconds() - start < 2); /* with sanitizers, too */
}

static void test_thousands_of_links(void **state)
{
	struct facts *facts = facts_new();

	(void)state;
	/* 2047 wires between two bridges. */
	net_netns(facts, "b");
	add(facts, 0, 1, "bridge");
	add(facts, 1, 1, "bridge");
	for (int i = 2; i < 2049; i++) {
		for (int side = 0; side < 2; side++) {
			struct facts_link *link = add(facts, side, i, "veth");

			link->lower_netns = !side;
			link->lower_ifindex = i;
			link->master_ifindex = 1;
			link->port.state = 3;
		}
	}
	expect_soon(facts, "l1", "l1@ns:b", 4);
	assert_int_equal(path.way_count, 32);
	assert_false(path.is_complete);
	/* All shut but the last: that one is the way. */
	for (int i = 0; i < facts->link_count; i++)
		if (facts->links[i].netns == 1 && facts->links[i].port.state == 3 && facts->links[i].ifindex != 2048)
			facts->links[i].port.state = 4;
	expect_soon(facts, "l1", "l1@ns:b", 4);
	assert_true(path.is_complete);
	assert_int_equal(path.points[1].ifindex, 2048);
	facts_free(facts);

	/* 4096 NICs, each with a wire that nobody knows: as many guesses. */
	facts = facts_new();
	for (int i = 1; i <= 4096; i++) {
		struct facts_link *link = add(facts, 0, i, "");

		strcpy(link->bus, "pci");
		snprintf(link->bus_address, sizeof(link->bus_address), "%04x:00:00.0", i);
	}
	expect_soon(facts, "l1", "l4096", 2);
	facts_free(facts);

	/* A bridge of 2048 taps that one process holds, and a tunnel on each. */
	facts = facts_new();
	add(facts, 0, 1, "bridge");
	for (int i = 2; i < 2050; i++) {
		add(facts, 0, i, "tun")->master_ifindex = 1;
		struct facts_link *link = add(facts, 0, i + 2048, "vxlan");

		link->vxlan_id = i;
		link->master_ifindex = 1;
		strcpy(link->vxlan_remote, "10.0.0.1");
	}
	net_qemu(facts, 9, NULL, 1, NULL);
	for (int i = 2; i < 2050; i++) {
		struct facts_tun_holder *tun = facts_add_tun(&facts->processes[0]);

		snprintf(tun->interface, sizeof(tun->interface), "l%d", i);
	}
	expect_soon(facts, "l1", "l2049", 3);
	facts_free(facts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tree),
		cmocka_unit_test(test_tree_of_a_ring),
		cmocka_unit_test(test_path_text),
		cmocka_unit_test(test_path_json),
		cmocka_unit_test(test_thousands_of_links),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
