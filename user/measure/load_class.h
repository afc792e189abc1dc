/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What trials at one load say about a search goal: the definitions of MLRsearch (draft-ietf-bmwg-mlrsearch), and no
 * more.
 *
 * Pure. Called by: measure/mlrsearch.c.
 */
#ifndef MEASURE_LOAD_CLASS_H
#define MEASURE_LOAD_CLASS_H

#include "measure/mlrsearch.h"

enum load_class { LOAD_UNDECIDED, LOAD_LOWER, LOAD_UPPER };

/* Sums of effective durations of the trials at one load, by the goal's measure. */
struct load_sums {
	double full_low_s, full_high_s;	  /* full-length trials with low and with high loss */
	double short_low_s, short_high_s; /* shorter ones */
};

void load_sums_add(struct load_sums *sums, const struct mlrsearch_goal *goal, double duration_s, double loss_ratio);
enum load_class load_classify(const struct load_sums *sums, const struct mlrsearch_goal *goal);
/* Seconds of high loss that would make a load with these sums an upper bound, and of full-length low loss that would
 * make it a lower one; 0 when it is one already. */
double load_missing_high_s(const struct load_sums *sums, const struct mlrsearch_goal *goal);
double load_missing_low_s(const struct load_sums *sums, const struct mlrsearch_goal *goal);

struct load_trial {
	double duration_s, loss_ratio;
};

/* Conditional throughput at a load from its trials (sorts them by loss); NAN without full-length ones. */
double load_conditional_pps(double pps, const struct mlrsearch_goal *goal, struct load_trial *trials, int count);

#endif
