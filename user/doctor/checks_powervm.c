// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Checks of a Linux partition on PowerVM: its virtual Ethernet adapters (ibmveth). What stands behind the hypervisor, the VIOS and its
 * bridge, is checks_powervm_vios.c's. Called through doctor/tables.c.
 *
 * The hypervisor copies each frame from the sender's buffer into one that the receiver posted before; a receiver without a free
 * buffer of a fitting size loses it, and both ends count that. Buffers come in five pools by size, of which small ones alone are active
 * at first.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/lookup.h"
#include "doctor/tables.h"

#define POOLS 5
#define POOL_MAX_BUFFERS 4096
#define KERNEL_MANY_TX_QUEUES 6001

static int is_ibmveth(const struct check_context *context)
{
	return !strcmp(context->link->driver, "ibmveth");
}

static const char *pool_path(const struct check_context *context, int pool, const char *member)
{
	return check_text("/sys/class/net/%s/device/pool%d/%s", context->link->name, pool, member);
}

static int64_t pool_number(const struct check_context *context, int pool, const char *member)
{
	return facts_number_at(context->facts, context->link->netns, pool_path(context, pool, member));
}

static void judge_tso(struct check_context *context)
{
	int fixed = 0;

	if (facts_feature_of(context->link, "tx-tcp-segmentation", &fixed) != 0)
		return;
	check_report(context, FINDING_WARN,
		     check_text("ethtool -k %s: tx-tcp-segmentation: off%s", context->link->name,
				fixed ? " [fixed]" : ""),
		     "with large send a unit of 64 KB crosses the hypervisor and the SEA at the price of one frame",
		     check_text("%sethtool -K %s tso on (and largesend=1 at the SEA)",
				check_enter(context, context->link->netns), context->link->name));
}

static void judge_firmware(struct check_context *context)
{
	if (facts_counter_of(context->link, "fw_enabled_large_send") != 0)
		return;
	check_report(context, FINDING_INFO, check_text("ethtool -S %s: fw_enabled_large_send: 0", context->link->name),
		     "platform large send needs POWER8 firmware; before that only the old method works",
		     "module parameter old_large_send=1, with a VIOS that knows it");
}

static void judge_large_unused(struct check_context *context)
{
	int sent_since, received_since, frames_since;
	int64_t sent = check_counter_growth(context, "tx_large_packets", &sent_since);
	int64_t received = check_counter_growth(context, "rx_large_packets", &received_since);
	int64_t frames = check_counter_growth(context, "tx_packets", &frames_since);

	if (sent != 0 || received != 0 || frames < 100000)
		return;
	check_report(context, check_growth_severity(FINDING_WARN, sent_since),
		     check_text("ethtool -S %s: %s, rx_large_packets: 0; %s", context->link->name,
				check_growth_text("tx_large_packets", sent, sent_since),
				check_growth_text("tx_packets", frames, frames_since)),
		     "no large unit crossed the hypervisor: each frame paid for itself",
		     check_text("%sethtool -K %s tso on; at the SEA largesend=1",
				check_enter(context, context->link->netns), context->link->name));
}

/* The active pool with most buffers below the maximum is what should grow. */
static const char *enlarge_pools(const struct check_context *context)
{
	for (int pool = POOLS - 1; pool >= 0; pool--) {
		int64_t count = pool_number(context, pool, "num");

		if (pool_number(context, pool, "active") == 1 && count > 0 && count < POOL_MAX_BUFFERS)
			return check_text("echo %d >%s", POOL_MAX_BUFFERS, pool_path(context, pool, "num"));
	}
	return check_text("echo 1 >%s", pool_path(context, 2, "active"));
}

static void judge_counter(struct check_context *context, const char *counter, enum finding_severity severity,
			  const char *rule, const char *fix)
{
	int since_boot;
	int64_t growth = check_counter_growth(context, counter, &since_boot);

	if (growth > 0)
		check_report(context, check_growth_severity(severity, since_boot),
			     check_text("ethtool -S %s: %s", context->link->name,
					check_growth_text(counter, growth, since_boot)),
			     rule, fix);
}

static void judge_no_buffer(struct check_context *context)
{
	judge_counter(context, "rx_no_buffer", FINDING_FAIL,
		      "the hypervisor found no receive buffer posted here and dropped the frame",
		      enlarge_pools(context));
}

static void judge_replenish(struct check_context *context)
{
	static const char *const counters[] = { "replenish_no_mem", "replenish_add_buff_failure" };

	for (int i = 0; i < 2; i++)
		judge_counter(context, counters[i], FINDING_FAIL,
			      "receive buffers could not be given back to the hypervisor: soon it finds none",
			      "more memory for the partition; look at Active Memory Sharing's entitlement");
}

