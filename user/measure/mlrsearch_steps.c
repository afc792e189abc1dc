// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Steps of a search: which load is tried next, for how long. What they are for is told in mlrsearch.c.
 *
 * Called by: mlrsearch.c.
 */
#include <math.h>

#include "measure/load_class.h"
#include "measure/mlrsearch_state.h"

#define BRACKET_TRIALS 24 /* more than that do not make one */
#define STEADY_SAMPLES 6  /* trials in overload before a bracket is complete */
#define LOWER_PASSES 2.4  /* full-length passes without a fail that make a lower bound */
#define NOISY_PASSES 3.25 /* the same where noise fails trials */
#define UPPER_FAILS 3	  /* fails of a piece without a pass */
#define LOWER_SPREADS 6	  /* standard deviations that a bound keeps from the zone */
#define UPPER_SPREADS 4
#define UPPER_LENGTH 0.51 /* of a full-length trial, where pieces are too short */
#define MARGIN 0.2	  /* of the width, on each side */
#define FAR_BELOW 0.7	  /* of the zone: a lower bound that is worth another attempt */
#define FEW_FRAMES 200	  /* lost at random, one by one; more are lost in bursts */
#define QUIET_PART 0.2	  /* noise is to be so much below what fails every second trial */

int search_find_load(const struct search *search, double pps)
{
	for (int i = 0; i < search->load_count; i++)
		if (fabs(search->loads[i] / pps - 1) < 1e-6)
			return i;
	return SEARCH_NONE;
}

static enum load_class class_at(const struct search *search, const struct search_goal *state, int load)
{
	struct load_sums sums = { 0 };

	for (int i = 0; i < search->trial_count; i++)
		if (search->trials[i].load == load)
			load_sums_add(&sums, state->goal, search->trials[i].duration_s, search->trials[i].loss_ratio);
	return load_classify(&sums, state->goal);
}

static double in_range(const struct search *search, double pps)
{
	return fmin(fmax(pps, search->config->min_pps), search->config->max_pps);
}

/* --- bounds --- */

static double lower_evidence(const struct search *search, const struct search_goal *state, double pps)
{
	return zone_lower_evidence(state->goal, search->outcomes, search->trial_count, pps, state->piece_s);
}

/* Full-length passes that a lower bound takes when nothing failed: no loss at all may be met by luck; a share of loss
 * is an average, which one trial tells where the machine is steady. */
static double lower_threshold(const struct search *search, const struct search_goal *state)
{
	double passes = state->is_noisy ? NOISY_PASSES : LOWER_PASSES;
	struct capacity_zone zone;

	zone_find(state->goal, search->outcomes, search->trial_count, state->piece_s, &zone);
	if (state->goal->loss_ratio > 0 && zone.spread < state->goal->width / 2)
		passes = 1;
	return passes * zone_pass_evidence(state->goal) - 1e-9;
}

static int is_lower(const struct search *search, const struct search_goal *state, int load)
{
	if (class_at(search, state, load) != LOAD_LOWER)
		return 0;
	return search->config->by_draft_alone || !(state->goal->exceed_ratio > 0) ||
	       lower_evidence(search, state, search->loads[load]) >= lower_threshold(search, state);
}

static int is_upper(const struct search *search, const struct search_goal *state, int load)
{
	if (class_at(search, state, load) != LOAD_UPPER)
		return 0;
	return search->config->by_draft_alone || !(state->goal->exceed_ratio > 0) ||
	       zone_upper_evidence(state->goal, search->outcomes, search->trial_count, search->loads[load],
				   state->piece_s) >= UPPER_FAILS * zone_fail_evidence(state->goal) - 1e-9;
}

/* Lowest load that counts as an upper bound; highest lower bound below it. */
int search_settled_upper(const struct search *search, const struct search_goal *state)
{
	int found = SEARCH_NONE;

	for (int i = 0; i < search->load_count; i++)
		if ((found == SEARCH_NONE || search->loads[i] < search->loads[found]) && is_upper(search, state, i))
			found = i;
	return found;
}

int search_settled_lower(const struct search *search, const struct search_goal *state, int upper)
{
	double below = upper == SEARCH_NONE ? INFINITY : search->loads[upper];
	int found = SEARCH_NONE;

	for (int i = 0; i < search->load_count; i++)
		if (search->loads[i] < below && (found == SEARCH_NONE || search->loads[i] > search->loads[found]) &&
		    is_lower(search, state, i))
			found = i;
	return found;
}

