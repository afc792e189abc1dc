// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Checks of CPUs and clocks: time that is not to be had, sleep, saturation, the hypervisor below. Where work is placed is judged
 * in checks_cpu_place.c. Called through doctor/tables.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/lookup.h"
#include "doctor/tables.h"

#define STEAL_WARN 0.02
#define STEAL_FAIL 0.10
#define BUSY 0.95

enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, TIME_COUNT };

struct cpu_times {
	double ticks[TIME_COUNT], all;
};

/* Of CPU `cpu`, or of all (-1). 0, or -1 when the file does not say. */
static int read_times(const struct facts *facts, int cpu, struct cpu_times *times)
{
	const struct facts_file *file = facts_file_at(facts, 0, LOOKUP_STAT);
	char name[24];
	const char *line;
	size_t length;

	if (!file || file->error)
		return -1;
	if (cpu < 0)
		snprintf(name, sizeof(name), "cpu ");
	else
		snprintf(name, sizeof(name), "cpu%d ", cpu);
	length = strlen(name);
	for (line = file->text; strncmp(line, name, length);) {
		line = strchr(line, '\n');
		if (!line)
			return -1;
		line++;
	}
	line += length;
	times->all = 0;
	for (int i = 0; i < TIME_COUNT; i++) {
		char *end;

		times->ticks[i] = (double)strtoull(line, &end, 10);
		if (end == line)
			return -1;
		times->all += times->ticks[i];
		line = end;
	}
	return 0;
}

/* Shares of the time between two looks, or since boot. 0 or -1. */
static int read_shares(const struct check_context *context, int cpu, struct cpu_times *shares, int *since_boot)
{
	struct cpu_times then = { 0 };

	if (read_times(context->facts, cpu, shares) < 0)
		return -1;
	*since_boot = !context->earlier || read_times(context->earlier, cpu, &then) < 0 || then.all > shares->all;
	if (*since_boot)
		then = (struct cpu_times){ 0 };
	shares->all -= then.all;
	if (shares->all <= 0)
		return -1;
	for (int i = 0; i < TIME_COUNT; i++)
		shares->ticks[i] = (shares->ticks[i] - then.ticks[i]) / shares->all;
	return 0;
}

static void judge_steal(struct check_context *context)
{
	struct cpu_times shares;
	int since_boot;

	if (read_shares(context, -1, &shares, &since_boot) < 0) {
		check_report(context, FINDING_UNKNOWN, check_file_line(context, 0, LOOKUP_STAT),
			     "how much CPU time the hypervisor keeps from this machine is not known", "");
		return;
	}
	if (shares.ticks[STEAL] < STEAL_WARN)
		return;
	check_report(context,
		     check_growth_severity(shares.ticks[STEAL] >= STEAL_FAIL ? FINDING_FAIL : FINDING_WARN, since_boot),
		     check_text(LOOKUP_STAT ": steal %.1f %%%s", 100 * shares.ticks[STEAL],
				since_boot ? " since boot" : " while we looked"),
		     "the hypervisor gives this machine's CPUs to others while work waits: rings overflow meanwhile",
		     "less overcommitment on the host, or CPUs of its own");
}

static void judge_saturated(struct check_context *context)
{
	for (int cpu = 0; cpu < context->facts->cpu_count; cpu++) {
		struct cpu_times shares;
		int since_boot;

		if (read_shares(context, cpu, &shares, &since_boot) < 0 || since_boot)
			continue;
		if (shares.ticks[IDLE] + shares.ticks[IOWAIT] > 1 - BUSY ||
		    shares.ticks[SOFTIRQ] + shares.ticks[IRQ] < 0.5)
			continue;
		check_report(
			context, FINDING_FAIL,
			check_text(LOOKUP_STAT ": CPU %d: softirq %.0f %%, idle %.0f %%", cpu,
				   100 * shares.ticks[SOFTIRQ], 100 * shares.ticks[IDLE]),
			"one CPU does the kernel's network work of some queue, and has no time left: that is the cap",
			"more queues, RPS, or less work a frame; hopcap run names the hop");
	}
}

