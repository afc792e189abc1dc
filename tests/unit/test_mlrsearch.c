// SPDX-License-Identifier: GPL-2.0-or-later
/* The search with several loss goals: classes of loads as the draft has them, limits, goals that cannot be met,
 * failures. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "measure/load_class.h"
#include "measure/mlrsearch.h"
#include "simulated_port.h"

static struct mlrsearch_goal goal_of(double full_s, double sum_s, double loss_ratio, double exceed_ratio)
{
	return (struct mlrsearch_goal){ .final_trial_s = full_s,
					.duration_sum_s = sum_s,
					.loss_ratio = loss_ratio,
					.exceed_ratio = exceed_ratio,
					.width = 0.01 };
}

/* Trials as text: durations in tenths of a second, '+' low and '-' high loss. */
static enum load_class class_of(const struct mlrsearch_goal *goal, const char *trials)
{
	struct load_sums sums = { 0 };
	int tenths, used;
	char verdict;

	for (; sscanf(trials, " %d%c%n", &tenths, &verdict, &used) == 2; trials += used)
		load_sums_add(&sums, goal, tenths / 10.0, verdict == '+' ? 0 : 0.5);
	return load_classify(&sums, goal);
}

static void test_classes(void **state)
{
	static const struct {
		double full_s, sum_s, exceed;
		const char *trials;
		enum load_class expected;
	} cases[] = {
		/* RFC 2544's rule as a goal: one trial decides, any loss is too much, a short one as well. */
		{ 60, 60, 0, "", LOAD_UNDECIDED },
		{ 60, 60, 0, "600+", LOAD_LOWER },
		{ 60, 60, 0, "600-", LOAD_UPPER },
		{ 60, 60, 0, "10-", LOAD_UPPER },
		{ 60, 60, 0, "10+ 10+", LOAD_UNDECIDED },
		{ 60, 60, 0, "600+ 10-", LOAD_UPPER },
		/* TST009's: two trials of which one may lose. */
		{ 60, 120, 0.5, "600+", LOAD_LOWER },
		{ 60, 120, 0.5, "600-", LOAD_UNDECIDED },
		{ 60, 120, 0.5, "600- 600+", LOAD_LOWER },
		{ 60, 120, 0.5, "600- 600-", LOAD_UPPER },
		{ 60, 120, 0.5, "600- 10-", LOAD_UPPER },
		{ 60, 120, 0.5, "600- 10- 10+", LOAD_UNDECIDED }, /* short low loss outweighs short high loss … */
		{ 60, 120, 0.5, "600- 10+ 10+", LOAD_UNDECIDED }, /* … but never counts for a lower bound */
		/* 21 trials of 1 s: eleven passes, or fails of more than 10.5 s. */
		{ 1, 21, 0.5, "10+ 10+ 10+ 10+ 10+ 10+ 10+ 10+ 10+ 10+ 10+", LOAD_LOWER },
		{ 1, 21, 0.5, "10+ 10+ 10+ 10+ 10+ 10+ 10+ 10+ 10+ 10+", LOAD_UNDECIDED },
		{ 1, 21, 0.5, "10- 10- 10- 10- 10- 10- 10- 10- 10- 10- 10-", LOAD_UPPER },
		{ 1, 21, 0.5, "10- 10- 10- 10- 10- 10- 10- 10- 10- 10-", LOAD_UNDECIDED },
		/* A tenth may exceed. */
		{ 1, 10, 0.1, "10+ 10+ 10+ 10+ 10+ 10+ 10+ 10+ 10+", LOAD_LOWER },
		{ 1, 10, 0.1, "10- 10+ 10+ 10+ 10+ 10+ 10+ 10+ 10+ 10+", LOAD_LOWER },
		{ 1, 10, 0.1, "10- 10- 10+ 10+", LOAD_UPPER },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct mlrsearch_goal goal = goal_of(cases[i].full_s, cases[i].sum_s, 0, cases[i].exceed);

		if (class_of(&goal, cases[i].trials) != cases[i].expected)
			fail_msg("case %zu: %s", i, cases[i].trials);
	}
}

