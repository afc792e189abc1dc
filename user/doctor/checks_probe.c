// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Checks of what was sent: how far frames of each size came (hopcap doctor --probe). What MTUs say without sending is in checks_mtu.c.
 * Called through doctor/tables.c.
 */
#include <stdio.h>
#include <string.h>

#include "doctor/lookup.h"
#include "doctor/tables.h"

#define LINK_HEADER_BYTES 14
#define LEAST_MTU_BYTES 68

/* --- looking at the counts ---------------------------------------------------------------------------------------- */

static int is_asked(const struct check_context *context)
{
	return context->sizes != NULL;
}

/* The stretch that ends with the context's hop; 0: none does, or nothing was sent. A stretch is told of once, at its last hop. */
static int stretch_here(const struct check_context *context)
{
	int end = context->sizes ? path_sizes_stretch_of(context->sizes, context->hop) : 0;

	return end && context->sizes->step_count && context->sizes->points[end] == context->hop ? end : 0;
}

static const char *point_name(const struct check_context *context, int probed)
{
	const struct facts_link *link = check_point_link(context, context->sizes->points[probed]);

	return link ? check_link_name(context, link) : "?";
}

/* What both ends of the path let its user expect: the largest frame, in bytes; 0 unknown. */
static unsigned int promised_bytes(const struct check_context *context)
{
	const struct path_sizes *sizes = context->sizes;
	const struct facts_link *source = check_point_link(context, sizes->points[0]),
				*sink = check_point_link(context, sizes->points[sizes->point_count - 1]);

	if (!source || !sink || source->mtu_bytes <= 0 || sink->mtu_bytes <= 0)
		return 0;
	return (unsigned int)(source->mtu_bytes < sink->mtu_bytes ? source->mtu_bytes : sink->mtu_bytes) +
	       LINK_HEADER_BYTES;
}

int checks_probe_found_step(const struct check_context *context, int hop)
{
	int end = context->sizes ? path_sizes_stretch_of(context->sizes, hop) : 0;
	struct path_stretch stretch;

	if (!end)
		return 0;
	stretch = path_sizes_stretch(context->sizes, end);
	return stretch.passes_bytes && stretch.stops_bytes && stretch.stops_bytes <= promised_bytes(context);
}

int checks_probe_knows(const struct check_context *context, int hop)
{
	int end = context->sizes ? path_sizes_stretch_of(context->sizes, hop) : 0;
	struct path_stretch stretch;

	if (!end)
		return 0;
	stretch = path_sizes_stretch(context->sizes, end);
	return stretch.stops_bytes || stretch.passes_bytes >= context->sizes->limit_bytes;
}

/* --- words -------------------------------------------------------------------------------------------------------- */

static size_t add(char *text, size_t size, size_t used, const char *more)
{
	return used + (size_t)snprintf(text + used, used < size ? size - used : 0, "%s", more);
}

/* "counted at b0, b1, c0: of 64 bytes 64, 64, 64; of 1419 bytes 128, 128, 0; all sizes: 64 576 …". */
static void describe_counts(const struct check_context *context, const unsigned int *shown, int count, char *text,
			    size_t size)
{
	const struct path_sizes *sizes = context->sizes;
	size_t used = add(text, size, 0, "sent from ");

	for (int i = 0; i < sizes->point_count && used < size; i++) {
		used = add(text, size, used, i == 0 ? "" : i == 1 ? " and counted at " : ", ");
		used = add(text, size, used < size ? used : size, point_name(context, i));
	}
	for (int i = 0; i < count && used < size; i++) {
		const struct path_sizes_step *step = path_sizes_step_of(sizes, shown[i]);

		for (int k = 0; step && k < sizes->point_count && used < size; k++)
			used = add(text, size, used,
				   k == 0 ? check_text("; of %u bytes %d sent", step->frame_bytes, step->arrived[0])
					  : check_text(", %d", step->arrived[k]));
	}
	if (used < size)
		used = add(text, size, used, "; sizes sent:");
	for (int i = 0; i < sizes->step_count && used < size; i++)
		used = add(text, size, used, check_text(" %u", sizes->steps[i].frame_bytes));
}

static const char *fix_for(const struct check_context *context, int end, unsigned int passes)
{
	const struct path_sizes *sizes = context->sizes;
	const struct facts_link *source = check_point_link(context, sizes->points[0]);
	int wanted = (int)promised_bytes(context) - LINK_HEADER_BYTES;

	for (int i = end - 1; i <= end; i++) {
		const struct facts_link *link = check_point_link(context, sizes->points[i]);

		if (link && link->mtu_bytes > 0 && link->mtu_bytes < wanted)
			return check_text("%sip link set dev %s mtu %d", check_enter(context, link->netns), link->name,
					  wanted);
	}
	if (!source || passes < LEAST_MTU_BYTES + LINK_HEADER_BYTES)
		return check_text("raise the MTU of what lies between %s and %s to %d", point_name(context, end - 1),
				  point_name(context, end), wanted);
	return check_text("%sip link set dev %s mtu %u   # or raise what lies between %s and %s to %d",
			  check_enter(context, source->netns), source->name, passes - LINK_HEADER_BYTES,
			  point_name(context, end - 1), point_name(context, end), wanted);
}

/* The finding's subject: the hop, or the stretch where several hops lie between two points that count. */
static void report_stretch(struct check_context *context, int end, enum finding_severity severity, const char *evidence,
			   const char *rule, const char *fix)
{
	const char *hop = context->path->hops[context->hop - 1].name;

	if (context->sizes->points[end] - context->sizes->points[end - 1] == 1)
		check_report(context, severity, evidence, rule, fix);
	else
		check_report_named(context,
				   check_text("%s to %s (to %s)", point_name(context, end - 1),
					      point_name(context, end), hop),
				   severity, evidence, rule, fix);
}

