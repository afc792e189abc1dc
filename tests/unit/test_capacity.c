// SPDX-License-Identifier: GPL-2.0-or-later
/* The capacity search against simulated devices: monotone loss curves with and without noise, limits, failures. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/error.h"
#include "measure/capacity.h"

enum curve { CURVE_STEP, CURVE_OVERLOAD, CURVE_KNEE, CURVE_COUNT };

struct device {
	enum curve curve;
	double service_pps; /* where loss sets in (step, overload), or the middle of the knee */
	double step_loss, knee_width;
	double ceiling_pps; /* of the source */
	double spurious_probability, spurious_loss, rate_error;
	double gaps;			     /* most that the source is kept from running, as a share of the trial */
	double fails_from_pps, fails_to_pps; /* a hole: everything is lost between */
	int error_at_trial, trials;
	double highest_asked_pps;
};

static uint64_t random_state;

static double random_unit(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (double)(random_state >> 11) / 9007199254740992.0;
}

static double random_between(double low, double high)
{
	return low + (high - low) * random_unit();
}

static double random_log(double low, double high)
{
	return low * exp(log(high / low) * random_unit());
}

static double curve_loss(const struct device *device, double pps)
{
	double onset;

	switch (device->curve) {
	case CURVE_STEP:
		return pps <= device->service_pps ? 0 : device->step_loss;
	case CURVE_OVERLOAD:
		return pps <= device->service_pps ? 0 : 1 - device->service_pps / pps;
	default: /* loss grows with the square of the rate beyond the onset, then like overload */
		onset = device->service_pps * (1 - device->knee_width);
		return pps <= onset ? 0 : 1 - exp(-pow((pps - onset) / device->service_pps, 2));
	}
}

