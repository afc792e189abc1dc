// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The pacing of the live-frame generator compiled for this process: lateness to the nanosecond, with any clock.
 *
 * Needs no privilege. That the program in the kernel does the same is the matter of test_source_pacing.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <linux/types.h>
/* libbpf names all helpers of the kernel as static variables. */
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#include "../../bpf/source_xdp.bpf.c"

#define PLAN(ns) ((uint64_t)(ns) << HOPCAP_PACE_SHIFT)
#define HOUR_NS 3600000000000ULL

/* From just after boot over the 4.9 hours after which 2^44 ns are used up, and their multiples, to years. */
static const uint64_t clocks_ns[] = {
	1000000, HOUR_NS, (1ULL << 44) - 500, 1ULL << 44, (1ULL << 44) + 500, 6 * HOUR_NS, 3ULL << 44, 1ULL << 60,
};

#define CLOCKS (sizeof(clocks_ns) / sizeof(clocks_ns[0]))

static void due_to_the_nanosecond(void **state)
{
	const struct source_control control = { .interval_fp = PLAN(100) + 1, .slip_ns = 1000 };

	(void)state;
	for (size_t i = 0; i < CLOCKS; i++) {
		/* Late by -1.5…1002.5 ns. */
		for (int64_t late_ns = -2; late_ns <= 1002; late_ns++) {
			uint64_t planned_fp = PLAN(clocks_ns[i] - (uint64_t)late_ns) - PLAN(1) / 2;
			struct source_state plan = { .next_fp = planned_fp };
			int due = departure_due(&control, &plan, clocks_ns[i]), slip = late_ns > 1000;

			assert_int_equal(due, late_ns >= 0);
			if (!due) {
				assert_int_equal(plan.next_fp, planned_fp);
				assert_int_equal(plan.late_sum_ns | plan.late_max_ns | plan.slips, 0);
				continue;
			}
			assert_int_equal(plan.late_sum_ns, late_ns);
			assert_int_equal(plan.late_max_ns, late_ns);
			assert_int_equal(plan.slips, slip);
			assert_int_equal(plan.slipped_ns, slip ? late_ns : 0);
			assert_int_equal(plan.next_fp,
					 (slip ? PLAN(clocks_ns[i]) - PLAN(1) / 2 : planned_fp) + control.interval_fp);
		}
	}
}

static void part_of_a_nanosecond_is_waited_for(void **state)
{
	const struct source_control control = { .interval_fp = PLAN(100), .slip_ns = 1000 };
	struct source_state plan = { .next_fp = PLAN(5000) + 1 };

	(void)state;
	assert_int_equal(departure_due(&control, &plan, 5000), 0);
	assert_int_equal(departure_due(&control, &plan, 5001), 1);
	assert_int_equal(plan.late_sum_ns, 0);
	assert_int_equal(plan.next_fp, PLAN(5100) + 1);
}

/* A clock that ticks on by a nanosecond a call: departures are those of the plan, over any moment of wrapping. */
static void every_departure_is_in_time(void **state)
{
	const struct source_control control = { .interval_fp = PLAN(3) + 349525, .slip_ns = 1000 }; /* 3⅓ ns */

	(void)state;
	for (size_t i = 0; i < CLOCKS; i++) {
		struct source_state plan = { 0 };
		uint64_t departed = 0, start_ns = clocks_ns[i] - 1500;

		for (uint64_t ns = 0; ns < 3000; ns++) {
			departed += (uint64_t)departure_due(&control, &plan, start_ns + ns);
			assert_int_equal(departed, PLAN(ns) / control.interval_fp + 1);
		}
		assert_int_equal(plan.next_fp, PLAN(start_ns) + departed * control.interval_fp);
		assert_int_equal(plan.late_max_ns, 0);
		assert_int_equal(plan.slips, 0);
	}
}

/* Frames of a burst are due together, and only its first one can slip. */
static void bursts(void **state)
{
	const struct source_control control = { .interval_fp = PLAN(10000), .slip_ns = 1000, .burst = 10 };

	(void)state;
	for (size_t i = 0; i < CLOCKS; i++) {
		struct source_state plan = { 0 };
		uint64_t now = clocks_ns[i];

		for (unsigned int frame = 0; frame < 10; frame++, now += 700)
			assert_int_equal(departure_due(&control, &plan, now), 1);
		assert_int_equal(plan.late_max_ns, 9 * 700);
		assert_int_equal(plan.slips, 0);
		assert_int_equal(departure_due(&control, &plan, clocks_ns[i] + 9999), 0);
		assert_int_equal(departure_due(&control, &plan, clocks_ns[i] + 11001), 1);
		assert_int_equal(plan.slips, 1);
		assert_int_equal(plan.slipped_ns, 1001);
	}
}

