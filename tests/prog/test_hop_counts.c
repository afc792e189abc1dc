// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a hop program adds up: bytes, frame-size buckets, wire segments, each on the CPU that served the frame.
 */
#define _GNU_SOURCE

#include "hop_under_test.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

#include <linux/if_ether.h>

static const uint32_t bounds[HOPCAP_SIZE_BUCKETS] = HOPCAP_SIZE_BOUNDS;

/* The first bucket whose upper bound is not exceeded. */
static int size_bucket(uint32_t bytes)
{
	int bucket = 0;

	while (bytes > bounds[bucket])
		bucket++;
	return bucket;
}

/* A test run takes frames up to this size: XDP with fragments any that we build, tc what fits a page. */
static int may_be_refused(uint32_t bytes)
{
	return hop->has_segments && bytes > 3000;
}

static void expect_size(const struct test_frame_spec *spec, uint32_t bytes, int ours)
{
	struct hop_counters counters;
	struct hop_result result;
	struct built_frame frame;

	hop_ready();
	test_frame_build_length(spec, bytes, &frame);
	if (hop_run_frame(frame.bytes, bytes, &result)) {
		assert_true(may_be_refused(bytes));
		return;
	}
	assert_int_equal(result.verdict, hop->pass);
	assert_int_equal(result.bytes, bytes);
	hop_read_counters(&counters);
	assert_int_equal(counters.test_frames, ours);
	assert_int_equal(counters.test_bytes, ours ? bytes : 0);
	assert_int_equal(counters.other_frames, !ours);
	assert_int_equal(counters.other_bytes, ours ? 0 : bytes);
	assert_int_equal(counters.other_segments, !ours);
	for (int i = 0; i < HOPCAP_SIZE_BUCKETS; i++)
		assert_int_equal(counters.other_sizes.frames[i], !ours && i == size_bucket(bytes));
}

/* At each bound, one byte below and one above it. Sizes of our own frames follow from their bytes and are not sorted. */
static void frame_sizes_at_each_bound(void **state)
{
	static const struct test_frame_spec ours = { .ip_version = 4 }, foreign = { .ip_version = 4, .stream_xor = 1 };

	(void)state;
	for (int i = 0; i < HOPCAP_SIZE_BUCKETS - 1; i++) {
		for (uint32_t bytes = bounds[i] - 1; bytes <= bounds[i] + 1; bytes++) {
			if (bytes < 60)
				continue;
			expect_size(&ours, bytes, 1);
			expect_size(&foreign, bytes, 0);
		}
	}
}

/* A frame that is too short for any header still has a size. */
static void smallest_frame_has_a_size(void **state)
{
	unsigned char frame[TEST_ETHERNET_BYTES] = { 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0xb5 };
	struct hop_counters counters;
	struct hop_result result;

	(void)state;
	hop_ready();
	if (hop_run_frame(frame, sizeof(frame), &result)) {
		assert_true(hop->has_segments); /* some kernels refuse an skb without anything behind Ethernet */
		return;
	}
	hop_read_counters(&counters);
	assert_int_equal(result.verdict, hop->pass);
	assert_int_equal(counters.other_sizes.frames[0], 1);
	assert_int_equal(counters.other_frames, 1);
	assert_int_equal(counters.other_bytes, sizeof(frame));
}

/* Frames of many buffers: all bytes count, the header in the first buffer is found, stamped and dropped as ever. */
static void jumbo_frames(void **state)
{
	static const uint32_t sizes[] = { 3520, 4096, 4097, 8192, 9014, 9018, 12289, 16000 };

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]) * 2; i++) {
		struct test_frame_spec spec = { .ip_version = i % 2 ? 6 : 4, .flags = 1 };
		uint32_t bytes = sizes[i / 2];
		struct hop_counters counters;
		struct hop_result result;
		struct built_frame frame;

		hop_ready();
		hop->control->action = HOPCAP_HOP_DROP;
		test_frame_build_length(&spec, bytes, &frame);
		if (hop_run_frame(frame.bytes, bytes, &result)) {
			assert_true(may_be_refused(bytes));
			continue;
		}
		hop_read_counters(&counters);
		assert_int_equal(result.verdict, hop->drop);
		assert_int_equal(result.bytes, bytes);
		assert_int_equal(counters.test_frames, 1);
		assert_int_equal(counters.test_bytes, bytes);
		assert_int_equal(counters.other_segments, 0);
		/* origin 0 is when the machine started: an error, unless that was just now */
		assert_int_equal(counters.stamped + counters.stamp_errors, 1);
		assert_memory_equal(result.frame + frame.header_offset + 18, frame.bytes + frame.header_offset + 18,
				    bytes - frame.header_offset - 18);
	}
}

