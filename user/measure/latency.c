// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measuring steps that are about delay: idle, loaded, and just above capacity, where the queue in front of the cap grows and
 * the machine is watched for the cause.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "measure/attribute.h"
#include "measure/phases.h"
#include "measure/pressure.h"

#define LOAD_STAMP_INTERVAL 16

/* What was measured, less what is known to be added to it; below the bound it may come out negative, and no delay is. */
static double corrected(double value_ns, const struct clock_correction *correction)
{
	return fmax(value_ns - correction->shift_ns, 0);
}

static void percentiles(const struct histogram *histogram, const struct clock_correction *correction,
			struct run_percentiles *result)
{
	*result = (struct run_percentiles){ .count = correction->unknown ? 0 : histogram_count(histogram),
					    .bound_ns = correction->bound_ns };
	if (!result->count) {
		result->min_ns = result->p50_ns = result->p90_ns = result->p99_ns = result->p999_ns = result->max_ns =
			RUN_UNKNOWN;
		return;
	}
	result->min_ns = corrected(histogram_min(histogram), correction);
	result->p50_ns = corrected(histogram_quantile(histogram, 0.5), correction);
	result->p90_ns = corrected(histogram_quantile(histogram, 0.9), correction);
	result->p99_ns = corrected(histogram_quantile(histogram, 0.99), correction);
	result->p999_ns = corrected(histogram_quantile(histogram, 0.999), correction);
	result->max_ns = corrected(histogram_max(histogram), correction);
}

static void record_latency(struct phases *phases, const char *load, const struct run_trial *trial)
{
	struct run *run = phases->bench.run;
	struct run_latency *latency = &run->latency[run->latency_count++];
	static const struct histogram none;
	struct clock_correction correction;
	int sink = run->point_count - 1;

	memset(latency, 0, sizeof(*latency));
	snprintf(latency->load, sizeof(latency->load), "%s", load);
	latency->rate_pps = trial->offered_pps;
	latency->frame_bytes = trial->frame_bytes;
	for (int hop = 1; hop <= sink; hop++) {
		/* A stamp tells the time since the last point that stamped: that is this hop's only if that was its start. */
		int is_known = phases->bench.active[hop] && (hop == 1 || phases->bench.active[hop - 1]);

		correction = clocks_correction(phases->bench.clocks, hop - 1, hop);
		percentiles(is_known ? &phases->bench.readings[hop].hop_ns : &none, &correction,
			    &latency->hops[hop - 1]);
	}
	correction = clocks_correction(phases->bench.clocks, 0, sink);
	percentiles(&phases->bench.readings[sink].path_ns, &correction, &latency->path);
}

double phase_path_median_ns(const struct phases *phases)
{
	int sink = phases->bench.run->point_count - 1;
	const struct clock_correction correction = clocks_correction(phases->bench.clocks, 0, sink);
	struct run_percentiles path;

	percentiles(&phases->bench.readings[sink].path_ns, &correction, &path);
	return path.p50_ns;
}

static struct trial_request probed_request(const struct phases *phases, enum run_purpose purpose, double pps,
					   double duration_s, unsigned int stamp_interval)
{
	const struct run *run = phases->bench.run;

	return (struct trial_request){ .purpose = purpose,
				       .sink_point = run->point_count - 1,
				       .port = run->source.port,
				       .frame_bytes = run->primary_bytes,
				       .pps = pps,
				       .duration_s = duration_s,
				       .stamp_interval = stamp_interval,
				       .probes = TRIAL_ALL_PROBES,
				       .with_clocks = 1 };
}

int phase_idle_latency(struct phases *phases)
{
	double pps = phases->request->rate_pps > 0 && phases->request->rate_pps < IDLE_PPS ? phases->request->rate_pps
											   : IDLE_PPS;
	struct trial_request request =
		probed_request(phases, RUN_PURPOSE_IDLE_LATENCY, pps, phases->plan->latency_s, IDLE_STAMP_INTERVAL);
	struct run_trial *trial;
	int code;

	phase_progress(phases, 0.05, "idle latency");
	code = trial_run(&phases->bench, &request, &trial);
	if (!code)
		record_latency(phases, "idle", trial);
	return code;
}

