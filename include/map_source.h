/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a generator in the kernel is told and what it counts: global data of its program, memory-mapped, one writer on
 * each side.
 *
 * Owns: the layout shared by bpf/source_body.bpf.h (source_xdp, source_tc) and user/port/ (generator.c, live.c,
 * packet.c). Global data instead of array maps: a program reaches it without a look-up, which is some 3 ns of the 15
 * that a frame may cost here.
 */
#ifndef HOPCAP_MAP_SOURCE_H
#define HOPCAP_MAP_SOURCE_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#define HOPCAP_TEMPLATE_BYTES 96 /* headers of a frame: Ethernet, up to two tags, IPv6, UDP and the test header fit */
#define HOPCAP_SOURCE_TEMPLATES 64 /* a power of two */

/* Time in units of 2^-20 ns, so that an interval is exact to 1e-6 ns and a trial can last 2^44 ns. */
#define HOPCAP_PACE_SHIFT 20

/* Marks of socket buffers on the source's interface, for bpf/source_tc.bpf.c: triggers have this and 16 bits of their own, since
 * several generators may be attached to one interface; clones of all of them ("hcc"). */
#define HOPCAP_MARK_TRIGGER 0x68740000u
#define HOPCAP_MARK_CLONE 0x00686363u

#define HOPCAP_STAMP_NONE 0xffffffffu

/* One kind of frame of a stream. */
struct source_template {
	__u8 bytes[HOPCAP_TEMPLATE_BYTES]; /* first bytes of the frame; the rest stays as user space gave it */
	__u32 frame_bytes;   /* length of the frame; the page or trigger it is made of may be longer */
	__u32 header_offset; /* of the test header, right behind UDP's; at most HOPCAP_TEMPLATE_BYTES - 18 */
	__u32 checksum_base; /* ~UDP checksum of the template, host order, 1…0xffff; 0: it has none, none is computed */
	__u32 source_port;   /* UDP source port of flow 0 */
};

struct source_control {
	/* Planned time between bursts (of one frame or more), ns << HOPCAP_PACE_SHIFT; 0: as fast as it goes. */
	__u64 interval_fp;
	__u64 frames;	  /* how many to send, then stop */
	__u64 ramp_ns;	  /* the rate grows linearly from a tenth to the full one in this time; 0: full at once */
	__u32 ifindex;	  /* where clones go; live frames go where the device map says */
	__u32 stamp_mask; /* stamped when (sequence & mask) == 0; mask + 1 is a power of two; or HOPCAP_STAMP_NONE */
	__u32 slip_ns;	  /* a departure later than this moves the plan instead of being caught up in a burst */
	__u32 burst;	  /* frames planned for the same instant; 0 and 1: one */
	__u32 template_count; /* 1…HOPCAP_SOURCE_TEMPLATES; frame n is made of template n % template_count */
	__u32 flows;	  /* 0 and 1: one; the source port of frame n is that of the template + n % flows */
	__u32 catch_up;	  /* 1: what the plan was moved by is made up for, an eighth of each interval at a time */
	__u32 smooth_ns;  /* with catch_up: the same as slip_ns while little is owed; 0: no such distinction */
	__u32 trigger_mark; /* clones: of the triggers that are this generator's */
	__u32 padding;
	struct source_template templates[HOPCAP_SOURCE_TEMPLATES];
};

struct source_state {
	__u64 sent;	/* frames handed to the device so far; also the next sequence */
	__u64 next_fp;	/* planned departure of the next frame, modulo 2^64; 0: not started */
	/* CLOCK_MONOTONIC of the first and the last departure whose time is known: all of a paced stream, else the
	 * stamped. */
	__u64 first_ns;
	__u64 last_ns;
	__u64 late_sum_ns; /* over paced frames: actual minus planned departure */
	__u64 late_max_ns;
	__u64 slips;	   /* times the plan was moved, and by how much in total */
	__u64 slipped_ns;
	__u64 refused;	   /* of the sent: the device said that it had no room; clones only */
	__u64 start_fp;	   /* planned departure of the first frame */
	__u64 debt_fp;	   /* time that is still to be made up for */
	__u32 burst_position; /* frames of the running burst that have left */
	__u32 ramped;	   /* 1: the ramp is over */
	__u32 template_next; /* sent % template_count */
	__u32 flow_next;   /* sent % flows */
	__u32 gone;	   /* 1: the device was not there any more; nothing is sent from then on */
	__u32 padding;
	/* source_live_plain: frames before this one leave as the template is. User space sets it to sent before a
	 * call. */
	__u64 next_event;
	__u64 behind_sum_ns; /* over paced frames: actual departure minus that of a plan which never moved, as far as it is owed */
};

_Static_assert(sizeof(struct source_template) == 112, "source_template");
_Static_assert(sizeof(struct source_control) == 64 + 64 * 112, "source_control");
_Static_assert(sizeof(struct source_state) == 128, "source_state");

#endif
