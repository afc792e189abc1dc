// SPDX-License-Identifier: GPL-2.0-or-later
/* Verdicts on made-up runs: every planted cause is named, and nobody innocent is. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "made_run.h"

static const double switch_rates[] = { 2.91e6, 0.985e6, 1.04e6, 0.71e6, 0.755e6 };
static const double idle_ns[] = { 800, 2000, 900, 2100, 850 };
static const double queued_ns[] = { 310000, 2100, 1000, 2200, 900 };

/* What was measured in the lab, with everything that a whole run has. */
static void test_cpu_at_switch(void **state)
{
	static const unsigned int sizes[] = { 64, 256, 512, 1024 };
	struct run *run = made_sea_path();
	unsigned int i;
	int cut;

	(void)state;
	made_rates(run, switch_rates);
	for (i = 0; i < 4; i++)
		for (cut = 1; cut <= 5; cut++)
			made_service(run, cut, sizes[i],
				     1e9 / (1e9 / switch_rates[cut - 1] - 0.03 * (cut > 1) * (1514 - sizes[i])), 0.02);
	made_cpu(run, 0, 0.99);
	made_cpu(run, 1, 0.99);
	made_pressure(run, 0.83e6, 1);
	made_latency(run, "idle", 10000, idle_ns);
	made_latency(run, "110%", 830000, queued_ns);
	made_judge(run);
	expect_cap(run, 2, RUN_CAUSE_CPU);
	assert_int_equal(run->verdict.second_hop, 0);
	assert_true(run->verdict.confidence > 0.8);
	expect_words(run,
		     "Bridge vswitch (hop 2, lpar0 to vios0) caps this path: of 2.91 Mpps that reach it 985 kpps (");
	expect_words(run, "CPU 1, which also serves the rest of the path, is fully busy");
	expect_words(run, "ns/byte there");
	expect_words(run, "the whole path carries 755 kpps");
	expect_words(run, "MTU 9000 would carry");
	assert_int_equal(made_evidence(run, "capacity_step")->hop, 2);
	assert_int_equal(made_evidence(run, "loss_at_hop")->hop, 1);
	assert_non_null(strstr(made_evidence(run, "loss_at_hop")->text, "in front of the cap is expected"));
	assert_int_equal(made_evidence(run, "latency_growth")->hop, 1);
	assert_non_null(made_evidence(run, "cpu_saturation"));
	assert_non_null(made_evidence(run, "source_ceiling"));
	assert_null(made_evidence(run, "cpu_hog"));
	assert_null(made_evidence(run, "queue_counters"));
	run_free(run);
}

static void test_cpu_at_sea(void **state)
{
	static const double pps[] = { 2.9e6, 1.9e6, 1.85e6, 0.62e6, 0.6e6 };
	struct run *run = made_sea_path();

	(void)state;
	made_rates(run, pps);
	made_cpu(run, 1, 0.97);
	made_judge(run);
	expect_cap(run, 4, RUN_CAUSE_CPU);
	expect_words(run, "Bridge sea0 (hop 4, trunk0 to phys0)");
	expect_words(run, "is 97 % busy");
	run_free(run);
}

/* The pressure trial offered too little to fill the CPU; what it did fill is what the service times predict. */
static void test_cpu_inferred(void **state)
{
	struct run *run = made_sea_path();

	(void)state;
	made_rates(run, switch_rates);
	made_judge(run);
	expect_cap(run, 2, RUN_CAUSE_CPU);
	expect_words(run, "has no time for more");
	made_cpu(run, 1, 0.62);
	made_pressure(run, 0.5e6, 1);
	made_judge(run);
	expect_cap(run, 2, RUN_CAUSE_CPU);
	run->pressure.cpus[0].busy = 0.1;
	made_judge(run);
	expect_cap(run, 2, RUN_CAUSE_UNKNOWN);
	assert_true(run->verdict.confidence <= 0.6);
	expect_words(run, "only 10 % busy");
	run_free(run);
}

