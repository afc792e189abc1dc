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

/* A page as the path may have left it: nothing in it may be taken for granted. */
static void soil(unsigned char *page, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i++)
		page[i] = (unsigned char)(0xa5 ^ i);
}

/*
 * Every byte of the frame that the run gave: the template's up to HOPCAP_TEMPLATE_BYTES, whole words only; behind them
 * those of the page; but sequence, flags, origin and last as they must be.
 */
static void expect_frame(const struct built_frame *frame, const unsigned char *page, const struct source_result *result,
			 uint32_t sequence, int stamped)
{
	unsigned char expected[SOURCE_FRAME_BYTES];
	uint32_t copied = result->bytes / 8 * 8;
	unsigned char *header = expected + frame->header_offset;

	assert_int_equal(result->verdict, XDP_REDIRECT);
	if (copied > HOPCAP_TEMPLATE_BYTES)
		copied = HOPCAP_TEMPLATE_BYTES;
	memcpy(expected, page, result->bytes);
	memcpy(expected, live_control->template_bytes, copied);
	test_put_be(header + HOPCAP_OFFSET_SEQUENCE, sequence, 4);
	test_put_be(header + HOPCAP_OFFSET_LAST, 0, 4);
	if (stamped) {
		uint64_t origin = field(frame, result->frame, HOPCAP_OFFSET_ORIGIN_HIGH16, 6);

		header[HOPCAP_OFFSET_FLAGS] = HOPCAP_FRAME_STAMP;
		test_put_be(header + HOPCAP_OFFSET_ORIGIN_HIGH16, origin, 6);
		assert_in_range(origin, (result->before_ns - CLOCK_SLACK_NS) & ORIGIN_MASK,
				(result->after_ns + CLOCK_SLACK_NS) & ORIGIN_MASK);
	}
	assert_memory_equal(result->frame, expected, result->bytes);
}

/* Each kind of header at its shortest, some bytes longer, and long; also where the template's last word has no room. */
static void headers_are_right(void **state)
{
	(void)state;
	for (size_t kind = 0; kind < KINDS; kind++) {
		for (unsigned int more = 0; more < 1200; more += more < 40 ? 1 : 97) {
			struct test_frame_spec spec = kinds[kind];
			unsigned char page[SOURCE_FRAME_BYTES];
			struct source_result result;
			struct built_frame frame;

			source_ready(&frame);
			spec.payload_bytes = more;
			test_frame_build(&spec, &frame);
			source_use_template(&frame);
			live_state->sent = 0x01020304; /* not stamped, all bytes differ */
			soil(page, frame.length);
			source_run(page, frame.length, 1, &result);
			expect_frame(&frame, page, &result, 0x01020304, 0);
			live_state->sent = 0;
			source_run(page, frame.length, 1, &result);
			expect_frame(&frame, page, &result, 0, 1);
		}
	}
}

/* The last field of a recycled page holds an old stamp; the template's word for it has no room in 60 bytes. */
static void last_field_is_cleared_in_smallest_frame(void **state)
{
	unsigned char page[HOPCAP_MIN_FRAME_BYTES];
	struct source_result result;
	struct built_frame frame;

	(void)state;
	source_ready(&frame);
	assert_int_equal(frame.length, HOPCAP_MIN_FRAME_BYTES);
	memset(live_control->template_bytes + 56, 0xee, 8);
	memset(page, 0xff, sizeof(page));
	source_run(page, sizeof(page), 1, &result);
	assert_int_equal(field(&frame, result.frame, HOPCAP_OFFSET_LAST, 4), 0);
	expect_frame(&frame, page, &result, 0, 1);
}

static void sequence_counts_up(void **state)
{
	struct source_result result;
	struct built_frame frame;

	(void)state;
	source_ready(&frame);
	memcpy(result.frame, frame.bytes, frame.length);
	for (uint32_t sequence = 0; sequence < 300; sequence++) {
		source_run(result.frame, frame.length, 1, &result);
		assert_int_equal(field(&frame, result.frame, HOPCAP_OFFSET_SEQUENCE, 4), sequence);
		assert_int_equal(live_state->sent, sequence + 1);
	}
	source_run(result.frame, frame.length, 100000, &result);
	assert_int_equal(field(&frame, result.frame, HOPCAP_OFFSET_SEQUENCE, 4), 100299);
	assert_int_equal(live_state->sent, 100300);
}

