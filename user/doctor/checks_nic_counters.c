// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Checks of an interface's counters: what was lost, held back or put on one queue, as a difference between two looks where there
 * are two. Called through doctor/tables.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/lookup.h"
#include "doctor/tables.h"

/* Reports the first of the names that grew. Counters that mean the same thing have different names in different drivers. */
static int report_growth(struct check_context *context, const char *const *names, enum finding_severity severity,
			 const char *rule, const char *fix)
{
	for (; *names; names++) {
		int since_boot;
		int64_t growth = check_counter_growth(context, *names, &since_boot);

		if (growth <= 0)
			continue;
		check_report(context, check_growth_severity(severity, since_boot),
			     check_text("%s: %s", context->link->name, check_growth_text(*names, growth, since_boot)),
			     rule, fix);
		return 1;
	}
	return 0;
}

static const char *const missed_names[] = {
	"rx_missed_errors", "rx_out_of_buffer", "rx_no_buffer_count", "rx_no_dma_resources",	 "rx_discards_phy",
	"rx_missed",	    "rx_fifo_errors",	"rx_over_errors",     "rx_steer_missed_packets", NULL
};

static void judge_missed(struct check_context *context)
{
	report_growth(
		context, missed_names, FINDING_FAIL,
		"the adapter had no buffer for frames that came: the CPU that serves its queue is too slow, or was away",
		"more queues or a faster consumer; a larger ring for bursts only");
}

static void judge_ring(struct check_context *context)
{
	const struct facts_link *link = context->link;

	if (link->rx_ring <= 0 || link->rx_ring_max <= link->rx_ring)
		return;
	for (int i = 0; missed_names[i]; i++) {
		int since_boot;
		int64_t growth = check_counter_growth(context, missed_names[i], &since_boot);

		if (growth <= 0)
			continue;
		check_report(context, check_growth_severity(FINDING_WARN, since_boot),
			     check_text("ethtool -g %s: %d of %d; %s", link->name, link->rx_ring, link->rx_ring_max,
					check_growth_text(missed_names[i], growth, since_boot)),
			     "the ring overflows and could be larger",
			     check_text("%sethtool -G %s rx %d", check_enter(context, link->netns), link->name,
					link->rx_ring_max));
		return;
	}
}

static void judge_errors(struct check_context *context)
{
	static const char *const names[] = { "rx_crc_errors",	  "rx_frame_errors",   "rx_length_errors",
					     "tx_carrier_errors", "rx_symbol_err_phy", NULL };

	report_growth(context, names, FINDING_FAIL, "frames come in damaged",
		      "cable, transceiver, duplex of the other end");
}

static void judge_pause(struct check_context *context)
{
	static const char *const sent[] = { "tx_pause",	       "tx_flow_control_xoff",
					    "tx_xoff",	       "tx_pause_ctrl_phy",
					    "tx_pause_frames", "link_xoff_tx",
					    "tx_global_pause", NULL };
	static const char *const received[] = { "rx_pause",	   "rx_flow_control_xoff",
						"rx_xoff",	   "rx_pause_ctrl_phy",
						"rx_pause_frames", "link_xoff_rx",
						"rx_global_pause", NULL };
	const char *off = check_text("%sethtool -A %s rx off tx off (for a test)",
				     check_enter(context, context->link->netns), context->link->name);

	report_growth(context, sent, FINDING_FAIL,
		      "this adapter asks its peer to stop: this machine is too slow for what comes", off);
	report_growth(context, received, FINDING_WARN,
		      "the peer asks this adapter to stop: something behind it is too slow", off);
}

/* A tap's transmit drops are its guest's affair, and have a check of their own. */
static void judge_drops(struct check_context *context)
{
	static const char *const names[] = { "tx_dropped", "rx_dropped", NULL }, *const of_tap[] = { "rx_dropped",
												     NULL };

	report_growth(context, strcmp(context->link->kind, "tun") ? names : of_tap, FINDING_FAIL,
		      "the interface drops frames: a queue behind it is full, they do not fit, or nobody wants them",
		      check_text("%sip -s -s link show dev %s", check_enter(context, context->link->netns),
				 context->link->name));
}

static void judge_threaded_veth(struct check_context *context)
{
	const struct facts_link *link = context->link, *peer = lookup_lower(context, link);
	int kernel = lookup_kernel(context->facts), since_boot;
	int64_t growth;

	if (strcmp(link->kind, "veth") || !peer || peer->threaded_napi != 1 || !kernel || kernel >= 6016)
		return;
	if (link->qdisc_count > 0 && strcmp(link->qdiscs[0].kind, "noqueue"))
		return;
	growth = check_counter_growth(context, "tx_dropped", &since_boot);
	if (growth <= 0)
		return;
	check_report(context, check_growth_severity(FINDING_WARN, since_boot),
		     check_text("%s: no qdisc, its peer's NAPI is threaded; %s", link->name,
				check_growth_text("tx_dropped", growth, since_boot)),
		     "before Linux 6.16 a full veth ring drops instead of stopping the sender's queue",
		     check_text("%stc qdisc add dev %s root fq", check_enter(context, link->netns), link->name));
}

/* --- queues ------------------------------------------------------------------------------------------------------- */

/* Number of the queue when the counter is one queue's received frames: rx_queue_3_packets, rx3_packets, rx-3.packets,
 * rx_queue_3_frames; else -1. */
static int queue_of_counter(const char *name)
{
	const char *digits = name + strcspn(name, "0123456789");
	char *end;
	long queue;

	if (strncmp(name, "rx", 2) || digits == name + strlen(name) ||
	    strspn(name + 2, "_-queue") + 2 != (size_t)(digits - name))
		return -1;
	queue = strtol(digits, &end, 10);
	if (queue < 0 || queue > 4096 ||
	    (strcmp(end, "_packets") && strcmp(end, ".packets") && strcmp(end, "_rx_packets")))
		return -1;
	return (int)queue;
}

