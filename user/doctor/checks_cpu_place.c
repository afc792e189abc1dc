// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Checks of where work is placed: interrupts, NUMA nodes, steering of frames to CPUs, translation of addresses for devices.
 * Called through doctor/tables.c.
 */
#include <stdio.h>
#include <string.h>

#include "doctor/lookup.h"
#include "doctor/tables.h"

static int is_hardware(const struct check_context *context)
{
	return lookup_is_hardware(context->link);
}

static int cpus_of_irq(const struct facts_irq *irq, struct lookup_cpus *cpus)
{
	return lookup_cpu_list(irq->effective[0] ? irq->effective : irq->affinity, cpus);
}

/* --- interrupts --------------------------------------------------------------------------------------------------- */

static void judge_irq_pile(struct check_context *context)
{
	const struct facts_link *link = context->link;
	struct lookup_cpus all = { { 0 } };
	int counted = 0;

	for (int i = 0; i < link->irq_count; i++) {
		struct lookup_cpus cpus;

		if (cpus_of_irq(&link->irqs[i], &cpus) < 0 || !link->irqs[i].count)
			continue;
		counted++;
		for (size_t word = 0; word < sizeof(all.words) / sizeof(all.words[0]); word++)
			all.words[word] |= cpus.words[word];
	}
	if (counted < 2 || context->facts->cpu_count < 2 || link->rx_queues < 2 || lookup_cpu_count(&all) != 1)
		return;
	check_report(context, FINDING_WARN,
		     check_text("/proc/irq/%d/effective_affinity_list (%s): %s, as for all %d interrupts of %s",
				link->irqs[0].number, link->irqs[0].name,
				link->irqs[0].effective[0] ? link->irqs[0].effective : link->irqs[0].affinity, counted,
				link->name),
		     check_text("the interrupts of %d queues should be served by different CPUs", link->rx_queues),
		     check_text("echo 1 > /proc/irq/%d/smp_affinity_list, and so on; stop irqbalance first",
				link->irqs[counted > 1 ? 1 : 0].number));
}

static void judge_irq_node(struct check_context *context)
{
	const struct facts_link *link = context->link;

	if (link->numa_node < 0)
		return;
	for (int i = 0; i < link->irq_count; i++) {
		struct lookup_cpus cpus;

		if (cpus_of_irq(&link->irqs[i], &cpus) < 0 || lookup_cpu_count(&cpus) > 64)
			continue;
		for (int cpu = 0; cpu < context->facts->cpu_count; cpu++) {
			int node = lookup_cpu_is_in(&cpus, cpu) ? lookup_node_of_cpu(context, cpu) : -1;

			if (node < 0 || node == link->numa_node)
				continue;
			check_report(
				context, FINDING_WARN,
				check_text("%s sits at NUMA node %d; interrupt %d (%s) goes to CPU %d of node %d",
					   link->name, link->numa_node, link->irqs[i].number, link->irqs[i].name, cpu,
					   node),
				"interrupts, memory and the threads behind a queue belong to the adapter's node",
				check_text(
					"cat /sys/devices/system/node/node%d/cpulist > /proc/irq/%d/smp_affinity_list",
					link->numa_node, link->irqs[i].number));
			return;
		}
	}
}

static void judge_process_nodes(struct check_context *context)
{
	const struct facts_process *process = context->process;
	int node = -1;

	for (int i = 0; i < process->thread_count; i++) {
		const struct facts_thread *thread = &process->threads[i];
		int other;

		if (strncmp(thread->name, "vhost", 5) && strncmp(thread->name, "CPU ", 4))
			continue;
		other = lookup_node_of_cpu(context, thread->last_cpu);
		if (other < 0)
			continue;
		if (node < 0)
			node = other;
		if (other == node)
			continue;
		check_report(
			context, FINDING_WARN,
			check_text("thread %d (%s) ran on CPU %d of node %d; others of this guest on node %d",
				   thread->tid, thread->name, thread->last_cpu, other, node),
			"a guest's virtual CPUs, its vhost workers and its memory belong to one node, the adapter's",
			check_text("taskset -cp $(cat /sys/devices/system/node/node%d/cpulist) %d", node, thread->tid));
		return;
	}
}

