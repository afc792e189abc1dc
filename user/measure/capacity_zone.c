// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where a capacity lies by trials of all lengths.
 *
 * Theory. In overload what comes through is what the machine can do at that time: a trial at load r that loses x says
 * that the goal g would just have been met at s = r * (1 - x) / (1 - g). Such samples s scatter as the capacity does,
 * whether it wanders, jumps or stands still. The zone is what was seen to be the limit at some time: the samples, and,
 * where they contradict each other, loads that failed below loads that passed. A trial that lost hardly more than the
 * goal allows (by less than a twentieth of the width) says nothing of that kind: a few frames are lost to noise at any
 * load. A machine that does less the more is offered (or drops all) gives samples below loads that pass. As long as no
 * load failed below one that passed, samples count as not lower than the highest pass.
 *
 * Evidence for a bound. A goal puts up with a share e of failing trials. The hypotheses are kept apart by a margin:
 * "fails with probability e / 3" against "fails with probability (1 + e) / 2". For e = 1/2 a pass weighs ln(0.833 /
 * 0.25) = 1.2, a fail ln(0.75 / 0.167) = 1.5.
 */
#include "measure/capacity_zone.h"

#include <math.h>

#define AS_LONG 0.98	 /* durations are measured */
#define NOISE_PART 0.05	 /* of the width */
#define FAR_OVERLOAD 1.6 /* times what comes through: beyond, a machine is not what it is near its limit */
#define MOST_PIECES 4
#define QUEUE_CERTAINTY 3 /* standard errors */
#define SHORT_FAIL 0.7	  /* weight of a short fail below a lower bound */
#define SHORT_PASS 0.5	  /* weight of a short pass above an upper bound */

enum verdict_of_trial zone_verdict(const struct mlrsearch_goal *goal, double loss_ratio)
{
	if (loss_ratio <= goal->loss_ratio)
		return TRIAL_PASSED;
	return loss_ratio - goal->loss_ratio < NOISE_PART * goal->width ? TRIAL_NOISE : TRIAL_OVERLOAD;
}

static double sample_pps(const struct mlrsearch_goal *goal, const struct zone_trial *trial)
{
	return trial->pps * (1 - trial->loss_ratio) / (1 - goal->loss_ratio);
}

/* Samples of trials of one class of length. */
struct samples {
	int count;
	double sum, squares, low, high;
};

enum { SHORT, PIECE, FULL, LENGTHS };

static void take(struct samples *samples, double pps)
{
	samples->low = samples->count ? fmin(samples->low, pps) : pps;
	samples->high = samples->count ? fmax(samples->high, pps) : pps;
	samples->count++;
	samples->sum += pps;
	samples->squares += pps * pps;
}

static double relative_deviation(const struct samples *samples)
{
	double mean = samples->sum / samples->count;

	if (samples->count < 2)
		return 0;
	return sqrt(fmax(samples->squares / samples->count - mean * mean, 0) * samples->count / (samples->count - 1)) /
	       mean;
}

static void find_ends(const struct mlrsearch_goal *goal, const struct zone_trial *trials, int count, double least_s,
		      struct capacity_zone *zone)
{
	zone->high_pass_pps = zone->low_fail_pps = 0;
	zone->high_pass_s = INFINITY;
	for (int i = 0; i < count; i++) {
		enum verdict_of_trial verdict = zone_verdict(goal, trials[i].loss_ratio);

		if (verdict == TRIAL_PASSED && trials[i].duration_s >= AS_LONG * least_s &&
		    trials[i].pps > zone->high_pass_pps) {
			zone->high_pass_pps = trials[i].pps;
			zone->high_pass_s = trials[i].duration_s;
		}
		if (verdict == TRIAL_OVERLOAD && (!zone->low_fail_pps || trials[i].pps < zone->low_fail_pps))
			zone->low_fail_pps = trials[i].pps;
	}
}

/* No load failed below one that passed. */
static int is_ordered(const struct capacity_zone *zone)
{
	return !zone->low_fail_pps || zone->low_fail_pps > zone->high_pass_pps;
}

static int length_of(const struct mlrsearch_goal *goal, double duration_s, double piece_s)
{
	if (duration_s >= AS_LONG * goal->final_trial_s)
		return FULL;
	return duration_s >= AS_LONG * piece_s ? PIECE : SHORT;
}

/* One trial in overload near the limit: its sample of the capacity, or 0. */
static double sample_of(const struct mlrsearch_goal *goal, const struct zone_trial *trial,
			const struct capacity_zone *ends, double highest)
{
	if (zone_verdict(goal, trial->loss_ratio) != TRIAL_OVERLOAD ||
	    (trial->pps > FAR_OVERLOAD * highest && trial->pps > ends->low_fail_pps))
		return 0;
	return sample_pps(goal, trial);
}

static double highest_sample(const struct mlrsearch_goal *goal, const struct zone_trial *trials, int count,
			     const struct capacity_zone *ends)
{
	double highest = is_ordered(ends) ? ends->high_pass_pps : 0;

	for (int i = 0; i < count; i++)
		if (zone_verdict(goal, trials[i].loss_ratio) == TRIAL_OVERLOAD)
			highest = fmax(highest, sample_pps(goal, &trials[i]));
	return highest;
}

/* Frames that a queue takes, by least squares of the samples over 1 / duration; 0 when they scatter too much to tell.
 */
