// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Checks of queueing and rate limits: shapers, policers, filters, full queues, socket buffers. Called through doctor/tables.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/lookup.h"
#include "doctor/tables.h"

/* A limit below the goal fails; when nothing is known of what is wanted, one on the path does. */
static enum finding_severity severity_of_limit(const struct check_context *context, double gbps)
{
	double goal = check_goal_gbps(context);

	if (goal > 0)
		return gbps < goal ? FINDING_FAIL : FINDING_INFO;
	return context->hop ? FINDING_FAIL : FINDING_WARN;
}

/* 1: frames of the path come in here and do not leave, so what is sent here is what goes the other way. */
static int is_entered_only(const struct check_context *context)
{
	int is_on_path = 0;

	for (int i = 0; context->path && i < context->path->point_count; i++) {
		const struct facts_path_point *point = &context->path->points[i];

		if (point->netns != context->link->netns || point->ifindex != context->link->ifindex)
			continue;
		if (point->is_out)
			return 0;
		is_on_path = 1;
	}
	return is_on_path;
}

/* A limit of what is sent by the link. */
static void report_limit(struct check_context *context, enum finding_severity severity, double gbps,
			 const char *evidence, const char *rule, const char *fix)
{
	if (is_entered_only(context))
		check_report(
			context, FINDING_INFO, evidence,
			"what is sent here goes against the path's direction: answers and acknowledgements are held to it",
			fix);
	else
		check_report_cap(context, severity, gbps, evidence, rule, fix);
}

static double gbps_of(uint64_t bytes_per_s)
{
	return (double)bytes_per_s * 8 / 1e9;
}

static const char *rate_text(uint64_t bytes_per_s)
{
	double mbps = (double)bytes_per_s * 8 / 1e6;

	return mbps >= 1000 ? check_text("%.3g Gbit/s", mbps / 1e3) : check_text("%.4g Mbit/s", mbps);
}

static const char *handle_text(uint32_t handle)
{
	return check_text("%x:%x", handle >> 16, handle & 0xffff);
}

static void judge_shaper(struct check_context *context)
{
	const struct facts_link *link = context->link;

	for (int i = 0; i < link->qdisc_count; i++) {
		const struct facts_qdisc *qdisc = &link->qdiscs[i];

		if (!qdisc->rate_bytes_per_s || qdisc->is_class)
			continue;
		report_limit(
			context, severity_of_limit(context, gbps_of(qdisc->rate_bytes_per_s)),
			gbps_of(qdisc->rate_bytes_per_s),
			check_text("tc qdisc show dev %s: %s %s rate %s", link->name, qdisc->kind,
				   handle_text(qdisc->handle), rate_text(qdisc->rate_bytes_per_s)),
			"a shaper holds what is sent here to its rate, whatever the path could carry",
			check_text(
				"%stc qdisc del dev %s root # libvirt: virsh domiftune; containers: bandwidth annotation",
				check_enter(context, link->netns), link->name));
	}
}

static void judge_class(struct check_context *context)
{
	const struct facts_link *link = context->link;

	for (int i = 0; i < link->qdisc_count; i++) {
		const struct facts_qdisc *class = &link->qdiscs[i];

		if (!class->rate_bytes_per_s || !class->is_class)
			continue;
		report_limit(context,
			     severity_of_limit(context, gbps_of(class->rate_bytes_per_s)) == FINDING_INFO
				     ? FINDING_INFO
				     : FINDING_WARN,
			     gbps_of(class->rate_bytes_per_s),
			     check_text("tc class show dev %s: %s %s rate %s", link->name, class->kind,
					handle_text(class->handle), rate_text(class->rate_bytes_per_s)),
			     "traffic that falls into this class is held to its rate (or what it may borrow)",
			     check_text("%stc -s class show dev %s", check_enter(context, link->netns), link->name));
	}
}

static void judge_police(struct check_context *context)
{
	const struct facts_link *link = context->link;

	for (int i = 0; i < link->filter_count; i++) {
		const struct facts_filter *filter = &link->filters[i];

		if (!filter->police_bytes_per_s)
			continue;
		check_report_cap(context, severity_of_limit(context, gbps_of(filter->police_bytes_per_s)),
				 gbps_of(filter->police_bytes_per_s),
				 check_text("tc filter show dev %s %s: %s, police rate %s", link->name,
					    filter->ingress ? "ingress" : "egress", filter->kind,
					    rate_text(filter->police_bytes_per_s)),
				 "a policer drops what exceeds its rate; TCP settles well below it",
				 check_text("%stc filter del dev %s %s", check_enter(context, link->netns), link->name,
					    filter->ingress ? "ingress" : "egress"));
	}
}

static int is_ours(const char *name)
{
	static const char *const names[] = { "hop_", "source_", "reflect_" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(name, names[i], strlen(names[i])))
			return 1;
	return 0;
}