/* What is said to be missing is enough, and a good part of it is needed. */
static void test_missing_time(void **state)
{
	uint64_t random = 4711;

	(void)state;
	for (int i = 0; i < 5000; i++) {
		double exceed = simulated_unit(&random) * 0.9, sum_s = 1 + 20 * simulated_unit(&random), missing_s;
		struct mlrsearch_goal goal = goal_of(1, sum_s, 0, exceed);
		struct load_sums sums = { 0 }, more;

		for (int k = (int)(6 * simulated_unit(&random)); k > 0; k--)
			load_sums_add(&sums, &goal, simulated_unit(&random) < 0.5 ? 1 : 0.2,
				      simulated_unit(&random) < 0.5);
		more = sums;
		missing_s = load_missing_high_s(&sums, &goal);
		assert_true((missing_s == 0) == (load_classify(&sums, &goal) == LOAD_UPPER));
		more.short_high_s += missing_s;
		assert_int_equal(load_classify(&more, &goal), LOAD_UPPER);
		more.short_high_s -= missing_s * 0.5 + 0.01;
		if (missing_s > 0.1)
			assert_int_not_equal(load_classify(&more, &goal), LOAD_UPPER);
		more = sums;
		missing_s = load_missing_low_s(&sums, &goal);
		if (isinf(missing_s))
			continue;
		more.full_low_s += missing_s * (1 + 1e-9);
		assert_int_equal(load_classify(&more, &goal), LOAD_LOWER);
	}
}

static void test_conditional_throughput(void **state)
{
	struct mlrsearch_goal half = goal_of(1, 4, 0.1, 0.5), none = goal_of(1, 1, 0.1, 0);
	struct load_trial four[] = { { 1, 0.3 }, { 1, 0.01 }, { 1, 0.02 }, { 1, 0.2 } };
	struct load_trial two[] = { { 1, 0.04 }, { 1, 0.02 } }, one[] = { { 1, 0.04 } }, shorter[] = { { 0.5, 0 } };

	(void)state;
	/* Half of the time, the better half, loses at most 0.02. */
	assert_true(fabs(load_conditional_pps(1000, &half, four, 4) - 980) < 1e-6);
	/* Of four seconds two are missing: the worse half. */
	assert_true(fabs(load_conditional_pps(1000, &half, two, 2) - 960) < 1e-6);
	/* Of the better half one second is missing and counts as lost. */
	assert_true(load_conditional_pps(1000, &half, one, 1) == 0);
	assert_true(isnan(load_conditional_pps(1000, &half, shorter, 1)));
	two[0] = (struct load_trial){ 1, 0.04 };
	two[1] = (struct load_trial){ 1, 0.02 };
	assert_true(fabs(load_conditional_pps(1000, &none, two, 2) - 960) < 1e-6);
}

struct counted_port {
	struct simulated_port port;
	double highest_pps, least_s, most_s;
	int stolen_every; /* so many trials: the source hardly runs at all */
};

static int run_trial(void *context, double asked_pps, double asked_s, struct mlrsearch_trial *trial)
{
	struct counted_port *counted = context;
	double sent, lost;
	int code = simulated_port_send(&counted->port, asked_pps, asked_s, &sent, &lost);

	if (code)
		return error_set(EIO, "planted");
	counted->highest_pps = fmax(counted->highest_pps, asked_pps);
	counted->least_s = counted->least_s ? fmin(counted->least_s, asked_s) : asked_s;
	counted->most_s = fmax(counted->most_s, asked_s);
	*trial = (struct mlrsearch_trial){ sent / asked_s, asked_s, lost / sent };
	if (counted->stolen_every && counted->port.trials % counted->stolen_every == 0)
		*trial = (struct mlrsearch_trial){ 100, asked_s, 0 };
	return 0;
}

static struct counted_port sharp_port(double capacity_pps)
{
	return (struct counted_port){
		.port = { .machine = MACHINE_SHARP, .capacity_pps = capacity_pps, .queue_frames = 256, .random = 1 }
	};
}

