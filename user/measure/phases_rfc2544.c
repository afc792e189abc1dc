// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The step that runs RFC 2544's benchmarks over the whole path, by the RFC's own rules.
 *
 * Owns: what 100 % is, durations and pauses, trials of the path, what of the results the model keeps. Leaves to others:
 * the procedures (rfc2544.c).
 *
 * 100 % is what the source offers at a size when it goes as fast as it can (or --rate): virtual interfaces have no line
 * rate. When the user shortens trials, everything is shortened in proportion, and the report says that it is not by the
 * RFC.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/undo.h"
#include "measure/phases.h"
#include "measure/rfc2544.h"

#define RESOLUTION 0.005
#define CEILING_S 0.3 /* of the trial that finds 100 % */
#define CEILING_TRIALS 3
#define LEAST_STAMPED (2 * RFC2544_TAGGED_FRAMES)
#define MOST_STAMPED_PPS 10000.0 /* stamping costs time at every point */
#define BURST_PATIENCE 4
#define BURST_LEAST_S 0.02
#define SLICE_NS 50000000

struct rfc2544_bench {
	struct phases *phases;
	struct run_size *size;
	double max_pps;
	const char *what;
	double done, share; /* of the run */
};

/* -EINTR when the user interrupts. */
static int pause_for(double seconds)
{
	while (seconds > 0) {
		const struct timespec slice = { .tv_nsec = SLICE_NS };

		if (undo_interrupted())
			return error_set(EINTR, "interrupted");
		nanosleep(&slice, NULL);
		seconds -= SLICE_NS / 1e9;
	}
	return 0;
}

/* One in so many frames is stamped: enough of them, but not so many that it costs. */
static unsigned int stamp_interval(double pps, double duration_s)
{
	unsigned int interval = 1;

	while (pps / interval > MOST_STAMPED_PPS && pps * duration_s / (2 * interval) >= LEAST_STAMPED &&
	       interval < 1u << 20)
		interval *= 2;
	return interval;
}

static void read_latency(const struct histogram *path_ns, struct rfc2544_trial *trial)
{
	trial->stamped = histogram_count(path_ns);
	if (!trial->stamped)
		return;
	trial->mean_ns = histogram_mean(path_ns);
	trial->median_ns = histogram_quantile(path_ns, 0.5);
	trial->p999_ns = histogram_quantile(path_ns, 0.999);
	trial->min_ns = histogram_min(path_ns);
	trial->max_ns = histogram_max(path_ns);
}

/* The frames end a burst; this only keeps a source that is not let run from waiting for ever. */
static double burst_limit_s(const struct rfc2544_bench *bench, uint64_t frames)
{
	return BURST_PATIENCE * (double)frames / bench->max_pps + BURST_LEAST_S;
}

static int run_trial(void *context, const struct rfc2544_load *load, struct rfc2544_trial *result)
{
	struct rfc2544_bench *bench = context;
	struct phases *phases = bench->phases;
	struct run *run = phases->bench.run;
	const struct run_rfc2544 *times = &run->rfc2544;
	const struct trial_request request = {
		.purpose = RUN_PURPOSE_RFC2544,
		.sink_point = run->point_count - 1,
		.port = bench->size->port,
		.frame_bytes = bench->size->frame_bytes,
		.pps = load->pps > 0 ? load->pps : phases->request->rate_pps,
		.duration_s = load->duration_s > 0 ? load->duration_s : burst_limit_s(bench, load->frames),
		.frames = load->frames,
		.stamp_interval = load->with_latency ? stamp_interval(load->pps, load->duration_s) : 0,
	};
	struct run_trial *trial;
	int code;

	phase_progress(phases, bench->done, "RFC 2544, %u bytes: %s, %.0f pps", bench->size->frame_bytes, bench->what,
		       request.pps);
	code = trial_run(&phases->bench, &request, &trial);
	if (code)
		return code;
	/* trial_run() has waited for the last frame already; the RFC wants time whatever is seen. */
	code = pause_for(times->settle_s + times->pause_s);
	result->sent = (uint64_t)trial->sent;
	result->received = (uint64_t)trial->received;
	result->duration_s = trial->duration_s;
	if (load->with_latency)
		read_latency(&phases->bench.readings[run->point_count - 1].path_ns, result);
	return code;
}

/* The highest of a few short trials at full speed. */
static int find_ceiling(struct rfc2544_bench *bench, double *max_pps)
{
	struct run *run = bench->phases->bench.run;
	double best = 0;

	bench->what = "what the source offers";
	for (int i = 0; i < CEILING_TRIALS; i++) {
		const struct trial_request request = { .purpose = RUN_PURPOSE_RFC2544,
						       .sink_point = run->point_count - 1,
						       .port = bench->size->port,
						       .frame_bytes = bench->size->frame_bytes,
						       .pps = bench->phases->request->rate_pps,
						       .duration_s = CEILING_S };
		struct run_trial *trial;
		int code = trial_run(&bench->phases->bench, &request, &trial);

		if (code)
			return code;
		best = fmax(best, trial->offered_pps);
	}
	*max_pps = bench->phases->request->rate_pps > 0 ? fmin(bench->phases->request->rate_pps, best) : best;
	return 0;
}

