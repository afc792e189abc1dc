/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A receiver: one way to take frames off an interface in user space, the counterpart of a port.
 *
 * Owns: the interface that AF_XDP receivers (and the in-memory pair) share. One receiver serves one queue from one thread.
 * Leaves to others: what frames mean (traffic/sink.c, traffic/reflector.c).
 */
#ifndef PORT_RECEIVER_H
#define PORT_RECEIVER_H

#include <stdatomic.h>

#include "port/port.h"

struct receive_frame {
	unsigned char *data; /* the first (or only) buffer of the frame */
	unsigned int bytes;  /* of the whole frame */
	unsigned int data_bytes; /* readable at data; less than bytes for a frame of several buffers */
};

/* Takes a batch. May change the frames in place. A reflector says 1 for a frame to be sent back out of the same queue. */
typedef void (*receive_function)(void *context, const struct receive_frame *frames, unsigned char *send_back,
				 unsigned int count);

/* What happened at this receiver since it was opened. The first four the kernel says, and each is a lost frame but for
 * fill_empty, which counts the times that a driver found no buffer to receive into: it then leaves frames in its own ring, and
 * drops those that no longer fit (see its own counters). */
struct receive_statistics {
	uint64_t dropped;    /* did not fit the buffers, or the socket was not ready */
	uint64_t ring_full;  /* the receiver was too slow to take them */
	uint64_t fill_empty; /* the receiver was too slow to give buffers back */
	uint64_t invalid;    /* buffers that were not valid: a mistake of ours */
	uint64_t returned;   /* frames sent back */
	uint64_t return_refused; /* frames that were to be sent back, and found no room on the way out */
	uint64_t unbound;    /* test frames that came on queues of this interface without a socket, and went on to the stack: of the whole
				interface, every receiver of it says the same number */
};

struct receiver;

struct receiver_ops {
	enum run_port kind;
	/* Frames of test streams (UDP port HOPCAP_UDP_PORT, and our tag in them) go to the receiver, all others on to the stack. 0 or
	 * -errno with error text. */
	int (*open)(const struct port_config *config, struct receiver **receiver);
	/* Hands batches to take() until *stop is set. 0 or -errno with error text: -ENETDOWN when the interface went away. */
	int (*receive)(struct receiver *receiver, atomic_int *stop, receive_function take, void *context);
	void (*statistics)(struct receiver *receiver, struct receive_statistics *statistics);
	const char *(*describe)(const struct receiver *receiver);
	void (*close)(struct receiver *receiver);
};

extern const struct receiver_ops receiver_xsk_zero_copy, receiver_xsk_copy;

#endif