/* --- steering ----------------------------------------------------------------------------------------------------- */

/* Mask of a queue: 0 with the file's CPUs, -1 when there is none. */
static int queue_mask(const struct check_context *context, const char *pattern, int queue, char *path, size_t size,
		      struct lookup_cpus *cpus)
{
	const struct facts_file *file;

	snprintf(path, size, pattern, context->link->name, queue);
	file = facts_file_at(context->facts, context->link->netns, path);
	return file && !file->error ? lookup_cpu_mask(file->text, cpus) : -1;
}

static void judge_steering(struct check_context *context, const char *pattern, int queues, const char *rule)
{
	const struct facts_link *link = context->link;

	for (int queue = 0; queue < queues && queue < 64 && link->numa_node >= 0; queue++) {
		struct lookup_cpus cpus;
		char path[128];

		if (queue_mask(context, pattern, queue, path, sizeof(path), &cpus) < 0)
			continue;
		for (int cpu = 0; cpu < context->facts->cpu_count; cpu++) {
			int node = lookup_cpu_is_in(&cpus, cpu) ? lookup_node_of_cpu(context, cpu) : -1;

			if (node < 0 || node == link->numa_node)
				continue;
			check_report(context, FINDING_WARN,
				     check_text("%s: CPU %d is of node %d, %s of node %d",
						check_file_line(context, link->netns, path), cpu, node, link->name,
						link->numa_node),
				     rule,
				     check_text("%secho MASK-OF-NODE-%d > %s", check_enter(context, link->netns),
						link->numa_node, path));
			return;
		}
	}
}

static void judge_rps(struct check_context *context)
{
	judge_steering(
		context, "/sys/class/net/%s/queues/rx-%d/rps_cpus", context->link->rx_queues,
		"RPS should hand frames to CPUs of the adapter's node: others fetch each of them over the interconnect");
}

static void judge_xps(struct check_context *context)
{
	judge_steering(context, "/sys/class/net/%s/queues/tx-%d/xps_cpus", context->link->tx_queues,
		       "a transmit queue should be used by CPUs of the adapter's node");
}

static void judge_rps_unused(struct check_context *context)
{
	static const char pattern[] = "/sys/class/net/%s/queues/rx-%d/rps_cpus";
	const struct facts_link *link = context->link;
	struct lookup_cpus cpus;
	char path[128];

	if (link->rx_queues != 1 || link->rx_queues_max > 1 || context->facts->cpu_count < 2 ||
	    queue_mask(context, pattern, 0, path, sizeof(path), &cpus) < 0 || lookup_cpu_count(&cpus) > 0)
		return;
	check_report(context, FINDING_INFO, check_file_line(context, link->netns, path),
		     check_text("%s has one queue and no more: the CPU of its interrupt does all receive work",
				link->name),
		     check_text("%secho %x > %s", check_enter(context, link->netns),
				context->facts->cpu_count >= 32 ? 0xfffffffeU : (1U << context->facts->cpu_count) - 2,
				path));
}

/* --- address translation ------------------------------------------------------------------------------------------ */

static int is_pci(const struct check_context *context)
{
	return !strcmp(context->link->bus, "pci");
}

static void judge_iommu(struct check_context *context)
{
	const char *path = check_text(LOOKUP_PCI "iommu_group/type", context->link->bus_address);
	const struct facts_file *file = facts_file_at(context->facts, 0, path);

	if (!file || file->error || strcmp(file->text, "DMA"))
		return;
	check_report(context, FINDING_WARN, check_file_line(context, 0, path),
		     "strict translation flushes the IOMMU's cache at each buffer that is given back",
		     "boot with iommu.strict=0 or iommu=pt, or write DMA-FQ to that file while the driver is unbound");
}