static void test_goals_share_trials(void **state)
{
	struct mlrsearch_goal goals[] = { goal_of(1, 1, 0, 0.5), goal_of(1, 1, 0.0001, 0.5), goal_of(1, 1, 0.005, 0.5),
					  goal_of(1, 3, 0.05, 0.5) };
	struct mlrsearch_config config = {
		.goals = goals, .goal_count = 4, .min_pps = 1000, .max_pps = 3e6, .hint_pps = 1.1e6
	};
	struct mlrsearch_result results[4], alone;
	struct counted_port port = sharp_port(1e6);
	struct mlrsearch_summary summary, single;

	(void)state;
	assert_int_equal(mlrsearch(&config, run_trial, &port, results, &summary), 0);
	for (int i = 0; i < 4; i++) {
		double capacity = simulated_port_capacity(&port.port, goals[i].loss_ratio, 0.5, 1);

		assert_true(results[i].lower_pps <= capacity && capacity <= results[i].upper_pps);
		assert_true(results[i].upper_pps - results[i].lower_pps <= 0.0101 * results[i].upper_pps);
		assert_true(results[i].lower_loss_ratio <= goals[i].loss_ratio);
		assert_true(results[i].conditional_pps <= results[i].lower_pps);
		assert_true(results[i].conditional_pps >= results[i].lower_pps * (1 - goals[i].loss_ratio));
		assert_int_equal(results[i].trouble, 0);
		assert_false(results[i].irregular);
		assert_false(results[i].source_limited);
	}
	assert_int_equal(summary.trials, port.port.trials);
	assert_true(port.highest_pps <= config.max_pps);
	assert_true(port.most_s <= 1 && port.least_s >= 1 / 60.0 - 1e-12);
	config.goal_count = 1;
	port = sharp_port(1e6);
	assert_int_equal(mlrsearch(&config, run_trial, &port, &alone, &single), 0);
	assert_true(summary.trial_s < 4 * single.trial_s);
}

/* No load is without loss: that goal has no lower bound, and the other is found all the same. */
static void test_goal_that_cannot_be_met(void **state)
{
	struct mlrsearch_goal goals[] = { goal_of(1, 1, 0, 0.5), goal_of(1, 1, 0.005, 0.5) };
	struct mlrsearch_config config = { .goals = goals, .goal_count = 2, .min_pps = 1e4, .max_pps = 3e6 };
	struct mlrsearch_result results[2];
	struct counted_port port = sharp_port(1e6);

	(void)state;
	port.port.machine = MACHINE_FLOOR;
	port.port.lost_share = 1e-3;
	assert_int_equal(mlrsearch(&config, run_trial, &port, results, NULL), 0);
	assert_true(results[0].trouble & MLRSEARCH_NO_LOWER);
	assert_true(results[0].irregular);
	assert_true(results[0].lower_pps == 0 && isnan(results[0].conditional_pps));
	assert_true(results[1].lower_pps > 0.97e6 && results[1].upper_pps < 1.03e6);
	assert_false(results[1].trouble & (MLRSEARCH_NO_LOWER | MLRSEARCH_NO_UPPER));

	/* Even the lowest load is far too much for both. */
	port = sharp_port(100);
	port.port.queue_frames = 1;
	assert_int_equal(mlrsearch(&config, run_trial, &port, results, NULL), 0);
	for (int i = 0; i < 2; i++) {
		assert_true(results[i].trouble & MLRSEARCH_NO_LOWER);
		assert_true(results[i].lower_pps == 0 && results[i].upper_pps <= 1.1e4);
	}
}

