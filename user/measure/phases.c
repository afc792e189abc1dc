// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measuring steps that are about rates: delivery, cuts, observer. Services are in services.c, what the whole path sustains in
 * throughput.c and phases_rfc2544.c, latency in latency.c.
 *
 * Order within a step matters on a shared machine: trials of different cuts, and of a pair, alternate, so that a slow minute
 * of the machine falls on all of them alike.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "measure/attribute.h"
#include "measure/capacity.h"
#include "measure/median.h"
#include "measure/phases.h"

#define DELIVERY_FRAMES 64
#define DELIVERY_PPS 20000
#define MAX_PAIRS 16
#define SEARCH_ABOVE_SERVICE 1.25
#define LEAST_PPS 1000

/* --- delivery --- */

static int deliver(struct phases *phases, enum run_port port, unsigned int bytes, struct run_trial **trial)
{
	const struct trial_request request = {
		.purpose = RUN_PURPOSE_DELIVERY,
		.sink_point = phases->bench.run->point_count - 1,
		.port = port,
		.frame_bytes = bytes,
		.pps = DELIVERY_PPS,
		.duration_s = 0.5,
		.frames = DELIVERY_FRAMES,
		.probes = TRIAL_ALL_PROBES,
		/* An XDP program of ours at the first point would make a veth end deliver that does not by itself, and most
		 * trials have none there. On a path of one hop the sink always is there. */
		.without_xdp = phases->bench.run->point_count > 2,
	};

	return trial_run(&phases->bench, &request, trial);
}

static void note_refusal(char *why, size_t size, enum run_port port, const char *reason)
{
	size_t used = strlen(why);

	snprintf(why + used, size - used, "%s%s: %s", used ? "; " : "", run_port_name(port), reason);
}

int phase_choose_port(struct phases *phases, unsigned int bytes, enum run_port *chosen, char *why, size_t why_size,
		      struct run_trial **trial)
{
	static const enum run_port order[] = { RUN_PORT_AF_XDP_ZC, RUN_PORT_LIVE, RUN_PORT_AF_XDP_COPY, RUN_PORT_PACKET };
	const struct measure_request *request = phases->request;

	why[0] = 0;
	for (unsigned int i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		char why_not[RUN_TEXT_BYTES];
		int code;

		if (request->port_given && order[i] != request->port)
			continue;
		code = domain_source_usable(phases->bench.source_domain, order[i], bytes, why_not);
		if (code < 0)
			return code;
		if (!code) {
			/* Most drivers have no zero-copy: that is a reason only for who asked for it. */
			if (order[i] != RUN_PORT_AF_XDP_ZC || request->port_given)
				note_refusal(why, why_size, order[i], why_not);
			continue;
		}
		code = deliver(phases, order[i], bytes, trial);
		if (code)
			return code;
		if ((*trial)->points[1] > 0) {
			*chosen = order[i];
			if (!why[0])
				snprintf(why, why_size,
					 request->port_given ? "asked for with --port"
							     : "the fastest that delivers here");
			return 0;
		}
		note_refusal(
			why, why_size, order[i],
			order[i] == RUN_PORT_LIVE
				? "accepted but not delivered (a veth end takes redirected frames only with GRO or an XDP program on it, virtio sends them only with an XDP program)"
				: "accepted but not delivered");
	}
	return -EHOSTUNREACH;
}

static int last_seen(const struct run *run, const struct run_trial *trial)
{
	int seen = 0;

	for (int i = 1; i < run->point_count; i++)
		if (trial->points[i] > 0)
			seen = i;
	return seen;
}

static int add_size(unsigned int *sizes, int count, unsigned int bytes, unsigned int limit)
{
	if (bytes > limit || count >= RUN_MAX_SIZES)
		return count;
	for (int i = 0; i < count; i++)
		if (sizes[i] == bytes)
			return count;
	sizes[count] = bytes;
	return count + 1;
}

