// SPDX-License-Identifier: GPL-2.0-or-later
/* Bytes of the frames that sources send. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

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
		struct frame_spec spec = { { 2, 0, 0, 0, 0, 1 }, { 2, 0, 0, 0, 0, 2 }, bytes, 0xbeef, 7 };
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
	static const unsigned char stamped[] = { 0x12, 0x34, 0x56, 0x78, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0, 0, 0, 0 };

	(void)state;
	memset(header, 0xee, sizeof(header));
	port_number_frame(header, 0x12345678, 0x010203040506);
	assert_int_equal(header[HOPCAP_OFFSET_FLAGS], HOPCAP_FRAME_STAMP);
	assert_memory_equal(header + HOPCAP_OFFSET_SEQUENCE, stamped, sizeof(stamped));
	port_number_frame(header, 1, 0);
	assert_int_equal(header[HOPCAP_OFFSET_FLAGS], 0);
	assert_int_equal(header[0], 0xee); /* run tag and stream are the template's */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(headers_are_right_at_every_size),
		cmocka_unit_test(checksum_of_the_rfc),
		cmocka_unit_test(numbering),
	};

	return cmocka_run_group_tests_name("frames", tests, NULL, NULL);
}