int search_is_close(const struct search *search, const struct search_goal *state, int lower, int upper)
{
	return lower != SEARCH_NONE && upper != SEARCH_NONE &&
	       search->loads[upper] - search->loads[lower] <= state->goal->width * search->loads[upper] * (1 + 1e-9);
}

int search_is_top(const struct search *search, double pps)
{
	return pps >= search->config->max_pps * (1 - 1e-9);
}

/* --- bracket --- */

static double next_step(struct search_goal *state)
{
	double step = state->step;

	state->step = fmin(2 * step, 1);
	return step;
}

/* Loss of the last trial that failed at a load. */
static double loss_at(const struct search *search, const struct search_goal *state, double pps)
{
	for (int i = search->trial_count - 1; i >= 0; i--)
		if (search->outcomes[i].pps == pps && search->outcomes[i].loss_ratio > state->goal->loss_ratio)
			return search->outcomes[i].loss_ratio;
	return 0;
}

/* Between a load that passed and one that failed. Under plain overload loss is 1 - C / load, so the goal is met up to
 * load * (1 - loss) / (1 - goal). */
static double between(struct search_goal *state, double low, double high, double loss)
{
	double guess = high * (1 - loss) / (1 - fmin(state->goal->loss_ratio, loss));

	if (state->interpolations < 2) {
		double margin = state->goal->width, gap = high - low;

		state->interpolations++;
		for (int sign = -1; sign <= 1; sign += 2)
			if (guess * (1 + sign * margin) > low + 0.1 * gap &&
			    guess * (1 + sign * margin) < high - 0.1 * gap)
				return guess * (1 + sign * margin);
	}
	state->interpolations = 0;
	return high > 4 * low ? sqrt(high * low) : (high + low) / 2;
}

static double below_fail(const struct search *search, struct search_goal *state, double high, double loss)
{
	double lowered = high / (1 + next_step(state)), guess = high * (1 - loss) * (1 - state->goal->width);

	if (state->interpolations < 1 && guess < high * (1 - 2 * state->goal->width)) {
		state->interpolations++;
		lowered = guess;
	} else {
		state->interpolations = 0;
	}
	return in_range(search, lowered);
}

static double lowest_fail_above(const struct search *search, const struct search_goal *state, double pps)
{
	double found = 0;

	for (int i = 0; i < search->trial_count; i++)
		if (search->outcomes[i].pps > pps &&
		    zone_verdict(state->goal, search->outcomes[i].loss_ratio) == TRIAL_OVERLOAD &&
		    (!found || search->outcomes[i].pps < found))
			found = search->outcomes[i].pps;
	return found;
}

static double lowest_load(const struct search *search)
{
	double lowest = INFINITY;

	for (int i = 0; i < search->load_count; i++)
		lowest = fmin(lowest, search->loads[i]);
	return lowest;
}

/* The next load of the bracket; 0 when there is one that is narrow enough and enough was seen of overload, or when an
 * end of the range is reached. */
double search_bracket(const struct search *search, struct search_goal *state)
{
	const struct mlrsearch_config *config = search->config;
	double width = state->goal->width, high;
	struct capacity_zone zone;

	if (!search->trial_count)
		return config->hint_pps > 0 ? in_range(search, config->hint_pps * (1 - width / 2)) : config->max_pps;
	zone_find(state->goal, search->outcomes, search->trial_count, 0, &zone);
	if (state->bracket_trials >= BRACKET_TRIALS)
		return 0;
	high = lowest_fail_above(search, state, zone.high_pass_pps);
	if (!high && !zone.high_pass_pps) /* noise only */
		return lowest_load(search) > config->min_pps * (1 + 1e-9) ? in_range(search, lowest_load(search) / 2)
									  : 0;
	if (!high)
		return search_is_top(search, zone.high_pass_pps)
			       ? 0
			       : in_range(search, zone.high_pass_pps * (1 + next_step(state)));
	if (!zone.high_pass_pps)
		return high > config->min_pps * (1 + 1e-9)
			       ? below_fail(search, state, high, loss_at(search, state, high))
			       : 0;
	state->step = 4 * width;
	if (high - zone.high_pass_pps > fmax(8 * width, 0.04) * high)
		return between(state, zone.high_pass_pps, high, loss_at(search, state, high));
	/* How steady is it? */
	return zone.samples < STEADY_SAMPLES ? in_range(search, high * (1 + 0.01 * zone.samples)) : 0;
}

