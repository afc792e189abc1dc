/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the reflectors reflect_xdp and reflect_tc share: turning a test frame round.
 *
 * Owns: addresses swapped (Ethernet, IPv4 or IPv6), the mark HOPCAP_FRAME_REFLECTED, counting. UDP ports stay: the
 * destination port is what probes on the way back look for. Sums do not change when addresses trade places; the mark is a
 * change of 16 bits that a UDP checksum in use follows. Origin and last stamp stay as they are, so the sink behind the
 * source sees the time of both ways. A frame that carries the mark passes: two reflectors that face each other must not
 * keep a frame for ever.
 */
#ifndef HOPCAP_REFLECT_BODY_BPF_H
#define HOPCAP_REFLECT_BODY_BPF_H

#include "map_reflect.h"
#include "parse.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct reflect_control);
} reflect_control SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct reflect_counters);
} reflect_counters SEC(".maps");

static __always_inline void swap_words(__be16 *one, __be16 *other, int words)
{
#pragma unroll
	for (int i = 0; i < words; i++) {
		__be16 kept = one[i];

		one[i] = other[i];
		other[i] = kept;
	}
}

/* The IP header of what parse_test_frame() took for a test frame; 0 when the bounds cannot be shown again. */
static __always_inline int swap_addresses(void *data, void *data_end)
{
	struct ethhdr *ethernet = data;
	void *cursor = ethernet + 1;
	__be16 protocol;

	if (cursor > data_end)
		return 0;
	protocol = ethernet->h_proto;
#pragma unroll
	for (int depth = 0; depth < 2; depth++) {
		struct vlan_tag *tag = cursor;

		if (!is_vlan(protocol))
			break;
		cursor = tag + 1;
		if (cursor > data_end)
			return 0;
		protocol = tag->inner_protocol;
	}
	if (protocol == bpf_htons(ETH_P_IP)) {
		struct iphdr *ip = cursor;

		if ((void *)(ip + 1) > data_end)
			return 0;
		swap_words((__be16 *)&ip->saddr, (__be16 *)&ip->daddr, 2);
	} else {
		struct ipv6hdr *ip = cursor;

		if ((void *)(ip + 1) > data_end)
			return 0;
		swap_words((__be16 *)&ip->saddr, (__be16 *)&ip->daddr, 8);
	}
	swap_words((__be16 *)ethernet->h_dest, (__be16 *)ethernet->h_source, 3);
	return 1;
}

static __always_inline void mark_reflected(struct test_frame *frame)
{
	__be16 *word = frame->header + HOPCAP_OFFSET_FLAGS, before = *word;
	__be16 after = before | bpf_htons(HOPCAP_FRAME_REFLECTED << 8);
	__u32 sum;

	*word = after;
	if (!frame->udp->check)
		return;
	sum = (__u16)~frame->udp->check + (__u16)~before + after;
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	frame->udp->check = (__u16)~sum ? (__u16)~sum : 0xffff;
}

/* 1: the frame was turned round and is to go back. */
static __always_inline int turn_round(void *data, void *data_end, __u32 bytes)
{
	struct reflect_counters *counters;
	struct reflect_control *control;
	struct test_frame frame;
	__u32 zero = 0;

	if (!parse_test_frame(data, data_end, &frame))
		return 0;
	control = bpf_map_lookup_elem(&reflect_control, &zero);
	counters = bpf_map_lookup_elem(&reflect_counters, &zero);
	if (!control || !counters || !header_run_tag(frame.header) ||
	    (control->run_tag && header_run_tag(frame.header) != control->run_tag))
		return 0;
	if (header_flags(frame.header) & HOPCAP_FRAME_REFLECTED) {
		counters->again++;
		return 0;
	}
	mark_reflected(&frame);
	if (!swap_addresses(data, data_end))
		return 0;
	if (header_run_tag(frame.header) == HOPCAP_PROBE_TAG || header_flags(frame.header) & HOPCAP_FRAME_END) {
		counters->probes++;
		return 1;
	}
	counters->frames++;
	counters->bytes += bytes;
	return 1;
}

static __always_inline __u32 reflect_ifindex(void)
{
	__u32 zero = 0;
	struct reflect_control *control = bpf_map_lookup_elem(&reflect_control, &zero);

	return control ? control->ifindex : 0;
}

#endif
