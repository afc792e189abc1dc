/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames for tests, ours and others', right and wrong.
 *
 * Owns: a second way to build a test frame, written from the standards and from include/wire_test_frame.h alone. It
 * shares no line with user/traffic/frame.c, so that a mistake there cannot hide itself here.
 */
#ifndef TEST_FRAMES_H
#define TEST_FRAMES_H

#include <stdint.h>

#define TEST_FRAME_MAX_BYTES 16384
#define TEST_RUN_TAG 0xa55bu /* its two bytes differ, so that a swap shows */
#define TEST_STREAM 0x2au
#define TEST_ETHERNET_BYTES 14
#define TEST_TAG_BYTES 4
#define TEST_IPV4_BYTES 20
#define TEST_IPV6_BYTES 40
#define TEST_IPV6_EXTENSION_BYTES 32
#define TEST_UDP_BYTES 8

/* All zero but ip_version: the smallest test frame of run TEST_RUN_TAG and stream TEST_STREAM, not stamped. */
struct test_frame_spec {
	unsigned int ip_version;	/* 4 or 6 */
	unsigned int version_field;	/* what the IP header claims; 0: the truth */
	uint16_t ether_type;		/* 0: that of ip_version */
	uint16_t tags[3];		/* tag protocols, outermost first; 0: no more tags */
	uint8_t ip_protocol;		/* 0: UDP */
	uint8_t ipv4_option_bytes;	/* a multiple of 4; they look like UDP and the test header, as far as they go */
	uint16_t ipv4_fragment;		/* flags and offset, host order */
	uint8_t ipv6_extended;		/* 1: an extension header lies in front of UDP, and looks like it inside */
	uint8_t ipv6_extension;		/* its type */
	uint16_t udp_port;		/* destination; 0: HOPCAP_UDP_PORT */
	uint8_t ipv4_udp_checksum;	/* 1: filled over IPv4, too */
	unsigned int payload_bytes;	/* behind the test header */
	uint16_t run_tag_xor;		/* 0: ours */
	uint8_t stream_xor;		/* 0: ours */
	uint8_t flags;
	uint32_t sequence;
	uint64_t origin_ns;		/* low 48 bits are used */
	uint32_t last_ns;
};

struct built_frame {
	unsigned int length;
	unsigned int ip_offset, udp_offset, header_offset;
	unsigned int ip_version;
	unsigned char bytes[TEST_FRAME_MAX_BYTES];
};

void test_frame_build(const struct test_frame_spec *spec, struct built_frame *frame);

/* Bytes of the headers up to and with the test header. */
unsigned int test_frame_header_end(const struct built_frame *frame);

/* Pads a frame with payload until it is `length` bytes long, lengths and checksums included. */
void test_frame_build_length(const struct test_frame_spec *spec, unsigned int length, struct built_frame *frame);

/* UDP checksum as a receiver of these bytes would find it: 1 right, 0 wrong. A checksum of 0 is wrong here. */
int test_frame_udp_checksum_right(const struct built_frame *layout, const unsigned char *bytes);

/* A big-endian field of 1 to 8 bytes. */
uint64_t test_get_be(const unsigned char *at, unsigned int bytes);
void test_put_be(unsigned char *at, uint64_t value, unsigned int bytes);

#endif
