// SPDX-License-Identifier: GPL-2.0-or-later
/* The model of a run: fresh runs know nothing, names, labels, conservation of frames. */
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
#include "model/run.h"

static uint64_t random_state = 88172645463325252u;

static uint64_t random_number(uint64_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state % below;
}

static struct run *path_of(int points)
{
	struct run *run = run_new();
	int i;

	assert_non_null(run);
	run->point_count = points;
	for (i = 0; i < points; i++) {
		snprintf(run->points[i].name, sizeof(run->points[i].name), "if%d@ns:x", i);
		snprintf(run->points[i].interface, sizeof(run->points[i].interface), "if%d", i);
		if (i)
			snprintf(run->hops[i - 1].name, sizeof(run->hops[i - 1].name), "bridge br%d", i);
	}
	return run;
}

static void test_fresh_run_knows_nothing(void **state)
{
	struct run *run = run_new();
	struct run_trial *trial;
	int i;

	(void)state;
	assert_non_null(run);
	assert_true(isnan(run->cuts[3].lower_pps) && isnan(run->services[191].pps) &&
		    isnan(run->latency[3].hops[14].p50_ns));
	assert_true(isnan(run->path_cost.r2) && isnan(run->shares[14].service_ns) &&
		    isnan(run->mtu_gain.measured_ratio));
	assert_true(isnan(run->ndr.lower_pps) && isnan(run->pdr.loss_ratio) && isnan(run->observer.ns_per_frame));
	assert_int_equal(run->pressure.trial, -1);
	assert_int_equal(run->source.cpu, -1);
	assert_int_equal(run->pressure.serving_cpu[15], -1);
	assert_int_equal(run->verdict.kind, RUN_VERDICT_NONE);
	for (i = 0; i < 300; i++) {
		trial = run_add_trial(run);
		assert_non_null(trial);
		assert_int_equal(trial->sent, -1);
		assert_int_equal(trial->points[15], -1);
		assert_int_equal(trial->lost[14], -1);
		assert_true(isnan(trial->lateness_mean_ns));
		trial->sent = i;
	}
	assert_int_equal(run->trial_count, 300);
	for (i = 0; i < 300; i++)
		assert_int_equal(run->trials[i].sent, i);
	run_free(run);
	run_free(NULL);
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(run_hook_name(RUN_HOOK_SINK), "sink");
	assert_string_equal(run_direction_name(RUN_DIRECTION_OUT), "out");
	assert_string_equal(run_hop_kind_name(RUN_HOP_OPAQUE), "opaque");
	assert_string_equal(run_port_name(RUN_PORT_AF_XDP_ZC), "af_xdp_zc");
	assert_string_equal(run_limit_name(RUN_LIMIT_SOURCE), "source");
	assert_string_equal(run_verdict_kind_name(RUN_VERDICT_SOURCE_LIMITED), "source_limited");
	assert_string_equal(run_cause_name(RUN_CAUSE_RATE_LIMIT), "rate_limit");
	assert_string_equal(run_purpose_name(RUN_PURPOSE_OBSERVER), "observer");
	assert_string_equal(run_purpose_name(RUN_PURPOSE_RFC2544), "rfc2544");
	assert_string_equal(run_purpose_name(RUN_PURPOSE_BYPASS), "bypass");
	assert_string_equal(run_purpose_name((enum run_purpose)9), "unknown");
	assert_string_equal(run_hook_name((enum run_hook) - 1), "unknown");
}

static void test_labels(void **state)
{
	struct run *run = path_of(3);
	char buffer[80];
	unsigned long size;

	(void)state;
	assert_string_equal(run_hop_label(run, 2, buffer, sizeof(buffer)), "hop 2, bridge br2 (if1 → if2)");
	assert_string_equal(run_hop_label(run, 0, buffer, sizeof(buffer)), "whole path");
	assert_string_equal(run_hop_label(run, 9, buffer, sizeof(buffer)), "hop 9");
	/* However short the buffer, no half of an arrow is left. */
	for (size = 1; size < sizeof(buffer); size++) {
		size_t length;

		run_hop_label(run, 2, buffer, size);
		length = strlen(buffer);
		assert_true(length < size);
		if (length && (unsigned char)buffer[length - 1] >= 0x80)
			assert_memory_equal(buffer + length - 3, "→", 3);
	}
	buffer[0] = 'x';
	run_hop_label(run, 2, buffer, 0);
	assert_int_equal(buffer[0], 'x');
	run_free(run);
}