static void test_source_is_the_limit(void **state)
{
	struct mlrsearch_goal goals[] = { goal_of(1, 1, 0, 0.5), goal_of(1, 1, 0.005, 0.5) };
	struct mlrsearch_config config = { .goals = goals, .goal_count = 2, .min_pps = 1e4, .max_pps = 3e6 };
	struct mlrsearch_result results[2];
	struct counted_port port = sharp_port(1e7);
	struct mlrsearch_summary summary;

	(void)state;
	assert_int_equal(mlrsearch(&config, run_trial, &port, results, &summary), 0);
	for (int i = 0; i < 2; i++) {
		assert_true(results[i].source_limited);
		assert_false(results[i].irregular);
		assert_int_equal(results[i].trouble, MLRSEARCH_NO_UPPER);
		assert_true(fabs(results[i].lower_pps - 3e6) < 100 && fabs(results[i].upper_pps - 3e6) < 100);
	}
	/* The source promised more than it can do: what it achieved is what is said. */
	port = sharp_port(1e7);
	port.port.source_pps = 2e6;
	assert_int_equal(mlrsearch(&config, run_trial, &port, results, &summary), 0);
	for (int i = 0; i < 2; i++) {
		assert_true(results[i].source_limited);
		assert_true(fabs(results[i].lower_pps - 2e6) < 100 && fabs(results[i].upper_pps - 2e6) < 100);
	}
	/* ... but the path gives in first: loads that it never reached make bounds wide, not wrong. */
	port = sharp_port(1.5e6);
	port.port.source_pps = 2e6;
	assert_int_equal(mlrsearch(&config, run_trial, &port, results, &summary), 0);
	for (int i = 0; i < 2; i++) {
		double capacity = simulated_port_capacity(&port.port, goals[i].loss_ratio, 0.5, 1);

		assert_false(results[i].source_limited);
		assert_true(results[i].lower_pps <= capacity && capacity <= results[i].upper_pps);
		assert_true(results[i].lower_pps >= 5e5);
	}
}

/* A source that is kept from running passes any load: that is no pass. */
static void test_source_that_does_not_run(void **state)
{
	struct mlrsearch_goal goals[] = { goal_of(1, 1, 0, 0.5), goal_of(1, 1, 0.005, 0.5) };
	struct mlrsearch_config config = { .goals = goals, .goal_count = 2, .min_pps = 1e4, .max_pps = 3e6 };
	struct mlrsearch_result results[2];

	(void)state;
	for (int every = 1; every < 5; every++) {
		struct counted_port port = sharp_port(1e6);

		port.stolen_every = every;
		assert_int_equal(mlrsearch(&config, run_trial, &port, results, NULL), 0);
		for (int i = 0; i < 2; i++) {
			double capacity = simulated_port_capacity(&port.port, goals[i].loss_ratio, 0.5, 1);

			if (every == 1) /* 100 frames a second, whatever is asked: that is what it has */
				assert_true(results[i].lower_pps <= 100.001 &&
					    results[i].irregular == !results[i].source_limited);
			else
				assert_true(results[i].lower_pps <= capacity && capacity <= results[i].upper_pps);
		}
	}
}

/* With an exceed ratio of 0 the draft's word is law: one trial decides. */
static void test_rfc_compliant_goal(void **state)
{
	struct mlrsearch_goal goal = goal_of(60, 60, 0, 0);
	struct mlrsearch_config config = { .goals = &goal, .goal_count = 1, .min_pps = 1000, .max_pps = 3e6 };
	struct mlrsearch_result result;
	struct counted_port port = sharp_port(1e6);
	struct mlrsearch_summary summary;

	(void)state;
	assert_int_equal(mlrsearch(&config, run_trial, &port, &result, &summary), 0);
	assert_true(result.lower_pps <= 1e6 + 256 / 60.0 && result.upper_pps >= 1e6 + 256 / 60.0);
	assert_int_equal(result.trouble, 0);
	assert_true(result.lower_trial_s >= 60);
	assert_true(summary.trial_s < 120);
}

static void test_time_limit(void **state)
{
	struct mlrsearch_goal goals[] = { goal_of(1, 1, 0, 0.5), goal_of(1, 1, 0.005, 0.5) };
	struct mlrsearch_config config = { .goals = goals, .goal_count = 2, .min_pps = 1000, .max_pps = 3e6 };

	(void)state;
	for (int i = 0; i < 400; i++) {
		struct mlrsearch_result results[2];
		struct mlrsearch_summary summary;
		struct counted_port port = { .highest_pps = 0 };

		simulated_port_draw(&port.port, (enum simulated_machine)(i % MACHINE_COUNT), (uint64_t)i, 1);
		config.max_pps = port.port.capacity_pps * 2;
		config.max_trial_s = 0.1 + 0.05 * i;
		assert_int_equal(mlrsearch(&config, run_trial, &port, results, &summary), 0);
		/* At most the last trial of each goal reaches beyond. */
		assert_true(summary.trial_s <= config.max_trial_s + 2 * 1.01);
		for (int k = 0; k < 2; k++) {
			assert_true(results[k].lower_pps <= results[k].upper_pps);
			assert_true(results[k].upper_pps > 0 && results[k].upper_pps <= config.max_pps * 1.0001);
		}
	}
}

