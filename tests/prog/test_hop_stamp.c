// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Stamping: what a hop program does to a frame with HOPCAP_FRAME_STAMP, and what it must leave alone.
 *
 * The program reads the clock itself, so a stamp is checked against CLOCK_MONOTONIC before and after the run, and the
 * histograms against the stamp that the frame then carries, exactly. All arithmetic is modulo 2^48 as in the program; a
 * clock that has just passed 2^48 ns (78 hours after boot) cannot be had at will, so that moment itself is not tested.
 */
#include "hop_under_test.h"

#include <string.h>
#include <time.h>

#include <linux/if_ether.h>

#include "wire_test_frame.h"

/* bpf_ktime_get_ns may be read while the kernel adjusts the clock: by so much it may differ from clock_gettime. */
#define CLOCK_SLACK_NS 1000
#define ORIGIN_MASK 0xffffffffffffULL
#define LIMIT_NS 0x100000000ULL /* stamps that are as old or older are errors */

static const struct test_frame_spec kinds[] = {
	{ .ip_version = 4, .flags = HOPCAP_FRAME_STAMP },
	{ .ip_version = 4, .flags = HOPCAP_FRAME_STAMP, .payload_bytes = 1454 },
	{ .ip_version = 6, .flags = HOPCAP_FRAME_STAMP },
	{ .ip_version = 6, .flags = HOPCAP_FRAME_STAMP, .payload_bytes = 33 },
	{ .ip_version = 4, .tags = { ETH_P_8021Q }, .flags = HOPCAP_FRAME_STAMP },
	{ .ip_version = 6, .tags = { ETH_P_8021Q }, .flags = HOPCAP_FRAME_STAMP },
	{ .ip_version = 4, .tags = { ETH_P_8021AD, ETH_P_8021Q }, .flags = HOPCAP_FRAME_STAMP },
	{ .ip_version = 6, .tags = { ETH_P_8021AD, ETH_P_8021Q }, .flags = HOPCAP_FRAME_STAMP },
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Bucket of a value, from the definition: exact below 64, then 32 equal parts of each octave. */
static int bucket_of(uint32_t value)
{
	uint64_t low = 64, width = 2;
	int bucket = 64;

	if (value < 64)
		return (int)value;
	while (value >= low + 32 * width) {
		low += 32 * width;
		width *= 2;
		bucket += 32;
	}
	return bucket + (int)((value - low) / width);
}

/* A frame that left age_ns ago (less than 0: will leave), last stamped last_ns after it left. */
static void run_stamp(const struct test_frame_spec *kind, int64_t age_ns, uint32_t last_ns, struct built_frame *frame,
		      struct hop_result *result)
{
	struct test_frame_spec spec = *kind;

	spec.origin_ns = (now_ns() - (uint64_t)age_ns) & ORIGIN_MASK;
	spec.last_ns = last_ns;
	test_frame_build(&spec, frame);
	assert_int_equal(hop_run_frame(frame->bytes, frame->length, result), 0);
	assert_int_equal(result->bytes, frame->length);
	assert_int_equal(result->verdict, hop->pass);
}

static uint32_t last_field(const struct built_frame *frame, const unsigned char *bytes)
{
	return (uint32_t)test_get_be(bytes + frame->header_offset + HOPCAP_OFFSET_LAST, 4);
}

/* Bounds of the stamp from the clock around the run. */
static void expect_between(const struct built_frame *frame, const struct hop_result *result)
{
	uint64_t origin = test_get_be(frame->bytes + frame->header_offset + HOPCAP_OFFSET_ORIGIN_HIGH16, 6);
	uint64_t low = (result->before_ns - origin) & ORIGIN_MASK, high = (result->after_ns - origin) & ORIGIN_MASK;

	low = low < CLOCK_SLACK_NS ? 0 : low - CLOCK_SLACK_NS;
	assert_in_range(last_field(frame, result->frame), low, high + CLOCK_SLACK_NS);
}

/* Nothing differs but the last field and, over IPv6, the checksum, which is right. */
static void expect_rest_untouched(const struct built_frame *frame, const struct hop_result *result)
{
	unsigned char expected[TEST_FRAME_MAX_BYTES];
	unsigned int last = frame->header_offset + HOPCAP_OFFSET_LAST, checksum = frame->udp_offset + 6;

	memcpy(expected, frame->bytes, frame->length);
	memcpy(expected + last, result->frame + last, 4);
	if (frame->ip_version == 6) {
		assert_true(test_frame_udp_checksum_right(frame, frame->bytes));
		memcpy(expected + checksum, result->frame + checksum, 2);
		assert_true(test_frame_udp_checksum_right(frame, result->frame));
	} else {
		assert_int_equal(test_get_be(result->frame + checksum, 2), 0);
	}
	assert_memory_equal(result->frame, expected, frame->length);
}

static void expect_stamp_counts(uint64_t stamped, uint64_t errors)
{
	struct hop_counters counters;

	hop_read_counters(&counters);
	assert_int_equal(counters.test_frames, stamped + errors);
	assert_int_equal(counters.stamped, stamped);
	assert_int_equal(counters.stamp_errors, errors);
}

static void stamp_is_written_and_counted(void **state)
{
	static const int64_t ages_ns[] = { 0, 1000, 65536, 1000000, 70000000, 3000000000 };

	(void)state;
	for (size_t i = 0; i < KINDS * (sizeof(ages_ns) / sizeof(ages_ns[0])); i++) {
		const int64_t age_ns = ages_ns[i / KINDS];
		uint32_t last_ns = (uint32_t)(age_ns / 3);
		struct hop_histograms histograms;
		struct hop_result result;
		struct built_frame frame;
		uint32_t stamp;

		hop_ready();
		run_stamp(&kinds[i % KINDS], age_ns, last_ns, &frame, &result);
		expect_between(&frame, &result);
		expect_rest_untouched(&frame, &result);
		expect_stamp_counts(1, 0);
		stamp = last_field(&frame, result.frame);
		hop_read_histograms(&histograms);
		assert_int_equal(hop_only_bucket(histograms.hop_ns), bucket_of(stamp - last_ns));
		assert_int_equal(hop_only_bucket(histograms.path_ns), bucket_of(stamp));
	}
}

/* Two points in a row: the second one's hop starts where the first one stamped. */
static void stamps_chain(void **state)
{
	(void)state;
	for (size_t kind = 0; kind < KINDS; kind++) {
		struct hop_result first, second;
		struct hop_histograms histograms;
		struct built_frame frame;
		uint32_t stamps[2];

		hop_ready();
		run_stamp(&kinds[kind], 5000, 0, &frame, &first);
		stamps[0] = last_field(&frame, first.frame);
		hop_ready();
		assert_int_equal(hop_run_frame(first.frame, first.bytes, &second), 0);
		stamps[1] = last_field(&frame, second.frame);
		assert_true(stamps[1] >= stamps[0]);
		hop_read_histograms(&histograms);
		assert_int_equal(hop_only_bucket(histograms.hop_ns), bucket_of(stamps[1] - stamps[0]));
		assert_int_equal(hop_only_bucket(histograms.path_ns), bucket_of(stamps[1]));
		expect_rest_untouched(&frame, &second);
	}
}

/* Every pair of old and new stamp must leave a right checksum; many random ones do, and the ones near the folds. */
static void checksum_over_ipv6_stays_right(void **state)
{
	uint32_t random = 20240607;

	(void)state;
	hop_ready();
	for (int i = 0; i < 4000; i++) {
		struct test_frame_spec spec = kinds[2];
		struct hop_result result;
		struct built_frame frame;
		uint32_t age_ns;

		random = random * 1664525 + 1013904223;
		age_ns = i % 2 ? random % 3000000000u : (random >> 16) << 16 & 0xbfffffff;
		spec.payload_bytes = (unsigned int)(i % 5);
		spec.sequence = random * 2654435761u;
		run_stamp(&spec, age_ns, i % 3 ? age_ns : age_ns & 0xffff, &frame, &result);
		expect_rest_untouched(&frame, &result);
	}
	expect_stamp_counts(4000, 0);
}

static void unstamped_frame_is_left_alone(void **state)
{
	(void)state;
	for (size_t kind = 0; kind < KINDS; kind++) {
		for (unsigned int flags = 0; flags < 256; flags += 2) {
			struct test_frame_spec spec = kinds[kind];
			struct hop_histograms histograms;
			struct hop_result result;
			struct built_frame frame;
			struct hop_seen seen;

			if (flags == HOPCAP_FRAME_END || (flags && (flags & (flags - 1))))
				continue; /* each of the other flag bits alone; an end is no test frame */
			hop_ready();
			spec.flags = (uint8_t)flags;
			run_stamp(&spec, 1000, 500, &frame, &result);
			assert_memory_equal(result.frame, frame.bytes, frame.length);
			hop_read_histograms(&histograms);
			hop_read_seen(&seen);
			assert_int_equal(hop_only_bucket(histograms.hop_ns), -1);
			assert_int_equal(hop_only_bucket(histograms.path_ns), -1);
			assert_int_equal(seen.first_ns | seen.last_ns, 0);
		}
	}
}

/* A stamp that cannot be is counted as such, enters no histogram, and stays in the frame as it came. */
static void impossible_stamps_are_errors(void **state)
{
	static const struct {
		int64_t age_ns;
		uint32_t last_ns;
	} stamps[] = {
		{ -10000000000, 0 },   /* in the future: a clock that was set back */
		{ -3600000000000, 0 }, /* an hour ahead */
		{ -10000000000, 0xffffffff },
		{ 1000000, 4000000000 }, /* stamped before by a clock that is ahead */
		{ 0, 0xffffffff },
		{ LIMIT_NS, 0 }, /* as old as 32 bits cannot say */
		{ LIMIT_NS, 0xffffffff },
		{ 60 * (int64_t)LIMIT_NS + 1000000, 0 }, /* low 32 bits look young */
		{ (int64_t)1 << 46, 0 }, /* 19.5 hours: before the clock's 0 on most machines, modulo 2^48 */
		{ ((int64_t)1 << 48) - 10000000000, 0 }, /* the same 48 bits as 10 s ahead */
	};

	(void)state;
	for (size_t i = 0; i < KINDS * (sizeof(stamps) / sizeof(stamps[0])); i++) {
		struct hop_histograms histograms;
		struct hop_result result;
		struct built_frame frame;

		hop_ready();
		run_stamp(&kinds[i % KINDS], stamps[i / KINDS].age_ns, stamps[i / KINDS].last_ns, &frame, &result);
		expect_stamp_counts(0, 1);
		assert_memory_equal(result.frame, frame.bytes, frame.length);
		hop_read_histograms(&histograms);
		assert_int_equal(hop_only_bucket(histograms.hop_ns), -1);
		assert_int_equal(hop_only_bucket(histograms.path_ns), -1);
	}
}

/* Just inside the limit. A run that was held up until the stamp rightly was too old is repeated. */
static void oldest_possible_stamp_counts(void **state)
{
	struct hop_histograms histograms;
	struct hop_result result;
	struct built_frame frame;
	uint64_t origin_ns;

	(void)state;
	do {
		hop_ready();
		run_stamp(&kinds[2], (int64_t)LIMIT_NS - 50000000, 0, &frame, &result);
		origin_ns = test_get_be(frame.bytes + frame.header_offset + HOPCAP_OFFSET_ORIGIN_HIGH16, 6);
	} while (((result.after_ns - origin_ns) & ORIGIN_MASK) + CLOCK_SLACK_NS >= LIMIT_NS);
	expect_stamp_counts(1, 0);
	hop_read_histograms(&histograms);
	assert_int_equal(hop_only_bucket(histograms.path_ns), bucket_of(last_field(&frame, result.frame)));
}

static void first_and_last_time_are_kept(void **state)
{
	struct hop_result first, later, unstamped;
	struct test_frame_spec plain = kinds[0];
	struct built_frame frame;
	struct hop_seen seen;

	(void)state;
	hop_ready();
	run_stamp(&kinds[0], 1000, 0, &frame, &first);
	run_stamp(&kinds[2], 1000, 0, &frame, &later);
	run_stamp(&kinds[0], 1000, 0, &frame, &later);
	plain.flags = 0;
	run_stamp(&plain, 1000, 0, &frame, &unstamped);
	hop_read_seen(&seen);
	assert_in_range(seen.first_ns, first.before_ns - CLOCK_SLACK_NS, first.after_ns + CLOCK_SLACK_NS);
	assert_in_range(seen.last_ns, later.before_ns - CLOCK_SLACK_NS, later.after_ns + CLOCK_SLACK_NS);
}

/* A sink stamps before it drops: the last hop's delay counts like any other. */
static void dropped_frame_is_stamped(void **state)
{
	struct hop_histograms histograms;
	struct test_frame_spec spec = kinds[0];
	struct hop_result result;
	struct built_frame frame;

	(void)state;
	hop_ready();
	hop->control->action = HOPCAP_HOP_DROP;
	spec.origin_ns = now_ns() - 1000;
	test_frame_build(&spec, &frame);
	assert_int_equal(hop_run_frame(frame.bytes, frame.length, &result), 0);
	assert_int_equal(result.verdict, hop->drop);
	expect_stamp_counts(1, 0);
	hop_read_histograms(&histograms);
	assert_int_equal(hop_only_bucket(histograms.path_ns), bucket_of(last_field(&frame, result.frame)));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(stamp_is_written_and_counted),	  cmocka_unit_test(stamps_chain),
		cmocka_unit_test(checksum_over_ipv6_stays_right), cmocka_unit_test(unstamped_frame_is_left_alone),
		cmocka_unit_test(impossible_stamps_are_errors),	  cmocka_unit_test(oldest_possible_stamp_counts),
		cmocka_unit_test(first_and_last_time_are_kept),	  cmocka_unit_test(dropped_frame_is_stamped),
	};

	return hop_run_groups("stamps", tests, sizeof(tests) / sizeof(tests[0]), 1);
}
