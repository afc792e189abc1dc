// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Load classification of MLRsearch.
 *
 * Theory. A goal allows a share e (exceed ratio) of the time at a load to have high loss, and wants at least a time S
 * (duration sum) of full-length trials before that is judged. With L and H the full-length time of low and of high
 * loss, l and h the same of shorter trials: Short trials with high loss count, since a longer one that held them would
 * have lost as much; but only as far as they outweigh short trials with low loss in the proportion that the goal
 * allows: H' = H + max(0, h - l * e / (1 - e)). W = max(L + H', S) is the whole; what is missing to S may yet turn out
 * either way. Lower bound: even if all that is missing had high loss, W - L <= e * W. Upper bound: even if all of it
 * had low loss, H' > e * W. Otherwise undecided. With e < 1/2 or S far above the final trial duration one trial decides
 * nothing; with e = 0 any high loss decides.
 *
 * Conditional throughput: the load, less the loss of the trial at the (1 - e) quantile, by time, of the full-length
 * trials in order of loss; time that is missing to S counts as lost wholly.
 */
#include "measure/load_class.h"

#include <math.h>
#include <stdlib.h>

/* Effective durations are measured: a trial that misses the full length by less than this part was meant to have it,
 * and counts as that, lest one trial of 60.1 s be more than half of 120 s. */
#define DURATION_TOLERANCE 0.02

static double rounded_s(const struct mlrsearch_goal *goal, double duration_s)
{
	return fabs(duration_s / goal->final_trial_s - 1) <= DURATION_TOLERANCE ? goal->final_trial_s : duration_s;
}

static int is_full_length(const struct mlrsearch_goal *goal, double duration_s)
{
	return rounded_s(goal, duration_s) >= goal->final_trial_s;
}

static double wanted_s(const struct mlrsearch_goal *goal)
{
	return fmax(goal->duration_sum_s, goal->final_trial_s);
}

void load_sums_add(struct load_sums *sums, const struct mlrsearch_goal *goal, double duration_s, double loss_ratio)
{
	duration_s = rounded_s(goal, duration_s);
	if (is_full_length(goal, duration_s))
		*(loss_ratio <= goal->loss_ratio ? &sums->full_low_s : &sums->full_high_s) += duration_s;
	else
		*(loss_ratio <= goal->loss_ratio ? &sums->short_low_s : &sums->short_high_s) += duration_s;
}

/* H' and W. */
static void effective_s(const struct load_sums *sums, const struct mlrsearch_goal *goal, double *high_s,
			double *whole_s)
{
	double balance = goal->exceed_ratio / (1 - goal->exceed_ratio);

	*high_s = sums->full_high_s + fmax(0, sums->short_high_s - sums->short_low_s * balance);
	*whole_s = fmax(sums->full_low_s + *high_s, wanted_s(goal));
}

enum load_class load_classify(const struct load_sums *sums, const struct mlrsearch_goal *goal)
{
	double high_s, whole_s, allowed_s;

	effective_s(sums, goal, &high_s, &whole_s);
	allowed_s = goal->exceed_ratio * whole_s;
	if (whole_s - sums->full_low_s <= allowed_s * (1 + 1e-9) + 1e-12)
		return LOAD_LOWER;
	return high_s > allowed_s * (1 + 1e-9) ? LOAD_UPPER : LOAD_UNDECIDED;
}

double load_missing_high_s(const struct load_sums *sums, const struct mlrsearch_goal *goal)
{
	double balance = goal->exceed_ratio / (1 - goal->exceed_ratio);
	double high_s, whole_s, missing_s;

	effective_s(sums, goal, &high_s, &whole_s);
	if (high_s > goal->exceed_ratio * whole_s * (1 + 1e-9))
		return 0;
	/* H'' > e * max(L + H'', S), with H'' what it takes, and first what short low loss still outweighs. */
	missing_s = fmax(sums->full_low_s * balance, goal->exceed_ratio * wanted_s(goal)) - high_s;
	return missing_s + fmax(0, sums->short_low_s * balance - sums->short_high_s) + 1e-3 * goal->final_trial_s;
}

double load_missing_low_s(const struct load_sums *sums, const struct mlrsearch_goal *goal)
{
	double high_s, whole_s, least_s;

	if (load_classify(sums, goal) == LOAD_LOWER)
		return 0;
	effective_s(sums, goal, &high_s, &whole_s);
	/* L'' >= (1 - e) * max(L'' + H', S) */
	least_s = (1 - goal->exceed_ratio) * wanted_s(goal);
	if (goal->exceed_ratio > 0)
		least_s = fmax(least_s, high_s * (1 - goal->exceed_ratio) / goal->exceed_ratio);
	else if (high_s > 0)
		return INFINITY;
	return least_s - sums->full_low_s;
}

static int by_loss(const void *left, const void *right)
{
	double a = ((const struct load_trial *)left)->loss_ratio, b = ((const struct load_trial *)right)->loss_ratio;

	return (a > b) - (a < b);
}

double load_conditional_pps(double pps, const struct mlrsearch_goal *goal, struct load_trial *trials, int count)
{
	double sum_s = 0, remaining_s, loss = 1;
	int i;

	qsort(trials, (size_t)count, sizeof(trials[0]), by_loss);
	for (i = 0; i < count; i++)
		if (is_full_length(goal, trials[i].duration_s))
			sum_s += rounded_s(goal, trials[i].duration_s);
	if (!(sum_s > 0))
		return NAN;
	remaining_s = fmax(sum_s, wanted_s(goal)) * (1 - goal->exceed_ratio);
	for (i = 0; i < count && remaining_s > 1e-9 * sum_s; i++) {
		if (!is_full_length(goal, trials[i].duration_s))
			continue;
		loss = trials[i].loss_ratio;
		remaining_s -= rounded_s(goal, trials[i].duration_s);
	}
	if (remaining_s > 1e-9 * sum_s)
		loss = 1;
	return pps * (1 - loss);
}