static void test_failing_trial_ends_search(void **state)
{
	struct mlrsearch_goal goal = goal_of(1, 1, 0.005, 0.5);
	struct mlrsearch_config config = { .goals = &goal, .goal_count = 1, .min_pps = 1000, .max_pps = 3e6 };

	(void)state;
	for (int at = 1; at < 12; at++) {
		struct mlrsearch_result result;
		struct mlrsearch_summary summary;
		struct counted_port port = sharp_port(1e6);

		port.port.fail_at_trial = at;
		assert_int_equal(mlrsearch(&config, run_trial, &port, &result, &summary), -EIO);
		assert_int_equal(summary.trials, at - 1);
		assert_true(result.lower_pps <= result.upper_pps && result.upper_pps <= config.max_pps);
	}
}

static int nonsense_trial(void *context, double asked_pps, double asked_s, struct mlrsearch_trial *trial)
{
	(void)asked_pps;
	(void)asked_s;
	*trial = *(struct mlrsearch_trial *)context;
	return 0;
}

static void refuse(struct mlrsearch_config config, struct mlrsearch_goal goal)
{
	struct mlrsearch_result result;

	config.goals = &goal;
	assert_int_equal(mlrsearch(&config, run_trial, NULL, &result, NULL), -EINVAL);
}

static void test_nonsense_is_refused(void **state)
{
	struct mlrsearch_trial nonsense[] = {
		{ 0, 1, 0 }, { NAN, 1, 0 }, { INFINITY, 1, 0 }, { 1000, 1, NAN }, { 1000, 0, 0 }
	};
	struct mlrsearch_goal good = goal_of(1, 1, 0, 0.5), goal;
	struct mlrsearch_config fine = { .goals = &good, .goal_count = 1, .min_pps = 1000, .max_pps = 3e6 }, config;
	struct mlrsearch_result result;

	(void)state;
	for (size_t i = 0; i < sizeof(nonsense) / sizeof(nonsense[0]); i++)
		assert_int_equal(mlrsearch(&fine, nonsense_trial, &nonsense[i], &result, NULL), -EIO);
	config = fine, config.max_pps = NAN, refuse(config, good);
	config = fine, config.min_pps = 0, refuse(config, good);
	config = fine, config.min_pps = 4e6, refuse(config, good);
	config = fine, config.goal_count = 0, refuse(config, good);
	config = fine, config.goal_count = MLRSEARCH_MAX_GOALS + 1, refuse(config, good);
	goal = good, goal.loss_ratio = -1, refuse(fine, goal);
	goal = good, goal.loss_ratio = 1, refuse(fine, goal);
	goal = good, goal.exceed_ratio = 1, refuse(fine, goal);
	goal = good, goal.width = 0, refuse(fine, goal);
	goal = good, goal.final_trial_s = 0, refuse(fine, goal);
	goal = good, goal.initial_trial_s = 2, refuse(fine, goal);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_classes),
		cmocka_unit_test(test_missing_time),
		cmocka_unit_test(test_conditional_throughput),
		cmocka_unit_test(test_goals_share_trials),
		cmocka_unit_test(test_goal_that_cannot_be_met),
		cmocka_unit_test(test_source_is_the_limit),
		cmocka_unit_test(test_source_that_does_not_run),
		cmocka_unit_test(test_rfc_compliant_goal),
		cmocka_unit_test(test_time_limit),
		cmocka_unit_test(test_failing_trial_ends_search),
		cmocka_unit_test(test_nonsense_is_refused),
	};

	return cmocka_run_group_tests_name("mlrsearch", tests, NULL, NULL);
}