/* --- settling --- */

static double left_s(const struct search_goal *state)
{
	return state->budget_s - state->spent_s;
}

static double lower_candidate(const struct search *search, const struct search_goal *state)
{
	struct capacity_zone zone;
	double pps;

	zone_find(state->goal, search->outcomes, search->trial_count, state->piece_s, &zone);
	if (!zone.samples)
		pps = zone.high_pps;
	else
		pps = zone.low_pps * exp(-state->goal->width * MARGIN - LOWER_SPREADS * zone.spread);
	return in_range(search, fmin(pps, state->quiet_pps));
}

static double upper_candidate(const struct search *search, const struct search_goal *state)
{
	struct capacity_zone zone;

	zone_find(state->goal, search->outcomes, search->trial_count, state->piece_s, &zone);
	return in_range(search, fmax(zone.high_pps * exp(state->goal->width * MARGIN + UPPER_SPREADS * zone.spread),
				     state->passed_pps * (1 + state->upper_step)));
}

static int was_tried(const struct search *search, double pps, double least_s)
{
	for (int i = 0; i < search->trial_count; i++)
		if (fabs(search->loads[search->trials[i].load] / pps - 1) < 1e-6 &&
		    search->trials[i].duration_s >= SEARCH_AS_LONG * least_s)
			return 1;
	return 0;
}

/* The load at which noise that just failed a trial would fail few full-length ones: frames lost one by one come in
 * proportion to the load; of bursts nothing is known but that a queue holds the shorter ones at a lower load. */
static double quiet_pps(const struct search_goal *state, const struct zone_trial *outcome)
{
	double lost = outcome->loss_ratio * outcome->pps * outcome->duration_s;
	double most = (lost + 2 * sqrt(lost) + 2) * state->full_s /
		      outcome->duration_s; /* in a full-length trial, by Poisson */

	return outcome->pps * QUIET_PART / (lost < FEW_FRAMES ? most : 1);
}

/* A load failed as a lower bound. Overload tells where to go next, but for a machine that is not as it seemed twice;
 * noise does not: far down, as what fails by noise at one load hardly fails less at one a little lower. */
static void retreat(struct search_goal *state, const struct zone_trial *outcome)
{
	state->lower_pps = 0;
	if (zone_verdict(state->goal, outcome->loss_ratio) == TRIAL_OVERLOAD && state->near_misses < 2) {
		state->near_misses++;
		state->quiet_pps =
			fmin(state->quiet_pps, outcome->pps * (1 - state->goal->width / 2 * state->near_misses));
	} else {
		state->is_noisy = 1;
		state->quiet_pps = quiet_pps(state, outcome);
	}
}

/* Trial time that a load takes until it can be a lower bound. */
static double missing_lower_s(const struct search *search, const struct search_goal *state)
{
	double missing = lower_threshold(search, state) - lower_evidence(search, state, state->lower_pps);

	return fmax(missing / zone_pass_evidence(state->goal), 0) * state->full_s;
}

static void propose_lower(const struct search *search, struct search_goal *state, struct search_proposal *proposal)
{
	if (!state->lower_pps)
		state->lower_pps = lower_candidate(search, state);
	proposal->pps = state->lower_pps;
	if (!was_tried(search, state->lower_pps, state->piece_s))
		proposal->duration_s = state->piece_s;
	else if (class_at(search, state, search_find_load(search, state->lower_pps)) != LOAD_LOWER)
		proposal->duration_s = state->full_s;
	else
		proposal->duration_s = fmin(fmax(missing_lower_s(search, state), state->piece_s), state->full_s);
}

static void propose_upper(const struct search *search, struct search_goal *state, struct search_proposal *proposal)
{
	struct capacity_zone zone;

	if (!state->upper_pps)
		state->upper_pps = upper_candidate(search, state);
	proposal->pps = state->upper_pps;
	/* What a queue takes, a longer trial does not notice. */
	zone_find(state->goal, search->outcomes, search->trial_count, state->piece_s, &zone);
	proposal->duration_s = state->piece_s;
	if (zone.queue_frames > state->goal->width / 8 * state->upper_pps * state->piece_s)
		proposal->duration_s = fmax(UPPER_LENGTH * state->full_s, state->piece_s);
}

