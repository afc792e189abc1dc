// SPDX-License-Identifier: GPL-2.0-or-later
/* Service times from cuts: planted hop times and CPUs must come back, bounds must hold. */
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
#include "measure/attribute.h"

static uint64_t random_state = 88172645463325252u;

static double random_between(double low, double high)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return low + (high - low) * (double)(random_state >> 11) / 9007199254740992.0;
}

static struct run *path_of(int hops)
{
	struct run *run = run_new();

	assert_non_null(run);
	run->point_count = hops + 1;
	run->primary_bytes = 64;
	run->source.port = RUN_PORT_LIVE;
	return run;
}

static struct run_service *add_cut(struct run *run, int point, double frame_ns, double spread, int cpu)
{
	struct run_service *service = &run->services[run->service_count++];

	*service = (struct run_service){
		.point = point,
		.frame_bytes = run->primary_bytes,
		.port = run->source.port,
		.pps = 1e9 / frame_ns,
		.low_pps = 1e9 / (frame_ns * (1 + spread)),
		.high_pps = 1e9 / (frame_ns * (1 - spread)),
		.offered_pps = 1e7,
		.trials = 5,
		.cpu = cpu,
	};
	return service;
}

static void expect(const struct run *run, int hop, double service_ns, double within_ns)
{
	const struct run_hop_share *share = &run->shares[hop - 1];

	if (!(fabs(share->service_ns - service_ns) <= within_ns))
		print_error("hop %d: %g ns instead of %g\n", hop, share->service_ns, service_ns);
	assert_true(fabs(share->service_ns - service_ns) <= within_ns);
}

static void expect_bound(const struct run *run, int hop, double least_ns, double most_ns)
{
	const struct run_hop_share *share = &run->shares[hop - 1];

	assert_true(isnan(share->service_ns));
	assert_true(share->error_ns >= least_ns && share->error_ns <= most_ns);
}

/* What was measured in the sea lab: every hop on CPU 1, the source on CPU 0. */
static void test_one_cpu(void **state)
{
	static const double mpps[] = { 2.9, 0.985, 1.04, 0.71, 0.755 };
	struct run *run = path_of(5);
	int hop;

	(void)state;
	for (hop = 1; hop <= 5; hop++)
		add_cut(run, hop, 1e3 / mpps[hop - 1], 0.015, 1);
	assert_int_equal(attribute_hops(run), 0);
	assert_int_equal(run->share_count, 5);
	expect(run, 1, 344.8, 0.1);
	expect(run, 2, 670.4, 0.1);
	expect(run, 3, 0, 0);
	expect(run, 4, 446.9, 0.1);
	expect(run, 5, 0, 0);
	assert_int_equal(run->shares[0].same_cpu_as_previous, 0);
	assert_int_equal(run->shares[4].same_cpu_as_previous, 1);
	assert_int_equal(run->shares[4].cpu, 1);
	/* Errors: spreads in quadrature; the step back at hops 3 and 5 shows how far the model is off around them. */
	assert_true(fabs(run->shares[0].error_ns - 0.015 * 344.8) < 1);
	assert_true(run->shares[1].error_ns > hypot(5.17, 15.2) && run->shares[1].error_ns < 60);
	assert_true(run->shares[3].error_ns > hypot(14.4, 21.1) && run->shares[3].error_ns < 100);
	run_free(run);
}

/* One trial whose CPU was taken away says nothing of the median. */
static void test_stolen_trial(void **state)
{
	struct run *run = path_of(2);

	(void)state;
	add_cut(run, 1, 300, 0.01, 1);
	add_cut(run, 2, 900, 0.01, 1)->low_pps = 1e5;
	assert_int_equal(attribute_hops(run), 0);
	expect(run, 2, 600, 0.1);
	assert_true(run->shares[1].error_ns < 10);
	run_free(run);
}

