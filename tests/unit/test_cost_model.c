// SPDX-License-Identifier: GPL-2.0-or-later
/* Costs by straight line: planted coefficients come back, errors are honest, ports stay apart. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/error.h"
#include "measure/cost_model.h"

static const unsigned int ladder[] = { 64, 256, 512, 1024, 1514 };
#define LADDER (sizeof(ladder) / sizeof(ladder[0]))

static uint64_t random_state = 88172645463325252u;

static double random_unit(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (double)(random_state >> 11) / 9007199254740992.0;
}

static double random_normal(void)
{
	double sum = 0;
	int i;

	for (i = 0; i < 12; i++)
		sum += random_unit();
	return sum - 6;
}

static void test_exact_line(void **state)
{
	struct cost_sample samples[5];
	struct run_cost cost = { .hop = 3 };
	int round, i;

	(void)state;
	for (round = 0; round < 1000; round++) {
		double a = 2000 * random_unit(), c = random_unit() - 0.1;

		for (i = 0; i < 5; i++)
			samples[i] = (struct cost_sample){ ladder[i], a + c * ladder[i], 0.01 + random_unit() };
		assert_int_equal(cost_fit(samples, 5, &cost), 0);
		assert_true(fabs(cost.ns_per_frame - a) < 1e-6 && fabs(cost.ns_per_byte - c) < 1e-9);
		assert_true(cost.r2 > 1 - 1e-9 && cost.r2 <= 1);
		assert_int_equal(cost.hop, 3);
	}
}

/* With noise of known variance the planted values lie within two standard errors in about 95 % of the fits. */
static void test_errors_are_honest(void **state)
{
	struct cost_sample samples[5];
	struct run_cost cost;
	int round, i, frame_inside = 0, byte_inside = 0, rounds = 4000;

	(void)state;
	for (round = 0; round < rounds; round++) {
		double a = 500 + 1000 * random_unit(), c = 0.2 * random_unit();

		for (i = 0; i < 5; i++) {
			double sigma = 5 + 20 * random_unit();

			samples[i] = (struct cost_sample){ ladder[i], a + c * ladder[i] + sigma * random_normal(),
							   1 / (sigma * sigma) };
		}
		assert_int_equal(cost_fit(samples, 5, &cost), 0);
		frame_inside += fabs(cost.ns_per_frame - a) <= 2 * cost.ns_per_frame_error;
		byte_inside += fabs(cost.ns_per_byte - c) <= 2 * cost.ns_per_byte_error;
		assert_true(cost.r2 >= 0 && cost.r2 <= 1);
	}
	print_message("within two standard errors: %.1f %% a frame, %.1f %% a byte\n", 100.0 * frame_inside / rounds,
		      100.0 * byte_inside / rounds);
	assert_true(frame_inside > 0.94 * rounds && byte_inside > 0.94 * rounds);
}

static void test_odd_samples(void **state)
{
	struct cost_sample flat[] = { { 64, 700, 1 }, { 512, 700, 1 }, { 1514, 700, 1 } };
	struct cost_sample two[] = { { 64, 700, 1 }, { 1514, 800, 1 } },
			   weighted[] = { { 64, 700, 0.01 }, { 1514, 800, 0.01 } };
	struct cost_sample one_size[] = { { 64, 700, 1 }, { 64, 710, 1 } };
	struct cost_sample broken[] = {
		{ 64, NAN, 1 }, { 512, 700, 0 }, { 1024, 700, INFINITY }, { 1514, 700, 1 }, { 64, 600, 1 }
	};
	struct run_cost cost;

	(void)state;
	assert_int_equal(cost_fit(flat, 3, &cost), 0);
	assert_true(cost.r2 == 1 && fabs(cost.ns_per_byte) < 1e-12 && fabs(cost.ns_per_frame - 700) < 1e-9);
	assert_int_equal(cost_fit(two, 2, &cost), 0);
	assert_true(isnan(cost.ns_per_byte_error) && cost.r2 == 1);
	assert_int_equal(cost_fit(weighted, 2, &cost), 0);
	assert_true(fabs(cost.ns_per_byte_error - sqrt(200.0) / 1450) < 1e-9);
	assert_int_equal(cost_fit(one_size, 2, &cost), -EDOM);
	assert_true(isnan(cost.ns_per_frame) && isnan(cost.r2));
	assert_int_equal(cost_fit(NULL, 0, &cost), -EDOM);
	assert_int_equal(cost_fit(broken, 5, &cost), 0); /* the last two are left */
	assert_true(fabs(cost.ns_per_byte - 100.0 / 1450) < 1e-9);
}