/* --- judging ------------------------------------------------------------------------------------------------------ */

static void describe_stop(const struct check_context *context, int end, const struct path_stretch *stretch, char *text,
			  size_t size)
{
	const unsigned int shown[] = { stretch->passes_bytes, stretch->stops_bytes };
	const struct facts_link *from = check_point_link(context, context->sizes->points[end - 1]),
				*to = check_point_link(context, context->sizes->points[end]);
	int used = snprintf(
		text, size, "frames of up to %u bytes come through, of %u bytes%s do not (mtu %d before, %d behind); ",
		stretch->passes_bytes, stretch->stops_bytes,
		stretch->stops_bytes - stretch->passes_bytes > 1 ? ", not closer before the time was up," : "",
		from ? from->mtu_bytes : -1, to ? to->mtu_bytes : -1);

	describe_counts(context, shown, 2, text + used, size - (size_t)used);
}

/* Texts are kept here, as more of them are made than check_text() has buffers. */
static void judge_probed(struct check_context *context)
{
	int end = stretch_here(context), is_fault;
	struct path_stretch stretch;
	unsigned int promised;
	char evidence[1024], rule[256], fix[512] = "";

	if (!end)
		return;
	stretch = path_sizes_stretch(context->sizes, end);
	if (!stretch.stops_bytes || !stretch.passes_bytes)
		return;
	promised = promised_bytes(context);
	is_fault = stretch.stops_bytes <= promised;
	describe_stop(context, end, &stretch, evidence, sizeof(evidence));
	if (is_fault)
		snprintf(fix, sizeof(fix), "%s", fix_for(context, end, stretch.passes_bytes));
	snprintf(rule, sizeof(rule),
		 is_fault ? "the MTUs of source and sink promise frames of %u bytes; a hop between them that "
			    "stops smaller ones drops them without a word"
			  : "beyond the %u bytes that the MTUs of source and sink promise; nobody has to send them",
		 promised);
	report_stretch(context, end, is_fault ? FINDING_FAIL : FINDING_INFO, evidence, rule, fix);
}

static void judge_lost(struct check_context *context)
{
	int end = stretch_here(context);
	struct path_stretch stretch;
	char evidence[1024] = "no frame of any size comes through; ";
	size_t used = strlen(evidence);

	if (!end)
		return;
	stretch = path_sizes_stretch(context->sizes, end);
	if (!stretch.stops_bytes || stretch.passes_bytes)
		return;
	describe_counts(context, &stretch.stops_bytes, 1, evidence + used, sizeof(evidence) - used);
	report_stretch(
		context, end, FINDING_FAIL, evidence,
		"untagged IPv4 frames from the source's address to the sink's pass every hop of a path that works",
		"hopcap path with the same two ends tells what decides at each hop");
}

static void judge_not_made(struct check_context *context)
{
	const struct path_sizes *sizes = context->sizes;

	if (sizes->why_not[0])
		check_report(context, FINDING_UNKNOWN, check_text("nothing was sent: %s", sizes->why_not),
			     "which sizes pass is known only when frames of each size were sent", "");
	else if (sizes->is_cut_short)
		check_report(context, FINDING_UNKNOWN,
			     check_text("%d sizes were sent, then the time was up", sizes->step_count),
			     "probing takes no more than three seconds, so that it may be done on a path in use",
			     "probe a part of the path: the points before and behind the hop that is not exact");
}

static const struct check rows[] = {
	{ .id = "mtu-probed",
	  .subject = CHECK_HOP,
	  .applies = is_asked,
	  .judge = judge_probed,
	  .explains = RUN_CAUSE_MTU,
	  .title = "A hop that stops frames which source and sink would take",
	  .why = "Some frames of each size were sent through the path (--probe) and counted at every point: smaller ones come "
		 "through this hop, larger ones come in and do not go out. Unlike MTUs that are read, this sees what no interface "
		 "shows: a virtual switch, a shared Ethernet adapter, a policer, a provider's network. Small frames pass, so a "
		 "ping answers and bulk transfer stands still.",
	  .remedy =
		  "Raise the MTU of the named hop, or lower the sender's to what passes, and probe again. A veth or bridge port "
		  "passes 4 bytes more than its MTU says, the room of a tag.",
	  .effect = "frames of full size arrive; with --probe no size is stopped any more",
	  .reference = "mtu",
	  .weight = 1.0 },
	{ .id = "probe-lost",
	  .subject = CHECK_HOP,
	  .applies = is_asked,
	  .judge = judge_lost,
	  .title = "Frames of no size come through a hop",
	  .why = "Frames that were sent to try sizes (--probe) come in at the named hop and none goes out, the small ones "
		 "neither. That is no matter of MTU: a bridge that sends them elsewhere, a filter on addresses or on UDP, a port "
		 "that blocks, or a path that was not followed rightly.",
	  .remedy = "Look at what decides at that hop (hopcap path), and at its filters and drop counters.",
	  .effect = "frames of the smallest size arrive",
	  .reference = "path",
	  .weight = 1.0 },
	{ .id = "probe-not-made",
	  .subject = CHECK_MACHINE,
	  .applies = is_asked,
	  .judge = judge_not_made,
	  .title = "Sizes could not be probed, or not to the end",
	  .why = "--probe sends frames from the first point and counts them with programs at all others. It refuses the interface "
		 "of the default route and of an ssh session, interfaces that are down, and a path that is cut.",
	  .remedy =
		  "Do what the evidence says; --force-uplink lifts the first refusal. All else of the doctor holds without it.",
	  .effect = "the largest size that really passes is known",
	  .reference = "path",
	  .weight = 0.3 },
};

CHECK_TABLE(checks_probe, rows);
