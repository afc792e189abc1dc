/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Search for the highest loads that meet several loss goals at once. Pure: trials come through a function pointer.
 *
 * Goals and results are those of MLRsearch (draft-ietf-bmwg-mlrsearch). What goes beyond the draft is told in
 * mlrsearch.c.
 */
#ifndef MEASURE_MLRSEARCH_H
#define MEASURE_MLRSEARCH_H

#define MLRSEARCH_MAX_GOALS 8
/* More trials than this are not run, whatever the durations allow. */
#define MLRSEARCH_MAX_TRIALS 600

struct mlrsearch_goal {
	double final_trial_s;	/* > 0: trials of at least this length are full-length */
	double duration_sum_s;	/* so much full-length trial time classifies a load; less than final_trial_s counts as
				   that */
	double loss_ratio;	/* a trial has low loss when lost / sent <= this; 0 <= loss_ratio < 1 */
	double exceed_ratio;	/* share of the time at a load that may have high loss; 0 <= exceed_ratio < 1 */
	double width;		/* the goal is reached when (upper - lower) / upper <= this; 0 < width < 1 */
	double initial_trial_s; /* of the first trials; 0: a sixtieth of final_trial_s */
};

struct mlrsearch_config {
	const struct mlrsearch_goal *goals;
	int goal_count;	    /* 1…MLRSEARCH_MAX_GOALS */
	double min_pps;	    /* 0 < min_pps <= max_pps */
	double max_pps;	    /* highest load of the source */
	double hint_pps;    /* where capacity is expected; 0 none */
	double max_trial_s; /* trial time for all goals together; 0: 4.75 full-length trials (or sums) a goal */
	int by_draft_alone; /* 1: classes of loads count as the draft has them, with no further evidence */
};

struct mlrsearch_trial {
	double offered_pps; /* achieved */
	double duration_s;  /* effective */
	double loss_ratio;
};

/* Why a result is not what was asked for; a set. */
enum mlrsearch_trouble {
	MLRSEARCH_NO_LOWER = 1, /* no load meets the goal for certain, down to min_pps: lower_pps is 0 */
	MLRSEARCH_NO_UPPER = 2, /* the highest load meets it, or none fails for certain: the capacity may be higher */
	MLRSEARCH_WIDE = 4,	/* the time was up before the bounds came as close as asked */
	MLRSEARCH_CONTRADICTION =
		8, /* verdicts disagree: at one load, or a lower one failed where a higher one passed */
};

struct mlrsearch_result {
	double lower_pps;	 /* relevant lower bound: the achieved rate; 0: there is none */
	double upper_pps;	 /* relevant upper bound; without one: the highest load that was offered, or max_pps */
	double lower_loss_ratio; /* at the lower bound, of its trials together; NAN: there is none */
	double conditional_pps;	 /* conditional throughput at the lower bound; NAN: there is none */
	double lower_trial_s, upper_trial_s; /* trial time at the bounds */
	unsigned int trouble;		     /* of enum mlrsearch_trouble */
	int irregular;			     /* 1: trouble other than a source that is the limit */
	int source_limited;		     /* 1: the highest load meets the goal */
};

struct mlrsearch_summary {
	int trials;
	double trial_s; /* sum of effective durations */
};

/* Runs one trial at asked_pps for asked_s; 0 or -errno with error text. */
typedef int (*mlrsearch_trial_function)(void *context, double asked_pps, double asked_s, struct mlrsearch_trial *trial);

/*
 * Fills results[goal_count] and *summary (may be NULL). 0; -EINVAL with error text for goals that make no sense; or the
 * -errno of a trial that could not be run: results then hold what was known by then.
 */
int mlrsearch(const struct mlrsearch_config *config, mlrsearch_trial_function run_trial, void *context,
	      struct mlrsearch_result *results, struct mlrsearch_summary *summary);

#endif