static void judge_program_saturated(struct check_context *context)
{
	for (int cpu = 0; cpu < context->facts->cpu_count; cpu++) {
		struct cpu_times shares;
		int since_boot;

		if (read_shares(context, cpu, &shares, &since_boot) < 0 || since_boot)
			continue;
		if (shares.ticks[IDLE] + shares.ticks[IOWAIT] > 1 - BUSY ||
		    shares.ticks[USER] + shares.ticks[NICE] + shares.ticks[SYSTEM] < 0.5)
			continue;
		check_report(
			context, FINDING_WARN,
			check_text(LOOKUP_STAT ": CPU %d: user %.0f %%, system %.0f %%, idle %.0f %%", cpu,
				   100 * (shares.ticks[USER] + shares.ticks[NICE]), 100 * shares.ticks[SYSTEM],
				   100 * shares.ticks[IDLE]),
			"a program fills this CPU: when it is the sender or the receiver of a test, the test measures it",
			check_text(
				"ps -eo psr,pcpu,comm --sort=-pcpu | awk '$1 == %d' | head; more senders, other CPUs",
				cpu));
	}
}

/* --- frequency and sleep ------------------------------------------------------------------------------------------ */

static const struct facts_file *cpu_file(const struct check_context *context, int cpu, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/cpufreq/%s", cpu, name);
	return facts_file_at(context->facts, 0, path);
}

static void judge_governor(struct check_context *context)
{
	const struct facts_file *first = NULL;
	int others = 0;

	for (int cpu = 0; cpu < context->facts->cpu_count; cpu++) {
		const struct facts_file *file = cpu_file(context, cpu, "scaling_governor");

		if (!file || file->error || !strcmp(file->text, "performance"))
			continue;
		first = first ? first : file;
		others++;
	}
	if (first)
		check_report(
			context, FINDING_WARN,
			check_text("%s: %s%s", first->path, first->text,
				   others > 1 ? check_text(" (%d CPUs so)", others) : ""),
			"a governor that follows load lowers the clock between bursts: rates and times vary with it",
			"cpupower frequency-set -g performance");
}

static void judge_capped_frequency(struct check_context *context)
{
	for (int cpu = 0; cpu < context->facts->cpu_count; cpu++) {
		const struct facts_file *now = cpu_file(context, cpu, "scaling_max_freq");
		const struct facts_file *most = cpu_file(context, cpu, "cpuinfo_max_freq");

		if (!now || !most || now->error || most->error || atoll(now->text) <= 0 ||
		    atoll(now->text) >= atoll(most->text))
			continue;
		check_report(context, FINDING_WARN,
			     check_text("%s: %s; %s: %s", now->path, now->text, most->path, most->text),
			     "somebody limits the CPUs' clock below what they can do",
			     check_text("cpupower frequency-set -u %skHz", most->text));
		return;
	}
}

static int64_t number_of_state(const struct facts *facts, int state, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cpuidle/state%d/%s", state, name);
	return facts_number_at(facts, 0, path);
}

static void judge_idle_states(struct check_context *context)
{
	for (int state = 0; state < 16; state++) {
		int64_t latency = number_of_state(context->facts, state, "latency");
		int64_t usage = number_of_state(context->facts, state, "usage"), before = -1;

		if (latency <= 10 || usage <= 0 || number_of_state(context->facts, state, "disable") == 1)
			continue;
		if (context->earlier)
			before = number_of_state(context->earlier, state, "usage");
		if (before >= 0 && usage <= before)
			continue;
		check_report(
			context, before >= 0 ? FINDING_WARN : FINDING_INFO,
			check_text("/sys/devices/system/cpu/cpu0/cpuidle/state%d: latency %lld us, %s %lld times",
				   state, (long long)latency, before >= 0 ? "entered" : "since boot",
				   (long long)(before >= 0 ? usage - before : usage)),
			"an idle CPU sleeps so deep that waking costs more than a hop: latency at low rates is that of waking",
			"hold /dev/cpu_dma_latency open with the value 0 while measuring latency");
		return;
	}
}

/* --- clocks ------------------------------------------------------------------------------------------------------- */

static void judge_clocksource(struct check_context *context)
{
	static const char *const slow[] = { "hpet", "acpi_pm", "jiffies", "refined-jiffies", "xen" };
	const struct facts_file *file = facts_file_at(context->facts, 0, LOOKUP_CLOCKSOURCE);

	for (size_t i = 0; file && !file->error && i < sizeof(slow) / sizeof(slow[0]); i++)
		if (!strcmp(file->text, slow[i]))
			check_report(
				context, FINDING_WARN, check_file_line(context, 0, LOOKUP_CLOCKSOURCE),
				"reading this clock leaves the CPU or the guest: a time stamp costs a microsecond, not 30 ns",
				check_text("echo tsc > %s (when it is in available_clocksource)", LOOKUP_CLOCKSOURCE));
}

