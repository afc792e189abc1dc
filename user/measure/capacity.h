/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Search for the highest rate that meets a loss goal. Pure: trials come through a function pointer. */
#ifndef MEASURE_CAPACITY_H
#define MEASURE_CAPACITY_H

/* More trials than this are not run, whatever the goal allows. */
#define CAPACITY_MAX_TRIALS 200

struct capacity_goal {
	double loss_ratio; /* a trial passes when lost / sent <= this */
	double width;	   /* stop when (upper - lower) / upper <= this */
	int max_trials;	   /* 12 are enough on a quiet machine; below 5 nothing can be confirmed on both sides */
	double max_pps;	   /* highest rate the source can offer */
	double hint_pps;   /* where capacity is expected; 0 none */
	double min_pps;	   /* give up below this */
};

struct capacity_trial {
	double offered_pps; /* achieved */
	double loss_ratio;
};

struct capacity_bounds {
	/* lower: highest rate that passed (achieved); 0 when none did down to min_pps.
	 * upper: lowest rate that failed above it (asked or achieved, the higher of the two); when none failed: the
	 * highest rate achieved when the source is the limit, else max_pps. Capacity may be higher still then. */
	double lower_pps, upper_pps;
	double loss_at_lower; /* median of the trials at lower; NAN when none passed */
	int source_limited;   /* 1: the highest rate offered passed */
	int irregular;	      /* 1: verdicts at one rate, or of a lower and a higher one, disagree */
	int trials;
};

/* Runs one trial at asked_pps; 0 or -errno. */
typedef int (*capacity_trial_function)(void *context, double asked_pps, struct capacity_trial *result);

/* 0; -EINVAL with error text for a goal that makes no sense; or the -errno of a trial that could not be run (bounds
 * then hold what was known by then). */
int capacity_search(const struct capacity_goal *goal, capacity_trial_function run_trial, void *context,
		    struct capacity_bounds *bounds);

#endif
