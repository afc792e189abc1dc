// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * When the live-frame generator lets a frame depart.
 *
 * The program reads the clock itself; the plan is set relative to now. Instants of the plan are kept modulo 2^64 units
 * of 2^-20 ns (4.9 hours), so sums and differences are taken in uint64_t throughout.
 */
#include "source_under_test.h"

#include <string.h>
#include <time.h>

#include <linux/bpf.h>

#define SECOND_NS 1000000000ULL
#define CLOCK_SLACK_NS 1000
#define PLAN(ns) ((uint64_t)(ns) << HOPCAP_PACE_SHIFT)

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

/* A plan of one frame per interval, that never slips unless a test says so. */
static void ready_to_pace(uint64_t interval_fp, struct built_frame *frame)
{
	source_ready(frame);
	live_control->interval_fp = interval_fp;
	live_control->slip_ns = UINT32_MAX;
}

static void first_frame_departs_at_once(void **state)
{
	struct source_result result;
	struct built_frame frame;

	(void)state;
	ready_to_pace(PLAN(SECOND_NS), &frame);
	source_run_plain(frame.bytes, frame.length, 1, &result);
	assert_int_equal(result.verdict, XDP_REDIRECT);
	assert_in_range(live_state->first_ns, result.before_ns - CLOCK_SLACK_NS, result.after_ns + CLOCK_SLACK_NS);
	assert_int_equal(live_state->next_fp, PLAN(live_state->first_ns + SECOND_NS));
	assert_int_equal(live_state->late_sum_ns, 0);
	assert_int_equal(live_state->slips, 0);
}

static void not_due_is_dropped(void **state)
{
	/* From half a minute to two hours ahead: more than a test can be held up, less than the plan can say. */
	static const uint64_t ahead_ns[] = { 30 * SECOND_NS, 3600 * SECOND_NS, 7200 * SECOND_NS };

	(void)state;
	for (size_t i = 0; i < sizeof(ahead_ns) / sizeof(ahead_ns[0]); i++) {
		struct source_state before;
		struct source_result result;
		struct built_frame frame;

		ready_to_pace(PLAN(1000), &frame);
		live_state->sent = 7;
		live_state->next_fp = PLAN(now_ns() + ahead_ns[i]);
		before = *live_state;
		memset(frame.bytes, 0x11, frame.length);
		source_run_plain(frame.bytes, frame.length, 3, &result);
		assert_int_equal(result.verdict, XDP_DROP);
		assert_memory_equal(result.frame, frame.bytes, frame.length);
		assert_memory_equal(live_state, &before, sizeof(before));
	}
}

/* Late by about so much: departs, and the plan moves on by the interval alone. */
static void due_departs(void **state)
{
	static const uint64_t late_ns[] = { 0, 1, 1000, 1000000, SECOND_NS };

	(void)state;
	for (size_t i = 0; i < sizeof(late_ns) / sizeof(late_ns[0]); i++) {
		struct source_result result;
		struct built_frame frame;
		uint64_t planned_ns;

		ready_to_pace(PLAN(777) + 123456, &frame);
		planned_ns = now_ns() - late_ns[i] - 2 * CLOCK_SLACK_NS;
		live_state->next_fp = PLAN(planned_ns) + 654321;
		source_run_plain(frame.bytes, frame.length, 1, &result);
		assert_int_equal(result.verdict, XDP_REDIRECT);
		assert_int_equal(live_state->sent, 1);
		assert_int_equal(live_state->next_fp, PLAN(planned_ns + 777) + 654321 + 123456);
		/* the plan's part of a nanosecond may make it one less */
		assert_in_range(live_state->late_sum_ns, result.before_ns - CLOCK_SLACK_NS - planned_ns - 1,
				result.after_ns + CLOCK_SLACK_NS - planned_ns);
		assert_int_equal(live_state->late_max_ns, live_state->late_sum_ns);
		assert_int_equal(live_state->slips | live_state->slipped_ns, 0);
	}
}

