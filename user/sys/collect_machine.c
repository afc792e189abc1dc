// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the files say of the machine as a whole: kernel, CPUs, hypervisor. Reads facts only, so that it is the same for this machine and
 * for a captured tree. Called by collect.c, after collect_files().
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sys/collect.h"

/* The first row that fits names the hypervisor below. Firmware first, since clock sources are shared between some. */
static const struct {
	const char *path, *contains, *hypervisor;
} signs[] = {
	{ "/sys/class/dmi/id/sys_vendor", "VMware", "vmware" },
	{ "/sys/class/dmi/id/product_name", "VMware", "vmware" },
	{ "/sys/class/dmi/id/sys_vendor", "QEMU", "kvm" },
	{ "/sys/class/dmi/id/sys_vendor", "Red Hat", "kvm" },
	{ "/sys/class/dmi/id/sys_vendor", "Google", "kvm" },
	{ "/sys/class/dmi/id/sys_vendor", "Xen", "xen" },
	{ "/sys/class/dmi/id/bios_vendor", "Xen", "xen" },
	{ "/sys/class/dmi/id/product_name", "KVM", "kvm" },
	{ "/sys/class/dmi/id/product_name", "Virtual Machine", "microsoft" },
	{ "/sys/hypervisor/type", "xen", "xen" },
	{ "/proc/device-tree/hypervisor/compatible", "kvm", "kvm" },
	{ "/proc/device-tree/hypervisor/compatible", "xen", "xen" },
	{ "/proc/ppc64/lparcfg", "shared_processor_mode=", "powervm" },
	{ "/proc/ppc64/lparcfg", "partition_id=", "powervm" },
	{ "/sys/devices/system/clocksource/clocksource0/available_clocksource", "kvm-clock", "kvm" },
	{ "/sys/devices/system/clocksource/clocksource0/available_clocksource", "hyperv_clocksource", "microsoft" },
	{ "/sys/devices/system/clocksource/clocksource0/available_clocksource", "xen", "xen" },
};

static const char *text_of(const struct facts *facts, const char *path)
{
	const struct facts_file *file = facts_file_at(facts, 0, path);

	return file && !file->error ? file->text : "";
}

static void find_hypervisor(struct facts *facts)
{
	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
		if (!strstr(text_of(facts, signs[i].path), signs[i].contains))
			continue;
		snprintf(facts->hypervisor, sizeof(facts->hypervisor), "%s", signs[i].hypervisor);
		return;
	}
}

/* "0-3,8": 5. 0 when it is no such list. */
static int count_list(const char *list)
{
	long long count = 0;

	while (*list) {
		char *end;
		long long first = strtoll(list, &end, 10), last = first;

		if (end == list)
			return 0;
		if (*end == '-') {
			list = end + 1;
			last = strtoll(list, &end, 10);
			if (end == list)
				return 0;
		}
		if (first < 0 || last < first || last > 1 << 20 || (*end && *end != ','))
			return 0;
		count += last - first + 1;
		list = end + (*end == ',');
	}
	return count > 1 << 20 ? 0 : (int)count;
}

/* "cpu0 …", "cpu1 …" of /proc/stat, where sysfs says nothing. */
static int count_stat(const char *stat)
{
	int count = 0;

	for (; stat; stat = strchr(stat, '\n')) {
		stat += *stat == '\n';
		count += !strncmp(stat, "cpu", 3) && stat[3] >= '0' && stat[3] <= '9';
	}
	return count;
}

void collect_machine(struct facts *facts)
{
	const char *cpuinfo = text_of(facts, "/proc/cpuinfo"), *model = strstr(cpuinfo, "model name");

	if (!facts->kernel[0])
		snprintf(facts->kernel, sizeof(facts->kernel), "%s", text_of(facts, "/proc/sys/kernel/osrelease"));
	facts->cpu_count = count_list(text_of(facts, "/sys/devices/system/cpu/online"));
	if (facts->cpu_count == 0)
		facts->cpu_count = count_stat(text_of(facts, "/proc/stat"));
	if (!model)
		model = strstr(cpuinfo, "cpu\t\t:"); /* POWER */
	if (model && !facts->machine[0]) {
		model += strcspn(model, ":\n");
		model += strspn(model, ": ");
		snprintf(facts->machine, sizeof(facts->machine), "%.*s", (int)strcspn(model, "\n"), model);
	}
	find_hypervisor(facts);
}
