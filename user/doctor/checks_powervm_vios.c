// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Checks of pasted text about a Virtual I/O Server: its Shared Ethernet Adapter (SEA) and the adapters that it bridges. Called
 * through doctor/tables.c; claims as doctor/evidence.h says.
 *
 * A SEA costs time per frame (two field figures fit 4.45 us a frame and 0.73 ns a byte: 2.2 Gbit/s in frames of 1500, 6.6 in frames of
 * 9000), so what matters most is how large the units are that cross it.
 */
#include <stdio.h>
#include <string.h>

#include "doctor/evidence.h"
#include "doctor/lookup.h"
#include "doctor/tables.h"

static const char *const pool_names[] = { "tiny", "small", "medium", "large", "huge" };

/* "sea_entstat.txt:94: Hypervisor Send Failures: 214" */
static const char *quote(const struct facts_claim *claim)
{
	return check_text("%s:%d: %.200s", claim->source, claim->line_number, claim->line);
}

static const char *name_of(const struct facts_claim *claim)
{
	return check_text("%s (%s)", claim->object[0] ? claim->object : "adapter", claim->kind);
}

static const struct facts_claim *beside(const struct check_context *context, const struct facts_claim *claim,
					const char *key)
{
	return evidence_find(context->facts, claim->kind, claim->source, claim->object, key);
}

/* Calls judge for the newest claim of each object with this key. */
static void for_each(struct check_context *context, const char *kind, const char *key,
		     void (*judge)(struct check_context *context, const struct facts_claim *claim))
{
	const struct facts_claim *claim = NULL;

	while ((claim = evidence_next(context->facts, claim, kind, key)))
		if (beside(context, claim, key) == claim)
			judge(context, claim);
}

static int is_yes(const struct facts_claim *claim)
{
	return !strcmp(claim->value, "yes") || !strcmp(claim->value, "1");
}

/* What a SEA has switched on, by its flags in entstat or its attributes: 1, 0, -1 not said. *said: the claim that says so. */
static int sea_has(const struct check_context *context, const char *object, const char *flag, const char *attribute,
		   const struct facts_claim **said)
{
	const struct facts_claim *found = evidence_find(context->facts, "lsattr", NULL, object, attribute);

	if (found) {
		*said = found;
		return is_yes(found);
	}
	found = evidence_find(context->facts, "entstat", NULL, object, flag);
	if (found) {
		*said = found;
		return 1;
	}
	*said = evidence_find(context->facts, "entstat", NULL, object, "sea_flags");
	return *said ? 0 : -1;
}

/* --- the bridge ------------------------------------------------------------------------------------------------------- */

/* Objects that are SEAs: those with flags, and those with a SEA's attributes. Each once. */
static void for_each_sea(struct check_context *context, void (*judge)(struct check_context *context, const char *sea))
{
	const struct facts_claim *claim = NULL;

	while ((claim = evidence_next(context->facts, claim, "entstat", "sea_flags")))
		if (evidence_find(context->facts, "entstat", NULL, claim->object, "sea_flags") == claim)
			judge(context, claim->object);
	while ((claim = evidence_next(context->facts, claim, "lsattr", "pvid_adapter")))
		if (evidence_find(context->facts, "lsattr", NULL, claim->object, "pvid_adapter") == claim &&
		    !evidence_find(context->facts, "entstat", NULL, claim->object, "sea_flags"))
			judge(context, claim->object);
}

/* Gbit/s of the physical adapter that the SEA bridges, 0 unknown; *said: the claim that says so. */
static double adapter_gbps(const struct check_context *context, const char *sea, const struct facts_claim **said)
{
	const struct facts_claim *real = evidence_find(context->facts, "entstat", NULL, sea, "real_adapter");
	int64_t number;

	if (!real)
		real = evidence_find(context->facts, "lsattr", NULL, sea, "real_adapter");
	*said = real ? evidence_find(context->facts, "entstat", NULL, real->value, "media_speed_running") : NULL;
	number = evidence_number(*said);
	if (number < 0)
		return 0;
	return strstr((*said)->value, "Gbps") ? (double)number : (double)number / 1000;
}

