/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A port and a receiver that are joined by memory: a path without a kernel, for tests of what stands on ports and
 * receivers.
 *
 * Owns: a pair of rings, one each way, and what happens to frames between them. A pair has a name, which
 * port_config.interface says; port_config.queue 0 is the way there, 1 the way back: what a receiver on queue 0 sends
 * back, a receiver on queue 1 gets. Frames are copied in and out of slots; the order is kept, but for what the fate
 * function wants.
 *
 * Theory. Each ring has one writer and one reader and two counters that only grow; a slot is the writer's while written
 * - read < slots, and is shown with a release store. No lock, no allocation, no system call on the way but
 * sched_yield() at a full or empty ring.
 */
#ifndef PORT_MEMORY_H
#define PORT_MEMORY_H

#include "port/port.h"
#include "port/receiver.h"

enum memory_fate {
	MEMORY_PASS,
	MEMORY_LOSE,
	MEMORY_DOUBLE, /* arrives twice, one right after the other */
	MEMORY_SWAP,   /* arrives after the next frame that passes; at the end of the stream when there is none */
};

struct memory_config {
	const char *name;	      /* 1…15 bytes */
	unsigned int slots;	      /* of each ring, a power of two; 0: 1024 */
	unsigned int max_frame_bytes; /* 0: HOPCAP_MAX_FRAME_BYTES */
	int lossy;		      /* 1: a full ring refuses frames, as a device does; 0: the port waits for room */
	/* Of the way there; called by the sending thread for each frame of a stream, number 0, 1, 2 …; NULL: all pass.
	 */
	enum memory_fate (*fate)(void *context, uint64_t number);
	void *context;
};

struct memory_pair;

/* 0 or -errno with error text (-EEXIST: a pair has that name). */
int memory_pair_open(const struct memory_config *config, struct memory_pair **pair);
/* Its ports and receivers must be closed. */
void memory_pair_close(struct memory_pair *pair);

/* In no table of ports: they are named, not chosen by kind. */
extern const struct port_ops port_memory;
extern const struct receiver_ops receiver_memory;

#endif
