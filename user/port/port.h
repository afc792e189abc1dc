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

#include "base/histogram.h"
#include "model/run.h"
#include "wire_test_frame.h"

#define PORT_MAX_TEMPLATES 64	   /* that every port takes */
#define PORT_MAX_REPLAY (1u << 20) /* that AF_PACKET takes: the frames of a capture */
#define PORT_NO_HEADER 0xffffffffu /* header_offset of a frame that leaves as it is: counted, but not numbered, so without ledger */

/* One frame as it leaves, but for what changes from frame to frame. */
struct port_template {
	const unsigned char *frame;  /* ports copy it before they number it; lives as long as the stream */
	unsigned int frame_bytes;
	unsigned int header_offset;  /* of the test header, udp_offset + 8; or PORT_NO_HEADER (AF_PACKET only) */
	unsigned int udp_offset;     /* of the UDP header */
};

/* One stream: frame n is made of template n % template_count, with UDP source port + n % flows. */
struct port_stream {
	const struct port_template *templates;
	unsigned int template_count; /* 1…PORT_MAX_TEMPLATES; AF_PACKET: 1…PORT_MAX_REPLAY */
	unsigned int flows;	     /* 1…16384; IPv6 checksums follow */
	double interval_ns;	     /* between planned departures, on average; 0: as fast as it goes */
	unsigned int burst;	     /* so many frames are planned for the same instant, every burst * interval_ns; 0 or 1: none */
	double ramp_s;		     /* > 0: the rate grows linearly from a tenth to the full one in this time */
	int catch_up;		     /* 1: after a slip the rate is 8/7 of the planned one until the lost time is made up for; 0: it stays lost */
	uint64_t frames;	     /* at most; the sequence wraps at 2^32 */
	uint32_t stamp_interval;     /* every Nth frame is stamped; a power of two; 0: none */
	atomic_int *stop;	     /* set by another thread when time is up */
	/* Instead of interval_ns, burst and ramp_s, for AF_PACKET only; NULL: not used. Planned departure of frame n, since that of
	 * frame 0: departures_ns[n % template_count] + n / template_count * pass_ns. Never decreasing; the first one is 0. */
	const uint64_t *departures_ns;
	uint64_t pass_ns;	     /* from the first frame of one pass to that of the next, at least departures_ns of the last one */
};

struct port_sent {
	uint64_t frames;	     /* handed to the device: the sequences 0…frames-1 */
	uint64_t bytes;		     /* of these, layer 2 without FCS */
	uint64_t refused;	     /* of these, frames that the device had no room for: offered, and lost in front of hop 1 */
	uint64_t first_ns, last_ns;  /* CLOCK_MONOTONIC of the first and last departure of a paced stream; 0: not known */
	uint64_t late_sum_ns, late_max_ns; /* actual minus planned departure, over all frames of a paced stream */
	uint64_t slips, slipped_ns;  /* times the plan was moved because this thread was kept from running */
	uint64_t behind_sum_ns;	     /* over all frames of a paced stream: lateness and what was owed then, so against a plan that never moved */
	struct histogram lateness_ns; /* of every frame of a paced stream */
};

/* Where and how a port is opened. One port is used by one thread: a port a queue, a port a CPU. */
struct port_config {
	const char *interface;	     /* in the namespace of the calling thread */
	int ifindex;
	int queue;		     /* AF_XDP: 0…; others ignore it */
	int busy_poll;		     /* AF_XDP: preferred busy polling */
	int qdisc;		     /* AF_PACKET: 1 through the queueing discipline instead of past it */
	unsigned int super_bytes;    /* AF_PACKET: > 0: GSO super-frames of so many bytes, cut to frames by the device (virtio-net header) */
	int no_clones;		     /* AF_PACKET: every frame by the socket, none as clones at tc: generic XDP skips what tc redirected */
	unsigned int ring_entries;   /* AF_XDP: 0 for the default, else a power of two from 64 to 4096 */
	unsigned int queues;	     /* AF_XDP: queues of this interface that this process is going to open and that are to share one
					registration of memory (the first one opened decides); 0 or 1: none shared */
};

struct port;

struct port_ops {
	enum run_port kind;
	unsigned int max_frame_bytes;
	/* 0 or -errno with error text that says why and what to do (no room for locked memory, no such queue, no zero-copy …). */
	int (*open)(const struct port_config *config, struct port **port);
	/* Sends one stream; returns when done or stopped. 0 or -errno; *sent is right in either case. */
	int (*send)(struct port *port, const struct port_stream *stream, struct port_sent *sent);
	void (*close)(struct port *port);
	/* What was got, one line for people: "AF_XDP copy, queue 0, 2048 frames of 4096 bytes, need_wakeup". May be NULL. */
	const char *(*describe)(const struct port *port);
	/* Frames sent so far of the running stream, from any thread; NULL: port_sent.frames is kept up to date while sending. */
	uint64_t (*progress)(const struct port *port);
};

extern const struct port_ops port_live, port_packet, port_xsk_zero_copy, port_xsk_copy;

/* A departure that is later than this moves the plan instead of being followed by a burst that nobody asked for; in time it
 * is what the smallest queue on a path (256 frames) takes at 5 Mpps. */
#define PORT_SLIP_NS 50000

static inline uint16_t port_get16(const unsigned char *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

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