static const char *sea_name(const char *sea)
{
	return check_text("%s (SEA)", *sea ? sea : "adapter");
}

static void judge_sea_large_send(struct check_context *context, const char *sea)
{
	const struct facts_claim *said, *jumbo, *speed;
	double gbps = adapter_gbps(context, sea, &speed);
	int small_frames;

	if (sea_has(context, sea, "sea_flag_largesend", "largesend", &said) != 0)
		return;
	small_frames = sea_has(context, sea, "sea_flag_jumbo_frames", "jumbo_frames", &jumbo) == 0;
	check_report_named(
		context, sea_name(sea), small_frames && (gbps >= 10 || gbps == 0) ? FINDING_FAIL : FINDING_WARN,
		check_text("%s, no LARGESEND%s%s", quote(said), speed ? "; " : "", speed ? quote(speed) : ""),
		small_frames
			? "without large send and without jumbo frames each frame of 1500 passes the SEA by itself: "
			  "about 2 Gbit/s, however fast the adapter is"
			: "without large send each frame passes the SEA by itself",
		check_text("chdev -dev %s -attr largesend=1, and in Linux partitions: ethtool -K IF tso on", sea));
}

static void judge_sea_jumbo(struct check_context *context, const char *sea)
{
	const struct facts_claim *said;

	if (sea_has(context, sea, "sea_flag_jumbo_frames", "jumbo_frames", &said) != 0)
		return;
	check_report_named(
		context, sea_name(sea), FINDING_WARN, check_text("%s, no JUMBO_FRAMES", quote(said)),
		"frames of 9000 made three times the throughput of frames of 1500 through a SEA",
		check_text("chdev -dev %s -attr jumbo_frames=yes; the adapter below, the switch and all partitions "
			   "need MTU 9000, too",
			   sea));
}

static void judge_sea_thread(struct check_context *context, const char *sea)
{
	const struct facts_claim *said;

	if (sea_has(context, sea, "sea_flag_thread", "thread", &said) != 0)
		return;
	check_report_named(
		context, sea_name(sea), FINDING_WARN, check_text("%s, no THREAD", quote(said)),
		"without threads the SEA forwards in interrupt context, and keeps disk traffic of the VIOS waiting",
		check_text("chdev -dev %s -attr thread=1", sea));
}

static void judge_sea_threads(struct check_context *context, const char *sea)
{
	const struct facts_claim *hash = evidence_find(context->facts, "lsattr", NULL, sea, "hash_algo"), *said;
	const struct facts_claim *overflow =
		evidence_find(context->facts, "entstat", NULL, sea, "other_thread_queue_overflow_packets");

	if (evidence_number(overflow) > 0)
		check_report_named(context, sea_name(sea), FINDING_WARN, quote(overflow),
				   "a thread's queue overflowed: some threads carry more than they can",
				   check_text("chdev -dev %s -attr hash_algo=1 (spreads flows better), more nthreads",
					      sea));
	else if (evidence_number(hash) == 0 && sea_has(context, sea, "sea_flag_thread", "thread", &said) == 1)
		check_report_named(context, sea_name(sea), FINDING_INFO, quote(hash),
				   "algorithm 1 spreads flows over the SEA's threads better than 0",
				   check_text("chdev -dev %s -attr hash_algo=1", sea));
}

