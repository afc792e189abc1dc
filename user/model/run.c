// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The model of a run: making, freeing, naming, and the one invariant that a trial must keep.
 *
 * Owns: what "unknown" looks like in a fresh run and a fresh trial; the names of enum values in run.json;
 * conservation of frames over a trial's points. Leaves to others: filling (measure/), JSON (model/model_json.c),
 * printing (report/). Called by: measure/, model_json and tests.
 *
 * Conservation. Let k(0) < k(1) < … < k(m) be the probed points up to the sink, k(m) the sink itself, c(j) the frames
 * counted at k(j), and c(-1) = sent. The hop that ends at k(j) carries c(j-1) - c(j): the loss of everything since
 * the probed point before it. All other hops are unknown (-1). The sum telescopes: sent - c(m) = sent - received, to
 * the frame. A source's own count (point 0) is checked but carries no hop: what falls between "sent" and point 0
 * belongs to hop 1.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/run.h"

#define NAME_COUNT(table) (sizeof(table) / sizeof((table)[0]))

static const char *name_of(const char *const *names, size_t count, unsigned int value)
{
	return value < count ? names[value] : "unknown";
}

const char *run_hook_name(enum run_hook hook)
{
	static const char *const names[] = { "source", "xdp", "tc", "sink" };

	return name_of(names, NAME_COUNT(names), hook);
}

const char *run_direction_name(enum run_direction direction)
{
	static const char *const names[] = { "in", "out" };

	return name_of(names, NAME_COUNT(names), direction);
}

const char *run_hop_kind_name(enum run_hop_kind kind)
{
	static const char *const names[] = { "wire", "bridge", "opaque" };

	return name_of(names, NAME_COUNT(names), kind);
}

const char *run_port_name(enum run_port port)
{
	static const char *const names[] = { "live", "af_xdp_copy", "af_xdp_zc", "packet" };

	return name_of(names, NAME_COUNT(names), port);
}

const char *run_limit_name(enum run_limit limit)
{
	static const char *const names[] = { "path", "source" };

	return name_of(names, NAME_COUNT(names), limit);
}

const char *run_verdict_kind_name(enum run_verdict_kind kind)
{
	static const char *const names[] = { "none", "capped", "source_limited" };

	return name_of(names, NAME_COUNT(names), kind);
}

const char *run_cause_name(enum run_cause cause)
{
	static const char *const names[] = { "unknown", "cpu", "rate_limit", "queue", "mtu", "source" };

	return name_of(names, NAME_COUNT(names), cause);
}

const char *run_purpose_name(enum run_purpose purpose)
{
	static const char *const names[] = { "delivery",       "idle_latency", "service", "capacity",
					     "loaded_latency", "pressure",     "observer", "rfc2544",
					     "bypass" };

	return name_of(names, NAME_COUNT(names), purpose);
}

static void forget_percentiles(struct run_percentiles *percentiles)
{
	*percentiles = (struct run_percentiles){
		.min_ns = RUN_UNKNOWN,
		.p50_ns = RUN_UNKNOWN,
		.p90_ns = RUN_UNKNOWN,
		.p99_ns = RUN_UNKNOWN,
		.p999_ns = RUN_UNKNOWN,
		.max_ns = RUN_UNKNOWN,
		.bound_ns = RUN_UNKNOWN,
	};
}

static void forget_cost(struct run_cost *cost)
{
	*cost = (struct run_cost){
		.ns_per_frame = RUN_UNKNOWN,
		.ns_per_byte = RUN_UNKNOWN,
		.r2 = RUN_UNKNOWN,
		.ns_per_frame_error = RUN_UNKNOWN,
		.ns_per_byte_error = RUN_UNKNOWN,
	};
}

static void forget_bounds(struct run_throughput_bounds *bounds)
{
	*bounds = (struct run_throughput_bounds){
		.lower_pps = RUN_UNKNOWN,
		.upper_pps = RUN_UNKNOWN,
		.loss_ratio = RUN_UNKNOWN,
		.loss_goal = RUN_UNKNOWN,
		.conditional_pps = RUN_UNKNOWN,
		.exceed_ratio = RUN_UNKNOWN,
		.width = RUN_UNKNOWN,
		.final_trial_s = RUN_UNKNOWN,
		.duration_sum_s = RUN_UNKNOWN,
	};
}

static void forget_rfc2544(struct run_rfc2544 *rfc2544)
{
	rfc2544->trial_s = rfc2544->stream_s = rfc2544->burst_s = RUN_UNKNOWN;
	rfc2544->settle_s = rfc2544->pause_s = rfc2544->resolution = RUN_UNKNOWN;
	for (int i = 0; i < RUN_MAX_RFC2544_SIZES; i++) {
		struct run_rfc2544_size *size = &rfc2544->sizes[i];

		size->max_pps = size->throughput_pps = size->lossy_pps = size->latency_pps = RUN_UNKNOWN;
		size->latency_mean_ns = size->latency_median_ns = size->latency_p999_ns = RUN_UNKNOWN;
		size->latency_min_ns = size->latency_max_ns = RUN_UNKNOWN;
		size->burst_frames = size->burst_min_frames = size->burst_max_frames = RUN_UNKNOWN;
		size->burst_deviation_frames = size->burst_pps = size->buffer_ns = RUN_UNKNOWN;
		for (int k = 0; k < RUN_MAX_RFC2544_STEPS; k++)
			size->steps[k].percent = size->steps[k].offered_pps = size->steps[k].loss_ratio = RUN_UNKNOWN;
	}
}

