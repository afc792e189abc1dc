// SPDX-License-Identifier: GPL-2.0-or-later
/* /proc/interrupts as machines of several kinds print it, what is no interrupt of a device, and a captured tree whose links get
 * theirs. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "made_tree.h"
#include "sys/collect_irq.h"

static const char intel[] = "            CPU0       CPU1       \n"
			    "   9:          3          0  IR-IO-APIC    9-fasteoi   acpi\n"
			    "  16:         10          5  IO-APIC   16-fasteoi   ehci_hcd:usb1, eth1\n"
			    " 131:          0 4294967295  IR-PCI-MSIX-0000:03:00.0    1-edge      eth0-TxRx-0\n"
			    " 130:    7000000          1  IR-PCI-MSIX-0000:03:00.0    0-edge      eth0\n"
			    " 132:          0          0  IR-PCI-MSIX-0000:03:00.0    2-edge\n"
			    " NMI:         12          9   Non-maskable interrupts\n"
			    " ERR:          0\n";

static const struct facts_irq *numbered(const struct collect_irq_table *table, int number)
{
	for (int i = 0; i < table->count; i++)
		if (table->irqs[i].number == number)
			return &table->irqs[i];
	return NULL;
}

static void test_lines(void **state)
{
	struct collect_irq_table table;

	(void)state;
	assert_int_equal(collect_parse_interrupts(intel, &table), 0);
	assert_int_equal(table.count, 5);
	for (int i = 1; i < table.count; i++)
		assert_true(table.irqs[i - 1].number < table.irqs[i].number);
	assert_string_equal(numbered(&table, 9)->name, "acpi");
	assert_string_equal(numbered(&table, 16)->name, "ehci_hcd:usb1, eth1");
	assert_int_equal(numbered(&table, 16)->count, 15);
	assert_string_equal(numbered(&table, 131)->name, "eth0-TxRx-0");
	assert_true(numbered(&table, 131)->count == 4294967295ULL);
	collect_irq_table_free(&table);
}

static void test_other_machines(void **state)
{
	static const struct {
		const char *text;
		int count, number;
		const char *name;
		uint64_t frames;
	} cases[] = {
		{ "           CPU0\n 12:        261     GICv3  27 Level     arch_timer\n", 1, 12, "arch_timer", 261 },
		{ "  CPU0 CPU8\n 305:  1  2  XICS  25 Level     eth0\n", 1, 305, "eth0", 3 },
		{ "  CPU0\n 55: 4 xen-dyn    -event     eth0-q0-rx\n", 1, 55, "eth0-q0-rx", 4 },
		{ "  CPU0 CPU1\n 55: 4\n 56:\n :\n -3: 1 2 x\n99999999999: 1 2 y\n", 0, 0, NULL, 0 },
		{ "", 0, 0, NULL, 0 },
		{ "\n\n\n", 0, 0, NULL, 0 },
		{ "  CPU0\n 7: 5 PIC x", 1, 7, "x", 5 }, /* without a last newline */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct collect_irq_table table;

		assert_int_equal(collect_parse_interrupts(cases[i].text, &table), 0);
		assert_int_equal(table.count, cases[i].count);
		if (cases[i].name) {
			assert_int_equal(table.irqs[0].number, cases[i].number);
			assert_string_equal(table.irqs[0].name, cases[i].name);
			assert_true(table.irqs[0].count == cases[i].frames);
		}
		collect_irq_table_free(&table);
	}
}

/* Every cut of the text, in memory of just its size. */
static void test_cut_text(void **state)
{
	(void)state;
	for (size_t length = 0; length < sizeof(intel); length++) {
		char *text = strndup(intel, length);
		struct collect_irq_table table;

		assert_non_null(text);
		assert_int_equal(collect_parse_interrupts(text, &table), 0);
		assert_true(table.count <= 5);
		collect_irq_table_free(&table);
		free(text);
	}
}

static struct facts_link *add_device(struct facts *facts, const char *name, const char *bus, const char *address)
{
	struct facts_link *link = facts_add_link(facts);

	assert_non_null(link);
	link->ifindex = facts->link_count;
	snprintf(link->name, sizeof(link->name), "%s", name);
	snprintf(link->bus, sizeof(link->bus), "%s", bus);
	snprintf(link->bus_address, sizeof(link->bus_address), "%s", address);
	return link;
}

static void test_tree(void **state)
{
	struct made_tree tree;
	struct facts *facts = facts_new();
	struct facts_link *representor;

	(void)state;
	made_tree_start(&tree);
	assert_non_null(facts);
	made_tree_file(&tree, "/proc/interrupts", intel);
	made_tree_file(&tree, "/proc/irq/131/smp_affinity_list", "0-1\n");
	made_tree_file(&tree, "/proc/irq/131/effective_affinity_list", "1\n");
	made_tree_file(&tree, "/sys/bus/pci/devices/0000:03:00.0/msi_irqs/131", "msix\n");
	made_tree_file(&tree, "/sys/bus/pci/devices/0000:03:00.0/msi_irqs/999", "msix\n"); /* nobody has asked for it */
	add_device(facts, "nic0", "pci", "0000:03:00.0");
	add_device(facts, "eth0", "vio", "30000002"); /* by name: eth0, eth0-TxRx-0 */
	add_device(facts, "br0", "", "");
	representor = add_device(facts, "nic0_0", "pci", "0000:03:00.0");
	snprintf(representor->phys_switch_id, sizeof(representor->phys_switch_id), "01");
	snprintf(representor->phys_port_name, sizeof(representor->phys_port_name), "pf0vf0");
	assert_int_equal(collect_irqs(tree.root, facts), 0);
	assert_int_equal(collect_irqs(tree.root, facts), 0); /* nothing twice */
	assert_int_equal(facts->links[0].irq_count, 1);
	assert_int_equal(facts->links[0].irqs[0].number, 131);
	assert_string_equal(facts->links[0].irqs[0].affinity, "0-1");
	assert_string_equal(facts->links[0].irqs[0].effective, "1");
	assert_int_equal(facts->links[1].irq_count, 2);
	assert_string_equal(facts->links[1].irqs[0].name, "eth0");
	assert_string_equal(facts->links[1].irqs[0].affinity, "");
	assert_int_equal(facts->links[2].irq_count, 0);
	assert_int_equal(facts->links[3].irq_count, 0);
	assert_int_equal(facts->gap_count, 0);
	facts_free(facts);
	made_tree_end(&tree);
}

static void test_no_interrupts(void **state)
{
	struct facts *facts = facts_new();
	struct made_tree tree;

	(void)state;
	assert_non_null(facts);
	add_device(facts, "eth0", "vio", "30000002");
	made_tree_start(&tree);
	assert_int_equal(collect_irqs(tree.root, facts), 0);
	made_tree_end(&tree);
	assert_int_equal(facts->gap_count, 1);
	assert_non_null(strstr(facts->gaps[0].text, "No such file"));
	assert_int_equal(collect_irqs("/nowhere/at/all", facts), -ENOENT);
	facts_free(facts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines), cmocka_unit_test(test_other_machines), cmocka_unit_test(test_cut_text),
		cmocka_unit_test(test_tree),  cmocka_unit_test(test_no_interrupts),
	};

	return cmocka_run_group_tests_name("collect_irq", tests, NULL, NULL);
}
