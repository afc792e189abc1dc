// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sends test frames back out of the interface they came in by, as socket buffers: for interfaces without native XDP, and for
 * frames of several buffers. Used by user/traffic/reflector.c.
 */
#include "reflect_body.bpf.h"

#define TC_ACT_UNSPEC -1
#define HEADERS_BYTES 96

SEC("tc")
int reflect_tc(struct __sk_buff *skb)
{
	__u32 readable = skb->len < HEADERS_BYTES ? skb->len : HEADERS_BYTES;

	if (bpf_skb_pull_data(skb, readable))
		return TC_ACT_UNSPEC;
	if (!turn_round((void *)(long)skb->data, (void *)(long)skb->data_end, skb->len))
		return TC_ACT_UNSPEC;
	return bpf_redirect(reflect_ifindex(), 0);
}

char _license[] SEC("license") = "GPL";