static void judge_guest_clock(struct check_context *context)
{
	static const char *const paths[] = { "/sys/class/ptp/ptp0/clock_name", "/sys/class/ptp/ptp1/clock_name" };
	const char *hypervisor = context->facts->hypervisor;

	if (!hypervisor[0] || !strcmp(hypervisor, "powervm"))
		return;
	for (int i = 0; i < 2; i++) {
		const struct facts_file *file = facts_file_at(context->facts, 0, paths[i]);

		if (file && !file->error &&
		    (strstr(file->text, "KVM") || strstr(file->text, "vmw") || strstr(file->text, "hyperv")))
			return;
	}
	check_report(
		context, FINDING_INFO, check_text("guest of %s; %s", hypervisor, check_file_line(context, 0, paths[0])),
		"without the hypervisor's clock no one-way time between this machine and its host is better than half a round trip",
		!strcmp(hypervisor, "kvm") ? "modprobe ptp_kvm" : "");
}

/* --- the hypervisor ----------------------------------------------------------------------------------------------- */

static const struct facts_process *a_guest(const struct check_context *context)
{
	for (int i = 0; i < context->facts->process_count; i++)
		if (context->facts->processes[i].kvm > 0)
			return &context->facts->processes[i];
	return NULL;
}

static void judge_nested(struct check_context *context)
{
	const struct facts_process *guest = a_guest(context);

	if (!context->facts->hypervisor[0] || !guest)
		return;
	check_report(
		context, FINDING_WARN,
		check_text("this machine is a guest of %s, and process %d (%s) runs a guest on it",
			   context->facts->hypervisor, guest->pid, guest->name),
		"each exit of a guest in a guest goes through the outer hypervisor: kicks and interrupts cost several times as much",
		"run the guest on the outer host");
}

static void judge_halt_poll(struct check_context *context)
{
	static const char path[] = "/sys/module/kvm/parameters/halt_poll_ns";

	if (!a_guest(context) || facts_number_at(context->facts, 0, path) != 0)
		return;
	check_report(context, FINDING_INFO, check_file_line(context, 0, path),
		     "a virtual CPU that halts is put to sleep at once: waking it costs a few microseconds each time",
		     check_text("echo 200000 > %s", path));
}

static void judge_apicv(struct check_context *context)
{
	static const char *const paths[] = { "/sys/module/kvm_intel/parameters/enable_apicv",
					     "/sys/module/kvm_amd/parameters/avic" };

	for (int i = 0; i < 2; i++) {
		const struct facts_file *file = facts_file_at(context->facts, 0, paths[i]);

		if (!a_guest(context) || !file || file->error || (file->text[0] != 'N' && file->text[0] != '0'))
			continue;
		check_report(context, FINDING_INFO, check_file_line(context, 0, paths[i]),
			     "without interrupt virtualisation each interrupt for a guest costs an exit",
			     check_text("load %s with %s=1", i ? "kvm_amd" : "kvm_intel", i ? "avic" : "enable_apicv"));
	}
}

/* --- the kernel's receive work ------------------------------------------------------------------------------------ */

