/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a generator in the kernel is told and what it counts: one element, memory-mapped, one writer on each side.
 *
 * Owns: the layout shared by bpf/source_body.bpf.h (source_xdp, source_tc) and user/port/ (live.c, packet.c).
 */
#ifndef HOPCAP_MAP_SOURCE_H
#define HOPCAP_MAP_SOURCE_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#define HOPCAP_TEMPLATE_BYTES 96 /* headers of a frame: Ethernet, up to two tags, IPv6, UDP and the test header fit */

/* Time in units of 2^-20 ns, so that an interval is exact to 1e-6 ns and a trial can last 2^44 ns. */
#define HOPCAP_PACE_SHIFT 20

/* Marks of socket buffers on the source's interface, for bpf/source_tc.bpf.c ("hct", "hcc"). */
#define HOPCAP_MARK_TRIGGER 0x00686374u
#define HOPCAP_MARK_CLONE 0x00686363u

#define HOPCAP_STAMP_NONE 0xffffffffu

struct source_control {
	__u64 interval_fp;	/* planned time between departures, ns << HOPCAP_PACE_SHIFT; 0: as fast as it goes */
	__u64 frames;		/* how many to send, then stop */
	__u32 ifindex;		/* where to send */
	__u32 stamp_mask;	/* a frame is stamped when (sequence & mask) == 0; mask + 1 is a power of two; or HOPCAP_STAMP_NONE */
	__u32 header_offset;	/* of the test header in the template */
	__u32 slip_ns;		/* a departure later than this moves the plan instead of being caught up in a burst */
	__u32 frame_bytes;	/* length of the frames to send; a trigger may be longer */
	__u32 padding;
	__u8 template_bytes[HOPCAP_TEMPLATE_BYTES]; /* first bytes of the frame; the rest stays as user space gave it */
};

struct source_state {
	__u64 sent;		/* frames handed to the device so far; also the next sequence */
	__u64 next_fp;		/* planned departure of the next frame, modulo 2^64; 0: not started */
	__u64 first_ns;		/* CLOCK_MONOTONIC of the first and the last stamped departure */
	__u64 last_ns;
	__u64 late_sum_ns;	/* over paced frames: actual minus planned departure */
	__u64 late_max_ns;
	__u64 slips;		/* times the plan was moved, and by how much in total */
	__u64 slipped_ns;
};

_Static_assert(sizeof(struct source_control) == 136, "source_control");
_Static_assert(sizeof(struct source_state) == 64, "source_state");

#endif