static void judge_send_failed(struct check_context *context)
{
	judge_counter(context, "tx_send_failed", FINDING_WARN,
		      "the hypervisor refused frames: the receiver has no buffer, or nobody has that VLAN and MAC",
		      "look at the receiving partitions (rx_no_buffer) and at the VIOS (Hypervisor Receive Failures)");
}

static void judge_tx_queues(struct check_context *context)
{
	const struct facts_link *link = context->link;
	int kernel = lookup_kernel(context->facts);

	if (link->tx_queues != 1 || context->facts->cpu_count <= 1)
		return;
	check_report(context, FINDING_WARN,
		     check_text("%s: 1 transmit queue, %d CPUs; kernel %s", check_link_name(context, link),
				context->facts->cpu_count, context->facts->kernel),
		     "each frame is a hypervisor call: with one queue one CPU makes all of them",
		     kernel && kernel < KERNEL_MANY_TX_QUEUES
			     ? "kernel 6.1 or newer: several queues, and no DMA mapping a frame"
			     : check_text("%sethtool -L %s tx 8", check_enter(context, link->netns), link->name));
}

/* The smallest pool whose buffers hold a frame of the MTU must be active, or a larger one. */
static void judge_pools(struct check_context *context)
{
	int64_t needed = context->link->mtu_bytes + 22; /* Ethernet header with tag, and the hypervisor's correlator */
	int known = 0;

	if (context->link->mtu_bytes < 0)
		return;
	for (int pool = 0; pool < POOLS; pool++) {
		int64_t size = pool_number(context, pool, "size"), active = pool_number(context, pool, "active");

		known |= size > 0 && active >= 0;
		if (active == 1 && size >= needed)
			return;
	}
	for (int pool = 0; known && pool < POOLS; pool++) {
		if (pool_number(context, pool, "size") < needed)
			continue;
		check_report(
			context, FINDING_FAIL,
			check_text("mtu of %s is %d; %s", context->link->name, context->link->mtu_bytes,
				   check_file_line(context, context->link->netns, pool_path(context, pool, "active"))),
			"no active pool has buffers that hold a frame of this MTU: such frames are dropped",
			check_text("echo 1 >%s", pool_path(context, pool, "active")));
		return;
	}
}

/* "partition_entitled_capacity=50" of lparcfg; -1. */
static int64_t lparcfg_number(const struct facts *facts, const char *name)
{
	const struct facts_file *file = facts_file_at(facts, 0, "/proc/ppc64/lparcfg");
	size_t length = strlen(name);

	for (const char *line = file && !file->error ? file->text : NULL; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, name, length) && line[length] == '=')
			return strtoll(line + length + 1, NULL, 10);
	}
	return FACTS_UNKNOWN;
}

static void judge_entitlement(struct check_context *context)
{
	int64_t capped = lparcfg_number(context->facts, "capped");
	int64_t entitled = lparcfg_number(context->facts, "partition_entitled_capacity");
	int64_t active = lparcfg_number(context->facts, "partition_active_processors");

	if (capped != 1 || entitled <= 0 || active <= 0 || entitled >= 100 * active)
		return;
	check_report(context, FINDING_WARN,
		     check_text("/proc/ppc64/lparcfg: capped=1, partition_entitled_capacity=%lld, "
				"partition_active_processors=%lld",
				(long long)entitled, (long long)active),
		     "the copy of each frame is made on the sender's processor time: entitlement is bandwidth",
		     "uncap the partition or raise its entitlement at the HMC");
}

static int is_powervm(const struct check_context *context)
{
	return facts_file_at(context->facts, 0, "/proc/ppc64/lparcfg") != NULL;
}

static int is_native_missing(const struct check_context *context)
{
	return lookup_is_one_of(context->link, "ibmveth ibmvnic");
}

static void judge_no_xdp(struct check_context *context)
{
	check_report(context, FINDING_INFO, check_text("driver of %s: %s", context->link->name, context->link->driver),
		     "this driver has no native XDP: points on it are tc or generic, and AF_XDP copies",
		     "use :tc points here");
}

