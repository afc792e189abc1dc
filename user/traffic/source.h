/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The source of a path: a thread in the right namespace, on the right CPU, that sends one stream a trial.
 *
 * Owns: the thread, opening ports on the source interface (live, AF_XDP, AF_PACKET; each at first use), ending a stream in
 * time. Leaves to others: which port is right for a size (source_port_for only knows what a port can carry), what the
 * frames met on their way.
 */
#ifndef TRAFFIC_SOURCE_H
#define TRAFFIC_SOURCE_H

#include "model/run.h"
#include "port/port.h"

struct source;

struct source_place {
	char interface[16];
	char netns[RUN_NAME_BYTES];
	int cpu;		     /* to pin to; -1: where the scheduler likes */
	unsigned char source_mac[6], destination_mac[6];
	uint16_t run_tag;
	int no_clones;		     /* port_config.no_clones */
};

struct source_stream {
	enum run_port port;
	unsigned int frame_bytes;
	uint8_t stream;
	double pps;		     /* 0: as fast as it goes */
	double duration_s;
	uint64_t frames;	     /* at most; 0: as many as the duration takes */
	unsigned int stamp_interval; /* a power of two; 0: none */
};

/* 0 or -errno with error text. */
int source_open(const struct source_place *place, struct source **source);
void source_close(struct source *source);
/* Whether a port can be used here for frames of this size; the reason when not (static text or error_text). */
int source_port_usable(struct source *source, enum run_port port, unsigned int frame_bytes, const char **why_not);
/* Where the thread runs from the next stream on; -1: anywhere. */
void source_set_cpu(struct source *source, int cpu);
/* Whether this process may use a CPU. */
int source_cpu_usable(int cpu);
/* A CPU that this process may use and that is not `cpu`; -1: there is none. */
int source_other_cpu(int cpu);
/*
 * Sends one stream; meanwhile calls tick(context) about every 10 ms (may be NULL). Ends early when undo_interrupted().
 * 0 or -errno; *sent and *elapsed_s (first to last departure as seen from outside) are right in either case.
 */
int source_send(struct source *source, const struct source_stream *stream, void (*tick)(void *context), void *context,
		struct port_sent *sent, double *elapsed_s);
/* From another thread: ends the stream that is being sent, and any later one at once. */
void source_stop(struct source *source);

#endif
