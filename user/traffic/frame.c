// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Builds test frames (include/wire_test_frame.h says what the test header means).
 *
 * Owns: headers in front of the test header, checksums, the payload pattern. Leaves to others: which sizes
 * (frame_mix.c), what changes from frame to frame (port/numbering.h, bpf/source_body.bpf.h), sending (port/). Called by
 * traffic/source.c and traffic/pcap_replay.c for templates.
 */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "traffic/frame.h"
#include "wire_test_frame.h"

#define ETHERNET_BYTES 14
#define TAG_BYTES 4
#define IPV4_BYTES 20
#define IPV6_BYTES 40
#define UDP_BYTES 8
#define UDP_PROTOCOL 17
#define HOP_LIMIT 64

static void put16(unsigned char *at, unsigned int value)
{
	at[0] = value >> 8 & 0xff;
	at[1] = value & 0xff;
}

static void put32(unsigned char *at, uint32_t value)
{
	put16(at, value >> 16);
	put16(at + 2, value & 0xffff);
}

/* One's complement sum of 16-bit words on top of `sum`, folded. */
static uint32_t sum_words(const unsigned char *data, unsigned int bytes, uint32_t sum)
{
	for (unsigned int i = 0; i + 1 < bytes; i += 2)
		sum += port_get16(data + i);
	if (bytes % 2)
		sum += (uint32_t)data[bytes - 1] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

uint16_t frame_checksum(const unsigned char *data, unsigned int bytes)
{
	return ~sum_words(data, bytes, 0) & 0xffff;
}

uint16_t frame_udp_checksum(const unsigned char *frame, unsigned int ip_offset)
{
	const unsigned char *ip = frame + ip_offset, *udp;
	unsigned int udp_bytes, is_ipv6 = ip[0] >> 4 == 6;
	uint32_t sum;

	udp = ip + (is_ipv6 ? IPV6_BYTES : IPV4_BYTES);
	udp_bytes = port_get16(udp + 4);
	/* Pseudo-header: both addresses, protocol, length; then the datagram, less its own checksum. */
	sum = is_ipv6 ? sum_words(ip + 8, 32, 0) : sum_words(ip + 12, 8, 0);
	sum = sum_words(udp, udp_bytes, sum + UDP_PROTOCOL + udp_bytes + (~port_get16(udp + 6) & 0xffff));
	return sum == 0xffff ? 0xffff : ~sum & 0xffff;
}

uint16_t frame_udp_checksum_port(uint16_t checksum, uint16_t old_port, uint16_t new_port)
{
	uint32_t sum = (~checksum & 0xffffu) + (~old_port & 0xffffu) + new_port;

	if (!checksum)
		return 0;
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return sum == 0xffff ? 0xffff : ~sum & 0xffff;
}

unsigned int frame_min_bytes(const struct frame_spec *spec)
{
	return ETHERNET_BYTES + spec->tag_count * TAG_BYTES + (spec->ipv6 ? IPV6_BYTES : IPV4_BYTES) + UDP_BYTES +
	       HOPCAP_TEST_HEADER_BYTES;
}

int frame_check(const struct frame_spec *spec)
{
	static const char *const tagged[] = { "", " and a VLAN tag", " and two VLAN tags" };

	if (spec->tag_count > FRAME_MAX_TAGS)
		return error_set(EINVAL, "%u VLAN tags: a test frame has at most %d", spec->tag_count, FRAME_MAX_TAGS);
	for (unsigned int i = 0; i < spec->tag_count; i++)
		if (spec->tags[i].protocol != 0x8100 && spec->tags[i].protocol != 0x88a8)
			return error_set(EINVAL,
					 "VLAN tag of protocol 0x%04x: 0x8100 (802.1Q) and 0x88a8 (802.1ad) are known",
					 spec->tags[i].protocol);
	if (spec->frame_bytes < frame_min_bytes(spec))
		return error_set(
			EINVAL,
			"a frame of %u bytes is too small: a test frame of IPv%d%s has at least %u bytes without FCS",
			spec->frame_bytes, spec->ipv6 ? 6 : 4, tagged[spec->tag_count], frame_min_bytes(spec));
	if (spec->frame_bytes > HOPCAP_MAX_FRAME_BYTES)
		return error_set(EINVAL, "a frame of %u bytes is too large: at most %d bytes without FCS",
				 spec->frame_bytes, HOPCAP_MAX_FRAME_BYTES);
	return 0;
}

static void build_ipv4(unsigned char *ip, unsigned int ip_bytes)
{
	memset(ip, 0, IPV4_BYTES);
	ip[0] = 0x45; /* version 4, five words of header */
	put16(ip + 2, ip_bytes);
	ip[6] = 0x40; /* don't fragment: a hop with a smaller MTU must drop, not hide */
	ip[8] = HOP_LIMIT;
	ip[9] = UDP_PROTOCOL;
	put32(ip + 12, 0xc6120001); /* 198.18.0.1 */
	put32(ip + 16, 0xc6130001); /* 198.19.0.1 */
	put16(ip + 10, frame_checksum(ip, IPV4_BYTES));
}

/* From 2001:2::1 to 2001:2:0:1::1. */
static void build_ipv6(unsigned char *ip, unsigned int ip_bytes)
{
	memset(ip, 0, IPV6_BYTES);
	ip[0] = 0x60;
	put16(ip + 4, ip_bytes - IPV6_BYTES);
	ip[6] = UDP_PROTOCOL;
	ip[7] = HOP_LIMIT;
	put32(ip + 8, 0x20010002);
	ip[23] = 1;
	put32(ip + 24, 0x20010002);
	ip[31] = 1;
	ip[39] = 1;
}

static unsigned int build_ethernet(const struct frame_spec *spec, unsigned char *frame)
{
	unsigned char *at = frame + 12;

	memcpy(frame, spec->destination_mac, 6);
	memcpy(frame + 6, spec->source_mac, 6);
	for (unsigned int i = 0; i < spec->tag_count; i++, at += TAG_BYTES) {
		put16(at, spec->tags[i].protocol);
		put16(at + 2, spec->tags[i].tci);
	}
	put16(at, spec->ipv6 ? 0x86dd : 0x0800);
	return ETHERNET_BYTES + spec->tag_count * TAG_BYTES;
}

unsigned int frame_build(const struct frame_spec *spec, unsigned char *frame)
{
	const unsigned int ip_offset = build_ethernet(spec, frame);
	const unsigned int udp_offset = ip_offset + (spec->ipv6 ? IPV6_BYTES : IPV4_BYTES);
	unsigned char *udp = frame + udp_offset, *header = udp + UDP_BYTES;

	if (spec->ipv6)
		build_ipv6(frame + ip_offset, spec->frame_bytes - ip_offset);
	else
		build_ipv4(frame + ip_offset, spec->frame_bytes - ip_offset);
	put16(udp, spec->source_port ? spec->source_port : FRAME_SOURCE_UDP_PORT);
	put16(udp + 2, spec->destination_port ? spec->destination_port : HOPCAP_UDP_PORT);
	put16(udp + 4, spec->frame_bytes - udp_offset);
	put16(udp + 6, 0);
	memset(header, 0, HOPCAP_TEST_HEADER_BYTES);
	put16(header + HOPCAP_OFFSET_RUN_TAG, spec->run_tag);
	header[HOPCAP_OFFSET_STREAM] = spec->stream;
	for (unsigned int i = udp_offset + UDP_BYTES + HOPCAP_TEST_HEADER_BYTES; i < spec->frame_bytes; i++)
		frame[i] = i & 0xff;
	if (spec->ipv6)
		put16(udp + 6, frame_udp_checksum(frame, ip_offset));
	return udp_offset + UDP_BYTES;
}

struct port_template frame_template(const struct frame_spec *spec, unsigned char *frame)
{
	unsigned int header_offset = frame_build(spec, frame);

	return (struct port_template){ .frame = frame,
				       .frame_bytes = spec->frame_bytes,
				       .header_offset = header_offset,
				       .udp_offset = header_offset - UDP_BYTES };
}
