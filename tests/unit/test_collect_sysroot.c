// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Facts of a captured tree: links, devices, interrupts, files, processes; and of trees that somebody has made to do harm.
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
#include "made_tree.h"
#include "model/facts_json.h"
#include "sys/collect.h"

static struct made_tree made;

static int start(void **state)
{
	(void)state;
	made_tree_start(&made);
	return 0;
}

static int end(void **state)
{
	(void)state;
	made_tree_end(&made);
	return 0;
}

static struct facts *collect(void)
{
	struct collect_request request = { .sysroot = made.root };
	struct facts *facts, *again;
	char text_path[128];

	if (collect_facts(&request, &facts) < 0)
		fail_msg("%s", error_text());
	/* Whatever was collected can be saved and read. */
	snprintf(text_path, sizeof(text_path), "%s/facts.json", made.root);
	assert_int_equal(facts_json_save(facts, text_path), 0);
	if (facts_json_load(text_path, &again) < 0)
		fail_msg("%s", error_text());
	remove(text_path);
	facts_free(again);
	return facts;
}

static void put(const char *text, const char *format, ...)
{
	char path[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(path, sizeof(path), format, arguments);
	va_end(arguments);
	made_tree_file(&made, path, text);
}

/* A link with a number, under its device's directory or among the virtual ones. */
static void put_link(const char *device, const char *name, const char *ifindex, const char *iflink)
{
	char path[256], target[256];

	snprintf(target, sizeof(target), "../../devices/%s/net/%s", device, name);
	snprintf(path, sizeof(path), "/sys/class/net/%s", name);
	made_tree_link(&made, path, target);
	put(ifindex, "/sys/devices/%s/net/%s/ifindex", device, name);
	put(iflink, "/sys/devices/%s/net/%s/iflink", device, name);
	put("1500\n", "/sys/devices/%s/net/%s/mtu", device, name);
}

static const struct facts_link *named(const struct facts *facts, const char *name)
{
	const struct facts_link *link = facts_link_named(facts, 0, name);

	if (!link)
		fail_msg("no link %s", name);
	return link;
}

static const char *text_at(const struct facts *facts, const char *path)
{
	const struct facts_file *file = facts_file_at(facts, 0, path);

	if (!file)
		fail_msg("no file %s", path);
	return file->text;
}

#define PF "pci0000:00/0000:00:1c.0/0000:03:00.0"
#define VF "pci0000:00/0000:00:1c.0/0000:03:10.0"

static void make_host(void)
{
	put_link(PF, "eth0", "2\n", "2\n");
	made_tree_link(&made, "/sys/devices/" PF "/net/eth0/device", "../../../0000:03:00.0");
	made_tree_link(&made, "/sys/devices/" PF "/driver", "../../../../bus/pci/drivers/ixgbe");
	made_tree_link(&made, "/sys/devices/" PF "/subsystem", "../../../../bus/pci");
	made_tree_link(&made, "/sys/devices/" PF "/virtfn0", "../0000:03:10.0");
	put("0x8086\n", "/sys/devices/" PF "/vendor");
	put("0x10fb\n", "/sys/devices/" PF "/device");
	put("2\n", "/sys/devices/" PF "/sriov_numvfs");
	put("63\n", "/sys/devices/" PF "/sriov_totalvfs");
	put("1\n", "/sys/devices/" PF "/numa_node");
	put("5.0 GT/s PCIe\n", "/sys/devices/" PF "/current_link_speed");
	put("msix\n", "/sys/devices/" PF "/msi_irqs/40");
	put("2.5 GT/s PCIe\n", "/sys/devices/pci0000:00/0000:00:1c.0/current_link_speed");
	put("10000\n", "/sys/devices/" PF "/net/eth0/speed");
	put("full\n", "/sys/devices/" PF "/net/eth0/duplex");
	put("up\n", "/sys/devices/" PF "/net/eth0/operstate");
	put("0x1003\n", "/sys/devices/" PF "/net/eth0/flags");
	put("1\n", "/sys/devices/" PF "/net/eth0/carrier");
	put("a0:36:9f:12:34:56\n", "/sys/devices/" PF "/net/eth0/address");
	put("ff\n", "/sys/devices/" PF "/net/eth0/queues/rx-0/rps_cpus");
	put("ff\n", "/sys/devices/" PF "/net/eth0/queues/rx-1/rps_cpus");
	put("0\n", "/sys/devices/" PF "/net/eth0/queues/tx-0/xps_cpus");
	put("18446744073709551615\n", "/sys/devices/" PF "/net/eth0/statistics/rx_packets");
	put("17\n", "/sys/devices/" PF "/net/eth0/statistics/rx_missed_errors");
	made_tree_link(&made, "/sys/devices/" PF "/net/eth0/master", "../../../../../virtual/net/br0");
	put("3\n", "/sys/devices/" PF "/net/eth0/brport/state");
	made_tree_link(&made, "/sys/bus/pci/devices/0000:03:00.0", "../../../devices/" PF);
	made_tree_link(&made, "/sys/bus/pci/devices/0000:00:1c.0", "../../../devices/pci0000:00/0000:00:1c.0");

	put_link(VF, "eth1", "3\n", "3\n");
	made_tree_link(&made, "/sys/devices/" VF "/net/eth1/device", "../../../0000:03:10.0");
	made_tree_link(&made, "/sys/devices/" VF "/subsystem", "../../../../bus/pci");
	made_tree_link(&made, "/sys/devices/" VF "/physfn", "../0000:03:00.0");

	put_link("virtual", "br0", "4\n", "4\n");
	put("DEVTYPE=bridge\nINTERFACE=br0\n", "/sys/devices/virtual/net/br0/uevent");
	put("1\n", "/sys/devices/virtual/net/br0/bridge/vlan_filtering");
	put("30000\n", "/sys/devices/virtual/net/br0/bridge/ageing_time");
	put_link("virtual", "tap0", "5\n", "5\n");
	put("0x1002\n", "/sys/devices/virtual/net/tap0/tun_flags");
	put_link("virtual", "va", "6\n", "7\n");
	put_link("virtual", "vb", "7\n", "6\n");
	put_link("virtual", "vc", "8\n", "99\n");
	put_link("virtual", "bond0", "9\n", "9\n");
	put("802.3ad 4\n", "/sys/devices/virtual/net/bond0/bonding/mode");
	put("layer3+4 1\n", "/sys/devices/virtual/net/bond0/bonding/xmit_hash_policy");
	put_link("virtual", "macvtap0", "10\n", "2\n");
	put("DEVTYPE=macvtap\n", "/sys/devices/virtual/net/macvtap0/uevent");
	put("bond0\n", "/sys/class/net/bonding_masters");

	put("           CPU0       CPU1\n 40:     7     5  PCI-MSI 1-edge      eth0-TxRx-0\n", "/proc/interrupts");
	put("0-1\n", "/proc/irq/40/smp_affinity_list");
	put("0-1\n", "/sys/devices/system/cpu/online");
	put("performance\n", "/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor");
	put("6.1.0-test\n", "/proc/sys/kernel/osrelease");
	put("processor\t: 0\nmodel name\t: Test CPU\n", "/proc/cpuinfo");
	put("QEMU\n", "/sys/class/dmi/id/sys_vendor");
	put("1\n", "/proc/sys/net/bridge/bridge-nf-call-iptables");
	put("bonding\n", "/proc/net/bonding/bond0");
}

static void test_links(void **state)
{
	struct facts *facts;
	const struct facts_link *link;

	(void)state;
	make_host();
	facts = collect();
	assert_int_equal(facts->link_count, 9);
	link = named(facts, "eth0");
	assert_string_equal(link->driver, "ixgbe");
	assert_string_equal(link->bus, "pci");
	assert_string_equal(link->bus_address, "0000:03:00.0");
	assert_string_equal(link->bus_parents, "0000:00:1c.0");
	assert_int_equal(link->pci_vendor, 0x8086);
	assert_int_equal(link->pci_device, 0x10fb);
	assert_int_equal(link->vf_count, 2);
	assert_int_equal(link->vf_total, 63);
	assert_int_equal(link->numa_node, 1);
	assert_int_equal(link->speed_mbit_per_s, 10000);
	assert_int_equal(link->duplex, 1);
	assert_int_equal(link->operstate, 6);
	assert_int_equal(link->flags, 0x1043);
	assert_int_equal(link->mtu_bytes, 1500);
	assert_int_equal(link->address[5], 0x56);
	assert_int_equal(link->rx_queues, 2);
	assert_int_equal(link->tx_queues, 1);
	assert_int_equal(link->port.state, 3);
	assert_int_equal(link->port.learning, FACTS_UNKNOWN);
	assert_int_equal(link->master_ifindex, 4);
	assert_int_equal(facts_counter_of(link, "rx_missed_errors"), 17);
	assert_true(facts_counter_of(link, "rx_packets") == INT64_MAX);
	assert_int_equal(link->irq_count, 1);
	assert_int_equal(link->irqs[0].number, 40);
	assert_int_equal(link->irqs[0].count, 12);
	assert_string_equal(link->irqs[0].affinity, "0-1");
	assert_string_equal(link->kind, "");
	link = named(facts, "eth1");
	assert_string_equal(link->physfn_address, "0000:03:00.0");
	assert_int_equal(link->vf_index, 0);
	assert_int_equal(link->vf_count, FACTS_UNKNOWN);
	assert_int_equal(link->carrier, FACTS_UNKNOWN);
	link = named(facts, "br0");
	assert_string_equal(link->kind, "bridge");
	assert_int_equal(link->bridge.vlan_filtering, 1);
	assert_int_equal(link->bridge.ageing_ms, 300000);
	assert_string_equal(named(facts, "tap0")->kind, "tun");
	assert_int_equal(named(facts, "tap0")->tun_flags, 0x1002);
	assert_string_equal(named(facts, "va")->kind, "veth");
	assert_int_equal(named(facts, "va")->lower_ifindex, 7);
	assert_int_equal(named(facts, "va")->lower_netns, 0);
	assert_int_equal(named(facts, "vc")->lower_ifindex, 99);
	assert_int_equal(named(facts, "vc")->lower_netns, FACTS_UNKNOWN);
	assert_string_equal(named(facts, "bond0")->bond_mode, "802.3ad");
	assert_string_equal(named(facts, "bond0")->bond_hash, "layer3+4");
	facts_free(facts);
}

static void test_files(void **state)
{
	struct facts *facts;

	(void)state;
	make_host();
	made_tree_file(&made, "/sys/class/net/eth0/tx_queue_len", "1000\n");
	facts = collect();
	assert_string_equal(facts->kernel, "6.1.0-test");
	assert_string_equal(facts->machine, "Test CPU");
	assert_string_equal(facts->hypervisor, "kvm");
	assert_int_equal(facts->cpu_count, 2);
	assert_string_equal(text_at(facts, "/sys/class/net/eth0"), "../../devices/" PF "/net/eth0");
	assert_string_equal(text_at(facts, "/sys/class/net/eth0/device/current_link_speed"), "5.0 GT/s PCIe");
	assert_string_equal(text_at(facts, "/sys/bus/pci/devices/0000:00:1c.0/current_link_speed"), "2.5 GT/s PCIe");
	assert_string_equal(text_at(facts, "/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor"), "performance");
	assert_string_equal(text_at(facts, "/proc/net/bonding/bond0"), "bonding");
	assert_int_equal(facts_number_at(facts, 0, "/proc/sys/net/bridge/bridge-nf-call-iptables"), 1);
	assert_int_equal(facts_number_at(facts, 0, "/sys/class/net/eth0/tx_queue_len"), 1000);
	/* Asked for by its full name and missing: said so. One of a pattern, or of a link: not. */
	assert_int_equal(facts_file_at(facts, 0, "/proc/ppc64/lparcfg")->error, ENOENT);
	assert_null(facts_file_at(facts, 0, "/sys/class/net/br0/tun_flags"));
	facts_free(facts);
}

static const struct {
	const char *path, *text, *hypervisor;
} machines[] = {
	{ "/sys/class/dmi/id/sys_vendor", "VMware, Inc.\n", "vmware" },
	{ "/sys/class/dmi/id/product_name", "Virtual Machine\n", "microsoft" },
	{ "/sys/hypervisor/type", "xen\n", "xen" },
	{ "/proc/ppc64/lparcfg", "lparcfg 1.9\npartition_id=3\n", "powervm" },
	{ "/sys/devices/system/clocksource/clocksource0/available_clocksource", "kvm-clock tsc \n", "kvm" },
	{ "/sys/class/dmi/id/sys_vendor", "Dell Inc.\n", "" },
};

static void test_hypervisors(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		struct facts *facts;

		made_tree_start(&made);
		put("0,2-4\n", "/sys/devices/system/cpu/online");
		made_tree_file(&made, machines[i].path, machines[i].text);
		facts = collect();
		assert_string_equal(facts->hypervisor, machines[i].hypervisor);
		assert_int_equal(facts->cpu_count, 4);
		assert_int_equal(facts->link_count, 0);
		assert_true(facts->gap_count > 0);
		facts_free(facts);
		made_tree_end(&made);
	}
}

