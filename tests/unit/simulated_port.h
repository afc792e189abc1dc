/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ports of known capacity and known noise, for tests of searches: a source, a machine that forwards, and a sink,
 * without frames.
 *
 * Time passes with each trial, so that noise which lasts (a capacity that wanders, a state that holds) is seen by
 * trials that follow each other. All rates scale with capacity_pps.
 */
#ifndef TESTS_UNIT_SIMULATED_PORT_H
#define TESTS_UNIT_SIMULATED_PORT_H

#include <stdint.h>

enum simulated_machine {
	MACHINE_SHARP,	  /* a plain limit behind a queue */
	MACHINE_FLOOR,	  /* the same, and frames are lost at random: a share of all of them, whatever the load */
	MACHINE_BURSTS,	  /* the same, but its CPU is taken away now and then, for times of exponential length */
	MACHINE_WANDERS,  /* capacity follows an autoregressive process of a few per cent */
	MACHINE_BISTABLE, /* capacity has two values and jumps between them */
	MACHINE_COUNT
};

struct simulated_port {
	enum simulated_machine machine;
	double capacity_pps, queue_frames;
	double source_pps;		 /* the source achieves no more; 0: whatever is asked */
	double lost_share;		 /* FLOOR: probability of each frame to be lost */
	double bursts_per_s, burst_s;	 /* BURSTS: mean */
	double deviation, correlation_s; /* WANDERS: of the capacity, relative */
	double low_share, dwell_s;	 /* BISTABLE: low capacity / capacity; mean time in a state */
	/* State. */
	uint64_t random;
	double wander;
	int is_low;
	int trials;
	double trial_s, last_loss;
	int fail_at_trial; /* this trial (from 1) cannot be run: -EIO */
};

/* A machine of this kind with parameters drawn at random by the seed: capacity 20 kpps to 4 Mpps. full_s is the length
 * of a full-length trial: noise is drawn so that such a trial tells something of it. */
void simulated_port_draw(struct simulated_port *port, enum simulated_machine machine, uint64_t seed, double full_s);
/* One trial: sent = pps * duration, lost comes back. 0 or -EIO. */
int simulated_port_send(struct simulated_port *port, double pps, double duration_s, double *sent, double *lost);
/*
 * The capacity for a loss goal: the highest load at which a share of at most exceed_ratio of all trials of full_s loses
 * a larger part than loss_ratio. From the parameters by theory; for the machines that remember, by simulating many
 * trials.
 */
double simulated_port_capacity(const struct simulated_port *port, double loss_ratio, double exceed_ratio,
			       double full_s);
const char *simulated_machine_name(enum simulated_machine machine);

/* 0…1, from the port's own generator. */
double simulated_unit(uint64_t *random);

#endif