static void judge_filters(struct check_context *context)
{
	const struct facts_link *link = context->link;
	const struct facts_filter *first = NULL;
	int count = 0;

	for (int i = 0; i < link->filter_count; i++) {
		if (is_ours(link->filters[i].name) || link->filters[i].police_bytes_per_s)
			continue;
		first = first ? first : &link->filters[i];
		count++;
	}
	if (first)
		check_report(context, FINDING_INFO,
			     check_text("tc filter show dev %s %s: %s%s%s%s", link->name,
					first->ingress ? "ingress" : "egress", first->kind, first->name[0] ? " " : "",
					first->name, count > 1 ? check_text(", and %d more", count - 1) : ""),
			     "each frame passes these filters, which may change, redirect or drop it",
			     check_text("%stc -s filter show dev %s ingress; … egress",
					check_enter(context, link->netns), link->name));
}

/* --- queues that overflow ----------------------------------------------------------------------------------------- */

static const struct facts_qdisc *same_qdisc(const struct facts_link *link, const struct facts_qdisc *wanted)
{
	for (int i = 0; link && i < link->qdisc_count; i++) {
		const struct facts_qdisc *qdisc = &link->qdiscs[i];

		if (qdisc->handle == wanted->handle && qdisc->parent == wanted->parent &&
		    qdisc->is_class == wanted->is_class && !strcmp(qdisc->kind, wanted->kind))
			return qdisc;
	}
	return NULL;
}

static void judge_qdisc_drops(struct check_context *context)
{
	const struct facts_link *link = context->link, *before = NULL;
	int netns;
	const struct facts *earlier = lookup_earlier(context, link->netns, &netns);

	if (earlier)
		before = facts_link_at(earlier, netns, link->ifindex);
	for (int i = 0; i < link->qdisc_count; i++) {
		const struct facts_qdisc *qdisc = &link->qdiscs[i], *then = same_qdisc(before, qdisc);
		int since_boot = !then || then->drops > qdisc->drops;
		int64_t growth = (int64_t)(qdisc->drops - (since_boot ? 0 : then->drops));

		if (growth <= 0 || qdisc->is_class)
			continue;
		check_report(
			context, check_growth_severity(FINDING_FAIL, since_boot),
			check_text("tc -s qdisc show dev %s: %s %s %s, backlog %llu frames", link->name, qdisc->kind,
				   handle_text(qdisc->handle), check_growth_text("dropped", growth, since_boot),
				   (unsigned long long)qdisc->backlog_frames),
			"a queueing discipline drops when more comes than its device or shaper takes, or when its limit is small",
			check_text("%stc -s qdisc show dev %s", check_enter(context, link->netns), link->name));
	}
}

static int is_hardware(const struct check_context *context)
{
	return lookup_is_hardware(context->link);
}

static void judge_one_lock(struct check_context *context)
{
	static const char *const lockless[] = { "mq", "mqprio", "noqueue", "taprio", "clsact", "ingress" };
	const struct facts_link *link = context->link;

	if (link->tx_queues < 2)
		return;
	for (int i = 0; i < link->qdisc_count; i++) {
		const struct facts_qdisc *qdisc = &link->qdiscs[i];
		int is_shared = qdisc->parent == 0xffffffff && !qdisc->is_class;

		for (size_t j = 0; j < sizeof(lockless) / sizeof(lockless[0]); j++)
			is_shared &= strcmp(qdisc->kind, lockless[j]) != 0;
		if (is_shared)
			check_report(context, FINDING_WARN,
				     check_text("tc qdisc show dev %s: %s is the root; %d transmit queues", link->name,
						qdisc->kind, link->tx_queues),
				     "one discipline in front of several queues makes all CPUs wait for one lock",
				     check_text("%stc qdisc replace dev %s root mq", check_enter(context, link->netns),
						link->name));
	}
}

/* --- sockets ------------------------------------------------------------------------------------------------------ */

static int64_t third_number(const struct facts_file *file)
{
	long long least, usual, most;

	return file && !file->error && sscanf(file->text, "%lld %lld %lld", &least, &usual, &most) == 3 ? most
													: FACTS_UNKNOWN;
}

/* One millisecond of the goal, which is a long round trip inside a machine room. */
static void judge_tcp_buffers(struct check_context *context)
{
	static const char *const paths[] = { "/proc/sys/net/ipv4/tcp_rmem", "/proc/sys/net/ipv4/tcp_wmem" };
	double goal = check_goal_gbps(context), wanted = (goal > 0 ? goal : 10) * 1e9 / 8 * 1e-3;

	for (int netns = 0; netns < context->facts->netns_count; netns++) {
		if (!lookup_netns_is_examined(context, netns))
			continue;
		for (int i = 0; i < 2; i++) {
			int64_t most = third_number(facts_file_at(context->facts, netns, paths[i]));

			if (most < 0 || (double)most >= wanted)
				continue;
			check_report_named(
				context, context->facts->netns[netns].name, FINDING_WARN,
				check_file_line(context, netns, paths[i]),
				check_text(
					"a TCP connection that is to carry %.0f Gbit/s over 1 ms needs a buffer of %.1f MB",
					goal > 0 ? goal : 10, wanted / 1e6),
				check_text("%ssysctl -w net.ipv4.%s='4096 131072 %.0f'", check_enter(context, netns),
					   i ? "tcp_wmem" : "tcp_rmem", 4 * wanted));
		}
	}
}

