// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The live-frame generator: run in a loop by BPF_PROG_TEST_RUN with BPF_F_TEST_XDP_LIVE_FRAMES, it turns a recycled page
 * into the next test frame and redirects it into the device, or drops the page when no departure is due yet.
 *
 * Owns: pacing and the bytes of each frame. Leaves to others: calling it, ending the call, knowing whether frames arrive
 * (user/port/live.c).
 *
 * Theory. A planned departure is next_fp, advanced by interval_fp a frame: errors do not add up. A frame leaves when
 * now >= planned; lateness = now - planned. Both instants are kept modulo 2^44 ns, which a clock that counts from boot
 * has used up after 4.9 hours: so only their difference means something, up to 2^43 ns. When the program was kept from
 * running for longer than slip_ns, the plan is moved to now and the gap counted: catching up would send a burst that no
 * one asked for and overflow the first queue.
 * Pages come back with whatever the path wrote into them, so all header bytes are written anew.
 */
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

/* Headers of the frame from the template, in words of 8 bytes as far as the frame goes. */
static __always_inline void write_template(void *data, void *data_end, const struct source_control *control)
{
	const __u64 *from = (const __u64 *)control->template_bytes;
	__u64 *to = data;

#pragma unroll
	for (int i = 0; i < HOPCAP_TEMPLATE_BYTES / 8; i++) {
		if ((void *)(to + i + 1) > data_end)
			break;
		to[i] = from[i];
	}
}

SEC("xdp")
int source_live(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data;
	void *data_end = (void *)(long)ctx->data_end;
	struct source_control *control;
	struct source_state *state;
	__u32 zero = 0, offset;
	__u64 now_ns = 0;
	void *header;

	control = bpf_map_lookup_elem(&source_control, &zero);
	state = bpf_map_lookup_elem(&source_state, &zero);
	if (!control || !state || state->sent >= control->frames)
		return XDP_DROP;
	if (control->interval_fp) {
		now_ns = bpf_ktime_get_ns();
		if (!departure_due(control, state, now_ns))
			return XDP_DROP;
	}
	write_template(data, data_end, control);
	offset = control->header_offset;
	if (offset > HOPCAP_TEMPLATE_BYTES - HOPCAP_TEST_HEADER_BYTES)
		return XDP_ABORTED;
	header = data + offset;
	if (header + HOPCAP_TEST_HEADER_BYTES > data_end)
		return XDP_ABORTED;
	*(__be32 *)(header + HOPCAP_OFFSET_SEQUENCE) = bpf_htonl((__u32)state->sent);
	*(__be32 *)(header + HOPCAP_OFFSET_LAST) = 0; /* the template's last word may not have fit */
	if (control->stamp_mask != HOPCAP_STAMP_NONE && !(state->sent & control->stamp_mask)) {
		if (!now_ns)
			now_ns = bpf_ktime_get_ns();
		*(__u8 *)(header + HOPCAP_OFFSET_FLAGS) = HOPCAP_FRAME_STAMP;
		*(__be16 *)(header + HOPCAP_OFFSET_ORIGIN_HIGH16) = bpf_htons((__u16)(now_ns >> 32));
		*(__be32 *)(header + HOPCAP_OFFSET_ORIGIN_LOW32) = bpf_htonl((__u32)now_ns);
		if (!state->sent)
			state->first_ns = now_ns;
		state->last_ns = now_ns;
	}
	state->sent++;
	return bpf_redirect(control->ifindex, 0);
}

char _license[] SEC("license") = "GPL";
