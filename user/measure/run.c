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
	.bypass_pairs = 11,
	.bypass_idle_pairs = 5,
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
	.bypass_pairs = 5,
	.bypass_idle_pairs = 3,
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
	static int (*const hops[])(
		struct phases *) = { phase_delivery,   phase_idle_latency,   phase_services, phase_cuts,
				     phase_throughput, phase_loaded_latency, phase_observer, NULL };
	static int (*const whole[])(struct phases *) = { phase_delivery, phase_rfc2544, NULL };

	for (int (*const *step)(struct phases *) = phases->request->rfc2544 ? whole : hops; *step; step++) {
		int code = (*step)(phases);

		if (code)
			return code;
	}
	return 0;
}

/* With the hop replaced that the verdict names, the verdict is written once more: it says what that gave. */
static int judge(struct phases *phases)
{
	struct run *run = phases->bench.run;
	int code = attribute_hops(run);

	if (code)
		return code;
	cost_model_run(run);
	verdict_judge(run);
	if (!phases->request->bypass)
		return 0;
	code = phase_bypass(phases);
	if (!code)
		verdict_judge(run);
	return code;
}

/* --cpu is the source's kernel's own number; all else is said in numbers of the run. */
static int choose_source_cpu(const struct measure_request *request, const struct path *path, int *cpu)
{
	struct domain *domain = path->domain[0];
	int wanted = request->source_cpu >= 0 ? domain->first_cpu + request->source_cpu : -1, usable, other;
	int code = domain_cpu(domain, wanted, -1, &usable, &other);

	if (code)
		return code;
	if (wanted >= 0 && !usable)
		return error_set(
			EINVAL, "CPU %d cannot be used for the source: it is not there, or not allowed to this process",
			request->source_cpu);
	*cpu = wanted >= 0 ? wanted : other;
	return 0;
}

/* RFC 2544 has no place for a bound of the clock. */
static int check_clocks(const struct measure_request *request, const struct path *path, int sink)
{
	if ((request->rfc2544 & MEASURE_LATENCY) && !domain_is_same_kernel(path->domain[0], path->domain[sink]))
		return error_set(EINVAL, "--rfc2544: latency needs source and sink in one kernel; "
					 "--rfc2544=THROUGHPUT,LOSS,BACKTOBACK measures the rest");
	return 0;
}

int measure_run(const struct measure_request *request, const struct path *path, struct run *run)
{
	struct phases phases = { .request = request, .plan = request->quick ? &plan_quick : &plan_default };
	uint64_t begin_ns = pacer_now_ns();
	int code, source_cpu = -1, sink = run->point_count - 1;

	code = choose_source_cpu(request, path, &source_cpu);
	if (!code)
		code = check_clocks(request, path, sink);
	if (code)
		return code;
	describe_machine(run);
	run->loss_goal = request->goal_count ? request->goals[request->goal_count - 1].loss_ratio : 0.005;
	run->rate_limit_asked_pps = request->rate_pps;
	phases.bench.path = *path;
	code = domain_announce(path->domain[sink], &run->points[sink], path->links[sink].address,
			       path->links[0].address);
	if (!code && request->look)
		request->look(run, path);
	if (!code)
		code = bench_open(&phases.bench, run, source_cpu);
	if (!code)
		code = measure(&phases);
	if (!code && !request->rfc2544)
		code = judge(&phases);
	clocks_record(phases.bench.clocks, run);
	clock_frames_record(phases.bench.frames, run);
	bench_close(&phases.bench);
	run->measuring_s = (double)(pacer_now_ns() - begin_ns) / 1e9;
	return code;
}
