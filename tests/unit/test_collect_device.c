// SPDX-License-Identifier: GPL-2.0-or-later
/* Devices of links from a made sysfs: a PF, its VF, its representor, virtio below PCI, a tap, links without a device, numbers that
 * are none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "made_tree.h"
#include "sys/collect_device.h"

#define PF "/sys/devices/pci0000:00/0000:03:00.0"
#define VF "/sys/devices/pci0000:00/0000:03:02.1"
#define VIRTIO "/sys/devices/pci0000:00/0000:00:03.0/virtio2"

static void make_nic(const struct made_tree *tree)
{
	made_tree_file(tree, PF "/vendor", "0x8086\n");
	made_tree_file(tree, PF "/device", "0x10fb\n");
	made_tree_file(tree, PF "/numa_node", "1\n");
	made_tree_file(tree, PF "/sriov_totalvfs", "63\n");
	made_tree_file(tree, PF "/sriov_numvfs", "2\n");
	made_tree_link(tree, PF "/subsystem", "../../../bus/pci");
	made_tree_link(tree, PF "/driver", "../../../bus/pci/drivers/ixgbe");
	made_tree_link(tree, PF "/virtfn0", "../0000:03:02.0");
	made_tree_link(tree, PF "/virtfn1", "../0000:03:02.1");
	made_tree_file(tree, VF "/vendor", "0x8086\n");
	made_tree_file(tree, VF "/device", "0x10ed\n");
	made_tree_file(tree, VF "/numa_node", "-1\n");
	made_tree_link(tree, VF "/subsystem", "../../../bus/pci");
	made_tree_link(tree, VF "/driver", "../../../bus/pci/drivers/ixgbevf");
	made_tree_link(tree, VF "/physfn", "../0000:03:00.0");
	made_tree_link(tree, "/sys/class/net/pf0/device", "../../../devices/pci0000:00/0000:03:00.0");
	made_tree_link(tree, "/sys/class/net/rep0/device", "../../../devices/pci0000:00/0000:03:00.0");
	made_tree_link(tree, "/sys/class/net/vf0/device", "../../../devices/pci0000:00/0000:03:02.1");
}

static void make_others(const struct made_tree *tree)
{
	made_tree_file(tree, "/sys/devices/pci0000:00/0000:00:03.0/numa_node", "3\n");
	made_tree_file(tree, VIRTIO "/vendor", "0x1af4\n");
	made_tree_link(tree, VIRTIO "/subsystem", "../../../../bus/virtio");
	made_tree_link(tree, "/sys/class/net/virt0/device", "../../../devices/pci0000:00/0000:00:03.0/virtio2");
	made_tree_file(tree, "/sys/class/net/virt0/gro_flush_timeout", "20000\n");
	made_tree_file(tree, "/sys/class/net/virt0/napi_defer_hard_irqs", "2\n");
	made_tree_file(tree, "/sys/class/net/virt0/threaded", "1\n");
	made_tree_file(tree, "/sys/class/net/virt0/queues/rx-0/rps_cpus", "0\n");
	made_tree_file(tree, "/sys/class/net/virt0/queues/rx-1/rps_cpus", "0\n");
	made_tree_file(tree, "/sys/class/net/virt0/queues/tx-0/xps_cpus", "0\n");
	made_tree_file(tree, "/sys/class/net/tap0/tun_flags", "0x5102\n");
	made_tree_file(tree, "/sys/class/net/odd0/threaded", "7\n");
	made_tree_file(tree, "/sys/class/net/odd0/gro_flush_timeout", "99999999999999999999\n");
	made_tree_file(tree, "/sys/class/net/odd0/napi_defer_hard_irqs", "two\n");
	made_tree_file(tree, "/sys/class/net/odd0/tun_flags", "");
}

static struct facts_link *read_link(struct facts *facts, const struct file_tree *tree, const char *name,
				    const char *kind)
{
	struct facts_link *link = facts_add_link(facts);

	assert_non_null(link);
	snprintf(link->name, sizeof(link->name), "%s", name);
	snprintf(link->kind, sizeof(link->kind), "%s", kind);
	if (!strcmp(name, "rep0")) {
		snprintf(link->phys_switch_id, sizeof(link->phys_switch_id), "0102");
		snprintf(link->phys_port_name, sizeof(link->phys_port_name), "pf0vf1");
	}
	collect_device_of(tree, link);
	return link;
}

struct fixture {
	struct made_tree made;
	struct file_tree tree;
	struct facts *facts;
};

static void start(struct fixture *fixture)
{
	made_tree_start(&fixture->made);
	make_nic(&fixture->made);
	make_others(&fixture->made);
	assert_int_equal(file_tree_open(&fixture->tree, fixture->made.root), 0);
	fixture->facts = facts_new();
	assert_non_null(fixture->facts);
}

static void end(struct fixture *fixture)
{
	facts_free(fixture->facts);
	file_tree_close(&fixture->tree);
	made_tree_end(&fixture->made);
}

static void test_functions_of_a_nic(void **state)
{
	struct fixture fixture;
	const struct facts_link *link;

	(void)state;
	start(&fixture);
	link = read_link(fixture.facts, &fixture.tree, "pf0", "");
	assert_string_equal(link->bus, "pci");
	assert_string_equal(link->bus_address, "0000:03:00.0");
	assert_string_equal(link->driver, "ixgbe");
	assert_int_equal(link->pci_vendor, 0x8086);
	assert_int_equal(link->pci_device, 0x10fb);
	assert_int_equal(link->numa_node, 1);
	assert_int_equal(link->vf_total, 63);
	assert_int_equal(link->vf_count, 2);
	assert_int_equal(link->vf_index, FACTS_UNKNOWN);
	assert_string_equal(link->physfn_address, "");
	link = read_link(fixture.facts, &fixture.tree, "vf0", "");
	assert_string_equal(link->driver, "ixgbevf");
	assert_string_equal(link->physfn_address, "0000:03:00.0");
	assert_int_equal(link->vf_index, 1);
	assert_int_equal(link->vf_total, FACTS_UNKNOWN);
	assert_int_equal(link->numa_node, FACTS_UNKNOWN);
	link = read_link(fixture.facts, &fixture.tree, "rep0", "");
	assert_string_equal(link->bus_address, "0000:03:00.0");
	assert_int_equal(link->vf_total, FACTS_UNKNOWN); /* the PF's, not its own */
	end(&fixture);
}

