// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a sink does beside the ledger: tells corrupted frames, verifies payloads of any size, learns a run tag, knows queues, gaps
 * and jitter.
 */
#include "hop_under_test.h"

#include <string.h>
#include <time.h>

#include <linux/if_ether.h>

#include "wire_test_frame.h"

static const struct test_frame_spec kinds[] = {
	{ .ip_version = 4 },
	{ .ip_version = 6 },
	{ .ip_version = 4, .tags = { ETH_P_8021Q } },
	{ .ip_version = 6, .tags = { ETH_P_8021Q } },
	{ .ip_version = 4, .tags = { ETH_P_8021AD, ETH_P_8021Q } },
	{ .ip_version = 6, .tags = { ETH_P_8021AD, ETH_P_8021Q } },
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static void ready_as_sink(void)
{
	hop_ready();
	hop->control->sink = 1;
	hop->control->action = HOPCAP_HOP_DROP;
}

/* The payload as sources write it: each byte is its place in the frame. */
static void fill_payload(struct built_frame *frame, unsigned int place)
{
	for (unsigned int i = test_frame_header_end(frame); i < frame->length; i++)
		frame->bytes[i] = (unsigned char)(place++);
}

static void build(const struct test_frame_spec *spec, unsigned int length, struct built_frame *frame)
{
	test_frame_build_length(spec, length, frame);
	fill_payload(frame, test_frame_header_end(frame));
}

/* 1 sound, 0 corrupted, -1 not taken for a test frame of ours; -2 the kernel takes no such frame. */
static int judge(const struct built_frame *frame)
{
	struct ledger_counts before, after;
	struct hop_result result;
	int judgement;

	hop_read_stream(0, &before);
	if (hop_run_frame(frame->bytes, frame->length, &result))
		return -2;
	hop_read_stream(0, &after);
	judgement = after.corrupted > before.corrupted ? 0 : after.frames > before.frames ? 1 : -1;
	assert_int_equal(after.corrupted - before.corrupted + after.frames - before.frames, judgement >= 0);
	assert_int_equal(result.verdict, judgement < 0 ? hop->pass : hop->drop);
	assert_memory_equal(result.frame, frame->bytes, frame->length);
	return judgement;
}

/* Any bit of an IPv4 header, and any of the lengths: corrupted, or no test frame at all, never sound. */
static void every_bit_of_a_header(void **state)
{
	(void)state;
	ready_as_sink();
	for (size_t kind = 0; kind < KINDS; kind++) {
		struct built_frame frame;

		test_frame_build_length(&kinds[kind], 100, &frame);
		assert_int_equal(judge(&frame), 1);
		for (unsigned int bit = 8 * frame.ip_offset; bit < 8 * frame.header_offset; bit++) {
			unsigned int in_ip = bit / 8 - frame.ip_offset, in_udp = bit / 8 - frame.udp_offset;
			int seen = frame.ip_version == 4 && bit < 8 * frame.udp_offset, judgement;

			seen |= frame.ip_version == 6 && (in_ip == 4 || in_ip == 5); /* length */
			seen |= bit >= 8 * frame.udp_offset && (in_udp == 4 || in_udp == 5);
			frame.bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
			judgement = judge(&frame);
			frame.bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
			if (seen && judgement > 0)
				fail_msg("%s: kind %zu, bit %u of byte %u: taken for sound", hop->name, kind, bit % 8, bit / 8);
			if (!seen && judgement == 0)
				fail_msg("%s: kind %zu, bit %u of byte %u: not looked at, yet corrupted", hop->name, kind, bit % 8, bit / 8);
		}
		assert_int_equal(judge(&frame), 1);
	}
}

static void flags_that_do_not_exist(void **state)
{
	(void)state;
	for (unsigned int flags = 0; flags < 256; flags++) {
		struct test_frame_spec spec = { .ip_version = 4, .flags = (uint8_t)flags, .origin_ns = 1ull << 47 };
		struct built_frame frame;

		if (flags & HOPCAP_FRAME_END)
			continue;
		ready_as_sink();
		test_frame_build(&spec, &frame);
		assert_int_equal(judge(&frame), !(flags & ~HOPCAP_FRAME_FLAGS));
	}
}

/* Cut, lengthened, padded. */
static void lengths_that_do_not_agree(void **state)
{
	(void)state;
	ready_as_sink();
	for (size_t kind = 0; kind < KINDS; kind++) {
		struct built_frame frame;

		test_frame_build_length(&kinds[kind], 300, &frame);
		frame.length = 299;
		assert_int_equal(judge(&frame), 0);
		frame.length = 301;
		assert_int_equal(judge(&frame), 0);
		test_frame_build(&kinds[kind], &frame);
		frame.length += 1;
		assert_int_equal(judge(&frame), frame.length <= 64);
	}
}

/* Every size; a wrong byte at each end of the payload and of each 64 bytes, and at random. */
static void every_byte_of_the_payload(void **state)
{
	uint32_t random = 1;

	(void)state;
	ready_as_sink();
	hop->control->verify = 1;
	for (unsigned int length = 90; length <= 9018; length += length < 1600 ? 7 : 257) {
		const struct test_frame_spec *spec = &kinds[length % KINDS];
		struct built_frame frame;
		unsigned int first, at;
		int judgement;

		build(spec, length, &frame);
		first = test_frame_header_end(&frame);
		judgement = judge(&frame);
		if (judgement == -2) {
			assert_true(hop->has_segments && length > 3000);
			continue;
		}
		assert_int_equal(judgement, 1);
		for (unsigned int i = 0; i < 12 && first < length; i++) {
			random = random * 1664525 + 1013904223;
			at = i == 0 ? first : i == 1 ? length - 1 : i < 6 ? first + 64 * i - 130 + i : first + (random >> 8) % (length - first);
			if (at >= length || at < first)
				continue;
			frame.bytes[at] ^= (unsigned char)(1 << (random >> 28 & 7));
			if (judge(&frame) != 0)
				fail_msg("%s: %u bytes, byte %u is wrong: not seen", hop->name, length, at);
			build(spec, length, &frame);
		}
	}
}

static void payload_moved_by_tags(void **state)
{
	struct built_frame frame;

	(void)state;
	ready_as_sink();
	hop->control->verify = 1;
	for (int moved = -16; moved <= 16; moved++) {
		build(&kinds[2], 400, &frame);
		fill_payload(&frame, test_frame_header_end(&frame) + (unsigned int)moved);
		assert_int_equal(judge(&frame), moved % 4 == 0 && moved >= -8 && moved <= 8);
	}
	test_frame_build(&kinds[0], &frame); /* no payload at all */
	assert_int_equal(judge(&frame), 1);
	test_frame_build_length(&kinds[0], 400, &frame); /* another pattern */
	assert_int_equal(judge(&frame), 0);
	hop->control->verify = 0;
	assert_int_equal(judge(&frame), 1);
}

/* A corrupted frame's times are not believed. */
static void corrupted_frame_is_not_stamped(void **state)
{
	struct test_frame_spec spec = { .ip_version = 4, .flags = HOPCAP_FRAME_STAMP, .payload_bytes = 40 };
	struct hop_counters counters;
	struct built_frame frame;

	(void)state;
	ready_as_sink();
	test_frame_build(&spec, &frame);
	frame.bytes[frame.ip_offset + 8] ^= 1;
	assert_int_equal(judge(&frame), 0);
	hop_read_counters(&counters);
	assert_int_equal(counters.test_frames, 1);
	assert_int_equal(counters.stamped + counters.stamp_errors, 0);
}

static void run_tag_is_learnt(void **state)
{
	const struct test_frame_spec ours = { .ip_version = 6, .sequence = 7 }, other = { .ip_version = 4, .run_tag_xor = 1 },
				     end = { .ip_version = 4, .flags = HOPCAP_FRAME_END, .sequence = 9 },
				     far = { .ip_version = 4, .stream_xor = 1 },
				     none = { .ip_version = 4, .run_tag_xor = TEST_RUN_TAG };
	struct hop_counters counters;
	struct built_frame frame;

	(void)state;
	ready_as_sink();
	hop->control->run_tag = 0;
	test_frame_build(&ours, &frame);
	assert_int_equal(judge(&frame), -1); /* not asked to learn */
	hop->control->learn = 1;
	test_frame_build(&end, &frame);
	assert_int_equal(judge(&frame), -1);
	test_frame_build(&far, &frame); /* a stream that is not kept */
	assert_int_equal(judge(&frame), -1);
	test_frame_build(&none, &frame);
	assert_int_equal(judge(&frame), -1);
	memset(frame.bytes + frame.header_offset, 0xff, HOPCAP_TEST_HEADER_BYTES); /* wake-on-LAN looks so, on this port */
	assert_int_equal(judge(&frame), -1);
	test_frame_build(&ours, &frame);
	frame.bytes[frame.ip_offset + 5] ^= 4;
	assert_int_equal(judge(&frame), -1);
	assert_int_equal(hop->control->run_tag, 0);
	test_frame_build(&ours, &frame);
	assert_int_equal(judge(&frame), 1); /* the first one counts */
	assert_int_equal(hop->control->run_tag, TEST_RUN_TAG);
	test_frame_build(&other, &frame);
	assert_int_equal(judge(&frame), -1);
	assert_int_equal(hop->control->run_tag, TEST_RUN_TAG);
	hop_read_counters(&counters);
	assert_int_equal(counters.test_frames, 1);
	assert_int_equal(counters.other_frames, 7);
}

/* Neither a test frame nor another one, and gone. */
static void expect_swallowed(const struct built_frame *frame)
{
	struct hop_result result;

	assert_int_equal(hop_run_frame(frame->bytes, frame->length, &result), 0);
	assert_int_equal(result.verdict, hop->drop);
}

/* A source that says that it begins (a stream of 0 frames until now) makes no tag known, but what is known of it afterwards. */
static void begin_is_heard(void **state)
{
	const struct test_frame_spec begin = { .ip_version = 4, .flags = HOPCAP_FRAME_END },
				     other = { .ip_version = 6, .flags = HOPCAP_FRAME_END, .run_tag_xor = 1 },
				     far = { .ip_version = 4, .flags = HOPCAP_FRAME_END, .stream_xor = 1 },
				     first = { .ip_version = 4, .sequence = 4 };
	struct hop_counters counters;
	struct built_frame frame;

	(void)state;
	ready_as_sink();
	hop->control->run_tag = 0;
	test_frame_build(&begin, &frame);
	assert_int_equal(judge(&frame), -1); /* nobody waits for a run */
	assert_int_equal(hop->control->begun_tag, 0);
	hop->control->learn = 1;
	test_frame_build(&other, &frame);
	expect_swallowed(&frame);
	assert_int_equal(hop->control->begun_tag, TEST_RUN_TAG ^ 1);
	test_frame_build(&far, &frame);
	assert_int_equal(judge(&frame), -1);
	test_frame_build(&begin, &frame);
	frame.bytes[frame.ip_offset + 5] ^= 4;
	assert_int_equal(judge(&frame), -1);
	assert_int_equal(hop->control->begun_tag, TEST_RUN_TAG ^ 1);
	test_frame_build(&begin, &frame); /* that source failed, and this one is the next */
	expect_swallowed(&frame);
	assert_int_equal(hop->control->begun_tag, TEST_RUN_TAG);
	assert_int_equal(hop->control->begun_streams, 1);
	assert_int_equal(hop->control->run_tag, 0);
	test_frame_build(&first, &frame);
	assert_int_equal(judge(&frame), 1);
	assert_int_equal(hop->control->run_tag, TEST_RUN_TAG);
	test_frame_build(&other, &frame); /* a run that is not ours any more */
	assert_int_equal(judge(&frame), -1);
	assert_int_equal(hop->control->begun_tag, TEST_RUN_TAG);
	hop_read_counters(&counters);
	assert_int_equal(counters.test_frames, 1);
	assert_int_equal(counters.beyond_frames[0], 0);
}

/* BPF_PROG_TEST_RUN delivers on queue 0 of its device; tc does not know it. */
static void frames_by_queue(void **state)
{
	struct hop_counters counters;
	struct built_frame frame;
	uint64_t sum = 0;

	(void)state;
	ready_as_sink();
	test_frame_build(&kinds[0], &frame);
	for (int i = 0; i < 5; i++)
		judge(&frame);
	hop_read_counters(&counters);
	for (unsigned int i = 0; i < HOPCAP_SINK_QUEUES; i++)
		sum += counters.queue_frames[i];
	assert_int_equal(sum, hop->has_segments ? 0 : 5);
	assert_int_equal(counters.queue_frames[0], sum);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The stamp that a frame then carries is its latency, so both sums can be checked to the nanosecond. */
static void gaps_and_jitter(void **state)
{
	uint64_t jitter_ns = 0, before_ns = 0, gaps = 0;
	struct hop_histograms histograms;
	struct hop_sink sink;

	(void)state;
	ready_as_sink();
	for (uint32_t i = 0; i < 200; i++) {
		struct test_frame_spec spec = { .ip_version = 4, .flags = HOPCAP_FRAME_STAMP, .sequence = i };
		struct hop_result result;
		struct built_frame frame;
		uint64_t latency_ns;

		spec.origin_ns = now_ns() - (i * 7919 % 1000) * 1000;
		test_frame_build(&spec, &frame);
		assert_int_equal(hop_run_frame(frame.bytes, frame.length, &result), 0);
		latency_ns = test_get_be(result.frame + frame.header_offset + HOPCAP_OFFSET_LAST, 4);
		if (i)
			jitter_ns += latency_ns > before_ns ? latency_ns - before_ns : before_ns - latency_ns;
		before_ns = latency_ns;
	}
	hop_read_sink(&sink);
	hop_read_histograms(&histograms);
	for (unsigned int i = 0; i < HOPCAP_HISTOGRAM_BUCKETS; i++)
		gaps += sink.gap_ns[i];
	/* A run that was moved to another CPU starts anew there. */
	assert_in_range(gaps, 190, 199);
	assert_int_equal(sink.jitter_count, gaps);
	if (gaps == 199)
		assert_int_equal(sink.jitter_sum_ns, jitter_ns);
	/* None of it where no sink is. */
	hop_ready();
	for (int i = 0; i < 3; i++) {
		const struct test_frame_spec spec = { .ip_version = 4, .flags = HOPCAP_FRAME_STAMP, .origin_ns = now_ns() };
		struct hop_result result;
		struct built_frame frame;

		test_frame_build(&spec, &frame);
		assert_int_equal(hop_run_frame(frame.bytes, frame.length, &result), 0);
	}
	hop_read_sink(&sink);
	assert_int_equal(hop_only_bucket(sink.gap_ns), -1);
	assert_int_equal(sink.jitter_count, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_bit_of_a_header),
		cmocka_unit_test(flags_that_do_not_exist),
		cmocka_unit_test(lengths_that_do_not_agree),
		cmocka_unit_test(every_byte_of_the_payload),
		cmocka_unit_test(payload_moved_by_tags),
		cmocka_unit_test(corrupted_frame_is_not_stamped),
		cmocka_unit_test(run_tag_is_learnt),
		cmocka_unit_test(begin_is_heard),
		cmocka_unit_test(frames_by_queue),
		cmocka_unit_test(gaps_and_jitter),
	};

	return hop_run_groups("sink", tests, sizeof(tests) / sizeof(tests[0]), 1);
}
