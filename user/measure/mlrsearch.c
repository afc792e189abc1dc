// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Search for the highest loads that meet several loss goals at once.
 *
 * Owns: running trials for all goals in turn, and what the results are. Leaves to others: which trial is next
 * (mlrsearch_steps.c), what trials at a load mean by the draft (load_class.c), where the capacity can be after all that
 * was seen (capacity_zone.c). Called by: measure/ for the throughput of a path.
 *
 * By the draft. A load is classified for each goal from all trials at it; the relevant upper bound is the lowest load
 * that is an upper bound, the relevant lower bound the highest lower one below it. All goals share all trials. A goal
 * that no load meets is said to be so and does not end the others.
 *
 * Beyond the draft (config.by_draft_alone is 0), for goals with an exceed ratio above 0, which expect noise. Where
 * noise fails trials at random, one lucky full-length trial makes a lower bound of a load that fails nine times out of
 * ten, one unlucky trial an upper bound of a load that is fine; where the capacity wanders, what is the limit now is not
 * the limit in a minute. So
 *   1. besides its class a load needs evidence of its own (capacity_zone.c): for a lower bound passes of 2.4 full
 * lengths without a fail (1 for a loss ratio above 0 on a steady machine, as that is an average; 3.25 where noise has
 * failed a trial), and more to outweigh each fail; for an upper bound fails in three pieces of an eighth of a length, or
 * one that lasts;
 *   2. bounds keep a distance from the zone in which the limit was seen, by how much it was seen to scatter: on a
 * steady machine a fifth of the width, so that the width is reached; else they are as wide as they have to be, and that
 * is said;
 *   3. a load that fails by a few frames of noise is no upper bound, and the lower bound is then looked for far below
 * it;
 *   4. there are no phases of ever longer trials and narrower widths. Under overload load * (1 - loss) tells the
 * capacity, so short trials find the place, and long ones only confirm it. tests/unit/test_search_bounds.c counts how
 * often the bounds hold the capacity, with and without this, and what it costs.
 *
 * Course for one goal. Bracket: initial (short) trials, first at the hint or the highest load, until a pass and a fail
 * are close and six trials in overload have shown how steady the machine is. Settle: the upper bound by pieces, then the
 * lower bound by one piece (which fails cheaply) and full lengths. Improve: while there is time and a bound can come
 * closer.
 *
 * Error, for exceed ratio 1/2. A load that noise fails with probability p > 1/2 becomes a lower bound by luck with
 * probability (1 - p)^2.4 < 19 %. If nothing is known of how strong noise is (its logarithm is flat over six decades),
 * that happens in 0.7 % of all searches.
 *
 * Invariants. lower <= upper. Every bound that is reported is a load that was tried. A load is what was asked for: a
 * source that is kept from running sends at that rate with gaps in between. So what a fail proves is that the asked rate
 * is too much; what a pass proves is the achieved rate, which is what is reported.
 */
#include "measure/mlrsearch.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "measure/load_class.h"
#include "measure/mlrsearch_state.h"

#define LEAST_OFFERED 0.1 /* of a load */
#define BUDGET 4.75	  /* full lengths of trial time for each goal, when nothing else is said */

static int find_load(struct search *search, double pps)
{
	int known = search_find_load(search, pps);

	if (known != SEARCH_NONE)
		return known;
	search->loads[search->load_count] = pps;
	return search->load_count++;
}

static int passes_some(const struct search *search, const struct mlrsearch_trial *trial)
{
	for (int i = 0; i < search->config->goal_count; i++)
		if (trial->loss_ratio <= search->goals[i].goal->loss_ratio)
			return 1;
	return 0;
}

/* A source that was hardly let run at all has not tried the load: such a pass is not taken down. Its time is spent all
 * the same. */
static int run_proposal(struct search *search, const struct search_proposal *proposal,
			mlrsearch_trial_function run_trial, void *context)
{
	struct mlrsearch_trial got = { .offered_pps = NAN, .duration_s = NAN, .loss_ratio = NAN };
	int code = run_trial(context, proposal->pps, proposal->duration_s, &got);

	if (code)
		return code;
	search->run_count++;
	if (!(got.offered_pps > 0) || isinf(got.offered_pps) || isnan(got.loss_ratio) || !(got.duration_s > 0))
		return error_set(EIO,
				 "a trial at %.0f frames a second sent nothing or counted nothing; see whether the "
				 "source's interface is still up",
				 proposal->pps);
	search->trial_s += got.duration_s;
	if (got.offered_pps < LEAST_OFFERED * proposal->pps && !search_is_top(search, proposal->pps) &&
	    passes_some(search, &got))
		return 0;
	search->trials[search->trial_count] = (struct search_trial){ find_load(search, proposal->pps), got.offered_pps,
								     got.duration_s, fmax(got.loss_ratio, 0) };
	search->highest_pps = fmax(search->highest_pps, got.offered_pps);
	search->outcomes[search->trial_count++] =
		(struct zone_trial){ proposal->pps, got.duration_s, fmax(got.loss_ratio, 0) };
	return 0;
}