static void segments_of_super_frames(void **state)
{
	static const struct test_frame_spec specs[] = {
		{ .ip_version = 4, .payload_bytes = 1400 },
		{ .ip_version = 4, .payload_bytes = 1400, .stream_xor = 1 },
		{ .ip_version = 6, .payload_bytes = 1400 },
	};
	static const uint32_t segments[] = { 0, 1, 2, 45, 1000, 65535 };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		uint64_t expected = 0;
		int ours = !specs[i].stream_xor;
		struct hop_counters counters;
		struct hop_result result;
		struct built_frame frame;

		hop_ready();
		test_frame_build(&specs[i], &frame);
		for (size_t k = 0; k < sizeof(segments) / sizeof(segments[0]); k++) {
			if (hop_run_segments(frame.bytes, frame.length, segments[k], segments[k] ? 100 : 0, &result))
				fail_msg("the kernel takes no gso_segs of %u", segments[k]);
			expected += ours ? 0 : hop->has_segments && segments[k] ? segments[k] : 1;
		}
		hop_read_counters(&counters);
		assert_int_equal(counters.other_segments, expected);
		assert_int_equal(counters.test_frames + counters.other_frames, 6);
		assert_int_equal(counters.test_bytes + counters.other_bytes, 6 * frame.length);
	}
}

/* Each CPU counts for itself; the sum is what was sent. */
static void counters_are_per_cpu(void **state)
{
	static const struct test_frame_spec spec = { .ip_version = 4, .flags = 0 };
	struct hop_counters counters;
	struct hop_result result;
	struct built_frame frame;
	cpu_set_t allowed, one;
	uint64_t sent = 0;

	(void)state;
	hop_ready();
	test_frame_build(&spec, &frame);
	assert_int_equal(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
	for (unsigned int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &allowed))
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
		for (unsigned int i = 0; i < 10 + cpu; i++)
			assert_int_equal(hop_run_frame(frame.bytes, frame.length, &result), 0);
		sent += 10 + cpu;
		hop_read_cpu_counters(cpu, &counters);
		assert_int_equal(counters.test_frames, 10 + cpu);
		assert_int_equal(counters.test_bytes, (10 + cpu) * frame.length);
	}
	assert_int_equal(sched_setaffinity(0, sizeof(allowed), &allowed), 0);
	hop_read_counters(&counters);
	assert_int_equal(counters.test_frames, sent);
	assert_int_equal(counters.test_bytes, sent * frame.length);
}

/* What user space changes while frames pass holds from the next frame on. */
static void control_changes_at_once(void **state)
{
	static const struct test_frame_spec spec = { .ip_version = 4 };
	struct hop_counters counters;
	struct hop_result result;
	struct built_frame frame;

	(void)state;
	hop_ready();
	test_frame_build(&spec, &frame);
	assert_int_equal(hop_run_frame(frame.bytes, frame.length, &result), 0);
	assert_int_equal(result.verdict, hop->pass);
	hop->control->action = HOPCAP_HOP_DROP;
	assert_int_equal(hop_run_frame(frame.bytes, frame.length, &result), 0);
	assert_int_equal(result.verdict, hop->drop);
	hop->control->stream++;
	assert_int_equal(hop_run_frame(frame.bytes, frame.length, &result), 0);
	assert_int_equal(result.verdict, hop->pass);
	hop->control->stream--;
	hop->control->run_tag = 0;
	assert_int_equal(hop_run_frame(frame.bytes, frame.length, &result), 0);
	assert_int_equal(result.verdict, hop->pass);
	hop_read_counters(&counters);
	assert_int_equal(counters.test_frames, 2);
	assert_int_equal(counters.other_frames, 2);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(frame_sizes_at_each_bound),
		cmocka_unit_test(smallest_frame_has_a_size),
		cmocka_unit_test(jumbo_frames),
		cmocka_unit_test(segments_of_super_frames),
		cmocka_unit_test(counters_are_per_cpu),
		cmocka_unit_test(control_changes_at_once),
	};

	return hop_run_groups("counts", tests, sizeof(tests) / sizeof(tests[0]), 1);
}
