/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The user side of a generator in the kernel: its two memory-mapped maps.
 *
 * Owns: mapping, telling a generator what to send, reading what it sent. Used by live.c (source_xdp) and packet.c (source_tc),
 * which own the programs.
 */
#ifndef PORT_GENERATOR_H
#define PORT_GENERATOR_H

#include "map_source.h"
#include "port/port.h"

struct bpf_map;

struct generator {
	struct source_control *control; /* NULL: not open */
	struct source_state *state;
	int ifindex;
};

/* 0 or -errno with error text; generator_close undoes also a failed open. */
int generator_open(struct generator *generator, const char *interface, int ifindex, const struct bpf_map *control,
		   const struct bpf_map *state);
void generator_close(struct generator *generator);
/* Starts a stream: the next run of the program sends its first frame. */
void generator_start(struct generator *generator, const struct port_stream *stream);
/* Frames sent so far. */
uint64_t generator_frames(const struct generator *generator);
void generator_result(const struct generator *generator, struct port_sent *sent);

#endif