static int pieces_at(const struct search *search, const struct search_goal *state, double pps)
{
	int count = 0;

	for (int i = 0; i < search->trial_count; i++)
		count += search->loads[search->trials[i].load] == pps &&
			 search->trials[i].duration_s >= SEARCH_AS_LONG * state->piece_s;
	return count;
}

/* After each trial of this goal's own: does what is being settled still stand a chance? */
void search_review(const struct search *search, struct search_goal *state)
{
	const struct zone_trial *outcome = &search->outcomes[search->trial_count - 1];
	double pps = search->loads[search->trials[search->trial_count - 1].load];
	int failed = outcome->loss_ratio > state->goal->loss_ratio;

	if (state->lower_pps && pps == state->lower_pps && failed && state->raise == RAISING) {
		state->raise = RAISE_FAILED;
		state->lower_pps = 0;
	} else if (state->lower_pps && pps == state->lower_pps && failed &&
		   missing_lower_s(search, state) > left_s(state) / 2) {
		retreat(state, outcome);
	}
	if (!state->upper_pps || pps != state->upper_pps)
		return;
	if (!failed) {
		state->passed_pps = fmax(state->passed_pps, pps);
		state->upper_step = fmax(2 * state->upper_step, state->goal->width / 2);
	}
	if (!failed ||
	    (pieces_at(search, state, pps) <= 1 && upper_candidate(search, state) < pps * (1 - state->goal->width / 4)))
		state->upper_pps = 0;
}

/* A lower bound that kept a wide distance from an unsteady zone is tried again half-way to it, as long as there is time
 * for all the passes that it takes; a fail ends that, and what was settled stays. */
static int raise_lower(const struct search *search, struct search_goal *state, int lower,
		       struct search_proposal *proposal)
{
	double settled = search->loads[lower], slack = state->goal->width / 2;

	if (state->raise == RAISE_FAILED)
		return 0;
	if (state->lower_pps <= settled * (1 + slack)) { /* not begun yet, or reached */
		struct capacity_zone zone;

		zone_find(state->goal, search->outcomes, search->trial_count, state->piece_s, &zone);
		state->lower_pps = lower_candidate(search, state);
		if (state->lower_pps <= settled * (1 + slack) &&
		    settled < FAR_BELOW * fmin(zone.low_pps, state->quiet_pps))
			state->lower_pps = sqrt(settled * fmin(zone.low_pps, state->quiet_pps));
		if (state->lower_pps <= settled * (1 + slack))
			return 0;
		state->raise = RAISING;
	}
	propose_lower(search, state, proposal);
	return fmax(missing_lower_s(search, state), proposal->duration_s) <= left_s(state);
}

/* Whether a bound can be brought closer now that more is known. */
static int improve(const struct search *search, struct search_goal *state, int lower, int upper,
		   struct search_proposal *proposal)
{
	double slack = state->goal->width / 4;

	if (left_s(state) < state->full_s * 0.6)
		return 0;
	if (!state->upper_pps || search->loads[upper] <= state->upper_pps * (1 + 1e-9))
		state->upper_pps = upper_candidate(search, state);
	if (state->upper_pps < search->loads[upper] * (1 - slack)) {
		propose_upper(search, state, proposal);
		return 1;
	}
	return raise_lower(search, state, lower, proposal);
}

/* The next trial for a goal; 0 when it is done. */
int search_propose(const struct search *search, struct search_goal *state, struct search_proposal *proposal)
{
	int upper = search_settled_upper(search, state), lower = search_settled_lower(search, state, upper);
	struct capacity_zone zone;

	if (search_is_close(search, state, lower, upper) || left_s(state) <= 0)
		return 0;
	if (lower != SEARCH_NONE && search_is_top(search, search->loads[lower]))
		return 0;
	zone_find(state->goal, search->outcomes, search->trial_count, state->piece_s, &zone);
	if (upper == SEARCH_NONE && zone.samples && !search_is_top(search, state->passed_pps)) {
		propose_upper(search, state, proposal);
		return 1;
	}
	if (lower == SEARCH_NONE) {
		propose_lower(search, state, proposal);
		if (proposal->pps <= search->config->min_pps * (1 + 1e-9) &&
		    was_tried(search, proposal->pps, state->full_s) && lower_evidence(search, state, proposal->pps) < 0)
			return 0;
		return proposal->duration_s <= left_s(state) * 1.01;
	}
	if (upper == SEARCH_NONE)
		return 0;
	return improve(search, state, lower, upper, proposal);
}
