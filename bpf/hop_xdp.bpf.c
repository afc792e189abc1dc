// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Hop probe at a driver's receive hook. Multi-buffer aware, so that a jumbo MTU does not refuse it; the test header always
 * lies in the first buffer. Body and maps: hop_body.bpf.h.
 */
#include "hop_body.bpf.h"

SEC("xdp.frags")
int hop_xdp(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data;
	void *data_end = (void *)(long)ctx->data_end;
	__u32 bytes = bpf_xdp_get_buff_len(ctx);
	struct hop_counters *other;
	__u32 action = hop_frame(data, data_end, bytes, &other);

	if (unlikely(other))
		count_other(other, bytes, 1);
	return action == HOPCAP_HOP_DROP ? XDP_DROP : XDP_PASS;
}

char _license[] SEC("license") = "GPL";
