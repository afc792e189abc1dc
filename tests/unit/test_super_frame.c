// SPDX-License-Identifier: GPL-2.0-or-later
/* Super-frames, cut here as a device cuts them: every segment must be the test frame that would have been sent
 * alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "port/numbering.h"
#include "port/super_frame.h"
#include "traffic/frame.h"

static struct super_frame super;

/* UDP segmentation: headers, `gso_size` bytes of payload, lengths and checksums anew. Returns the segment's length. */
static unsigned int cut(unsigned int super_bytes, unsigned int segment, int ipv6, unsigned char *frame)
{
	unsigned int udp = super.offload.csum_start, headers = udp + 8, size = super.offload.gso_size;
	unsigned int at = headers + segment * size, ip = udp - (ipv6 ? 40 : 20);

	if (super.offload.gso_type == VIRTIO_NET_HDR_GSO_NONE)
		size = super_bytes - headers;
	assert_true(at + size <= super_bytes);
	memcpy(frame, super.bytes, headers);
	memcpy(frame + headers, super.bytes + at, size);
	port_put_be(frame + udp + 4, 8 + size, 2);
	if (ipv6) {
		port_put_be(frame + ip + 4, 8 + size, 2);
	} else {
		port_put_be(frame + ip + 2, 28 + size, 2);
		port_put_be(frame + ip + 10, 0, 2);
		port_put_be(frame + ip + 10, frame_checksum(frame + ip, 20), 2);
	}
	port_put_be(frame + udp + 6, frame_udp_checksum(frame, ip), 2);
	return headers + size;
}

static void segments_are_test_frames(void **state)
{
	static const struct frame_spec kinds[] = {
		{ .frame_bytes = 1514 },
		{ .frame_bytes = 60 },
		{ .frame_bytes = 1514, .ipv6 = 1 },
		{ .frame_bytes = 1522, .ipv6 = 1, .tag_count = 2, .tags = { { 0x88a8, 1 }, { 0x8100, 2 } } },
		{ .frame_bytes = 9014 },
	};
	static unsigned char original[9014], expected[9014], frame[9014];

	(void)state;
	for (size_t kind = 0; kind < sizeof(kinds) / sizeof(kinds[0]); kind++) {
		const struct port_template template = frame_template(&kinds[kind], original);
		unsigned int capacity = super_frame_capacity(&template, 65535);

		assert_true(capacity >= 7 &&
			    template.header_offset + capacity * (template.frame_bytes - template.header_offset) <=
				    65535);
		for (unsigned int count = 1; count <= capacity; count += count == 1 ? capacity - 1 : 1) {
			unsigned int bytes = super_frame_build(&super, &template, count);
			struct numbering numbering = numbering_of(&template);

			assert_int_equal(bytes, template.header_offset +
							count * (template.frame_bytes - template.header_offset));
			super_frame_number(&super, &template, count, 0x1fffe, 5, 4, 0x123456789abc);
			for (unsigned int i = 0; i < count; i++) {
				uint32_t sequence = 0x1fffe + i;

				memcpy(expected, original, template.frame_bytes);
				numbering_write(expected, &numbering, sequence, 5, sequence % 4 ? 0 : 0x123456789abc);
				port_put_be(expected + template.udp_offset + 6,
					    frame_udp_checksum(expected,
							       template.udp_offset - (kinds[kind].ipv6 ? 40 : 20)),
					    2);
				assert_int_equal(cut(bytes, i, kinds[kind].ipv6, frame), template.frame_bytes);
				assert_memory_equal(frame, expected, template.frame_bytes);
			}
			/* The one who cuts finds the pseudo-header's sum in the checksum field, for the whole. */
			assert_int_equal(super.offload.flags, VIRTIO_NET_HDR_F_NEEDS_CSUM);
			assert_int_equal(super.offload.csum_offset, 6);
			assert_int_equal(port_get16(super.bytes + template.udp_offset + 4),
					 bytes - template.udp_offset);
		}
	}
}

static void capacity_is_what_fits(void **state)
{
	static const struct frame_spec spec = { .frame_bytes = 1042 };
	static unsigned char frame[1042];
	struct port_template template = frame_template(&spec, frame);

	(void)state;
	assert_int_equal(super_frame_capacity(&template, 65535), 65);
	assert_int_equal(super_frame_capacity(&template, 1u << 30), 65); /* the length field of IP is the limit */
	assert_int_equal(super_frame_capacity(&template, 2042), 2);
	assert_int_equal(super_frame_capacity(&template, 2041), 1);
	assert_int_equal(super_frame_capacity(&template, 1041), 0);
	assert_int_equal(super_frame_capacity(&template, 0), 0);
	template.frame_bytes = 60; /* the kernel cuts no more than so many */
	assert_int_equal(super_frame_capacity(&template, 65535), SUPER_FRAME_MAX_FRAMES);
	template.header_offset = PORT_NO_HEADER;
	assert_int_equal(super_frame_capacity(&template, 65535), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(segments_are_test_frames),
		cmocka_unit_test(capacity_is_what_fits),
	};

	return cmocka_run_group_tests_name("super-frames", tests, NULL, NULL);
}