/* sup { r : loss(r) <= goal }, by bisection on the curve itself. */
static double true_capacity(const struct device *device, double goal)
{
	double low = 0, high = 1e9;
	int i;

	for (i = 0; i < 200; i++) {
		double middle = (low + high) / 2;

		if (curve_loss(device, middle) <= goal)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static int simulate(void *context, double asked_pps, struct capacity_trial *result)
{
	struct device *device = context;
	double pps = asked_pps;

	device->trials++;
	device->highest_asked_pps = fmax(device->highest_asked_pps, asked_pps);
	if (device->trials == device->error_at_trial)
		return error_set(EIO, "planted");
	if (device->ceiling_pps > 0)
		pps = fmin(pps, device->ceiling_pps);
	pps *= 1 + random_between(-device->rate_error, device->rate_error);
	result->offered_pps = pps;
	result->loss_ratio = curve_loss(device, pps);
	result->offered_pps *= 1 - random_between(0, device->gaps);
	if (random_unit() < device->spurious_probability)
		result->loss_ratio = fmin(1, result->loss_ratio + random_between(0, device->spurious_loss));
	if (pps >= device->fails_from_pps && pps < device->fails_to_pps)
		result->loss_ratio = 1;
	return 0;
}

static void random_device(struct device *device, struct capacity_goal *goal)
{
	double hint;

	*device = (struct device){
		.curve = (enum curve)(random_unit() * CURVE_COUNT),
		.service_pps = random_log(2e4, 4e6),
		.step_loss = random_log(0.011, 1),
		.knee_width = random_between(0.01, 0.5),
	};
	*goal = (struct capacity_goal){
		.loss_ratio = random_unit() < 0.5 ? 0 : 0.005,
		.width = random_log(0.01, 0.05),
		.max_trials = CAPACITY_MAX_TRIALS,
		.max_pps = 1.5e7,
		.min_pps = 1000,
	};
	hint = random_unit();
	if (hint < 0.6)
		goal->hint_pps = device->service_pps * random_between(0.95, 1.05);
	else if (hint < 0.8)
		goal->hint_pps = device->service_pps * random_log(0.01, 100);
}

static void test_quiet_bounds_hold(void **state)
{
	double sum = 0, close_sum = 0;
	int i, most = 0, close = 0;

	(void)state;
	random_state = 88172645463325252u;
	for (i = 0; i < 3000; i++) {
		struct capacity_bounds bounds;
		struct capacity_goal goal;
		struct device device;
		double capacity;

		random_device(&device, &goal);
		capacity = true_capacity(&device, goal.loss_ratio);
		assert_int_equal(capacity_search(&goal, simulate, &device, &bounds), 0);
		assert_true(bounds.lower_pps <= capacity * (1 + 1e-9));
		assert_true(bounds.upper_pps >= capacity * (1 - 1e-9));
		assert_true(bounds.upper_pps - bounds.lower_pps <= goal.width * bounds.upper_pps * (1 + 1e-9));
		assert_true(bounds.loss_at_lower <= goal.loss_ratio);
		assert_false(bounds.irregular);
		assert_false(bounds.source_limited);
		assert_int_equal(bounds.trials, device.trials);
		assert_true(device.highest_asked_pps <= goal.max_pps);
		sum += bounds.trials;
		if (fabs(goal.hint_pps / capacity - 1) < 0.05) {
			close++;
			close_sum += bounds.trials;
		}
		most = bounds.trials > most ? bounds.trials : most;
	}
	print_message("quiet: %.1f trials on average, %.1f with a good hint, at most %d\n", sum / i, close_sum / close,
		      most);
	assert_true(most <= 40);
	assert_true(close_sum / close <= 10);
}

/* One in five trials loses up to 1 % for no reason, rates are off by up to 1 %. */
static void check_noisy(int max_trials, double least_share, double most_unbounded)
{
	int i, inside = 0, unbounded = 0, irregular = 0, rounds = 2000, most = 0;
	double sum = 0;

	for (i = 0; i < rounds; i++) {
		struct capacity_bounds bounds;
		struct capacity_goal goal;
		struct device device;
		double capacity;

		random_device(&device, &goal);
		device.spurious_probability = 0.2;
		device.spurious_loss = 0.01;
		device.rate_error = 0.01;
		goal.width = fmax(goal.width, 0.02);
		goal.max_trials = max_trials;
		capacity = true_capacity(&device, goal.loss_ratio);
		assert_int_equal(capacity_search(&goal, simulate, &device, &bounds), 0);
		assert_true(bounds.lower_pps <= bounds.upper_pps);
		assert_true(bounds.trials <= max_trials);
		inside += bounds.lower_pps <= capacity && capacity <= bounds.upper_pps;
		unbounded += bounds.lower_pps == 0 || bounds.upper_pps >= goal.max_pps;
		irregular += bounds.irregular;
		sum += bounds.trials;
		most = bounds.trials > most ? bounds.trials : most;
	}
	print_message(
		"noisy, at most %d trials: inside %.2f %%, one side open %.1f %%, irregular %.0f %%, %.1f trials on "
		"average, at most %d\n",
		max_trials, 100.0 * inside / rounds, 100.0 * unbounded / rounds, 100.0 * irregular / rounds,
		sum / rounds, most);
	assert_true(inside >= least_share * rounds);
	assert_true(unbounded <= most_unbounded * rounds);
}

static void test_noisy_bounds_hold(void **state)
{
	(void)state;
	random_state = 1181783497276652981u;
	check_noisy(60, 0.95, 0.01);
	check_noisy(20, 0.95, 0.3);
	check_noisy(12, 0.95, 1);
}

/* A source whose CPU is taken away sends the asked rate with gaps: achieved rates lie up to 15 % lower. */
static void test_source_with_gaps(void **state)
{
	int i;

	(void)state;
	random_state = 362436069;
	for (i = 0; i < 1000; i++) {
		struct capacity_bounds bounds;
		struct capacity_goal goal;
		struct device device;
		double capacity;

		random_device(&device, &goal);
		device.gaps = 0.15;
		capacity = true_capacity(&device, goal.loss_ratio);
		assert_int_equal(capacity_search(&goal, simulate, &device, &bounds), 0);
		assert_true(bounds.lower_pps <= capacity && capacity <= bounds.upper_pps);
		assert_true(bounds.lower_pps >= 0.8 * bounds.upper_pps);
		assert_false(bounds.source_limited);
		assert_true(bounds.trials <= 40);
	}
}

/* Bounds get wide, never wrong, when trials run out; any number of trials is respected. */
static void test_few_trials_give_wide_bounds(void **state)
{
	int i;

	(void)state;
	random_state = 2463534242u;
	for (i = 0; i < 2000; i++) {
		struct capacity_bounds bounds;
		struct capacity_goal goal;
		struct device device;
		double capacity;

		random_device(&device, &goal);
		goal.max_trials = 1 + i % 16;
		capacity = true_capacity(&device, goal.loss_ratio);
		assert_int_equal(capacity_search(&goal, simulate, &device, &bounds), 0);
		assert_true(device.trials <= goal.max_trials);
		assert_int_equal(device.trials, bounds.trials);
		assert_true(bounds.lower_pps <= capacity && capacity <= bounds.upper_pps);
		assert_true(bounds.upper_pps <= goal.max_pps);
	}
}

static struct capacity_goal plain_goal(void)
{
	return (struct capacity_goal){
		.loss_ratio = 0.005, .width = 0.02, .max_trials = 30, .max_pps = 5e6, .hint_pps = 1e6, .min_pps = 1000
	};
}

static void test_source_is_the_limit(void **state)
{
	struct device device = { .curve = CURVE_OVERLOAD, .service_pps = 1e9 };
	struct capacity_goal goal = plain_goal();
	struct capacity_bounds bounds;

	(void)state;
	assert_int_equal(capacity_search(&goal, simulate, &device, &bounds), 0);
	assert_true(bounds.source_limited);
	assert_true(bounds.lower_pps == 5e6 && bounds.upper_pps == 5e6);
	assert_true(bounds.trials <= 12);

	/* The source promised more than it can do. */
	device = (struct device){ .curve = CURVE_OVERLOAD, .service_pps = 1e9, .ceiling_pps = 3e6, .rate_error = 0.01 };
	random_state = 7;
	assert_int_equal(capacity_search(&goal, simulate, &device, &bounds), 0);
	assert_true(bounds.source_limited);
	assert_true(bounds.lower_pps >= 2.9e6 && bounds.upper_pps <= 3.1e6);

	/* ... but the path gives in first. */
	device = (struct device){ .curve = CURVE_OVERLOAD, .service_pps = 2.5e6, .ceiling_pps = 3e6 };
	assert_int_equal(capacity_search(&goal, simulate, &device, &bounds), 0);
	assert_false(bounds.source_limited);
	assert_true(bounds.lower_pps <= 2.5e6 / 0.995 && bounds.upper_pps >= 2.5e6 / 0.995);
}

static void test_nothing_passes(void **state)
{
	struct device device = { .curve = CURVE_STEP, .service_pps = 0.5, .step_loss = 1 };
	struct capacity_goal goal = plain_goal();
	struct capacity_bounds bounds;

	(void)state;
	assert_int_equal(capacity_search(&goal, simulate, &device, &bounds), 0);
	assert_true(bounds.lower_pps == 0 && bounds.upper_pps <= 1000 * 1.001);
	assert_true(isnan(bounds.loss_at_lower));
	assert_false(bounds.source_limited);
}

/* A lower rate fails for certain where a higher one passes for certain: the bounds span the contradiction. */
static void test_irregular_is_reported(void **state)
{
	struct device device = {
		.curve = CURVE_OVERLOAD, .service_pps = 2e6, .fails_from_pps = 9.5e5, .fails_to_pps = 1.005e6
	};
	struct capacity_goal goal = plain_goal();
	struct capacity_bounds bounds;

	(void)state;
	goal.max_pps = 4e6;
	assert_int_equal(capacity_search(&goal, simulate, &device, &bounds), 0);
	/* Everything between 0.95 and 1.005 Mpps fails: the search ends below the hole and knows no better. */
	assert_true(bounds.lower_pps < 9.5e5 && bounds.upper_pps >= 9.5e5);

	/* Half of all trials fail whatever the rate: nothing to rely on, and that is said. */
	device = (struct device){
		.curve = CURVE_OVERLOAD, .service_pps = 2e6, .spurious_probability = 0.5, .spurious_loss = 0.5
	};
	random_state = 99;
	assert_int_equal(capacity_search(&goal, simulate, &device, &bounds), 0);
	assert_true(bounds.irregular);
	assert_true(bounds.lower_pps <= bounds.upper_pps);
}

static void test_failing_trial_ends_search(void **state)
{
	struct device device = { .curve = CURVE_OVERLOAD, .service_pps = 1e6, .error_at_trial = 4 };
	struct capacity_goal goal = plain_goal();
	struct capacity_bounds bounds;

	(void)state;
	assert_int_equal(capacity_search(&goal, simulate, &device, &bounds), -EIO);
	assert_int_equal(bounds.trials, 3);
	assert_true(bounds.lower_pps <= bounds.upper_pps && bounds.upper_pps <= goal.max_pps);
}

static int nonsense_trial(void *context, double asked_pps, struct capacity_trial *result)
{
	(void)asked_pps;
	*result = *(struct capacity_trial *)context;
	return 0;
}

static void test_nonsense_is_refused(void **state)
{
	struct capacity_trial nonsense[] = { { 0, 0 }, { NAN, 0 }, { INFINITY, 0 }, { 1000, NAN } };
	struct capacity_goal goal = plain_goal();
	struct capacity_bounds bounds;
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(nonsense) / sizeof(nonsense[0]); i++)
		assert_int_equal(capacity_search(&goal, nonsense_trial, &nonsense[i], &bounds), -EIO);
	goal.max_pps = NAN;
	assert_int_equal(capacity_search(&goal, simulate, NULL, &bounds), -EINVAL);
	goal = plain_goal();
	goal.loss_ratio = -1;
	assert_int_equal(capacity_search(&goal, simulate, NULL, &bounds), -EINVAL);
	goal = plain_goal();
	goal.max_trials = 0;
	assert_int_equal(capacity_search(&goal, simulate, NULL, &bounds), -EINVAL);
	goal = plain_goal();
	goal.width = 1;
	assert_int_equal(capacity_search(&goal, simulate, NULL, &bounds), -EINVAL);
	assert_true(bounds.lower_pps == 0 && bounds.trials == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quiet_bounds_hold),     cmocka_unit_test(test_noisy_bounds_hold),
		cmocka_unit_test(test_source_with_gaps),      cmocka_unit_test(test_few_trials_give_wide_bounds),
		cmocka_unit_test(test_source_is_the_limit),   cmocka_unit_test(test_nothing_passes),
		cmocka_unit_test(test_irregular_is_reported), cmocka_unit_test(test_failing_trial_ends_search),
		cmocka_unit_test(test_nonsense_is_refused),
	};

	return cmocka_run_group_tests_name("capacity", tests, NULL, NULL);
}
