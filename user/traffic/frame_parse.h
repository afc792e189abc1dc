/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finding the test header of a frame in user space: the same walk, with the same refusals, as bpf/parse.bpf.h. Pure.
 */
#ifndef TRAFFIC_FRAME_PARSE_H
#define TRAFFIC_FRAME_PARSE_H

#include <stdint.h>

struct parsed_frame {
	unsigned int ip_offset, udp_offset, header_offset;
	int is_ipv6;
	uint16_t run_tag;
	uint8_t flags, stream;
	uint32_t sequence;
	uint64_t origin_ns; /* 48 bits */
	uint32_t last_ns;
};

/* 1 and *parsed filled when the first `bytes` bytes at frame begin a test frame of any run, else 0. */
int frame_parse(const unsigned char *frame, unsigned int bytes, struct parsed_frame *parsed);
/* Turns it round: addresses trade places, the mark of reflected frames is set, the UDP checksum follows. */
void frame_turn_round(unsigned char *frame, const struct parsed_frame *parsed);

#endif