/* Sum of a column (0…, hexadecimal) over all CPUs; -1 unknown. */
static int64_t softnet(const struct facts *facts, int column)
{
	const struct facts_file *file = facts_file_at(facts, 0, LOOKUP_SOFTNET);
	int64_t sum = 0;

	if (!file || file->error || !file->text[0])
		return FACTS_UNKNOWN;
	for (const char *line = file->text; line && *line;) {
		const char *word = line;

		for (int i = 0; i < column; i++) {
			word += strspn(word, "0123456789abcdef");
			word += *word == ' ';
		}
		sum += (int64_t)strtoull(word, NULL, 16);
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	return sum;
}

static void judge_softnet(struct check_context *context, int column, const char *what, enum finding_severity severity,
			  const char *rule, const char *fix)
{
	int64_t now = softnet(context->facts, column), then = context->earlier ? softnet(context->earlier, column) : -1;
	int since_boot = then < 0 || then > now;

	if (now < 0)
		check_report(context, FINDING_UNKNOWN, check_file_line(context, 0, LOOKUP_SOFTNET), rule, "");
	else if (now - (since_boot ? 0 : then) > 0)
		check_report(context, check_growth_severity(severity, since_boot),
			     check_text(LOOKUP_SOFTNET ": %s",
					check_growth_text(what, now - (since_boot ? 0 : then), since_boot)),
			     rule, fix);
}

static void judge_softnet_drops(struct check_context *context)
{
	judge_softnet(context, 1, "dropped", FINDING_FAIL,
		      "a CPU's backlog must take what interfaces without NAPI of their own, and RPS, hand to it",
		      "sysctl -w net.core.netdev_max_backlog=10000");
}

static void judge_softnet_squeezes(struct check_context *context)
{
	judge_softnet(context, 2, "time_squeeze", FINDING_WARN,
		      "a CPU's receive work should end because there is no more, not because its share of time is over",
		      "sysctl -w net.core.netdev_budget=600 net.core.netdev_budget_usecs=8000");
}

static const struct check rows[] = {
	{ .id = "cpu-steal",
	  .subject = CHECK_MACHINE,
	  .judge = judge_steal,
	  .explains = RUN_CAUSE_CPU,
	  .title = "The hypervisor takes CPU time away",
	  .why = "A virtual CPU that is off the processor for a millisecond lets a ring of 256 frames overflow "
		 "at any rate above 0.25 Mpps. Loss in bursts, two-humped latency and rates that change between "
		 "runs are its marks.",
	  .remedy = "Give the guest CPUs of its own, or lower the host's overcommitment.",
	  .effect = "steal below 2 %: bursts of loss end",
	  .reference = "cpu",
	  .weight = 0.7 },
	{ .id = "cpu-softirq-full",
	  .subject = CHECK_MACHINE,
	  .judge = judge_saturated,
	  .explains = RUN_CAUSE_CPU,
	  .title = "One CPU's network work fills it",
	  .why = "A flow, a veth chain or a queue is served by one CPU. When that is full the path's rate is one "
		 "over its cost a frame, whatever the other CPUs do.",
	  .remedy = "Spread flows over queues and CPUs, take work out of the hop, or bypass it with XDP.",
	  .effect = "the rate grows until the next limit",
	  .reference = "cpu",
	  .weight = 0.9 },
	{ .id = "cpu-program-full",
	  .subject = CHECK_MACHINE,
	  .judge = judge_program_saturated,
	  .explains = RUN_CAUSE_CPU,
	  .title = "A program fills a CPU",
	  .why = "Many \"limits\" are the generator: every adapter of a cluster seemed to be capped at 1.2 Mpps "
		 "by a generator on one core. The same holds for receivers.",
	  .remedy = "Let the sender use more cores or a faster way to send; hopcap run says when its own source is "
		    "the limit.",
	  .effect = "what is measured is the path",
	  .reference = "cpu",
	  .weight = 0.6 },
	{ .id = "cpu-governor",
	  .subject = CHECK_MACHINE,
	  .judge = judge_governor,
	  .explains = RUN_CAUSE_CPU,
	  .title = "CPUs change their clock with load",
	  .why = "A governor that follows load sees network work late and in bursts. Rates differ between runs "
		 "by what the clock did.",
	  .remedy = "Set the performance governor, at least while measuring.",
	  .effect = "rates that repeat, some per cent higher",
	  .reference = "cpu",
	  .weight = 0.3 },
	{ .id = "cpu-clock-capped",
	  .subject = CHECK_MACHINE,
	  .judge = judge_capped_frequency,
	  .explains = RUN_CAUSE_CPU,
	  .title = "CPUs may not run at their full clock",
	  .why = "A power profile or an agent has limited the maximum frequency; per-frame cost grows by the "
		 "same ratio.",
	  .remedy = "Raise the limit, or find the power profile that sets it.",
	  .effect = "cost per frame falls by the ratio of the clocks",
	  .reference = "cpu",
	  .weight = 0.4 },
	{ .id = "cpu-idle-states",
	  .subject = CHECK_MACHINE,
	  .judge = judge_idle_states,
	  .explains = RUN_CAUSE_CPU,
	  .title = "CPUs sleep deeply",
	  .why = "Waking from a deep state takes ten to hundreds of microseconds. XDP forwarding took 82 us at "
		 "100 frames a second and 7 us at a million, for that reason.",
	  .remedy = "Keep CPUs awake for latency runs, or report the rate beside the latency.",
	  .effect = "low-rate latency falls to that of higher rates",
	  .reference = "latency",
	  .weight = 0.2 },
	{ .id = "cpu-clocksource",
	  .subject = CHECK_MACHINE,
	  .judge = judge_clocksource,
	  .explains = RUN_CAUSE_CPU,
	  .title = "Reading the clock is slow",
	  .why = "Stamps, timers and schedulers read the clock all the time. The TSC takes about 30 ns; a clock "
		 "behind a bus or an emulated one a microsecond and more, several times a frame.",
	  .remedy = "Find out in the kernel log why the TSC was given up; on a virtual machine give it a stable "
		    "one.",
	  .effect = "each stamp costs 30 ns",
	  .reference = "clocks",
	  .weight = 0.4 },
	{ .id = "clock-guest",
	  .subject = CHECK_MACHINE,
	  .judge = judge_guest_clock,
	  .title = "No common clock with the host",
	  .why = "Times of one direction across the border of a virtual machine need both clocks related. The "
		 "hypervisor's PTP clock does that to microseconds; without it only round trips can be trusted.",
	  .remedy = "Load the hypervisor's PTP driver in the guest.",
	  .effect = "one-way times with a stated bound",
	  .reference = "clocks",
	  .weight = 0.05 },
	{ .id = "cpu-nested",
	  .subject = CHECK_MACHINE,
	  .judge = judge_nested,
	  .explains = RUN_CAUSE_CPU,
	  .title = "A hypervisor inside a virtual machine",
	  .why = "The outer hypervisor handles the exits of the inner guest, so each notification costs two "
		 "transitions and more.",
	  .remedy = "Measure on the outer host; numbers of nested guests say little about others.",
	  .effect = "exits at their plain cost",
	  .reference = "virtio",
	  .weight = 0.4 },
	{ .id = "cpu-halt-poll",
	  .subject = CHECK_MACHINE,
	  .judge = judge_halt_poll,
	  .explains = RUN_CAUSE_CPU,
	  .title = "Halted guests are not polled for",
	  .why = "KVM can look a while for work before it gives a halted virtual CPU's core away; at low rates "
		 "that saves the scheduler's few microseconds a wake-up.",
	  .remedy = "Set halt_poll_ns for latency runs; it costs CPU.",
	  .effect = "low-rate latency falls by some microseconds",
	  .reference = "latency",
	  .weight = 0.05 },
	{ .id = "cpu-interrupt-virtualisation",
	  .subject = CHECK_MACHINE,
	  .judge = judge_apicv,
	  .explains = RUN_CAUSE_CPU,
	  .title = "Interrupts of guests cost exits",
	  .why = "APICv and AVIC deliver interrupts to a running guest without leaving it.",
	  .remedy = "Switch it on when the module is loaded, unless it is off for a reason (some machines, nested "
		    "guests).",
	  .effect = "fewer exits per second",
	  .reference = "virtio",
	  .weight = 0.1 },
	{ .id = "softnet-drops",
	  .subject = CHECK_MACHINE,
	  .judge = judge_softnet_drops,
	  .explains = RUN_CAUSE_QUEUE,
	  .title = "The per-CPU backlog overflows",
	  .why = "Loopback, veth without NAPI, tunnels and RPS put frames on a CPU's backlog of 1000. When that "
		 "CPU does not keep up they are dropped, and no interface counts them.",
	  .remedy = "Find out which CPU; spread the work. A longer backlog helps bursts only.",
	  .effect = "the second column of softnet_stat stands still",
	  .reference = "drops",
	  .weight = 0.8 },
	{ .id = "softnet-squeezes",
	  .subject = CHECK_MACHINE,
	  .judge = judge_softnet_squeezes,
	  .title = "Receive work is cut short",
	  .why = "A CPU's receive work ends after 300 frames or two milliseconds and goes on later, with others "
		 "before it. Counted often, it says that one CPU has too much, or that the budget is small for "
		 "the rate.",
	  .remedy = "Spread the work over CPUs first; then raise the budget.",
	  .effect = "the third column of softnet_stat stands still",
	  .reference = "cpu",
	  .weight = 0.4 },
};

CHECK_TABLE(checks_cpu, rows);