/* One trial for one goal. 1: run; 0: the goal is done; or -errno. */
static int advance(struct search *search, struct search_goal *state, mlrsearch_trial_function run_trial, void *context)
{
	struct search_proposal proposal = { .duration_s = state->initial_s };
	double before_s = search->trial_s;
	int before = search->trial_count, code;

	if (state->bracket_trials != SEARCH_NONE) {
		proposal.pps = state->budget_s > state->spent_s ? search_bracket(search, state) : 0;
		state->bracket_trials = proposal.pps > 0 ? state->bracket_trials + 1 : SEARCH_NONE;
	}
	if (state->bracket_trials == SEARCH_NONE && !search_propose(search, state, &proposal))
		return 0;
	code = run_proposal(search, &proposal, run_trial, context);
	state->spent_s += search->trial_s - before_s;
	if (code)
		return code;
	if (search->trial_count > before)
		search_review(search, state);
	return 1;
}

/* --- results --- */

/* A fail at or below the lower bound, or a full-length pass at or above the upper one? (Shorter ones fit into a queue.)
 */
static int contradicts(const struct search *search, const struct search_goal *state, double lower_pps, double upper_pps)
{
	for (int i = 0; i < search->trial_count; i++) {
		double pps = search->loads[search->trials[i].load];
		int failed = search->trials[i].loss_ratio > state->goal->loss_ratio;

		if (failed ? pps <= lower_pps
			   : upper_pps > 0 && pps >= upper_pps &&
				     search->trials[i].duration_s >= SEARCH_AS_LONG * state->full_s)
			return 1;
	}
	return 0;
}

static void describe_lower(const struct search *search, const struct search_goal *state, int load,
			   struct mlrsearch_result *result)
{
	struct load_trial trials[MLRSEARCH_MAX_TRIALS];
	double achieved = 0, loss = 0;
	int count = 0, passes = 0;

	for (int i = 0; i < search->trial_count; i++) {
		const struct search_trial *trial = &search->trials[i];

		if (trial->load != load)
			continue;
		trials[count++] = (struct load_trial){ trial->duration_s, trial->loss_ratio };
		result->lower_trial_s += trial->duration_s;
		loss += trial->loss_ratio * trial->duration_s;
		if (trial->loss_ratio <= state->goal->loss_ratio && ++passes)
			achieved += trial->offered_pps;
	}
	result->lower_pps = passes ? achieved / passes : 0;
	result->lower_loss_ratio = loss / result->lower_trial_s;
	result->conditional_pps = load_conditional_pps(result->lower_pps, state->goal, trials, count);
}

static void describe_upper(const struct search *search, const struct search_goal *state, int load,
			   struct mlrsearch_result *result)
{
	result->upper_pps = search->loads[load];
	for (int i = 0; i < search->trial_count; i++) {
		if (search->trials[i].load != load)
			continue;
		result->upper_trial_s += search->trials[i].duration_s;
		if (search->trials[i].loss_ratio > state->goal->loss_ratio)
			result->upper_pps = fmax(result->upper_pps, search->trials[i].offered_pps);
	}
}

static void conclude(const struct search *search, const struct search_goal *state, struct mlrsearch_result *result)
{
	int upper = search_settled_upper(search, state), lower = search_settled_lower(search, state, upper);

	*result = (struct mlrsearch_result){ .lower_loss_ratio = NAN, .conditional_pps = NAN };
	result->source_limited = lower != SEARCH_NONE && search_is_top(search, search->loads[lower]);
	if (lower != SEARCH_NONE)
		describe_lower(search, state, lower, result);
	else
		result->trouble |= MLRSEARCH_NO_LOWER;
	if (upper != SEARCH_NONE)
		describe_upper(search, state, upper, result);
	else
		result->trouble |= MLRSEARCH_NO_UPPER;
	if (upper == SEARCH_NONE)
		result->upper_pps = result->source_limited ? search->highest_pps : search->config->max_pps;
	result->upper_pps = fmax(result->upper_pps, result->lower_pps);
	if (!result->source_limited && !search_is_close(search, state, lower, upper))
		result->trouble |= MLRSEARCH_WIDE;
	if (contradicts(search, state, lower == SEARCH_NONE ? 0 : search->loads[lower],
			upper == SEARCH_NONE ? 0 : search->loads[upper]))
		result->trouble |= MLRSEARCH_CONTRADICTION;
	result->irregular = !!(result->trouble & ~(result->source_limited ? MLRSEARCH_NO_UPPER : 0));
}

/* Whatever meets `strict` meets `lax`, too. */
static int implies(const struct mlrsearch_goal *strict, const struct mlrsearch_goal *lax)
{
	return strict->loss_ratio <= lax->loss_ratio && strict->exceed_ratio <= lax->exceed_ratio &&
	       strict->final_trial_s == lax->final_trial_s;
}

