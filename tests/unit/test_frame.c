// SPDX-License-Identifier: GPL-2.0-or-later
/* Bytes of the frames that sources send. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "port/numbering.h"
#include "port/port.h"
#include "traffic/frame.h"
#include "wire_test_frame.h"

static unsigned int get16(const unsigned char *at)
{
	return (unsigned int)at[0] << 8 | at[1];
}

static void headers_are_right_at_every_size(void **state)
{
	static unsigned char frame[HOPCAP_MAX_FRAME_BYTES + 1];

	(void)state;
	for (unsigned int bytes = HOPCAP_MIN_FRAME_BYTES; bytes <= HOPCAP_MAX_FRAME_BYTES; bytes++) {
		const struct frame_spec spec = { .source_mac = { 2, 0, 0, 0, 0, 1 },
						 .destination_mac = { 2, 0, 0, 0, 0, 2 },
						 .frame_bytes = bytes,
						 .run_tag = 0xbeef,
						 .stream = 7 };
		unsigned int offset;

		frame[bytes] = 0xa5;
		offset = frame_build(&spec, frame);
		assert_int_equal(frame[bytes], 0xa5);
		assert_int_equal(offset, 42);
		assert_memory_equal(frame, spec.destination_mac, 6);
		assert_memory_equal(frame + 6, spec.source_mac, 6);
		assert_int_equal(get16(frame + 12), 0x0800);
		assert_int_equal(frame[14], 0x45);
		assert_int_equal(get16(frame + 16), bytes - 14);
		assert_int_equal(frame_checksum(frame + 14, 20), 0); /* a right header sums to nothing */
		assert_int_equal(get16(frame + 36), HOPCAP_UDP_PORT);
		assert_int_equal(get16(frame + 38), bytes - 34);
		assert_int_equal(get16(frame + 40), 0);
		assert_int_equal(get16(frame + offset), 0xbeef);
		assert_int_equal(frame[offset + HOPCAP_OFFSET_STREAM], 7);
	}
}

/* RFC 1071's own example. */
static void checksum_of_the_rfc(void **state)
{
	static const unsigned char data[] = { 0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7 };

	(void)state;
	assert_int_equal(frame_checksum(data, 8), 0xffff & ~0xddf2);
	assert_int_equal(frame_checksum(data, 7), 0xffff & ~0xdcfb);
}

static void numbering(void **state)
{
	unsigned char header[HOPCAP_TEST_HEADER_BYTES];
	static const unsigned char stamped[] = {
		0x12, 0x34, 0x56, 0x78, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0, 0, 0, 0
	};

	(void)state;
	memset(header, 0xee, sizeof(header));
	port_number_frame(header, 0x12345678, 0x010203040506);
	assert_int_equal(header[HOPCAP_OFFSET_FLAGS], HOPCAP_FRAME_STAMP);
	assert_memory_equal(header + HOPCAP_OFFSET_SEQUENCE, stamped, sizeof(stamped));
	port_number_frame(header, 1, 0);
	assert_int_equal(header[HOPCAP_OFFSET_FLAGS], 0);
	assert_int_equal(header[0], 0xee); /* run tag and stream are the template's */
}

