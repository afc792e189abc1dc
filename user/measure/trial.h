/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One trial: one offered load, one frame size, one duration, one sink.
 *
 * Owns: attaching just the probes that a trial wants, arming them, sending, waiting for the last frames, reading, and the
 * conservation of what was counted. Leaves to others: which trials are run and what they mean (measure/run.c and the pure
 * files beside it).
 */
#ifndef MEASURE_TRIAL_H
#define MEASURE_TRIAL_H

#include "measure/clock_frames.h"
#include "measure/clocks.h"
#include "measure/path.h"
#include "model/run.h"

/*
 * What stands still between trials.
 *
 * Where a cut ends decides whose cost is whose. Live frames stay XDP frames until something needs a socket buffer; so their
 * sink at an incoming point is native XDP where that can be had, and building the socket buffer counts for the hop that
 * needs it, just as a bypass of that hop would save it. Frames that enter as socket buffers (AF_PACKET, AF_XDP copy) end at
 * tc: XDP would have to copy them first. At the first point live frames are XDP frames for certain, so a middle probe there
 * is XDP as well: measured 0.5 % of the path's time instead of 4.5 % with tc.
 */
struct bench {
	struct run *run;
	struct path path;
	struct domain *source_domain;		     /* where the source is; NULL: not opened */
	struct domain_probe *probes[RUN_MAX_POINTS]; /* [0] is NULL: the source counts itself */
	struct domain_probe
		*xdp_probes[RUN_MAX_POINTS]; /* the same points by native XDP, for live frames; NULL: cannot be had */
	struct hop_reading *readings;	     /* [RUN_MAX_POINTS], of the last trial */
	struct domain_probe *active[RUN_MAX_POINTS]; /* attached for the last trial; NULL: this point did not count */
	struct clocks *clocks;			     /* NULL: the path lies in one kernel */
	struct clock_frames *frames;		     /* the same */
	uint16_t run_tag;
	uint8_t stream; /* of the last trial */
	int source_cpu; /* number in the run; -1: not pinned */
};

struct trial_request {
	enum run_purpose purpose;
	int sink_point;
	enum run_port port;
	unsigned int frame_bytes;
	double pps; /* 0: as fast as the source goes */
	double duration_s;
	uint64_t frames;	     /* 0: as many as the duration takes */
	unsigned int stamp_interval; /* a power of two; 0 none */
	int with_clocks;	     /* 1: delays matter, so offsets of other kernels' clocks are measured around it */
	int without_xdp;	     /* 1: tc probes only, where the user did not ask for XDP */
	uint32_t probes;	     /* bit i: point i, before the sink, counts too */
	void (*tick)(void *context); /* called about every 10 ms while frames are sent; may be NULL */
	void *tick_context;
};

#define TRIAL_ALL_PROBES 0xffffffffu

/* Opens source and probes for run->points. 0 or -errno with error text; bench_close undoes also a failed open. */
int bench_open(struct bench *bench, struct run *run, int source_cpu);
void bench_close(struct bench *bench);

/*
 * Runs one trial and adds it to run->trials; *trial points to it until the next trial is added. bench->readings then hold the
 * probes' readings (of probed points). 0, or -errno with error text; -EINTR when the user interrupted, -EHOSTUNREACH when no frame
 * arrives any more (other than in delivery trials, where that is a result).
 */
int trial_run(struct bench *bench, const struct trial_request *request, struct run_trial **trial);

/* Lost / sent of a trial; 1 when nothing was sent. */
double trial_loss_ratio(const struct run_trial *trial);
/* Frames per second that came through: received over the time in which they were sent. */
double trial_passed_pps(const struct run_trial *trial);

#endif