/* A page that was a stamped frame before must not stay one: each run gets the page of the one before. */
static void every_nth_frame_is_stamped(void **state)
{
	static const uint32_t masks[] = { 0, 1, 7, 63, 0x7fffffff, HOPCAP_STAMP_NONE };

	(void)state;
	for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
		struct source_result result;
		struct built_frame frame;

		source_ready(&frame);
		live_control->stamp_mask = masks[i];
		memcpy(result.frame, frame.bytes, frame.length);
		for (uint32_t sequence = 0; sequence < 200; sequence++) {
			unsigned char page[HOPCAP_MIN_FRAME_BYTES];

			memcpy(page, result.frame, frame.length);
			source_run(page, frame.length, 1, &result);
			expect_frame(&frame, page, &result, sequence,
				     masks[i] != HOPCAP_STAMP_NONE && !(sequence & masks[i]));
		}
	}
}

static void times_of_departure(void **state)
{
	struct source_result first, last, unstamped;
	struct built_frame frame;
	uint64_t origins[2];

	(void)state;
	source_ready(&frame);
	live_control->stamp_mask = 1;
	source_run(frame.bytes, frame.length, 1, &first);
	source_run(frame.bytes, frame.length, 1, &unstamped);
	source_run(frame.bytes, frame.length, 1, &last);
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
	struct source_result result;
	struct source_state at_end;
	struct built_frame frame;

	(void)state;
	source_ready(&frame);
	live_control->frames = 5;
	source_run(frame.bytes, frame.length, 5, &result);
	assert_int_equal(result.verdict, XDP_REDIRECT);
	at_end = *live_state;
	assert_int_equal(at_end.sent, 5);
	source_run(frame.bytes, frame.length, 20, &result);
	assert_int_equal(result.verdict, XDP_DROP);
	assert_memory_equal(result.frame, frame.bytes, frame.length);
	assert_memory_equal(live_state, &at_end, sizeof(at_end));
	live_control->frames = 0;
	memset(live_state, 0, sizeof(*live_state));
	source_run(frame.bytes, frame.length, 1, &result);
	assert_int_equal(result.verdict, XDP_DROP);
	assert_int_equal(live_state->sent, 0);
}

/* A control that cannot be followed sends nothing and writes outside of nothing. */
static void header_must_fit(void **state)
{
	static const struct {
		uint32_t header_offset, frame_bytes;
		uint32_t verdict;
	} rows[] = {
		{ 42, 60, XDP_REDIRECT },
		{ 42, 59, XDP_ABORTED },
		{ 43, 60, XDP_ABORTED },
		{ 78, 96, XDP_REDIRECT },
		{ 78, 95, XDP_ABORTED },
		{ 79, 200, XDP_ABORTED },
		{ 200, 500, XDP_ABORTED },
		{ 0, 18, XDP_REDIRECT },
		{ 0, 17, XDP_ABORTED },
		{ UINT32_MAX, 200, XDP_ABORTED },
		{ UINT32_MAX - 17, 200, XDP_ABORTED },
		{ 42, 14, XDP_ABORTED },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unsigned char page[512] = { 0 };
		struct source_result result;
		struct built_frame frame;
		int sent = rows[i].verdict == XDP_REDIRECT;

		source_ready(&frame);
		live_control->header_offset = rows[i].header_offset;
		source_run(page, rows[i].frame_bytes, 1, &result);
		if (result.verdict != rows[i].verdict)
			fail_msg("header at %u of %u bytes: verdict %u", rows[i].header_offset, rows[i].frame_bytes,
				 result.verdict);
		assert_int_equal(live_state->sent, sent);
		assert_int_equal(live_state->first_ns != 0, sent);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(headers_are_right),  cmocka_unit_test(last_field_is_cleared_in_smallest_frame),
		cmocka_unit_test(sequence_counts_up), cmocka_unit_test(every_nth_frame_is_stamped),
		cmocka_unit_test(times_of_departure), cmocka_unit_test(stops_after_the_last_frame),
		cmocka_unit_test(header_must_fit),
	};

	return cmocka_run_group_tests_name("source_xdp frames", tests, source_load, source_unload);
}