static void judge_spread(struct check_context *context)
{
	const struct facts_link *link = context->link;
	int64_t total = 0, most = 0;
	int queues = 0, busiest = -1, since_boot = 0;

	for (int i = 0; i < link->counter_count; i++) {
		int queue = queue_of_counter(link->counters[i].name), boot;
		int64_t growth;

		if (queue < 0)
			continue;
		growth = check_counter_growth(context, link->counters[i].name, &boot);
		queues++;
		since_boot |= boot;
		total += growth > 0 ? growth : 0;
		if (growth > most) {
			most = growth;
			busiest = queue;
		}
	}
	if (queues < 2 || total < 10000 || (double)most < 0.9 * (double)total)
		return;
	check_report(
		context, check_growth_severity(FINDING_WARN, since_boot),
		check_text("ethtool -S %s: queue %d received %lld of %lld frames%s, %d queues", link->name, busiest,
			   (long long)most, (long long)total, since_boot ? " since boot" : "", queues),
		"one queue gets nearly everything: one CPU works, and a socket or program at another queue hears nothing",
		check_text("%sethtool -X %s equal %d; more flows, or ethtool -N rules",
			   check_enter(context, link->netns), link->name, queues));
}

static const struct check rows[] = {
	{ .id = "nic-missed",
	  .subject = CHECK_LINK,
	  .judge = judge_missed,
	  .explains = RUN_CAUSE_QUEUE,
	  .title = "The adapter runs out of receive buffers",
	  .why = "Frames that find no free descriptor are dropped by the adapter, before any software sees them. "
		 "The CPU of that queue is saturated, was kept away, or an AF_XDP consumer gives buffers back "
		 "too slowly.",
	  .remedy = "Find the busy CPU (hopcap run), spread flows over queues, make the consumer faster. A larger "
		    "ring only bridges short absences.",
	  .effect = "the missed counter stands still",
	  .reference = "queues",
	  .weight = 0.8 },
	{ .id = "nic-ring",
	  .subject = CHECK_LINK,
	  .judge = judge_ring,
	  .explains = RUN_CAUSE_QUEUE,
	  .title = "The receive ring overflows and is not at its largest",
	  .why = "A ring of 256 holds 0.3 ms of full-sized frames at 10 Gbit/s: a scheduler delay or an "
		 "interrupt that is held back overflows it.",
	  .remedy = "Enlarge it. When the counter still grows, the CPU is too slow on average and the ring is not "
		    "the cause.",
	  .effect = "no loss in bursts",
	  .reference = "queues",
	  .weight = 0.4 },
	{ .id = "nic-errors",
	  .subject = CHECK_LINK,
	  .judge = judge_errors,
	  .title = "Frames arrive damaged",
	  .why = "Bad checksums of frames come from cable, transceiver or a duplex mismatch. One in a thousand "
		 "halves a TCP connection and more.",
	  .remedy = "Change cable or transceiver; compare the settings of both ends.",
	  .effect = "error counters stand still",
	  .reference = "nic",
	  .weight = 0.7 },
	{ .id = "nic-pause",
	  .subject = CHECK_LINK,
	  .judge = judge_pause,
	  .title = "Pause frames hold traffic back",
	  .why = "Pause frames move a queue's overflow upstream: the slow part stops its sender, all of its "
		 "traffic, not just the flow that is too fast. A VF's loss above 900 kpps was its adapter "
		 "obeying pause. PowerVM guides want flow control on, so think before switching it off.",
	  .remedy = "Mend the slow side; switch pausing off during a test to see where frames really are lost.",
	  .effect = "loss shows where it happens, or is gone",
	  .reference = "nic",
	  .weight = 0.7 },
	{ .id = "nic-drops",
	  .subject = CHECK_LINK,
	  .judge = judge_drops,
	  .explains = RUN_CAUSE_QUEUE,
	  .title = "The interface drops frames",
	  .why = "The kernel counts here what it could not queue or deliver: a full ring or backlog, a frame "
		 "that does not fit, no program or socket that takes it.",
	  .remedy = "Find out why: hopcap trace shows reasons where the kernel tells them.",
	  .effect = "the drop counters stand still",
	  .reference = "drops",
	  .weight = 0.7 },
	{ .id = "nic-threaded-veth",
	  .subject = CHECK_LINK,
	  .judge = judge_threaded_veth,
	  .title = "A veth ring drops instead of holding its sender back",
	  .why = "A veth end with threaded NAPI has a ring of 256 frames. Older kernels drop what does not fit, "
		 "which TCP takes for congestion; with a queueing discipline on the sending end frames wait "
		 "there instead.",
	  .remedy = "Add a qdisc at the sending end, or use Linux 6.16 or later.",
	  .effect = "drops become waiting",
	  .reference = "drops",
	  .weight = 0.5 },
	{ .id = "nic-queue-spread",
	  .subject = CHECK_LINK,
	  .judge = judge_spread,
	  .explains = RUN_CAUSE_CPU,
	  .title = "One receive queue gets nearly all frames",
	  .why = "Frames are spread by a hash of addresses and ports. One flow, or a tunnel without ports in the "
		 "hash, is one queue: its CPU is the limit while others idle. An AF_XDP socket hears one queue "
		 "only; frames that go to another one look like random loss.",
	  .remedy = "Use more flows, put ports into the hash, or steer by rules; bind a socket to each queue.",
	  .effect = "CPUs share the work; sockets see all frames",
	  .reference = "queues",
	  .weight = 0.6 },
};

CHECK_TABLE(checks_nic_counters, rows);
