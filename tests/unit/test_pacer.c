// SPDX-License-Identifier: GPL-2.0-or-later
/* The plan of departures in user space: rate, bursts, ramp, replay, slips, and what is accounted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "port/pacer.h"

/* After 300 days of uptime, where a double of nanoseconds since boot is 4 ns coarse. */
#define LONG_UP_NS 26000000000000000ull

static struct port_sent sent;
static struct pacer pacer;

static void start(struct port_stream stream)
{
	memset(&sent, 0, sizeof(sent));
	pacer_start(&pacer, &stream);
}

/* 14.88 Mpps for a second, looked at every 700 ns: as many frames as planned, never early, no drift. */
static void plan_does_not_drift(void **state)
{
	const double interval_ns = 1e9 / 14880952;
	uint64_t frames = 0;

	(void)state;
	start((struct port_stream){ .interval_ns = interval_ns });
	for (uint64_t past_ns = 0; past_ns < 1000000000; past_ns += 700) {
		frames += pacer_due(&pacer, LONG_UP_NS + past_ns, 64, &sent);
		assert_true((double)frames <= (double)past_ns / interval_ns + 1.001);
		assert_true((double)frames >= (double)past_ns / interval_ns - 0.001);
	}
	assert_int_equal(sent.slips, 0);
	assert_true(sent.late_max_ns <= 700);
	assert_int_equal(histogram_count(&sent.lateness_ns), frames);
	assert_int_equal(sent.first_ns, LONG_UP_NS);
	assert_int_equal(sent.last_ns, LONG_UP_NS + 999999700);
}

static void stall_moves_the_plan(void **state)
{
	(void)state;
	start((struct port_stream){ .interval_ns = 1000 });
	assert_int_equal(pacer_due(&pacer, 5000, 64, &sent), 1);
	/* 40 us late is caught up, 1 ms is not: one frame leaves, the next one an interval later. */
	assert_int_equal(pacer_due(&pacer, 45000, 64, &sent), 40);
	assert_int_equal(sent.slips, 0);
	assert_int_equal(pacer_due(&pacer, 1045000, 64, &sent), 1);
	assert_int_equal(sent.slips, 1);
	assert_int_equal(sent.slipped_ns, 999000);
	assert_int_equal(pacer_due(&pacer, 1045999, 64, &sent), 0);
	assert_int_equal(pacer_due(&pacer, 1046000, 64, &sent), 1);
	assert_int_equal(sent.late_max_ns, 999000);
	assert_int_equal(histogram_count(&sent.lateness_ns), 43);
}

static void no_interval_means_as_fast_as_it_goes(void **state)
{
	(void)state;
	start((struct port_stream){ .interval_ns = 0, .burst = 8, .ramp_s = 1 });
	assert_int_equal(pacer_due(&pacer, 1, 32, &sent), 32);
	assert_int_equal(pacer_due(&pacer, 1, 32, &sent), 32);
	assert_int_equal(sent.late_max_ns | sent.first_ns | sent.last_ns, 0);
	assert_int_equal(histogram_count(&sent.lateness_ns), 0);
}

static void bursts_keep_the_mean_rate(void **state)
{
	(void)state;
	start((struct port_stream){ .interval_ns = 1000, .burst = 10 });
	assert_int_equal(pacer_due(&pacer, 1000, 64, &sent), 10);
	assert_int_equal(pacer_due(&pacer, 10999, 64, &sent), 0);
	assert_int_equal(pacer_due(&pacer, 11000, 64, &sent), 10);
	assert_int_equal(pacer_due(&pacer, 31000, 64, &sent), 20);
	assert_int_equal(sent.late_max_ns, 10000);
	assert_int_equal(sent.slips, 0);
}

/* With catch_up a millisecond of stall is over after seven more, at 8/7 of the rate and never faster; then the plan is the old one. */
static void lost_time_is_made_up_for(void **state)
{
	uint64_t frames = 0, before = 0;

	(void)state;
	start((struct port_stream){ .interval_ns = 1000, .catch_up = 1 });
	for (uint64_t past_ns = 0; past_ns <= 20000000; past_ns += 700) {
		if (past_ns > 1000000 && past_ns < 2000000)
			continue; /* the stall */
		frames += pacer_due(&pacer, 5000 + past_ns, 64, &sent);
		assert_true(frames - before <= 2);
		before = frames;
		if (past_ns > 2000000 && past_ns < 8000000)
			assert_in_range(frames, (past_ns - 2000000) * 8 / 7 / 1000 + 999, (past_ns - 2000000) * 8 / 7 / 1000 + 1004);
	}
	assert_int_equal(sent.slips, 1);
	assert_in_range(frames, 20000, 20001);
	assert_true(pacer.debt_ns == 0);
	/* Behind the plan that never moved: some 999 us at first, 125 ns less with each of the 8000 frames to come. */
	assert_in_range(sent.behind_sum_ns, 3950000000, 4050000000);
	assert_true(sent.late_sum_ns < sent.behind_sum_ns / 100);
}

