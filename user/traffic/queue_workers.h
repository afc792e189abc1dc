/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Taking frames off an interface in user space: one AF_XDP receiver and one thread a queue.
 *
 * Owns: which queues there are, receivers, threads, starting and ending them, their errors. Leaves to others: what becomes of
 * the frames, which a take function with a context of its own for each thread decides (sink_xsk.c, reflector_xsk.c).
 */
#ifndef TRAFFIC_QUEUE_WORKERS_H
#define TRAFFIC_QUEUE_WORKERS_H

#include <stddef.h>

#include "port/receiver.h"

#define QUEUE_WORKERS_MAX 64

struct queue_workers_config {
	const char *interface;
	int zero_copy;
	int queue, queues; /* first queue and how many; queues 0: all that the interface has */
	int cpu;	   /* the first thread is pinned here, the others next to it; -1: nowhere */
	int busy_poll;
	receive_function take;
	void *contexts; /* QUEUE_WORKERS_MAX of them; thread i has that at contexts + i * context_bytes */
	size_t context_bytes;
};

struct queue_workers;

/* Opens and starts them; runs in the namespace of the interface, as queue_workers_stop() and _close() do. 0 or -errno with error
 * text. */
int queue_workers_open(const struct queue_workers_config *config, struct queue_workers **workers);
int queue_workers_count(const struct queue_workers *workers);
/* 0, or -errno of the first thread that had to end, with its error text. Any time. */
int queue_workers_result(const struct queue_workers *workers);
void queue_workers_statistics(const struct queue_workers *workers, int index, struct receive_statistics *statistics);
/* What the first receiver got. */
const char *queue_workers_describe(const struct queue_workers *workers);
/* Ends the threads; statistics can still be read. */
void queue_workers_stop(struct queue_workers *workers);
void queue_workers_close(struct queue_workers *workers); /* NULL is fine */

#endif