static const struct check rows[] = {
	{ .id = "rate-shaper",
	  .subject = CHECK_LINK,
	  .judge = judge_shaper,
	  .explains = RUN_CAUSE_RATE_LIMIT,
	  .title = "A shaper limits the rate",
	  .why = "tbf and others release frames at a set rate. Libvirt's bandwidth element, container plug-ins "
		 "and test scripts leave them behind; the CPU is idle while the path stands at a round number.",
	  .remedy = "Remove it or raise its rate, if that is yours to decide.",
	  .effect = "the next limit of the path shows",
	  .reference = "rate",
	  .weight = 1.0 },
	{ .id = "rate-class",
	  .subject = CHECK_LINK,
	  .judge = judge_class,
	  .explains = RUN_CAUSE_RATE_LIMIT,
	  .title = "A class with a rate",
	  .why = "Hierarchical shapers put traffic into classes by filter; what falls into this one gets its "
		 "rate, and what the parent lends. Whether the path's traffic does is for the class's counters "
		 "to say.",
	  .remedy = "See in which class the bytes grow.",
	  .effect = "the path's traffic has a class that is large enough",
	  .reference = "rate",
	  .weight = 0.5 },
	{ .id = "rate-police",
	  .subject = CHECK_LINK,
	  .judge = judge_police,
	  .explains = RUN_CAUSE_RATE_LIMIT,
	  .title = "A policer drops above a rate",
	  .why = "A policer has no queue: what exceeds its rate is dropped at once, and a burst of one segment "
		 "unit may already exceed it. Open vSwitch's ingress policing and libvirt's inbound limits are "
		 "policers.",
	  .remedy = "Remove it, or give it a larger rate and burst.",
	  .effect = "no drops in front of the stack",
	  .reference = "rate",
	  .weight = 0.9 },
	{ .id = "tc-filters",
	  .subject = CHECK_LINK,
	  .judge = judge_filters,
	  .explains = RUN_CAUSE_CPU,
	  .title = "tc filters handle frames here",
	  .why = "Filters and BPF programs of others at clsact may mark, redirect or drop frames. Those attached "
		 "by tcx run first, and a verdict of theirs keeps the classic ones from running.",
	  .remedy = "Know whose they are; hopcap's own tc programs work beside them.",
	  .effect = "it is known who handles frames here",
	  .reference = "rate",
	  .weight = 0.1 },
	{ .id = "qdisc-drops",
	  .subject = CHECK_LINK,
	  .judge = judge_qdisc_drops,
	  .explains = RUN_CAUSE_QUEUE,
	  .title = "A queueing discipline drops frames",
	  .why = "The discipline's queue is full: the device below is slower than what is sent, a shaper holds "
		 "it back, or the limit is a few frames. TCP slows down; UDP is just lost.",
	  .remedy = "Look for a rate limit first, then for the device that is slow; a longer queue only delays.",
	  .effect = "the drop counter stands still",
	  .reference = "drops",
	  .weight = 0.8 },
	{ .id = "qdisc-lock",
	  .subject = CHECK_LINK,
	  .applies = is_hardware,
	  .judge = judge_one_lock,
	  .explains = RUN_CAUSE_CPU,
	  .title = "One queueing discipline in front of many queues",
	  .why = "The root discipline is not the multi-queue one, so all CPUs that send take its lock in turn, "
		 "however many queues the adapter has.",
	  .remedy = "Use mq with a discipline a queue.",
	  .effect = "senders on different CPUs do not wait for each other",
	  .reference = "queues",
	  .weight = 0.4 },
	{ .id = "tcp-buffers",
	  .subject = CHECK_MACHINE,
	  .judge = judge_tcp_buffers,
	  .is_tcp_only = 1,
	  .title = "Socket buffers are too small for the way",
	  .why = "A connection has at most one buffer's bytes on the way in a round trip: 1 MB over 1 ms are 8 "
		 "Gbit/s, whatever the path could carry. Raw frames do not show it.",
	  .remedy = "Raise the maximum of tcp_rmem at the receiver and of tcp_wmem at the sender.",
	  .effect = "one connection fills the path",
	  .reference = "tcp",
	  .weight = 0.5 },
};

CHECK_TABLE(checks_queueing, rows);