/* The hop replaced: named beside the cap, "at least" when the source was the limit then, and nothing when there is no number. */
static void test_bypass(void **state)
{
	struct run *run = made_sea_path();

	(void)state;
	made_rates(run, switch_rates);
	made_cpu(run, 1, 0.97);
	run->has_bypass = 1;
	run->bypass.hop = 2;
	strcpy(run->bypass.way, "the fast path");
	strcpy(run->bypass.why_not, "vsw0: it says no");
	made_judge(run);
	assert_null(made_evidence(run, "bypass"));
	assert_null(strstr(run->verdict.sentence, "in its place"));
	run->bypass.why_not[0] = '\0';
	run->bypass.capacity_pps = 2.9e6;
	run->bypass.with_hop_pps = 0.98e6;
	run->bypass.ratio = 2.96;
	run->bypass.low_ratio = 2.9;
	run->bypass.high_ratio = 3.01;
	run->bypass.pairs = 9;
	run->bypass.cpu_saved_s = 0.67;
	made_judge(run);
	expect_cap(run, 2, RUN_CAUSE_CPU);
	expect_words(run, "with the fast path in its place the path passes 2.96 times as much (measured)");
	assert_string_equal(made_evidence(run, "bypass")->text,
			    "replaced by the fast path the path passes 2.90 Mpps instead of 980 kpps, 2.96 times (2.90 to "
			    "3.01, 9 pairs), 0.67 s of CPU time less per million frames");
	run->bypass.limited_by = RUN_LIMIT_SOURCE;
	run->bypass.cpu_saved_s = RUN_UNKNOWN;
	made_judge(run);
	expect_words(run, "passes at least 2.96 times");
	assert_non_null(strstr(made_evidence(run, "bypass")->text, "passes at least 2.90 Mpps"));
	assert_null(strstr(made_evidence(run, "bypass")->text, "CPU time"));
	run_free(run);
}

static void plant_tbf(struct run *run)
{
	static const double pps[] = { 2.91e6, 0.985e6, 1.04e6, 0.7e6, 33000 };

	made_rates(run, pps);
	run->pressure.queues[run->pressure.queue_count++] = (struct run_queue){
		.point = 4,
		.interface = "phys0",
		.kind = "tbf",
		.rate_bytes_per_s = 50000000,
		.drops = 3300,
		.overlimits = 36000,
		.backlog_bytes = 120000,
		.backlog_frames = 79,
	};
	made_pressure(run, 36300, 5);
}

static void test_tbf_at_phys(void **state)
{
	struct run *run = made_sea_path();

	(void)state;
	plant_tbf(run);
	made_cpu(run, 1, 0.06);
	made_judge(run);
	expect_cap(run, 5, RUN_CAUSE_RATE_LIMIT);
	assert_true(run->verdict.confidence > 0.95);
	expect_words(
		run,
		"of 700 kpps that reach it 33.0 kpps (400 Mbit/s at 1514 bytes) come out, because tbf on phys0 limits "
		"the rate to 400 Mbit/s (3300 frames dropped), while CPU 1 is only 6 % busy");
	assert_null(strstr(run->verdict.sentence, "MTU"));
	assert_int_equal(made_evidence(run, "queue_counters")->hop, 5);

	/* A hog fills the CPU: the rate is still the shaper's. */
	run->pressure.cpus[0].busy = 1;
	run->pressure.hogs[run->pressure.hog_count++] =
		(struct run_hog){ .cpu = 1, .pid = 77, .command = "burn", .share = 0.9 };
	made_judge(run);
	expect_cap(run, 5, RUN_CAUSE_RATE_LIMIT);

	/* Nothing is known of CPUs and of the rate: the size of the step and the counters tell. */
	run->pressure.cpu_count = 0;
	run->pressure.queues[0].rate_bytes_per_s = 0;
	made_judge(run);
	expect_cap(run, 5, RUN_CAUSE_RATE_LIMIT);
	expect_words(run, "holds frames back, 36000 times over its limit (3300 frames dropped)");
	run_free(run);
}

