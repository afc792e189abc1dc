// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the live-frame generator writes: template, sequence, stamps, and where it stops.
 */
#include "source_under_test.h"

#include <string.h>

#include <linux/bpf.h>
#include <linux/if_ether.h>

#include "wire_test_frame.h"

#define CLOCK_SLACK_NS 1000
#define ORIGIN_MASK 0xffffffffffffULL

static const struct test_frame_spec kinds[] = {
	{ .ip_version = 4 },
	{ .ip_version = 6 },
	{ .ip_version = 4, .tags = { ETH_P_8021Q } },
	{ .ip_version = 6, .tags = { ETH_P_8021Q } },
	{ .ip_version = 4, .tags = { ETH_P_8021AD, ETH_P_8021Q } },
	{ .ip_version = 6, .tags = { ETH_P_8021AD, ETH_P_8021Q } },
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static uint64_t field(const struct built_frame *frame, const unsigned char *bytes, uint32_t offset, uint32_t size)
{
	return test_get_be(bytes + frame->header_offset + offset, size);
}

/* A page as the path may have left it: nothing in the headers may be taken for granted. Payload behind them is the
 * frame's own. Returns its length. */
static uint32_t soil(unsigned char *page, const struct built_frame *frame)
{
	uint32_t bytes = frame->length < HOPCAP_TEMPLATE_BYTES ? HOPCAP_TEMPLATE_BYTES : frame->length;

	memcpy(page, frame->bytes, bytes);
	for (uint32_t i = 0; i < HOPCAP_TEMPLATE_BYTES; i++)
		page[i] = (unsigned char)(0xa5 ^ i);
	return bytes;
}

/*
 * Every byte of the frame that the run gave: the template's up to HOPCAP_TEMPLATE_BYTES; behind them those of the page;
 * but sequence, flags, origin, last, source port and checksum as they must be.
 */
static void expect_frame(const struct built_frame *frame, const unsigned char *page, const struct source_result *result,
			 uint32_t sequence, int stamped)
{
	unsigned int copied = frame->length < HOPCAP_TEMPLATE_BYTES ? frame->length : HOPCAP_TEMPLATE_BYTES;
	unsigned char expected[SOURCE_FRAME_BYTES];
	unsigned char *header = expected + frame->header_offset;
	uint32_t flows = live_control->flows ? live_control->flows : 1;

	assert_int_equal(result->verdict, XDP_REDIRECT);
	assert_int_equal(result->bytes, frame->length);
	memcpy(expected, page, frame->length);
	memcpy(expected, frame->bytes, copied);
	test_put_be(header + HOPCAP_OFFSET_SEQUENCE, sequence, 4);
	test_put_be(header - 8, test_get_be(frame->bytes + frame->udp_offset, 2) + sequence % flows, 2);
	if (stamped) {
		uint64_t origin = field(frame, result->frame, HOPCAP_OFFSET_ORIGIN_HIGH16, 6);

		header[HOPCAP_OFFSET_FLAGS] = HOPCAP_FRAME_STAMP;
		test_put_be(header + HOPCAP_OFFSET_ORIGIN_HIGH16, origin, 6);
		assert_in_range(origin, (result->before_ns - CLOCK_SLACK_NS) & ORIGIN_MASK,
				(result->after_ns + CLOCK_SLACK_NS) & ORIGIN_MASK);
	}
	if (frame->ip_version == 6) { /* whatever it is, it must be right: for the payload of the page, see soil() */
		memcpy(header - 2, result->frame + frame->udp_offset + 6, 2);
		assert_true(test_frame_udp_checksum_right(frame, result->frame));
	}
	assert_memory_equal(result->frame, expected, result->bytes);
}

/* Each kind of header at its shortest, some bytes longer, and long. */
static void headers_are_right(void **state)
{
	(void)state;
	for (size_t kind = 0; kind < KINDS; kind++) {
		for (unsigned int more = 0; more < 1200; more += more < 40 ? 1 : 97) {
			struct test_frame_spec spec = kinds[kind];
			unsigned char page[SOURCE_FRAME_BYTES];
			struct source_result result;
			struct built_frame frame;
			uint32_t bytes;

			source_ready(&frame);
			spec.payload_bytes = more;
			test_frame_build(&spec, &frame);
			source_use_template(&frame);
			live_state->sent = 0x01020304; /* not stamped, all bytes differ */
			bytes = soil(page, &frame);
			source_run(page, bytes, 1, &result);
			expect_frame(&frame, page, &result, 0x01020304, 0);
			live_state->sent = 0;
			source_run(page, bytes, 1, &result);
			expect_frame(&frame, page, &result, 0, 1);
		}
	}
}

static void sequence_counts_up(void **state)
{
	unsigned char page[HOPCAP_TEMPLATE_BYTES];
	struct source_result result;
	struct built_frame frame;

	(void)state;
	source_ready(&frame);
	soil(page, &frame);
	for (uint32_t sequence = 0; sequence < 300; sequence++) {
		source_run(page, sizeof(page), 1, &result);
		assert_int_equal(field(&frame, result.frame, HOPCAP_OFFSET_SEQUENCE, 4), sequence);
		assert_int_equal(live_state->sent, sequence + 1);
	}
}

/* Carry from the sequence's low to its high half, into the checksum of IPv6 as well. */
static void sequence_carries(void **state)
{
	static const uint32_t sequences[] = { 0xfffe, 0xffff, 0x10000, 0x10001, 0xfffffffe, 0xffffffff };

	(void)state;
	for (size_t kind = 0; kind < KINDS; kind++) {
		for (size_t i = 0; i < sizeof(sequences) / sizeof(sequences[0]); i++) {
			unsigned char page[SOURCE_FRAME_BYTES];
			struct source_result result;
			struct built_frame frame;

			source_ready(&frame);
			test_frame_build(&kinds[kind], &frame);
			source_use_template(&frame);
			live_control->stamp_mask = i % 2 ? 0 : HOPCAP_STAMP_NONE;
			live_state->sent = 0x700000000 + sequences[i]; /* the sequence wraps, the count does not */
			source_run(page, soil(page, &frame), 1, &result);
			expect_frame(&frame, page, &result, sequences[i], i % 2);
		}
	}
}

/* A page that was a stamped frame before must not stay one: each run gets the page of the one before. */
static void every_nth_frame_is_stamped(void **state)
{
	static const uint32_t masks[] = { 0, 1, 7, 63, 0x7fffffff, HOPCAP_STAMP_NONE };

	(void)state;
	for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
		unsigned char page[HOPCAP_TEMPLATE_BYTES];
		struct source_result result;
		struct built_frame frame;

		source_ready(&frame);
		live_control->stamp_mask = masks[i];
		soil(page, &frame);
		for (uint32_t sequence = 0; sequence < 200; sequence++) {
			source_run(page, sizeof(page), 1, &result);
			expect_frame(&frame, page, &result, sequence,
				     masks[i] != HOPCAP_STAMP_NONE && !(sequence & masks[i]));
			memcpy(page, result.frame, frame.length);
		}
	}
}

