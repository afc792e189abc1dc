/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs for tests of what reads and writes them: random ones with every member set, and a small plain one. Included by
 * the tests of run.json and of the report; static, since a test program is one file.
 */
#ifndef TESTS_UNIT_RANDOM_RUN_H
#define TESTS_UNIT_RANDOM_RUN_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "model/run.h"
#include "report/report.h"

/* A member was added? Give it a row in model_json_fields.c, a line in the fill_… function here, and the new size. */
#if __SIZEOF_POINTER__ == 8
_Static_assert(sizeof(struct run_trial) == 872, "run_trial");
_Static_assert(sizeof(struct run) == 84248, "run");
#endif

static uint64_t seed;

static uint64_t roll(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static int below(int limit)
{
	return (int)(roll() % (uint64_t)limit);
}

/* Not negative; of any size, also unknown, tiny and with all bits of the mantissa in use. */
static double any_number(void)
{
	switch (below(8)) {
	case 0:
		return RUN_UNKNOWN;
	case 1:
		return below(1000000);
	case 2:
		return 0.0;
	case 3:
		return ldexp((double)(roll() >> 11), below(200) - 150);
	case 4:
		return 5e-324 * below(1000);
	default:
		return (double)(roll() >> 11) / 4503599627.0;
	}
}

static double any_signed(void)
{
	return below(2) ? any_number() : -any_number();
}

static double any_ratio(void)
{
	return (double)(roll() >> 11) / 9007199254740992.0;
}

static int64_t any_count(void)
{
	switch (below(4)) {
	case 0:
		return RUN_UNKNOWN_COUNT;
	case 1:
		return (int64_t)(roll() >> 1);
	default:
		return below(1000000);
	}
}

static uint64_t any_unsigned(void)
{
	return below(3) ? (uint64_t)below(1000000) : roll() >> 1;
}

static int any_cpu(void)
{
	return below(257) - 1;
}

static void any_text(char *text, size_t size)
{
	static const char *const letters[] = { "a",  "b",    "-", " ", "0", "7", "\"", "\\",
					       "\n", "\033", "µ", "→", "ß", "😀", "@" };
	size_t wanted = roll() % size, used = 0;

	while (below(40)) {
		const char *letter = letters[below(15)];

		if (used + strlen(letter) > wanted)
			break;
		memcpy(text + used, letter, strlen(letter));
		used += strlen(letter);
	}
	memset(text + used, 0, size - used);
}

#define TEXT(member) any_text(member, sizeof(member))

static void fill_path(struct run *run)
{
	run->point_count = 2 + below(RUN_MAX_POINTS - 1);
	for (int i = 0; i < run->point_count; i++) {
		struct run_point *point = &run->points[i];

		TEXT(point->name);
		TEXT(point->interface);
		TEXT(point->domain);
		TEXT(point->netns);
		TEXT(point->mode);
		TEXT(point->driver);
		point->hook = (enum run_hook)below(4);
		point->direction = (enum run_direction)below(2);
		point->mtu_bytes = (unsigned int)below(70000);
	}
	for (int i = 0; i + 1 < run->point_count; i++) {
		run->hops[i].kind = (enum run_hop_kind)below(3);
		TEXT(run->hops[i].name);
	}
	run->source.port = (enum run_port)below(4);
	TEXT(run->source.why);
	run->source.ceiling_pps = any_number();
	run->source.cpu = any_cpu();
	run->source.self_clocked = below(2);
}

static int any_hop(const struct run *run)
{
	return 1 + below(run->point_count - 1);
}

static void fill_rates(struct run *run)
{
	run->size_count = below(RUN_MAX_SIZES + 1);
	for (int i = 0; i < run->size_count; i++)
		run->sizes[i] = (struct run_size){ (unsigned int)below(20000), (enum run_port)below(4),
						   below(run->point_count), below(2) };
	run->cut_count = below(RUN_MAX_POINTS + 1);
	for (int i = 0; i < run->cut_count; i++)
		run->cuts[i] = (struct run_cut){ any_hop(run), any_number(), any_number(), any_number(),
						 (enum run_limit)below(2) };
	run->service_count = below(RUN_MAX_POINTS * RUN_MAX_SIZES + 1);
	for (int i = 0; i < run->service_count; i++) {
		struct run_service *service = &run->services[i];

		service->point = any_hop(run);
		service->frame_bytes = below(2) ? run->primary_bytes : (unsigned int)below(20000);
		service->port = (enum run_port)below(4);
		service->pps = any_number();
		service->low_pps = any_number();
		service->high_pps = any_number();
		service->offered_pps = any_number();
		service->cpu_ns = any_number();
		service->cpu_low_ns = any_number();
		service->source_ns = any_number();
		service->trials = below(100);
		service->cpu = any_cpu();
		service->self_clocked = below(2);
	}
	run->share_count = below(2) * (run->point_count - 1);
	for (int i = 0; i < run->share_count; i++) {
		run->shares[i].service_ns = any_signed();
		run->shares[i].error_ns = any_number();
		run->shares[i].cpu = any_cpu();
		run->shares[i].same_cpu_as_previous = below(2);
	}
}

static void fill_bounds(struct run_throughput_bounds *bounds)
{
	bounds->lower_pps = any_number();
	bounds->upper_pps = any_number();
	bounds->loss_ratio = any_ratio();
	bounds->loss_goal = any_ratio();
	bounds->conditional_pps = any_number();
	bounds->exceed_ratio = any_ratio();
	bounds->width = any_ratio();
	bounds->final_trial_s = any_number();
	bounds->duration_sum_s = any_number();
	bounds->irregular = below(2);
	bounds->no_lower = below(2);
	bounds->no_upper = below(2);
	bounds->wide = below(2);
	bounds->contradiction = below(2);
	bounds->source_limited = below(2);
}

static void fill_rfc2544_size(struct run_rfc2544_size *size)
{
	size->frame_bytes = (unsigned int)below(20000);
	size->port = (enum run_port)below(4);
	size->max_pps = any_number();
	size->throughput_pps = any_number();
	size->lossy_pps = any_number();
	size->throughput_trials = below(100);
	size->latency_repetitions = below(30);
	size->latency_pps = any_number();
	size->latency_frames = any_unsigned();
	size->latency_lost = any_unsigned();
	size->latency_mean_ns = any_number();
	size->latency_median_ns = any_number();
	size->latency_p999_ns = any_number();
	size->latency_min_ns = any_number();
	size->latency_max_ns = any_number();
	size->step_count = below(RUN_MAX_RFC2544_STEPS + 1);
	for (int i = 0; i < size->step_count; i++)
		size->steps[i] = (struct run_rfc2544_step){ any_number(), any_number(), any_ratio() };
	size->loss_clean = below(2);
	size->bursts = below(60);
	size->burst_frames = any_number();
	size->burst_min_frames = any_number();
	size->burst_max_frames = any_number();
	size->burst_deviation_frames = any_number();
	size->burst_pps = any_number();
	size->buffer_ns = any_number();
	size->burst_unbounded = below(2);
}

static void fill_rfc2544(struct run *run)
{
	struct run_rfc2544 *rfc2544 = &run->rfc2544;

	run->has_rfc2544 = below(2);
	if (!run->has_rfc2544)
		return;
	rfc2544->by_the_rfc = below(2);
	rfc2544->trial_s = any_number();
	rfc2544->stream_s = any_number();
	rfc2544->burst_s = any_number();
	rfc2544->settle_s = any_number();
	rfc2544->pause_s = any_number();
	rfc2544->resolution = any_ratio();
	rfc2544->size_count = below(RUN_MAX_RFC2544_SIZES + 1);
	for (int i = 0; i < rfc2544->size_count; i++)
		fill_rfc2544_size(&rfc2544->sizes[i]);
}

static void fill_percentiles(struct run_percentiles *percentiles)
{
	percentiles->count = any_unsigned();
	percentiles->min_ns = any_number();
	percentiles->p50_ns = any_number();
	percentiles->p90_ns = any_number();
	percentiles->p99_ns = any_number();
	percentiles->p999_ns = any_number();
	percentiles->max_ns = any_number();
	percentiles->bound_ns = any_number();
}

static void fill_latency(struct run *run)
{
	static const char *const loads[] = { "idle", "50%", "90%", "110%" };

	run->latency_count = below(5);
	for (int i = 0; i < run->latency_count; i++) {
		struct run_latency *latency = &run->latency[i];

		if (below(2))
			TEXT(latency->load);
		else
			strcpy(latency->load, loads[i]);
		latency->rate_pps = any_number();
		latency->frame_bytes = (unsigned int)below(20000);
		for (int hop = 0; hop + 1 < run->point_count; hop++)
			fill_percentiles(&latency->hops[hop]);
		fill_percentiles(&latency->path);
	}
}

static void fill_cost(struct run_cost *cost, int hop)
{
	cost->hop = hop;
	cost->ns_per_frame = any_signed();
	cost->ns_per_byte = any_signed();
	cost->r2 = any_signed();
	cost->ns_per_frame_error = any_number();
	cost->ns_per_byte_error = any_number();
}

static void fill_costs(struct run *run)
{
	run->cost_count = below(RUN_MAX_HOPS + 1);
	for (int i = 0; i < run->cost_count; i++)
		fill_cost(&run->cost[i], any_hop(run));
	fill_cost(&run->path_cost, 0);
	run->has_observer = below(2);
	if (run->has_observer) {
		run->observer.throughput_ratio = any_number();
		run->observer.low_ratio = any_number();
		run->observer.high_ratio = any_number();
		run->observer.ns_per_frame = any_signed();
		run->observer.pairs = below(100);
	}
	run->has_bypass = below(2);
	if (run->has_bypass) {
		run->bypass.hop = below(2) ? any_hop(run) : 0;
		snprintf(run->bypass.way, sizeof(run->bypass.way), "%s", below(2) ? "fast path" : "forwarder");
		snprintf(run->bypass.why_not, sizeof(run->bypass.why_not), "%s", below(2) ? "" : "br0: \"it\" says no");
		run->bypass.capacity_pps = any_number();
		run->bypass.with_hop_pps = any_number();
		run->bypass.ratio = any_number();
		run->bypass.low_ratio = any_number();
		run->bypass.high_ratio = any_number();
		run->bypass.pairs = below(100);
		run->bypass.limited_by = (enum run_limit)below(2);
		run->bypass.cpu_saved_s = any_signed();
		run->bypass.idle_ns = any_number();
		run->bypass.with_hop_idle_ns = any_number();
	}
	run->has_mtu_gain = below(2);
	if (run->has_mtu_gain) {
		run->mtu_gain.small_bytes = (unsigned int)below(20000);
		run->mtu_gain.large_bytes = (unsigned int)below(20000);
		run->mtu_gain.measured_ratio = any_number();
		run->mtu_gain.model_ratio = any_signed();
		run->mtu_gain.model_gbps = any_signed();
	}
}

static void fill_trial(struct run *run, struct run_trial *trial)
{
	trial->purpose = (enum run_purpose)below(9);
	trial->sink_point = any_hop(run);
	trial->asked_pps = any_number();
	trial->offered_pps = any_number();
	trial->duration_s = any_number();
	trial->frame_bytes = (unsigned int)below(20000);
	trial->port = (enum run_port)below(4);
	trial->stamp_interval = below(4096);
	trial->sent = any_count();
	trial->received = any_count();
	for (int i = 0; i < run->point_count; i++)
		trial->points[i] = any_count();
	for (int i = 0; i + 1 < run->point_count; i++)
		trial->lost[i] = any_count();
	trial->duplicates = any_count();
	trial->reordered = any_count();
	trial->drop_count = below(RUN_MAX_DROPS + 1);
	for (int i = 0; i < trial->drop_count; i++) {
		TEXT(trial->drops[i].reason);
		TEXT(trial->drops[i].interface);
		trial->drops[i].count = any_unsigned();
	}
	trial->lateness_mean_ns = any_signed();
	trial->lateness_max_ns = any_signed();
	trial->slips = any_count();
}

static void fill_pressure(struct run *run)
{
	struct run_pressure *pressure = &run->pressure;

	pressure->trial = below(run->trial_count + 1) - 1;
	pressure->queue_count = below(RUN_MAX_POINTS + 1);
	for (int i = 0; i < pressure->queue_count; i++) {
		struct run_queue *queue = &pressure->queues[i];

		queue->point = below(run->point_count);
		TEXT(queue->interface);
		TEXT(queue->kind);
		queue->rate_bytes_per_s = any_unsigned();
		queue->drops = any_unsigned();
		queue->overlimits = any_unsigned();
		queue->backlog_bytes = any_unsigned();
		queue->backlog_frames = any_unsigned();
	}
	pressure->cpu_count = below(RUN_MAX_CPUS + 1);
	for (int i = 0; i < pressure->cpu_count; i++)
		pressure->cpus[i] = (struct run_cpu){ below(4096),  any_number(), any_number(),
						      any_number(), any_number(), any_number() };
	pressure->hog_count = below(RUN_MAX_HOGS + 1);
	for (int i = 0; i < pressure->hog_count; i++) {
		pressure->hogs[i].cpu = below(4096);
		pressure->hogs[i].pid = below(1 << 22);
		TEXT(pressure->hogs[i].command);
		pressure->hogs[i].share = any_number();
	}
	for (int i = 0; i < run->point_count; i++)
		pressure->serving_cpu[i] = any_cpu();
}

static void fill_conclusions(struct run *run)
{
	struct run_verdict *verdict = &run->verdict;

	run->domain_count = below(RUN_MAX_DOMAINS + 1);
	for (int i = 0; i < run->domain_count; i++) {
		struct run_domain *domain = &run->domains[i];

		TEXT(domain->name);
		TEXT(domain->kernel);
		TEXT(domain->machine);
		domain->first_cpu = below(1000);
		domain->cpu_count = below(1000);
		domain->clock_offset_ns = any_signed();
		domain->clock_bound_ns = any_number();
		domain->clock_linear_ns = any_number();
		domain->clock_spread_ns = any_number();
		domain->clock_drift_ppm = any_signed();
		domain->round_trip_ns = any_number();
		TEXT(domain->frames_note);
		domain->frame_exchanges = (uint64_t)below(1000);
		domain->crossing_out_hop = below(RUN_MAX_HOPS + 1);
		domain->crossing_back_hop = below(RUN_MAX_HOPS + 1);
		domain->crossing_half_min_ns = any_signed();
		domain->crossing_half_ns = any_signed();
		domain->crossing_bound_ns = any_number();
		domain->clock_steps = below(3);
		domain->clock_exchanges = (uint64_t)below(100000);
	}
	run->finding_count = below(RUN_MAX_FINDINGS + 1);
	for (int i = 0; i < run->finding_count; i++) {
		struct run_finding *finding = &run->findings[i];

		TEXT(finding->id);
		TEXT(finding->severity);
		TEXT(finding->interface);
		TEXT(finding->evidence);
		TEXT(finding->rule);
		TEXT(finding->fix);
		TEXT(finding->effect);
		TEXT(finding->explains);
	}
	verdict->kind = (enum run_verdict_kind)below(3);
	verdict->hop = below(run->point_count);
	verdict->second_hop = below(run->point_count);
	verdict->cause = (enum run_cause)below(6);
	verdict->confidence = any_ratio();
	TEXT(verdict->sentence);
	verdict->evidence_count = below(RUN_MAX_EVIDENCE + 1);
	for (int i = 0; i < verdict->evidence_count; i++) {
		TEXT(verdict->evidence[i].name);
		verdict->evidence[i].hop = below(run->point_count);
		TEXT(verdict->evidence[i].text);
	}
}

static struct run *random_run(uint64_t from)
{
	struct run *run = run_new();
	int trials;

	assert_non_null(run);
	seed = 88172645463325252u + from * 7919;
	for (int i = 0; i < 20; i++)
		roll();
	TEXT(run->created);
	TEXT(run->version);
	TEXT(run->kernel);
	TEXT(run->machine);
	TEXT(run->lab);
	run->primary_bytes = (unsigned int)below(20000);
	run->loss_goal = any_ratio();
	run->rate_limit_asked_pps = any_number();
	run->measuring_s = any_number();
	fill_path(run);
	fill_rates(run);
	run->has_throughput = below(2);
	if (run->has_throughput) {
		fill_bounds(&run->ndr);
		fill_bounds(&run->pdr);
		run->goal_count = below(RUN_MAX_GOALS + 1);
		for (int i = 0; i < run->goal_count; i++)
			fill_bounds(&run->goals[i]);
		run->search_trials = below(1000);
		run->search_trial_s = any_number();
	}
	fill_rfc2544(run);
	fill_latency(run);
	fill_costs(run);
	trials = below(30);
	for (int i = 0; i < trials; i++)
		fill_trial(run, run_add_trial(run));
	fill_pressure(run);
	fill_conclusions(run);
	return run;
}

/* A small run with something of everything. */
static struct run *small_run(void)
{
	struct run *run = run_new();

	assert_non_null(run);
	run->primary_bytes = 1514;
	run->point_count = 3;
	for (int i = 0; i < 3; i++)
		snprintf(run->points[i].name, sizeof(run->points[i].name), "eth%d", i);
	run->cut_count = 1;
	run->cuts[0].point = 2;
	run->has_throughput = 1;
	assert_non_null(run_add_trial(run));
	run->trials[0].sink_point = 2;
	run->trials[0].sent = 5;
	return run;
}

/* malloc'ed. */
static char *printed(const struct run *run, int width, int colour)
{
	struct report_style style = { .colour = colour, .width = width };
	size_t length;
	char *text;
	FILE *stream = open_memstream(&text, &length);

	assert_non_null(stream);
	assert_int_equal(report_text(run, stream, &style), 0);
	fclose(stream);
	return text;
}

static void assert_one_line(const char *text)
{
	size_t length = strlen(text);

	assert_in_range(length, 10, 1000);
	for (size_t i = 0; i < length; i++)
		assert_true((unsigned char)text[i] >= ' ' && text[i] != 0x7f);
}

#endif
