// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Checks of how a virtio NIC is set up, from the command line of its QEMU and from the features that the guest's driver
 * negotiated: queues, vectors, rings, buffers, notification, memory. Called through doctor/tables.c.
 */
#include <stdio.h>
#include <string.h>

#include "doctor/backend_case.h"
#include "doctor/lookup.h"
#include "doctor/tables.h"

#define JUMBO_BYTES 9000
#define DEFAULT_RING 256
/* VIRTIO_NET_F_* and VIRTIO_RING_F_* */
#define BIT_MERGEABLE 15
#define BIT_INDIRECT 28
#define BIT_EVENT_INDEX 29

/* --- queues ------------------------------------------------------------------------------------------------------- */

static int fewer(int a, int b)
{
	return a < b ? a : b;
}

static void judge_single_queue(struct check_context *context, const struct backend_case *backend)
{
	int pairs, cpus = backend->command->vcpus;

	if (!backend->backend || !qemu_is_virtio(backend->nic) || cpus <= 1)
		return;
	if (!backend_is_virtio_tap(backend) && strcmp(backend->backend->type, "vhost-user"))
		return;
	pairs = qemu_queue_pairs(backend->command, backend->backend);
	if (pairs > 1 && !qemu_switch(backend->command, backend->nic, "mq", 0))
		check_report(context, FINDING_WARN,
			     check_text("%s has %d queues, but %s has no mq=on", backend_quote(backend->backend), pairs,
					backend_quote(backend->nic)),
			     "the guest uses the queues of its back end only with mq=on", "mq=on on the -device");
	else if (pairs == 1)
		check_report(context, FINDING_WARN,
			     check_text("%s: one queue pair; the guest has %d CPUs", backend_quote(backend->backend),
					cpus),
			     "one queue pair is one vhost thread: one CPU carries all flows",
			     check_text("queues=%d on the -netdev, mq=on,vectors=%d on the -device, and in the guest: "
					"ethtool -L IF combined %d",
					fewer(cpus, 8), 2 * fewer(cpus, 8) + 2, fewer(cpus, 8)));
}

static void judge_single_queues(struct check_context *context)
{
	backend_for_each_nic(context, judge_single_queue);
}

static void judge_vectors(struct check_context *context, const struct backend_case *backend)
{
	int64_t vectors = qemu_number(backend->command, backend->nic, "vectors");
	int wanted;

	if (!backend->backend || !qemu_is_virtio(backend->nic) || vectors < 0)
		return;
	wanted = 2 * qemu_queue_pairs(backend->command, backend->backend) + 2;
	if (vectors >= wanted)
		return;
	check_report(context, FINDING_WARN,
		     check_text("%s: vectors=%lld; %d queue pairs need %d", backend_quote(backend->nic),
				(long long)vectors, (wanted - 2) / 2, wanted),
		     "a queue without a vector of its own shares one interrupt with all others",
		     check_text("vectors=%d (or leave it out)", wanted));
}

static void judge_all_vectors(struct check_context *context)
{
	backend_for_each_nic(context, judge_vectors);
}

/* --- rings and buffers -------------------------------------------------------------------------------------------- */

static void judge_ring(struct check_context *context, const struct backend_case *backend)
{
	int64_t ring = qemu_number(backend->command, backend->nic, "rx_queue_size"), drops;
	int since_boot;

	if (!backend->tap || !qemu_is_virtio(backend->nic) || ring > DEFAULT_RING)
		return;
	drops = check_growth_of(context, backend->tap, "tx_dropped", &since_boot);
	if (drops <= 0)
		return;
	check_report(context, check_growth_severity(FINDING_WARN, since_boot),
		     check_text("%s of %s; %s: rx_queue_size %s", check_growth_text("tx_dropped", drops, since_boot),
				check_link_name(context, backend->tap), backend_quote(backend->nic),
				ring < 0 ? "is not given, so 256" : "is 256 or less"),
		     "the guest's receive ring holds 256 frames: 0.3 ms at 10 Gbit/s",
		     "rx_queue_size=1024 on the -device");
}

static void judge_rings(struct check_context *context)
{
	backend_for_each_nic(context, judge_ring);
}

static void judge_host_mtu(struct check_context *context, const struct backend_case *backend)
{
	int64_t mtu = qemu_number(backend->command, backend->nic, "host_mtu");

	if (!backend->tap || backend->tap->mtu_bytes < 0 || mtu <= 0 || mtu == backend->tap->mtu_bytes)
		return;
	check_report(context, mtu > backend->tap->mtu_bytes ? FINDING_FAIL : FINDING_INFO,
		     check_text("%s: host_mtu=%lld; mtu of %s is %d", backend_quote(backend->nic), (long long)mtu,
				check_link_name(context, backend->tap), backend->tap->mtu_bytes),
		     "the guest takes host_mtu for its own: what is larger than the tap's MTU is dropped at the tap",
		     check_text("%sip link set dev %s mtu %lld", check_enter(context, backend->tap->netns),
				backend->tap->name, (long long)mtu));
}