static struct run *path_of(int hops)
{
	struct run *run = run_new();

	assert_non_null(run);
	run->point_count = hops + 1;
	run->primary_bytes = 1514;
	run->source.port = RUN_PORT_LIVE;
	return run;
}

static void add_service(struct run *run, int point, unsigned int bytes, enum run_port port, double frame_ns)
{
	run->services[run->service_count++] = (struct run_service){
		.point = point,
		.frame_bytes = bytes,
		.port = port,
		.pps = 1e9 / frame_ns,
		.low_pps = 1e9 / (1.01 * frame_ns),
		.high_pps = 1e9 / (0.99 * frame_ns),
		.offered_pps = 1e8,
		.trials = 3,
		.cpu = 1,
	};
}

/* Hop 1: 300 + 0.1 b, hop 2: 500 + 0.02 b; `offset_ns` comes on top for the packet port. */
static void add_cuts(struct run *run, unsigned int bytes, enum run_port port, double offset_ns)
{
	double first = 300 + 0.1 * bytes + offset_ns;

	add_service(run, 1, bytes, port, first);
	add_service(run, 2, bytes, port, first + 500 + 0.02 * bytes);
}

static void test_hops_and_path(void **state)
{
	struct run *run = path_of(2);
	unsigned int i;

	(void)state;
	for (i = 0; i < LADDER; i++)
		add_cuts(run, ladder[i], RUN_PORT_LIVE, 0);
	cost_model_run(run);
	assert_int_equal(run->cost_count, 2);
	assert_int_equal(run->cost[0].hop, 1);
	assert_int_equal(run->cost[1].hop, 2);
	assert_true(fabs(run->cost[0].ns_per_frame - 300) < 1e-6 && fabs(run->cost[0].ns_per_byte - 0.1) < 1e-9);
	assert_true(fabs(run->cost[1].ns_per_frame - 500) < 1e-6 && fabs(run->cost[1].ns_per_byte - 0.02) < 1e-9);
	assert_int_equal(run->path_cost.hop, 0);
	assert_true(fabs(run->path_cost.ns_per_frame - 800) < 1e-6 && fabs(run->path_cost.ns_per_byte - 0.12) < 1e-9);
	/* Small frames only: the model extrapolates. */
	assert_int_equal(run->has_mtu_gain, 1);
	assert_true(isnan(run->mtu_gain.measured_ratio));
	assert_true(fabs(run->mtu_gain.model_ratio - (9014 / (800 + 0.12 * 9014)) / (1514 / (800 + 0.12 * 1514))) <
		    1e-9);
	assert_true(fabs(run->mtu_gain.model_gbps - 8 * 9014 / (800 + 0.12 * 9014)) < 1e-9);
	run_free(run);
}

/* Frames enter through AF_PACKET 400 ns dearer. On one line with the others that would look like a slope. */
static void test_ports_are_not_mixed(void **state)
{
	struct run *run = path_of(2);
	double truth = (9014 / (1200 + 0.12 * 9014)) / (1514 / (1200 + 0.12 * 1514));
	unsigned int i;

	(void)state;
	for (i = 0; i < LADDER; i++)
		add_cuts(run, ladder[i], RUN_PORT_LIVE, 0);
	add_cuts(run, 9014, RUN_PORT_PACKET, 400);
	add_service(run, 2, 64, RUN_PORT_PACKET, 1200 + 0.12 * 64);
	add_service(run, 2, 512, RUN_PORT_PACKET, 1200 + 0.12 * 512);
	add_service(run, 2, 1514, RUN_PORT_PACKET, 1200 + 0.12 * 1514);
	run->source.port = RUN_PORT_PACKET;
	cost_model_run(run);
	assert_int_equal(run->cost_count, 2);
	assert_true(fabs(run->cost[0].ns_per_frame - 300) < 1e-6 && fabs(run->cost[0].ns_per_byte - 0.1) < 1e-9);
	assert_true(fabs(run->path_cost.ns_per_byte - 0.12) < 1e-9 && fabs(run->path_cost.ns_per_frame - 800) < 1e-6);
	assert_true(fabs(run->mtu_gain.measured_ratio - truth) < 1e-9);
	assert_true(fabs(run->mtu_gain.model_ratio - truth) < 1e-6);

	/* The model is tested by the large sample, not fitted to it: spoil that, and only the measurement changes. */
	for (i = 0; i < (unsigned int)run->service_count; i++)
		if (run->services[i].frame_bytes == 9014 && run->services[i].point == 2)
			run->services[i].pps *= 0.8;
	cost_model_run(run);
	assert_true(fabs(run->mtu_gain.measured_ratio - 0.8 * truth) < 1e-9);
	assert_true(fabs(run->mtu_gain.model_ratio - truth) < 1e-6);
	run_free(run);
}

