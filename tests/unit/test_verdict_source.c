// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Verdicts where the first hop cannot be told from the source or the sink: it is not accused, whatever its cut says.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "made_run.h"

/* All on CPU 0, the source too; what the source takes is not known. */
static struct run *shared_cpu(const double *pps, enum run_port port)
{
	struct run *run = made_sea_path();

	run->source.self_clocked = 1;
	run->source.port = port;
	for (int cut = 1; cut <= 5; cut++) {
		struct run_service *service = made_service(run, cut, 1514, pps[cut - 1], 0.02);

		service->self_clocked = 1;
		service->offered_pps = service->pps;
		service->port = port;
		service->cpu = 0;
		made_cut(run, cut, pps[cut - 1], pps[cut - 1], RUN_LIMIT_SOURCE);
	}
	made_cpu(run, 0, 1);
	made_judge(run);
	return run;
}

static void slow_source_on_the_paths_cpu(void **state)
{
	static const double pps[] = { 0.8e6, 0.56e6, 0.54e6, 0.40e6, 0.39e6 };
	struct run *run = shared_cpu(pps, RUN_PORT_PACKET);

	(void)state;
	assert_int_equal(run->verdict.kind, RUN_VERDICT_SOURCE_LIMITED);
	assert_int_equal(run->verdict.hop, 0);
	expect_words(run, "shares CPU 0");
	expect_words(run, "of the other hops");
	run_free(run);
}

static void quick_source_on_the_paths_cpu(void **state)
{
	static const double pps[] = { 5e6, 1.2e6, 1.15e6, 0.9e6, 0.88e6 };
	struct run *run = shared_cpu(pps, RUN_PORT_LIVE);

	(void)state;
	expect_cap(run, 2, RUN_CAUSE_CPU);
	run_free(run);
}

/* Socket buffers on a CPU of the path's own: hop 1 holds the sink's cost. */
static struct run *socket_buffers(const double *pps)
{
	struct run *run = made_sea_path();

	run->source.port = RUN_PORT_PACKET;
	for (int cut = 1; cut <= 5; cut++) {
		made_service(run, cut, 1514, pps[cut - 1], 0.02)->port = RUN_PORT_PACKET;
		made_cut(run, cut, pps[cut - 1] * 0.9, pps[cut - 1], RUN_LIMIT_PATH);
	}
	made_cpu(run, 1, 1);
	made_judge(run);
	return run;
}

static void first_hop_and_sink_take_most(void **state)
{
	static const double pps[] = { 1.69e6, 1.42e6, 1.2e6, 1.04e6, 0.93e6 };
	struct run *run = socket_buffers(pps);

	(void)state;
	assert_int_equal(run->verdict.kind, RUN_VERDICT_NONE);
	assert_int_equal(run->verdict.hop, 0);
	expect_words(run, "cannot be told from the sink");
	run_free(run);
}

/* ... also when the first cut was not overloaded: what is only bounded may be as much as its bound. */
static void first_hop_is_only_bounded(void **state)
{
	static const double pps[] = { 5.15e6, 3.94e6, 2.65e6, 2.16e6, 1.68e6 }; /* of 5.2 Mpps */
	struct run *run = socket_buffers(pps);

	(void)state;
	assert_int_equal(run->verdict.kind, RUN_VERDICT_NONE);
	run_free(run);
}

static void dear_bridge_behind_a_hidden_first_hop(void **state)
{
	static const double pps[] = { 1.69e6, 0.6e6, 0.58e6, 0.5e6, 0.49e6 };
	struct run *run = socket_buffers(pps);

	(void)state;
	expect_cap(run, 2, RUN_CAUSE_CPU);
	run_free(run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slow_source_on_the_paths_cpu),
		cmocka_unit_test(quick_source_on_the_paths_cpu),
		cmocka_unit_test(first_hop_and_sink_take_most),
		cmocka_unit_test(first_hop_is_only_bounded),
		cmocka_unit_test(dear_bridge_behind_a_hidden_first_hop),
	};

	return cmocka_run_group_tests_name("verdict, source and sink", tests, NULL, NULL);
}