static void put_stat(int pid, int tid, const char *name, unsigned int flags, int cpu)
{
	char text[512];

	snprintf(
		text, sizeof(text),
		"%d (%s) S 1 1 1 0 -1 %u 0 0 0 0 150 50 0 0 20 0 1 0 100 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 %d 0 0 0 0 0\n",
		tid, name, flags, cpu);
	if (pid == tid)
		put(text, "/proc/%d/stat", pid);
	put(text, "/proc/%d/task/%d/stat", pid, tid);
}

static void test_processes(void **state)
{
	static const char arguments[] = "/usr/bin/qemu-system-x86_64\0-netdev\0tap,id=n0,vhost=on\0";
	const struct facts_process *process;
	struct facts *facts;

	(void)state;
	make_host();
	put_stat(4711, 4711, "qemu-system-x86", 0, 3);
	put_stat(4711, 4712, "CPU 0/KVM", 0, 5);
	put("Name:\tCPU 0/KVM\nCpus_allowed_list:\t4-5\n", "/proc/4711/task/4712/status");
	put("2500000000 77 3\n", "/proc/4711/task/4712/schedstat");
	made_tree_bytes(&made, "/proc/4711/cmdline", arguments, sizeof(arguments) - 1);
	made_tree_link(&made, "/proc/4711/fd/3", "/dev/net/tun");
	made_tree_link(&made, "/proc/4711/fd/4", "/dev/net/tun");
	made_tree_link(&made, "/proc/4711/fd/5", "/dev/net/tun");
	made_tree_link(&made, "/proc/4711/fd/6", "/dev/vhost-net");
	made_tree_link(&made, "/proc/4711/fd/7", "/dev/kvm");
	made_tree_link(&made, "/proc/4711/fd/8", "/dev/vfio/12");
	made_tree_link(&made, "/proc/4711/fd/9", "socket:[1]");
	made_tree_link(&made, "/proc/4711/fd/10", "/etc/passwd");
	made_tree_link(&made, "/proc/4711/fd/11", "/dev/tap10");
	put("pos:\t0\nflags:\t02\niff:\ttap0\n", "/proc/4711/fdinfo/3");
	put("pos:\t0\nflags:\t02\niff:\ttap0\n", "/proc/4711/fdinfo/4");
	put("pos:\t0\nflags:\t02\n", "/proc/4711/fdinfo/5");
	put_stat(900, 900, "vhost-4711", 0x00200000, 1);
	put_stat(901, 901, "kworker/0:1", 0x00200000, 1);
	put_stat(1000, 1000, "bash", 0, 0);
	made_tree_link(&made, "/proc/1000/fd/0", "/dev/pts/0");
	facts = collect();
	assert_int_equal(facts->process_count, 1);
	process = &facts->processes[0];
	assert_int_equal(process->pid, 4711);
	assert_int_equal(process->is_qemu, 1);
	assert_int_equal(process->argument_count, 3);
	assert_string_equal(process->arguments[2], "tap,id=n0,vhost=on");
	assert_int_equal(process->vhost_net, 1);
	assert_int_equal(process->kvm, 1);
	assert_int_equal(process->vfio, 1);
	assert_int_equal(process->vhost_vdpa, 0);
	assert_int_equal(process->tun_count, 2);
	for (int i = 0; i < 2; i++) {
		int is_tap = !strcmp(process->tuns[i].interface, "tap0");

		assert_int_equal(process->tuns[i].netns, 0);
		assert_int_equal(process->tuns[i].descriptors, is_tap ? 2 : 1);
		assert_string_equal(process->tuns[i].interface, is_tap ? "tap0" : "macvtap0");
	}
	assert_int_equal(process->thread_count, 3);
	for (int i = 0; i < 3; i++) {
		const struct facts_thread *thread = &process->threads[i];

		if (thread->tid == 4712) {
			assert_string_equal(thread->name, "CPU 0/KVM");
			assert_string_equal(thread->cpus_allowed, "4-5");
			assert_int_equal(thread->last_cpu, 5);
			assert_int_equal(thread->cpu_time_ms, 2500);
			assert_int_equal(thread->wait_ns, 77);
		} else if (thread->tid == 900) {
			assert_string_equal(thread->name, "vhost-4711");
		}
	}
	facts_free(facts);
}

