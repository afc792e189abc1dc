/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A sink: takes test frames off an interface and keeps their ledger.
 *
 * Owns: which kind of sink, its threads, sums over streams and queues. Leaves to others: the kernel's part (probe/hop_probe),
 * taking frames off AF_XDP (port/receiver), showing (cmd/). Called by cmd/sink.c and cmd/send.c.
 */
#ifndef TRAFFIC_SINK_H
#define TRAFFIC_SINK_H

#include "base/histogram.h"
#include "model/run.h"
#include "traffic/ledger.h"
#include "traffic/queue_workers.h"

#define SINK_MAX_QUEUES QUEUE_WORKERS_MAX

enum sink_kind { SINK_XDP, SINK_XDP_GENERIC, SINK_TC, SINK_AF_XDP_ZC, SINK_AF_XDP_COPY };

struct sink_config {
	char interface[16], netns[RUN_NAME_BYTES];
	enum sink_kind kind;
	uint16_t run_tag;   /* 0: that of the first test frame that comes */
	int streams;	    /* streams 0…streams-1 have ledgers, at most LEDGER_MAX_STREAMS */
	int verify;	    /* compare every byte of the payload with what frame_build() wrote */
	int pass;	    /* 1: count, but let the frames go on (not for AF_XDP) */
	int queue, queues;  /* AF_XDP: first queue and how many; queues 0: all that the interface has */
	int cpu;	    /* AF_XDP: first thread is pinned here, the others next to it; -1 nowhere */
	int busy_poll;
};

struct sink_reading {
	uint64_t frames, bytes;		    /* test frames of all streams */
	uint64_t other_frames, other_bytes; /* that are not of this run, or of a stream without a ledger */
	uint64_t beyond_frames[LEDGER_MAX_STREAMS]; /* of other_frames: of this run, but of streams without a ledger, by stream modulo 8 */
	uint16_t run_tag;		    /* 0: none seen yet */
	uint8_t begun_streams;		    /* bit s: the source has announced that stream s begins, so this sink was there before */
	struct ledger_counts streams[LEDGER_MAX_STREAMS];
	struct histogram latency_ns;	    /* of stamped frames: since they left the source */
	struct histogram gap_ns;	    /* between stamped frames that arrive one after the other on one CPU */
	uint64_t stamped, stamp_errors;
	double jitter_ns;		    /* mean of |latency - latency of the one before| (RFC 3550, A.8, unsmoothed) */
	uint64_t first_ns, last_ns;	    /* CLOCK_MONOTONIC of the first and last stamped frame */
	uint64_t queue_frames[SINK_MAX_QUEUES]; /* by receive queue; AF_XDP and XDP */
	uint64_t cpu_frames[RUN_MAX_CPUS];  /* by CPU */
	uint64_t dropped, ring_full, fill_empty; /* AF_XDP: frames that came and were lost at the socket, by reason */
	uint64_t unbound;		    /* AF_XDP: test frames on queues of the interface that no thread serves; they went on to the stack */
};

struct sink;

/* 0 or -errno with error text; counts from now on. */
int sink_open(const struct sink_config *config, struct sink **sink);
/* Any time. 0, or -errno with error text: -ENODEV when the interface is gone, -ENETDOWN when it went down (the reading is what was
 * counted until then). */
int sink_read(struct sink *sink, struct sink_reading *reading);
/* Takes no more frames: what sink_read() says afterwards holds still, and its sums agree. */
void sink_stop(struct sink *sink);
/* One line: what kind of sink was got, on which queues. */
const char *sink_describe(const struct sink *sink);
void sink_close(struct sink *sink);

#endif
