// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Builds test frames (include/wire_test_frame.h says what the test header means).
 *
 * Owns: headers in front of the test header, checksums, the payload pattern. Leaves to others: sending (port/). Called by
 * traffic/source.c for the template.
 */
#include <string.h>

#include "traffic/frame.h"
#include "wire_test_frame.h"

#define ETHERNET_BYTES 14
#define IPV4_BYTES 20
#define UDP_BYTES 8
#define SOURCE_UDP_PORT 49152

static void put16(unsigned char *at, uint16_t value)
{
	at[0] = value >> 8;
	at[1] = value & 0xff;
}

static void put32(unsigned char *at, uint32_t value)
{
	put16(at, value >> 16);
	put16(at + 2, value & 0xffff);
}

uint16_t frame_checksum(const unsigned char *data, unsigned int bytes)
{
	uint32_t sum = 0;

	for (unsigned int i = 0; i + 1 < bytes; i += 2)
		sum += (uint32_t)data[i] << 8 | data[i + 1];
	if (bytes % 2)
		sum += (uint32_t)data[bytes - 1] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum & 0xffff;
}

static void build_ipv4(unsigned char *ip, unsigned int ip_bytes)
{
	memset(ip, 0, IPV4_BYTES);
	ip[0] = 0x45; /* version 4, five words of header */
	put16(ip + 2, ip_bytes);
	ip[6] = 0x40;		    /* don't fragment: a hop with a smaller MTU must drop, not hide */
	ip[8] = 64;		    /* time to live */
	ip[9] = 17;		    /* UDP */
	put32(ip + 12, 0xc6120001); /* 198.18.0.1 */
	put32(ip + 16, 0xc6130001); /* 198.19.0.1 */
	put16(ip + 10, frame_checksum(ip, IPV4_BYTES));
}

unsigned int frame_build(const struct frame_spec *spec, unsigned char *frame)
{
	const unsigned int header_offset = ETHERNET_BYTES + IPV4_BYTES + UDP_BYTES;
	unsigned char *ip = frame + ETHERNET_BYTES, *udp = ip + IPV4_BYTES, *header = udp + UDP_BYTES;

	memcpy(frame, spec->destination_mac, 6);
	memcpy(frame + 6, spec->source_mac, 6);
	put16(frame + 12, 0x0800);
	build_ipv4(ip, spec->frame_bytes - ETHERNET_BYTES);
	put16(udp, SOURCE_UDP_PORT);
	put16(udp + 2, HOPCAP_UDP_PORT);
	put16(udp + 4, spec->frame_bytes - ETHERNET_BYTES - IPV4_BYTES);
	put16(udp + 6, 0);
	memset(header, 0, HOPCAP_TEST_HEADER_BYTES);
	put16(header + HOPCAP_OFFSET_RUN_TAG, spec->run_tag);
	header[HOPCAP_OFFSET_STREAM] = spec->stream;
	for (unsigned int i = header_offset + HOPCAP_TEST_HEADER_BYTES; i < spec->frame_bytes; i++)
		frame[i] = i & 0xff;
	return header_offset;
}
