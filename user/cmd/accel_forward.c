// SPDX-License-Identifier: GPL-2.0-or-later
/* `hopcap accel forward`; see accel_forward.h. Owns the seconds and what is printed; forwarding is accel/forward.c. */
#include "cmd/accel_forward.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "accel/forward.h"
#include "base/error.h"
#include "base/undo.h"
#include "base/units.h"
#include "model/point_syntax.h"
#include "port/pacer.h"

#define TICK_NS 20000000

struct forwarding {
	const struct accel_forward_options *options;
	struct point_text points[2];
	char names[2][128];
	struct forward *forward;
	struct forward_counts counts[2], before[2];
	double elapsed_s;
};

static const struct {
	const char *name, *words;
	size_t offset;
} counters[] = {
	{ "received", "frames", offsetof(struct forward_counts, received) },
	{ "bytes", "bytes", offsetof(struct forward_counts, bytes) },
	{ "forwarded", "forwarded", offsetof(struct forward_counts, forwarded) },
	{ "local", "for its own side", offsetof(struct forward_counts, local) },
	{ "control", "link-local", offsetof(struct forward_counts, control) },
	{ "too_long", "too long", offsetof(struct forward_counts, too_long) },
	{ "no_room", "no room", offsetof(struct forward_counts, no_room) },
	{ "lost", "lost by the kernel", offsetof(struct forward_counts, lost) },
	{ "to_stack", "for this machine", offsetof(struct forward_counts, to_stack) },
	{ "unbound", "without socket", offsetof(struct forward_counts, unbound) },
};

#define COUNTERS (sizeof(counters) / sizeof(counters[0]))

static uint64_t counter(const struct forward_counts *counts, size_t index)
{
	uint64_t value;

	memcpy(&value, (const char *)counts + counters[index].offset, sizeof(value));
	return value;
}

static int parse(int count, char **texts, struct forwarding *job)
{
	if (count != 2)
		return error_set(EINVAL, "give the two interfaces between which frames are to go");
	for (int i = 0; i < 2; i++) {
		int code = point_parse(texts[i], &job->points[i]);

		if (code)
			return code;
		if (job->points[i].direction_given || job->points[i].hook_given)
			return error_set(
				EINVAL,
				"'%s': an interface here has no direction and no hook: INTERFACE[@ns:NAMESPACE]",
				texts[i]);
		snprintf(job->names[i], sizeof(job->names[i]), "%s%s%s", job->points[i].interface,
			 job->points[i].netns[0] ? "@ns:" : "", job->points[i].netns);
	}
	return 0;
}

static void show_second(const struct forwarding *job, double seconds)
{
	char there[32], back[32];

	if (!isatty(STDOUT_FILENO) || job->options->json)
		return;
	units_print_pps(there, sizeof(there), (double)(job->counts[0].forwarded - job->before[0].forwarded) / seconds);
	units_print_pps(back, sizeof(back), (double)(job->counts[1].forwarded - job->before[1].forwarded) / seconds);
	printf("\r\033[K%6.1f s  %s -> %s %s, back %s", job->elapsed_s, job->names[0], job->names[1], there, back);
	fflush(stdout);
}

static void show_result(const struct forwarding *job)
{
	for (int i = 0; i < 2; i++) {
		printf("%s%s: in", !i && isatty(STDOUT_FILENO) ? "\r\033[K" : "", job->names[i]);
		for (size_t k = 0; k < COUNTERS; k++)
			if (counter(&job->counts[i], k) || k < 3)
				printf("%s %s %llu", k ? "," : "", counters[k].words,
				       (unsigned long long)counter(&job->counts[i], k));
		putchar('\n');
	}
}

static int show_json(const struct forwarding *job)
{
	json_t *result = json_pack("{s:s, s:s, s:f, s:[]}", "schema", "hopcap.forward/1", "mode",
				   forward_describe(job->forward), "seconds", job->elapsed_s, "interfaces");

	for (int i = 0; result && i < 2; i++) {
		json_t *one = json_pack("{s:s}", "name", job->names[i]);

		for (size_t k = 0; one && k < COUNTERS; k++)
			json_object_set_new(one, counters[k].name,
					    json_integer((json_int_t)counter(&job->counts[i], k)));
		json_array_append_new(json_object_get(result, "interfaces"), one);
	}
	if (!result || json_dumpf(result, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(10))) {
		json_decref(result);
		return error_set(EIO, "cannot print the result");
	}
	putchar('\n');
	json_decref(result);
	return 0;
}

static int watch(struct forwarding *job)
{
	const struct timespec pause = { .tv_nsec = TICK_NS };
	uint64_t begin_ns = pacer_now_ns();
	double before_s = 0;
	int code = 0;

	while (!code && !undo_interrupted() && (job->options->seconds <= 0 || job->elapsed_s < job->options->seconds)) {
		nanosleep(&pause, NULL);
		job->elapsed_s = (double)(pacer_now_ns() - begin_ns) / 1e9;
		if (job->elapsed_s < before_s + 1)
			continue;
		code = forward_check(job->forward);
		memcpy(job->before, job->counts, sizeof(job->before));
		forward_read(job->forward, job->counts);
		show_second(job, job->elapsed_s - before_s);
		before_s = job->elapsed_s;
	}
	forward_read(job->forward, job->counts);
	return code;
}

int accel_forward(const struct accel_forward_options *options, int count, char **points)
{
	struct forwarding job = { .options = options };
	struct forward_request request = { .set_offloads = options->set_offloads,
					   .force_uplink = options->force_uplink,
					   .busy_poll = options->busy_poll,
					   .copy_only = options->copy_only,
					   .cpu = (int)options->cpu };
	char why[512] = "";
	int code = parse(count, points, &job), stopped;

	if (!code)
		code = undo_catch_signals();
	for (int i = 0; i < 2; i++) {
		request.interface[i] = job.points[i].interface;
		request.netns[i] = job.points[i].netns;
	}
	if (!code)
		code = forward_start(&request, &job.forward);
	if (code)
		return code;
	fprintf(stderr, "%s, %s: forwarding by %s; interrupt to end\n", job.names[0], job.names[1],
		forward_describe(job.forward));
	code = watch(&job);
	snprintf(why, sizeof(why), "%s", code ? error_text() : "");
	if (!options->json)
		show_result(&job);
	else if (show_json(&job) && !code)
		code = -EIO;
	stopped = forward_stop(job.forward);
	if (why[0])
		error_set(-code, "%s", why);
	return code ? code : stopped;
}