/* An interval that is no whole number of nanoseconds adds up exactly: nothing is rounded per frame. */
static void plan_does_not_drift(void **state)
{
	static const uint64_t intervals_fp[] = { 1, 349525, PLAN(333) + 349525, PLAN(67) + 214748, PLAN(1000) };
	const uint32_t frames = 50000;

	(void)state;
	for (size_t i = 0; i < sizeof(intervals_fp) / sizeof(intervals_fp[0]); i++) {
		struct source_result result;
		struct built_frame frame;
		uint64_t start_fp;

		ready_to_pace(intervals_fp[i], &frame);
		start_fp = PLAN(now_ns() - SECOND_NS) + 17; /* 50000 intervals behind: every run departs */
		live_state->next_fp = start_fp;
		source_run_plain(frame.bytes, frame.length, frames, &result);
		assert_int_equal(live_state->sent, frames);
		assert_int_equal(live_state->next_fp, start_fp + frames * intervals_fp[i]);
		assert_int_equal(live_state->slips, 0);
		assert_true(live_state->late_max_ns >= SECOND_NS - SECOND_NS / 10);
	}
}

/* How many departures the plan has up to an instant; the first one always was. */
static uint64_t departures(uint64_t until_ns, uint64_t interval_fp)
{
	if (until_ns < live_state->first_ns)
		return 1;
	return PLAN(until_ns - live_state->first_ns) / interval_fp + 1;
}

/* In real time: when the program says "not due", exactly the frames that were due by then have departed. */
static void rate_is_kept(void **state)
{
	static const uint64_t intervals_fp[] = { PLAN(20000) + 333333, PLAN(5000), PLAN(1234567) };

	(void)state;
	for (size_t i = 0; i < sizeof(intervals_fp) / sizeof(intervals_fp[0]); i++) {
		struct source_result result;
		struct built_frame frame;
		uint64_t end_ns = now_ns() + 30000000, low, high;

		ready_to_pace(intervals_fp[i], &frame);
		do {
			/* the verdict is that of the last run */
			source_run_plain(frame.bytes, frame.length, 10000, &result);
			assert_true(now_ns() < end_ns + 20 * SECOND_NS);
		} while (result.verdict != XDP_DROP || now_ns() < end_ns);
		low = departures(result.before_ns - CLOCK_SLACK_NS, intervals_fp[i]);
		high = departures(result.after_ns + CLOCK_SLACK_NS, intervals_fp[i]);
		assert_in_range(live_state->sent, low, high);
		assert_int_equal(live_state->next_fp, PLAN(live_state->first_ns) + live_state->sent * intervals_fp[i]);
	}
}

/* Held up for longer than slip_ns: one frame departs, the rest of the gap is given up and counted. */
static void slip_moves_the_plan(void **state)
{
	const uint64_t interval_fp = PLAN(60 * SECOND_NS) + 4321;
	struct source_result result;
	struct built_frame frame;
	uint64_t planned_ns;

	(void)state;
	ready_to_pace(interval_fp, &frame);
	live_control->slip_ns = 50000;
	planned_ns = now_ns() - 2 * SECOND_NS;
	live_state->next_fp = PLAN(planned_ns) + 99;
	source_run_plain(frame.bytes, frame.length, 1, &result);
	assert_int_equal(result.verdict, XDP_REDIRECT);
	assert_int_equal(live_state->slips, 1);
	assert_in_range(live_state->slipped_ns, result.before_ns - CLOCK_SLACK_NS - planned_ns - 1,
			result.after_ns + CLOCK_SLACK_NS - planned_ns);
	assert_int_equal(live_state->next_fp, PLAN(planned_ns + live_state->slipped_ns) + 99 + interval_fp);
	assert_int_equal(live_state->late_sum_ns, live_state->slipped_ns);
	assert_int_equal(live_state->late_max_ns, live_state->slipped_ns);
	source_run_plain(frame.bytes, frame.length, 100, &result); /* the next departure is a minute away */
	assert_int_equal(result.verdict, XDP_DROP);
	assert_int_equal(live_state->sent, 1);
	assert_int_equal(live_state->slips, 1);
}

