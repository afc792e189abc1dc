// SPDX-License-Identifier: GPL-2.0-or-later
/* Super-frames of test frames; theory in super_frame.h. Called by port/packet.c. Pure. */
#include <string.h>

#include "port/numbering.h"
#include "port/super_frame.h"

#define UDP_BYTES 8
#define IPV4_BYTES 20
#define IPV6_BYTES 40
#define UDP_PROTOCOL 17

/* One's complement sum of 16-bit words, folded. */
static uint32_t sum_words(const unsigned char *data, unsigned int bytes, uint32_t sum)
{
	for (unsigned int i = 0; i + 1 < bytes; i += 2)
		sum += port_get16(data + i);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static unsigned int is_ipv6(const struct port_template *template)
{
	return template->udp_offset >= 14 + IPV6_BYTES &&
	       template->frame[template->udp_offset - IPV6_BYTES] >> 4 == 6 &&
	       port_get16(template->frame + template->udp_offset - IPV6_BYTES - 2) == 0x86dd;
}

unsigned int super_frame_capacity(const struct port_template *template, unsigned int super_bytes)
{
	unsigned int headers = template->header_offset, limit;

	if (headers == PORT_NO_HEADER || headers != template->udp_offset + UDP_BYTES ||
	    template->frame_bytes < headers + HOPCAP_TEST_HEADER_BYTES)
		return 0;
	/* The 16-bit length of IP must hold it; that of IPv6 does not count its own header. */
	limit = SUPER_FRAME_MAX_BYTES;
	if (super_bytes < limit)
		limit = super_bytes;
	if (limit < headers)
		return 0;
	limit = (limit - headers) / (template->frame_bytes - headers);
	return limit < SUPER_FRAME_MAX_FRAMES ? limit : SUPER_FRAME_MAX_FRAMES;
}

/* Lengths for the whole, the checksum of IPv4, the pseudo-header's sum for the one who cuts. */
static void set_lengths(unsigned char *frame, const struct port_template *template, unsigned int payload_bytes)
{
	unsigned char *udp = frame + template->udp_offset, *ip;
	unsigned int udp_bytes = UDP_BYTES + payload_bytes;
	uint32_t sum = UDP_PROTOCOL + udp_bytes;

	port_put_be(udp + 4, udp_bytes, 2);
	if (is_ipv6(template)) {
		ip = udp - IPV6_BYTES;
		port_put_be(ip + 4, udp_bytes, 2);
		sum = sum_words(ip + 8, 32, sum);
	} else {
		ip = udp - IPV4_BYTES;
		port_put_be(ip + 2, IPV4_BYTES + udp_bytes, 2);
		port_put_be(ip + 10, 0, 2);
		port_put_be(ip + 10, (uint16_t)~sum_words(ip, IPV4_BYTES, 0), 2);
		sum = sum_words(ip + 12, 8, sum);
	}
	port_put_be(udp + 6, sum, 2);
}

unsigned int super_frame_build(struct super_frame *super, const struct port_template *template, unsigned int count)
{
	unsigned int headers = template->header_offset, payload = template->frame_bytes - headers;

	memcpy(super->bytes, template->frame, headers);
	for (unsigned int i = 0; i < count; i++)
		memcpy(super->bytes + headers + i * payload, template->frame + headers, payload);
	set_lengths(super->bytes, template, count * payload);
	memset(&super->offload, 0, sizeof(super->offload));
	super->offload.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM;
	super->offload.gso_type = count > 1 ? VIRTIO_NET_HDR_GSO_UDP_L4 : VIRTIO_NET_HDR_GSO_NONE;
	super->offload.hdr_len = (uint16_t)headers;
	super->offload.gso_size = count > 1 ? (uint16_t)payload : 0;
	super->offload.csum_start = (uint16_t) template->udp_offset;
	super->offload.csum_offset = 6;
	return headers + count * payload;
}

void super_frame_number(struct super_frame *super, const struct port_template *template, unsigned int count,
			uint64_t first_sequence, uint32_t flow, uint32_t stamp_interval, uint64_t origin_ns)
{
	unsigned int headers = template->header_offset, payload = template->frame_bytes - headers;

	port_put_be(super->bytes + template->udp_offset, port_get16(template->frame + template->udp_offset) + flow,
		    2);
	for (unsigned int i = 0; i < count; i++) {
		uint64_t sequence = first_sequence + i;
		int stamped = stamp_interval && !(sequence & (stamp_interval - 1));

		port_number_frame(super->bytes + headers + i * payload, (uint32_t)sequence, stamped ? origin_ns : 0);
	}
}
