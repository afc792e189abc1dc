// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the path would pass without the hop that caps it: that hop replaced, in paired trials.
 *
 * Owns: which hop may be replaced, the pairs, what is made of them. Leaves to others: replacing (bypass.h), trials (trial.c). Called by
 * run.c after the verdict.
 *
 * Theory. The speed of a shared machine changes from second to second and is the same for neighbours, so each trial without the hop
 * stands beside one with it, now behind and now before it, and the ratio is taken pair by pair. Both are trials of the whole path with no
 * probe but the sink: what the hop's two ports are probed with would not see redirected frames, or stand in their way. CPU time: while
 * more is offered than fits, the CPU that serves the path lacks no work, so a frame takes 1 / rate of it, less what others took (cpu_share.h).
 * When all that is offered comes through without the hop, the CPU was not full, and both ratio and saving are at least what stands there.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "measure/cpu_share.h"
#include "measure/median.h"
#include "measure/phases.h"

#define MAX_PAIRS 32
#define MOSTLY 0.8 /* of what arrived must have gone past the hop, or the trial is about something else */
#define LOSSLESS 0.001
#define IDLE_TRIAL_S 0.25

struct one_trial {
	double passed_pps, cpu_ns; /* CPU time of a frame */
	double median_ns;	   /* latency of the path */
	int lossless, shares_cpu;  /* shares_cpu: the path is served where the source runs */
};

struct pairs {
	struct phases *phases;
	const struct bypass_means *means;
	struct bypass_hop hop;
	struct cpu_share *share;
	struct one_trial with[MAX_PAIRS], without[MAX_PAIRS];
};

/* The hop that is to go: the cap, or the one beside it that cannot be told from it and is a bridge. */
static int choose_hop(const struct run *run)
{
	const struct run_verdict *verdict = &run->verdict;

	if (verdict->kind != RUN_VERDICT_CAPPED)
		return 0;
	return verdict->second_hop && run->hops[verdict->hop - 1].kind != RUN_HOP_BRIDGE &&
			       run->hops[verdict->second_hop - 1].kind == RUN_HOP_BRIDGE
		       ? verdict->second_hop
		       : verdict->hop;
}

/* NULL, or why this hop cannot be replaced whatever replaces it. */
static const char *why_not(const struct phases *phases, int hop)
{
	const struct run *run = phases->bench.run;
	const struct path *path = &phases->bench.path;

	if (!hop)
		return "no hop is named as the cap";
	if (run->verdict.cause == RUN_CAUSE_MTU)
		return "what caps is an MTU, and no other way makes frames shorter";
	if (run->hops[hop - 1].kind != RUN_HOP_BRIDGE)
		return "it is no bridge, and only bridges have a way past them";
	if (!domain_is_local(path->domain[hop - 1]) || !domain_is_local(path->domain[hop]))
		return "it is in another kernel; run hopcap there";
	if (hop == 1 || hop == run->point_count - 1)
		return "the path begins or ends at a port of the bridge; give a point in front of it and one behind it";
	return NULL;
}

static void describe_hop(const struct phases *phases, int hop, struct bypass_hop *place)
{
	const struct run *run = phases->bench.run;

	memset(place, 0, sizeof(*place));
	memcpy(place->bridge, phases->bench.path.links[hop - 1].master, sizeof(place->bridge));
	memcpy(place->netns, run->points[hop - 1].netns, sizeof(place->netns));
	memcpy(place->into, run->points[hop - 1].interface, sizeof(place->into));
	memcpy(place->out, run->points[hop].interface, sizeof(place->out));
}

static int measure_one(struct pairs *pairs, int is_idle, struct one_trial *one)
{
	struct phases *phases = pairs->phases;
	const struct run *run = phases->bench.run;
	int sink = run->point_count - 1, limited = phases->request->rate_pps > 0, code;
	struct trial_request request = { .purpose = RUN_PURPOSE_BYPASS,
					 .sink_point = sink,
					 .port = run->source.port,
					 .frame_bytes = run->primary_bytes,
					 .pps = phases->request->rate_pps,
					 .duration_s = phases->plan->service_s,
					 .stamp_interval = FULL_LOAD_STAMP_INTERVAL,
					 .tick = pairs->share ? cpu_share_tick : NULL,
					 .tick_context = pairs->share };
	struct run_trial *trial;
	double share;

	if (is_idle) {
		request.pps = limited && request.pps < IDLE_PPS ? request.pps : IDLE_PPS;
		request.duration_s = IDLE_TRIAL_S;
		request.stamp_interval = IDLE_STAMP_INTERVAL;
		request.with_clocks = 1;
	}
	cpu_share_reset(pairs->share);
	code = trial_run(&phases->bench, &request, &trial);
	if (code)
		return code;
	share = cpu_share_of(pairs->share, phases->bench.readings[sink].cpu);
	one->passed_pps = trial_passed_pps(trial);
	one->cpu_ns = (share > 0 ? share : 1) * 1e9 / fmax(one->passed_pps, 1);
	one->median_ns = phase_path_median_ns(phases);
	one->lossless = trial_loss_ratio(trial) < LOSSLESS;
	one->shares_cpu = phases->bench.readings[sink].cpu == phases->bench.source_cpu;
	return 0;
}

