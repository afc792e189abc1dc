/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bytes of a test frame: Ethernet, up to two VLAN tags, IPv4 or IPv6, UDP, test header, payload. Pure.
 *
 * Smallest frames, without FCS (the test header must fit): IPv4 60, IPv6 80, and 4 more for each tag; at most
 * HOPCAP_MAX_FRAME_BYTES with everything.
 */
#ifndef TRAFFIC_FRAME_H
#define TRAFFIC_FRAME_H

#include <stdint.h>

#include "port/port.h"

#define FRAME_MAX_TAGS 2
#define FRAME_SOURCE_UDP_PORT 49152 /* of flow 0: the first port that is nobody's (RFC 6335); 16384 flows fit */

/* A VLAN tag; 802.1ad calls the outer one of two the service tag. */
struct frame_tag {
	uint16_t protocol; /* 0x8100 (802.1Q) or 0x88a8 (802.1ad) */
	uint16_t tci;	   /* priority 3 bits, drop eligible 1 bit, VLAN 12 bits */
};

struct frame_spec {
	unsigned char source_mac[6], destination_mac[6];
	unsigned int frame_bytes; /* frame_min_bytes(spec)…HOPCAP_MAX_FRAME_BYTES, without FCS */
	uint16_t run_tag;
	uint8_t stream;
	int ipv6;			       /* 0: IPv4 */
	unsigned int tag_count;		       /* 0…FRAME_MAX_TAGS */
	struct frame_tag tags[FRAME_MAX_TAGS]; /* outermost first */
	uint16_t source_port;		       /* UDP; 0: FRAME_SOURCE_UDP_PORT */
	uint16_t destination_port;	       /* UDP; 0: HOPCAP_UDP_PORT, the only one that probes know */
};

/* Smallest frame with these headers (frame_bytes is not looked at). */
unsigned int frame_min_bytes(const struct frame_spec *spec);
/* Whether a frame can be built: 0, or -EINVAL with error text (size, tag protocol, number of tags). */
int frame_check(const struct frame_spec *spec);

/*
 * Writes frame_bytes bytes of a checked spec; returns the offset of the test header, which follows the UDP header of 8
 * bytes. Addresses come from the benchmarking ranges 198.18.0.0/15 (RFC 2544, appendix C) and 2001:2::/48 (RFC 5180).
 * The UDP checksum is 0 ("none", RFC 768) over IPv4 and right over IPv6. Sequence and stamps are 0; byte i of the
 * payload is i & 0xff.
 */
unsigned int frame_build(const struct frame_spec *spec, unsigned char *frame);
/* The same, as ports want it; `frame` must live as long as the template. */
struct port_template frame_template(const struct frame_spec *spec, unsigned char *frame);

/* Internet checksum (RFC 1071) of `bytes` bytes, as it stands on the wire when stored big-endian. */
uint16_t frame_checksum(const unsigned char *data, unsigned int bytes);
/* The UDP checksum of a frame, computed over all of it, whatever stands in its checksum field; never 0. ip_offset: of
 * the IP header without options or extension headers, whose lengths must fit the frame. */
uint16_t frame_udp_checksum(const unsigned char *frame, unsigned int ip_offset);
/* What a right UDP checksum becomes when one 16-bit field under it, such as the source port, changes (RFC 1624); 0
 * stays 0. */
uint16_t frame_udp_checksum_port(uint16_t checksum, uint16_t old_port, uint16_t new_port);

#endif