/* A small hole moves the plan as long as little is owed; behind is what a plan that never moved would say. */
static void small_holes_are_smoothed(void **state)
{
	const struct source_control control = {
		.interval_fp = PLAN(1000), .slip_ns = 50000, .smooth_ns = 2000, .catch_up = 1
	};

	(void)state;
	for (size_t i = 0; i < CLOCKS; i++) {
		const uint64_t start_ns = clocks_ns[i] - 7; /* a plan of 0 is one that has not started */
		struct source_state plan = { .next_fp = PLAN(start_ns) };
		uint64_t now = start_ns + 2000;

		assert_int_equal(departure_due(&control, &plan, now), 1); /* planned for 0 */
		assert_int_equal(plan.slips, 0);
		assert_int_equal(plan.behind_sum_ns, 2000);
		now = start_ns + 1000 + 2001;
		assert_int_equal(departure_due(&control, &plan, now), 1); /* planned for 1000 */
		assert_int_equal(plan.slips, 1);
		assert_int_equal(plan.behind_sum_ns, 2000 + 2001);
		assert_int_equal(plan.debt_fp, PLAN(2001) - PLAN(125));
		assert_int_equal(plan.next_fp, PLAN(now) + PLAN(1000 - 125));
		assert_int_equal(departure_due(&control, &plan, now + 875), 1);
		assert_int_equal(plan.behind_sum_ns, 2000 + 2001 + 2001 - 125);
		assert_int_equal(plan.late_sum_ns, 2000 + 2001);
		/* Much is owed: what is less than slip_ns is caught up at once, as without smoothing. */
		plan = (struct source_state){ .next_fp = PLAN(start_ns), .debt_fp = SMOOTH_DEBT_FP + 1 };
		assert_int_equal(departure_due(&control, &plan, start_ns + 50000), 1);
		assert_int_equal(plan.slips, 0);
		assert_int_equal(departure_due(&control, &plan, start_ns + 51001), 1);
		assert_int_equal(plan.slips, 1);
	}
}

/* From a tenth to the full rate in 100 ms at 1 Mpps: r(t/10 + 9/20 * t * t/T) frames after t; then exactly the
 * interval. */
static void ramp(void **state)
{
	const struct source_control control = { .interval_fp = PLAN(1000), .slip_ns = 100000, .ramp_ns = 100000000 };

	(void)state;
	for (size_t i = 0; i < CLOCKS; i++) {
		struct source_state plan = { 0 };
		uint64_t departed = 0, before_fp;

		for (uint64_t past = 0; past <= 110000000; past += 500) {
			double t = (double)past,
			       planned = t > 1e8 ? 55000 + (t - 1e8) / 1e3 : t / 1e4 + 0.45 * t * t / 1e11;

			while (departure_due(&control, &plan, clocks_ns[i] + past))
				departed++;
			assert_true((double)departed > planned - 30 && (double)departed < planned + 5);
		}
		assert_int_equal(plan.slips, 0);
		assert_int_equal(plan.ramped, 1);
		before_fp = plan.next_fp;
		assert_int_equal(departure_due(&control, &plan, clocks_ns[i] + 110001000), 1);
		assert_int_equal(plan.next_fp, before_fp + PLAN(1000));
	}
}

/* Every frame is in the histogram, in the bucket of its lateness; what does not fit 32 bits in the last one. */
static void lateness_is_recorded(void **state)
{
	static const uint64_t late_ns[] = { 0, 1, 63, 64, 1000, 49999, 4294967295, 4294967296, 8000000000 };
	const struct source_control control = { .interval_fp = PLAN(1), .slip_ns = UINT32_MAX };

	(void)state;
	for (size_t i = 0; i < sizeof(late_ns) / sizeof(late_ns[0]); i++) {
		struct source_state plan = { .next_fp = PLAN(10000000000) };
		uint64_t value = late_ns[i] < 0xffffffff ? late_ns[i] : 0xffffffff, count = 0;

		memset(source_lateness, 0, sizeof(source_lateness));
		assert_int_equal(departure_due(&control, &plan, 10000000000 + late_ns[i]), 1);
		assert_int_equal(source_lateness[hopcap_histogram_bucket((unsigned int)value)], 1);
		for (unsigned int bucket = 0; bucket < HOPCAP_HISTOGRAM_BUCKETS; bucket++)
			count += source_lateness[bucket];
		assert_int_equal(count, 1);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(due_to_the_nanosecond),
		cmocka_unit_test(part_of_a_nanosecond_is_waited_for),
		cmocka_unit_test(every_departure_is_in_time),
		cmocka_unit_test(bursts),
		cmocka_unit_test(small_holes_are_smoothed),
		cmocka_unit_test(ramp),
		cmocka_unit_test(lateness_is_recorded),
	};

	return cmocka_run_group_tests_name("source arithmetic", tests, NULL, NULL);
}
