// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Checks of the host's side of a guest: taps, macvtaps, vhost and its threads. Called through doctor/tables.c.
 *
 * A vhost thread is known by its name, vhost-PID of its QEMU; how busy it is and how long it waits for a CPU is told by two
 * readings of the facts, so without an earlier one these checks are silent.
 */
#include <errno.h>
#include <string.h>

#include "doctor/backend_case.h"
#include "doctor/lookup.h"
#include "doctor/tables.h"

#define TUN_TAP 0x2
#define TUN_VNET_HEADER 0x4000
#define DEFAULT_TAP_QUEUE 1000
#define SATURATED 0.95
#define WAITING 0.02

/* --- taps --------------------------------------------------------------------------------------------------------- */

static int is_tap(const struct check_context *context)
{
	return !strcmp(context->link->kind, "tun") && context->link->tun_flags >= 0 &&
	       (context->link->tun_flags & TUN_TAP);
}

static int is_macvtap(const struct check_context *context)
{
	return !strcmp(context->link->kind, "macvtap");
}

/* A tap that a known QEMU holds is judged with its command line (qemu-vnet-header). */
static void judge_tap_header(struct check_context *context)
{
	const struct facts_process *holder;

	if (context->link->tun_flags & TUN_VNET_HEADER)
		return;
	holder = backend_holder(context->facts, context->link);
	if (holder && holder->is_qemu && holder->argument_count)
		return;
	check_report(context, FINDING_WARN,
		     check_text("/sys/class/net/%s/tun_flags: 0x%x, 0x4000 (vnet_hdr) is not set; %s",
				context->link->name, context->link->tun_flags,
				holder ? check_text("held by %s (%d)", holder->name, holder->pid)
				       : "nobody is seen to hold it"),
		     "without a vnet header whoever holds the tap gets and gives single frames with checksums made",
		     check_text("%sip tuntap add dev %s mode tap vnet_hdr", check_enter(context, context->link->netns),
				context->link->name));
}

static void judge_tap_overflow(struct check_context *context)
{
	const struct facts_link *link = context->link;
	int since_boot;
	int64_t drops = check_counter_growth(context, "tx_dropped", &since_boot);

	if (drops < 0)
		check_report(context, FINDING_UNKNOWN, check_growth_text("tx_dropped", drops, since_boot),
			     "a tap that overflows counts in tx_dropped", "");
	if (drops <= 0)
		return;
	check_report(
		context, check_growth_severity(FINDING_FAIL, since_boot),
		check_text("/sys/class/net/%s/statistics/%s; tx_queue_len %d", link->name,
			   check_growth_text("tx_dropped", drops, since_boot), link->tx_queue_len),
		"frames to the guest wait in the tap's queue: it overflows when the guest, or what serves it, is too slow",
		link->tx_queue_len <= DEFAULT_TAP_QUEUE
			? check_text(
				  "more queues, a larger rx_queue_size or a free CPU for the guest; for bursts: %sip link "
				  "set dev %s txqueuelen 10000",
				  check_enter(context, link->netns), link->name)
			: "more queues, a larger rx_queue_size or a free CPU for the guest");
}

/* Offloads of a tap mirror what the guest negotiated: someone put them off when the header is there but they are not. */
static void judge_tap_offloads(struct check_context *context)
{
	const struct facts_link *link = context->link;
	int no_checksum = facts_feature_of(link, "tx-checksum-ip-generic", NULL) == 0;
	int no_segments = facts_feature_of(link, "tx-tcp-segmentation", NULL) == 0;

	if (!(link->tun_flags & TUN_VNET_HEADER) || (!no_checksum && !no_segments))
		return;
	check_report(
		context, FINDING_WARN,
		check_text("ethtool -k %s: %s%s%s: off, with vnet_hdr (tun_flags 0x%x)", link->name,
			   no_checksum ? "tx-checksum-ip-generic" : "", no_checksum && no_segments ? ", " : "",
			   no_segments ? "tx-tcp-segmentation" : "", link->tun_flags),
		"the host cuts and checksums what the guest could take whole: a hub in QEMU, native XDP in the guest, "
		"guest_*=off on its command line, or ethtool put it off",
		check_text("%sethtool -K %s%s%s, or start the guest again", check_enter(context, link->netns),
			   link->name, no_checksum ? " tx on" : "", no_segments ? " tso on" : ""));
}

