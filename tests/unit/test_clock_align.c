// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Exchanges with a clock whose offset is known: it lies inside the guaranteed bound, always. Each run is a seed of its own, 10^4 of
 * them where everything happens at once.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "measure/clock_align.h"

#define RUNS 1000
#define SEEDS 10000
#define WINDOWS 8

static uint64_t state_word;

/* splitmix64: seeds that follow each other give unrelated states. */
static void seed(uint64_t number)
{
	uint64_t word = number * 0x9e3779b97f4a7c15 + 0x2545f4914f6cdd1d;

	word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9;
	word = (word ^ word >> 27) * 0x94d049bb133111eb;
	state_word = (word ^ word >> 31) | 1;
}

static double uniform(void)
{
	state_word ^= state_word << 13;
	state_word ^= state_word >> 7;
	state_word ^= state_word << 17;
	return (double)(state_word >> 11) / 9007199254740992.0;
}

/* A clock B whose rate changes at times, as NTP does it, and that may step. */
struct simulation {
	double a_ns;		/* our time */
	double offset_ns, rate; /* theta now, and how it grows */
	double wander;		/* at most so much is added to the rate at each pause */
	double least_forward_ns, least_back_ns, queueing_ns;
};

static void pass(struct simulation *simulation, double ns)
{
	simulation->a_ns += ns;
	simulation->offset_ns += simulation->rate * ns;
}

/* Waiting in queues: mostly little, sometimes much. */
static double queueing(const struct simulation *simulation)
{
	double ns = -log(1 - uniform()) * simulation->queueing_ns;

	return uniform() < 0.05 ? ns * 50 : ns;
}

static struct clock_sample exchange(struct simulation *simulation)
{
	struct clock_sample sample;

	sample.t1 = (int64_t)floor(simulation->a_ns);
	pass(simulation, simulation->least_forward_ns + queueing(simulation));
	sample.t2 = (int64_t)floor(simulation->a_ns + simulation->offset_ns);
	pass(simulation, 2000 + uniform() * 30000);
	sample.t3 = (int64_t)floor(simulation->a_ns + simulation->offset_ns);
	pass(simulation, simulation->least_back_ns + queueing(simulation));
	sample.t4 = (int64_t)floor(simulation->a_ns);
	pass(simulation, 1);
	return sample;
}

static void burst(struct simulation *simulation, struct clock_align *align, int exchanges, int *steps)
{
	for (int i = 0; i < exchanges; i++) {
		struct clock_sample sample = exchange(simulation);
		int code = clock_align_add(align, &sample);

		assert_true(code >= 0);
		*steps += code;
		pass(simulation, 20000);
	}
}

static struct simulation random_simulation(double most_drift)
{
	return (struct simulation){ .a_ns = 1e9 + uniform() * 1e14,
				    .offset_ns = (uniform() - 0.5) * 1e15,
				    .rate = (uniform() * 2 - 1) * most_drift,
				    .least_forward_ns = 1000 + uniform() * 200000,
				    .least_back_ns = 1000 + uniform() * 200000,
				    .queueing_ns = uniform() * 100000 };
}

/* One trial: exchanges before it, some meanwhile, and after it. The truth at its begin and end must be inside. */
static void window(struct simulation *simulation, struct clock_align *align, int linear_holds, int *steps)
{
	struct clock_estimate estimate;
	double begin_ns, begin_offset_ns;

	burst(simulation, align, 16, steps);
	begin_ns = simulation->a_ns;
	begin_offset_ns = simulation->offset_ns;
	for (int i = 0; i < 5; i++) {
		simulation->rate += (uniform() * 2 - 1) * simulation->wander;
		pass(simulation, 1e7 + uniform() * 9e7);
		burst(simulation, align, 1, steps);
	}
	assert_int_equal(clock_align_estimate(align, (int64_t)begin_ns, (int64_t)simulation->a_ns, &estimate), 0);
	if (fabs(begin_offset_ns - (double)estimate.offset_ns) > estimate.bound_ns)
		fail_msg("offset %.1f is not in %lld +- %.1f", begin_offset_ns, (long long)estimate.offset_ns,
			 estimate.bound_ns);
	assert_true(fabs(simulation->offset_ns - (double)estimate.offset_ns) <= estimate.bound_ns);
	if (linear_holds) {
		assert_true(estimate.has_linear);
		assert_true(fabs(begin_offset_ns - (double)estimate.linear_ns) <= estimate.linear_bound_ns + 1);
		assert_true(fabs(simulation->offset_ns - (double)estimate.linear_ns) <= estimate.linear_bound_ns + 1);
		assert_true(fabs(simulation->rate - estimate.drift) <= estimate.drift_bound + 1e-9);
		assert_true(estimate.linear_bound_ns <= estimate.bound_ns + 4);
	}
	burst(simulation, align, 16, steps);
	assert_int_equal(clock_align_estimate(align, (int64_t)begin_ns, (int64_t)simulation->a_ns, &estimate), 0);
	assert_true(fabs(begin_offset_ns - (double)estimate.offset_ns) <= estimate.bound_ns);
}