static const struct frame_spec kinds[] = {
	{ .tag_count = 0 },
	{ .ipv6 = 1 },
	{ .tag_count = 1, .tags = { { 0x8100, 0x2064 } } },
	{ .ipv6 = 1, .tag_count = 1, .tags = { { 0x8100, 0xffff } } },
	{ .tag_count = 2, .tags = { { 0x88a8, 10 }, { 0x8100, 20 } } },
	{ .ipv6 = 1,
	  .tag_count = 2,
	  .tags = { { 0x88a8, 10 }, { 0x8100, 20 } },
	  .source_port = 1,
	  .destination_port = 7 },
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* Sum of UDP datagram and pseudo-header by the book; 0xffff when the checksum in it is right. */
static unsigned int udp_sum(const unsigned char *frame, unsigned int ip_offset, int ipv6)
{
	const unsigned char *ip = frame + ip_offset, *udp = ip + (ipv6 ? 40 : 20);
	unsigned int bytes = get16(udp + 4), sum = 17 + bytes;

	for (unsigned int i = 0; i < (ipv6 ? 32u : 8u); i += 2)
		sum += get16(ip + (ipv6 ? 8 : 12) + i);
	for (unsigned int i = 0; i < bytes; i++)
		sum += i % 2 ? udp[i] : (unsigned int)udp[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static void headers_of_every_kind(void **state)
{
	static unsigned char frame[HOPCAP_MAX_FRAME_BYTES + 1];

	(void)state;
	for (size_t kind = 0; kind < KINDS; kind++) {
		struct frame_spec spec = kinds[kind];
		unsigned int min = frame_min_bytes(&spec), ip = 14 + spec.tag_count * 4,
			     udp = ip + (spec.ipv6 ? 40 : 20);

		assert_int_equal(min, udp + 8 + HOPCAP_TEST_HEADER_BYTES);
		spec.run_tag = 0xbeef;
		for (unsigned int bytes = min; bytes <= HOPCAP_MAX_FRAME_BYTES; bytes += bytes < 1600 ? 1 : 97) {
			spec.frame_bytes = bytes;
			frame[bytes] = 0xa5;
			assert_int_equal(frame_check(&spec), 0);
			assert_int_equal(frame_build(&spec, frame), udp + 8);
			assert_int_equal(frame[bytes], 0xa5);
			for (unsigned int i = 0; i < spec.tag_count; i++) {
				assert_int_equal(get16(frame + 12 + 4 * i), spec.tags[i].protocol);
				assert_int_equal(get16(frame + 14 + 4 * i), spec.tags[i].tci);
			}
			assert_int_equal(get16(frame + ip - 2), spec.ipv6 ? 0x86dd : 0x0800);
			assert_int_equal(get16(frame + ip + (spec.ipv6 ? 4 : 2)), bytes - ip - (spec.ipv6 ? 40 : 0));
			assert_int_equal(get16(frame + udp), spec.source_port ? spec.source_port : 49152);
			assert_int_equal(get16(frame + udp + 2), spec.destination_port ? spec.destination_port : 9);
			assert_int_equal(get16(frame + udp + 4), bytes - udp);
			if (spec.ipv6) {
				assert_int_equal(udp_sum(frame, ip, 1), 0xffff);
				assert_memory_equal(frame + ip + 8, "\x20\x01\x00\x02\x00\x00", 6); /* 2001:2::/48 */
				assert_memory_equal(frame + ip + 24, "\x20\x01\x00\x02\x00\x00", 6);
				assert_int_equal(get16(frame + udp + 6), frame_udp_checksum(frame, ip));
			} else {
				assert_int_equal(get16(frame + udp + 6), 0);
				assert_int_equal(frame_checksum(frame + ip, 20), 0);
			}
			for (unsigned int i = min; i < bytes; i++)
				assert_int_equal(frame[i], i & 0xff);
		}
	}
}

static void impossible_frames_are_refused(void **state)
{
	static const struct {
		struct frame_spec spec;
		const char *text;
	} rows[] = {
		{ { .frame_bytes = 59 }, "IPv4 has at least 60" },
		{ { .frame_bytes = 0 }, "IPv4 has at least 60" },
		{ { .frame_bytes = 79, .ipv6 = 1 }, "IPv6 has at least 80" },
		{ { .frame_bytes = 63, .tag_count = 1, .tags = { { 0x8100, 0 } } },
		  "IPv4 and a VLAN tag has at least 64" },
		{ { .frame_bytes = 87, .ipv6 = 1, .tag_count = 2, .tags = { { 0x88a8, 0 }, { 0x8100, 0 } } },
		  "tags has at least 88" },
		{ { .frame_bytes = 9019 }, "too large" },
		{ { .frame_bytes = 100, .tag_count = 3 }, "at most 2" },
		{ { .frame_bytes = 100, .tag_count = 1, .tags = { { 0x9100, 0 } } }, "0x9100" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(frame_check(&rows[i].spec), -22);
		if (!strstr(error_text(), rows[i].text))
			fail_msg("\"%s\" says nothing of \"%s\"", error_text(), rows[i].text);
	}
}

/* Every port to every other of some, against the whole sum; 0xffff must not turn into 0. */
static void checksum_follows_the_port(void **state)
{
	unsigned char frame[88];
	struct frame_spec spec = { .frame_bytes = 88, .ipv6 = 1 };

	(void)state;
	for (unsigned int old_port = 1; old_port < 65536; old_port += 4321) {
		spec.source_port = (uint16_t)old_port;
		for (unsigned int new_port = 1; new_port < 65536; new_port++) {
			uint16_t old_sum;

			frame_build(&spec, frame);
			old_sum = (uint16_t)get16(frame + 60);
			port_put_be(frame + 54, new_port, 2);
			assert_int_equal(frame_udp_checksum_port(old_sum, (uint16_t)old_port, (uint16_t)new_port),
					 frame_udp_checksum(frame, 14));
			if (new_port % 257)
				new_port += 50;
		}
	}
	assert_int_equal(frame_udp_checksum_port(0, 1, 2), 0);
}

/* Numbered copies of every kind: right checksum over IPv6 whatever the sequence, flow and time. */
static void numbered_frames_are_right(void **state)
{
	static const uint32_t sequences[] = { 0, 1, 0xffff, 0x10000, 0x12345678, 0xffffffff };
	static const uint64_t times[] = { 0, 1, 0xffff, 0x010203040506, 0xffffffffffff, 0xffff000000000001 };

	(void)state;
	for (size_t kind = 0; kind < KINDS; kind++) {
		struct frame_spec spec = kinds[kind];
		unsigned char original[200], frame[200];
		struct port_template template;
		struct numbering numbering;

		spec.frame_bytes = 100 + (unsigned int)kind * 7;
		spec.run_tag = 0x1234;
		template = frame_template(&spec, original);
		numbering = numbering_of(&template);
		for (unsigned int i = 0; i < 6 * 6 * 100; i++) {
			uint32_t sequence = sequences[i % 6], flow = i / 36 * 163;
			uint64_t origin_ns = times[i / 6 % 6];

			memcpy(frame, original, spec.frame_bytes);
			numbering_write(frame, &numbering, sequence, flow, origin_ns);
			assert_int_equal(get16(frame + template.udp_offset),
					 (get16(original + template.udp_offset) + flow) & 0xffff);
			assert_int_equal(get16(frame + template.header_offset + HOPCAP_OFFSET_SEQUENCE),
					 sequence >> 16);
			if (spec.ipv6)
				assert_int_equal(udp_sum(frame, template.udp_offset - 40, 1), 0xffff);
			else
				assert_int_equal(get16(frame + template.udp_offset + 6), 0);
			assert_memory_equal(frame + template.header_offset + 18, original + template.header_offset + 18,
					    spec.frame_bytes - template.header_offset - 18);
		}
	}
}

static void bytes_of_a_stream(void **state)
{
	static const struct port_template templates[] = { { NULL, 60, 42, 34 },
							  { NULL, 1514, 42, 34 },
							  { NULL, 566, 42, 34 } };
	const struct port_stream stream = { .templates = templates, .template_count = 3 };
	uint64_t bytes = 0;

	(void)state;
	for (uint64_t frames = 0; frames < 20; frames++) {
		assert_int_equal(numbering_stream_bytes(&stream, frames), bytes);
		bytes += templates[frames % 3].frame_bytes;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(headers_are_right_at_every_size), cmocka_unit_test(headers_of_every_kind),
		cmocka_unit_test(impossible_frames_are_refused),   cmocka_unit_test(checksum_of_the_rfc),
		cmocka_unit_test(checksum_follows_the_port),	   cmocka_unit_test(numbering),
		cmocka_unit_test(numbered_frames_are_right),	   cmocka_unit_test(bytes_of_a_stream),
	};

	return cmocka_run_group_tests_name("frames", tests, NULL, NULL);
}
