// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The body of the hop programs compiled for this process, with a clock and maps of the test's own.
 *
 * For what no kernel can be brought to show at will: a clock at the edge of 48 bits, ages to the nanosecond, every fold
 * of a checksum, and reads beyond the end of a frame, which the address sanitizer sees. Needs no privilege. That the
 * programs in the kernel do the same is the matter of test_hop_stamp.c and test_hop_frames.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <linux/types.h>
/* libbpf names all helpers of the kernel as static variables. */
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

static __u64 clock_ns;
static void *fake_lookup(const void *map, const __u32 *key);

/* The frame that the program runs on. */
struct context {
	unsigned char *data, *end;
};

static int fake_load(const struct context *context, __u32 offset, void *to, __u32 bytes);

/* Headers of a frame lie unaligned, as in the kernel on machines where hopcap runs. */
#define UNALIGNED __attribute__((no_sanitize("alignment")))
#undef __always_inline
#define __always_inline inline UNALIGNED
#define bpf_ktime_get_ns() clock_ns
#define bpf_map_lookup_elem(map, key) fake_lookup(map, key)
#define HOP_CONTEXT struct context
#define hop_data(ctx) ((void *)(ctx)->data)
#define hop_data_end(ctx) ((void *)(ctx)->end)
#define hop_load_bytes(ctx, offset, to, bytes) fake_load(ctx, offset, to, bytes)
#define hop_queue(ctx) 3
#define hop_length(ctx) ((__u32)((ctx)->end - (ctx)->data))
#define hop_bytes(ctx) hop_length(ctx)
#define hop_plain_bytes(ctx) hop_length(ctx)
#pragma GCC optimize("no-strict-aliasing")
#include "../../bpf/hop_body.bpf.h"

#include "test_frames.h"

#define LIMIT_NS 0x100000000ULL
#define ORIGIN_MASK 0xffffffffffffULL
#define WORDS 4 /* of the ledger's first ones */

static struct {
	struct hop_control control;
	struct hop_counters counters;
	struct hop_seen seen;
	struct hop_histograms histograms;
	struct hop_sink sink;
	struct ledger_track track;
	ledger_u64 ledger[WORDS];
	const void *missing; /* map without elements */
} maps;

static void *fake_lookup(const void *map, const __u32 *key)
{
	if (map == maps.missing)
		return NULL;
	if (map == &hop_ledger)
		return *key < WORDS ? &maps.ledger[*key] : NULL;
	assert_int_equal(*key, 0);
	if (map == &hop_control)
		return &maps.control;
	if (map == &hop_counters)
		return &maps.counters;
	if (map == &hop_seen)
		return &maps.seen;
	if (map == &hop_histograms)
		return &maps.histograms;
	if (map == &hop_sink)
		return &maps.sink;
	assert_ptr_equal(map, &hop_tracks);
	return &maps.track;
}

static int fake_load(const struct context *context, __u32 offset, void *to, __u32 bytes)
{
	if (offset > (size_t)(context->end - context->data) || bytes > (size_t)(context->end - context->data) - offset)
		return -1;
	memcpy(to, context->data + offset, bytes);
	return 0;
}

/* As the programs do it. */
static UNALIGNED __u32 run_frame(void *data, void *data_end, __u32 bytes, __u32 segments)
{
	struct context context = { data, data_end };
	struct hop_counters *other;
	__u32 action = hop_frame(&context, data, data_end, &other);

	if (other)
		count_other(other, bytes, segments);
	return action;
}

static void ready(void)
{
	memset(&maps, 0, sizeof(maps));
	maps.control.run_tag = TEST_RUN_TAG;
	maps.control.stream = TEST_STREAM;
	maps.control.stream_count = 1;
	maps.control.sink = 1;
	maps.control.ledger_base = LEDGER_FIRST_BASE;
}

/* A frame that left at origin_ns and was last stamped last_ns later is seen at now_ns. */
static UNALIGNED void see(uint64_t origin_ns, uint32_t last_ns, uint64_t now_ns, struct built_frame *frame)
{
	struct test_frame_spec spec = { .ip_version = 6, .flags = 1, .origin_ns = origin_ns, .last_ns = last_ns };

	ready();
	clock_ns = now_ns;
	test_frame_build(&spec, frame);
	assert_int_equal(run_frame(frame->bytes, frame->bytes + frame->length, frame->length, 1), HOPCAP_HOP_PASS);
	assert_int_equal(maps.counters.test_frames, 1);
	assert_int_equal(maps.seen.first_ns, now_ns);
	assert_int_equal(maps.seen.last_ns, now_ns);
	assert_true(test_frame_udp_checksum_right(frame, frame->bytes));
}

static uint32_t last_field(const struct built_frame *frame)
{
	return (uint32_t)test_get_be(frame->bytes + frame->header_offset + 14, 4);
}