static void judge_host_mtus(struct check_context *context)
{
	backend_for_each_nic(context, judge_host_mtu);
}

/* Switches of the -device that are on unless someone put them off. */
static void judge_switched_off(struct check_context *context, const struct backend_case *backend)
{
	static const struct {
		const char *name, *rule;
		enum finding_severity severity;
	} switches[] = {
		{ "mrg_rxbuf", "without mergeable buffers each receive buffer must hold 64 KB: fewer fit the ring",
		  FINDING_WARN },
		{ "event_idx", "without event indices there is a notification a frame", FINDING_WARN },
		{ "indirect_desc", "without indirect descriptors a unit of many pieces takes as many ring entries",
		  FINDING_WARN },
		{ "csum", "the guest must checksum what it sends", FINDING_WARN },
		{ "guest_csum", "the host must checksum all it gives to the guest", FINDING_WARN },
		{ "host_tso4", "the guest must cut what it sends itself, a frame at a time", FINDING_FAIL },
		{ "guest_tso4", "the host must cut all it gives to the guest; only native XDP in the guest wants that",
		  FINDING_WARN },
		{ "gso", "the guest must cut what it sends itself, a frame at a time", FINDING_FAIL },
	};

	for (unsigned int i = 0; qemu_is_virtio(backend->nic) && i < sizeof(switches) / sizeof(switches[0]); i++)
		if (!qemu_switch(backend->command, backend->nic, switches[i].name, 1))
			check_report(context, switches[i].severity,
				     check_text("%s: %s=off", backend_quote(backend->nic), switches[i].name),
				     switches[i].rule, check_text("%s=on (or leave it out)", switches[i].name));
}

static void judge_switches(struct check_context *context)
{
	backend_for_each_nic(context, judge_switched_off);
}

/* --- vhost -------------------------------------------------------------------------------------------------------- */

static void judge_poll(struct check_context *context, const struct backend_case *backend)
{
	if (!backend_is_virtio_tap(backend) || !qemu_wants_vhost(backend->command, backend->backend) ||
	    qemu_number(backend->command, backend->backend, "poll-us") > 0)
		return;
	check_report(context, FINDING_INFO, check_text("%s: no poll-us", backend_quote(backend->backend)),
		     "an idle vhost thread sleeps; waking it costs some microseconds a frame at low rates",
		     "for latency only: poll-us=50 on the -netdev");
}

static void judge_polls(struct check_context *context)
{
	backend_for_each_nic(context, judge_poll);
}

/* Memory that a vhost-user process can map: a backend with share=on, or memfd (shared by itself since it was asked for). */
static void judge_user_memory(struct check_context *context)
{
	struct qemu_command *command = backend_command(context);
	const struct qemu_part *memory = NULL, *backend = NULL, *user = NULL, *unshared = NULL;
	int shared = 0;

	while (command && (backend = qemu_next(command, backend, QEMU_BACKEND)))
		user = strcmp(backend->type, "vhost-user") ? user : backend;
	while (user && (memory = qemu_next(command, memory, QEMU_MEMORY))) {
		int default_share = !strcmp(memory->type, "memory-backend-memfd") ||
				    !strcmp(memory->type, "memory-backend-shm");

		if (qemu_switch(command, memory, "share", default_share))
			shared = 1;
		else
			unshared = memory;
	}
	if (user && !shared)
		check_report(
			context, FINDING_FAIL,
			unshared ? check_text("%s with %s: not shared", backend_quote(user), backend_quote(unshared))
				 : check_text("%s without a memory-backend that is shared", backend_quote(user)),
			"the process behind vhost-user maps the guest's memory: nothing passes when it is private",
			"-object memory-backend-file,id=mem,size=…,mem-path=/dev/hugepages,share=on -numa node,memdev=mem");
	qemu_command_free(command);
}

/* --- in the guest ------------------------------------------------------------------------------------------------- */

static int is_virtio_link(const struct check_context *context)
{
	return !strcmp(context->link->driver, "virtio_net");
}

static void judge_features(struct check_context *context)
{
	static const struct {
		int bit;
		const char *name, *rule, *fix;
	} bits[] = {
		{ BIT_MERGEABLE, "mergeable receive buffers",
		  "large units need buffers of 64 KB each when they cannot be put together",
		  "mrg_rxbuf=on at the host" },
		{ BIT_EVENT_INDEX, "event index", "without it there is a notification a frame",
		  "event_idx=on at the host" },
		{ BIT_INDIRECT, "indirect descriptors", "without them a unit of many pieces fills the ring",
		  "indirect_desc=on at the host" },
	};

	for (unsigned int i = 0; i < sizeof(bits) / sizeof(bits[0]); i++)
		if (lookup_virtio_bit(context, context->link, bits[i].bit) == 0)
			check_report(context, FINDING_WARN,
				     check_text(LOOKUP_VIRTIO_FEATURES ": bit %d (%s) is 0", context->link->name,
						bits[i].bit, bits[i].name),
				     bits[i].rule, bits[i].fix);
}