static int ladder(const struct phases *phases, unsigned int *sizes)
{
	static const unsigned int steps[] = { 64, 256, 512, 1024, 1514, 4014 };
	static const unsigned int rfc2544[] = { 60, 124, 252, 508, 1020, 1276, 1514 }; /* 64 to 1518 with FCS */
	const struct measure_request *request = phases->request;
	unsigned int limit = phases->bench.run->points[0].mtu_bytes + 14;
	int count = 0;

	if (limit > HOPCAP_MAX_FRAME_BYTES)
		limit = HOPCAP_MAX_FRAME_BYTES;
	if (request->rfc2544 && request->size_bytes)
		return add_size(sizes, 0, request->size_bytes, limit);
	if (request->rfc2544) {
		for (unsigned int i = 0; i < sizeof(rfc2544) / sizeof(rfc2544[0]); i++)
			count = add_size(sizes, count, rfc2544[i], limit);
		return count;
	}
	for (unsigned int i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (!request->quick || (steps[i] != 256 && steps[i] != 1024))
			count = add_size(sizes, count, steps[i], limit);
	count = add_size(sizes, count, limit, limit);
	if (request->size_bytes)
		count = add_size(sizes, count, request->size_bytes, limit);
	return count;
}

static int unreachable(const struct run *run, const struct run_trial *trial, unsigned int bytes, const char *why)
{
	int seen = last_seen(run, trial);
	char label[160];

	if (!seen)
		return error_set(EHOSTUNREACH, "no test frame of %u bytes arrives: last seen at the source, %s (%s)",
				 bytes, run->points[0].name, why);
	return error_set(EHOSTUNREACH, "no test frame of %u bytes arrives at %s: last seen at %s, lost in %s", bytes,
			 run->points[run->point_count - 1].name, run->points[seen].name,
			 run_hop_label(run, seen + 1, label, sizeof(label)));
}

/* A path that is served on the source's CPU may only follow it there by chance of the first choice: try another once. */
static int separate_source(struct phases *phases, enum run_port port, unsigned int bytes)
{
	struct bench *bench = &phases->bench;
	int sink = bench->run->point_count - 1, other, usable, cpu = bench->source_cpu;
	struct run_trial *trial;
	int code;

	if (phases->request->source_cpu >= 0 || bench->readings[sink].cpu != cpu)
		return 0;
	code = domain_cpu(bench->source_domain, -1, cpu, &usable, &other);
	if (code || other < 0)
		return code;
	code = domain_source_set_cpu(bench->source_domain, other);
	if (code)
		return code;
	bench->source_cpu = other;
	code = deliver(phases, port, bytes, &trial);
	if (!code && bench->readings[sink].cpu == other) { /* it follows: stay where we were */
		code = domain_source_set_cpu(bench->source_domain, cpu);
		bench->source_cpu = cpu;
	}
	return code;
}

/*
 * The largest size that arrives through the port of the smallest one: cuts are best compared where frames enter the path in
 * one and the cheapest form; sizes that only a slower port can carry still stand in the table of sizes.
 */
static void choose_primary(struct phases *phases)
{
	struct run *run = phases->bench.run;

	run->primary_bytes = 0;
	for (int i = 0; i < run->size_count; i++) {
		const struct run_size *size = &run->sizes[i];

		if (!size->delivered)
			continue;
		if (phases->request->size_bytes
			    ? size->frame_bytes == phases->request->size_bytes
			    : size->port == run->sizes[0].port && size->frame_bytes > run->primary_bytes) {
			run->primary_bytes = size->frame_bytes;
			run->source.port = size->port;
		}
	}
	strcpy(run->points[0].mode, run_port_name(run->source.port));
	run->source.cpu = phases->bench.source_cpu;
}

static int try_size(struct phases *phases, unsigned int bytes, int is_first)
{
	struct run *run = phases->bench.run;
	struct run_size *size = &run->sizes[run->size_count];
	struct run_trial *trial = NULL;
	char why[RUN_TEXT_BYTES];
	int code = phase_choose_port(phases, bytes, &size->port, why, sizeof(why), &trial);

	if (code == -EHOSTUNREACH && !trial)
		return error_set(EHOSTUNREACH, "%s: no port can send frames of %u bytes here: %s", run->points[0].name,
				 bytes, why);
	if (code && code != -EHOSTUNREACH)
		return code;
	size->frame_bytes = bytes;
	size->last_seen_point = last_seen(run, trial);
	size->delivered = trial->received > 0;
	run->size_count++;
	if (!size->delivered && (is_first || bytes == phases->request->size_bytes))
		return unreachable(run, trial, bytes, why);
	if (size->delivered)
		memcpy(run->source.why, why, sizeof(why));
	return is_first ? separate_source(phases, size->port, bytes) : 0;
}

int phase_delivery(struct phases *phases)
{
	unsigned int sizes[RUN_MAX_SIZES];
	int count = ladder(phases, sizes), code = 0;

	if (phases->request->size_bytes > phases->bench.run->points[0].mtu_bytes + 14)
		return error_set(EINVAL, "%s: frames of %u bytes do not fit its MTU of %u (at most %u)",
				 phases->bench.run->points[0].name, phases->request->size_bytes,
				 phases->bench.run->points[0].mtu_bytes, phases->bench.run->points[0].mtu_bytes + 14);
	for (int i = 0; !code && i < count; i++) {
		phase_progress(phases, 0.02, "delivery: frames of %u bytes", sizes[i]);
		code = try_size(phases, sizes[i], i == 0);
	}
	if (!code)
		choose_primary(phases);
	return code;
}

/* --- capacity searches --- */

struct search_context {
	struct phases *phases;
	int cut;
	double duration_s;
};

static int search_trial(void *argument, double asked_pps, struct capacity_trial *result)
{
	struct search_context *context = argument;
	struct phases *phases = context->phases;
	const struct trial_request request = {
		.purpose = RUN_PURPOSE_CAPACITY,
		.sink_point = context->cut,
		.port = phases->bench.run->source.port,
		.frame_bytes = phases->bench.run->primary_bytes,
		.pps = asked_pps,
		.duration_s = context->duration_s,
		.stamp_interval = FULL_LOAD_STAMP_INTERVAL,
	};
	struct run_trial *trial;
	int code = trial_run(&phases->bench, &request, &trial);

	if (code)
		return code;
	result->offered_pps = trial->offered_pps;
	result->loss_ratio = trial_loss_ratio(trial);
	return 0;
}

int phase_search_range(struct phases *phases, int point, struct search_range *range)
{
	const struct run_service *service = attribute_service(
		phases->bench.run, point, phases->bench.run->primary_bytes, phases->bench.run->source.port);

	if (!service)
		return error_set(ENODATA, "cut %d was not measured", point);
	*range = (struct search_range){ .min_pps = LEAST_PPS, .max_pps = phases->request->rate_pps };
	if (!range->max_pps || range->max_pps > service->offered_pps)
		range->max_pps = service->offered_pps;
	/* More than what comes through in overload cannot be sustained, but for the machine's changes of speed. */
	range->is_clamped = range->max_pps > SEARCH_ABOVE_SERVICE * service->high_pps;
	if (range->is_clamped)
		range->max_pps = SEARCH_ABOVE_SERVICE * service->high_pps;
	range->hint_pps = service->pps < range->max_pps ? service->pps : range->max_pps;
	if (range->min_pps > range->max_pps / 100)
		range->min_pps = range->max_pps / 100;
	return 0;
}

static int search(struct phases *phases, int cut, struct capacity_bounds *bounds)
{
	struct search_context context = { .phases = phases, .cut = cut, .duration_s = phases->plan->search_s };
	struct capacity_goal goal = { .loss_ratio = phases->bench.run->loss_goal,
				      .width = phases->plan->cut_width,
				      .max_trials = phases->plan->cut_trials };
	struct search_range range;
	int code = phase_search_range(phases, cut, &range);

	if (code)
		return code;
	goal.min_pps = range.min_pps;
	goal.hint_pps = range.hint_pps;
	goal.max_pps = range.max_pps;
	code = capacity_search(&goal, search_trial, &context, bounds);
	if (!code && range.is_clamped && bounds->source_limited) {
		bounds->source_limited = 0;
		bounds->upper_pps = goal.max_pps;
		bounds->irregular = 1;
	}
	return code;
}

static void find_ceiling(struct run *run)
{
	run->source.ceiling_pps = 0;
	for (int i = 0; i < run->service_count; i++)
		if (run->services[i].frame_bytes == run->primary_bytes && run->services[i].port == run->source.port &&
		    run->services[i].offered_pps > run->source.ceiling_pps)
			run->source.ceiling_pps = run->services[i].offered_pps;
	run->source.self_clocked =
		attribute_service(run, run->point_count - 1, run->primary_bytes, run->source.port)->self_clocked;
}

int phase_cuts(struct phases *phases)
{
	struct run *run = phases->bench.run;
	int sink = run->point_count - 1;

	for (int point = 1; point < sink; point++) {
		struct capacity_bounds bounds;
		int code;

		phase_progress(phases, 0.4 + 0.25 * (point - 1) / sink, "cuts: capacity of cut %d of %d, at %s", point,
			       sink, run->points[point].name);
		code = search(phases, point, &bounds);
		if (code)
			return code;
		run->cuts[point - 1] =
			(struct run_cut){ .point = point,
					  .lower_pps = bounds.lower_pps,
					  .upper_pps = bounds.upper_pps,
					  .gbps = bounds.lower_pps * run->primary_bytes * 8 / 1e9,
					  .limited_by = bounds.source_limited ? RUN_LIMIT_SOURCE : RUN_LIMIT_PATH };
		run->cut_count = point;
	}
	find_ceiling(run);
	return 0;
}

/* --- observer --- */

static int full_load(struct phases *phases, int probed, double *passed_pps)
{
	struct run *run = phases->bench.run;
	const struct trial_request request = {
		.purpose = RUN_PURPOSE_OBSERVER,
		.sink_point = run->point_count - 1,
		.port = run->source.port,
		.frame_bytes = run->primary_bytes,
		.pps = phases->request->rate_pps,
		.duration_s = phases->plan->service_s,
		.stamp_interval = FULL_LOAD_STAMP_INTERVAL,
		.probes = probed ? phases->probes_at_cap : 0,
	};
	struct run_trial *trial;
	int code = trial_run(&phases->bench, &request, &trial);

	if (!code)
		*passed_pps = trial_passed_pps(trial);
	return code;
}

/* The middle pairs: a slow spell of the machine between the two halves of a pair makes a ratio of anything. */
static void record_observer(struct run *run, double *ratios, double *bare_pps, int pairs)
{
	struct run_observer *observer = &run->observer;

	observer->throughput_ratio = median(ratios, pairs);
	observer->low_ratio = ratios[pairs / 4];
	observer->high_ratio = ratios[pairs - 1 - pairs / 4];
	observer->pairs = pairs;
	observer->ns_per_frame = 1e9 / median(bare_pps, pairs) * (1 / observer->throughput_ratio - 1);
	run->has_observer = 1;
}

int phase_observer(struct phases *phases)
{
	struct run *run = phases->bench.run;
	double ratios[MAX_PAIRS], bare_pps[MAX_PAIRS];
	int pairs = phases->plan->observer_pairs;

	if (!phases->probes_at_cap)
		return 0; /* no middle point is probed at full load */
	for (int pair = 0; pair < pairs; pair++) {
		double probed_pps = 0;
		int first = pair % 2, code;

		phase_progress(phases, 0.88 + 0.12 * pair / pairs, "observer cost: pair %d of %d", pair + 1, pairs);
		code = full_load(phases, first, first ? &probed_pps : &bare_pps[pair]);
		if (!code)
			code = full_load(phases, !first, first ? &bare_pps[pair] : &probed_pps);
		if (code)
			return code;
		if (!(bare_pps[pair] > 0) || !(probed_pps > 0))
			return 0; /* nothing came through: there is no ratio to speak of */
		ratios[pair] = probed_pps / bare_pps[pair];
	}
	record_observer(run, ratios, bare_pps, pairs);
	return 0;
}