static void ages_to_the_nanosecond(void **state)
{
	/* A clock just started, one that is about to pass 48 bits, has passed them, is far beyond. */
	static const uint64_t clocks_ns[] = { 1,
					      LIMIT_NS - 1,
					      LIMIT_NS,
					      ORIGIN_MASK - 5,
					      ORIGIN_MASK,
					      ORIGIN_MASK + 1,
					      ORIGIN_MASK + 7,
					      ORIGIN_MASK + LIMIT_NS,
					      5 * ORIGIN_MASK,
					      UINT64_MAX };
	static const struct {
		uint64_t age_ns;
		uint32_t last_ns;
		int right;
	} rows[] = {
		{ 0, 0, 1 },
		{ 1, 0, 1 },
		{ 63, 63, 1 },
		{ 63, 64, 0 },
		{ 1000, 999, 1 },
		{ 1000, 1000, 1 },
		{ 1000, 1001, 0 },
		{ 0, 1, 0 },
		{ LIMIT_NS - 1, 0, 1 },
		{ LIMIT_NS - 1, UINT32_MAX, 1 },
		{ LIMIT_NS - 2, UINT32_MAX, 0 },
		{ LIMIT_NS, 0, 0 },
		{ LIMIT_NS, UINT32_MAX, 0 },
		{ LIMIT_NS + 1, 0, 0 },
		{ ORIGIN_MASK, 0, 0 }, /* a nanosecond in the future */
		{ ORIGIN_MASK - LIMIT_NS, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(clocks_ns) / sizeof(clocks_ns[0]); i++) {
		for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
			uint32_t age_ns = (uint32_t)rows[k].age_ns, last_ns = rows[k].last_ns;
			struct built_frame frame;

			see((clocks_ns[i] - rows[k].age_ns) & ORIGIN_MASK, last_ns, clocks_ns[i], &frame);
			assert_int_equal(maps.counters.stamped, rows[k].right);
			assert_int_equal(maps.counters.stamp_errors, !rows[k].right);
			assert_int_equal(last_field(&frame), rows[k].right ? age_ns : last_ns);
			if (!rows[k].right)
				continue;
			assert_int_equal(maps.histograms.hop_ns[hopcap_histogram_bucket(age_ns - last_ns)], 1);
			assert_int_equal(maps.histograms.path_ns[hopcap_histogram_bucket(age_ns)], 1);
		}
	}
}

/* Old and new stamps at the edges of 16 and 32 bits against every checksum there is: all carries of both folds. */
static void checksum_holds_for_every_carry(void **state)
{
	static const uint32_t stamps[] = { 0,	       1,	   0xffff,     0x10000,	  0x1ffff,
					   0xfffe0001, 0xffff0000, 0xfffffffe, 0xffffffff };

	(void)state;
	for (uint32_t pair = 0; pair < 81; pair++) {
		uint32_t before = stamps[pair % 9], after = stamps[pair / 9];

		for (uint32_t check = 1; check <= 0xffff; check++) {
			struct udphdr udp = { .check = bpf_htons((__u16)check) };
			uint64_t sum = check + (before >> 16) + (before & 0xffff);
			uint32_t expected;

			/* One's complement arithmetic is arithmetic modulo 0xffff: data that summed to -check - before
			 * sum with `after` instead to a checksum of check + before - after. 0 is written as 0xffff. */
			sum += 2 * 0xffff - (after >> 16) - (after & 0xffff);
			expected = sum % 0xffff ? sum % 0xffff : 0xffff;
			update_checksum(&udp, bpf_htonl(before), bpf_htonl(after));
			assert_int_equal(bpf_ntohs(udp.check), expected);
		}
	}
}

/* Frames in memory of just their own size. */
static UNALIGNED void nothing_beyond_the_end_is_touched(void **state)
{
	static const struct test_frame_spec kinds[] = {
		{ .ip_version = 4, .flags = 1 },
		{ .ip_version = 6, .flags = 1 },
		{ .ip_version = 4, .flags = 1, .tags = { 0x8100 } },
		{ .ip_version = 6, .flags = 1, .tags = { 0x88a8, 0x8100 } },
		{ .ip_version = 6, .flags = 1, .tags = { 0x88a8, 0x8100, 0x8100 } },
		{ .ip_version = 6, .flags = 1, .ipv6_extended = 1 },
		{ .ip_version = 4, .flags = 1, .ipv4_option_bytes = 40 },
	};

	(void)state;
	for (size_t kind = 0; kind < sizeof(kinds) / sizeof(kinds[0]); kind++) {
		struct built_frame frame;

		test_frame_build(&kinds[kind], &frame);
		for (unsigned int bytes = 0; bytes <= frame.length; bytes++) {
			int ours = bytes == frame.length && kind < 4;
			unsigned char *exact = malloc(bytes ? bytes : 1);

			assert_non_null(exact);
			memcpy(exact, frame.bytes, bytes);
			ready();
			maps.control.action = HOPCAP_HOP_DROP;
			clock_ns = 1000;
			assert_int_equal(run_frame(exact, exact + bytes, bytes, 1),
					 ours ? HOPCAP_HOP_DROP : HOPCAP_HOP_PASS);
			assert_int_equal(maps.counters.test_frames, ours);
			assert_int_equal(maps.counters.other_frames, !ours);
			if (!ours)
				assert_memory_equal(exact, frame.bytes, bytes);
			free(exact);
		}
	}
}

/* The kernel never takes an element away, but the verifier wants it thought of: frames then pass. */
static UNALIGNED void missing_maps_let_frames_pass(void **state)
{
	const void *const all[] = { &hop_control,    &hop_counters, &hop_seen, &hop_histograms,
				    &hop_sink, &hop_tracks, &hop_ledger };

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		const struct test_frame_spec spec = { .ip_version = 4, .flags = 1 };
		struct built_frame frame;

		ready();
		maps.missing = all[i];
		clock_ns = 1000;
		test_frame_build(&spec, &frame);
		assert_int_equal(run_frame(frame.bytes, frame.bytes + frame.length, 60, 1), HOPCAP_HOP_PASS);
		assert_int_equal(maps.counters.test_frames, i > 1);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(ages_to_the_nanosecond),
		cmocka_unit_test(checksum_holds_for_every_carry),
		cmocka_unit_test(nothing_beyond_the_end_is_touched),
		cmocka_unit_test(missing_maps_let_frames_pass),
	};

	return cmocka_run_group_tests_name("hop arithmetic", tests, NULL, NULL);
}