static void judge_macvtap_mode(struct check_context *context)
{
	const struct facts_link *link = context->link;

	if (strcmp(link->macvlan_mode, "vepa") && strcmp(link->macvlan_mode, "private"))
		return;
	check_report(
		context, FINDING_WARN,
		check_text("%s: macvtap mode %s", check_link_name(context, link), link->macvlan_mode),
		!strcmp(link->macvlan_mode, "vepa")
			? "vepa sends frames between guests of one host to the switch and back: a round over the wire"
			: "private lets guests of one host not reach each other at all",
		check_text("%sip link set dev %s type macvtap mode bridge", check_enter(context, link->netns),
			   link->name));
}

/* --- vhost -------------------------------------------------------------------------------------------------------- */

/* A tap of that name that is examined, in the namespace that is known or in any. */
static int holds_examined(const struct check_context *context, const struct facts_tun_holder *tun)
{
	for (int netns = 0; netns < context->facts->netns_count; netns++) {
		const struct facts_link *link = tun->netns < 0 || tun->netns == netns
							? facts_link_named(context->facts, netns, tun->interface)
							: NULL;

		if (link && check_is_examined(context, link))
			return 1;
	}
	return 0;
}

/* Guests behind what is examined: those that use no tap have no use for vhost. */
static int has_guests(const struct check_context *context)
{
	for (int i = 0; i < context->facts->process_count; i++) {
		const struct facts_process *process = &context->facts->processes[i];

		for (int k = 0; process->is_qemu && k < process->tun_count; k++)
			if (holds_examined(context, &process->tuns[k]))
				return 1;
	}
	return 0;
}

/* The device node may be there without the module: opening it loads the module, when there is one. */
static void judge_vhost_device(struct check_context *context)
{
	static const char path[] = "/sys/class/misc/vhost-net/dev";
	const struct facts_file *file = facts_file_at(context->facts, 0, path);

	if (!file || !file->error)
		return;
	check_report(context, file->error == ENOENT ? FINDING_WARN : FINDING_UNKNOWN, check_file_line(context, 0, path),
		     "while the module vhost_net is not loaded no guest is served by vhost", "modprobe vhost_net");
}

static void judge_zero_copy(struct check_context *context)
{
	static const char path[] = "/sys/module/vhost_net/parameters/experimental_zcopytx";

	if (facts_number_at(context->facts, 0, path) != 0)
		return;
	check_report(
		context, FINDING_INFO, check_file_line(context, 0, path),
		"vhost copies what guests send; without the copy a host saves up to 15 % of CPU on large frames that leave it",
		"modprobe -r vhost_net && modprobe vhost_net experimental_zcopytx=1 (all guests stopped)");
}

static int is_vhost(const struct facts_thread *thread)
{
	return !strncmp(thread->name, "vhost-", 6);
}

static int is_vcpu(const struct facts_thread *thread)
{
	return !strncmp(thread->name, "CPU ", 4) && strstr(thread->name, "/KVM");
}

static const struct facts_thread *thread_at(const struct facts_process *process, int tid)
{
	for (int i = 0; i < process->thread_count; i++)
		if (process->threads[i].tid == tid)
			return &process->threads[i];
	return NULL;
}

typedef void thread_judge(struct check_context *context, const struct facts_thread *now,
			  const struct facts_thread *then, double seconds);

static void for_each_vhost(struct check_context *context, thread_judge *judge)
{
	const struct facts_process *now = context->process;
	double seconds;
	const struct facts_process *then = backend_earlier(context, &seconds);

	for (int i = 0; then && i < now->thread_count; i++) {
		const struct facts_thread *before = thread_at(then, now->threads[i].tid);

		if (before && is_vhost(&now->threads[i]) && is_vhost(before))
			judge(context, &now->threads[i], before, seconds);
	}
}

static void judge_saturated(struct check_context *context, const struct facts_thread *now,
			    const struct facts_thread *then, double seconds)
{
	double share;

	if (now->cpu_time_ms < then->cpu_time_ms)
		return;
	share = (double)(now->cpu_time_ms - then->cpu_time_ms) / 1000 / seconds;
	if (share > SATURATED)
		check_report(context, FINDING_FAIL,
			     check_text("/proc/%d/stat: %s had a CPU for %.0f %% of %.1f s", now->tid, now->name,
					share < 1 ? 100 * share : 100, seconds),
			     "a vhost thread that is never idle is what caps its queue pair",
			     "more queue pairs for more flows; for one flow vhost-user or a VF");
}