/* Frames of several sizes and headers in turn, out of pages of the longest; flows in turn, independent of that. */
static void templates_and_flows_take_turns(void **state)
{
	static struct built_frame frames[KINDS];
	static unsigned char page[SOURCE_FRAME_BYTES];
	struct built_frame ready;
	uint32_t bytes;

	(void)state;
	source_ready(&ready);
	for (size_t kind = 0; kind < KINDS; kind++) {
		struct test_frame_spec spec = kinds[kind];

		spec.payload_bytes =
			1000 - (unsigned int)kind * 170; /* the tests' frames have one byte as payload throughout */
		test_frame_build(&spec, &frames[kind]);
	}
	source_use_templates(frames, KINDS);
	live_control->flows = 7;
	live_control->stamp_mask = 1;
	bytes = frames[0].length;
	for (uint32_t sequence = 0; sequence < 200; sequence++) {
		const struct built_frame *frame = &frames[sequence % KINDS];
		struct source_result result;

		memcpy(page, frames[0].bytes, bytes);
		for (uint32_t i = 0; i < HOPCAP_TEMPLATE_BYTES; i++)
			page[i] = (unsigned char)(sequence + i);
		source_run(page, bytes, 1, &result);
		expect_frame(frame, page, &result, sequence, !(sequence & 1));
	}
	assert_int_equal(live_state->sent, 200);
}

