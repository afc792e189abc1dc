/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread that sends one stream through an open port: in the right namespace, on the right CPU, ended in time.
 *
 * Owns: the thread, waking it out of a system call, what it sent and how long it took. Leaves to others: opening ports, planning
 * streams, when to stop (sender.c: many workers; source.c: the one of a run).
 */
#ifndef TRAFFIC_SEND_WORKER_H
#define TRAFFIC_SEND_WORKER_H

#include <pthread.h>

#include "port/port.h"

struct send_worker {
	/* Set before the start. */
	const struct port_ops *ops;
	struct port *port;
	const char *netns; /* of the port's interface */
	int cpu;	   /* to pin to; -1: where the scheduler likes */
	const atomic_int
		*go; /* the thread waits until this is set, so that several begin together; NULL: it does not wait */
	struct port_stream stream; /* with stop */
	/* Results; `sent` grows while it sends where the port has no progress(). */
	struct port_sent sent;
	_Atomic uint64_t begin_ns; /* CLOCK_MONOTONIC; 0 until the thread sends */
	uint64_t end_ns;
	/* Its own. */
	pthread_t thread;
	int started, result;
	atomic_int done;
	char error[512];
};

/* Clears what an earlier stream left and starts the thread. 0 or -errno with error text. */
int send_worker_start(struct send_worker *worker);
/* The thread has ended, or was never started. */
int send_worker_done(const struct send_worker *worker);
/* After stream.stop was set: ends a system call that knows nothing of it. To be repeated until send_worker_done(), since a signal
 * that comes just before the call is lost. */
void send_worker_wake(const struct send_worker *worker);
/* Waits for the end. 0, or -errno of the port with its error text; results are right in either case. */
int send_worker_join(struct send_worker *worker);
/* Frames so far; any time. */
uint64_t send_worker_frames(const struct send_worker *worker);

#endif