static void test_queue_overflows(void **state)
{
	struct run *run = made_sea_path();

	(void)state;
	plant_tbf(run);
	made_cpu(run, 1, 0.06);
	snprintf(run->pressure.queues[0].kind, sizeof(run->pressure.queues[0].kind), "pfifo");
	run->pressure.queues[0].rate_bytes_per_s = run->pressure.queues[0].overlimits = 0;
	made_judge(run);
	expect_cap(run, 5, RUN_CAUSE_QUEUE);
	expect_words(run, "the pfifo queue on phys0 overflows");
	run_free(run);
}

/* A queue that dropped a few frames at a hop whose CPU is full is not the cause; nor is a shaper far from its rate. */
/* A guest's back end: no CPU of ours is full, and the tap says that nobody came for its frames. */
static void test_full_ring(void **state)
{
	struct run *run = made_sea_path();
	struct run_trial *trial;

	(void)state;
	plant_tbf(run);
	made_cpu(run, 1, 0.06);
	run->pressure.queue_count = 0;
	made_judge(run);
	expect_cap(run, 5, RUN_CAUSE_UNKNOWN);
	trial = &run->trials[run->pressure.trial];
	trial->drops[trial->drop_count++] =
		(struct run_drop){ .reason = "FULL_RING", .interface = "phys0", .count = trial->sent / 10 };
	run->findings[run->finding_count++] = (struct run_finding){ .id = "qemu-vhost", .severity = "fail", .evidence = "vhost=off", .explains = "cpu" };
	made_judge(run);
	expect_cap(run, 5, RUN_CAUSE_QUEUE);
	expect_words(run, "because whoever takes frames from phys0 is too slow: its ring was full for ");
	expect_words(run, ", while CPU 1 is only 6 % busy");
	assert_non_null(strstr(made_evidence(run, "doctor")->text, "qemu-vhost: vhost=off"));

	/* Few frames are no cause, and a full CPU is the better one. */
	trial->drops[trial->drop_count - 1].count = trial->sent / 1000;
	made_judge(run);
	expect_cap(run, 5, RUN_CAUSE_UNKNOWN);
	trial->drops[trial->drop_count - 1].count = trial->sent / 10;
	run->pressure.cpus[0].busy = 1;
	made_judge(run);
	expect_cap(run, 5, RUN_CAUSE_CPU);
	run_free(run);
}

static void test_innocent_queue(void **state)
{
	struct run *run = made_sea_path();

	(void)state;
	made_rates(run, switch_rates);
	made_cpu(run, 1, 0.99);
	run->pressure.queues[run->pressure.queue_count++] = (struct run_queue){
		.point = 1, .interface = "lpar0", .kind = "fq_codel", .drops = 12, .backlog_frames = 40
	};
	run->pressure.queues[run->pressure.queue_count++] = (struct run_queue){
		.point = 2, .interface = "vios0", .kind = "tbf", .rate_bytes_per_s = 5000000000, .overlimits = 2
	};
	made_judge(run);
	expect_cap(run, 2, RUN_CAUSE_CPU);
	assert_non_null(made_evidence(run, "queue_counters"));
	run_free(run);
}

