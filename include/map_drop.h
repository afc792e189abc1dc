/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which test frames the kernel dropped, where and why: the bytes in the maps of bpf/drop_trace.bpf.c.
 */
#ifndef HOPCAP_MAP_DROP_H
#define HOPCAP_MAP_DROP_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

struct drop_control {
	__u16 run_tag; /* host order; 0 counts nothing */
	__u8 stream;
	__u8 padding;
};

struct drop_key {
	__u32 reason;  /* enum skb_drop_reason of the running kernel */
	__u32 ifindex; /* the frame's device when it was dropped */
	__u32 netns;   /* inode number of that device's namespace */
};

#define HOPCAP_DROP_KEYS 256

_Static_assert(sizeof(struct drop_key) == 12, "drop_key");

#endif
