// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The contracts of include/ in plain numbers: bytes on the wire, bytes in maps, histogram buckets.
 *
 * Two kernels and two compilers rely on them. Nothing here is computed from what it checks: whoever moves a field must
 * change the number here as well, and so decides that frames and maps of older builds are no longer understood.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "histogram_layout.h"
#include "map_hop.h"
#include "map_source.h"
#include "wire_test_frame.h"

#define expect_field(type, field, offset, size)                     \
	do {                                                        \
		assert_int_equal(offsetof(type, field), offset);    \
		assert_int_equal(sizeof(((type *)0)->field), size); \
	} while (0)

static void test_header(void **state)
{
	(void)state;
	assert_int_equal(HOPCAP_OFFSET_RUN_TAG, 0);
	assert_int_equal(HOPCAP_OFFSET_FLAGS, 2);
	assert_int_equal(HOPCAP_OFFSET_STREAM, 3);
	assert_int_equal(HOPCAP_OFFSET_SEQUENCE, 4);
	assert_int_equal(HOPCAP_OFFSET_ORIGIN_HIGH16, 8);
	assert_int_equal(HOPCAP_OFFSET_ORIGIN_LOW32, 10);
	assert_int_equal(HOPCAP_OFFSET_LAST, 14);
	assert_int_equal(HOPCAP_TEST_HEADER_BYTES, 18);
	assert_int_equal(HOPCAP_FRAME_STAMP, 1);
	assert_int_equal(HOPCAP_FRAME_END, 2);
	assert_int_equal(HOPCAP_FRAME_REFLECTED, 4);
	assert_int_equal(HOPCAP_FRAME_FLAGS, 7);
	assert_int_equal(HOPCAP_MIN_FRAME_BYTES, 14 + 20 + 8 + 18);
	assert_int_equal(HOPCAP_UDP_PORT, 9);
}

static void hop_maps(void **state)
{
	(void)state;
	assert_int_equal(HOPCAP_HOP_PASS, 0);
	assert_int_equal(HOPCAP_HOP_DROP, 1);
	assert_int_equal(sizeof(struct hop_control), 128);
	expect_field(struct hop_control, action, 0, 4);
	expect_field(struct hop_control, run_tag, 4, 4);
	expect_field(struct hop_control, stream, 8, 1);
	expect_field(struct hop_control, stream_count, 9, 1);
	expect_field(struct hop_control, sink, 10, 1);
	expect_field(struct hop_control, verify, 11, 1);
	expect_field(struct hop_control, learn, 12, 1);
	expect_field(struct hop_control, begun_streams, 13, 1);
	expect_field(struct hop_control, begun_tag, 14, 2);
	expect_field(struct hop_control, ledger_base, 16, 8);
	expect_field(struct hop_control, high, 64, 64);

	assert_int_equal(sizeof(struct hop_counters), 696);
	expect_field(struct hop_counters, test_frames, 0, 8);
	expect_field(struct hop_counters, test_bytes, 8, 8);
	expect_field(struct hop_counters, other_frames, 16, 8);
	expect_field(struct hop_counters, other_bytes, 24, 8);
	expect_field(struct hop_counters, other_segments, 32, 8);
	expect_field(struct hop_counters, stamped, 40, 8);
	expect_field(struct hop_counters, stamp_errors, 48, 8);
	expect_field(struct hop_counters, other_sizes, 56, 64);
	expect_field(struct hop_counters, queue_frames, 120, 512);
	expect_field(struct hop_counters, beyond_frames, 632, 64);

	assert_int_equal(sizeof(struct hop_seen), 16);
	expect_field(struct hop_seen, first_ns, 0, 8);
	expect_field(struct hop_seen, last_ns, 8, 8);

	assert_int_equal(sizeof(struct hop_histograms), 14336);
	expect_field(struct hop_histograms, hop_ns, 0, 7168);
	expect_field(struct hop_histograms, path_ns, 7168, 7168);

	assert_int_equal(sizeof(struct hop_sink), 7200);
	expect_field(struct hop_sink, gap_ns, 0, 7168);
	expect_field(struct hop_sink, jitter_sum_ns, 7168, 8);
	expect_field(struct hop_sink, jitter_count, 7176, 8);
	expect_field(struct hop_sink, latency_ns, 7184, 8);
}

static void ledger_words(void **state)
{
	(void)state;
	assert_int_equal(LEDGER_MAX_STREAMS, 8);
	assert_int_equal(LEDGER_WORDS, 1 << 17);
	assert_int_equal(LEDGER_WINDOW, 1 << 22);
	assert_int_equal(LEDGER_WORDS * sizeof(ledger_u64), 1 << 20);
	assert_int_equal(sizeof(struct ledger_track), 376);
	expect_field(struct ledger_track, next, 0, 8);
	expect_field(struct ledger_track, frames, 8, 8);
	expect_field(struct ledger_track, pending_word, 16, 8);
	expect_field(struct ledger_track, pending_bits, 24, 8);
	expect_field(struct ledger_track, sound, 32, 32);
	expect_field(struct ledger_track, duplicates, 64, 8);
	expect_field(struct ledger_track, reordered, 72, 8);
	expect_field(struct ledger_track, late, 80, 8);
	expect_field(struct ledger_track, corrupted, 88, 8);
	expect_field(struct ledger_track, suspect, 96, 8);
	expect_field(struct ledger_track, announced, 104, 8);
	expect_field(struct ledger_track, extent, 112, 256);
	expect_field(struct ledger_track, lowest, 368, 8);
}