static void judge_large_receive(struct check_context *context, const char *sea)
{
	const struct facts_claim *said;
	int kernel = lookup_kernel(context->facts), is_lpar = 0;

	for (int i = 0; i < context->facts->link_count; i++)
		is_lpar |= !strcmp(context->facts->links[i].driver, "ibmveth");
	if (!is_lpar || sea_has(context, sea, "sea_flag_large_receive", "large_receive", &said) != 1)
		return;
	if (!kernel || kernel >= 4005) /* RHEL 7's 3.10 has the change from 693 on */
		return;
	check_report_named(context, sea_name(sea), FINDING_FAIL,
			   check_text("%s; kernel %s", quote(said), context->facts->kernel),
			   "the SEA merges frames into units above the MTU, which this partition's driver cannot take: "
			   "retransmissions, and no failure counted anywhere",
			   check_text("chdev -dev %s -attr large_receive=no, or a kernel of the RHEL 7.4 class", sea));
}

static void judge_path_mtu(struct check_context *context, const char *sea)
{
	const struct facts_claim *send, *jumbo;

	if (sea_has(context, sea, "sea_flag_largesend", "largesend", &send) != 0 ||
	    sea_has(context, sea, "sea_flag_jumbo_frames", "jumbo_frames", &jumbo) != 1)
		return;
	check_report_named(
		context, sea_name(sea), FINDING_WARN, check_text("%s; %s", quote(send), quote(jumbo)),
		"with jumbo frames but no large send, path-MTU discovery of AIX clients can storm between client and "
		"VIOS (APAR IV32160)",
		check_text("chdev -dev %s -attr largesend=1", sea));
}

static void judge_each_large_send(struct check_context *context)
{
	for_each_sea(context, judge_sea_large_send);
}

static void judge_each_jumbo(struct check_context *context)
{
	for_each_sea(context, judge_sea_jumbo);
}

static void judge_each_thread(struct check_context *context)
{
	for_each_sea(context, judge_sea_thread);
}

static void judge_each_threads(struct check_context *context)
{
	for_each_sea(context, judge_sea_threads);
}

static void judge_each_large_receive(struct check_context *context)
{
	for_each_sea(context, judge_large_receive);
}

static void judge_each_path_mtu(struct check_context *context)
{
	for_each_sea(context, judge_path_mtu);
}

/* --- counters: since the adapter's last reset, so facts of the past ----------------------------------------------------- */

static void judge_fragmented(struct check_context *context, const struct facts_claim *claim)
{
	if (evidence_number(claim) <= 0)
		return;
	check_report_named(
		context, name_of(claim), FINDING_WARN, quote(claim),
		"the SEA fragmented frames that were larger than the MTU of the side they left by: the MTUs of its "
		"sides differ",
		"give the adapter, the SEA and the partitions one MTU (jumbo_frames=yes everywhere or nowhere)");
}

static void judge_each_fragmented(struct check_context *context)
{
	for_each(context, "entstat", "real_side_packets_fragmented", judge_fragmented);
	for_each(context, "entstat", "virtual_side_packets_fragmented", judge_fragmented);
}

/* Buffers of a virtual adapter: lost frames, and which pool ran low. */
static void judge_receive_failures(struct check_context *context, const struct facts_claim *claim)
{
	const struct facts_claim *low = NULL;
	const char *pool = "small";

	if (evidence_number(claim) <= 0)
		return;
	for (unsigned int i = 0; i < sizeof(pool_names) / sizeof(pool_names[0]); i++) {
		const struct facts_claim *lowest =
			beside(context, claim, check_text("lowest_registered_%s", pool_names[i]));

		if (lowest && (!low || evidence_number(lowest) < evidence_number(low))) {
			low = lowest;
			pool = pool_names[i];
		}
	}
	check_report_named(
		context, name_of(claim), FINDING_FAIL,
		low ? check_text("%s; %s", quote(claim), quote(low)) : quote(claim),
		"frames came when no receive buffer was posted, and were dropped by the hypervisor",
		check_text(
			"chdev -dev %s -attr max_buf_%s=… min_buf_%s=… -perm (then restart), min close to max so that "
			"bursts need not wait for memory",
			claim->object, pool, pool));
}

static void judge_each_receive_failures(struct check_context *context)
{
	for_each(context, "entstat", "hypervisor_receive_failures", judge_receive_failures);
}

