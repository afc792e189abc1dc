// SPDX-License-Identifier: GPL-2.0-or-later
/* Verdicts on thousands of random runs: the guilty hop is found, and an innocent one never is. Seeded. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "made_run.h"
#include "measure/attribute.h"
#include "measure/cost_model.h"
#include "measure/verdict.h"

/* The source was the limit; rates wobble, CPUs are half busy, queues have moved a little: still no hop is accused. */
static void test_innocent_hops(void **state)
{
	int round, hop;

	(void)state;
	for (round = 0; round < 2000; round++) {
		struct run *run = made_sea_path();
		double source_pps = made_random(1e4, 8e6), busy = made_random(0.05, 0.95);

		run->point_count = 2 + (int)made_random(0, 5);
		run->source.ceiling_pps = source_pps;
		if (round % 4 == 0)
			run->rate_limit_asked_pps = source_pps;
		for (hop = 1; hop < run->point_count; hop++) {
			double pps = source_pps * made_random(0.95, 1.05);
			struct run_service *service = made_service(run, hop, 1514, pps, 0.05);

			service->offered_pps = source_pps * made_random(0.95, 1.05);
			service->cpu = run->pressure.serving_cpu[hop] = (int)made_random(0, 2);
			made_cut(run, hop, pps, pps, RUN_LIMIT_SOURCE);
		}
		made_cpu(run, 0, busy);
		made_cpu(run, 1, made_random(0.05, 0.95));
		made_pressure(run, source_pps,
			      round % 3 ? 1 + (int)made_random(0, run->point_count - 1) : run->point_count);
		run->pressure.queues[run->pressure.queue_count++] = (struct run_queue){
			.point = (int)made_random(0, run->point_count),
			.interface = "x",
			.kind = "fq_codel",
			.drops = (uint64_t)made_random(0, 20),
			.backlog_frames = (uint64_t)made_random(0, 9),
		};
		attribute_hops(run);
		cost_model_run(run);
		verdict_judge(run);
		assert_int_equal(run->verdict.kind, RUN_VERDICT_SOURCE_LIMITED);
		assert_int_equal(run->verdict.hop, 0);
		run_free(run);
	}
}

/* The guilty hop is found whatever wobbles: one hop is planted clearly slower than the others. */
static void test_guilty_hop_is_found(void **state)
{
	int round, hop;

	(void)state;
	for (round = 0; round < 1000; round++) {
		struct run *run = made_sea_path();
		int guilty = 1 + (int)made_random(0, 5);
		double ns = 0;

		for (hop = 1; hop <= 5; hop++) {
			ns += hop == guilty ? made_random(900, 1500) : made_random(100, 450);
			made_service(run, hop, 1514, 1e9 / ns * made_random(0.98, 1.02), 0.03);
		}
		made_cpu(run, 1, made_random(0.9, 1));
		verdict_judge(run); /* attributes for itself */
		expect_cap(run, guilty, RUN_CAUSE_CPU);
		assert_int_equal(run->verdict.second_hop, 0);
		run_free(run);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_innocent_hops),
		cmocka_unit_test(test_guilty_hop_is_found),
	};

	return cmocka_run_group_tests_name("verdict_random", tests, NULL, NULL);
}
