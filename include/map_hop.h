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

/* Frame sizes are counted in these buckets, upper bounds inclusive (bytes without FCS): the classes of RFC 2819 without
 * their FCS, then jumbo and super-frames (GRO/TSO units). */
#define HOPCAP_SIZE_BUCKETS 8
#define HOPCAP_SIZE_BOUNDS { 60, 123, 251, 507, 1019, 1514, 9014, 0xffffffff }

/* What the probe does with a test frame of its run after counting it. Other frames always pass. */
#define HOPCAP_HOP_PASS 0u
#define HOPCAP_HOP_DROP 1u /* this point is the sink of a cut */

/* Set by user space at any time; one array element, memory-mapped. */
struct hop_control {
	__u32 action;	  /* HOPCAP_HOP_* */
	__u16 run_tag;	  /* host order; 0 counts no test frame at all */
	__u8 stream;	  /* only frames of this stream are test frames */
	__u8 ledger;	  /* 1: keep the sequence ledger (sinks) */
};

struct hop_sizes {
	__u64 frames[HOPCAP_SIZE_BUCKETS];
};

/*
 * Counters of one CPU. Bytes are layer 2 without FCS. Monotonic: user space subtracts snapshots.
 *
 * Segments and sizes are counted of other frames only: a test frame is one wire segment, and all frames of a stream have one
 * size, so theirs follow from test_frames and test_bytes, and the common case stays short.
 */
struct hop_counters {
	__u64 test_frames;
	__u64 test_bytes;
	__u64 other_frames; /* not ours, or of another run or stream */
	__u64 other_bytes;
	__u64 other_segments; /* wire segments of other frames: gso_segs where the hook knows it, else 1 a frame */
	__u64 stamped;	    /* test frames that entered the histograms */
	__u64 stamp_errors; /* stamps that lie before the previous one or over 4.29 s after it */
	__u64 duplicates;   /* ledger: sequence seen before */
	__u64 reordered;    /* ledger: sequence below the highest seen (RFC 4737) */
	__u64 beyond;	    /* ledger: sequence outside HOPCAP_LEDGER_SEQUENCES, not checked for duplicates */
	struct hop_sizes other_sizes;
};

/* When stamped frames of the running stream were seen; one per CPU, user space clears it when it arms the probe. */
struct hop_seen {
	__u64 first_ns; /* CLOCK_MONOTONIC; 0: none yet */
	__u64 last_ns;
};

/* One per CPU, beside the counters. */
struct hop_histograms {
	__u64 hop_ns[HOPCAP_HISTOGRAM_BUCKETS];	 /* since the last point that stamped */
	__u64 path_ns[HOPCAP_HISTOGRAM_BUCKETS]; /* since the source */
};

/* The ledger of a sink: one bit per sequence of the running stream. User space clears it between trials. */
#define HOPCAP_LEDGER_SEQUENCES (1u << 24)
#define HOPCAP_LEDGER_WORDS (HOPCAP_LEDGER_SEQUENCES / 64)

struct hop_ledger_state {
	__u32 highest;	/* highest sequence seen + 1; 0: none */
	__u32 padding;
};

_Static_assert(sizeof(struct hop_control) == 8, "hop_control");
_Static_assert(sizeof(struct hop_counters) == 144, "hop_counters");

#endif