/* As many flows as there may be: the port of the last one is 65535, and does not spill over. */
static void flows_reach_the_last_port(void **state)
{
	unsigned char page[HOPCAP_TEMPLATE_BYTES];
	struct source_result result;
	struct built_frame frame;

	(void)state;
	source_ready(&frame);
	test_frame_build(&kinds[1], &frame);
	test_put_be(frame.bytes + frame.udp_offset, 49152, 2);
	test_put_be(frame.bytes + frame.udp_offset + 6, 0, 2);
	source_use_template(&frame);
	live_control->flows = 16384;
	live_state->flow_next = 16383;
	source_run(page, soil(page, &frame), 1, &result);
	assert_int_equal(test_get_be(result.frame + frame.udp_offset, 2), 65535);
	assert_int_equal(test_get_be(result.frame + frame.udp_offset + 6, 2), 0);
	assert_int_equal(live_state->flow_next, 0);
}

/* The program for the common frame: what expect_frame() wants, but that stamped frames share a reading of the clock. */
static void plain_frames(void **state)
{
	static const uint32_t masks[] = { 0, 1, 7, 63, 0x7fffffff, HOPCAP_STAMP_NONE };

	(void)state;
	for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
		for (unsigned int more = 0; more < 1200; more += more < 40 ? 13 : 397) {
			const struct test_frame_spec spec = { .ip_version = 4, .payload_bytes = more };
			unsigned char page[SOURCE_FRAME_BYTES];
			struct source_result result;
			struct built_frame frame;
			uint64_t read_ns = 0;

			source_ready(&frame);
			test_frame_build(&spec, &frame);
			source_use_template(&frame);
			live_control->stamp_mask = masks[i];
			for (uint32_t sequence = 0; sequence < 140; sequence++) {
				int stamped = masks[i] != HOPCAP_STAMP_NONE && !(sequence & masks[i]);

				memcpy(page, frame.bytes, frame.length);
				for (uint32_t at = 0; at < HOPCAP_MIN_FRAME_BYTES; at++)
					page[at] = (unsigned char)(sequence + at);
				source_run_plain(page, frame.length, 1, &result);
				if (!masks[i] && !(sequence % 4))
					read_ns = result.before_ns;
				if (!masks[i])
					result.before_ns = read_ns;
				expect_frame(&frame, page, &result, sequence, stamped);
			}
			assert_int_equal(live_state->sent, 140);
		}
	}
}

static void plain_stream_ends(void **state)
{
	static const uint32_t masks[] = { 0, 63, HOPCAP_STAMP_NONE };

	(void)state;
	for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
		struct source_result result;
		struct built_frame frame;

		source_ready(&frame);
		live_control->stamp_mask = masks[i];
		live_control->frames = 97;
		source_run_plain(frame.bytes, frame.length, 97, &result);
		assert_int_equal(result.verdict, XDP_REDIRECT);
		assert_int_equal(live_state->sent, 97);
		source_run_plain(frame.bytes, frame.length, 5, &result);
		assert_int_equal(result.verdict, XDP_DROP);
		assert_int_equal(live_state->sent, 97);
		source_run_plain(frame.bytes, HOPCAP_MIN_FRAME_BYTES - 1, 1, &result);
		assert_int_equal(result.verdict, XDP_ABORTED);
	}
}

/* A device that has gone takes no frame, and none is counted. */
static void device_that_goes_ends_the_count(void **state)
{
	unsigned char page[HOPCAP_TEMPLATE_BYTES];
	struct source_result result;
	struct built_frame frame;

	(void)state;
	source_ready(&frame);
	soil(page, &frame);
	source_run(page, sizeof(page), 1, &result);
	source_run_plain(page, sizeof(page), 1, &result);
	assert_int_equal(live_state->sent, 2);
	assert_int_equal(live_state->gone, 0);
	source_device_gone(1);
	source_run(page, sizeof(page), 1, &result);
	assert_int_equal(result.verdict, XDP_DROP);
	assert_int_equal(live_state->gone, 1);
	live_state->gone = 0;
	source_run_plain(page, sizeof(page), 3, &result);
	source_device_gone(0);
	assert_int_equal(result.verdict, XDP_DROP);
	assert_int_equal(live_state->gone, 1);
	assert_int_equal(live_state->sent, 2);
}