/* Others on the CPU take a different part of each cut's time: CPU time counts, where it is known. */
static void test_others_share_cpu(void **state)
{
	struct run *run = path_of(2);
	struct run_service *service;

	(void)state;
	service = add_cut(run, 1, 500, 0.2, 1);
	service->cpu_ns = 200;
	service->cpu_low_ns = 190;
	service = add_cut(run, 2, 900, 0.2, 1);
	service->cpu_ns = 450;
	service->cpu_low_ns = 450;
	assert_int_equal(attribute_hops(run), 0);
	expect(run, 1, 200, 0.1);
	expect(run, 2, 250, 0.1);
	assert_true(run->shares[0].error_ns < 10.1);
	service->cpu_ns = service->cpu_low_ns = RUN_UNKNOWN;
	assert_int_equal(attribute_hops(run), 0);
	expect(run, 2, 700, 0.1);
	run_free(run);
}

static void test_source_shares_cpu(void **state)
{
	struct run *run = path_of(3);
	struct run_service *service;
	int hop;

	(void)state;
	for (hop = 1; hop <= 3; hop++) {
		service = add_cut(run, hop, 500 + 300 * hop, 0.01, 0);
		service->source_ns = 450;
		service->self_clocked = 1;
		service->offered_pps = service->pps;
	}
	assert_int_equal(attribute_hops(run), 0);
	expect(run, 1, 350, 0.1);
	expect(run, 2, 300, 0.1);
	expect(run, 3, 300, 0.1);

	for (hop = 0; hop < 3; hop++)
		run->services[hop].source_ns = 900; /* more than the cut takes: within the error, or not at all */
	assert_int_equal(attribute_hops(run), 0);
	expect(run, 1, 0, 0);
	assert_true(run->shares[0].error_ns >= 100);
	run_free(run);
}

static void test_other_cpu_hides(void **state)
{
	struct run *run = path_of(4);

	(void)state;
	add_cut(run, 1, 400, 0.01, 0);
	add_cut(run, 2, 402, 0.01, 1);	/* faster than hop 1, somewhere below 402 */
	add_cut(run, 3, 1000, 0.01, 2); /* slower: shows as a whole */
	add_cut(run, 4, 1300, 0.01, 0); /* back on CPU 0, which hop 1 uses for 400 */
	assert_int_equal(attribute_hops(run), 0);
	expect(run, 1, 400, 0.1);
	expect_bound(run, 2, 402, 410);
	expect(run, 3, 1000, 0.1);
	assert_true(fabs(run->shares[2].error_ns - 10) < 0.1);
	expect(run, 4, 900, 0.1);
	run_free(run);
}

/* A hidden hop, then one on the same CPU: what the first takes is unknown, so the second is known up to that. */
static void test_hidden_then_shared(void **state)
{
	struct run *run = path_of(3);

	(void)state;
	add_cut(run, 1, 1000, 0.01, 0);
	add_cut(run, 2, 1000, 0.01, 1);
	add_cut(run, 3, 1500, 0.01, 1);
	assert_int_equal(attribute_hops(run), 0);
	expect_bound(run, 2, 1000, 1020);
	expect(run, 3, 1000, 1);
	assert_true(run->shares[2].error_ns >= 500 && run->shares[2].error_ns < 520);
	run->services[2].pps = 1e9 / 1005; /* still hidden */
	run->services[2].low_pps = run->services[2].high_pps = run->services[2].pps;
	assert_int_equal(attribute_hops(run), 0);
	expect_bound(run, 3, 1000, 1020);
	run_free(run);
}

static void test_source_limit_bounds(void **state)
{
	struct run *run = path_of(3);

	(void)state;
	add_cut(run, 1, 200, 0.01, 1)->offered_pps = 5e6;
	add_cut(run, 2, 201, 0.01, 1)->offered_pps = 5e6;
	add_cut(run, 3, 800, 0.01, 1)->offered_pps = 5e6;
	assert_int_equal(attribute_hops(run), 0);
	expect_bound(run, 1, 200, 205);
	expect_bound(run, 2, 200, 205);
	/* Hops 1 and 2 take at most 201 together (bounded each): 599 to 800 are left. */
	assert_true(run->shares[2].service_ns - run->shares[2].error_ns <= 599);
	assert_true(run->shares[2].service_ns + run->shares[2].error_ns >= 800);
	run_free(run);
}

