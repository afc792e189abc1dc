// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * RFC 2544 by its own rules.
 *
 * Owns: the order of trials and what is computed of them. Leaves to others: running trials and the pauses around them,
 * frame sizes, what 100 % is. Called by: measure/phases_rfc2544.c; tests take its binary search as the measure of other
 * searches.
 *
 * Where the RFC leaves a choice, or cannot be followed to the letter:
 *   Throughput: binary search from 100 % down; a rate passes when not a frame is lost. Every trial has the full length,
 * so the one that determines the result has it as well. (Shorter ones are allowed on the way; mlrsearch.c is the search
 * for that.) Latency: the RFC tags one frame in the middle of a stream of 120 s, twenty times, and averages. Here
 * frames are stamped all through the stream: the mean of a repetition estimates the same from more frames. RFC 8219
 * asks for the median and the 99.9th percentile of 500 frames or more, which say more than a mean of twenty. Frame loss
 * rate: the first trial at 100 %; steps of 10 %; ends when two successive trials lost nothing. Back-to-back: each
 * search doubles or halves the burst until a pass and a loss enclose the longest one, then bisects to 1 % or one frame.
 * It begins at what the last search found. A burst of burst_s that passes is as good as endless.
 */
#include "measure/rfc2544.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "measure/median.h"

#define LEAST_FRAMES 20 /* in a trial: fewer say nothing of a rate */
#define BURST_RESOLUTION 0.01
#define FIRST_BURST 1024
#define LOSS_STEP 10.0 /* % */

static int check_plan(const struct rfc2544_plan *plan)
{
	if (!(plan->max_pps > 0) || isinf(plan->max_pps))
		return error_set(EINVAL, "RFC 2544 needs to know what 100 %% is: the highest rate is unknown");
	if (!(plan->resolution > 0 && plan->resolution < 1))
		return error_set(EINVAL, "a throughput cannot be found to within %g of itself", plan->resolution);
	if (!(plan->trial_s > 0) || !(plan->stream_s > 0) || !(plan->burst_s > 0) || plan->repetitions < 1 ||
	    plan->bursts < 1)
		return error_set(EINVAL, "trials of %g s, streams of %g s and bursts of %g s cannot be run",
				 plan->trial_s, plan->stream_s, plan->burst_s);
	return 0;
}

static int run(const struct rfc2544_load *load, rfc2544_trial_function run_trial, void *context,
	       struct rfc2544_trial *trial)
{
	int code;

	memset(trial, 0, sizeof(*trial));
	code = run_trial(context, load, trial);
	if (!code && !trial->sent)
		return error_set(EIO,
				 "a trial of RFC 2544 sent nothing; see whether the source's interface is still up");
	return code;
}

static double loss_of(const struct rfc2544_trial *trial)
{
	return trial->received < trial->sent ? (double)(trial->sent - trial->received) / (double)trial->sent : 0;
}

static double rate_of(const struct rfc2544_trial *trial, double asked_pps)
{
	return trial->duration_s > 0 ? (double)trial->sent / trial->duration_s : asked_pps;
}

int rfc2544_throughput(const struct rfc2544_plan *plan, double allowed_loss, rfc2544_trial_function run_trial,
		       void *context, struct rfc2544_throughput *result)
{
	struct rfc2544_load load = { .pps = plan->max_pps, .duration_s = plan->trial_s };
	int code = check_plan(plan);

	*result = (struct rfc2544_throughput){ 0 };
	while (!code) {
		struct rfc2544_trial trial;

		code = run(&load, run_trial, context, &trial);
		if (code)
			break;
		result->trials++;
		result->trial_s += trial.duration_s > 0 ? trial.duration_s : plan->trial_s;
		if (loss_of(&trial) <= allowed_loss) {
			result->asked_pps = load.pps;
			result->pps = rate_of(&trial, load.pps);
		} else {
			result->lossy_pps = load.pps;
			result->loss_ratio = loss_of(&trial);
		}
		if (!result->lossy_pps ||
		    result->lossy_pps - result->asked_pps <= plan->resolution * result->lossy_pps ||
		    (result->lossy_pps + result->asked_pps) / 2 * plan->trial_s < LEAST_FRAMES)
			break;
		load.pps = (result->lossy_pps + result->asked_pps) / 2;
	}
	return code;
}

int rfc2544_latency(const struct rfc2544_plan *plan, double pps, rfc2544_trial_function run_trial, void *context,
		    struct rfc2544_latency *result)
{
	const struct rfc2544_load load = { .pps = pps, .duration_s = plan->stream_s, .with_latency = 1 };
	double medians[RFC2544_REPETITIONS], p999[RFC2544_REPETITIONS], sum_ns = 0;
	int code = check_plan(plan), known = 0;