static void test_mtu_hole(void **state)
{
	struct run *run = made_sea_path();
	int i;

	(void)state;
	for (i = 0; i < 6; i++)
		run->points[i].mtu_bytes = i == 3 ? 1500 : 9000;
	run->sizes[0] = (struct run_size){ 64, RUN_PORT_LIVE, 5, 1 };
	run->sizes[1] = (struct run_size){ 9014, RUN_PORT_PACKET, 2, 0 };
	run->sizes[2] = (struct run_size){ 1514, RUN_PORT_LIVE, 5, 1 };
	run->sizes[3] = (struct run_size){ 4014, RUN_PORT_PACKET, 2, 0 };
	run->size_count = 4;
	made_rates(run, switch_rates);
	made_cpu(run, 1, 0.99);
	made_judge(run);
	expect_cap(run, 3, RUN_CAUSE_MTU);
	assert_true(run->verdict.confidence > 0.9);
	expect_words(
		run,
		"Wire vios0-trunk0 (hop 3, vios0 to trunk0) caps this path: frames of 4014 bytes are last seen at ");
	expect_words(run, "trunk0 has MTU 1500");
	assert_int_equal(made_evidence(run, "mtu")->hop, 3);

	/* What the doctor knew before is cited when it explains this cause, and lies there. */
	run->finding_count = 2;
	run->findings[0] = (struct run_finding){ .id = "cpu-governor", .interface = "trunk0", .explains = "cpu", .evidence = "powersave" };
	run->findings[1] = (struct run_finding){ .id = "mtu-step", .interface = "trunk0", .explains = "mtu", .evidence = "mtu is 1500" };
	made_judge(run);
	assert_string_equal(made_evidence(run, "doctor")->text, "mtu-step on trunk0: mtu is 1500");
	strcpy(run->findings[1].interface, "nic0");
	made_judge(run);
	assert_null(made_evidence(run, "doctor"));
	run->finding_count = 0;

	/* Both sides would take them: something in between does not. */
	run->points[3].mtu_bytes = 9000;
	made_judge(run);
	expect_cap(run, 3, RUN_CAUSE_MTU);
	assert_true(run->verdict.confidence < 0.7);

	/* The source itself takes no such frames: nobody's hole. */
	run->points[0].mtu_bytes = 1500;
	made_judge(run);
	expect_cap(run, 2, RUN_CAUSE_CPU);

	/* Nothing arrives at all: not a matter of size. */
	run->points[0].mtu_bytes = 9000;
	run->sizes[0].delivered = run->sizes[2].delivered = 0;
	made_judge(run);
	expect_cap(run, 2, RUN_CAUSE_CPU);
	run_free(run);
}

static void test_rate_asked(void **state)
{
	struct run *run = made_sea_path();
	int cut;

	(void)state;
	run->rate_limit_asked_pps = 10000;
	for (cut = 1; cut <= 5; cut++) {
		made_service(run, cut, 1514, 10000, 0.001)->offered_pps = 10000;
		made_cut(run, cut, 10000, 10000, RUN_LIMIT_SOURCE);
	}
	made_cpu(run, 1, 0.03);
	made_judge(run);
	assert_int_equal(run->verdict.kind, RUN_VERDICT_SOURCE_LIMITED);
	assert_int_equal(run->verdict.cause, RUN_CAUSE_SOURCE);
	assert_int_equal(run->verdict.hop, 0);
	expect_words(run, "The source is the limit: the path carries all of the 10.0 kpps");
	assert_non_null(made_evidence(run, "source_ceiling"));
	run_free(run);

	/* More was asked than the path carries: then it is the path. */
	run = made_sea_path();
	run->rate_limit_asked_pps = 2e6;
	made_rates(run, switch_rates);
	made_cpu(run, 1, 0.99);
	made_judge(run);
	expect_cap(run, 2, RUN_CAUSE_CPU);
	run_free(run);
}

static void test_hog_is_named(void **state)
{
	struct run *run = made_sea_path();

	(void)state;
	made_rates(run, switch_rates);
	made_cpu(run, 1, 1);
	run->pressure.hogs[0] = (struct run_hog){ .cpu = 0, .pid = 41, .command = "other", .share = 0.9 };
	run->pressure.hogs[1] = (struct run_hog){ .cpu = 1, .pid = 4242, .command = "stress", .share = 0.48 };
	run->pressure.hogs[2] = (struct run_hog){ .cpu = 1, .pid = 4243, .command = "tiny", .share = 0.06 };
	run->pressure.hog_count = 3;
	made_judge(run);
	expect_cap(run, 2, RUN_CAUSE_CPU);
	expect_words(run, "is fully busy: 48 % of it goes to stress (pid 4242), which is no part of the path");
	assert_null(strstr(run->verdict.sentence, "other"));
	assert_null(strstr(run->verdict.sentence, "tiny"));
	assert_non_null(strstr(made_evidence(run, "cpu_hog")->text, "stress"));
	run_free(run);
}

