/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The inside of a search, shared by mlrsearch.c (running trials, results) and mlrsearch_steps.c (which trial is next).
 * No business of anybody else.
 */
#ifndef MEASURE_MLRSEARCH_STATE_H
#define MEASURE_MLRSEARCH_STATE_H

#include "measure/capacity_zone.h"
#include "measure/mlrsearch.h"

#define SEARCH_NONE (-1)
#define SEARCH_PIECES 7.8   /* of a full-length trial: four are a little more than half of it */
#define SEARCH_AS_LONG 0.98 /* durations are measured: part of the asked one that is as good as all of it */

struct search_trial {
	int load;
	double offered_pps, duration_s, loss_ratio;
};

struct search_proposal {
	double pps, duration_s;
};

struct search_goal {
	const struct mlrsearch_goal *goal;
	double initial_s, piece_s, full_s, budget_s, spent_s;
	double step;	    /* next relative step while one end of the bracket is missing */
	int interpolations; /* in a row */
	int bracket_trials; /* SEARCH_NONE: the bracket is complete */
	int done;
	double lower_pps, upper_pps; /* loads being settled; 0: none yet */
	double passed_pps;	     /* highest load that was to be the upper bound and passed */
	double upper_step;	     /* how far above that to try next */
	double quiet_pps;	     /* no lower bound is looked for above this load; INFINITY: anywhere */
	int is_noisy;		     /* 1: a trial failed by noise where a lower bound was expected */
	enum { NOT_RAISED, RAISING, RAISE_FAILED } raise; /* a lower bound that was settled is tried higher up */
	int near_misses; /* fails by overload at loads that should have been below the zone */
};

struct search {
	const struct mlrsearch_config *config;
	double highest_pps; /* ever achieved */
	double trial_s;
	int run_count; /* trials that were run; trial_count of them tell something */
	int load_count, trial_count;
	double loads[MLRSEARCH_MAX_TRIALS]; /* asked */
	struct search_trial trials[MLRSEARCH_MAX_TRIALS];
	struct zone_trial outcomes[MLRSEARCH_MAX_TRIALS]; /* the same trials, for capacity_zone.h */
	struct search_goal goals[MLRSEARCH_MAX_GOALS];
};

/* Index of a load that was tried; SEARCH_NONE. */
int search_find_load(const struct search *search, double pps);
/* Lowest load that counts as an upper bound for a goal; highest that counts as a lower one below it. SEARCH_NONE. */
int search_settled_upper(const struct search *search, const struct search_goal *state);
int search_settled_lower(const struct search *search, const struct search_goal *state, int upper);
/* The bounds are as close as the goal wants them. */
int search_is_close(const struct search *search, const struct search_goal *state, int lower, int upper);
int search_is_top(const struct search *search, double pps);
/* The load of the next short trial of the bracket; 0: it is complete. */
double search_bracket(const struct search *search, struct search_goal *state);
/* The next trial behind the bracket; 0: the goal is done. */
int search_propose(const struct search *search, struct search_goal *state, struct search_proposal *proposal);
/* After each trial that was run for this goal: does what is being settled still stand a chance? */
void search_review(const struct search *search, struct search_goal *state);

#endif