static void forget_rates(struct run *run)
{
	unsigned int i;

	for (i = 0; i < RUN_MAX_POINTS; i++)
		run->cuts[i].lower_pps = run->cuts[i].upper_pps = run->cuts[i].gbps = RUN_UNKNOWN;
	for (i = 0; i < sizeof(run->services) / sizeof(run->services[0]); i++) {
		struct run_service *service = &run->services[i];

		service->pps = service->low_pps = service->high_pps = RUN_UNKNOWN;
		service->offered_pps = service->source_ns = RUN_UNKNOWN;
		service->cpu_ns = service->cpu_low_ns = RUN_UNKNOWN;
		service->cpu = -1;
	}
	forget_bounds(&run->ndr);
	forget_bounds(&run->pdr);
	for (i = 0; i < RUN_MAX_GOALS; i++)
		forget_bounds(&run->goals[i]);
	run->search_trial_s = RUN_UNKNOWN;
	forget_rfc2544(&run->rfc2544);
	run->observer.throughput_ratio = run->observer.low_ratio = run->observer.high_ratio = RUN_UNKNOWN;
	run->observer.ns_per_frame = RUN_UNKNOWN;
	run->bypass = (struct run_bypass){ .capacity_pps = RUN_UNKNOWN,
					   .with_hop_pps = RUN_UNKNOWN,
					   .ratio = RUN_UNKNOWN,
					   .low_ratio = RUN_UNKNOWN,
					   .high_ratio = RUN_UNKNOWN,
					   .cpu_saved_s = RUN_UNKNOWN,
					   .idle_ns = RUN_UNKNOWN,
					   .with_hop_idle_ns = RUN_UNKNOWN };
	for (i = 0; i < RUN_MAX_DOMAINS; i++) {
		struct run_domain *domain = &run->domains[i];

		domain->clock_offset_ns = domain->clock_bound_ns = domain->clock_linear_ns = RUN_UNKNOWN;
		domain->clock_spread_ns = domain->clock_drift_ppm = domain->round_trip_ns = RUN_UNKNOWN;
		domain->crossing_half_min_ns = domain->crossing_half_ns = domain->crossing_bound_ns = RUN_UNKNOWN;
	}
	run->mtu_gain.measured_ratio = run->mtu_gain.model_ratio = run->mtu_gain.model_gbps = RUN_UNKNOWN;
}

static void forget_hops(struct run *run)
{
	unsigned int i, hop;

	for (i = 0; i < sizeof(run->latency) / sizeof(run->latency[0]); i++) {
		run->latency[i].rate_pps = RUN_UNKNOWN;
		forget_percentiles(&run->latency[i].path);
		for (hop = 0; hop < RUN_MAX_HOPS; hop++)
			forget_percentiles(&run->latency[i].hops[hop]);
	}
	for (hop = 0; hop < RUN_MAX_HOPS; hop++) {
		forget_cost(&run->cost[hop]);
		run->shares[hop].service_ns = run->shares[hop].error_ns = RUN_UNKNOWN;
		run->shares[hop].cpu = -1;
	}
	forget_cost(&run->path_cost);
}

static void forget_pressure(struct run_pressure *pressure)
{
	unsigned int i;

	pressure->trial = -1;
	for (i = 0; i < RUN_MAX_CPUS; i++) {
		struct run_cpu *cpu = &pressure->cpus[i];

		cpu->cpu = -1;
		cpu->busy = cpu->softirq = cpu->system = cpu->user = cpu->steal = RUN_UNKNOWN;
	}
	for (i = 0; i < RUN_MAX_HOGS; i++) {
		pressure->hogs[i].cpu = pressure->hogs[i].pid = -1;
		pressure->hogs[i].share = RUN_UNKNOWN;
	}
	for (i = 0; i < RUN_MAX_POINTS; i++)
		pressure->serving_cpu[i] = -1;
}

struct run *run_new(void)
{
	struct run *run = calloc(1, sizeof(*run));

	if (!run)
		return NULL;
	run->loss_goal = RUN_UNKNOWN;
	run->measuring_s = RUN_UNKNOWN;
	run->source.ceiling_pps = RUN_UNKNOWN;
	run->source.cpu = -1;
	forget_rates(run);
	forget_hops(run);
	forget_pressure(&run->pressure);
	return run;
}

void run_free(struct run *run)
{
	if (!run)
		return;
	free(run->trials);
	free(run);
}

