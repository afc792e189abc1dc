/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The measuring steps of a run, one function each; measure/run.c calls them in order.
 *
 * Each takes its trials through measure/trial.c and leaves its result in the model. All return 0 or -errno with error text.
 */
#ifndef MEASURE_PHASES_H
#define MEASURE_PHASES_H

#include "measure/run.h"
#include "measure/trial.h"

/* At full load 1 in so many frames is stamped: a stamp costs each point about 0.1 us, and one second still gives thousands. */
#define FULL_LOAD_STAMP_INTERVAL 256

/* How much is measured. */
struct phase_plan {
	double service_s, search_s, latency_s, pressure_s;
	int service_rounds;	    /* trials of each cut at each size; at most 8 */
	int cut_trials, end_trials; /* at most, in a search */
	double cut_width, end_width; /* relative width of the bounds that ends a search */
	int observer_pairs;
};

/* What the steps share. */
struct phases {
	struct bench bench;
	const struct measure_request *request;
	const struct phase_plan *plan;
	uint32_t probes_at_cap; /* points that are probed at full load: the start of the hop that costs most */
};

/* Which port reaches the first point, which frame sizes reach the sink; fills run->sizes, run->source, primary_bytes. */
int phase_delivery(struct phases *phases);
/* Hop latency with every frame stamped at a low rate. */
int phase_idle_latency(struct phases *phases);
/* Service rate of every cut at every size. */
int phase_services(struct phases *phases);
/* Capacity bounds of every cut at the primary size. */
int phase_cuts(struct phases *phases);
/* NDR of the whole path; PDR is that of the last cut. */
int phase_throughput(struct phases *phases);
/* Latency at 50 % and 90 % of the capacity, then just above it, with the machine watched. */
int phase_loaded_latency(struct phases *phases);
/* What the middle points' probes cost: paired trials at full load. */
int phase_observer(struct phases *phases);

void phase_progress(struct phases *phases, double fraction, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
