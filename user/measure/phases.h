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

#define IDLE_PPS 10000 /* a rate at which nothing waits */
#define IDLE_STAMP_INTERVAL 1

/* How much is measured. */
struct phase_plan {
	double service_s, search_s, latency_s, pressure_s;
	int service_rounds;	    /* trials of each cut at each size; at most 8 */
	int cut_trials;		    /* at most, in the search of a cut */
	double cut_width, end_width; /* relative width of the bounds that ends a search */
	double end_trial_s, end_s;  /* full-length trials end to end, and trial time in all, unless the user says otherwise */
	int observer_pairs;
	int bypass_pairs, bypass_idle_pairs; /* at full load, at a low rate */
};

/* What the steps share. */
struct phases {
	struct bench bench;
	const struct measure_request *request;
	const struct phase_plan *plan;
	uint32_t probes_at_cap; /* points that are probed at full load: the start of the hop that costs most */
};

/*
 * Sends some frames of one size with all points probed: by the fastest port whose frames reach the first point; they may be lost later on,
 * that is for the caller. *trial: what was counted, of the last port that was tried; untouched when none could send. `why` says why this
 * port, or why none. 0, or -errno; -EHOSTUNREACH without error text: none reaches the first point.
 */
int phase_choose_port(struct phases *phases, unsigned int bytes, enum run_port *chosen, char *why, size_t why_size,
		      struct run_trial **trial);
/* Which port reaches the first point, which frame sizes reach the sink; fills run->sizes, run->source, primary_bytes. */
int phase_delivery(struct phases *phases);
/* Hop latency with every frame stamped at a low rate. */
int phase_idle_latency(struct phases *phases);
/* Service rate of every cut at every size. */
int phase_services(struct phases *phases);
/* Capacity bounds of every cut but the last at the primary size. */
int phase_cuts(struct phases *phases);
/* Capacity bounds of the whole path for all loss goals; those of the goal of most loss are the last cut's. */
int phase_throughput(struct phases *phases);
/* The benchmarks of RFC 2544 that were asked for, over the whole path, at each size that arrives. */
int phase_rfc2544(struct phases *phases);
/* Latency at 50 % and 90 % of the capacity, then just above it, with the machine watched. */
int phase_loaded_latency(struct phases *phases);
/* What the middle points' probes cost: paired trials at full load. */
int phase_observer(struct phases *phases);

/*
 * The hop that caps replaced, in paired trials; after the verdict, and last of all: what stands in the way is taken off. That it cannot be
 * replaced is no failure: run->bypass says why.
 */
int phase_bypass(struct phases *phases);
/* Median of the whole path's latency in the trial that was just run; RUN_UNKNOWN when no frame was stamped. */
double phase_path_median_ns(const struct phases *phases);

/* The range in which a search of the cut that ends at a point makes sense. 0, or -errno with error text. */
struct search_range {
	double min_pps, hint_pps, max_pps;
	int is_clamped; /* max_pps is not what the source offers, but somewhat more than what was ever seen to come through */
};
int phase_search_range(struct phases *phases, int point, struct search_range *range);

void phase_progress(struct phases *phases, double fraction, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