static double queue_frames(const struct mlrsearch_goal *goal, const struct zone_trial *trials, int count,
			   const struct capacity_zone *ends, double highest)
{
	double n = 0, x = 0, y = 0, xx = 0, xy = 0, yy = 0, slope, rest;

	for (int i = 0; i < count; i++) {
		double sample = sample_of(goal, &trials[i], ends, highest), inverse = 1 / trials[i].duration_s;

		if (!sample)
			continue;
		n++;
		x += inverse;
		y += sample;
		xx += inverse * inverse;
		xy += inverse * sample;
		yy += sample * sample;
	}
	if (n < 4 || xx - x * x / n < 1e-9 * xx)
		return 0;
	slope = (xy - x * y / n) / (xx - x * x / n);
	rest = fmax(yy - y * y / n - slope * (xy - x * y / n), 0) / (n - 2);
	return slope > 0 && slope > QUEUE_CERTAINTY * sqrt(rest / (xx - x * x / n)) ? slope : 0;
}

static void take_samples(const struct mlrsearch_goal *goal, const struct zone_trial *trials, int count, double piece_s,
			 struct capacity_zone *zone, struct samples samples[LENGTHS])
{
	double highest = highest_sample(goal, trials, count, zone);
	double queue = queue_frames(goal, trials, count, zone, highest);

	for (int i = 0; i < count; i++) {
		double sample = sample_of(goal, &trials[i], zone, highest);

		if (!sample)
			continue;
		sample -= queue / trials[i].duration_s;
		if (is_ordered(zone))
			sample = fmin(fmax(sample, zone->high_pass_pps - queue / zone->high_pass_s), trials[i].pps);
		take(&samples[length_of(goal, trials[i].duration_s, piece_s)], sample);
	}
	zone->queue_frames = queue;
}

void zone_find(const struct mlrsearch_goal *goal, const struct zone_trial *trials, int count, double piece_s,
	       struct capacity_zone *zone)
{
	struct samples samples[LENGTHS] = { 0 };
	int most;

	*zone = (struct capacity_zone){ 0 };
	find_ends(goal, trials, count, 0, zone);
	take_samples(goal, trials, count, piece_s, zone, samples);
	most = samples[FULL].count ? FULL : samples[PIECE].count ? PIECE : SHORT;
	find_ends(goal, trials, count, most == SHORT ? 0 : piece_s, zone);
	if (!samples[most].count) {
		zone->low_pps = zone->high_pps = zone->high_pass_pps;
		return;
	}
	zone->high_pps = samples[most].high;
	zone->low_pps = samples[most].low;
	for (int i = 0; i < LENGTHS; i++) {
		zone->samples += samples[i].count;
		zone->spread = fmax(zone->spread, relative_deviation(&samples[i]));
		if (samples[i].count)
			zone->low_pps = fmin(zone->low_pps, samples[i].low);
	}
	if (zone->spread > goal->width && samples[PIECE].count)
		zone->high_pps = fmax(zone->high_pps, samples[PIECE].high);
	if (!is_ordered(zone)) {
		zone->high_pps = fmax(zone->high_pps, zone->high_pass_pps - zone->queue_frames / zone->high_pass_s);
		zone->low_pps = fmin(zone->low_pps, zone->low_fail_pps);
	}
}

double zone_pass_evidence(const struct mlrsearch_goal *goal)
{
	return log((1 - goal->exceed_ratio / 3) / ((1 - goal->exceed_ratio) / 2));
}

double zone_fail_evidence(const struct mlrsearch_goal *goal)
{
	return log((1 + goal->exceed_ratio) / 2 / fmax(goal->exceed_ratio / 3, 1e-6));
}

double zone_lower_evidence(const struct mlrsearch_goal *goal, const struct zone_trial *trials, int count, double pps,
			   double piece_s)
{
	double evidence = 0;

	for (int i = 0; i < count; i++) {
		int length = length_of(goal, trials[i].duration_s, piece_s);

		if (trials[i].loss_ratio > goal->loss_ratio && trials[i].pps <= pps * (1 + 1e-9))
			evidence -= zone_fail_evidence(goal) * (length == FULL ? 1 : SHORT_FAIL);
		else if (trials[i].loss_ratio <= goal->loss_ratio && trials[i].pps >= pps * (1 - 1e-9) &&
			 length != SHORT)
			evidence += zone_pass_evidence(goal) * fmin(trials[i].duration_s / goal->final_trial_s, 1);
	}
	return evidence;
}

/* Overload that lasts is as good as so many pieces of it. */
static double fail_weight(const struct mlrsearch_goal *goal, const struct zone_trial *trial, double piece_s)
{
	return zone_verdict(goal, trial->loss_ratio) == TRIAL_OVERLOAD ? fmin(trial->duration_s / piece_s, MOST_PIECES)
								       : 1;
}

double zone_upper_evidence(const struct mlrsearch_goal *goal, const struct zone_trial *trials, int count, double pps,
			   double piece_s)
{
	double evidence = 0;

	for (int i = 0; i < count; i++) {
		int is_piece = length_of(goal, trials[i].duration_s, piece_s) != SHORT;

		if (trials[i].loss_ratio > goal->loss_ratio && trials[i].pps <= pps * (1 + 1e-9) && is_piece)
			evidence += zone_fail_evidence(goal) * fail_weight(goal, &trials[i], piece_s);
		else if (trials[i].loss_ratio <= goal->loss_ratio && trials[i].pps >= pps * (1 - 1e-9))
			evidence -= zone_pass_evidence(goal) * (is_piece ? 1 : SHORT_PASS);
	}
	return evidence;
}
