/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A whole run: the steps, in their order, from a path to a verdict.
 */
#ifndef MEASURE_RUN_H
#define MEASURE_RUN_H

#include "measure/path.h"
#include "model/run.h"

struct measure_request {
	double rate_pps;	 /* 0: as fast as the source goes */
	unsigned int size_bytes; /* primary frame size; 0: the largest that arrives */
	int quick;		 /* fewer and shorter trials, wider bounds */
	int port_given;		 /* use `port`, nothing else */
	enum run_port port;
	int source_cpu;		 /* -1: choose */
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
