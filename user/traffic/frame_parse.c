// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading test frames; see frame_parse.h. Called by traffic/reflector_xsk.c, sinks in user space. */
#include "traffic/frame.h"
#include "traffic/frame_parse.h"
#include "wire_test_frame.h"

#define ETHERNET_BYTES 14
#define TAG_BYTES 4
#define IPV4_BYTES 20
#define IPV6_BYTES 40
#define UDP_BYTES 8
#define PROTOCOL_UDP 17

static uint32_t get32(const unsigned char *at)
{
	return (uint32_t)port_get16(at) << 16 | port_get16(at + 2);
}

static int is_vlan(uint16_t protocol)
{
	return protocol == 0x8100 || protocol == 0x88a8;
}

/* Offset of the UDP header; 0: no UDP packet of the kind that test frames are. */
static unsigned int find_udp(const unsigned char *frame, unsigned int bytes, struct parsed_frame *parsed)
{
	unsigned int cursor = ETHERNET_BYTES;
	uint16_t protocol;

	if (bytes < ETHERNET_BYTES)
		return 0;
	protocol = port_get16(frame + 12);
	for (int depth = 0; depth < 2 && is_vlan(protocol); depth++) {
		if (cursor + TAG_BYTES > bytes)
			return 0;
		protocol = port_get16(frame + cursor + 2);
		cursor += TAG_BYTES;
	}
	parsed->ip_offset = cursor;
	parsed->is_ipv6 = protocol == 0x86dd;
	if (protocol == 0x0800) {
		const unsigned char *ip = frame + cursor;

		/* no options, no fragment (the first one either: its length lies) */
		if (cursor + IPV4_BYTES > bytes || ip[0] != 0x45 || ip[9] != PROTOCOL_UDP || (port_get16(ip + 6) & 0x3fff))
			return 0;
		return cursor + IPV4_BYTES;
	}
	if (!parsed->is_ipv6 || cursor + IPV6_BYTES > bytes || frame[cursor] >> 4 != 6 ||
	    frame[cursor + 6] != PROTOCOL_UDP)
		return 0;
	return cursor + IPV6_BYTES;
}

int frame_parse(const unsigned char *frame, unsigned int bytes, struct parsed_frame *parsed)
{
	unsigned int udp = find_udp(frame, bytes, parsed);
	const unsigned char *header = frame + udp + UDP_BYTES;

	if (!udp || udp + UDP_BYTES + HOPCAP_TEST_HEADER_BYTES > bytes || port_get16(frame + udp + 2) != HOPCAP_UDP_PORT)
		return 0;
	parsed->udp_offset = udp;
	parsed->header_offset = udp + UDP_BYTES;
	parsed->run_tag = port_get16(header + HOPCAP_OFFSET_RUN_TAG);
	parsed->flags = header[HOPCAP_OFFSET_FLAGS];
	parsed->stream = header[HOPCAP_OFFSET_STREAM];
	parsed->sequence = get32(header + HOPCAP_OFFSET_SEQUENCE);
	parsed->origin_ns = (uint64_t)port_get16(header + HOPCAP_OFFSET_ORIGIN_HIGH16) << 32 |
			    get32(header + HOPCAP_OFFSET_ORIGIN_LOW32);
	parsed->last_ns = get32(header + HOPCAP_OFFSET_LAST);
	return parsed->run_tag != 0;
}

static void swap(unsigned char *one, unsigned char *other, int bytes)
{
	for (int i = 0; i < bytes; i++) {
		unsigned char kept = one[i];

		one[i] = other[i];
		other[i] = kept;
	}
}

/* The mark changes one 16-bit word, which a UDP checksum in use follows. */
static void mark_reflected(unsigned char *udp, unsigned char *word)
{
	uint16_t before = port_get16(word), after = before | HOPCAP_FRAME_REFLECTED << 8;

	port_put_be(word, after, 2);
	port_put_be(udp + 6, frame_udp_checksum_port(port_get16(udp + 6), before, after), 2);
}

void frame_turn_round(unsigned char *frame, const struct parsed_frame *parsed)
{
	unsigned char *ip = frame + parsed->ip_offset;

	swap(frame, frame + 6, 6);
	if (parsed->is_ipv6)
		swap(ip + 8, ip + 24, 16);
	else
		swap(ip + 12, ip + 16, 4);
	mark_reflected(frame + parsed->udp_offset, frame + parsed->header_offset + HOPCAP_OFFSET_FLAGS);
}
