/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bytes of a test frame: Ethernet, IPv4, UDP, test header. Pure.
 */
#ifndef TRAFFIC_FRAME_H
#define TRAFFIC_FRAME_H

#include <stdint.h>

struct frame_spec {
	unsigned char source_mac[6], destination_mac[6];
	unsigned int frame_bytes; /* HOPCAP_MIN_FRAME_BYTES…HOPCAP_MAX_FRAME_BYTES, without FCS */
	uint16_t run_tag;
	uint8_t stream;
};

/* Writes frame_bytes bytes; returns the offset of the test header. Addresses come from the benchmarking range 198.18.0.0/15
 * (RFC 2544, appendix C), UDP checksum 0 ("none", RFC 768), sequence and stamps 0, payload a fixed pattern. */
unsigned int frame_build(const struct frame_spec *spec, unsigned char *frame);

/* Internet checksum (RFC 1071) of `bytes` bytes, as it stands on the wire when stored big-endian. */
uint16_t frame_checksum(const unsigned char *data, unsigned int bytes);

#endif
