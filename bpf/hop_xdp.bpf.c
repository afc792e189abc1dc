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
#define hop_length(ctx) ((__u32)bpf_xdp_get_buff_len(ctx))
#define hop_bytes(ctx) hop_length(ctx)
#define hop_plain_bytes(ctx) ((__u32)((ctx)->data_end - (ctx)->data))

#include "hop_body.bpf.h"

SEC("xdp.frags")
int hop_xdp(struct xdp_md *ctx)
{
	void *data = hop_data(ctx);
	void *data_end = hop_data_end(ctx);
	struct hop_counters *other;
	__u32 action = hop_frame(ctx, data, data_end, &other);

	if (unlikely(other))
		count_other(other, hop_bytes(ctx), 1);
	return action == HOPCAP_HOP_DROP ? XDP_DROP : XDP_PASS;
}

char _license[] SEC("license") = "GPL";