static void judge_all_saturated(struct check_context *context)
{
	for_each_vhost(context, judge_saturated);
}

static void judge_waiting(struct check_context *context, const struct facts_thread *now,
			  const struct facts_thread *then, double seconds)
{
	double share;

	if (now->wait_ns < then->wait_ns)
		return;
	share = (double)(now->wait_ns - then->wait_ns) / 1e9 / seconds;
	if (share > WAITING)
		check_report(context, FINDING_WARN,
			     check_text("/proc/%d/schedstat: %s waited for a CPU for %.1f %% of %.1f s", now->tid,
					now->name, 100 * share, seconds),
			     "while the vhost thread waits, rings fill and latency grows",
			     check_text("taskset -cp CPUS %d, with CPUS that nobody else uses", now->tid));
}

static void judge_all_waiting(struct check_context *context)
{
	for_each_vhost(context, judge_waiting);
}

/* --- where vhost threads run -------------------------------------------------------------------------------------------- */

/* The CPUs of one core; the CPU alone when siblings are not known. */
static void core_of(const struct check_context *context, int cpu, struct lookup_cpus *core)
{
	const char *path = check_text("/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
	const struct facts_file *file = facts_file_at(context->facts, 0, path);

	if (!file || file->error || lookup_cpu_list(file->text, core))
		lookup_cpu_list(check_text("%d", cpu), core);
}

/* A vCPU that is pinned to one core, on which the vhost thread must run as well; NULL when there is none. */
static const struct facts_thread *rival_of(const struct check_context *context, const struct facts_thread *vhost)
{
	struct lookup_cpus allowed, pinned, core;

	if (lookup_cpu_list(vhost->cpus_allowed, &allowed) || !lookup_cpu_count(&allowed))
		return NULL;
	for (int i = 0; i < context->process->thread_count; i++) {
		const struct facts_thread *vcpu = &context->process->threads[i];
		int cpu = 0, fits = 1;

		if (!is_vcpu(vcpu) || lookup_cpu_list(vcpu->cpus_allowed, &pinned) || lookup_cpu_count(&pinned) != 1)
			continue;
		while (!lookup_cpu_is_in(&pinned, cpu))
			cpu++;
		core_of(context, cpu, &core);
		for (unsigned int word = 0; word < LOOKUP_MAX_CPUS / 64; word++)
			fits &= !(allowed.words[word] & ~core.words[word]);
		if (fits)
			return vcpu;
	}
	return NULL;
}

static void judge_placement(struct check_context *context)
{
	for (int i = 0; i < context->process->thread_count; i++) {
		const struct facts_thread *vhost = &context->process->threads[i];
		const struct facts_thread *rival = is_vhost(vhost) ? rival_of(context, vhost) : NULL;

		if (rival)
			check_report(context, FINDING_WARN,
				     check_text("/proc/%d/status: %s may run on %s only; %s is pinned to %s",
						vhost->tid, vhost->name, vhost->cpus_allowed, rival->name,
						rival->cpus_allowed),
				     "a vhost thread on the core of a vCPU takes turns with the guest that it serves",
				     check_text("virsh emulatorpin, or taskset -cp CPUS %d with CPUS of another core",
						vhost->tid));
	}
}

static const struct check rows[] = {
	{ .id = "tap-vnet-header",
	  .subject = CHECK_LINK,
	  .applies = is_tap,
	  .judge = judge_tap_header,
	  .title = "A tap without vnet header",
	  .why = "Whoever holds such a tap (a user-space switch, a VM monitor) moves single frames with finished checksums: 3 to 4 "
		 "Gbit/s where units of 64 KB would make line rate.",
	  .remedy = "Make the tap with vnet_hdr and let the holder use it (TUNSETVNETHDRSZ, TUNSETOFFLOAD).",
	  .effect = "2 to 3 times the throughput of TCP",
	  .reference = "tap",
	  .weight = 0.7 },
	{ .id = "tap-overflow",
	  .subject = CHECK_LINK,
	  .applies = is_tap,
	  .judge = judge_tap_overflow,
	  .explains = RUN_CAUSE_QUEUE,
	  .title = "The tap's queue overflows",
	  .why = "Frames to the guest wait in a ring of txqueuelen entries until vhost or QEMU fetches them. Drops here mean that "
		 "the guest's side is slower than what arrives; the cause is behind the tap.",
	  .remedy =
		  "Look at the vhost thread and the guest's CPUs first. A longer queue only takes longer bursts, and adds latency.",
	  .effect = "tx_dropped stands still",
	  .reference = "tap",
	  .weight = 0.8 },
	{ .id = "tap-offloads",
	  .subject = CHECK_LINK,
	  .applies = is_tap,
	  .judge = judge_tap_offloads,
	  .is_tcp_only = 1,
	  .title = "The tap's offloads are off although it has a vnet header",
	  .why = "The holder of a tap says what it can take (TUNSETOFFLOAD), and ethtool can take it away again.",
	  .remedy = "Find out who put them off; compare with the guest's own `ethtool -k`.",
	  .effect = "large units pass to the guest",
	  .reference = "tap",
	  .weight = 0.6 },
	{ .id = "macvtap-mode",
	  .subject = CHECK_LINK,
	  .applies = is_macvtap,
	  .judge = judge_macvtap_mode,
	  .title = "Macvtap does not switch between guests of this host",
	  .why = "In mode vepa all frames leave by the wire and come back from a switch that must be able to reflect; in mode "
		 "private they do not come back.",
	  .remedy = "Mode bridge, unless the switch is to see all traffic.",
	  .effect = "traffic between guests stays in the host",
	  .reference = "macvtap",
	  .weight = 0.5 },
	{ .id = "vhost-device",
	  .subject = CHECK_MACHINE,
	  .applies = has_guests,
	  .judge = judge_vhost_device,
	  .explains = RUN_CAUSE_CPU,
	  .title = "vhost_net is not loaded",
	  .why = "QEMU goes on without vhost when it cannot open the device, and says so in its log only.",
	  .remedy = "Load vhost_net at boot; start the guests again.",
	  .effect = "guests can have vhost",
	  .reference = "qemu",
	  .weight = 0.9 },
	{ .id = "vhost-zero-copy",
	  .subject = CHECK_MACHINE,
	  .applies = has_guests,
	  .judge = judge_zero_copy,
	  .explains = RUN_CAUSE_CPU,
	  .title = "vhost copies what guests send",
	  .why = "Zero-copy transmission saves host CPU when guests send large frames to the outside. It is off by default "
		 "because small frames and traffic between guests suffer.",
	  .remedy = "Try it where guests mainly send large frames.",
	  .effect = "up to 15 % less host CPU",
	  .reference = "qemu",
	  .weight = 0.1 },
	{ .id = "vhost-saturated",
	  .subject = CHECK_PROCESS,
	  .judge = judge_all_saturated,
	  .explains = RUN_CAUSE_CPU,
	  .title = "A vhost thread is never idle",
	  .why = "One vhost thread serves one queue pair in both directions. When it has a CPU all the time, its queue pair "
		 "passes no more.",
	  .remedy = "More queue pairs help many flows, not one.",
	  .effect = "the cap moves to the next hop",
	  .reference = "qemu",
	  .weight = 1.0 },
	{ .id = "vhost-waiting",
	  .subject = CHECK_PROCESS,
	  .judge = judge_all_waiting,
	  .explains = RUN_CAUSE_CPU,
	  .title = "A vhost thread waits for a CPU",
	  .why = "The scheduler counts how long a thread that could run did not.",
	  .remedy = "Give it a CPU that vCPUs and others leave alone.",
	  .effect = "less loss in bursts, shorter tails of latency",
	  .reference = "qemu",
	  .weight = 0.7 },
	{ .id = "vhost-placement",
	  .subject = CHECK_PROCESS,
	  .judge = judge_placement,
	  .explains = RUN_CAUSE_CPU,
	  .title = "A vhost thread is bound to the core of a vCPU",
	  .why = "Guest and vhost thread then take turns: the guest waits while its frames are copied, and the other way round.",
	  .remedy = "Pin them to different cores of one NUMA node.",
	  .effect = "steadier, higher rates",
	  .reference = "qemu",
	  .weight = 0.6 },
};

CHECK_TABLE(checks_backend_host, rows);
