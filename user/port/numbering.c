// SPDX-License-Identifier: GPL-2.0-or-later
/* Numbering frames in place; theory in numbering.h. Called by port/xsk_frames.c and port/memory.c. */
#include <errno.h>
#include <string.h>

#include "port/numbering.h"

#define UDP_HEADER_BYTES 8
#define UDP_OFFSET_CHECKSUM 6

static uint32_t load_be16(const unsigned char *at)
{
	return (uint32_t)at[0] << 8 | at[1];
}

static uint32_t fold(uint32_t sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	return (sum & 0xffff) + (sum >> 16);
}

static uint32_t swap16(uint32_t value)
{
	return (value & 0xff) << 8 | value >> 8;
}

/* Of the test header, as its words add to the checksum. */
static uint32_t header_sum(const unsigned char *header, int is_odd)
{
	uint32_t sum = 0;

	for (unsigned int i = 0; i < HOPCAP_TEST_HEADER_BYTES; i += 2)
		sum += load_be16(header + i);
	return is_odd ? swap16(fold(sum)) : sum;
}

int numbering_init(struct numbering *numbering, const struct port_template *template)
{
	unsigned int header_end = template->header_offset + HOPCAP_TEST_HEADER_BYTES;
	const unsigned char *udp = template->frame + template->udp_offset;

	memset(numbering, 0, sizeof(*numbering));
	if (header_end < template->header_offset || header_end > template->frame_bytes)
		return -EINVAL;
	numbering->frame_bytes = template->frame_bytes;
	numbering->header_offset = template->header_offset;
	if (!template->udp_offset)
		return 0;
	if (template->udp_offset > template->frame_bytes - UDP_HEADER_BYTES ||
	    template->header_offset < template->udp_offset + UDP_HEADER_BYTES)
		return -EINVAL;
	numbering->udp_offset = template->udp_offset;
	numbering->source_port = (uint16_t)load_be16(udp);
	numbering->is_odd = (template->header_offset - template->udp_offset) & 1;
	numbering->has_checksum = load_be16(udp + UDP_OFFSET_CHECKSUM) != 0;
	/* The checksum is the complement of the sum; to subtract is to add the complement. */
	numbering->base_sum = (0xffff ^ load_be16(udp + UDP_OFFSET_CHECKSUM)) + (0xffff ^ numbering->source_port) +
			      (0xffff ^ fold(header_sum(template->frame + template->header_offset, numbering->is_odd)));
	return 0;
}

void numbering_write(const struct numbering *numbering, unsigned char *frame, uint32_t sequence, uint32_t flow,
		     uint64_t origin_ns)
{
	unsigned char *header = frame + numbering->header_offset, *udp = frame + numbering->udp_offset;
	uint32_t port = (numbering->source_port + flow) & 0xffff, checksum;

	port_number_frame(header, sequence, origin_ns);
	if (!numbering->udp_offset)
		return;
	port_put_be(udp, port, 2);
	if (!numbering->has_checksum)
		return;
	checksum = 0xffff ^ fold(numbering->base_sum + port + header_sum(header, numbering->is_odd));
	port_put_be(udp + UDP_OFFSET_CHECKSUM, checksum ? checksum : 0xffff, 2);
}
