// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The live-frame generator: run in a loop by BPF_PROG_TEST_RUN with BPF_F_TEST_XDP_LIVE_FRAMES, it turns a recycled page
 * into the next test frame and redirects it into the device, or drops the page when no departure is due yet.
 *
 * Owns: the bytes of each frame; pacing is in source_body.bpf.h. Leaves to others: calling it, ending the call, knowing
 * whether frames arrive (user/port/live.c). Pages come back with whatever the path wrote into them, so all header bytes are
 * written anew.
 */
#include "source_body.bpf.h"

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
	__u64 now_ns;
	void *header;

	control = bpf_map_lookup_elem(&source_control, &zero);
	state = bpf_map_lookup_elem(&source_state, &zero);
	if (!control || !state || !may_depart(control, state, &now_ns))
		return XDP_DROP;
	write_template(data, data_end, control);
	offset = control->header_offset;
	if (offset > HOPCAP_TEMPLATE_BYTES - HOPCAP_TEST_HEADER_BYTES)
		return XDP_ABORTED;
	header = data + offset;
	if (header + HOPCAP_TEST_HEADER_BYTES > data_end)
		return XDP_ABORTED;
	number_header(header, control, state, now_ns);
	state->sent++;
	return bpf_redirect(control->ifindex, 0);
}

char _license[] SEC("license") = "GPL";
