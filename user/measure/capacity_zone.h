/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What trials of all lengths tell of where a capacity lies and how steady it is, and whether one load is a bound.
 *
 * Pure. Called by: measure/mlrsearch.c.
 */
#ifndef MEASURE_CAPACITY_ZONE_H
#define MEASURE_CAPACITY_ZONE_H

#include "measure/mlrsearch.h"

struct zone_trial {
	double pps; /* load, as asked for */
	double duration_s, loss_ratio;
};

struct capacity_zone {
	double low_pps, high_pps; /* loads that were seen to be the limit at some time; 0: nothing is known yet */
	double spread; /* relative standard deviation of what comes through in overload, of short or of longer trials */
	double queue_frames; /* that each trial passes beyond the rate of the machine; the zone is without them */
	int samples;	     /* trials in overload that this is from */
	double high_pass_s;  /* duration of that pass */
	double high_pass_pps,
		low_fail_pps; /* highest load that passed, lowest that failed (other than by a few frames); 0: none */
};

/* How a trial went by a goal's measure. */
enum verdict_of_trial {
	TRIAL_PASSED,
	TRIAL_NOISE,	/* failed by so little that overload is not the cause */
	TRIAL_OVERLOAD, /* failed; what came through is the rate of the machine at that time */
};

enum verdict_of_trial zone_verdict(const struct mlrsearch_goal *goal, double loss_ratio);
/* Trials shorter than piece_s fill queues that longer ones do not notice: what passes in them is no evidence when there
 * are longer ones. */
void zone_find(const struct mlrsearch_goal *goal, const struct zone_trial *trials, int count, double piece_s,
	       struct capacity_zone *zone);
/* ln of the likelihood that a load is a lower bound rather than not, with a clear margin on either side, by all trials:
 * what passes above it passes there, what fails below it fails there. The same for an upper bound. */
double zone_lower_evidence(const struct mlrsearch_goal *goal, const struct zone_trial *trials, int count, double pps,
			   double piece_s);
double zone_upper_evidence(const struct mlrsearch_goal *goal, const struct zone_trial *trials, int count, double pps,
			   double piece_s);
/* Evidence of one full-length pass or fail, of one fail for an upper bound. */
double zone_pass_evidence(const struct mlrsearch_goal *goal);
double zone_fail_evidence(const struct mlrsearch_goal *goal);

#endif
