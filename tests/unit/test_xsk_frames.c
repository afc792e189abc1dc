// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Frames in AF_XDP memory: what is written into them, who has them, that none is handed out twice. The checksum is
 * worked out anew here, over the whole frame, from RFC 768 and RFC 8200.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "port/xsk_frames.h"

#define CHUNKS 256
#define OTHER_CHUNKS 8 /* in front of ours: must stay as they are */

struct place {
	struct xsk_frames frames;
	unsigned char *area;
	unsigned int chunk_bytes;
	uint64_t first;
};

static uint32_t get_be(const unsigned char *at, unsigned int bytes)
{
	uint32_t value = 0;

	while (bytes--)
		value = value << 8 | *at++;
	return value;
}

static struct place *place_new(unsigned int chunk_bytes)
{
	struct place *place = calloc(1, sizeof(*place));

	assert_non_null(place);
	place->chunk_bytes = chunk_bytes;
	place->first = (uint64_t)OTHER_CHUNKS * chunk_bytes;
	place->area = malloc((size_t)(OTHER_CHUNKS + CHUNKS) * chunk_bytes);
	assert_non_null(place->area);
	memset(place->area, 0xee, (size_t)(OTHER_CHUNKS + CHUNKS) * chunk_bytes);
	xsk_frames_init(&place->frames, place->area, place->first, chunk_bytes, CHUNKS);
	return place;
}

static void place_free(struct place *place)
{
	for (size_t i = 0; i < (size_t)OTHER_CHUNKS * place->chunk_bytes; i++)
		assert_int_equal(place->area[i], 0xee);
	free(place->area);
	free(place);
}

/* Ethernet, IPv6, UDP, test header, payload. */
static void build_ipv6(unsigned char *frame, unsigned int bytes, struct port_template *template)
{
	for (unsigned int i = 0; i < bytes; i++)
		frame[i] = (unsigned char)(i * 31 + 7);
	port_put_be(frame + 12, 0x86dd, 2);
	port_put_be(frame + 14, 0x60000000, 4);
	port_put_be(frame + 18, bytes - 54, 2);
	frame[20] = 17;
	frame[21] = 64;
	port_put_be(frame + 54, 49152, 2);
	port_put_be(frame + 56, HOPCAP_UDP_PORT, 2);
	port_put_be(frame + 58, bytes - 54, 2);
	port_put_be(frame + 60, 0, 2);
	frame[62 + HOPCAP_OFFSET_FLAGS] = 0;
	memset(frame + 62 + HOPCAP_OFFSET_SEQUENCE, 0, HOPCAP_TEST_HEADER_BYTES - HOPCAP_OFFSET_SEQUENCE);
	*template =
		(struct port_template){ .frame = frame, .frame_bytes = bytes, .udp_offset = 54, .header_offset = 62 };
}

