/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What changes from frame to frame of a stream, written into a frame that is a copy of its template: sequence, stamp, UDP source port,
 * UDP checksum.
 *
 * Pure; for ports that make frames in user space. Theory of the checksum: a template whose UDP checksum is not 0 keeps a right one. With the
 * ones' complement sum S of the UDP datagram and its pseudo header, S' = S - (words that change, as they are in the template)
 * + (the same, as they are now); the first two terms are one constant of the template (RFC 1624). The test header may start at an odd distance
 * from the UDP header (a replayed capture): the sum of words shifted by one byte is the byte-swapped sum (RFC 1071, 2.B). A sum that
 * comes out as 0 is sent as 0xffff (RFC 768).
 */
#ifndef PORT_NUMBERING_H
#define PORT_NUMBERING_H

#include <stdint.h>

#include "port/port.h"

struct numbering {
	unsigned int frame_bytes, header_offset;
	unsigned int udp_offset;   /* 0: no UDP, ports and checksum stay */
	uint32_t base_sum;	   /* of what does not change */
	uint16_t source_port;	   /* of flow 0 */
	unsigned char has_checksum;
	unsigned char is_odd;	   /* distance of the test header from the UDP header */
};

/* 0, or -EINVAL when offsets lie outside of the template or the test header lies in front of the UDP header; no error text. */
int numbering_init(struct numbering *numbering, const struct port_template *template);
/* origin_ns 0: not stamped. */
void numbering_write(const struct numbering *numbering, unsigned char *frame, uint32_t sequence, uint32_t flow,
		     uint64_t origin_ns);

#endif
