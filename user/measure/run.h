/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A whole run: the steps, in their order, from a path to a verdict.
 */
#ifndef MEASURE_RUN_H
#define MEASURE_RUN_H

#include "measure/bypass.h"
#include "measure/mlrsearch.h"
#include "measure/path.h"
#include "model/run.h"

/* Benchmarks of RFC 2544; a set. */
enum measure_rfc2544 {
	MEASURE_THROUGHPUT = 1,
	MEASURE_LATENCY = 2, /* at the throughput, which is measured for it as well */
	MEASURE_LOSS = 4,
	MEASURE_BACK_TO_BACK = 8,
};

struct measure_request {
	double rate_pps;	 /* 0: as fast as the source goes */
	unsigned int size_bytes; /* primary frame size; 0: the largest that arrives */
	int quick;		 /* fewer and shorter trials, wider bounds */
	int port_given;		 /* use `port`, nothing else */
	enum run_port port;
	int source_cpu;		 /* -1: choose */
	/* End to end: loss goals, least loss first; goal_count 0: none lost, and 0.5 %, with durations that fit a run of a minute. */
	int goal_count;
	struct mlrsearch_goal goals[MLRSEARCH_MAX_GOALS];
	unsigned int rfc2544;	 /* of enum measure_rfc2544: these, and nothing else, in place of the hops */
	double rfc2544_trial_s;	 /* 0: as long as the RFC wants */
	/* Called once when bridges on the path have been told of both ends, before a program is attached or a frame measured: what is read of the
	 * system now is what trials will meet. May add to run->findings. May be NULL. */
	void (*look)(struct run *run, const struct path *path);
	const struct bypass_means *bypass; /* after the verdict the hop that caps is replaced by this; NULL: it is not */
	/* Progress, may be NULL. fraction 0…1; text says what is being done. */
	void (*progress)(double fraction, const char *text);
};

/*
 * Measures the path that stands in run->points and fills the rest of the run, verdict included. 0, or -errno with error
 * text: EHOSTUNREACH when no frame arrives (and says where they were last seen), EINTR when interrupted. What was
 * measured until then stays in the run.
 */
int measure_run(const struct measure_request *request, const struct path *path, struct run *run);

#endif
