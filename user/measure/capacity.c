// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Search for the highest rate that meets a loss goal.
 *
 * Owns: which rate to try next, when a verdict counts, what the bounds mean. Leaves to others: running trials, what a
 * goal should be. Called by: measure/ for every cut and for NDR and PDR.
 *
 * Definitions. loss(r) is the loss ratio at offered rate r. Capacity C = sup { r : loss(r) <= goal }. A *load* is a
 * nominal rate that was tried; every trial at it passes or fails. Without noise and with a loss curve that never
 * falls, a load below C always passes and one above C always fails, so that any pass is a lower and any fail an upper
 * bound.
 *
 * Noise. A machine whose CPU is taken away for a millisecond loses frames at any rate: a trial below C fails now and
 * then (one in five is allowed for), while a trial above C hardly ever passes. So verdicts are weighed, by
 * Wald's sequential test between "this load passes" (a fail has probability <= 0.2) and "this load fails" (a pass has
 * probability <= 0.1): the logarithms of the likelihood ratios are ln(0.8/0.1) = 2.1 for a pass and -ln(0.9/0.2) =
 * -1.5 for a fail, kept as +3 and -2. A fail that lost over 5 % more than the goal allows is rarely noise and
 * counts -3. A load's *score* is the sum. At >= +6 it is a confirmed pass (two passes; three of four trials), at
 * <= -6 a confirmed fail (three fails without a pass): wrong with a probability of about 0.2^3 = 0.8 % a load. After
 * LOAD_TRIALS trials without a decision the load counts as failed: what does not pass reliably is no lower bound.
 *
 * Invariants.
 *  1. Confirmed loads are reported as bounds. For the upper bound fails are pooled: a load above the lower bound is
 *     confirmed by its own trials and those of the loads between, since what fails there fails above as well. Only
 *     when trials run out before there is a confirmed load, the highest load with a positive score stands in as the
 *     lower bound (a pass is trustworthy, see above), and one with two fails, pooled, as the upper (wrong with a
 *     probability of 4 %). A single fail never becomes a bound: then it is 0 or max_pps. Bounds that are wide because
 *     trials ran out are honest.
 *  2. lower <= upper, equal only when the source is the limit. Rates achieved differ from those asked: a source whose
 *     CPU is taken away sends the asked rate with gaps in between. What a pass proves is the achieved rate (the
 *     median of a load's passes is reported); what a fail proves is only that the asked rate is too much, if that was
 *     higher.
 *  3. Lower is the highest confirmed pass with no confirmed fail below it, upper the lowest confirmed fail above the
 *     highest confirmed pass. When a lower rate fails for certain where a higher one passes for certain, the bounds
 *     therefore span the whole contradiction.
 *
 * Course (after MLRsearch: coarse first, certainty last). Bracket: single trials move *provisional* bounds, the
 * highest load of positive score and the lowest of negative score above it. The first trial is near the hint. A
 * failing trial under overload says more than "no": r * (1 - loss) is the rate that came through, and is tried next;
 * when that shrinks the bracket badly (a step, a soft knee), bisection follows. Without a bracket the step from the
 * one known bound doubles. Confirm: once the bracket is narrow enough, or once the trials left are just those that
 * confirming takes, the lower, then the upper bound is tried again until its score decides; a bound that falls over
 * becomes the opposite one and the search goes on. Each bisection halves the bracket at least every third trial, so a
 * noiseless search takes at most about 3 * log2(range / width) + 5 trials.
 *
 * A source that falls short. Shortfall is not taken for a ceiling, since a stolen CPU causes it at any rate. The search
 * goes on up to max_pps; when that passes, the source is the limit, and the highest rate achieved stands for max_pps.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "measure/capacity.h"

#define PASS_SCORE 3
#define FAIL_SCORE (-2)
#define HEAVY_FAIL_SCORE (-3)
#define HEAVY_LOSS 0.05 /* beyond what milliseconds of stolen CPU explain in a trial of 0.2 s */
#define CONFIRMED_SCORE 6
#define LIKELY_FAIL_SCORE (-4)
#define FIRST_PASS_TRIALS ((CONFIRMED_SCORE + PASS_SCORE - 1) / PASS_SCORE)
#define LOAD_TRIALS 9
#define LEAST_WIDTH 1e-4
#define NONE (-1)

struct load {
	double pps; /* asked */
	double highest_fail_pps;
	double passed_pps[LOAD_TRIALS]; /* achieved, one a pass */
	double losses[LOAD_TRIALS];
	int trials, passes;
	int score;
};

struct search {
	const struct capacity_goal *goal;
	double width, min_pps, max_pps;
	double highest_pps; /* ever achieved */
	int interpolations; /* in a row */
	double step;	    /* next relative step when one bound is missing */
	int trials, max_trials;
	int load_count;
	struct load loads[CAPACITY_MAX_TRIALS];
};

static int confirmed_pass(const struct load *load)
{
	return load->score >= CONFIRMED_SCORE;
}

static int confirmed_fail(const struct load *load)
{
	return load->score <= -CONFIRMED_SCORE;
}

static int decided(const struct load *load)
{
	return confirmed_pass(load) || confirmed_fail(load);
}

/* Highest load with a score of at least `least` and below limit_pps. */
static int highest_pass(const struct search *search, int least, double limit_pps)
{
	int i, found = NONE;

	for (i = 0; i < search->load_count; i++) {
		const struct load *load = &search->loads[i];

		if (load->score >= least && load->pps < limit_pps &&
		    (found == NONE || load->pps > search->loads[found].pps))
			found = i;
	}
	return found;
}

/* Lowest load with a score of at most `most` and above floor_pps. */
static int lowest_fail(const struct search *search, int most, double floor_pps)
{
	int i, found = NONE;

	for (i = 0; i < search->load_count; i++) {
		const struct load *load = &search->loads[i];

		if (load->score <= most && load->pps > floor_pps &&
		    (found == NONE || load->pps < search->loads[found].pps))
			found = i;
	}
	return found;
}

/* Lowest failed load above floor_pps for which all that was seen from there up to it scores `most` or less: what fails
 * below it fails there as well. */
static int lowest_pooled_fail(const struct search *search, int most, double floor_pps)
{
	int sum = 0, load, i;

	for (;;) {
		load = NONE;
		for (i = 0; i < search->load_count; i++)
			if (search->loads[i].pps > floor_pps &&
			    (load == NONE || search->loads[i].pps < search->loads[load].pps))
				load = i;
		if (load == NONE)
			return NONE;
		sum += search->loads[load].score;
		if (search->loads[load].score < 0 && sum <= most)
			return load;
		floor_pps = search->loads[load].pps;
	}
}

static double load_pps(const struct search *search, int load, double otherwise)
{
	return load == NONE ? otherwise : search->loads[load].pps;
}

static int find_load(struct search *search, double pps)
{
	struct load *load;
	int i;

	for (i = 0; i < search->load_count; i++)
		if (fabs(search->loads[i].pps - pps) <= 1e-3 * search->width * pps)
			return i;
	load = &search->loads[search->load_count++];
	memset(load, 0, sizeof(*load));
	load->pps = pps;
	return search->load_count - 1;
}

static int trial_score(double loss_ratio, double goal)
{
	if (loss_ratio <= goal)
		return PASS_SCORE;
	return loss_ratio > goal + HEAVY_LOSS ? HEAVY_FAIL_SCORE : FAIL_SCORE;
}

/* A source that was held up sent with gaps: what passed is the rate achieved, what failed is the rate asked. */
static void record(struct load *load, double achieved_pps, double loss_ratio, int score)
{
	if (load->trials == LOAD_TRIALS)
		return;
	load->losses[load->trials++] = loss_ratio;
	if (score > 0)
		load->passed_pps[load->passes++] = achieved_pps;
	load->score += score;
	if (load->trials == LOAD_TRIALS && !decided(load))
		load->score = -CONFIRMED_SCORE;
	load->highest_fail_pps = fmax(load->highest_fail_pps, fmax(load->pps, achieved_pps));
}

/* Runs one trial. 0 or -errno. */
static int try_rate(struct search *search, double asked_pps, capacity_trial_function run_trial, void *context)
{
	struct capacity_trial trial = { .offered_pps = NAN, .loss_ratio = NAN };
	int result = run_trial(context, asked_pps, &trial);

	if (result)
		return result;
	search->trials++;
	if (!(trial.offered_pps > 0) || isinf(trial.offered_pps) || isnan(trial.loss_ratio))
		return error_set(EIO,
				 "a trial at %.0f frames a second sent nothing or counted nothing; see whether the "
				 "source's interface is still up",
				 asked_pps);
	search->highest_pps = fmax(search->highest_pps, trial.offered_pps);
	record(&search->loads[find_load(search, asked_pps)], trial.offered_pps, fmax(trial.loss_ratio, 0),
	       trial_score(trial.loss_ratio, search->goal->loss_ratio));
	return 0;
}

static int compare_doubles(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

static double median(const double *values, int count)
{
	double sorted[LOAD_TRIALS];

	if (!count)
		return NAN;
	memcpy(sorted, values, (size_t)count * sizeof(sorted[0]));
	qsort(sorted, (size_t)count, sizeof(sorted[0]), compare_doubles);
	return sorted[(count - 1) / 2];
}

/* Trials that are still needed, at best, to confirm both provisional bounds. */
static int confirming_trials(const struct search *search, int lower, int upper)
{
	int needed = 0;

	if (lower == NONE)
		needed += FIRST_PASS_TRIALS;
	else if (!confirmed_pass(&search->loads[lower]))
		needed += (CONFIRMED_SCORE - search->loads[lower].score + PASS_SCORE - 1) / PASS_SCORE;
	if (upper != NONE && !confirmed_fail(&search->loads[upper])) /* heavy fails may do with fewer */
		needed += (CONFIRMED_SCORE + search->loads[upper].score - FAIL_SCORE - 1) / -FAIL_SCORE;
	return needed;
}

/* A rate strictly between the provisional bounds. */
static double between(struct search *search, double lower_pps, const struct load *upper)
{
	double margin = 0.45 * search->width, gap = upper->pps - lower_pps;
	double loss = median(upper->losses, upper->trials);
	/* Under plain overload loss(r) = 1 - C0/r, so the goal is met up to C0 / (1 - goal). */
	double guess = upper->pps * (1 - loss) / (1 - fmin(search->goal->loss_ratio, loss));

	search->step = search->width;
	if (search->interpolations < 2) {
		double below = guess * (1 - margin), above = guess * (1 + margin);
		double least = lower_pps + 0.1 * gap, most = upper->pps - 0.1 * gap;

		search->interpolations++;
		if (below > least && below < most)
			return below;
		if (above > least && above < most)
			return above;
	}
	search->interpolations = 0;
	if (upper->pps > 4 * lower_pps && lower_pps > 0)
		return sqrt(upper->pps * lower_pps);
	return lower_pps + gap / 2;
}

static double next_step(struct search *search)
{
	double step = search->step;

	search->step = fmin(2 * step, 1);
	return step;
}

/* Below a load that failed while nothing has passed yet. */
static double below(struct search *search, const struct load *upper)
{
	double guess = upper->pps * (1 - median(upper->losses, upper->trials)) * (1 - 0.45 * search->width);
	double lowered = upper->pps / (1 + next_step(search));

	/* The guess is good for plain overload; where it does not lead far enough down, the step does. */
	if (search->interpolations < 1 && guess < upper->pps * (1 - 0.25 * search->width)) {
		search->interpolations++;
		lowered = guess;
	} else {
		search->interpolations = 0;
	}
	return fmax(lowered, search->min_pps);
}

/* The rate of the next trial, or 0 when there is nothing left to learn. */
static double next_rate(struct search *search, int lower, int upper)
{
	double lower_pps = load_pps(search, lower, 0), upper_pps = load_pps(search, upper, search->max_pps);
	double hint = search->goal->hint_pps;
	int needed = confirming_trials(search, lower, upper), left = search->max_trials - search->trials;

	if (lower == NONE && upper == NONE)
		return hint > 0 ? fmax(fmin(hint * (1 - 0.5 * search->width), search->max_pps), search->min_pps)
				: search->max_pps;
	if (left > needed && upper == NONE && lower_pps < search->max_pps)
		return fmin(lower_pps * (1 + next_step(search)), search->max_pps);
	if (lower == NONE && left > needed - FIRST_PASS_TRIALS && upper_pps > search->min_pps)
		return below(search, &search->loads[upper]);
	if (left > needed && lower != NONE && upper != NONE && upper_pps - lower_pps > search->width * upper_pps)
		return between(search, lower_pps, &search->loads[upper]);
	if (lower != NONE && !confirmed_pass(&search->loads[lower]))
		return lower_pps;
	if (upper != NONE && !confirmed_fail(&search->loads[upper]))
		return upper_pps;
	return 0;
}

static int disagreement(const struct search *search, double lower_pps)
{
	int i;

	for (i = 0; i < search->load_count; i++) {
		const struct load *load = &search->loads[i];

		if ((load->passes && load->passes < load->trials) || (load->score < 0 && load->pps < lower_pps))
			return 1;
	}
	return 0;
}

static void conclude(const struct search *search, struct capacity_bounds *bounds)
{
	int best = highest_pass(search, CONFIRMED_SCORE, INFINITY), lower, upper, contradiction;
	double best_pps;

	if (best == NONE)
		best = highest_pass(search, 1, load_pps(search, lowest_fail(search, -CONFIRMED_SCORE, 0), INFINITY));
	best_pps = load_pps(search, best, 0);
	upper = lowest_pooled_fail(search, -CONFIRMED_SCORE, best_pps);
	if (upper == NONE)
		upper = lowest_pooled_fail(search, LIKELY_FAIL_SCORE, best_pps);
	contradiction = lowest_fail(search, -CONFIRMED_SCORE, 0);
	lower = best;
	if (best != NONE && contradiction != NONE && search->loads[contradiction].pps < best_pps)
		lower = highest_pass(search, CONFIRMED_SCORE, search->loads[contradiction].pps);
	bounds->trials = search->trials;
	bounds->source_limited = upper == NONE && best != NONE && best_pps >= search->max_pps;
	bounds->lower_pps = lower == NONE ? 0 : median(search->loads[lower].passed_pps, search->loads[lower].passes);
	bounds->loss_at_lower = lower == NONE ? NAN : median(search->loads[lower].losses, search->loads[lower].trials);
	if (upper != NONE)
		bounds->upper_pps = search->loads[upper].highest_fail_pps;
	else
		bounds->upper_pps = bounds->source_limited ? search->highest_pps : search->max_pps;
	bounds->upper_pps = fmax(bounds->upper_pps, bounds->lower_pps);
	bounds->irregular = disagreement(search, best_pps);
}

static int check_goal(const struct capacity_goal *goal)
{
	if (!(goal->max_pps > 0) || isinf(goal->max_pps))
		return error_set(EINVAL, "a search needs the highest rate of its source, which is unknown");
	if (!(goal->loss_ratio >= 0 && goal->loss_ratio < 1))
		return error_set(EINVAL, "a loss goal of %g is not a ratio from 0 to below 1", goal->loss_ratio);
	if (!(goal->width < 1) || goal->max_trials < 1)
		return error_set(EINVAL, "a search of %d trials down to a width of %g cannot be run", goal->max_trials,
				 goal->width);
	return 0;
}

int capacity_search(const struct capacity_goal *goal, capacity_trial_function run_trial, void *context,
		    struct capacity_bounds *bounds)
{
	struct search *search;
	double rate;
	int result;

	*bounds = (struct capacity_bounds){ .upper_pps = goal->max_pps, .loss_at_lower = NAN };
	result = check_goal(goal);
	if (result)
		return result;
	search = calloc(1, sizeof(*search));
	if (!search)
		return error_set(ENOMEM, "no memory for a search");
	search->goal = goal;
	search->width = fmax(goal->width, LEAST_WIDTH);
	search->step = search->width;
	search->max_pps = goal->max_pps;
	search->min_pps = fmin(goal->min_pps > 0 ? goal->min_pps : 1e-6 * goal->max_pps, goal->max_pps);
	search->max_trials = goal->max_trials < CAPACITY_MAX_TRIALS ? goal->max_trials : CAPACITY_MAX_TRIALS;
	while (search->trials < search->max_trials) {
		int lower = highest_pass(search, 1, INFINITY);
		int upper = lowest_fail(search, -1, load_pps(search, lower, 0));

		rate = next_rate(search, lower, upper);
		if (!(rate > 0))
			break;
		result = try_rate(search, rate, run_trial, context);
		if (result)
			break;
	}
	conclude(search, bounds);
	free(search);
	return result;
}