/* Of pseudo header and datagram; 0xffff when the checksum in it is right. */
static uint32_t ipv6_udp_sum(const unsigned char *frame, unsigned int bytes)
{
	uint32_t sum = 17 + (bytes - 54);

	for (unsigned int i = 22; i < bytes; i++) /* addresses, then the datagram */
		sum += i % 2 ? frame[i] : (uint32_t)frame[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static void seal(unsigned char *frame, unsigned int bytes)
{
	uint32_t checksum = 0xffff ^ ipv6_udp_sum(frame, bytes);

	port_put_be(frame + 60, checksum ? checksum : 0xffff, 2);
}

static struct port_stream stream_of(const struct port_template *templates, unsigned int count, unsigned int flows)
{
	return (struct port_stream){ .templates = templates, .template_count = count, .flows = flows };
}

static void check_numbering(unsigned int chunk_bytes, unsigned int bytes)
{
	struct place *place = place_new(chunk_bytes);
	unsigned char *frame = malloc(bytes), *sent;
	struct port_template template;
	struct port_stream stream;

	build_ipv6(frame, bytes, &template);
	seal(frame, bytes);
	stream = stream_of(&template, 1, 5);
	assert_int_equal(xsk_frames_prepare(&place->frames, &stream, XSK_MAX_PARTS), 0);
	for (uint32_t n = 0; n < 3000; n++) {
		uint32_t sequence = n * 0x01234567u;
		uint64_t origin_ns = n % 3 ? 0 : 0x123456789abcull * n;
		const struct xsk_frame *own = xsk_frames_take(&place->frames, sequence, origin_ns);
		const unsigned char *header;

		sent = place->area + own->offset;
		header = sent + template.header_offset;
		assert_int_equal(get_be(sent + 54, 2), 49152 + n % 5);
		assert_int_equal(get_be(header + HOPCAP_OFFSET_SEQUENCE, 4), sequence);
		assert_int_equal(header[HOPCAP_OFFSET_FLAGS], origin_ns ? HOPCAP_FRAME_STAMP : 0);
		assert_int_equal(get_be(header + HOPCAP_OFFSET_ORIGIN_LOW32, 4), (uint32_t)origin_ns);
		assert_int_not_equal(get_be(sent + 60, 2), 0);
		assert_int_equal(ipv6_udp_sum(sent, bytes), 0xffff);
		/* What is neither numbered nor summed is the template's. */
		assert_memory_equal(sent, frame, 54);
		assert_memory_equal(header + HOPCAP_TEST_HEADER_BYTES,
				    frame + template.header_offset + HOPCAP_TEST_HEADER_BYTES,
				    bytes - template.header_offset - HOPCAP_TEST_HEADER_BYTES);
		for (unsigned int part = 0; part < place->frames.templates[0].parts; part++)
			assert_int_equal(
				xsk_frames_give_back(&place->frames, own->offset + (uint64_t)part * chunk_bytes), 0);
	}
	free(frame);
	place_free(place);
}

static void test_numbering(void **state)
{
	(void)state;
	check_numbering(2048, 80);
	check_numbering(2048, 1514);
	check_numbering(2048, 1515); /* odd length */
	check_numbering(2048, 2048);
	check_numbering(2048, 2049);
	check_numbering(2048, 9018);
	check_numbering(4096, 9017);
}

/* A checksum whose sum passes zero: 0 stands for none, so it is sent as 0xffff. */
static void test_checksum_of_zero(void **state)
{
	struct place *place = place_new(2048);
	struct port_template template;
	struct port_stream stream;
	unsigned char frame[80];
	int zeros = 0;

	(void)state;
	build_ipv6(frame, sizeof(frame), &template);
	seal(frame, sizeof(frame));
	stream = stream_of(&template, 1, 1);
	assert_int_equal(xsk_frames_prepare(&place->frames, &stream, 1), 0);
	for (uint32_t n = 0; n < 0x20000; n++) {
		const struct xsk_frame *own = xsk_frames_take(&place->frames, n, 0);
		const unsigned char *sent = place->area + own->offset;

		zeros += get_be(sent + 60, 2) == 0xffff;
		assert_int_not_equal(get_be(sent + 60, 2), 0);
		assert_int_equal(ipv6_udp_sum(sent, sizeof(frame)), 0xffff);
		assert_int_equal(xsk_frames_give_back(&place->frames, own->offset), 0);
	}
	assert_true(zeros > 0);
	place_free(place);
}

/* A template without a checksum stays without. */
static void test_no_checksum(void **state)
{
	struct place *place = place_new(2048);
	struct port_template template;
	struct port_stream stream;
	unsigned char frame[80];

	(void)state;
	build_ipv6(frame, sizeof(frame), &template);
	stream = stream_of(&template, 1, 3);
	assert_int_equal(xsk_frames_prepare(&place->frames, &stream, 1), 0);
	for (uint32_t n = 0; n < 12; n++) {
		const unsigned char *sent = place->area + xsk_frames_take(&place->frames, n, 0)->offset;

		assert_int_equal(get_be(sent + 60, 2), 0);
		assert_int_equal(get_be(sent + 54, 2), 49152 + n % 3);
		assert_int_equal(get_be(sent + 62 + HOPCAP_OFFSET_SEQUENCE, 4), n);
	}
	place_free(place);
}

/* Templates take turns, frames are disjoint, every chunk is accounted for, whatever order they come back in. */
static void test_ownership(void **state)
{
	static const unsigned int sizes[] = { 80, 590, 1514, 5000 };
	struct place *place = place_new(2048);
	struct port_template templates[4];
	unsigned char *bytes[4];
	struct port_stream stream;
	const struct xsk_frame *taken[CHUNKS];
	unsigned int count = 0, n = 0;
	uint32_t random = 7;

	(void)state;
	for (int t = 0; t < 4; t++) {
		bytes[t] = malloc(sizes[t]);
		build_ipv6(bytes[t], sizes[t], &templates[t]);
	}
	stream = stream_of(templates, 4, 1);
	assert_int_equal(xsk_frames_prepare(&place->frames, &stream, XSK_MAX_PARTS), 0);
	assert_int_equal(place->frames.per_template, CHUNKS / (1 + 1 + 1 + 3));
	for (int round = 0; round < 20000; round++) {
		unsigned int parts = xsk_frames_next_parts(&place->frames), held = 0;

		random = random * 1664525 + 1013904223;
		for (unsigned int i = 0; i < count; i++)
			held += place->frames.templates[taken[i]->template_index].parts;
		assert_int_equal(place->frames.outstanding, held);
		if (parts && (!count || random >> 31)) {
			const struct xsk_frame *frame = xsk_frames_take(&place->frames, n, 0);

			assert_int_equal(frame->template_index, n++ % 4);
			for (unsigned int i = 0; i < count; i++) {
				const struct xsk_frame *a = frame, *b = taken[i];

				assert_true(a->offset + sizes[a->template_index] <= b->offset ||
					    b->offset + sizes[b->template_index] <= a->offset);
			}
			assert_true(frame->offset >= place->first);
			assert_true(frame->offset + sizes[frame->template_index] <= place->first + CHUNKS * 2048);
			taken[count++] = frame;
		} else if (count) {
			unsigned int which = (random >> 8) % count;
			const struct xsk_frame *frame = taken[which];

			/* from the last chunk to the first: a driver may */
			for (unsigned int part = place->frames.templates[frame->template_index].parts; part--;)
				assert_int_equal(xsk_frames_give_back(&place->frames, frame->offset + part * 2048), 0);
			taken[which] = taken[--count];
		}
	}
	assert_true(n > 5000);
	for (int t = 0; t < 4; t++)
		free(bytes[t]);
	place_free(place);
}

static void test_stranger_comes_back(void **state)
{
	struct place *place = place_new(2048);
	struct port_template template;
	unsigned char frame[80];
	struct port_stream stream;
	const struct xsk_frame *own;

	(void)state;
	build_ipv6(frame, sizeof(frame), &template);
	stream = stream_of(&template, 1, 1);
	assert_int_equal(xsk_frames_prepare(&place->frames, &stream, 1), 0);
	own = xsk_frames_take(&place->frames, 0, 0);
	assert_int_equal(xsk_frames_give_back(&place->frames, 0), -EINVAL);
	assert_int_equal(xsk_frames_give_back(&place->frames, place->first + CHUNKS * 2048), -EINVAL);
	assert_int_equal(xsk_frames_give_back(&place->frames, UINT64_MAX), -EINVAL);
	assert_int_equal(xsk_frames_prepare(&place->frames, &stream, 1), -EBUSY);
	assert_int_equal(xsk_frames_give_back(&place->frames, own->offset), 0);
	assert_int_equal(xsk_frames_give_back(&place->frames, own->offset), -EINVAL); /* twice */
	assert_int_equal(place->frames.outstanding, 0);
	place_free(place);
}

static void test_bad_streams(void **state)
{
	struct place *place = place_new(2048);
	struct port_template template, many[PORT_MAX_TEMPLATES];
	unsigned char *frame = calloc(1, 9018);
	struct port_stream stream;

	(void)state;
	build_ipv6(frame, 9018, &template);
	stream = stream_of(&template, 1, 1);
	assert_int_equal(xsk_frames_prepare(&place->frames, &stream, 4), -EMSGSIZE);
	assert_int_equal(xsk_frames_prepare(&place->frames, &stream, 5), 0);
	for (int i = 0; i < PORT_MAX_TEMPLATES; i++)
		many[i] = template;
	stream = stream_of(many, PORT_MAX_TEMPLATES, 1); /* 320 chunks of 256 */
	assert_int_equal(xsk_frames_prepare(&place->frames, &stream, 5), -EMSGSIZE);
	stream = stream_of(many, PORT_MAX_TEMPLATES + 1, 1);
	assert_int_equal(xsk_frames_prepare(&place->frames, &stream, 5), -EINVAL);
	stream = stream_of(many, 0, 1);
	assert_int_equal(xsk_frames_prepare(&place->frames, &stream, 5), -EINVAL);
	stream = stream_of(&template, 1, 1);
	template.header_offset = 9001; /* one byte too far */
	template.udp_offset = 8993;
	assert_int_equal(xsk_frames_prepare(&place->frames, &stream, 5), -EINVAL);
	template.header_offset = PORT_NO_HEADER;
	template.udp_offset = PORT_NO_HEADER - 8;
	assert_int_equal(xsk_frames_prepare(&place->frames, &stream, 5), -EINVAL);
	template.header_offset = 7; /* no room for UDP in front */
	template.udp_offset = 7 - 8;
	assert_int_equal(xsk_frames_prepare(&place->frames, &stream, 5), -EINVAL);
	template.header_offset = 62;
	template.udp_offset = 50;
	assert_int_equal(xsk_frames_prepare(&place->frames, &stream, 5), -EINVAL);
	template.udp_offset = 54;
	template.frame_bytes = 0;
	assert_int_equal(xsk_frames_prepare(&place->frames, &stream, 5), -EINVAL);
	free(frame);
	place_free(place);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbering),	    cmocka_unit_test(test_checksum_of_zero),
		cmocka_unit_test(test_no_checksum),	    cmocka_unit_test(test_ownership),
		cmocka_unit_test(test_stranger_comes_back), cmocka_unit_test(test_bad_streams),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