/* Random losses, random unprobed points: the known losses and what was received make up what was sent, to the frame. */
static void test_conservation(void **state)
{
	int round, i;

	(void)state;
	for (round = 0; round < 5000; round++) {
		struct run *run = path_of(2 + (int)random_number(RUN_MAX_POINTS - 1));
		struct run_trial *trial = run_add_trial(run);
		int64_t counted, sum = 0, stretch = 0, planted[RUN_MAX_POINTS] = { 0 };

		trial->sink_point = 1 + (int)random_number((uint64_t)run->point_count - 1);
		trial->sent = counted = (int64_t)random_number(round % 2 ? 1000 : INT64_MAX);
		if (random_number(2))
			trial->points[0] = trial->sent;
		for (i = 1; i <= trial->sink_point; i++) {
			planted[i] = random_number(3) ? 0 : (int64_t)random_number((uint64_t)counted + 1);
			counted -= planted[i];
			if (i == trial->sink_point || random_number(3))
				trial->points[i] = counted;
		}
		assert_int_equal(run_trial_conserve(run, trial), 0);
		assert_true(trial->received == trial->points[trial->sink_point]);
		for (i = 1; i <= trial->sink_point; i++) {
			stretch += planted[i];
			if (trial->points[i] < 0) {
				assert_true(trial->lost[i - 1] == -1);
				continue;
			}
			assert_true(trial->lost[i - 1] == stretch);
			sum += trial->lost[i - 1];
			stretch = 0;
		}
		for (; i < run->point_count; i++)
			assert_true(trial->lost[i - 1] == -1);
		assert_true(sum + trial->received == trial->sent);
		run_free(run);
	}
}

static void test_more_frames_than_before(void **state)
{
	struct run *run = path_of(4);
	struct run_trial *trial = run_add_trial(run);

	(void)state;
	trial->sink_point = 3;
	trial->sent = 1000;
	trial->points[1] = 900;
	trial->points[3] = 901;
	assert_int_equal(run_trial_conserve(run, trial), -ERANGE);
	assert_non_null(strstr(error_text(), "if3@ns:x"));
	assert_non_null(strstr(error_text(), "if1@ns:x"));
	assert_true(trial->received == -1 && trial->lost[0] == -1);

	trial->points[3] = 900;
	assert_int_equal(run_trial_conserve(run, trial), 0);
	assert_true(trial->lost[0] == 100 && trial->lost[1] == -1 && trial->lost[2] == 0);

	trial->points[1] = 1001;
	assert_int_equal(run_trial_conserve(run, trial), -ERANGE);
	trial->points[1] = -1;
	trial->points[0] = 1001;
	assert_int_equal(run_trial_conserve(run, trial), -ERANGE);
	run_free(run);
}

static void test_incomplete_trials_are_refused(void **state)
{
	struct run *run = path_of(4);
	struct run_trial *trial = run_add_trial(run);

	(void)state;
	trial->sent = 10;
	trial->points[3] = 10;
	assert_int_equal(run_trial_conserve(run, trial), -EINVAL); /* sink at the source */
	trial->sink_point = 4;
	assert_int_equal(run_trial_conserve(run, trial), -EINVAL);
	trial->sink_point = 2;
	assert_int_equal(run_trial_conserve(run, trial), -EINVAL); /* nothing counted there */
	trial->sink_point = 3;
	trial->sent = -1;
	assert_int_equal(run_trial_conserve(run, trial), -EINVAL);
	trial->sent = 10;
	assert_int_equal(run_trial_conserve(run, trial), 0);
	assert_true(trial->lost[2] == 0);
	run_free(run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fresh_run_knows_nothing),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_labels),
		cmocka_unit_test(test_conservation),
		cmocka_unit_test(test_more_frames_than_before),
		cmocka_unit_test(test_incomplete_trials_are_refused),
	};

	return cmocka_run_group_tests_name("run_model", tests, NULL, NULL);
}