static void test_ports_without_a_common_size(void **state)
{
	struct run *run = path_of(1);

	(void)state;
	add_service(run, 1, 64, RUN_PORT_LIVE, 1000 + 0.1 * 64);
	add_service(run, 1, 1514, RUN_PORT_LIVE, 1000 + 0.1 * 1514);
	add_service(run, 1, 9014, RUN_PORT_PACKET, 1000 + 0.1 * 9014);
	cost_model_run(run);
	assert_true(fabs(run->path_cost.ns_per_byte - 0.1) < 1e-9 && fabs(run->path_cost.ns_per_frame - 1000) < 1e-6);
	assert_true(isnan(run->mtu_gain.measured_ratio)); /* no port carried both */
	assert_true(fabs(run->mtu_gain.model_ratio - (9014 / 1901.4) / (1514 / 1151.4)) < 1e-6);
	run_free(run);
}

/* Only 1514 and 9014 through one port: there is no other sample, the model takes both. */
static void test_two_sizes_only(void **state)
{
	struct run *run = path_of(1);

	(void)state;
	add_service(run, 1, 1514, RUN_PORT_PACKET, 1500);
	add_service(run, 1, 9014, RUN_PORT_PACKET, 2000);
	cost_model_run(run);
	assert_true(fabs(run->mtu_gain.measured_ratio - (9014 / 2000.0) / (1514 / 1500.0)) < 1e-9);
	assert_true(fabs(run->mtu_gain.model_ratio - run->mtu_gain.measured_ratio) < 1e-9);
	run_free(run);
}

static void test_source_limit_is_not_the_path(void **state)
{
	struct run *run = path_of(1);
	unsigned int i;

	(void)state;
	for (i = 0; i < LADDER; i++) {
		add_service(run, 1, ladder[i], RUN_PORT_LIVE, 200);
		run->services[i].offered_pps = 5e6;
	}
	cost_model_run(run);
	assert_int_equal(run->cost_count, 0);
	assert_true(isnan(run->path_cost.ns_per_frame));
	assert_int_equal(run->has_mtu_gain, 0);

	/* Large frames were sent, too: what they give to this source is still something to say. */
	add_service(run, 1, 9014, RUN_PORT_LIVE, 400);
	run->services[LADDER].offered_pps = 2.5e6;
	cost_model_run(run);
	assert_int_equal(run->has_mtu_gain, 1);
	assert_true(fabs(run->mtu_gain.measured_ratio - 9014.0 / 1514 / 2) < 1e-9);
	assert_true(isnan(run->path_cost.ns_per_frame));
	run_free(run);
}

static void test_nothing_to_fit(void **state)
{
	struct run *run = path_of(3);

	(void)state;
	cost_model_run(run);
	assert_int_equal(run->cost_count, 0);
	assert_int_equal(run->has_mtu_gain, 0);
	add_cuts(run, 64, RUN_PORT_LIVE, 0);
	cost_model_run(run);
	assert_int_equal(run->cost_count, 0);
	run->point_count = 0;
	cost_model_run(run);
	/* A line that falls with the size is kept as it is, but predicts no more than flat costs do. */
	run->point_count = 2;
	run->service_count = 0;
	add_service(run, 1, 64, RUN_PORT_LIVE, 1000);
	add_service(run, 1, 512, RUN_PORT_LIVE, 900);
	cost_model_run(run);
	assert_int_equal(run->cost_count, 1);
	assert_true(run->path_cost.ns_per_byte < 0);
	assert_true(fabs(run->mtu_gain.model_ratio - 9014.0 / 1514) < 1e-9);
	assert_true(run->mtu_gain.model_gbps > 8 * 9.014 && run->mtu_gain.model_gbps < 8 * 9014 / 900.0);
	run_free(run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact_line),	    cmocka_unit_test(test_errors_are_honest),
		cmocka_unit_test(test_odd_samples),	    cmocka_unit_test(test_hops_and_path),
		cmocka_unit_test(test_ports_are_not_mixed), cmocka_unit_test(test_ports_without_a_common_size),
		cmocka_unit_test(test_two_sizes_only),	    cmocka_unit_test(test_source_limit_is_not_the_path),
		cmocka_unit_test(test_nothing_to_fit),
	};

	return cmocka_run_group_tests_name("cost_model", tests, NULL, NULL);
}
