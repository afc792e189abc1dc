/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The user side of a generator in the kernel: its global data, memory-mapped.
 *
 * Owns: telling a generator what to send, reading what it sent. Used by live.c (source_xdp) and packet_clones.c
 * (source_tc), which own the programs and thereby the memory.
 */
#ifndef PORT_GENERATOR_H
#define PORT_GENERATOR_H

#include "map_source.h"
#include "port/port.h"

struct generator {
	struct source_control *control;
	struct source_state *state;
	__u64 *lateness; /* HOPCAP_HISTOGRAM_BUCKETS */
	int ifindex;
};

/* Whether a generator can send this stream: 0, or -EINVAL with error text (it is a capture, it has too many templates,
 * a header does not fit HOPCAP_TEMPLATE_BYTES, payloads differ behind them). */
int generator_check(const struct port_stream *stream, const char *interface);
/* Starts a checked stream: the next run of the program sends its first frame. smooth_ns: struct source_control. */
void generator_start(struct generator *generator, const struct port_stream *stream, uint32_t smooth_ns);
/* Frames sent so far. */
uint64_t generator_frames(const struct generator *generator);
/* Fills all of *sent. */
void generator_result(const struct generator *generator, const struct port_stream *stream, struct port_sent *sent);
/* The longest template of a stream. */
const struct port_template *generator_longest(const struct port_stream *stream);

#endif