static int check_way(struct pairs *pairs, uint64_t past)
{
	const struct run *run = pairs->phases->bench.run;
	int64_t received = run->trials[run->trial_count - 1].received;

	if ((double)past >= MOSTLY * (double)received)
		return 0;
	return error_set(ENODATA, "%s: only %llu of %lld frames took %s; the others went through the bridge",
			 pairs->hop.bridge, (unsigned long long)past, (long long)received, pairs->means->way);
}

/* Ends in the state in which it began, whatever fails. */
static int measure_without(struct pairs *pairs, int is_idle, struct one_trial *one)
{
	const struct bypass_means *means = pairs->means;
	int code = means->start(means->context, &pairs->hop), undone;
	char why[RUN_TEXT_BYTES];

	if (code)
		return code;
	code = measure_one(pairs, is_idle, one);
	if (!code)
		code = check_way(pairs, means->frames(means->context));
	snprintf(why, sizeof(why), "%s", error_text());
	undone = means->stop(means->context);
	return code ? error_set(-code, "%s", why) : undone;
}

static int measure_pairs(struct pairs *pairs, int is_idle, int count)
{
	for (int i = 0; i < count; i++) {
		int first = i % 2, code;

		phase_progress(pairs->phases, 0.97, "past hop %d: pair %d of %d%s",
			       pairs->phases->bench.run->bypass.hop, i + 1, count, is_idle ? ", idle" : "");
		code = first ? measure_without(pairs, is_idle, &pairs->without[i])
			     : measure_one(pairs, is_idle, &pairs->with[i]);
		if (!code)
			code = first ? measure_one(pairs, is_idle, &pairs->with[i])
				     : measure_without(pairs, is_idle, &pairs->without[i]);
		if (code)
			return code;
	}
	return 0;
}

static void record_load(const struct pairs *pairs, int count, struct run_bypass *bypass)
{
	double ratios[MAX_PAIRS], with[MAX_PAIRS], without[MAX_PAIRS], saved[MAX_PAIRS];
	const struct run *run = pairs->phases->bench.run;
	int all_came = 0;

	for (int i = 0; i < count; i++) {
		with[i] = pairs->with[i].passed_pps;
		without[i] = pairs->without[i].passed_pps;
		ratios[i] = without[i] / fmax(with[i], 1);
		saved[i] = (pairs->with[i].cpu_ns - pairs->without[i].cpu_ns) / 1e3;
		all_came += pairs->without[i].lossless && !pairs->without[i].shares_cpu;
	}
	bypass->pairs = count;
	bypass->ratio = median(ratios, count); /* which sorts them */
	bypass->low_ratio = ratios[count / 4];
	bypass->high_ratio = ratios[count - 1 - count / 4];
	bypass->with_hop_pps = median(with, count);
	bypass->capacity_pps = median(without, count);
	bypass->limited_by = 2 * all_came > count ? RUN_LIMIT_SOURCE : RUN_LIMIT_PATH;
	if (run->verdict.cause == RUN_CAUSE_CPU)
		bypass->cpu_saved_s = median(saved, count);
}

static void record_idle(const struct pairs *pairs, int count, struct run_bypass *bypass)
{
	double with[MAX_PAIRS], without[MAX_PAIRS];

	for (int i = 0; i < count; i++) {
		with[i] = pairs->with[i].median_ns;
		without[i] = pairs->without[i].median_ns;
		if (!isfinite(with[i]) || !isfinite(without[i]))
			return;
	}
	bypass->with_hop_idle_ns = median(with, count);
	bypass->idle_ns = median(without, count);
}

static int measure(struct pairs *pairs, struct run_bypass *bypass)
{
	const struct phase_plan *plan = pairs->phases->plan;
	struct one_trial warm_up;
	/* Takes the probes of the trial before off, which would stand in the way. */
	int code = measure_one(pairs, 0, &warm_up);

	if (!code)
		code = measure_pairs(pairs, 0, plan->bypass_pairs);
	if (code)
		return code;
	record_load(pairs, plan->bypass_pairs, bypass);
	code = measure_pairs(pairs, 1, plan->bypass_idle_pairs);
	if (!code)
		record_idle(pairs, plan->bypass_idle_pairs, bypass);
	return code;
}

/* No number is half a number: what was measured before it failed goes, too. */
static void give_up(struct run_bypass *bypass, const char *why)
{
	bypass->capacity_pps = bypass->with_hop_pps = bypass->ratio = bypass->low_ratio = bypass->high_ratio =
		RUN_UNKNOWN;
	bypass->cpu_saved_s = bypass->idle_ns = bypass->with_hop_idle_ns = RUN_UNKNOWN;
	bypass->pairs = 0;
	snprintf(bypass->why_not, sizeof(bypass->why_not), "%s", why);
}

int phase_bypass(struct phases *phases)
{
	struct run *run = phases->bench.run;
	struct pairs pairs = { .phases = phases, .means = phases->request->bypass };
	const char *why;
	int code;

	run->has_bypass = 1;
	run->bypass.hop = choose_hop(run);
	snprintf(run->bypass.way, sizeof(run->bypass.way), "%s", pairs.means->way);
	why = why_not(phases, run->bypass.hop);
	if (why) {
		give_up(&run->bypass, why);
		return 0;
	}
	describe_hop(phases, run->bypass.hop, &pairs.hop);
	pairs.share = cpu_share_open();
	code = measure(&pairs, &run->bypass);
	cpu_share_close(pairs.share);
	if (code == -EINTR || code == -ENOTCONN)
		return code;
	if (code)
		give_up(&run->bypass, error_text());
	return 0;
}