static const struct check rows[] = {
	{ .id = "qemu-single-queue",
	  .subject = CHECK_PROCESS,
	  .applies = backend_is_qemu,
	  .judge = judge_single_queues,
	  .explains = RUN_CAUSE_CPU,
	  .title = "One queue pair for a guest of several CPUs",
	  .why = "One flow never exceeds one vhost thread, but many flows can use several. In one report 16 streams went from "
		 "9.2 to 13.4 Gbit/s when a guest had been tuned, queues among it. Each queue costs some kernel memory.",
	  .remedy =
		  "queues=N at the -netdev, mq=on at the -device, N up to the guest's CPUs; the guest may have to switch them on. "
		  "Several vhost threads are then busy.",
	  .effect = "several flows use several CPUs",
	  .reference = "virtio",
	  .weight = 0.6 },
	{ .id = "qemu-vectors",
	  .subject = CHECK_PROCESS,
	  .applies = backend_is_qemu,
	  .judge = judge_all_vectors,
	  .explains = RUN_CAUSE_CPU,
	  .title = "Too few interrupt vectors for the queues",
	  .why = "Each queue wants a vector, two a pair, and configuration and control one each.",
	  .remedy = "vectors=2N+2, or leave it to QEMU. /proc/interrupts in the guest then has a line a queue.",
	  .effect = "an interrupt a queue, on the CPU that serves it",
	  .reference = "virtio",
	  .weight = 0.4 },
	{ .id = "qemu-rx-ring",
	  .subject = CHECK_PROCESS,
	  .applies = backend_is_qemu,
	  .judge = judge_rings,
	  .explains = RUN_CAUSE_QUEUE,
	  .title = "The guest's receive ring is at 256 and frames are lost in front of it",
	  .why = "When the guest is kept from running for longer than the ring lasts, the tap's queue fills, then drops.",
	  .remedy = "rx_queue_size=1024. It bridges pauses; a guest that is too slow on average loses as before.",
	  .effect = "fewer drops in bursts",
	  .reference = "virtio",
	  .weight = 0.4 },
	{ .id = "qemu-host-mtu",
	  .subject = CHECK_PROCESS,
	  .applies = backend_is_qemu,
	  .judge = judge_host_mtus,
	  .explains = RUN_CAUSE_MTU,
	  .title = "host_mtu and the tap's MTU differ",
	  .why = "host_mtu tells the guest which MTU to use; nothing makes the tap follow.",
	  .remedy = "Give both the same value.",
	  .effect = "large frames pass",
	  .reference = "mtu",
	  .weight = 0.9 },
	{ .id = "qemu-switched-off",
	  .subject = CHECK_PROCESS,
	  .applies = backend_is_qemu,
	  .judge = judge_switches,
	  .explains = RUN_CAUSE_CPU,
	  .title = "The command line switches features of the NIC off",
	  .why = "Offloads let units of 64 KB cross between guest and host, mergeable buffers and indirect descriptors keep the "
		 "rings from filling, event indices save exits. Switching guest_* off is what native XDP in the guest "
		 "needs, and costs ordinary TCP dearly.",
	  .remedy = "Leave them out, unless an experiment wants them so.",
	  .effect = "fewer exits, larger units",
	  .reference = "virtio",
	  .weight = 0.7 },
	{ .id = "qemu-poll",
	  .subject = CHECK_PROCESS,
	  .applies = backend_is_qemu,
	  .judge = judge_polls,
	  .explains = RUN_CAUSE_CPU,
	  .title = "vhost does not poll",
	  .why = "Polling for some microseconds before sleeping spares the wake-up: lower latency at low rates for more CPU.",
	  .remedy = "poll-us=50 where latency matters.",
	  .effect = "some microseconds less at low rates",
	  .reference = "virtio",
	  .weight = 0.1 },
	{ .id = "qemu-vhost-user-memory",
	  .subject = CHECK_PROCESS,
	  .applies = backend_is_qemu,
	  .judge = judge_user_memory,
	  .explains = RUN_CAUSE_CPU,
	  .title = "vhost-user without shared memory",
	  .why = "A user-space switch reads and writes the guest's buffers in place; the memory must be mapped by both.",
	  .remedy = "A shared memory back end, of huge pages for speed.",
	  .effect = "frames pass at all",
	  .reference = "virtio",
	  .weight = 1.0 },
	{ .id = "virtio-features",
	  .subject = CHECK_LINK,
	  .applies = is_virtio_link,
	  .judge = judge_features,
	  .explains = RUN_CAUSE_CPU,
	  .title = "The virtio device lacks a feature that makes it fast",
	  .why = "Features are negotiated when the driver loads; an old QEMU or a command line may withhold some.",
	  .remedy = "Switch them on at the host and start the guest again.",
	  .effect = "fewer exits, fewer drops with large units",
	  .reference = "virtio",
	  .weight = 0.4 },
};

CHECK_TABLE(checks_backend_virtio, rows);