static void test_virtio(void **state)
{
	struct fixture fixture;
	const struct facts_link *link;

	(void)state;
	start(&fixture);
	link = read_link(fixture.facts, &fixture.tree, "virt0", "");
	assert_string_equal(link->bus, "virtio");
	assert_string_equal(link->bus_address, "virtio2");
	assert_int_equal(link->pci_vendor, 0); /* the number of the virtio bus is none of PCI */
	assert_int_equal(link->numa_node, 3);  /* of the PCI device above */
	assert_int_equal(link->gro_flush_timeout_ns, 20000);
	assert_int_equal(link->napi_defer_hard_irqs, 2);
	assert_int_equal(link->threaded_napi, 1);
	assert_int_equal(link->rx_queues, 2);
	assert_int_equal(link->tx_queues, 1);
	assert_int_equal(link->tun_flags, FACTS_UNKNOWN);
	end(&fixture);
}

static void test_links_without_a_device(void **state)
{
	struct fixture fixture;
	const struct facts_link *link;

	(void)state;
	start(&fixture);
	link = read_link(fixture.facts, &fixture.tree, "tap0", "tun");
	assert_int_equal(link->tun_flags, 0x5102);
	assert_string_equal(link->bus, "");
	link = read_link(fixture.facts, &fixture.tree, "odd0", "");
	assert_int_equal(link->threaded_napi, FACTS_UNKNOWN);
	assert_int_equal(link->gro_flush_timeout_ns, FACTS_UNKNOWN);
	assert_int_equal(link->napi_defer_hard_irqs, FACTS_UNKNOWN);
	assert_int_equal(link->tun_flags, FACTS_UNKNOWN);
	link = read_link(fixture.facts, &fixture.tree, "missing0", "");
	assert_int_equal(link->rx_queues, FACTS_UNKNOWN);
	assert_string_equal(link->bus_address, "");
	end(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions_of_a_nic),
		cmocka_unit_test(test_virtio),
		cmocka_unit_test(test_links_without_a_device),
	};

	return cmocka_run_group_tests_name("collect_device", tests, NULL, NULL);
}
