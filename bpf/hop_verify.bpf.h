/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a test frame is still what was sent: its headers, and, when asked for, its payload.
 *
 * Owns: both checks of a sink. Leaves to others: the pattern's other half, who writes it (user/traffic/frame.c).
 * The program that includes this has defined HOP_CONTEXT and hop_load_bytes().
 *
 * What the check of headers sees: any error in an IPv4 header that its checksum sees (so all single ones), whatever routers
 * and translators rewrote rightly on the way; lengths of IP, UDP and frame that do not agree (frames that were cut,
 * lengthened, glued); flags that do not exist. What it does not see: MAC addresses; addresses and hop limit of IPv6;
 * ports of UDP but for the one that makes it a test frame; times and sequence in the test header, unless they are impossible
 * (ledger_layout.h, hop_stamp.bpf.h); the payload. An error in run tag or stream makes the frame somebody else's, or another
 * stream's.
 *
 * What the check of the payload sees: every byte behind the test header, compared with its place in the frame modulo 256.
 * A tag that was put in or taken out on the way moves the places by 4: the first byte says by how much, up to two tags.
 * Packets of captures carry payloads of their own and cannot be checked so.
 */
#ifndef HOPCAP_HOP_VERIFY_BPF_H
#define HOPCAP_HOP_VERIFY_BPF_H

#include "ledger_layout.h"
#include "parse.bpf.h"

#define LONGEST_PADDED_BYTES 64 /* frames that are as short may have been padded by a device */

#define DESTINATION_MASK bpf_cpu_to_be64(0xffffffffffff0000ULL) /* bytes 28…33; the source port follows */
#define VERIFY_CHUNK_BYTES 64
#define VERIFY_CHUNKS 144 /* more than the payload of HOPCAP_MAX_FRAME_BYTES */
#define VERIFY_TAG_BYTES 4

#define BYTES_8(n) n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 7
#define BYTES_64(n) \
	BYTES_8(n), BYTES_8(n + 8), BYTES_8(n + 16), BYTES_8(n + 24), BYTES_8(n + 32), BYTES_8(n + 40), BYTES_8(n + 48), BYTES_8(n + 56)

/* A chunk that starts at any byte can be read from here. */
static const __u8 payload_pattern[256 + VERIFY_CHUNK_BYTES] = { BYTES_64(0), BYTES_64(64), BYTES_64(128), BYTES_64(192),
								 BYTES_64(0) };

/* What follows the test header. */
struct payload {
	__u32 offset; /* in the frame */
	__u32 bytes;
};

/* Whether the checksum of an IPv4 header without options is right: its one's complement sum is then a multiple of 0xffff. */
static __always_inline int ipv4_sum_right(const void *ip)
{
	const __u32 *word = ip;
	__u64 sum = (__u64)word[0] + word[1] + word[2] + word[3] + word[4];

	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16); /* 1…0x1ffff by now */
	return sum == 0xffff || sum == 2 * 0xffff;
}

/* Offset of the IP header behind up to two tags, in a frame that parse_test_frame() has found one in. */
static __always_inline __u32 ip_offset(void *data, void *data_end)
{
	__u32 offset = sizeof(struct ethhdr);

#pragma unroll
	for (int depth = 0; depth < 2; depth++) {
		if (data + offset > data_end || likely(!is_vlan(*(__be16 *)(data + offset - sizeof(__be16)))))
			break;
		offset += sizeof(struct vlan_tag);
	}
	return offset;
}

/* The same as check_headers() for an unpadded frame in one buffer that parse_plain_test_frame() has found a test header in;
 * 0 says nothing. */
static __always_inline int plain_headers_right(const void *data, const void *data_end)
{
	const struct iphdr *ip = data + sizeof(struct ethhdr);
	const struct udphdr *udp = (void *)(ip + 1);
	__u32 length = (__u32)((long)data_end - (long)data);

	return bpf_ntohs(ip->tot_len) == length - sizeof(struct ethhdr) &&
	       bpf_ntohs(udp->len) == length - sizeof(struct ethhdr) - sizeof(*ip) && ipv4_sum_right(ip);
}

/*
 * The frames of a stream have the same headers, and what was found right once is right again: EtherType to the destination
 * address, destination port and length of UDP, length of the frame. The source port, in which flows differ, is left out.
 */
static __always_inline int headers_as_before(const ledger_u64 *sound, const void *data, const void *data_end)
{
	const __u64 *headers = data + 12;

	return headers[0] == sound[0] && headers[1] == sound[1] && (headers[2] & DESTINATION_MASK) == sound[2] &&
	       (*(__u32 *)(data + 36) | ((__u64)((long)data_end - (long)data) << 32)) == sound[3];
}