static void constant_drift_is_bounded(void **state)
{
	static struct clock_align align;

	(void)state;
	for (int run = 0; run < RUNS; run++) {
		struct simulation simulation = (seed((uint64_t)run), random_simulation(200e-6));
		int steps = 0;

		memset(&align, 0, sizeof(align));
		for (int i = 0; i < WINDOWS; i++)
			window(&simulation, &align, 1, &steps);
		assert_int_equal(steps, 0);
	}
}

/* The rate changes within its limit, at any time: straight lines no longer fit, the guarantee holds. */
static void changing_drift_is_bounded(void **state)
{
	static struct clock_align align;

	(void)state;
	for (int run = 0; run < RUNS; run++) {
		struct simulation simulation = (seed((uint64_t)run), random_simulation(200e-6));
		int steps = 0;

		memset(&align, 0, sizeof(align));
		for (int i = 0; i < WINDOWS; i++) {
			simulation.wander = (CLOCK_RATE_LIMIT - fabs(simulation.rate)) / 6;
			window(&simulation, &align, 0, &steps);
			simulation.rate = (uniform() * 2 - 1) * 200e-6;
		}
		assert_int_equal(steps, 0);
	}
}

/* Steps that are larger than what the delays hide are found, all of them, and the bound holds again at once. */
static void steps_are_found(void **state)
{
	static struct clock_align align;

	(void)state;
	for (int run = 0; run < RUNS; run++) {
		struct simulation simulation = (seed((uint64_t)run), random_simulation(200e-6));
		double size_ns = 2e6 + uniform() * 1e9;
		int steps = 0;

		memset(&align, 0, sizeof(align));
		window(&simulation, &align, 1, &steps);
		assert_int_equal(steps, 0);
		simulation.offset_ns += uniform() < 0.5 ? size_ns : -size_ns;
		window(&simulation, &align, 0, &steps);
		assert_int_equal(align.steps, 1);
		assert_int_equal(steps, 1);
		assert_true(align.step_after_ns < align.step_before_ns);
		window(&simulation, &align, 0, &steps);
		assert_int_equal(align.steps, 1);
	}
}

/* A delay that is the same for all in one direction, and a thousand times that of the other one. */
static struct simulation one_sided(void)
{
	struct simulation simulation = random_simulation(400e-6);

	if (uniform() < 0.5)
		simulation.least_forward_ns = 1e6 + uniform() * 1e6;
	else
		simulation.least_back_ns = 1e6 + uniform() * 1e6;
	return simulation;
}

/* Uneven delays, drift that changes, steps: the truth at begin, end and in between is inside, and each step is found, once. */
static void truth_is_inside_for_all_seeds(void **state)
{
	static struct clock_align align;
	int stepped_runs = 0;

	(void)state;
	for (int run = 0; run < SEEDS; run++) {
		struct simulation simulation;
		int steps = 0, wanted = 0;

		seed((uint64_t)run + 1000000);
		simulation = uniform() < 0.5 ? one_sided() : random_simulation(400e-6);
		memset(&align, 0, sizeof(align));
		for (int i = 0; i < 3; i++) {
			simulation.wander = (CLOCK_RATE_LIMIT - fabs(simulation.rate)) / 6;
			window(&simulation, &align, 0, &steps);
			simulation.rate = (uniform() * 2 - 1) * 400e-6;
			if (i < 2 && uniform() < 0.3) {
				double size_ns = 20e6 + uniform() * 1e10;

				simulation.offset_ns += uniform() < 0.5 ? size_ns : -size_ns;
				wanted++;
			}
		}
		stepped_runs += wanted > 0;
		if (steps != wanted || align.steps != wanted)
			fail_msg("seed %d: %d steps, %d found", run, wanted, steps);
	}
	assert_in_range(stepped_runs, SEEDS / 3, SEEDS * 2 / 3);
}

static void equal_delays_are_guessed_well(void **state)
{
	struct simulation simulation = { .a_ns = 5e9,
					 .offset_ns = -7e12,
					 .rate = 30e-6,
					 .least_forward_ns = 90000,
					 .least_back_ns = 90000,
					 .queueing_ns = 20000 };
	static struct clock_align align;
	struct clock_estimate estimate;
	int steps = 0;

	(void)state;
	state_word = 77;
	memset(&align, 0, sizeof(align));
	burst(&simulation, &align, 200, &steps);
	assert_int_equal(clock_align_estimate(&align, (int64_t)simulation.a_ns, (int64_t)simulation.a_ns, &estimate),
			 0);
	assert_true(fabs(simulation.offset_ns - (double)estimate.symmetric_ns) < 5000);
	assert_true(estimate.bound_ns > 80000); /* that they are equal is not known */
	assert_true(estimate.bound_ns < 120000);
	assert_true(estimate.round_trip_ns >= 180000 && estimate.round_trip_ns < 190000);
}