static void times_of_departure(void **state)
{
	unsigned char page[HOPCAP_TEMPLATE_BYTES];
	struct source_result first, last, unstamped;
	struct built_frame frame;
	uint64_t origins[2];

	(void)state;
	source_ready(&frame);
	soil(page, &frame);
	live_control->stamp_mask = 1;
	source_run(page, sizeof(page), 1, &first);
	source_run(page, sizeof(page), 1, &unstamped);
	source_run(page, sizeof(page), 1, &last);
	assert_in_range(live_state->first_ns, first.before_ns - CLOCK_SLACK_NS, first.after_ns + CLOCK_SLACK_NS);
	assert_in_range(live_state->last_ns, last.before_ns - CLOCK_SLACK_NS, last.after_ns + CLOCK_SLACK_NS);
	origins[0] = field(&frame, first.frame, HOPCAP_OFFSET_ORIGIN_HIGH16, 6);
	origins[1] = field(&frame, last.frame, HOPCAP_OFFSET_ORIGIN_HIGH16, 6);
	assert_int_equal(origins[0], live_state->first_ns & ORIGIN_MASK);
	assert_int_equal(origins[1], live_state->last_ns & ORIGIN_MASK);
	assert_int_equal(live_state->late_sum_ns | live_state->late_max_ns | live_state->slips, 0);
	assert_int_equal(live_state->next_fp, 0);
}

static void stops_after_the_last_frame(void **state)
{
	unsigned char page[HOPCAP_TEMPLATE_BYTES];
	struct source_result result;
	struct source_state at_end;
	struct built_frame frame;

	(void)state;
	source_ready(&frame);
	soil(page, &frame);
	live_control->frames = 1;
	live_state->sent = 0;
	source_run(page, sizeof(page), 1, &result);
	assert_int_equal(result.verdict, XDP_REDIRECT);
	at_end = *live_state;
	assert_int_equal(at_end.sent, 1);
	source_run(page, sizeof(page), 20, &result);
	assert_int_equal(result.verdict, XDP_DROP);
	assert_memory_equal(result.frame, page, sizeof(page));
	assert_memory_equal(live_state, &at_end, sizeof(at_end));
	live_control->frames = 0;
	memset(live_state, 0, sizeof(*live_state));
	source_run(page, sizeof(page), 1, &result);
	assert_int_equal(result.verdict, XDP_DROP);
	assert_int_equal(live_state->sent, 0);
}

/* A control that cannot be followed sends nothing and writes outside of nothing. */
static void header_must_fit(void **state)
{
	static const struct {
		uint32_t header_offset, frame_bytes, page_bytes;
		uint32_t verdict;
	} rows[] = {
		{ 42, 60, 96, XDP_REDIRECT },
		{ 42, 60, 95, XDP_ABORTED },
		{ 8, 26, 96, XDP_REDIRECT },
		{ 7, 96, 96, XDP_ABORTED },
		{ 0, 96, 96, XDP_ABORTED },
		{ 78, 96, 96, XDP_REDIRECT },
		{ 79, 200, 200, XDP_ABORTED },
		{ 200, 500, 500, XDP_ABORTED },
		{ UINT32_MAX, 200, 200, XDP_ABORTED },
		{ UINT32_MAX - 17, 200, 200, XDP_ABORTED },
		{ 42, 96, 14, XDP_ABORTED },
		{ 42, 5, 96, XDP_ABORTED },	     /* shorter than an Ethernet header */
		{ 42, UINT32_MAX, 96, XDP_ABORTED }, /* cannot be cut */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unsigned char page[512] = { 0 };
		struct source_result result;
		struct built_frame frame;

		source_ready(&frame);
		live_control->templates[0].header_offset = rows[i].header_offset;
		live_control->templates[0].frame_bytes = rows[i].frame_bytes;
		source_run(page, rows[i].page_bytes, 1, &result);
		if (result.verdict != rows[i].verdict)
			fail_msg("header at %u of %u bytes: verdict %u", rows[i].header_offset, rows[i].frame_bytes,
				 result.verdict);
		assert_int_equal(live_state->sent, rows[i].verdict == XDP_REDIRECT);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(headers_are_right),
		cmocka_unit_test(sequence_counts_up),
		cmocka_unit_test(sequence_carries),
		cmocka_unit_test(every_nth_frame_is_stamped),
		cmocka_unit_test(templates_and_flows_take_turns),
		cmocka_unit_test(flows_reach_the_last_port),
		cmocka_unit_test(plain_frames),
		cmocka_unit_test(plain_stream_ends),
		cmocka_unit_test(device_that_goes_ends_the_count),
		cmocka_unit_test(times_of_departure),
		cmocka_unit_test(stops_after_the_last_frame),
		cmocka_unit_test(header_must_fit),
	};

	return cmocka_run_group_tests_name("source_xdp frames", tests, source_load, source_unload);
}
