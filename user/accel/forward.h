/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The user-space forwarder: frames from one of two interfaces to the other through AF_XDP sockets, as a bridge of two ports would.
 *
 * Owns: the two interfaces, a worker for each pair of queues, counters. Leaves to others: the loop (forward_loop.c), what may be taken
 * (forward_port.c), the command (cmd/). All belongs to this process: when it dies, frames go on to the stack again.
 */
#ifndef ACCEL_FORWARD_H
#define ACCEL_FORWARD_H

#include <stdint.h>

struct forward_request {
	const char *interface[2], *netns[2]; /* netns: "" the caller's */
	int set_offloads;		     /* change what stands in the way, undone by forward_stop() */
	int force_uplink;		     /* also the interface of the default route or this ssh session */
	int busy_poll;			     /* preferred busy polling instead of sleeping */
	int copy_only;			     /* not zero-copy, even where both drivers can */
	int cpu;			     /* of the first worker, the others next to it; -1 nowhere */
};

/* Of the frames that came in at one interface. */
struct forward_counts {
	uint64_t received, bytes;   /* by the forwarder */
	uint64_t forwarded;	    /* to the other interface */
	uint64_t local;		    /* the receiver is where the frame came from */
	uint64_t control;	    /* link-local frames, which no bridge forwards */
	uint64_t too_long, no_room; /* for the other side's MTU; in the other side's ring */
	uint64_t lost;		    /* the kernel had no room for them in the sockets' rings */
	uint64_t to_stack;	    /* addressed to this machine */
	uint64_t unbound;	    /* came on a queue without a socket, and went on to the stack */
};

struct forward;

/*
 * Judges, binds, and forwards from now on. 0 or -errno with error text, one reason. Changes are on the calling thread's undo stack; the
 * thread that started it stops it.
 */
int forward_start(const struct forward_request *request, struct forward **forward);
/* To be called about once a second: follows MTUs. 0, or -errno with error text: it forwards no more (-ENODEV, -ENETDOWN: an interface is
 * gone or down). */
int forward_check(struct forward *forward);
void forward_read(struct forward *forward, struct forward_counts counts[2]);
/* "AF_XDP copy, 1 pair of queues, …" */
const char *forward_describe(const struct forward *forward);
/* 0 or -errno with error text: something could not be undone. NULL is fine. */
int forward_stop(struct forward *forward);

#endif