static void choose_times(const struct measure_request *request, struct run_rfc2544 *times)
{
	double part = request->rfc2544_trial_s > 0 ? request->rfc2544_trial_s / RFC2544_TRIAL_S : 1;

	times->by_the_rfc = part >= 1;
	times->trial_s = RFC2544_TRIAL_S * part;
	part = fmin(part, 1); /* pauses and bursts need not be longer than the RFC wants */
	times->stream_s = fmax(RFC2544_STREAM_S * part, 2 * times->trial_s);
	times->burst_s = RFC2544_BURST_S * part;
	times->settle_s = RFC2544_SETTLE_S * part;
	times->pause_s = RFC2544_PAUSE_S * part;
	times->resolution = RESOLUTION;
}

static int measure_throughput(struct rfc2544_bench *bench, const struct rfc2544_plan *plan,
			      struct run_rfc2544_size *size)
{
	struct rfc2544_throughput found;
	int code;

	bench->what = "throughput";
	code = rfc2544_throughput(plan, 0, run_trial, bench, &found);
	size->throughput_trials = found.trials;
	size->throughput_pps = found.pps;
	size->lossy_pps = found.lossy_pps;
	return code;
}

static int measure_latency(struct rfc2544_bench *bench, const struct rfc2544_plan *plan, struct run_rfc2544_size *size)
{
	struct rfc2544_latency found;
	int code;

	if (!(size->throughput_pps > 0))
		return 0; /* there is no rate to measure it at */
	bench->what = "latency";
	code = rfc2544_latency(plan, size->throughput_pps, run_trial, bench, &found);
	size->latency_repetitions = found.repetitions;
	size->latency_pps = size->throughput_pps;
	size->latency_frames = found.stamped;
	size->latency_lost = found.lost;
	size->latency_mean_ns = found.mean_ns;
	size->latency_median_ns = found.median_ns;
	size->latency_p999_ns = found.p999_ns;
	size->latency_min_ns = found.min_ns;
	size->latency_max_ns = found.max_ns;
	return code;
}

static int measure_losses(struct rfc2544_bench *bench, const struct rfc2544_plan *plan, struct run_rfc2544_size *size)
{
	struct rfc2544_loss found;
	int code;

	bench->what = "frame loss rate";
	code = rfc2544_loss_rate(plan, run_trial, bench, &found);
	size->step_count = found.count;
	size->loss_clean = found.is_clean;
	for (int i = 0; i < found.count; i++)
		size->steps[i] = (struct run_rfc2544_step){ found.steps[i].percent, found.steps[i].offered_pps,
							    found.steps[i].loss_ratio };
	return code;
}

static int measure_bursts(struct rfc2544_bench *bench, const struct rfc2544_plan *plan, struct run_rfc2544_size *size)
{
	double throughput_pps = size->throughput_pps > 0 ? size->throughput_pps : 0;
	struct rfc2544_bursts found;
	int code;

	bench->what = "back-to-back frames";
	code = rfc2544_back_to_back(plan, throughput_pps, run_trial, bench, &found);
	size->bursts = found.count;
	size->burst_frames = found.mean_frames;
	size->burst_min_frames = found.min_frames;
	size->burst_max_frames = found.max_frames;
	size->burst_deviation_frames = found.deviation_frames;
	size->burst_pps = found.rate_pps;
	size->buffer_ns = found.buffer_ns;
	size->burst_unbounded = found.is_unbounded;
	return code;
}

static int measure_size(struct rfc2544_bench *bench, struct run_rfc2544_size *size)
{
	static const struct {
		unsigned int needed_by;
		int (*measure)(struct rfc2544_bench *bench, const struct rfc2544_plan *plan,
			       struct run_rfc2544_size *size);
	} steps[] = {
		{ MEASURE_THROUGHPUT | MEASURE_LATENCY, measure_throughput },
		{ MEASURE_LATENCY, measure_latency },
		{ MEASURE_LOSS, measure_losses },
		{ MEASURE_BACK_TO_BACK, measure_bursts },
	};
	const struct run_rfc2544 *times = &bench->phases->bench.run->rfc2544;
	struct rfc2544_plan plan = { .resolution = times->resolution,
				     .trial_s = times->trial_s,
				     .stream_s = times->stream_s,
				     .burst_s = times->burst_s,
				     .repetitions = RFC2544_REPETITIONS,
				     .bursts = RFC2544_BURSTS };
	int code = find_ceiling(bench, &size->max_pps);

	plan.max_pps = bench->max_pps = size->max_pps;
	for (unsigned int i = 0; !code && i < sizeof(steps) / sizeof(steps[0]); i++) {
		if (bench->phases->request->rfc2544 & steps[i].needed_by)
			code = steps[i].measure(bench, &plan, size);
		bench->done += bench->share / 4;
	}
	return code;
}

int phase_rfc2544(struct phases *phases)
{
	struct run *run = phases->bench.run;
	struct run_rfc2544 *result = &run->rfc2544;
	struct rfc2544_bench bench = { .phases = phases, .done = 0.05, .share = 0.95 / run->size_count };
	int code = 0;

	run->has_rfc2544 = 1;
	choose_times(phases->request, result);
	for (int i = 0; !code && i < run->size_count && result->size_count < RUN_MAX_RFC2544_SIZES; i++) {
		struct run_rfc2544_size *size = &result->sizes[result->size_count];

		if (!run->sizes[i].delivered)
			continue;
		bench.size = &run->sizes[i];
		size->frame_bytes = bench.size->frame_bytes;
		size->port = bench.size->port;
		result->size_count++;
		code = measure_size(&bench, size);
	}
	run->verdict.kind = RUN_VERDICT_NONE;
	snprintf(run->verdict.sentence, sizeof(run->verdict.sentence),
		 "Measured as a whole by RFC 2544: no hop was looked at, so none is named.");
	return code;
}