static void size_bounds(void **state)
{
	static const uint32_t bounds[] = HOPCAP_SIZE_BOUNDS;
	static const uint32_t expected[] = { 60, 123, 251, 507, 1019, 1514, 9014, 0xffffffff };

	(void)state;
	assert_int_equal(HOPCAP_SIZE_BUCKETS, 8);
	assert_int_equal(sizeof(bounds), sizeof(expected));
	assert_memory_equal(bounds, expected, sizeof(expected));
}

static void source_maps(void **state)
{
	(void)state;
	assert_int_equal(HOPCAP_PACE_SHIFT, 20);
	assert_int_equal(HOPCAP_TEMPLATE_BYTES, 96);
	/* two tags, IPv6, UDP, test header: the longest headers */
	assert_true(HOPCAP_TEMPLATE_BYTES >= 14 + 2 * 4 + 40 + 8 + HOPCAP_TEST_HEADER_BYTES);
	assert_int_equal(HOPCAP_SOURCE_TEMPLATES, 64);
	assert_int_equal(sizeof(struct source_template), 112);
	expect_field(struct source_template, bytes, 0, 96);
	expect_field(struct source_template, frame_bytes, 96, 4);
	expect_field(struct source_template, header_offset, 100, 4);
	expect_field(struct source_template, checksum_base, 104, 4);
	expect_field(struct source_template, source_port, 108, 4);

	assert_int_equal(sizeof(struct source_control), 64 + 64 * 112);
	expect_field(struct source_control, interval_fp, 0, 8);
	expect_field(struct source_control, frames, 8, 8);
	expect_field(struct source_control, ramp_ns, 16, 8);
	expect_field(struct source_control, ifindex, 24, 4);
	expect_field(struct source_control, stamp_mask, 28, 4);
	expect_field(struct source_control, slip_ns, 32, 4);
	expect_field(struct source_control, burst, 36, 4);
	expect_field(struct source_control, template_count, 40, 4);
	expect_field(struct source_control, flows, 44, 4);
	expect_field(struct source_control, catch_up, 48, 4);
	expect_field(struct source_control, smooth_ns, 52, 4);
	expect_field(struct source_control, trigger_mark, 56, 4);
	expect_field(struct source_control, templates, 64, 64 * 112);

	assert_int_equal(sizeof(struct source_state), 128);
	expect_field(struct source_state, sent, 0, 8);
	expect_field(struct source_state, next_fp, 8, 8);
	expect_field(struct source_state, first_ns, 16, 8);
	expect_field(struct source_state, last_ns, 24, 8);
	expect_field(struct source_state, late_sum_ns, 32, 8);
	expect_field(struct source_state, late_max_ns, 40, 8);
	expect_field(struct source_state, slips, 48, 8);
	expect_field(struct source_state, slipped_ns, 56, 8);
	expect_field(struct source_state, refused, 64, 8);
	expect_field(struct source_state, start_fp, 72, 8);
	expect_field(struct source_state, debt_fp, 80, 8);
	expect_field(struct source_state, burst_position, 88, 4);
	expect_field(struct source_state, ramped, 92, 4);
	expect_field(struct source_state, template_next, 96, 4);
	expect_field(struct source_state, flow_next, 100, 4);
	expect_field(struct source_state, gone, 104, 4);
	expect_field(struct source_state, next_event, 112, 8);
	expect_field(struct source_state, behind_sum_ns, 120, 8);
}

/* Every edge of every octave, against the sum of widths. */
static void histogram_buckets(void **state)
{
	uint64_t low = 64, width = 2;

	(void)state;
	assert_int_equal(HOPCAP_HISTOGRAM_EXACT, 64);
	assert_int_equal(HOPCAP_HISTOGRAM_BUCKETS, 896);
	for (unsigned int value = 0; value < 64; value++)
		assert_int_equal(hopcap_histogram_bucket(value), value);
	for (unsigned int bucket = 64; bucket < 896; bucket++) {
		assert_int_equal(hopcap_histogram_bucket((unsigned int)low), bucket);
		assert_int_equal(hopcap_histogram_bucket((unsigned int)(low + width / 2)), bucket);
		assert_int_equal(hopcap_histogram_bucket((unsigned int)(low + width - 1)), bucket);
		low += width;
		if (!(low & (low - 1)))
			width *= 2;
	}
	assert_true(low == 1ULL << 32);
	assert_int_equal(hopcap_histogram_bucket(0xffffffff), 895);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_header), cmocka_unit_test(hop_maps),	    cmocka_unit_test(ledger_words),
		cmocka_unit_test(size_bounds),
		cmocka_unit_test(source_maps), cmocka_unit_test(histogram_buckets),
	};

	return cmocka_run_group_tests_name("contracts of include/", tests, NULL, NULL);
}