static void test_hostile(void **state)
{
	char *large = malloc(5 << 20);
	struct facts *facts;
	const struct facts_file *file;

	(void)state;
	memset(large, 'y', 5 << 20);
	large[(5 << 20) - 1] = '\0';
	for (int i = 100; i < 5 << 20; i += 100)
		large[i] = '\n';
	put(large, "/proc/stat");
	put(large, "/proc/cpuinfo");
	made_tree_bytes(&made, "/proc/cmdline", "\xff\xfe\0x", 4);
	made_tree_fifo(&made, "/proc/interrupts");
	made_tree_link(&made, "/proc/version", "version");
	made_tree_link(&made, "/proc/loadavg", "/etc/passwd");
	made_tree_file(&made, "/proc/uptime/directory", "x");
	put("99999999999999999999\n", "/sys/devices/system/cpu/online");
	/* Links: a loop, a file, two with one number, no numbers, names that are too long or are patterns. */
	made_tree_link(&made, "/sys/class/net/loop", "loop");
	made_tree_link(&made, "/sys/class/net/root", "/");
	put("text\n", "/sys/class/net/file");
	put("7\n", "/sys/class/net/a/ifindex");
	put("7\n", "/sys/class/net/b/ifindex");
	put("-7\n", "/sys/class/net/c/ifindex");
	put("2147483648\n", "/sys/class/net/d/ifindex");
	put("8\n", "/sys/class/net/sixteen-byte-name/ifindex");
	put("9\n", "/sys/class/net/*/ifindex");
	put("7\n", "/sys/class/net/*/iflink");
	made_tree_link(&made, "/sys/class/net/*/device", "..");
	made_tree_link(&made, "/sys/class/net/*/master", "/");
	put("-1\n", "/sys/class/net/*/mtu");
	put("4294967296\n", "/sys/class/net/*/tx_queue_len");
	put("1 2 3\n", "/sys/class/net/*/carrier");
	put(large, "/sys/class/net/*/phys_port_name");
	put("zz:zz\n", "/sys/class/net/*/address");
	put("-5\n", "/sys/class/net/*/statistics/rx_packets");
	/* Processes: numbers that are none, a loop for a descriptor, a stat without end. */
	put("x", "/proc/0/stat");
	put("x", "/proc/99999999999999999999/stat");
	put(large, "/proc/5/stat");
	put_stat(6, 6, ") (qemu-kvm", 0, -9);
	put_stat(7, 7, "vhost-7", 0x00200000, 1);
	put_stat(8, 8, "vhost-99999999999", 0x00200000, 1);
	put_stat(9, 9, "kvm", 0, 0);
	made_tree_link(&made, "/proc/9/fd/1", "/dev/net/tun");
	made_tree_fifo(&made, "/proc/9/fdinfo/1");
	made_tree_link(&made, "/proc/9/cmdline", "cmdline");
	made_tree_link(&made, "/proc/9/task/notnumber", "..");
	facts = collect();
	assert_int_equal(facts->cpu_count, 0);
	file = facts_file_at(facts, 0, "/proc/stat");
	assert_true(strlen(file->text) > 65000 && strlen(file->text) <= 65536);
	assert_true(strlen(text_at(facts, "/proc/cpuinfo")) <= 4096);
	assert_int_equal(facts_file_at(facts, 0, "/proc/interrupts")->error, EINVAL);
	assert_int_equal(facts_file_at(facts, 0, "/proc/version")->error, ELOOP);
	assert_int_equal(facts_file_at(facts, 0, "/proc/loadavg")->error, ENOENT);
	assert_int_equal(facts_file_at(facts, 0, "/proc/uptime")->error, EINVAL);
	assert_int_equal(facts->link_count, 2);
	assert_int_equal(named(facts, "*")->lower_ifindex, 7);
	assert_int_equal(named(facts, "*")->mtu_bytes, FACTS_UNKNOWN);
	assert_int_equal(named(facts, "*")->tx_queue_len, FACTS_UNKNOWN);
	assert_int_equal(named(facts, "*")->carrier, FACTS_UNKNOWN);
	assert_int_equal(named(facts, "*")->counter_count, 0);
	assert_non_null(facts_link_at(facts, 0, 7));
	for (int i = 0; i < facts->process_count; i++)
		assert_true(facts->processes[i].pid == 7 || facts->processes[i].pid == 9);
	facts_free(facts);
	free(large);
}

static void test_no_sysroot(void **state)
{
	struct collect_request request = { .sysroot = "/nonexistent/tree" };
	struct facts *facts;

	(void)state;
	assert_int_equal(collect_facts(&request, &facts), -ENOENT);
	assert_null(facts);
	assert_non_null(strstr(error_text(), "/nonexistent/tree"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_links, start, end),
		cmocka_unit_test_setup_teardown(test_files, start, end),
		cmocka_unit_test(test_hypervisors),
		cmocka_unit_test_setup_teardown(test_processes, start, end),
		cmocka_unit_test_setup_teardown(test_hostile, start, end),
		cmocka_unit_test(test_no_sysroot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