static void test_two_hops_alike(void **state)
{
	static const double pps[] = { 5.0e6, 1.111e6, 1.1e6, 0.62e6, 0.6e6 };
	struct run *run = made_sea_path();

	(void)state;
	made_rates(run, pps);
	made_cpu(run, 1, 0.99);
	made_judge(run);
	assert_int_equal(run->verdict.kind, RUN_VERDICT_CAPPED);
	assert_int_equal(run->verdict.hop + run->verdict.second_hop, 6);
	assert_int_equal(run->verdict.cause, RUN_CAUSE_CPU);
	expect_words(run, "cap this path, alike within the error of measurement");
	run_free(run);
}

static struct run *dedicated_path(double pps, double offered_pps, int self_clocked)
{
	struct run *run = made_sea_path();
	struct run_service *service;

	run->point_count = 2;
	snprintf(run->hops[0].name, sizeof(run->hops[0].name), "wire ent0-nic0");
	snprintf(run->points[1].interface, sizeof(run->points[1].interface), "nic0");
	service = made_service(run, 1, 1514, pps, 0.02);
	service->offered_pps = offered_pps;
	service->self_clocked = self_clocked;
	service->cpu = self_clocked ? 0 : 1;
	return run;
}

static void test_dedicated_path(void **state)
{
	struct run *run = dedicated_path(2.9e6, 5.2e6, 0);

	(void)state;
	made_cut(run, 1, 2.7e6, 2.95e6, RUN_LIMIT_PATH);
	made_cpu(run, 1, 0.99);
	made_judge(run);
	expect_cap(run, 1, RUN_CAUSE_CPU);
	expect_words(run, "of 5.20 Mpps that reach it 2.90 Mpps");
	run_free(run);

	/* Everything that can be offered comes through. */
	run = dedicated_path(5.19e6, 5.2e6, 0);
	made_cut(run, 1, 5.2e6, 5.2e6, RUN_LIMIT_SOURCE);
	made_cpu(run, 1, 0.6);
	made_judge(run);
	assert_int_equal(run->verdict.kind, RUN_VERDICT_SOURCE_LIMITED);
	expect_words(run, "a faster source");
	run_free(run);

	/* ... and the search contradicts: nothing that could be accused. */
	run = dedicated_path(5.19e6, 5.2e6, 0);
	made_cut(run, 1, 4e6, 4.2e6, RUN_LIMIT_PATH);
	made_judge(run);
	assert_int_equal(run->verdict.kind, RUN_VERDICT_NONE);
	assert_true(run->verdict.confidence == 0);
	expect_words(run, "No hop stands out");
	run_free(run);
}

/* Source and path share a CPU: nothing is lost, and still a hop takes most of the time. */
static void test_self_clocked(void **state)
{
	static const double pps[] = { 1.5e6, 0.65e6, 0.6e6, 0.45e6, 0.42e6 };
	struct run *run = made_sea_path();
	int cut;

	(void)state;
	run->source.self_clocked = 1;
	for (cut = 1; cut <= 5; cut++) {
		struct run_service *service = made_service(run, cut, 1514, pps[cut - 1], 0.02);

		service->self_clocked = 1;
		service->offered_pps = service->pps;
		service->source_ns = 300;
		service->cpu = 0;
		run->pressure.serving_cpu[cut] = 0;
		made_cut(run, cut, pps[cut - 1], pps[cut - 1], RUN_LIMIT_SOURCE);
	}
	made_cpu(run, 0, 1);
	made_judge(run);
	expect_cap(run, 2, RUN_CAUSE_CPU);
	expect_words(run, "self-clocked");
	run_free(run);
}

static void test_other_cpus(void **state)
{
	static const double pps[] = { 2.9e6, 2.85e6, 2.8e6, 0.9e6, 0.89e6 };
	struct run *run = made_sea_path();
	int cut;

	(void)state;
	made_rates(run, pps);
	for (cut = 1; cut <= 5; cut++)
		run->services[cut - 1].cpu = run->pressure.serving_cpu[cut] = cut;
	made_cpu(run, 2, 0.4);
	made_cpu(run, 4, 0.99);
	made_judge(run);
	expect_cap(run, 4, RUN_CAUSE_CPU);
	expect_words(run, "CPU 4 is fully busy");
	run_free(run);
}