/* A pool that once had nothing registered lost frames or was about to. */
static void judge_pool_empty(struct check_context *context, const struct facts_claim *claim)
{
	const char *pool = claim->key + strlen("lowest_registered_");

	if (evidence_number(claim) != 0)
		return;
	check_report_named(context, name_of(claim), FINDING_WARN, quote(claim),
			   check_text("once no %s receive buffer at all was registered with the hypervisor", pool),
			   check_text("chdev -dev %s -attr min_buf_%s=… max_buf_%s=… -perm (then restart)",
				      claim->object, pool, pool));
}

static void judge_each_pool_empty(struct check_context *context)
{
	for (unsigned int i = 0; i < sizeof(pool_names) / sizeof(pool_names[0]); i++)
		for_each(context, "entstat", check_text("lowest_registered_%s", pool_names[i]), judge_pool_empty);
}

static void judge_send_failures(struct check_context *context, const struct facts_claim *claim)
{
	if (evidence_number(claim) > 0)
		check_report_named(context, name_of(claim), FINDING_INFO, quote(claim),
				   "the receiving partition had no buffer, or nobody has that VLAN and MAC",
				   "look at rx_no_buffer (Linux) or Hypervisor Receive Failures (AIX) of the clients");
}

static void judge_each_send_failures(struct check_context *context)
{
	for_each(context, "entstat", "hypervisor_send_failures", judge_send_failures);
}

static void judge_no_resource(struct check_context *context, const struct facts_claim *claim)
{
	if (evidence_number(claim) > 0)
		check_report_named(context, name_of(claim), FINDING_WARN, quote(claim),
				   "the adapter had no receive descriptor: the VIOS was too slow to give them back",
				   check_text("rxdesc_que_sz=4096 at %s; more processor for the VIOS", claim->object));
}

static void judge_each_no_resource(struct check_context *context)
{
	for_each(context, "entstat", "receive_no_resource_errors", judge_no_resource);
	for_each(context, "entstat", "receive_dma_overrun", judge_no_resource);
}

static void judge_link(struct check_context *context, const struct facts_claim *claim)
{
	const struct facts_claim *speed = beside(context, claim, "media_speed_running");

	if (strncmp(claim->value, "Up", 2))
		check_report_named(context, name_of(claim), FINDING_FAIL, quote(claim), "the adapter's link must be up",
				   "look at cable, transceiver and switch port");
	else if (speed && strstr(speed->value, "Half"))
		check_report_named(context, name_of(claim), FINDING_FAIL, quote(speed), "the link must be full duplex",
				   "negotiate at both ends, or at neither");
}

static void judge_each_link(struct check_context *context)
{
	for_each(context, "entstat", "link_status", judge_link);
}

static void judge_flush(struct check_context *context, const struct facts_claim *claim)
{
	if (!strcmp(claim->value, "no"))
		check_report_named(context, name_of(claim), FINDING_INFO, quote(claim),
				   "vendor guides have it on at the trunk adapters of 10 Gbit/s SEAs",
				   check_text("chdev -dev %s -attr dcbflush_local=yes, before the SEA is made",
					      claim->object));
}

static void judge_each_flush(struct check_context *context)
{
	for_each(context, "lsattr", "dcbflush_local", judge_flush);
}

#define VIOS(check_id, check_judge, check_weight, check_title, check_why, check_remedy, check_effect)           \
	{                                                                                                       \
		.id = (check_id), .subject = CHECK_CLAIMS, .judge = (check_judge), .title = (check_title),      \
		.why = (check_why), .remedy = (check_remedy), .effect = (check_effect), .reference = "powervm", \
		.weight = (check_weight)                                                                        \
	}

