/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Made-up runs for the verdict's tests: the sea lab's path, functions that add what a measurement would, and
 * expectations.
 */
#ifndef TESTS_UNIT_MADE_RUN_H
#define TESTS_UNIT_MADE_RUN_H

#include "model/run.h"

/* Seeded, the same in every run of a test program. */
double made_random(double low, double high);

/* lpar0 - switch - vios0 - trunk0 - SEA - phys0 - nic0, all served by CPU 1, the source on CPU 0. */
struct run *made_sea_path(void);
/* A service rate of the whole spread ± `spread`; 5.2 Mpps were offered. Returns it, for changes. */
struct run_service *made_service(struct run *run, int point, unsigned int bytes, double pps, double spread);
void made_cut(struct run *run, int point, double lower_pps, double upper_pps, enum run_limit limit);
/* Service rates and search bounds of cuts 1…n. */
void made_rates(struct run *run, const double *pps);
void made_cpu(struct run *run, int cpu, double busy);
/* A tenth of the frames is lost in one hop; past the last hop nothing is. */
struct run_trial *made_pressure(struct run *run, double offered_pps, int lossy_hop);
void made_latency(struct run *run, const char *load, double rate_pps, const double *medians_ns);

/* Attributes, fits, judges; prints and checks the sentence. */
void made_judge(struct run *run);
const struct run_evidence *made_evidence(const struct run *run, const char *name);
void expect_cap(const struct run *run, int hop, enum run_cause cause);
void expect_words(const struct run *run, const char *words);

#endif
