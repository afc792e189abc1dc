// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Hop probe at a driver's receive hook. Multi-buffer aware, so that a jumbo MTU does not refuse it; the test header always
 * lies in the first buffer. Body and maps: hop_body.bpf.h.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#define HOP_CONTEXT struct xdp_md
#define hop_data(ctx) ((void *)(long)(ctx)->data)
#define hop_data_end(ctx) ((void *)(long)(ctx)->data_end)
#define hop_load_bytes(ctx, offset, to, bytes) bpf_xdp_load_bytes(ctx, offset, to, bytes)
#define hop_queue(ctx) ((ctx)->rx_queue_index)

#include "hop_body.bpf.h"

SEC("xdp.frags")
int hop_xdp(struct xdp_md *ctx)
{
	void *data = hop_data(ctx);
	void *data_end = hop_data_end(ctx);
	__u32 bytes = bpf_xdp_get_buff_len(ctx);
	struct hop_counters *other;
	__u32 action = hop_frame(ctx, data, data_end, bytes, bytes, &other);

	if (unlikely(other))
		count_other(other, bytes, 1);
	return action == HOPCAP_HOP_DROP ? XDP_DROP : XDP_PASS;
}

char _license[] SEC("license") = "GPL";
