/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a reflector is told and what it counts; shared by bpf/reflect_body.bpf.h and user/traffic/reflector.c. */
#ifndef HOPCAP_MAP_REFLECT_H
#define HOPCAP_MAP_REFLECT_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

struct reflect_control {
	__u32 ifindex; /* where frames go back out */
	__u16 run_tag; /* 0: frames of any run */
	__u16 padding;
};

/* Of one CPU. */
struct reflect_counters {
	__u64 frames, bytes; /* test frames that were sent back */
	__u64 again;	     /* had been sent back before, and passed on */
	__u64 probes;	     /* sent back, but no test frames: HOPCAP_PROBE_TAG, HOPCAP_FRAME_END */
};

_Static_assert(sizeof(struct reflect_control) == 8, "reflect_control");

#endif
