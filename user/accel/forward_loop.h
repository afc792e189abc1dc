/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The forwarding loop: one thread, one queue of each of two interfaces, frames across in both directions.
 *
 * Owns: the decision about one frame, counters, when to sleep. Leaves to others: rings (port/xsk_pair.h), who starts it (forward.c).
 */
#ifndef ACCEL_FORWARD_LOOP_H
#define ACCEL_FORWARD_LOOP_H

#include <stdatomic.h>
#include <stdint.h>

#include "accel/forward_table.h"
#include "port/xsk_pair.h"

/* Of the frames that came in on one side; written by one thread, read by any. */
struct forward_lane {
	_Atomic uint64_t received, bytes;
	_Atomic uint64_t forwarded; /* handed to the other side */
	_Atomic uint64_t local;	    /* the receiver is on the side that the frame came from */
	_Atomic uint64_t
		control; /* link-local (01:80:c2:00:00:01 to 0f): a bridge forwards none either; STP goes across */
	_Atomic uint64_t too_long; /* for the other side's MTU */
	_Atomic uint64_t no_room;  /* the other side's transmit ring is full */
};

struct forward_worker {
	struct xsk_pair *pair;
	struct forward_table *table;	       /* shared by all workers */
	const _Atomic unsigned int *max_bytes; /* [2]: longest frame that goes out of a side */
	atomic_int *stop;
	struct forward_lane lanes[2]; /* by the side that frames come in on */
	unsigned int second;
};

/* Forwards until *stop is set: 0. -ENETDOWN with error text: an interface is down or gone. */
int forward_loop(struct forward_worker *worker);

#endif
