/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a hop probe is told and what it counts: the bytes in its maps.
 *
 * Owns: the layout shared by bpf/hop_body.bpf.h (writer) and user/probe/ (reader). Fixed width, padding named, sizes asserted.
 */
#ifndef HOPCAP_MAP_HOP_H
#define HOPCAP_MAP_HOP_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif
#include "histogram_layout.h"
#include "ledger_layout.h"

/* Frame sizes are counted in these buckets, upper bounds inclusive (bytes without FCS): the classes of RFC 2819 without
 * their FCS, then jumbo and super-frames (GRO/TSO units). */
#define HOPCAP_SIZE_BUCKETS 8
#define HOPCAP_SIZE_BOUNDS { 60, 123, 251, 507, 1019, 1514, 9014, 0xffffffff }

/* What the probe does with a test frame of its run after counting it. Other frames always pass. */
#define HOPCAP_HOP_PASS 0u
#define HOPCAP_HOP_DROP 1u /* this point is the sink of a cut */

#define HOPCAP_SINK_QUEUES 64u

/*
 * Set by user space at any time; one array element, memory-mapped. The first cache line is all that most frames cost;
 * programs write run_tag, once, when they learn it, `high`, and begun_*.
 */
struct hop_control {
	__u32 action;	    /* HOPCAP_HOP_* */
	__u32 run_tag;	    /* host order, 16 bits; 0 counts no test frame at all */
	__u8 stream;	    /* only frames of this stream and the stream_count - 1 next ones are test frames */
	__u8 stream_count;  /* 1…LEDGER_MAX_STREAMS; 0 counts no test frame */
	__u8 sink;	    /* 1: keep ledger, gaps, jitter, queues; check headers */
	__u8 verify;	    /* 1: a sink compares every byte of the payload, too */
	__u8 learn;	    /* 1: while run_tag is 0, that of the first sound test frame that comes is taken */
	/* What programs have heard of sources that begin: the run tag of the last one, and a bit for each of its streams, counted
	 * from `stream`. So a sink knows that it was there before the first frame. */
	__u8 begun_streams;
	__u16 begun_tag;
	__u64 ledger_base;  /* of the trial that runs; see ledger_layout.h */
	__s64 clock_offset_ns; /* stamps are CLOCK_MONOTONIC of this kernel plus this: the clock of the source, where that is another
				  kernel's; 0 inside one */
	__u8 any;	    /* 1: sound test frames of whichever run and stream are counted; for probes that stay. run_tag is 0 then */
	__u8 padding[7];
	__u64 reserved[3];
	ledger_u64 high[LEDGER_MAX_STREAMS]; /* near the highest place that any CPU has seen, by stream */
};

struct hop_sizes {
	__u64 frames[HOPCAP_SIZE_BUCKETS];
};

/*
 * Counters of one CPU. Bytes are layer 2 without FCS. Monotonic: user space subtracts snapshots.
 *
 * Segments and sizes are counted of other frames only: a test frame is one wire segment, and the sizes of a stream are
 * known at its source, so the common case stays short. The announcement at a stream's end is neither a test frame nor
 * another one.
 */
struct hop_counters {
	__u64 test_frames;  /* corrupted ones included, which only a sink can tell */
	__u64 test_bytes;
	__u64 other_frames; /* not ours, or of another run or stream */
	__u64 other_bytes;
	__u64 other_segments; /* wire segments of other frames: gso_segs where the hook knows it, else 1 a frame */
	__u64 stamped;	    /* test frames that entered the histograms */
	__u64 stamp_errors; /* stamps that lie before the previous one or over 4.29 s after it */
	struct hop_sizes other_sizes;
	__u64 queue_frames[HOPCAP_SINK_QUEUES]; /* XDP sinks: test frames by receive queue; those above with the last */
	__u64 beyond_frames[LEDGER_MAX_STREAMS]; /* sinks: of other_frames, those of this run, by (stream - control.stream) mod 8 */
};

/* When stamped frames of the running stream were seen; one per CPU, user space clears it when it arms the probe. */
struct hop_seen {
	__u64 first_ns; /* CLOCK_MONOTONIC + clock_offset_ns; 0: none yet */
	__u64 last_ns;
};

/* One per CPU, beside the counters. */
struct hop_histograms {
	__u64 hop_ns[HOPCAP_HISTOGRAM_BUCKETS];	 /* since the last point that stamped */
	__u64 path_ns[HOPCAP_HISTOGRAM_BUCKETS]; /* since the source */
};

/* What sinks make of stamped frames beside that; one per CPU. The frame before is the stamped one before on the same CPU,
 * in the same trial. */
struct hop_sink {
	__u64 gap_ns[HOPCAP_HISTOGRAM_BUCKETS]; /* between the arrivals of stamped frames; longer ones as the longest */
	__u64 jitter_sum_ns;   /* sum of |latency - latency of the frame before| … */
	__u64 jitter_count;    /* … over so many frames whose stamps and whose predecessor's were right */
	__u64 latency_ns;      /* of the frame before, + 1; 0: its stamp was wrong */
	__u64 padding;
};

_Static_assert(sizeof(struct hop_control) == 128, "hop_control");
_Static_assert(sizeof(struct hop_counters) == 696, "hop_counters");
_Static_assert(sizeof(struct hop_sink) == 7200, "hop_sink");

#endif
