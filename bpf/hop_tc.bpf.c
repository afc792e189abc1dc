// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Hop probe at a tc hook, in or out, tcx and clsact alike: TC_ACT_UNSPEC means "next program" to both, so programs of others
 * on the same hook run as before. Body and maps: hop_body.bpf.h.
 */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_helpers.h>

#define TAG_BYTES 4
#define HOP_CONTEXT struct __sk_buff
#define hop_data(ctx) ((void *)(long)(ctx)->data)
#define hop_data_end(ctx) ((void *)(long)(ctx)->data_end)
#define hop_load_bytes(ctx, offset, to, bytes) bpf_skb_load_bytes(ctx, offset, to, bytes)
#define hop_queue(ctx) HOP_NO_QUEUE
#define hop_length(ctx) ((ctx)->len)
#define hop_bytes(ctx) ((ctx)->len + ((ctx)->vlan_present ? TAG_BYTES : 0)) /* the outer tag is kept beside the frame */
#define hop_plain_bytes(ctx) hop_bytes(ctx)

#include "hop_body.bpf.h"

/* Enough for Ethernet, two tags, IPv6, UDP and the test header. */
#define HEADERS_BYTES 88
#define LEAST_GSO_HEADERS_BYTES 54 /* Ethernet, IPv4, TCP */

/* Guests hand over segmentation units without a count; then it follows from the size of a segment. */
static __always_inline __u32 wire_segments(const struct __sk_buff *skb)
{
	__u32 gso_size = skb->gso_size;

	if (skb->gso_segs)
		return skb->gso_segs;
	if (!gso_size || skb->len <= LEAST_GSO_HEADERS_BYTES)
		return 1;
	return (skb->len - LEAST_GSO_HEADERS_BYTES + gso_size - 1) / gso_size;
}

SEC("tc")
int hop_tc(struct __sk_buff *skb)
{
	void *data = hop_data(skb);
	void *data_end = hop_data_end(skb);
	__u32 wanted = skb->len < HEADERS_BYTES ? skb->len : HEADERS_BYTES;
	struct hop_counters *other;
	__u32 action;

	/* A large frame may have next to nothing in its linear part: AF_PACKET leaves 14 bytes there, many drivers the
	 * headers up to UDP. When they cannot be pulled in, the frame counts as somebody else's. */
	if (unlikely(data + wanted > data_end)) {
		bpf_skb_pull_data(skb, wanted);
		data = hop_data(skb);
		data_end = hop_data_end(skb);
	}
	action = hop_frame(skb, data, data_end, &other);
	if (unlikely(other))
		count_other(other, hop_bytes(skb), wire_segments(skb));
	return action == HOPCAP_HOP_DROP ? TC_ACT_SHOT : TC_ACT_UNSPEC;
}

char _license[] SEC("license") = "GPL";