static __always_inline void remember_headers(ledger_u64 *sound, const void *data, const void *data_end)
{
	const __u64 *headers = data + 12;

	sound[0] = headers[0];
	sound[1] = headers[1];
	sound[2] = headers[2] & DESTINATION_MASK;
	sound[3] = *(__u32 *)(data + 36) | ((__u64)((long)data_end - (long)data) << 32);
}

/* 1 when the headers of a frame of `length` bytes are those that were sent; *payload is filled then. */
static __always_inline int check_headers(void *data, void *data_end, const struct test_frame *frame, __u32 length,
					 struct payload *payload)
{
	__u32 udp_bytes = bpf_ntohs(frame->udp->len), offset = ip_offset(data, data_end), ip_bytes;
	struct iphdr *ip = data + offset;

	if ((void *)(ip + 1) > data_end || header_flags(frame->header) & ~HOPCAP_FRAME_FLAGS)
		return 0;
	if (likely(ip->version == 4)) {
		ip_bytes = bpf_ntohs(ip->tot_len);
		if (ip_bytes != udp_bytes + sizeof(struct iphdr) || !ipv4_sum_right(ip))
			return 0;
	} else {
		ip_bytes = bpf_ntohs(((struct ipv6hdr *)ip)->payload_len) + sizeof(struct ipv6hdr);
		if (ip_bytes != udp_bytes + sizeof(struct ipv6hdr))
			return 0;
	}
	offset += ip_bytes;
	if (udp_bytes < sizeof(struct udphdr) + HOPCAP_TEST_HEADER_BYTES ||
	    (offset != length && (offset > length || length > LONGEST_PADDED_BYTES)))
		return 0;
	payload->bytes = udp_bytes - sizeof(struct udphdr) - HOPCAP_TEST_HEADER_BYTES;
	payload->offset = offset - payload->bytes;
	return 1;
}

static __always_inline int chunk_right(const __u64 *chunk, const __u64 *wanted)
{
#pragma unroll
	for (int word = 0; word < VERIFY_CHUNK_BYTES / 8; word++)
		if (chunk[word] != wanted[word])
			return 0;
	return 1;
}

/* Where in the pattern a byte of this value stands. */
static __always_inline const __u64 *pattern_at(__u32 value)
{
	value &= 0xff;
	barrier_var(value);
	return (const __u64 *)(payload_pattern + (value & 0xff));
}

/*
 * 1 when the `bytes` from `offset` on are the payload that was sent. In chunks that are copied, since a frame may lie in several
 * buffers; the last chunk overlaps the one before. A function of its own, which the verifier looks at once.
 */
__noinline int hop_payload_right(HOP_CONTEXT *ctx, __u32 offset, __u32 bytes)
{
	__u64 chunk[VERIFY_CHUNK_BYTES / 8];
	const __u64 *wanted;
	__u8 first = 0, moved;

	if (!bytes)
		return 1;
	if (bytes > VERIFY_CHUNKS * VERIFY_CHUNK_BYTES || hop_load_bytes(ctx, offset, &first, 1))
		return 0;
	moved = (__u8)(first - offset + 2 * VERIFY_TAG_BYTES);
	if (moved > 4 * VERIFY_TAG_BYTES || moved % VERIFY_TAG_BYTES)
		return 0;
	if (bytes < VERIFY_CHUNK_BYTES) { /* what the frame does not fill is right */
		wanted = pattern_at(first);
#pragma unroll
		for (int word = 0; word < VERIFY_CHUNK_BYTES / 8; word++)
			chunk[word] = wanted[word];
		/* 1…63: kernels before 6.8 do not conclude from "not 0" that it is at least 1. */
		bytes = (bytes - 1) & (VERIFY_CHUNK_BYTES - 1);
		barrier_var(bytes);
		bytes = (bytes & (VERIFY_CHUNK_BYTES - 1)) + 1;
		if (hop_load_bytes(ctx, offset, chunk, bytes))
			return 0;
		return chunk_right(chunk, wanted);
	}
	for (__u32 at = 0; at < VERIFY_CHUNKS * VERIFY_CHUNK_BYTES; at += VERIFY_CHUNK_BYTES) {
		if (at + VERIFY_CHUNK_BYTES >= bytes)
			break;
		if (hop_load_bytes(ctx, offset + at, chunk, VERIFY_CHUNK_BYTES) || !chunk_right(chunk, pattern_at(first + at)))
			return 0;
	}
	bytes -= VERIFY_CHUNK_BYTES;
	return !hop_load_bytes(ctx, offset + bytes, chunk, VERIFY_CHUNK_BYTES) && chunk_right(chunk, pattern_at(first + bytes));
}

#endif