static const struct check rows[] = {
	VIOS("sea-large-send", judge_each_large_send, 1.0, "The SEA does not take large units",
	     "With large send a partition hands units of 64 KB through hypervisor and SEA, and the physical adapter cuts them. "
	     "Without, each frame of 1500 is bridged by itself: a field report has 2.2 Gbit/s through the SEA and 9.4 without it.",
	     "largesend=1 at the SEA, TSO on in the clients (mtu_bypass on AIX). entstat then shows LARGESEND among the flags.",
	     "several times the throughput of TCP"),
	VIOS("sea-jumbo", judge_each_jumbo, 0.9, "The SEA bridges frames of 1500 only",
	     "The SEA costs time per frame: six times larger frames made three times the throughput.",
	     "jumbo_frames at the SEA and below it, MTU 9000 in all partitions and on the switch; each hop must agree.",
	     "about three times the throughput"),
	VIOS("sea-thread", judge_each_thread, 0.6, "The SEA forwards without threads",
	     "In interrupt mode forwarding runs ahead of everything else on the VIOS and on few processors.",
	     "thread=1 unless the VIOS bridges only.", "forwarding spreads over processors"),
	VIOS("sea-threads", judge_each_threads, 0.4, "The SEA's threads are unevenly loaded",
	     "Flows are spread over nthreads by a hash; one busy thread drops while others idle.",
	     "hash_algo=1 (VIOS 2.2.2.2 and newer); nthreads up to 128.", "thread queue overflows stand still"),
	VIOS("sea-large-receive", judge_each_large_receive, 0.95,
	     "The SEA merges frames for a client that cannot take them",
	     "Units above the MTU are dropped by old Linux drivers. TCP repeats them in small pieces: slow, with duplicate "
	     "acknowledgements, and nothing fails visibly.",
	     "large_receive=no, or a newer client kernel.", "retransmissions end"),
	VIOS("sea-path-mtu", judge_each_path_mtu, 0.6, "Jumbo frames without large send",
	     "With path-MTU discovery on and large send off a client and the VIOS can send each other the same data again and "
	     "again.",
	     "largesend=1.", "resends end"),
	VIOS("sea-fragmented", judge_each_fragmented, 0.9, "The SEA fragments",
	     "Frames larger than the outgoing MTU are cut into IP fragments in software, or dropped when that is not allowed: the "
	     "counter is a detector of an MTU mismatch.",
	     "One MTU on both sides.", "the counter stands still; load of the VIOS falls"),
	VIOS("vios-receive-failures", judge_each_receive_failures, 0.9, "A virtual adapter of the VIOS loses frames",
	     "The hypervisor copies into buffers that were posted before. Bursts use up a pool faster than it grows from its minimum "
	     "to its maximum.",
	     "Raise min and max of the pool that ran low; compare Lowest Registered before and after.",
	     "Hypervisor Receive Failures stand still"),
	VIOS("vios-pool-empty", judge_each_pool_empty, 0.6, "A receive pool of the VIOS was empty",
	     "Lowest Registered 0 says that for a moment no buffer of this size was there.",
	     "Raise min_buf of that pool.", "Lowest Registered stays above 0"),
	VIOS("vios-send-failures", judge_each_send_failures, 0.4, "Frames to a partition were refused",
	     "The loss is at the receiver; the sender only learns of it.", "Find the client whose buffers run out.",
	     "the counter stands still"),
	VIOS("vios-no-resource", judge_each_no_resource, 0.8, "The physical adapter ran out of descriptors",
	     "Frames from the wire came faster than the VIOS gave descriptors back.",
	     "A longer receive queue for bursts, more processor for the VIOS for the rest.",
	     "the counter stands still"),
	VIOS("vios-link", judge_each_link, 1.0, "The physical adapter's link",
	     "Nothing passes a link that is down, and little one with half duplex.", "Both ends, cable, transceiver.",
	     "the link carries its full rate"),
	VIOS("vios-flush", judge_each_flush, 0.1, "dcbflush_local is off",
	     "A setting of the trunk adapter that vendor guides recommend at 10 Gbit/s.",
	     "Set it before the SEA is made.", "a little less work a frame"),
};

CHECK_TABLE(checks_powervm_vios, rows);
