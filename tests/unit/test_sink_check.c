// SPDX-License-Identifier: GPL-2.0-or-later
/* Test frames as sinks in user space read and check them: traffic/frame_parse, traffic/sink_check. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "traffic/frame.h"
#include "traffic/frame_parse.h"
#include "traffic/sink_check.h"
#include "wire_test_frame.h"

static const struct frame_spec specs[] = {
	{ .frame_bytes = 60, .run_tag = 0xa55b, .stream = 3 },
	{ .frame_bytes = 1514, .run_tag = 1, .stream = 255 },
	{ .frame_bytes = 80, .run_tag = 7, .ipv6 = 1 },
	{ .frame_bytes = 9018, .run_tag = 7, .ipv6 = 1 },
	{ .frame_bytes = 700, .run_tag = 9, .tag_count = 1, .tags = { { 0x8100, 100 } } },
	{ .frame_bytes = 701, .run_tag = 9, .ipv6 = 1, .tag_count = 2, .tags = { { 0x88a8, 200 }, { 0x8100, 100 } } },
};

#define SPECS (sizeof(specs) / sizeof(specs[0]))

static int is_sound(const unsigned char *frame, unsigned int bytes)
{
	struct parsed_frame parsed;

	return frame_parse(frame, bytes, &parsed) && sink_check_headers(frame, bytes, &parsed) &&
	       sink_check_payload(frame, bytes, &parsed);
}

static void test_what_is_built_is_sound(void **state)
{
	static unsigned char frame[HOPCAP_MAX_FRAME_BYTES];

	(void)state;
	for (unsigned int i = 0; i < SPECS; i++) {
		struct parsed_frame parsed;
		unsigned int offset = frame_build(&specs[i], frame);

		assert_true(frame_parse(frame, specs[i].frame_bytes, &parsed));
		assert_int_equal(parsed.header_offset, offset);
		assert_int_equal(parsed.udp_offset, offset - 8);
		assert_int_equal(parsed.run_tag, specs[i].run_tag);
		assert_int_equal(parsed.stream, specs[i].stream);
		assert_int_equal(parsed.is_ipv6, specs[i].ipv6);
		assert_true(is_sound(frame, specs[i].frame_bytes));
		for (unsigned int cut = 0; cut < offset + HOPCAP_TEST_HEADER_BYTES; cut++)
			assert_false(frame_parse(frame, cut, &parsed));
		assert_false(is_sound(frame, specs[i].frame_bytes - 1)); /* cut short, but for the whole of the headers */
	}
}

/* Any byte of the payload that changes shows; so does any byte of the IPv4 header. */
static void test_damage_shows(void **state)
{
	static unsigned char frame[HOPCAP_MAX_FRAME_BYTES];

	(void)state;
	for (unsigned int i = 0; i < SPECS; i++) {
		unsigned int offset = frame_build(&specs[i], frame), ip = offset - 8 - (specs[i].ipv6 ? 40 : 20);

		for (unsigned int at = offset + HOPCAP_TEST_HEADER_BYTES; at < specs[i].frame_bytes; at++) {
			frame[at] ^= 0x10;
			assert_false(is_sound(frame, specs[i].frame_bytes));
			frame[at] ^= 0x10;
		}
		for (unsigned int at = ip; !specs[i].ipv6 && at < offset - 8; at++) {
			frame[at] ^= 1;
			assert_false(is_sound(frame, specs[i].frame_bytes));
			frame[at] ^= 1;
		}
		frame[offset + HOPCAP_OFFSET_FLAGS] = 0x80;
		assert_false(is_sound(frame, specs[i].frame_bytes));
	}
}

/* A VLAN device on the way takes a tag off, or puts one on: the payload is four bytes from where it was made. */
static void test_tag_taken_off(void **state)
{
	static unsigned char frame[HOPCAP_MAX_FRAME_BYTES];

	(void)state;
	frame_build(&specs[4], frame);
	memmove(frame + 12, frame + 16, specs[4].frame_bytes - 16);
	assert_true(is_sound(frame, specs[4].frame_bytes - 4));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_built_is_sound),
		cmocka_unit_test(test_damage_shows),
		cmocka_unit_test(test_tag_taken_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