static const struct check rows[] = {
	{ .id = "lpar-tso",
	  .subject = CHECK_LINK,
	  .applies = is_ibmveth,
	  .judge = judge_tso,
	  .is_tcp_only = 1,
	  .title = "Large send is off in the partition",
	  .why = "Without it each frame of 1500 costs a hypervisor call, a copy and a pass through the SEA. It is the largest "
		 "single step on this path. Some distributions switched it off because of receivers that could not take "
		 "large units.",
	  .remedy = "Switch TSO on together with largesend at the SEA; watch tx_large_packets grow.",
	  .effect = "several times the throughput of TCP through the SEA",
	  .reference = "powervm",
	  .weight = 0.9 },
	{ .id = "lpar-firmware-large-send",
	  .subject = CHECK_LINK,
	  .applies = is_ibmveth,
	  .judge = judge_firmware,
	  .is_tcp_only = 1,
	  .title = "The firmware has no platform large send",
	  .why = "Platform large send is negotiated with the hypervisor since POWER8. Older methods hide the segment size in the "
		 "checksum field and need matching releases at all ends.",
	  .remedy = "Firmware and VIOS of matching levels.",
	  .effect = "large send works with all neighbours",
	  .reference = "powervm",
	  .weight = 0.3 },
	{ .id = "lpar-large-unused",
	  .subject = CHECK_LINK,
	  .applies = is_ibmveth,
	  .judge = judge_large_unused,
	  .is_tcp_only = 1,
	  .title = "No large unit was ever sent or received",
	  .why = "The feature may be on and yet unused: the SEA refuses, or the application sends small pieces.",
	  .remedy = "Under a TCP load tx_large_packets must grow.",
	  .effect = "fewer, larger units",
	  .reference = "powervm",
	  .weight = 0.7 },
	{ .id = "lpar-no-buffer",
	  .subject = CHECK_LINK,
	  .applies = is_ibmveth,
	  .judge = judge_no_buffer,
	  .explains = RUN_CAUSE_QUEUE,
	  .title = "The hypervisor finds no receive buffer",
	  .why = "The partition must post buffers before frames come. Bursts use them up; the sender's side counts the same loss as "
		 "Receiver Failures.",
	  .remedy = "Activate larger pools and raise num, at most 4096 a pool.",
	  .effect = "no more hypervisor receive failures",
	  .reference = "powervm",
	  .weight = 0.9 },
	{ .id = "lpar-replenish",
	  .subject = CHECK_LINK,
	  .applies = is_ibmveth,
	  .judge = judge_replenish,
	  .title = "Receive buffers cannot be replenished",
	  .why = "Without memory, or without I/O entitlement for it, no buffer can be posted.",
	  .remedy = "Memory for the partition.",
	  .effect = "the counters stand still",
	  .reference = "powervm",
	  .weight = 0.9 },
	{ .id = "lpar-send-failed",
	  .subject = CHECK_LINK,
	  .applies = is_ibmveth,
	  .judge = judge_send_failed,
	  .title = "The hypervisor refuses frames that are sent",
	  .why = "The loss is at the receiver, but the sender's call returns it.",
	  .remedy = "Find the receiver: another partition, or the trunk adapter of the VIOS.",
	  .effect = "tx_send_failed stands still",
	  .reference = "powervm",
	  .weight = 0.6 },
	{ .id = "lpar-one-tx-queue",
	  .subject = CHECK_LINK,
	  .applies = is_ibmveth,
	  .judge = judge_tx_queues,
	  .title = "One transmit queue",
	  .why = "Since kernel 6.1 the driver has up to 16 transmit queues and copies into buffers mapped once, worth 3 to 5 "
		 "Gbit/s; before, every frame was mapped and unmapped, on one queue.",
	  .remedy = "A newer kernel, or ethtool -L.",
	  .effect = "several CPUs can be in the hypervisor at once",
	  .reference = "powervm",
	  .weight = 0.6 },
	{ .id = "lpar-pool-size",
	  .subject = CHECK_LINK,
	  .applies = is_ibmveth,
	  .judge = judge_pools,
	  .explains = RUN_CAUSE_QUEUE,
	  .title = "No receive pool fits the MTU",
	  .why = "Pools hold buffers of 512 bytes, 2, 16, 32 and 64 KB; by default the first two are active, which hold frames of "
		 "1500 but none of 9000.",
	  .remedy = "Activate the pool of 16 KB.",
	  .effect = "large frames arrive",
	  .reference = "powervm",
	  .weight = 1.0 },
	{ .id = "lpar-entitlement",
	  .subject = CHECK_MACHINE,
	  .applies = is_powervm,
	  .judge = judge_entitlement,
	  .title = "The partition is capped below its processors",
	  .why = "Virtual Ethernet is made of processor time, the sender's and the VIOS's. A capped partition loses the "
		 "processor when its entitlement is used up, in the middle of a transfer.",
	  .remedy = "Uncapped with a fair weight, or more entitlement; the same for the VIOS.",
	  .effect = "throughput follows the processors",
	  .reference = "powervm",
	  .weight = 0.5 },
	{ .id = "lpar-no-native-xdp",
	  .subject = CHECK_LINK,
	  .applies = is_native_missing,
	  .judge = judge_no_xdp,
	  .title = "ibmveth and ibmvnic have no native XDP",
	  .why = "Neither driver implements it, whatever the kernel's release.",
	  .remedy = "tc points count and stamp as well.",
	  .effect = "points that work, at the price of a socket buffer a frame",
	  .reference = "powervm",
	  .weight = 0.1 },
};

CHECK_TABLE(checks_powervm, rows);
