// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs side by side; see comparison.h. Called by cmd/compare.c. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/units.h"
#include "model/comparison.h"

#define BYTES_AT_1500 1514

static int last_point(const struct run *run)
{
	return run->point_count - 1;
}

static double passes_pps(const struct run *run, unsigned int frame_bytes)
{
	for (int i = 0; i < run->service_count; i++)
		if (run->services[i].point == last_point(run) && run->services[i].frame_bytes == frame_bytes)
			return run->services[i].pps;
	return RUN_UNKNOWN;
}

static const struct run_latency *find_latency(const struct run *run, const char *load)
{
	for (int i = 0; i < run->latency_count; i++)
		if (!strcmp(run->latency[i].load, load) && run->latency[i].path.count)
			return &run->latency[i];
	return NULL;
}

/* CPUs were watched during the pressure trial alone. */
static double cpu_s_per_million(const struct run *run)
{
	const struct run_pressure *pressure = &run->pressure;
	const struct run_trial *trial;
	double busy = 0;

	if (pressure->trial < 0 || pressure->trial >= run->trial_count || !pressure->cpu_count)
		return RUN_UNKNOWN;
	trial = &run->trials[pressure->trial];
	if (trial->received <= 0 || !(trial->duration_s > 0))
		return RUN_UNKNOWN;
	for (int i = 0; i < pressure->cpu_count; i++)
		busy += pressure->cpus[i].busy;
	for (int i = 0; i < pressure->hog_count; i++)
		busy -= pressure->hogs[i].share;
	return fmax(busy, 0) * trial->duration_s / (double)trial->received * 1e6;
}

static void take_cap(struct comparison_row *row, const struct run *run)
{
	row->kind = run->verdict.kind;
	row->cause = run->verdict.cause;
	if (run->verdict.kind != RUN_VERDICT_CAPPED || run->verdict.hop < 1 || run->verdict.hop > last_point(run))
		return;
	row->cap_hop = run->verdict.hop;
	memcpy(row->cap_name, run->hops[row->cap_hop - 1].name, sizeof(row->cap_name));
}

static void take_latency(const struct run *run, const char *load, int is_median, double *ns, double *bound_ns)
{
	const struct run_latency *latency = find_latency(run, load);

	*ns = !latency ? RUN_UNKNOWN : is_median ? latency->path.p50_ns : latency->path.p99_ns;
	*bound_ns = latency ? latency->path.bound_ns : RUN_UNKNOWN;
}

int comparison_add(struct comparison *comparison, const char *name, const struct run *run)
{
	struct comparison_row *row = &comparison->rows[comparison->count];

	if (comparison->count == COMPARISON_MAX_ROWS)
		return error_set(E2BIG, "at most %d runs are compared", COMPARISON_MAX_ROWS);
	comparison->count++;
	memset(row, 0, sizeof(*row));
	snprintf(row->name, sizeof(row->name), "%s", name);
	memcpy(row->machine, run->machine, sizeof(row->machine));
	memcpy(row->kernel, run->kernel, sizeof(row->kernel));
	memcpy(row->version, run->version, sizeof(row->version));
	row->frame_bytes = run->primary_bytes;
	row->port = run->source.port;
	row->loss_goal = run->has_throughput ? run->pdr.loss_goal : RUN_UNKNOWN;
	row->rate_limit_pps = run->rate_limit_asked_pps;
	row->passes_pps = passes_pps(run, run->primary_bytes);
	row->capacity_pps = run->has_throughput && !run->pdr.no_lower ? run->pdr.lower_pps : RUN_UNKNOWN;
	row->gbps_1500 = units_gbps(passes_pps(run, BYTES_AT_1500), BYTES_AT_1500);
	take_latency(run, "idle", 1, &row->idle_ns, &row->idle_bound_ns);
	take_latency(run, "90%", 0, &row->loaded_ns, &row->loaded_bound_ns);
	row->cpu_s_per_million = cpu_s_per_million(run);
	take_cap(row, run);
	row->ratio = RUN_UNKNOWN;
	return 0;
}

/* Both unknown is no difference. */
static int differ(double a, double b)
{
	return isnan(a) != isnan(b) || (!isnan(a) && a != b);
}

static unsigned int differences(const struct comparison_row *row, const struct comparison_row *first)
{
	return (strcmp(row->machine, first->machine) ? DIFFERENT_MACHINE : 0) |
	       (strcmp(row->kernel, first->kernel) ? DIFFERENT_KERNEL : 0) |
	       (row->frame_bytes != first->frame_bytes ? DIFFERENT_FRAMES : 0) |
	       (row->port != first->port ? DIFFERENT_SOURCE : 0) |
	       (differ(row->loss_goal, first->loss_goal) ? DIFFERENT_GOAL : 0) |
	       (differ(row->rate_limit_pps, first->rate_limit_pps) ? DIFFERENT_RATE : 0) |
	       (strcmp(row->version, first->version) ? DIFFERENT_VERSION : 0);
}

void comparison_finish(struct comparison *comparison)
{
	for (int i = 0; i < comparison->count; i++) {
		struct comparison_row *row = &comparison->rows[i];
		double best = 0;

		for (int k = 0; k < comparison->count; k++)
			if (comparison->rows[k].frame_bytes == row->frame_bytes)
				best = fmax(best,
					    comparison->rows[k].passes_pps); /* of a number and NAN it is the number */
		row->ratio = best > 0 ? row->passes_pps / best : RUN_UNKNOWN;
		row->differences = differences(row, &comparison->rows[0]);
	}
}

const char *comparison_difference_name(int i)
{
	static const char *const names[COMPARISON_DIFFERENCES] = { "machine",	"kernel",     "frame size", "source",
								   "loss goal", "rate limit", "version" };

	return i >= 0 && i < COMPARISON_DIFFERENCES ? names[i] : "unknown";
}

const char *comparison_difference_value(const struct comparison_row *row, int i, char *buffer, unsigned long size)
{
	char rate[32];

	switch (1u << i) {
	case DIFFERENT_MACHINE:
		snprintf(buffer, size, "%s", row->machine[0] ? row->machine : "-");
		break;
	case DIFFERENT_KERNEL:
		snprintf(buffer, size, "%s", row->kernel[0] ? row->kernel : "-");
		break;
	case DIFFERENT_FRAMES:
		snprintf(buffer, size, "%u bytes", row->frame_bytes);
		break;
	case DIFFERENT_SOURCE:
		snprintf(buffer, size, "%s", run_port_name(row->port));
		break;
	case DIFFERENT_GOAL:
		if (isfinite(row->loss_goal))
			snprintf(buffer, size, "%g %%", 100 * row->loss_goal);
		else
			snprintf(buffer, size, "-");
		break;
	case DIFFERENT_RATE:
		snprintf(buffer, size, "%s",
			 row->rate_limit_pps > 0 ? units_print_pps(rate, sizeof(rate), row->rate_limit_pps) : "none");
		break;
	default:
		snprintf(buffer, size, "%s", row->version[0] ? row->version : "-");
		break;
	}
	return buffer;
}
