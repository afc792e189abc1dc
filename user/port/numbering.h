/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What changes from frame to frame, for ports that number frames in user space: sequence, stamp, source port of the
 * flow, and the UDP checksum where the template has one (always over IPv6).
 *
 * Theory (RFC 1071, RFC 1624). In a template all changing fields but the source port are 0. With base = ~checksum of
 * the template, the checksum of a frame is ~(base + changed fields), in one's complement arithmetic: adding n flows to
 * the port adds n to the sum. What would become 0 is sent as 0xffff, since 0 means "none" (RFC 768).
 * bpf/source_body.bpf.h does the same. Pure; inline, since it is in the frame loop of AF_PACKET and AF_XDP.
 */
#ifndef PORT_NUMBERING_H
#define PORT_NUMBERING_H

#include "port/port.h"

#define NUMBERING_PORT_BEHIND 8	    /* the source port lies so far in front of the test header */
#define NUMBERING_CHECKSUM_BEHIND 2 /* and the UDP checksum */

/* Taken from a template once a stream. */
struct numbering {
	unsigned int header_offset;
	uint16_t source_port;	/* of flow 0 */
	uint16_t checksum_base; /* 0: the template has no checksum, none is computed */
};

static inline struct numbering numbering_of(const struct port_template *template)
{
	const unsigned char *udp = template->frame + template->header_offset - NUMBERING_PORT_BEHIND;
	uint16_t checksum = port_get16(udp + 6);

	return (struct numbering){
		.header_offset = template->header_offset,
		.source_port = port_get16(udp),
		/* A checksum of 0xffff is one of 0, whose complement is 0xffff: the other zero of the same
		 * arithmetic. */
		.checksum_base = checksum == 0xffff ? 0xffff
				 : checksum	    ? (uint16_t)~checksum
						    : 0,
	};
}

/* UDP checksum of a frame of a template with this base. */
static inline uint16_t numbering_checksum(uint16_t base, uint32_t flow, uint32_t sequence, uint64_t origin_ns)
{
	uint64_t sum = (uint64_t)base + flow + (sequence >> 16) + (sequence & 0xffff);

	if (origin_ns)
		sum += (HOPCAP_FRAME_STAMP << 8) + (origin_ns >> 32 & 0xffff) + (origin_ns >> 16 & 0xffff) +
		       (origin_ns & 0xffff);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum ? (uint16_t)~sum : 0xffff;
}

/* Numbers a copy of the template (of its first header_offset + HOPCAP_TEST_HEADER_BYTES bytes at least). flow is
 * sequence % flows of the stream; origin_ns 0: not stamped. */
static inline void numbering_write(unsigned char *frame, const struct numbering *numbering, uint32_t sequence,
				   uint32_t flow, uint64_t origin_ns)
{
	unsigned char *header = frame + numbering->header_offset;

	origin_ns &= 0xffffffffffff;
	port_number_frame(header, sequence, origin_ns);
	port_put_be(header - NUMBERING_PORT_BEHIND, numbering->source_port + flow, 2);
	if (numbering->checksum_base)
		port_put_be(header - NUMBERING_CHECKSUM_BEHIND,
			    numbering_checksum(numbering->checksum_base, flow, sequence, origin_ns), 2);
}

/* Bytes of the first `frames` frames of a stream, layer 2 without FCS. */
static inline uint64_t numbering_stream_bytes(const struct port_stream *stream, uint64_t frames)
{
	uint64_t pass = 0, rest = 0;

	for (unsigned int i = 0; i < stream->template_count; i++) {
		pass += stream->templates[i].frame_bytes;
		if (i < frames % stream->template_count)
			rest += stream->templates[i].frame_bytes;
	}
	return frames / stream->template_count * pass + rest;
}

#endif
