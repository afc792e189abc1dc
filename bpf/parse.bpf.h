/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the test header in a frame.
 *
 * Owns: the walk Ethernet → up to two VLAN tags → IPv4 or IPv6 → UDP → test header, with bounds checks the verifier
 * accepts. Leaves to others: what is done with it (hop_body.bpf.h). Used by every program that must know our frames.
 *
 * Never a test frame: IP options, IPv6 extension headers, fragments (first ones too: their length lies), other UDP ports.
 */
#ifndef HOPCAP_PARSE_BPF_H
#define HOPCAP_PARSE_BPF_H

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "wire_test_frame.h"

#define likely(condition) __builtin_expect(!!(condition), 1)
#define unlikely(condition) __builtin_expect(!!(condition), 0)

struct vlan_tag {
	__be16 tci;
	__be16 inner_protocol;
};

struct test_frame {
	void *header;	    /* test header, HOPCAP_TEST_HEADER_BYTES are readable */
	struct udphdr *udp; /* its UDP header */
};

#define IPV4_FRAGMENT_BITS 0x3fff /* more-fragments and offset; don't-fragment may be set */

static __always_inline int is_vlan(__be16 protocol)
{
	return protocol == bpf_htons(ETH_P_8021Q) || protocol == bpf_htons(ETH_P_8021AD);
}

/*
 * The frames that our own sources make, untagged IPv4 without options, in three comparisons: a probe is most of all a few
 * cache lines of code. Same result as parse_test_frame() for them; 0 says nothing of other frames.
 */
static __always_inline int parse_plain_test_frame(void *data, void *data_end, struct test_frame *frame)
{
	/* EtherType, version and header length, (type of service); more-fragments and offset, (time to live), protocol. */
	if (data + HOPCAP_MIN_FRAME_BYTES > data_end ||
	    (*(__be32 *)(data + 12) & bpf_htonl(0xffffff00)) != bpf_htonl(ETH_P_IP << 16 | 0x4500) ||
	    (*(__be32 *)(data + 20) & bpf_htonl(IPV4_FRAGMENT_BITS << 16 | 0xff)) != bpf_htonl(IPPROTO_UDP) ||
	    *(__be16 *)(data + 36) != bpf_htons(HOPCAP_UDP_PORT))
		return 0;
	frame->udp = data + 34;
	frame->header = data + 42;
	return 1;
}

/* 1 and *frame filled when data…data_end starts with a test frame of any run, else 0. */
static __always_inline int parse_test_frame(void *data, void *data_end, struct test_frame *frame)
{
	struct ethhdr *ethernet = data;
	struct udphdr *udp;
	void *cursor = ethernet + 1;
	__be16 protocol;

	if (cursor > data_end)
		return 0;
	protocol = ethernet->h_proto;
#pragma unroll
	for (int depth = 0; depth < 2; depth++) {
		struct vlan_tag *tag = cursor;

		if (likely(!is_vlan(protocol)))
			break;
		cursor = tag + 1;
		if (cursor > data_end)
			return 0;
		protocol = tag->inner_protocol;
	}
	if (likely(protocol == bpf_htons(ETH_P_IP))) {
		struct iphdr *ip = cursor;

		cursor = ip + 1;
		if (cursor > data_end || ip->version != 4 || ip->ihl != 5 || ip->protocol != IPPROTO_UDP ||
		    (ip->frag_off & bpf_htons(IPV4_FRAGMENT_BITS)))
			return 0;
	} else if (protocol == bpf_htons(ETH_P_IPV6)) {
		struct ipv6hdr *ip = cursor;

		cursor = ip + 1;
		if (cursor > data_end || ip->version != 6 || ip->nexthdr != IPPROTO_UDP)
			return 0;
	} else {
		return 0;
	}
	udp = cursor;
	cursor = udp + 1;
	if (cursor + HOPCAP_TEST_HEADER_BYTES > data_end || udp->dest != bpf_htons(HOPCAP_UDP_PORT))
		return 0;
	frame->udp = udp;
	frame->header = cursor;
	return 1;
}

static __always_inline __u16 header_run_tag(const void *header)
{
	return bpf_ntohs(*(__be16 *)(header + HOPCAP_OFFSET_RUN_TAG));
}

static __always_inline __u8 header_flags(const void *header)
{
	return *(__u8 *)(header + HOPCAP_OFFSET_FLAGS);
}

static __always_inline __u8 header_stream(const void *header)
{
	return *(__u8 *)(header + HOPCAP_OFFSET_STREAM);
}

static __always_inline __u32 header_sequence(const void *header)
{
	return bpf_ntohl(*(__be32 *)(header + HOPCAP_OFFSET_SEQUENCE));
}

static __always_inline __u64 header_origin_ns(const void *header)
{
	__u64 high = bpf_ntohs(*(__be16 *)(header + HOPCAP_OFFSET_ORIGIN_HIGH16));

	return high << 32 | bpf_ntohl(*(__be32 *)(header + HOPCAP_OFFSET_ORIGIN_LOW32));
}

static __always_inline __be32 *header_last(void *header)
{
	return header + HOPCAP_OFFSET_LAST;
}

#endif
