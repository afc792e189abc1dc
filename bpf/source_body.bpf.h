/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the generators source_xdp and source_tc share: the plan of departures, the numbering of frames, their maps.
 *
 * Theory. A planned departure is next_fp, advanced by interval_fp a frame: errors do not add up. A frame leaves when
 * now >= planned; lateness = now - planned. Both instants are kept modulo 2^44 ns, which a clock that counts from boot
 * has used up after 4.9 hours: so only their difference means something, up to 2^43 ns. When the program was kept from
 * running for longer than slip_ns, the plan is moved to now and the gap counted: catching up would send a burst that no
 * one asked for and overflow the first queue.
 */
#ifndef HOPCAP_SOURCE_BODY_BPF_H
#define HOPCAP_SOURCE_BODY_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "map_source.h"
#include "wire_test_frame.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct source_control);
} source_control SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct source_state);
} source_state SEC(".maps");

/* 1 when a departure is due at now_ns, with the plan moved to the next one. */
static __always_inline int departure_due(const struct source_control *control, struct source_state *state, __u64 now_ns)
{
	__u64 now_fp = now_ns << HOPCAP_PACE_SHIFT, late_ns;
	__s64 late_fp;

	if (!state->next_fp)
		state->next_fp = now_fp;
	late_fp = now_fp - state->next_fp;
	if (late_fp < 0)
		return 0;
	late_ns = late_fp >> HOPCAP_PACE_SHIFT;
	if (late_ns > control->slip_ns) {
		state->slips++;
		state->slipped_ns += late_ns;
		state->next_fp += late_ns << HOPCAP_PACE_SHIFT;
	}
	state->late_sum_ns += late_ns;
	if (late_ns > state->late_max_ns)
		state->late_max_ns = late_ns;
	state->next_fp += control->interval_fp;
	return 1;
}

/*
 * Whether the next frame leaves now. *now_ns is the time when it had to be read, else 0.
 */
static __always_inline int may_depart(const struct source_control *control, struct source_state *state, __u64 *now_ns)
{
	*now_ns = 0;
	if (state->sent >= control->frames)
		return 0;
	if (!control->interval_fp)
		return 1;
	*now_ns = bpf_ktime_get_ns();
	return departure_due(control, state, *now_ns);
}

/* Writes what changes from frame to frame into a test header that holds the template's bytes. */
static __always_inline void number_header(void *header, const struct source_control *control,
					  struct source_state *state, __u64 now_ns)
{
	*(__be32 *)(header + HOPCAP_OFFSET_SEQUENCE) = bpf_htonl((__u32)state->sent);
	*(__be32 *)(header + HOPCAP_OFFSET_LAST) = 0; /* a template's last word may not have fit */
	if (control->stamp_mask == HOPCAP_STAMP_NONE || (state->sent & control->stamp_mask))
		return;
	if (!now_ns)
		now_ns = bpf_ktime_get_ns();
	*(__u8 *)(header + HOPCAP_OFFSET_FLAGS) = HOPCAP_FRAME_STAMP;
	*(__be16 *)(header + HOPCAP_OFFSET_ORIGIN_HIGH16) = bpf_htons((__u16)(now_ns >> 32));
	*(__be32 *)(header + HOPCAP_OFFSET_ORIGIN_LOW32) = bpf_htonl((__u32)now_ns);
	if (!state->sent)
		state->first_ns = now_ns;
	state->last_ns = now_ns;
}

#endif