/* With catch_up an eighth of each interval is given back, until nothing is owed. */
static void lost_time_is_made_up_for(void **state)
{
	const uint64_t interval_fp = PLAN(1000);
	struct source_result result;
	struct built_frame frame;
	uint64_t debt_fp, next_fp;

	(void)state;
	ready_to_pace(interval_fp, &frame);
	live_control->slip_ns = 50000;
	live_control->catch_up = 1;
	live_state->next_fp = PLAN(now_ns() - SECOND_NS);
	source_run_plain(frame.bytes, frame.length, 1, &result);
	assert_int_equal(live_state->slips, 1);
	debt_fp = PLAN(live_state->slipped_ns) - interval_fp / 8;
	assert_int_equal(live_state->debt_fp, debt_fp);
	live_control->slip_ns = UINT32_MAX;
	next_fp = live_state->next_fp;
	source_run_plain(frame.bytes, frame.length, 1, &result);
	assert_int_equal(live_state->next_fp, next_fp + interval_fp - interval_fp / 8);
	assert_int_equal(live_state->debt_fp, debt_fp - interval_fp / 8);
	live_state->debt_fp = 77;
	next_fp = live_state->next_fp;
	source_run_plain(frame.bytes, frame.length, 2, &result);
	assert_int_equal(live_state->next_fp, next_fp + 2 * interval_fp - 77);
	assert_int_equal(live_state->debt_fp, 0);
}

/* Less late than slip_ns: caught up frame by frame, with no slip. */
static void small_gap_is_caught_up(void **state)
{
	struct source_result result;
	struct built_frame frame;

	(void)state;
	ready_to_pace(PLAN(SECOND_NS / 2), &frame);
	live_state->next_fp = PLAN(now_ns() - SECOND_NS / 2 * 3);
	source_run_plain(frame.bytes, frame.length, 3, &result);
	assert_int_equal(result.verdict, XDP_REDIRECT);
	assert_int_equal(live_state->sent, 3);
	assert_int_equal(live_state->slips, 0);
}

/*
 * A clock that counts from boot has used up the 2^44 ns of a plan after 4.9 hours; from then on only differences can be
 * right. Planned 1.2 hours ago, modulo that, must be late, and 1.2 hours ahead not due, whatever the clock says.
 */
static void plan_wraps_with_the_clock(void **state)
{
	const uint64_t far_ns = 1ULL << 42;
	struct source_result result;
	struct built_frame frame;

	(void)state;
	ready_to_pace(PLAN(SECOND_NS), &frame);
	live_state->next_fp = PLAN(now_ns() - far_ns);
	source_run_plain(frame.bytes, frame.length, 1, &result);
	assert_int_equal(result.verdict, XDP_REDIRECT);
	assert_int_equal(live_state->slips, 1);
	assert_in_range(live_state->slipped_ns, far_ns - CLOCK_SLACK_NS, far_ns + 60 * SECOND_NS);
	ready_to_pace(PLAN(SECOND_NS), &frame);
	live_state->next_fp = PLAN(now_ns() + far_ns);
	source_run_plain(frame.bytes, frame.length, 1, &result);
	assert_int_equal(result.verdict, XDP_DROP);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_frame_departs_at_once),
		cmocka_unit_test(not_due_is_dropped),
		cmocka_unit_test(due_departs),
		cmocka_unit_test(plan_does_not_drift),
		cmocka_unit_test(rate_is_kept),
		cmocka_unit_test(slip_moves_the_plan),
		cmocka_unit_test(lost_time_is_made_up_for),
		cmocka_unit_test(small_gap_is_caught_up),
		cmocka_unit_test(plan_wraps_with_the_clock),
	};

	return cmocka_run_group_tests_name("source_xdp pacing", tests, source_load, source_unload);
}
