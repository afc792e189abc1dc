// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Frames for tests: see test_frames.h. Used by all tests of this folder. Aborts on a specification that makes no frame.
 */
#include <linux/if_ether.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "test_frames.h"
#include "wire_test_frame.h"

uint64_t test_get_be(const unsigned char *at, unsigned int bytes)
{
	uint64_t value = 0;

	while (bytes--)
		value = value << 8 | *at++;
	return value;
}

void test_put_be(unsigned char *at, uint64_t value, unsigned int bytes)
{
	while (bytes--) {
		at[bytes] = (unsigned char)value;
		value >>= 8;
	}
}

/* Sum of 16-bit words, the last odd byte as if a zero followed (RFC 1071); not folded. */
static uint64_t sum_words(const unsigned char *data, unsigned int bytes)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < bytes; i++)
		sum += i & 1 ? data[i] : (uint64_t)data[i] << 8;
	return sum;
}

static uint16_t fold(uint64_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

/* Sum of the UDP datagram and its pseudo header; 0xffff when the checksum in it is right. */
static uint16_t udp_sum(const struct built_frame *layout, const unsigned char *bytes)
{
	const unsigned char *ip = bytes + layout->ip_offset, *udp = bytes + layout->udp_offset;
	unsigned int udp_bytes = (unsigned int)test_get_be(udp + 4, 2);
	uint64_t sum = IPPROTO_UDP + udp_bytes + sum_words(udp, udp_bytes);

	sum += layout->ip_version == 6 ? sum_words(ip + 8, 32) : sum_words(ip + 12, 8);
	return fold(sum);
}

int test_frame_udp_checksum_right(const struct built_frame *layout, const unsigned char *bytes)
{
	return test_get_be(bytes + layout->udp_offset + 6, 2) != 0 && udp_sum(layout, bytes) == 0xffff;
}

static unsigned int build_ethernet(const struct test_frame_spec *spec, unsigned char *at)
{
	static const unsigned char macs[12] = { 2, 0, 0, 0, 0x51, 1, 2, 0, 0, 0, 0x50, 2 };
	uint16_t ether_type = spec->ether_type;
	unsigned int offset = sizeof(macs);

	if (!ether_type)
		ether_type = spec->ip_version == 6 ? ETH_P_IPV6 : ETH_P_IP;
	memcpy(at, macs, sizeof(macs));
	for (unsigned int i = 0; i < 3 && spec->tags[i]; i++) {
		test_put_be(at + offset, spec->tags[i], 2);
		test_put_be(at + offset + 2, 100 + i, 2);
		offset += TEST_TAG_BYTES;
	}
	test_put_be(at + offset, ether_type, 2);
	return offset + 2;
}

static void build_test_header(const struct test_frame_spec *spec, unsigned char *at)
{
	test_put_be(at, TEST_RUN_TAG ^ spec->run_tag_xor, 2);
	test_put_be(at + 2, spec->flags, 1);
	test_put_be(at + 3, TEST_STREAM ^ spec->stream_xor, 1);
	test_put_be(at + 4, spec->sequence, 4);
	test_put_be(at + 8, spec->origin_ns, 6);
	test_put_be(at + 14, spec->last_ns, 4);
}

/* `bytes` of UDP and test header, for a reader that does not know how long the IP header is. */
static void build_decoy(const struct test_frame_spec *spec, unsigned char *at, unsigned int bytes)
{
	unsigned char headers[TEST_UDP_BYTES + HOPCAP_TEST_HEADER_BYTES] = { 0 };

	test_put_be(headers + 2, HOPCAP_UDP_PORT, 2);
	build_test_header(spec, headers + TEST_UDP_BYTES);
	memcpy(at, headers, bytes < sizeof(headers) ? bytes : sizeof(headers));
}

static unsigned int build_ipv4(const struct test_frame_spec *spec, unsigned char *ip, unsigned int payload_bytes)
{
	unsigned int header_bytes = TEST_IPV4_BYTES + spec->ipv4_option_bytes;
	unsigned int version = spec->version_field ? spec->version_field : 4;

	memset(ip, 0, header_bytes);
	ip[0] = (unsigned char)(version << 4 | header_bytes / 4);
	test_put_be(ip + 2, header_bytes + payload_bytes, 2);
	test_put_be(ip + 6, spec->ipv4_fragment, 2);
	ip[8] = 64;
	ip[9] = spec->ip_protocol ? spec->ip_protocol : IPPROTO_UDP;
	test_put_be(ip + 12, 0xc6120001, 4); /* 198.18.0.1 */
	test_put_be(ip + 16, 0xc6130001, 4); /* 198.19.0.1 */
	build_decoy(spec, ip + TEST_IPV4_BYTES, spec->ipv4_option_bytes);
	test_put_be(ip + 10, (uint16_t)~fold(sum_words(ip, header_bytes)), 2);
	return header_bytes;
}

static unsigned int build_ipv6(const struct test_frame_spec *spec, unsigned char *ip, unsigned int payload_bytes)
{
	unsigned int extension_bytes = spec->ipv6_extended ? TEST_IPV6_EXTENSION_BYTES : 0;
	uint8_t protocol = spec->ip_protocol ? spec->ip_protocol : IPPROTO_UDP;
	unsigned int version = spec->version_field ? spec->version_field : 6;

	memset(ip, 0, TEST_IPV6_BYTES + extension_bytes);
	ip[0] = (unsigned char)(version << 4);
	test_put_be(ip + 4, extension_bytes + payload_bytes, 2);
	ip[6] = spec->ipv6_extended ? spec->ipv6_extension : protocol;
	ip[7] = 64;
	test_put_be(ip + 8, 0x2001000200000000, 8);
	ip[23] = 1; /* 2001:2::1 */
	test_put_be(ip + 24, 0x2001000200010000, 8);
	ip[39] = 1; /* 2001:2:1::1 */
	if (spec->ipv6_extended) {
		build_decoy(spec, ip + TEST_IPV6_BYTES, extension_bytes);
		ip[TEST_IPV6_BYTES] = protocol;
		ip[TEST_IPV6_BYTES + 1] = TEST_IPV6_EXTENSION_BYTES / 8 - 1;
	}
	return TEST_IPV6_BYTES + extension_bytes;
}

void test_frame_build(const struct test_frame_spec *spec, struct built_frame *frame)
{
	unsigned int udp_bytes = TEST_UDP_BYTES + HOPCAP_TEST_HEADER_BYTES + spec->payload_bytes;
	unsigned char *udp;

	if ((spec->ip_version != 4 && spec->ip_version != 6) || spec->payload_bytes > TEST_FRAME_MAX_BYTES - 200)
		abort();
	frame->ip_version = spec->ip_version;
	frame->ip_offset = build_ethernet(spec, frame->bytes);
	frame->udp_offset = frame->ip_offset;
	frame->udp_offset += spec->ip_version == 6 ? build_ipv6(spec, frame->bytes + frame->ip_offset, udp_bytes)
						   : build_ipv4(spec, frame->bytes + frame->ip_offset, udp_bytes);
	frame->header_offset = frame->udp_offset + TEST_UDP_BYTES;
	frame->length = frame->udp_offset + udp_bytes;
	udp = frame->bytes + frame->udp_offset;
	test_put_be(udp, 49152, 2);
	test_put_be(udp + 2, spec->udp_port ? spec->udp_port : HOPCAP_UDP_PORT, 2);
	test_put_be(udp + 4, udp_bytes, 2);
	test_put_be(udp + 6, 0, 2);
	build_test_header(spec, frame->bytes + frame->header_offset);
	for (unsigned int i = test_frame_header_end(frame); i < frame->length; i++)
		frame->bytes[i] = (unsigned char)(i * 7 + 3);
	if (spec->ip_version == 6 || spec->ipv4_udp_checksum) {
		uint16_t checksum = (uint16_t)~udp_sum(frame, frame->bytes);

		test_put_be(udp + 6, checksum ? checksum : 0xffff, 2);
	}
}

unsigned int test_frame_header_end(const struct built_frame *frame)
{
	return frame->header_offset + HOPCAP_TEST_HEADER_BYTES;
}

void test_frame_build_length(const struct test_frame_spec *spec, unsigned int length, struct built_frame *frame)
{
	struct test_frame_spec padded = *spec;

	padded.payload_bytes = 0;
	test_frame_build(&padded, frame);
	if (length < frame->length)
		abort();
	padded.payload_bytes = length - frame->length;
	test_frame_build(&padded, frame);
}