static const struct check rows[] = {
	{ .id = "irq-pile",
	  .subject = CHECK_LINK,
	  .applies = is_hardware,
	  .judge = judge_irq_pile,
	  .explains = RUN_CAUSE_CPU,
	  .title = "All interrupts of an adapter go to one CPU",
	  .why = "Several queues whose interrupts share a CPU are one queue in effect. A guest of 46 CPUs "
		 "received errors in bursts because all of its adapter's interrupts went to CPU 0.",
	  .remedy = "Give each queue's interrupt a CPU of its own; keep irqbalance from undoing it.",
	  .effect = "receive work spreads; time_squeeze of that CPU falls",
	  .reference = "queues",
	  .weight = 0.6 },
	{ .id = "irq-node",
	  .subject = CHECK_LINK,
	  .applies = is_hardware,
	  .judge = judge_irq_node,
	  .title = "Interrupts are served at another NUMA node",
	  .why = "The adapter writes to memory of one node, the CPU of another reads it over the interconnect, "
		 "for descriptors and data. Ten to thirty per cent are usual, more when the interconnect is "
		 "busy.",
	  .remedy = "Move the interrupts to CPUs of the adapter's node, and the receiving threads with them.",
	  .effect = "lower cost a frame",
	  .reference = "numa",
	  .weight = 0.3 },
	{ .id = "numa-guest",
	  .subject = CHECK_PROCESS,
	  .judge = judge_process_nodes,
	  .title = "A guest's threads are spread over NUMA nodes",
	  .why = "Virtual CPUs, vhost workers and buffers that sit at different nodes fetch each frame across "
		 "the interconnect at least once.",
	  .remedy = "Pin virtual CPUs, workers and memory to the node of the adapter.",
	  .effect = "lower cost a frame, less variation",
	  .reference = "numa",
	  .weight = 0.3 },
	{ .id = "rps-node",
	  .subject = CHECK_LINK,
	  .applies = is_hardware,
	  .judge = judge_rps,
	  .title = "RPS steers to another NUMA node",
	  .why = "Receive packet steering sends frames to the backlog of other CPUs. A CPU of another node pays "
		 "for each cache line.",
	  .remedy = "Limit the mask to CPUs of the adapter's node, without the one that serves the interrupt.",
	  .effect = "lower cost a frame",
	  .reference = "numa",
	  .weight = 0.2 },
	{ .id = "xps-node",
	  .subject = CHECK_LINK,
	  .applies = is_hardware,
	  .judge = judge_xps,
	  .title = "Transmit queues belong to CPUs of another node",
	  .why = "XPS picks a transmit queue by the sending CPU; descriptors and completions then travel between "
		 "nodes.",
	  .remedy = "Let each queue's mask name CPUs of the adapter's node.",
	  .effect = "lower cost a frame",
	  .reference = "numa",
	  .weight = 0.2 },
	{ .id = "rps-unused",
	  .subject = CHECK_LINK,
	  .applies = is_hardware,
	  .judge = judge_rps_unused,
	  .title = "One queue, and no steering in software",
	  .why = "A device with a single queue puts all receive work on one CPU. RPS lets other CPUs run the "
		 "stack for different flows, at the price of an interrupt between CPUs.",
	  .remedy = "Set the mask to the other CPUs when many flows are to be received.",
	  .effect = "several CPUs receive when there are several flows",
	  .reference = "queues",
	  .weight = 0.1 },
	{ .id = "iommu-strict",
	  .subject = CHECK_LINK,
	  .applies = is_pci,
	  .judge = judge_iommu,
	  .explains = RUN_CAUSE_CPU,
	  .title = "Strict IOMMU translation",
	  .why = "In strict mode each unmapping waits for the IOMMU's cache to be flushed. A 40-gigabit adapter "
		 "kept about 30 % of its XDP rate with translation on one machine; up to 20 % were lost at 200 "
		 "Gbit/s on another.",
	  .remedy = "Use deferred flushing (DMA-FQ) or pass-through where the isolation is not needed.",
	  .effect = "fewer CPU cycles a frame",
	  .reference = "nic",
	  .weight = 0.4 },
};

CHECK_TABLE(checks_cpu_place, rows);
