// SPDX-License-Identifier: GPL-2.0-or-later
/* Made-up runs; see made_run.h. */
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

static uint64_t random_state = 88172645463325252u;

double made_random(double low, double high)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return low + (high - low) * (double)(random_state >> 11) / 9007199254740992.0;
}

/* The sea lab's path: lpar0 - switch - vios0 - trunk0 - SEA - phys0 - nic0, sources on CPU 0. */
struct run *made_sea_path(void)
{
	static const char *const interfaces[] = { "ent0", "lpar0", "vios0", "trunk0", "phys0", "nic0" };
	static const char *const hops[] = { "wire ent0-lpar0", "bridge vswitch", "wire vios0-trunk0", "bridge sea0",
					    "wire phys0-nic0" };
	struct run *run = run_new();
	int i;

	assert_non_null(run);
	run->point_count = 6;
	run->primary_bytes = 1514;
	run->loss_goal = 0.005;
	run->source.port = RUN_PORT_LIVE;
	run->source.ceiling_pps = 5.2e6;
	for (i = 0; i < 6; i++) {
		snprintf(run->points[i].interface, sizeof(run->points[i].interface), "%s", interfaces[i]);
		snprintf(run->points[i].name, sizeof(run->points[i].name), "%s@ns:x", interfaces[i]);
		run->points[i].mtu_bytes = 1500;
		run->points[i].direction = i % 2 ? RUN_DIRECTION_IN : RUN_DIRECTION_OUT;
		if (!i)
			continue;
		run->hops[i - 1].kind = i % 2 ? RUN_HOP_WIRE : RUN_HOP_BRIDGE;
		snprintf(run->hops[i - 1].name, sizeof(run->hops[i - 1].name), "%s", hops[i - 1]);
		run->pressure.serving_cpu[i] = 1;
	}
	return run;
}

struct run_service *made_service(struct run *run, int point, unsigned int bytes, double pps, double spread)
{
	struct run_service *service = &run->services[run->service_count++];

	*service = (struct run_service){
		.point = point,
		.frame_bytes = bytes,
		.port = run->source.port,
		.pps = pps,
		.low_pps = pps * (1 - spread),
		.high_pps = pps * (1 + spread),
		.offered_pps = 5.2e6,
		.trials = 7,
		.cpu = 1,
	};
	return service;
}

void made_cut(struct run *run, int point, double lower_pps, double upper_pps, enum run_limit limit)
{
	run->cuts[run->cut_count++] = (struct run_cut){
		.point = point,
		.lower_pps = lower_pps,
		.upper_pps = upper_pps,
		.gbps = lower_pps * run->primary_bytes * 8e-9,
		.limited_by = limit,
	};
}

/* Service rates and search bounds of cuts 1…n. */
void made_rates(struct run *run, const double *pps)
{
	int cut;

	for (cut = 1; cut < run->point_count; cut++) {
		made_service(run, cut, run->primary_bytes, pps[cut - 1], 0.02);
		made_cut(run, cut, pps[cut - 1] * 0.95, pps[cut - 1] * 1.02, RUN_LIMIT_PATH);
	}
}

void made_cpu(struct run *run, int cpu, double busy)
{
	run->pressure.cpus[run->pressure.cpu_count++] =
		(struct run_cpu){ .cpu = cpu, .busy = busy, .softirq = busy, .system = 0, .user = 0, .steal = 0.01 };
}

struct run_trial *made_pressure(struct run *run, double offered_pps, int lossy_hop)
{
	struct run_trial *trial = run_add_trial(run);
	int i;

	assert_non_null(trial);
	run->pressure.trial = run->trial_count - 1;
	trial->purpose = RUN_PURPOSE_PRESSURE;
	trial->sink_point = run->point_count - 1;
	trial->offered_pps = offered_pps;
	trial->sent = (int64_t)offered_pps;
	for (i = 0; i < run->point_count; i++)
		trial->points[i] = i >= lossy_hop ? trial->sent * 9 / 10 : trial->sent;
	assert_int_equal(run_trial_conserve(run, trial), 0);
	return trial;
}

void made_latency(struct run *run, const char *load, double rate_pps, const double *medians_ns)
{
	struct run_latency *latency = &run->latency[run->latency_count++];
	int hop;

	snprintf(latency->load, sizeof(latency->load), "%s", load);
	latency->rate_pps = rate_pps;
	for (hop = 1; hop < run->point_count; hop++)
		latency->hops[hop - 1].p50_ns = medians_ns[hop - 1];
}

void made_judge(struct run *run)
{
	attribute_hops(run);
	cost_model_run(run);
	verdict_judge(run);
	print_message("  %.2f %s\n", run->verdict.confidence, run->verdict.sentence);
	assert_true(run->verdict.confidence >= 0 && run->verdict.confidence <= 1);
	assert_true(strlen(run->verdict.sentence) > 20);
	assert_int_equal(run->verdict.sentence[strlen(run->verdict.sentence) - 1], '.');
}

const struct run_evidence *made_evidence(const struct run *run, const char *name)
{
	int i;

	for (i = 0; i < run->verdict.evidence_count; i++)
		if (!strcmp(run->verdict.evidence[i].name, name))
			return &run->verdict.evidence[i];
	return NULL;
}

void expect_cap(const struct run *run, int hop, enum run_cause cause)
{
	assert_int_equal(run->verdict.kind, RUN_VERDICT_CAPPED);
	assert_int_equal(run->verdict.hop, hop);
	assert_int_equal(run->verdict.cause, cause);
}

void expect_words(const struct run *run, const char *words)
{
	if (!strstr(run->verdict.sentence, words))
		print_error("'%s' is not in: %s\n", words, run->verdict.sentence);
	assert_non_null(strstr(run->verdict.sentence, words));
}