	*result = (struct rfc2544_latency){
		.mean_ns = NAN, .median_ns = NAN, .p999_ns = NAN, .min_ns = NAN, .max_ns = NAN
	};
	if (!code && !(pps > 0))
		code = error_set(EINVAL, "latency is measured at the throughput, and that is 0");
	for (int i = 0; !code && i < plan->repetitions && i < RFC2544_REPETITIONS; i++) {
		struct rfc2544_trial trial;

		code = run(&load, run_trial, context, &trial);
		if (code)
			break;
		result->repetitions++;
		result->lost += trial.received < trial.sent ? trial.sent - trial.received : 0;
		result->stamped += trial.stamped;
		if (!trial.stamped)
			continue;
		sum_ns += trial.mean_ns;
		medians[known] = trial.median_ns;
		p999[known++] = trial.p999_ns;
		result->min_ns = known == 1 ? trial.min_ns : fmin(result->min_ns, trial.min_ns);
		result->max_ns = known == 1 ? trial.max_ns : fmax(result->max_ns, trial.max_ns);
	}
	if (known) {
		result->mean_ns = sum_ns / known;
		result->median_ns = median(medians, known);
		result->p999_ns = median(p999, known);
	}
	return code;
}

int rfc2544_loss_rate(const struct rfc2544_plan *plan, rfc2544_trial_function run_trial, void *context,
		      struct rfc2544_loss *result)
{
	int code = check_plan(plan), clean = 0;

	*result = (struct rfc2544_loss){ 0 };
	while (!code && clean < 2 && result->count < RFC2544_MAX_STEPS) {
		struct rfc2544_step *step = &result->steps[result->count];
		struct rfc2544_load load = { .duration_s = plan->trial_s };
		struct rfc2544_trial trial;

		step->percent = 100 - LOSS_STEP * result->count;
		load.pps = plan->max_pps * step->percent / 100;
		code = run(&load, run_trial, context, &trial);
		if (code)
			break;
		step->offered_pps = rate_of(&trial, load.pps);
		step->loss_ratio = loss_of(&trial);
		clean = trial.received < trial.sent ? 0 : clean + 1;
		result->count++;
	}
	result->is_clean = clean >= 2;
	return code;
}

struct burst_search {
	rfc2544_trial_function run_trial;
	void *context;
	double longest; /* that may be tried */
	int trials;
};

/* 1 when a burst passes, 0 when it loses, or -errno. *frames becomes what the source sent of it in the time it had. */
static int burst_passes(struct burst_search *search, double *frames)
{
	const struct rfc2544_load load = { .frames = (uint64_t)*frames };
	struct rfc2544_trial trial;
	int code = run(&load, search->run_trial, search->context, &trial);

	if (code)
		return code;
	search->trials++;
	*frames = fmin(*frames, (double)trial.sent);
	return trial.received >= trial.sent;
}

/* The longest burst without loss, from a first guess; *frames is 0 when a single frame is lost. 0 or -errno. */
static int longest_burst(struct burst_search *search, double *frames)
{
	double low = 0, high = 0, next = fmin(fmax(*frames, 1), search->longest);

	for (;;) {
		double asked = next;
		int passes = burst_passes(search, &next);

		if (passes < 0)
			return passes;
		*(passes ? &low : &high) = next;
		if ((passes && (next >= search->longest || next < asked)) || (!passes && next <= 1))
			break;
		if (high > 0 && (high - low <= 1 || (low > 0 && high - low <= BURST_RESOLUTION * high)))
			break;
		if (!high)
			next = fmin(2 * low, search->longest);
		else if (!low)
			next = floor(fmax(high / 2, 1));
		else
			next = floor((low + high) / 2);
		if (high && next >= high)
			break;
	}
	*frames = low;
	return 0;
}

static void finish_bursts(struct burst_search *search, double throughput_pps, double squares, int unbounded,
			  struct rfc2544_bursts *result)
{
	result->trials = search->trials;
	if (!result->count)
		return;
	result->mean_frames /= result->count;
	result->deviation_frames = sqrt(fmax(squares / result->count - result->mean_frames * result->mean_frames, 0));
	result->is_unbounded = 2 * unbounded > result->count;
	if (!result->is_unbounded && throughput_pps > 0 && result->rate_pps > throughput_pps)
		result->buffer_ns =
			result->mean_frames / result->rate_pps * 1e9 * (1 - throughput_pps / result->rate_pps);
}

int rfc2544_back_to_back(const struct rfc2544_plan *plan, double throughput_pps, rfc2544_trial_function run_trial,
			 void *context, struct rfc2544_bursts *result)
{
	struct burst_search search = { .run_trial = run_trial, .context = context };
	int code = check_plan(plan), unbounded = 0;
	double frames = FIRST_BURST, squares = 0;

	*result = (struct rfc2544_bursts){ .buffer_ns = NAN, .rate_pps = plan->max_pps };
	search.longest = code ? 1 : fmax(floor(plan->max_pps * plan->burst_s), 1);
	for (int i = 0; !code && i < plan->bursts; i++) {
		code = longest_burst(&search, &frames);
		if (code)
			break;
		result->min_frames = i ? fmin(result->min_frames, frames) : frames;
		result->max_frames = fmax(result->max_frames, frames);
		result->mean_frames += frames;
		squares += frames * frames;
		unbounded += frames >= search.longest;
		result->count++;
	}
	finish_bursts(&search, throughput_pps, squares, unbounded, result);
	return code;
}
