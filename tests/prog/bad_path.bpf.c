// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A path that drops, doubles, swaps, delays and damages test frames by the rules of bad_path.h, but lets ends of streams be. At tc ingress of one interface;
 * what goes on leaves by another one. Loaded by test_ledger_path.c.
 *
 * No program can hold a frame back. Two that change places trade sequences instead: that is what the sink sees of a swap.
 */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_helpers.h>

#include "bad_path.h"
#include "parse.bpf.h"

const volatile __u32 leaves_by; /* ifindex */
__u64 taken, refused;

#define TTL_OFFSET 22
#define HEADER_OFFSET 42

SEC("tc")
int bad_path_tc(struct __sk_buff *skb)
{
	struct bad_frame out[BAD_PATH_MOST];
	__u32 original, count;
	__u8 ttl, damaged;

	bpf_skb_pull_data(skb, 60);
	{
		void *data = (void *)(long)skb->data, *data_end = (void *)(long)skb->data_end;
		struct test_frame frame;

		if (!parse_plain_test_frame(data, data_end, &frame))
			return TC_ACT_UNSPEC;
		if (header_flags(frame.header) & HOPCAP_FRAME_END)
			return bpf_redirect(leaves_by, 0);
		original = header_sequence(frame.header);
		ttl = *(__u8 *)(data + TTL_OFFSET);
	}
	damaged = ttl ^ 0x10;
	taken++;
	count = bad_path(original, out);
	for (__u32 i = 0; i < BAD_PATH_MOST; i++) {
		__be32 sequence;

		if (i >= count)
			break;
		sequence = bpf_htonl(out[i].sequence);
		if (bpf_skb_store_bytes(skb, TTL_OFFSET, out[i].is_damaged ? &damaged : &ttl, 1, 0) ||
		    bpf_skb_store_bytes(skb, HEADER_OFFSET + HOPCAP_OFFSET_SEQUENCE, &sequence, 4, 0) ||
		    bpf_clone_redirect(skb, leaves_by, 0))
			refused++;
	}
	return TC_ACT_SHOT;
}

char _license[] SEC("license") = "GPL";
