// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The order of a run; see "A run" in ARCHITECTURE.md. Measuring is in phases.c and latency.c, deciding in the pure files
 * (attribute, cost_model, verdict).
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "measure/attribute.h"
#include "measure/cost_model.h"
#include "measure/phases.h"
#include "measure/run.h"
#include "measure/verdict.h"
#include "port/pacer.h"
#include "traffic/announce.h"

static const struct phase_plan plan_default = {
	.service_s = 0.08,
	.search_s = 0.2,
	.latency_s = 0.6,
	.pressure_s = 1.0,
	.service_rounds = 8,
	.cut_trials = 14,
	.cut_width = 0.08,
	.end_trial_s = 0.4,
	.end_s = 6.4,
	.end_width = 0.05,
	.observer_pairs = 15,
};

static const struct phase_plan plan_quick = {
	.service_s = 0.08,
	.search_s = 0.12,
	.latency_s = 0.3,
	.pressure_s = 0.6,
	.service_rounds = 5,
	.cut_trials = 8,
	.cut_width = 0.15,
	.end_trial_s = 0.2,
	.end_s = 2.4,
	.end_width = 0.12,
	.observer_pairs = 5,
};

void phase_progress(struct phases *phases, double fraction, const char *format, ...)
{
	char text[120];
	va_list arguments;

	if (!phases->request->progress)
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	phases->request->progress(fraction, text);
}

static void describe_machine(struct run *run)
{
	struct utsname name;
	time_t now = time(NULL);
	struct tm utc;

	gmtime_r(&now, &utc);
	strftime(run->created, sizeof(run->created), "%Y-%m-%dT%H:%M:%SZ", &utc);
	if (uname(&name))
		return;
	snprintf(run->kernel, sizeof(run->kernel), "%.79s", name.release);
	snprintf(run->machine, sizeof(run->machine), "%.40s, %ld CPUs", name.machine, sysconf(_SC_NPROCESSORS_ONLN));
}

static int measure(struct phases *phases)
{
	static int (*const hops[])(struct phases *) = { phase_delivery,	  phase_idle_latency,	phase_services, phase_cuts,
							phase_throughput, phase_loaded_latency, phase_observer, NULL };
	static int (*const whole[])(struct phases *) = { phase_delivery, phase_rfc2544, NULL };

	for (int (*const *step)(struct phases *) = phases->request->rfc2544 ? whole : hops; *step; step++) {
		int code = (*step)(phases);

		if (code)
			return code;
	}
	return 0;
}

int measure_run(const struct measure_request *request, const struct path *path, struct run *run)
{
	struct phases phases = { .request = request, .plan = request->quick ? &plan_quick : &plan_default };
	uint64_t begin_ns = pacer_now_ns();
	int code, sink = run->point_count - 1;

	if (request->source_cpu >= 0 && !source_cpu_usable(request->source_cpu))
		return error_set(EINVAL, "CPU %d cannot be used for the source: it is not there, or not allowed to this process",
				 request->source_cpu);
	describe_machine(run);
	run->loss_goal = request->goal_count ? request->goals[request->goal_count - 1].loss_ratio : 0.005;
	run->rate_limit_asked_pps = request->rate_pps;
	phases.bench.path = *path;
	code = bench_open(&phases.bench, run, request->source_cpu >= 0 ? request->source_cpu : source_other_cpu(-1));
	if (!code)
		code = announce(run->points[sink].interface, run->points[sink].netns, path->ifindex[sink],
				path->address[sink], path->address[0]);
	if (!code)
		code = measure(&phases);
	bench_close(&phases.bench);
	run->measuring_s = (double)(pacer_now_ns() - begin_ns) / 1e9;
	if (code || request->rfc2544)
		return code;
	code = attribute_hops(run);
	if (code)
		return code;
	cost_model_run(run);
	verdict_judge(run);
	return 0;
}
