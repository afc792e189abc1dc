/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs side by side: of each run the few numbers that paths are compared by, and what keeps runs from being compared.
 *
 * Owns: which numbers of a run these are. Pure. Leaves to others: runs (model/run.h), the table (report/compare_text.c).
 *
 * What is not known is RUN_UNKNOWN, never 0.
 */
#ifndef MODEL_COMPARISON_H
#define MODEL_COMPARISON_H

#include "model/run.h"

#define COMPARISON_MAX_ROWS 16

/* In what a run differs from the first one, so that their numbers do not say the same. */
enum comparison_difference {
	DIFFERENT_MACHINE = 1,
	DIFFERENT_KERNEL = 2,
	DIFFERENT_FRAMES = 4, /* frame size */
	DIFFERENT_SOURCE = 8, /* the port that sends */
	DIFFERENT_GOAL = 16,  /* loss goal of the capacity */
	DIFFERENT_RATE = 32,  /* --rate */
	DIFFERENT_VERSION = 64,
};
#define COMPARISON_DIFFERENCES 7

struct comparison_row {
	char name[RUN_TEXT_BYTES]; /* the file, the lab, the path */
	char machine[80], kernel[80], version[32];
	unsigned int frame_bytes;
	enum run_port port;
	double loss_goal, rate_limit_pps;
	double passes_pps;		   /* service rate of the whole path: what comes through when more is offered */
	double capacity_pps;		   /* sustained within the loss goal: lower bound */
	double gbps_1500;		   /* layer 2, of frames of 1514 bytes: MTU 1500 */
	double idle_ns, idle_bound_ns;	   /* path, median */
	double loaded_ns, loaded_bound_ns; /* path at 90 % of the capacity, 99th percentile */
	double cpu_s_per_million; /* CPU time for a million frames that arrive, just above capacity: all kernels of the path, the
				      source included, other programs not */
	enum run_verdict_kind kind;
	int cap_hop; /* 0: none is named */
	char cap_name[RUN_NAME_BYTES];
	enum run_cause cause;
	double ratio;		  /* passes_pps to the best row of this frame size */
	unsigned int differences; /* enum comparison_difference, from the first row */
};

struct comparison {
	int count;
	struct comparison_row rows[COMPARISON_MAX_ROWS];
};

/* Adds a run. 0, or -E2BIG with error text. */
int comparison_add(struct comparison *comparison, const char *name, const struct run *run);
/* Ratios and differences, when all are there. */
void comparison_finish(struct comparison *comparison);
/* "machine", "kernel", "frame size", "source", "loss goal", "rate limit", "version": name of bit number i. */
const char *comparison_difference_name(int i);
/* What row says about bit number i, as text. Returns buffer. */
const char *comparison_difference_value(const struct comparison_row *row, int i, char *buffer, unsigned long size);

#endif