/* Bounds of a goal hold for those that it implies; evidence may have sufficed for one of them only. */
static void reconcile(const struct mlrsearch_config *config, struct mlrsearch_result *results)
{
	for (int i = 0; i < config->goal_count; i++) {
		for (int k = 0; k < config->goal_count; k++) {
			struct mlrsearch_result *strict = &results[i], *lax = &results[k];

			if (i == k || !implies(&config->goals[i], &config->goals[k]))
				continue;
			if (strict->lower_pps > lax->lower_pps) {
				lax->lower_pps = strict->lower_pps;
				lax->lower_loss_ratio = strict->lower_loss_ratio;
				lax->conditional_pps = strict->conditional_pps;
				lax->lower_trial_s = strict->lower_trial_s;
				lax->trouble &= ~(unsigned int)MLRSEARCH_NO_LOWER;
				lax->upper_pps = fmax(lax->upper_pps, lax->lower_pps);
			}
			if (lax->upper_pps < strict->upper_pps && !strict->source_limited) {
				strict->upper_pps = fmax(lax->upper_pps, strict->lower_pps);
				strict->upper_trial_s = lax->upper_trial_s;
				strict->trouble &= ~(unsigned int)MLRSEARCH_NO_UPPER |
						   (lax->trouble & MLRSEARCH_NO_UPPER);
			}
		}
	}
}

static int check_goal(const struct mlrsearch_goal *goal)
{
	if (!(goal->loss_ratio >= 0 && goal->loss_ratio < 1))
		return error_set(EINVAL, "a loss goal of %g is not a ratio from 0 to below 1", goal->loss_ratio);
	if (!(goal->exceed_ratio >= 0 && goal->exceed_ratio < 1))
		return error_set(EINVAL, "an exceed ratio of %g is not one from 0 to below 1", goal->exceed_ratio);
	if (!(goal->width > 0 && goal->width < 1))
		return error_set(EINVAL, "a width of %g is not one between 0 and 1", goal->width);
	if (!(goal->final_trial_s > 0) || isinf(goal->final_trial_s) || !(goal->duration_sum_s < 1e9) ||
	    !(goal->initial_trial_s <= goal->final_trial_s))
		return error_set(EINVAL, "trials of %g s, of %g s at first, cannot be run", goal->final_trial_s,
				 goal->initial_trial_s);
	return 0;
}

static int check_config(const struct mlrsearch_config *config)
{
	int code = 0;

	if (!(config->max_pps > 0) || isinf(config->max_pps))
		return error_set(EINVAL, "a search needs the highest rate of its source, which is unknown");
	if (!(config->min_pps > 0 && config->min_pps <= config->max_pps))
		return error_set(EINVAL, "a search cannot go from %g to %g frames a second", config->min_pps,
				 config->max_pps);
	if (config->goal_count < 1 || config->goal_count > MLRSEARCH_MAX_GOALS)
		return error_set(EINVAL, "a search has 1 to %d goals, not %d", MLRSEARCH_MAX_GOALS, config->goal_count);
	for (int i = 0; !code && i < config->goal_count; i++)
		code = check_goal(&config->goals[i]);
	return code;
}

static void set_up_goal(const struct mlrsearch_config *config, const struct mlrsearch_goal *goal,
			struct search_goal *state)
{
	state->goal = goal;
	state->full_s = goal->final_trial_s;
	state->initial_s = goal->initial_trial_s > 0 ? goal->initial_trial_s : goal->final_trial_s / 60;
	state->budget_s = config->max_trial_s > 0 ? config->max_trial_s / config->goal_count
						  : BUDGET * fmax(goal->final_trial_s, goal->duration_sum_s);
	state->step = 4 * goal->width;
	state->piece_s = fmax(state->full_s / SEARCH_PIECES, state->initial_s);
	state->quiet_pps = INFINITY;
}

/* Goals take turns, so that a slow spell of the machine falls on all of them alike. */
static int run_goals(struct search *search, mlrsearch_trial_function run_trial, void *context)
{
	int count = search->config->goal_count, open = count, code;

	for (int turn = 0; open && search->run_count < MLRSEARCH_MAX_TRIALS - 1; turn++) {
		struct search_goal *state = &search->goals[turn % count];

		if (state->done)
			continue;
		code = advance(search, state, run_trial, context);
		if (code < 0)
			return code;
		if (!code) {
			state->done = 1;
			open--;
		}
	}
	return 0;
}

int mlrsearch(const struct mlrsearch_config *config, mlrsearch_trial_function run_trial, void *context,
	      struct mlrsearch_result *results, struct mlrsearch_summary *summary)
{
	struct search *search;
	int code = check_config(config);

	if (summary)
		*summary = (struct mlrsearch_summary){ 0 };
	if (code)
		return code;
	search = calloc(1, sizeof(*search));
	if (!search)
		return error_set(ENOMEM, "no memory for a search");
	search->config = config;
	for (int i = 0; i < config->goal_count; i++)
		set_up_goal(config, &config->goals[i], &search->goals[i]);
	code = run_goals(search, run_trial, context);
	for (int i = 0; i < config->goal_count; i++)
		conclude(search, &search->goals[i], &results[i]);
	reconcile(config, results);
	if (summary)
		*summary = (struct mlrsearch_summary){ search->run_count, search->trial_s };
	free(search);
	return code;
}