/* The most that the whole path has passed: bounds of a search on a disturbed machine can be far below what a shaper lets by. */
static double highest_passed_pps(const struct run *run)
{
	double pps = run->pdr.upper_pps;

	for (int i = 0; i < run->service_count; i++)
		if (run->services[i].point == run->point_count - 1 && run->services[i].port == run->source.port &&
		    run->services[i].frame_bytes == run->primary_bytes && run->services[i].pps > pps)
			pps = run->services[i].pps;
	return pps;
}

/* Just above capacity: enough that the queue in front of the cap must grow, little enough that the cap still works as it
 * does in use. When the source is the limit, as much as it has. */
static int press(struct phases *phases)
{
	struct run *run = phases->bench.run;
	double pps = highest_passed_pps(run) * 1.1;
	struct trial_request request;
	struct pressure_watch *watch;
	struct run_trial *trial;
	int code;

	if (phases->request->rate_pps > 0 && pps > phases->request->rate_pps)
		pps = phases->request->rate_pps;
	if (pps > run->source.ceiling_pps)
		pps = run->source.self_clocked ? 0 : run->source.ceiling_pps;
	request = probed_request(phases, RUN_PURPOSE_PRESSURE, pps, phases->plan->pressure_s, FULL_LOAD_STAMP_INTERVAL);
	request.probes = phases->probes_at_cap;
	watch = pressure_begin(&phases->bench);
	if (!watch)
		return -EIO; /* with the text of pressure_begin */
	request.tick = pressure_tick;
	request.tick_context = watch;
	code = trial_run(&phases->bench, &request, &trial);
	if (code) {
		pressure_cancel(watch);
		return code;
	}
	pressure_end(watch, &phases->bench, run->trial_count - 1);
	record_latency(phases, "110%", trial);
	return 0;
}

/*
 * At full load a tc probe costs three to four per cent of a path that takes 1 us a frame (an empty program nearly as much), so
 * only the start of the hop that costs most is probed then: it tells what is lost in front of that hop from the rest. For
 * hop 1, whose start is the source, it is its end.
 */
static void choose_probes_at_cap(struct phases *phases)
{
	struct run *run = phases->bench.run;
	int hop = 1;

	if (!attribute_hops(run))
		for (int i = 1; i < run->share_count; i++)
			if (run->shares[i].service_ns > run->shares[hop - 1].service_ns ||
			    isnan(run->shares[hop - 1].service_ns))
				hop = i + 1;
	hop = hop > 1 ? hop - 1 : 1; /* as a point */
	phases->probes_at_cap = hop < run->point_count - 1 ? 1u << hop : 0;
}

int phase_loaded_latency(struct phases *phases)
{
	static const struct {
		const char *name;
		double factor;
	} loads[] = { { "50%", 0.5 }, { "90%", 0.9 } };

	for (unsigned int i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
		double pps = phases->bench.run->pdr.lower_pps * loads[i].factor;
		struct trial_request request = probed_request(phases, RUN_PURPOSE_LOADED_LATENCY, pps,
							      phases->plan->latency_s, LOAD_STAMP_INTERVAL);
		struct run_trial *trial;
		int code;

		if (pps < 1)
			continue;
		phase_progress(phases, 0.78 + 0.03 * i, "latency at %s of capacity", loads[i].name);
		code = trial_run(&phases->bench, &request, &trial);
		if (code)
			return code;
		record_latency(phases, loads[i].name, trial);
	}
	phase_progress(phases, 0.84, "just above capacity");
	choose_probes_at_cap(phases);
	return press(phases);
}
