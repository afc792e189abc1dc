// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The step that finds what the whole path sustains, for all loss goals at once.
 *
 * Owns: the goals when the user gives none, trials of the path for the search, what of its results the model keeps.
 * Leaves to others: the search (mlrsearch.c).
 */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "measure/phases.h"

#define EXCEED_RATIO 0.5     /* half of the trials at a load may have high loss: the machine is shared */
#define INITIAL_TRIAL_S 0.05 /* shorter ones are all start and end */
#define BEGIN 0.66	     /* of the run, for the progress line */
#define SHARE 0.11

struct path_search {
	struct phases *phases;
	double expected_s, spent_s;
};

static int path_trial(void *argument, double asked_pps, double asked_s, struct mlrsearch_trial *result)
{
	struct path_search *search = argument;
	struct phases *phases = search->phases;
	struct run *run = phases->bench.run;
	const struct trial_request request = {
		.purpose = RUN_PURPOSE_CAPACITY,
		.sink_point = run->point_count - 1,
		.port = run->source.port,
		.frame_bytes = run->primary_bytes,
		.pps = asked_pps,
		.duration_s = asked_s,
		.stamp_interval = FULL_LOAD_STAMP_INTERVAL,
	};
	struct run_trial *trial;
	int code;

	phase_progress(phases, BEGIN + SHARE * fmin(search->spent_s / search->expected_s, 1),
		       "end to end: %.0f pps for %.2f s", asked_pps, asked_s);
	code = trial_run(&phases->bench, &request, &trial);
	if (code)
		return code;
	search->spent_s += trial->duration_s;
	*result = (struct mlrsearch_trial){ trial->offered_pps, trial->duration_s, trial_loss_ratio(trial) };
	return 0;
}

static int choose_goals(const struct phases *phases, struct mlrsearch_goal goals[MLRSEARCH_MAX_GOALS])
{
	static const double loss_ratios[] = { 0, 0.005 };
	const struct measure_request *request = phases->request;

	memcpy(goals, request->goals, sizeof(request->goals));
	for (int i = 0; !request->goal_count && i < 2; i++)
		goals[i] = (struct mlrsearch_goal){ .loss_ratio = loss_ratios[i], .exceed_ratio = EXCEED_RATIO };
	for (int i = 0; i < (request->goal_count ? request->goal_count : 2); i++) {
		struct mlrsearch_goal *goal = &goals[i];

		if (!goal->width)
			goal->width = phases->plan->end_width;
		if (!goal->final_trial_s)
			goal->final_trial_s = phases->plan->end_trial_s;
		if (goal->duration_sum_s < goal->final_trial_s)
			goal->duration_sum_s = goal->final_trial_s;
		if (!goal->initial_trial_s)
			goal->initial_trial_s =
				fmin(fmax(goal->final_trial_s / 60, INITIAL_TRIAL_S), goal->final_trial_s);
	}
	return request->goal_count ? request->goal_count : 2;
}

static void record(const struct mlrsearch_goal *goal, const struct mlrsearch_result *result,
		   struct run_throughput_bounds *bounds)
{
	*bounds = (struct run_throughput_bounds){ .lower_pps = result->lower_pps,
						  .upper_pps = result->upper_pps,
						  .loss_ratio = result->lower_loss_ratio,
						  .loss_goal = goal->loss_ratio,
						  .conditional_pps = result->conditional_pps,
						  .exceed_ratio = goal->exceed_ratio,
						  .width = goal->width,
						  .final_trial_s = goal->final_trial_s,
						  .duration_sum_s = goal->duration_sum_s,
						  .irregular = result->irregular,
						  .no_lower = !!(result->trouble & MLRSEARCH_NO_LOWER),
						  .no_upper = !!(result->trouble & MLRSEARCH_NO_UPPER),
						  .wide = !!(result->trouble & MLRSEARCH_WIDE),
						  .contradiction = !!(result->trouble & MLRSEARCH_CONTRADICTION),
						  .source_limited = result->source_limited };
}

/* Loads were not tried beyond what was ever seen to come through in overload: that the highest passed is no word about
 * the source, and more than that is not to be had, although no paced load failed for certain. */
static void unclamp(const struct search_range *range, struct run_throughput_bounds *bounds)
{
	if (!range->is_clamped || !bounds->no_upper)
		return;
	bounds->no_upper = bounds->source_limited = 0;
	bounds->irregular = bounds->wide = 1;
	bounds->upper_pps = fmax(range->max_pps, bounds->lower_pps);
}

static void record_cut(struct run *run)
{
	int sink = run->point_count - 1;

	run->cuts[sink - 1] =
		(struct run_cut){ .point = sink,
				  .lower_pps = run->pdr.lower_pps,
				  .upper_pps = run->pdr.upper_pps,
				  .gbps = run->pdr.lower_pps * run->primary_bytes * 8 / 1e9,
				  .limited_by = run->pdr.source_limited ? RUN_LIMIT_SOURCE : RUN_LIMIT_PATH };
	run->cut_count = sink;
}

int phase_throughput(struct phases *phases)
{
	struct run *run = phases->bench.run;
	struct mlrsearch_goal goals[MLRSEARCH_MAX_GOALS];
	struct mlrsearch_result results[MLRSEARCH_MAX_GOALS];
	struct mlrsearch_config config = { .goals = goals, .goal_count = choose_goals(phases, goals) };
	struct path_search search = { .phases = phases };
	struct mlrsearch_summary summary;
	struct search_range range;
	int code = phase_search_range(phases, run->point_count - 1, &range);

	if (code)
		return code;
	for (int i = 0; i < config.goal_count; i++)
		search.expected_s += 3 * goals[i].duration_sum_s;
	if (!phases->request->goal_count)
		config.max_trial_s = phases->plan->end_s;
	config.min_pps = range.min_pps;
	config.hint_pps = range.hint_pps;
	config.max_pps = range.max_pps;
	code = mlrsearch(&config, path_trial, &search, results, &summary);
	if (code)
		return code;
	for (int i = 0; i < config.goal_count; i++) {
		record(&goals[i], &results[i], &run->goals[i]);
		unclamp(&range, &run->goals[i]);
	}
	run->goal_count = config.goal_count;
	run->search_trials = summary.trials;
	run->search_trial_s = summary.trial_s;
	run->ndr = run->goals[0];
	run->pdr = run->goals[config.goal_count - 1];
	run->has_throughput = 1;
	record_cut(run);
	return 0;
}
