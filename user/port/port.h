/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A port: one way to hand test frames to an interface.
 *
 * Owns: the interface that all ways share. A port sends one stream, from one thread, until it has sent enough or is told to
 * stop. Leaves to others: when trials begin and end, threads, pinning, namespaces (traffic/source.c); whether frames
 * arrive (measure/). Every function runs in the namespace of the interface.
 */
#ifndef PORT_PORT_H
#define PORT_PORT_H

#include <stdatomic.h>
#include <stdint.h>

#include "model/run.h"
#include "wire_test_frame.h"

/* One stream. */
struct port_stream {
	const unsigned char *frame;  /* the frame to send; ports copy it before they number it */
	unsigned int frame_bytes;
	unsigned int header_offset;  /* of the test header */
	double interval_ns;	     /* between planned departures; 0: as fast as it goes */
	uint64_t frames;	     /* at most */
	uint32_t stamp_interval;     /* every Nth frame is stamped; a power of two; 0: none */
	atomic_int *stop;	     /* set by another thread when time is up */
};

struct port_sent {
	uint64_t frames;	     /* handed to the device: the sequences 0…frames-1 */
	uint64_t late_sum_ns, late_max_ns; /* actual minus planned departure, over all frames of a paced stream */
	uint64_t slips, slipped_ns;  /* times the plan was moved because this thread was kept from running */
};

struct port;

struct port_ops {
	enum run_port kind;
	unsigned int max_frame_bytes;
	/* Opens on an interface; 0 or -errno with error text. */
	int (*open)(const char *interface, int ifindex, struct port **port);
	/* Sends one stream; returns when done or stopped. 0 or -errno; *sent is right in either case. */
	int (*send)(struct port *port, const struct port_stream *stream, struct port_sent *sent);
	void (*close)(struct port *port);
};

extern const struct port_ops port_live, port_packet, port_xsk;

/* A departure that is later than this moves the plan instead of being followed by a burst that nobody asked for; in time it
 * is what the smallest queue on a path (256 frames) takes at 5 Mpps. */
#define PORT_SLIP_NS 50000

static inline void port_put_be(unsigned char *at, uint64_t value, int bytes)
{
	while (bytes--) {
		at[bytes] = value & 0xff;
		value >>= 8;
	}
}

/* What changes from frame to frame, for ports that number frames themselves; origin_ns 0: not stamped. */
static inline void port_number_frame(unsigned char *test_header, uint32_t sequence, uint64_t origin_ns)
{
	test_header[HOPCAP_OFFSET_FLAGS] = origin_ns ? HOPCAP_FRAME_STAMP : 0;
	port_put_be(test_header + HOPCAP_OFFSET_SEQUENCE, sequence, 4);
	port_put_be(test_header + HOPCAP_OFFSET_ORIGIN_HIGH16, origin_ns, 6);
	port_put_be(test_header + HOPCAP_OFFSET_LAST, 0, 4);
}

#endif