static void test_nothing_measured(void **state)
{
	struct run *run = made_sea_path();

	(void)state;
	made_judge(run);
	assert_int_equal(run->verdict.kind, RUN_VERDICT_NONE);
	run->point_count = 0;
	made_judge(run);
	assert_int_equal(run->verdict.kind, RUN_VERDICT_NONE);
	run_free(run);
}

/* Rates that vary by half: no step exceeds its error. A full CPU still caps, but where is said with doubt. */
static void test_wild_rates(void **state)
{
	struct run *run = made_sea_path();
	int i;

	(void)state;
	made_rates(run, switch_rates);
	for (i = 0; i < run->service_count; i++) {
		run->services[i].low_pps = 0.4 * run->services[i].pps;
		run->services[i].high_pps = 3.0 * run->services[i].pps;
	}
	made_cpu(run, 1, 1);
	made_judge(run);
	assert_int_equal(run->verdict.kind, RUN_VERDICT_CAPPED);
	assert_int_equal(run->verdict.cause, RUN_CAUSE_CPU);
	assert_true(run->verdict.second_hop > 0);
	assert_true(run->verdict.confidence < 0.7);
	run->pressure.cpus[0].busy = 0.2;
	made_judge(run);
	assert_int_equal(run->verdict.kind, RUN_VERDICT_NONE);
	run_free(run);
}

/* As many points, names, hogs and queues as fit: nothing runs over, evidence stops at its limit. */
static void test_full_run(void **state)
{
	struct run *run = made_sea_path();
	int i;

	(void)state;
	run->point_count = RUN_MAX_POINTS;
	for (i = 0; i < RUN_MAX_POINTS; i++) {
		memset(run->points[i].name, 'n', sizeof(run->points[i].name) - 1);
		memset(run->points[i].interface, 'i', sizeof(run->points[i].interface) - 1);
		run->pressure.queues[i] = (struct run_queue){ .point = i,
							      .interface = "ifwithlongname0",
							      .kind = "kindwithlongna",
							      .drops = UINT64_MAX,
							      .overlimits = UINT64_MAX,
							      .backlog_bytes = UINT64_MAX,
							      .backlog_frames = UINT64_MAX };
		if (!i)
			continue;
		memset(run->hops[i - 1].name, 'h', sizeof(run->hops[i - 1].name) - 1);
		run->pressure.serving_cpu[i] = 1;
		made_service(run, i, 1514, 1e9 / (500 * i), 0.02);
	}
	run->pressure.queue_count = RUN_MAX_POINTS;
	for (i = 0; i < RUN_MAX_HOGS; i++) {
		run->pressure.hogs[i] = (struct run_hog){ .cpu = 1, .pid = 2000000000, .share = 1 };
		memset(run->pressure.hogs[i].command, 'c', sizeof(run->pressure.hogs[i].command) - 1);
	}
	run->pressure.hog_count = RUN_MAX_HOGS;
	made_cpu(run, 1, 1);
	made_judge(run);
	assert_int_equal(run->verdict.kind, RUN_VERDICT_CAPPED);
	assert_true(run->verdict.second_hop > 0);
	assert_int_equal(run->verdict.evidence_count, RUN_MAX_EVIDENCE);
	run_free(run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cpu_at_switch),	cmocka_unit_test(test_cpu_at_sea),
		cmocka_unit_test(test_cpu_inferred),	cmocka_unit_test(test_bypass),
		cmocka_unit_test(test_tbf_at_phys),
		cmocka_unit_test(test_queue_overflows), cmocka_unit_test(test_innocent_queue),
		cmocka_unit_test(test_mtu_hole),	cmocka_unit_test(test_rate_asked),
		cmocka_unit_test(test_hog_is_named),	cmocka_unit_test(test_two_hops_alike),
		cmocka_unit_test(test_dedicated_path),	cmocka_unit_test(test_self_clocked),
		cmocka_unit_test(test_other_cpus),	cmocka_unit_test(test_nothing_measured),
		cmocka_unit_test(test_wild_rates),	cmocka_unit_test(test_full_run),
		cmocka_unit_test(test_full_ring),
	};

	return cmocka_run_group_tests_name("verdict", tests, NULL, NULL);
}