static void forget_trial(struct run_trial *trial)
{
	unsigned int i;

	memset(trial, 0, sizeof(*trial));
	trial->offered_pps = trial->duration_s = RUN_UNKNOWN;
	trial->lateness_mean_ns = trial->lateness_max_ns = RUN_UNKNOWN;
	trial->sent = trial->received = RUN_UNKNOWN_COUNT;
	trial->duplicates = trial->reordered = trial->slips = RUN_UNKNOWN_COUNT;
	for (i = 0; i < RUN_MAX_POINTS; i++)
		trial->points[i] = RUN_UNKNOWN_COUNT;
	for (i = 0; i < RUN_MAX_HOPS; i++)
		trial->lost[i] = RUN_UNKNOWN_COUNT;
}

struct run_trial *run_add_trial(struct run *run)
{
	struct run_trial *trial;

	if (run->trial_count == run->trial_capacity) {
		int capacity = run->trial_capacity ? 2 * run->trial_capacity : 64;
		struct run_trial *trials = realloc(run->trials, (size_t)capacity * sizeof(*trials));

		if (!trials)
			return NULL;
		run->trials = trials;
		run->trial_capacity = capacity;
	}
	trial = &run->trials[run->trial_count++];
	forget_trial(trial);
	return trial;
}

/* Point `from` is -1 for what the source says it sent. */
static int more_than_before(const struct run *run, int from, int64_t before, int at, int64_t counted)
{
	return error_set(ERANGE,
			 "%lld test frames counted at point %d (%s), but only %lld %s%s: is the order of the points "
			 "right, or does something on this path duplicate frames?",
			 (long long)counted, at, run->points[at].name, (long long)before,
			 from < 0 ? "were sent by the source" : "at the point before it, ",
			 from < 0 ? "" : run->points[from].name);
}

int run_trial_conserve(const struct run *run, struct run_trial *trial)
{
	int64_t lost[RUN_MAX_HOPS], before = trial->sent;
	int point, from = -1;

	trial->received = RUN_UNKNOWN_COUNT;
	for (point = 0; point < RUN_MAX_HOPS; point++)
		lost[point] = trial->lost[point] = RUN_UNKNOWN_COUNT;
	if (trial->sink_point < 1 || trial->sink_point >= run->point_count || run->point_count > RUN_MAX_POINTS)
		return error_set(EINVAL, "a trial ends at point %d, but the path has points 0 to %d", trial->sink_point,
				 run->point_count - 1);
	if (trial->sent < 0 || trial->points[trial->sink_point] < 0)
		return error_set(EINVAL, "a trial to point %d (%s) has no count of frames %s", trial->sink_point,
				 run->points[trial->sink_point].name, trial->sent < 0 ? "sent" : "at its sink");
	for (point = 0; point <= trial->sink_point; point++) {
		int64_t counted = trial->points[point];

		if (counted < 0)
			continue;
		if (counted > before)
			return more_than_before(run, from, before, point, counted);
		if (point == 0)
			continue; /* hop 1 starts from "sent", so that the sum is exact */
		lost[point - 1] = before - counted;
		before = counted;
		from = point;
	}
	memcpy(trial->lost, lost, sizeof(lost));
	trial->received = trial->points[trial->sink_point];
	return 0;
}

const char *run_hop_label(const struct run *run, int hop, char *buffer, unsigned long size)
{
	size_t length;
	int wanted;

	if (!size)
		return buffer;
	if (hop < 1 || hop >= run->point_count || run->point_count > RUN_MAX_POINTS)
		wanted = snprintf(buffer, size, hop == 0 ? "whole path" : "hop %d", hop);
	else
		wanted = snprintf(buffer, size, "hop %d, %s (%s → %s)", hop, run->hops[hop - 1].name,
				  run->points[hop - 1].interface, run->points[hop].interface);
	if (wanted < 0)
		buffer[0] = '\0';
	if (wanted < 0 || (size_t)wanted < size)
		return buffer;
	/* Cut short: leave no half of a multi-byte character. */
	for (length = size - 1; length && ((unsigned char)buffer[length - 1] & 0xC0) == 0x80; length--)
		;
	if (length && (unsigned char)buffer[length - 1] >= 0xC0)
		length--;
	else
		length = size - 1;
	buffer[length] = '\0';
	return buffer;
}

struct run_cpu_name run_cpu_name(const struct run *run, int cpu)
{
	struct run_cpu_name name;

	snprintf(name.text, sizeof(name.text), "%d", cpu);
	for (int i = 0; i < run->domain_count && i < RUN_MAX_DOMAINS; i++) {
		const struct run_domain *domain = &run->domains[i];

		if (domain->first_cpu > 0 && cpu >= domain->first_cpu && cpu - domain->first_cpu < domain->cpu_count)
			snprintf(name.text, sizeof(name.text), "%d of %s", cpu - domain->first_cpu, domain->name);
	}
	return name;
}