static void test_ports_and_missing_cuts(void **state)
{
	struct run_hop_share shares[RUN_MAX_HOPS];
	struct run *run = path_of(3);

	(void)state;
	assert_int_equal(attribute_hops(run), -ENODATA);
	assert_int_equal(run->share_count, 0);
	assert_int_equal(attribute_port(run, 64), -1);
	add_cut(run, 1, 300, 0.01, 1);
	add_cut(run, 3, 900, 0.01, 1);
	snprintf(run->points[2].name, sizeof(run->points[2].name), "tap0");
	assert_int_equal(attribute_hops(run), -ENODATA);
	assert_non_null(strstr(error_text(), "tap0"));
	assert_int_equal(run->share_count, 0);
	assert_true(run->shares[0].service_ns == 300);
	assert_true(isnan(run->shares[1].service_ns) && isnan(run->shares[1].error_ns));
	assert_true(isnan(run->shares[2].service_ns) && isnan(run->shares[2].error_ns));

	run->source.port = RUN_PORT_PACKET;
	add_cut(run, 1, 400, 0.01, 1);
	add_cut(run, 2, 600, 0.01, 1);
	add_cut(run, 3, 700, 0.01, 1);
	assert_int_equal(attribute_port(run, 64), RUN_PORT_PACKET); /* the complete one */
	assert_int_equal(attribute_services(run, 64, shares), 0);
	assert_true(fabs(shares[1].service_ns - 200) < 0.1);
	assert_int_equal(attribute_services(run, 1514, shares), -ENODATA);
	run->services[1].pps = 0; /* nothing came through */
	assert_int_equal(attribute_port_services(run, 64, RUN_PORT_LIVE, shares), -ENODATA);
	run->point_count = 1;
	assert_int_equal(attribute_hops(run), -ENODATA);
	run_free(run);
}

/* Planted: random hops on random CPUs. Every measured share must hold the planted time within its error (plus what the
 * planted noise explains), every bound must be one. */
static void test_planted_times_come_back(void **state)
{
	int round, hop, i, measured = 0, off = 0;

	(void)state;
	for (round = 0; round < 3000; round++) {
		struct run *run = path_of(1 + (int)random_between(0, 8));
		double times[RUN_MAX_HOPS], loads[4] = { 0 }, busiest;
		int cpus = 1 + (int)random_between(0, 4);

		for (hop = 1; hop < run->point_count; hop++) {
			int cpu = (int)random_between(0, cpus);

			times[hop - 1] = random_between(20, 1500);
			loads[cpu] += times[hop - 1];
			for (busiest = 0, i = 0; i < 4; i++)
				busiest = fmax(busiest, loads[i]);
			add_cut(run, hop, busiest * random_between(0.995, 1.005), 0.01, cpu)->offered_pps = 1e9;
		}
		assert_int_equal(attribute_hops(run), 0);
		for (hop = 1; hop < run->point_count; hop++) {
			const struct run_hop_share *share = &run->shares[hop - 1];

			if (isnan(share->service_ns)) {
				assert_true(times[hop - 1] <= share->error_ns);
				continue;
			}
			measured++;
			off += fabs(share->service_ns - times[hop - 1]) > share->error_ns;
		}
		run_free(run);
	}
	print_message("%d shares measured, %d outside their error\n", measured, off);
	assert_true(off <= measured / 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_cpu),
		cmocka_unit_test(test_stolen_trial),
		cmocka_unit_test(test_others_share_cpu),
		cmocka_unit_test(test_source_shares_cpu),
		cmocka_unit_test(test_other_cpu_hides),
		cmocka_unit_test(test_hidden_then_shared),
		cmocka_unit_test(test_source_limit_bounds),
		cmocka_unit_test(test_ports_and_missing_cuts),
		cmocka_unit_test(test_planted_times_come_back),
	};

	return cmocka_run_group_tests_name("attribute", tests, NULL, NULL);
}