/* A burst that takes longer than a slip is no stall: its own frames hold it up. */
static void long_burst_is_no_slip(void **state)
{
	uint64_t now_ns = 1000, frames = 0;

	(void)state;
	start((struct port_stream){ .interval_ns = 1000, .burst = 1000 });
	for (; frames < 1000; now_ns += 6400)
		frames += pacer_due(&pacer, now_ns, 32, &sent);
	assert_int_equal(frames, 1000);
	assert_int_equal(sent.slips, 0);
	assert_int_equal(sent.late_max_ns, 31 * 6400);
	assert_int_equal(pacer_due(&pacer, 1000999, 32, &sent), 0);
	assert_int_equal(pacer_due(&pacer, 1001000, 32, &sent), 32);
	assert_int_equal(sent.slips, 0);
}

/* From a tenth to the full rate: after time t of T, r(t/10 + 9/20 * t * t/T) frames have left. */
static void ramp_is_linear(void **state)
{
	const double rate = 1e-3, ramp_ns = 1e8; /* 1 Mpps, 0.1 s */
	uint64_t frames = 0;

	(void)state;
	start((struct port_stream){ .interval_ns = 1000, .ramp_s = 0.1 });
	for (uint64_t past_ns = 0; past_ns <= 200000000; past_ns += 500) {
		double t = (double)past_ns, planned = rate * (t / 10 + 0.45 * t * t / ramp_ns);

		if (t > ramp_ns)
			planned = rate * (0.55 * ramp_ns + t - ramp_ns);
		frames += pacer_due(&pacer, 5000 + past_ns, 64, &sent);
		assert_true((double)frames > planned - 20 && (double)frames < planned + 3);
	}
	assert_int_equal(sent.slips, 0);
}

/* Times of a list, then again a pass later. */
static void replay_keeps_the_times(void **state)
{
	static const uint64_t departures_ns[] = { 0, 100, 100, 5000 };
	static const uint64_t expected_ns[] = { 0, 100, 100, 5000, 6000, 6100, 6100, 11000, 12000 };
	unsigned int frames = 0;

	(void)state;
	start((struct port_stream){
		.departures_ns = departures_ns, .template_count = 4, .pass_ns = 6000, .interval_ns = 7, .burst = 3 });
	for (uint64_t past_ns = 0; past_ns <= 12000; past_ns += 10) {
		unsigned int due = pacer_due(&pacer, 77 + past_ns, 64, &sent);

		for (unsigned int i = 0; i < due; i++, frames++)
			assert_int_equal(expected_ns[frames], past_ns);
	}
	assert_int_equal(frames, 9);
	assert_int_equal(sent.late_sum_ns, 0);
	assert_int_equal(pacer_due(&pacer, 77 + 12100 + 80000, 1, &sent), 1); /* late by 80 us */
	assert_int_equal(sent.slips, 1);
	assert_int_equal(pacer_due(&pacer, 77 + 12100 + 80000, 64, &sent), 1); /* planned for the same time */
	assert_int_equal(pacer_due(&pacer, 77 + 16999 + 80000, 64, &sent), 0);
	assert_int_equal(pacer_due(&pacer, 77 + 17000 + 80000, 64, &sent), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plan_does_not_drift),
		cmocka_unit_test(stall_moves_the_plan),
		cmocka_unit_test(no_interval_means_as_fast_as_it_goes),
		cmocka_unit_test(bursts_keep_the_mean_rate),
		cmocka_unit_test(long_burst_is_no_slip),
		cmocka_unit_test(lost_time_is_made_up_for),
		cmocka_unit_test(ramp_is_linear),
		cmocka_unit_test(replay_keeps_the_times),
	};

	return cmocka_run_group_tests_name("pacer", tests, NULL, NULL);
}