static void old_exchanges_widen_the_bound(void **state)
{
	struct simulation simulation = { .a_ns = 5e9, .least_forward_ns = 10000, .least_back_ns = 10000 };
	static struct clock_align align;
	struct clock_estimate now, later;
	int steps = 0;

	(void)state;
	memset(&align, 0, sizeof(align));
	burst(&simulation, &align, 16, &steps);
	clock_align_estimate(&align, (int64_t)simulation.a_ns, (int64_t)simulation.a_ns, &now);
	clock_align_estimate(&align, (int64_t)simulation.a_ns + 1000000000, (int64_t)simulation.a_ns + 1000000000,
			     &later);
	assert_true(fabs(later.bound_ns - now.bound_ns - 1e9 * CLOCK_RATE_LIMIT) < 100);
}

static void impossible_times_are_refused(void **state)
{
	static struct clock_align align;
	static const struct clock_sample bad[] = {
		{ 100, 0, 0, 99 },   /* heard before it was sent */
		{ 100, 10, 9, 200 }, /* returned before it arrived */
		{ 300, 0, 1, 310 },  /* before the one before */
	};
	static const struct clock_sample good = { 400, 1000, 1001, 410 };
	struct clock_estimate estimate;

	(void)state;
	memset(&align, 0, sizeof(align));
	assert_int_equal(clock_align_estimate(&align, 0, 1, &estimate), -ENODATA);
	for (int i = 0; i < 2; i++)
		assert_int_equal(clock_align_add(&align, &bad[i]), -EINVAL);
	assert_int_equal(clock_align_add(&align, &good), 0);
	assert_int_equal(clock_align_add(&align, &bad[2]), -EINVAL);
	assert_int_equal(align.count, 1);
}

/* A clock that is put forward while it is being asked: the exchange takes less than no time. */
static void step_within_an_exchange_is_found(void **state)
{
	static struct clock_align align;
	static const struct clock_sample before = { 1000, 6000, 6100, 2000 }, torn = { 3000, 8500, 9000008600, 4000 },
					 after = { 5000, 9000010500, 9000010600, 6000 };
	struct clock_estimate estimate;

	(void)state;
	memset(&align, 0, sizeof(align));
	assert_int_equal(clock_align_add(&align, &torn), 1); /* the first of all */
	assert_int_equal(align.count, 0);
	memset(&align, 0, sizeof(align));
	assert_int_equal(clock_align_add(&align, &before), 0);
	assert_int_equal(clock_align_add(&align, &torn), 1);
	assert_int_equal(align.count, 0);
	assert_int_equal(clock_align_add(&align, &after), 0);
	assert_int_equal(align.steps, 1);
	assert_int_equal(align.exchanges, 3);
	assert_int_equal(clock_align_estimate(&align, 5000, 6000, &estimate), 0);
	assert_true(fabs((double)(estimate.offset_ns - 9000005000)) <= estimate.bound_ns);
}

/* More exchanges than are held: the newest stay. */
static void oldest_are_forgotten(void **state)
{
	static struct clock_align align;
	struct clock_estimate estimate;
	struct simulation simulation;
	int steps = 0;

	(void)state;
	state_word = 5;
	simulation = random_simulation(100e-6);
	memset(&align, 0, sizeof(align));
	burst(&simulation, &align, CLOCK_SAMPLES * 2 + 7, &steps);
	assert_int_equal(align.count, CLOCK_SAMPLES);
	assert_int_equal(align.exchanges, CLOCK_SAMPLES * 2 + 7);
	clock_align_estimate(&align, (int64_t)simulation.a_ns, (int64_t)simulation.a_ns, &estimate);
	assert_true(fabs(simulation.offset_ns - (double)estimate.offset_ns) <= estimate.bound_ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(constant_drift_is_bounded),
		cmocka_unit_test(changing_drift_is_bounded),
		cmocka_unit_test(steps_are_found),
		cmocka_unit_test(truth_is_inside_for_all_seeds),
		cmocka_unit_test(equal_delays_are_guessed_well),
		cmocka_unit_test(old_exchanges_widen_the_bound),
		cmocka_unit_test(impossible_times_are_refused),
		cmocka_unit_test(step_within_an_exchange_is_found),
		cmocka_unit_test(oldest_are_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
