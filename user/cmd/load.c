// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `hopcap load`, `stat`, `unload`: probes that stay at points when the program ends.
 *
 * Owns: the command lines and the table that stat prints. Leaves to others: loading and reading (domain/pinned.c, through the domain).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

#include "base/error.h"
#include "base/undo.h"
#include "base/units.h"
#include "cmd/command.h"
#include "cmd/domain_options.h"
#include "model/point_syntax.h"

static struct {
	int xdp, all, watch, json;
	double interval_s;
} options = { .interval_s = 1 };

static const struct option_row load_rows[] = {
	{ "xdp", 0, OPTION_FLAG, NULL, "XDP in the driver instead of tc: incoming frames only", &options.xdp, 0, 0 },
	DOMAIN_OPTION_ROWS,
	{ NULL, 0, OPTION_FLAG, NULL, NULL, NULL, 0, 0 },
};

static const struct option_row stat_rows[] = {
	{ "watch", 'w', OPTION_FLAG, NULL, "again and again, with rates, until interrupted", &options.watch, 0, 0 },
	{ "interval", 'i', OPTION_SECONDS, "S", "between two readings of --watch (default: 1)", &options.interval_s, 0,
	  0 },
	{ "json", 'j', OPTION_FLAG, NULL, "one JSON object a reading, on a line", &options.json, 0, 0 },
	DOMAIN_OPTION_ROWS,
	{ NULL, 0, OPTION_FLAG, NULL, NULL, NULL, 0, 0 },
};

static const struct option_row unload_rows[] = {
	{ "all", 'a', OPTION_FLAG, NULL, "all that are loaded", &options.all, 0, 0 },
	DOMAIN_OPTION_ROWS,
	{ NULL, 0, OPTION_FLAG, NULL, NULL, NULL, 0, 0 },
};

static int fail(const char *command, int code)
{
	fprintf(stderr, "hopcap %s: %s\n", command, error_text());
	return code == -EINTR ? EXIT_STATUS_FINDINGS : error_exit_status(code);
}

static int need_root(void)
{
	return geteuid() ? error_set(EPERM, "needs root: BPF programs and their files are its own") : 0;
}

/* --- load --- */

static int load_point(const struct domains *domains, const char *text)
{
	struct verb_load load = { .direction = RUN_DIRECTION_IN };
	struct point_text point;
	struct domain *domain;
	int code = point_parse_in_domains(text, &point);

	if (!code)
		code = point_print(&point, load.place.name, sizeof(load.place.name));
	if (code)
		return code;
	domain = domains_find(domains, point.domain[0] ? point.domain : "local");
	if (!domain)
		return -EINVAL;
	memcpy(load.place.interface, point.interface, sizeof(point.interface));
	memcpy(load.place.netns, point.netns, sizeof(point.netns));
	if (point.direction_given)
		load.direction = (int)point.direction;
	strcpy(load.mode, point.hook_given ? point.mode : options.xdp ? "native" : "tcx");
	if (strcmp(load.mode, "tcx") && load.direction == RUN_DIRECTION_OUT)
		return error_set(EINVAL, "%s: XDP sees incoming frames only", text);
	code = domain->ops->call(domain, VERB_LOAD, &load, NULL);
	if (!code)
		printf("%s: %s, %s\n", load.place.name, load.direction == RUN_DIRECTION_IN ? "in" : "out",
		       strcmp(load.mode, "tcx") ? load.mode : "tc");
	return code;
}

static int run_load(int count, char **points)
{
	struct domains domains = { 0 };
	int code = count ? need_root() : error_set(EINVAL, "give the points to load probes at");

	if (!code)
		code = undo_catch_signals();
	if (!code)
		code = domain_options_open(&domains);
	for (int i = 0; !code && i < count; i++)
		code = load_point(&domains, points[i]);
	if (code)
		code = fail("load", code);
	domains_close(&domains);
	return code;
}

/* --- stat --- */

/* Readings of all domains, and those before them. */
struct readings {
	struct timespec when;
	int known[DOMAINS_MAX];
	struct verb_stat_reply of[DOMAINS_MAX];
};

static const struct domain_pinned *same_probe(const struct verb_stat_reply *reply, const struct domain_pinned *wanted)
{
	for (int i = 0; i < reply->count; i++) {
		const struct domain_pinned *probe = &reply->list[i];

		if (!strcmp(probe->interface, wanted->interface) && !strcmp(probe->netns, wanted->netns) &&
		    !strcmp(probe->direction, wanted->direction) && !strcmp(probe->mode, wanted->mode) &&
		    probe->other_frames <= wanted->other_frames && probe->test_frames <= wanted->test_frames)
			return probe;
	}
	return NULL;
}

static void name_of(const struct domain *domain, const struct domain_pinned *probe, char *name, size_t size)
{
	struct point_text point = { 0 };

	memcpy(point.interface, probe->interface, sizeof(point.interface));
	memcpy(point.netns, probe->netns, sizeof(point.netns));
	if (!domain_is_local(domain))
		memcpy(point.domain, domain->name, sizeof(point.domain));
	if (point_print(&point, name, size))
		snprintf(name, size, "%s", probe->interface);
}

static double per_second(uint64_t now, uint64_t before, double elapsed_s)
{
	return elapsed_s > 0 ? (double)(now - before) / elapsed_s : RUN_UNKNOWN;
}

static void print_probe(const struct domain *domain, const struct domain_pinned *probe,
			const struct domain_pinned *before, double elapsed_s)
{
	char name[160], test[32], other[32], p50[32], p99[32], max[32], rate[2][32];

	name_of(domain, probe, name, sizeof(name));
	snprintf(name + strlen(name), sizeof(name) - strlen(name), ":%s %s%s", probe->direction,
		 strcmp(probe->mode, "tcx") ? probe->mode : "tc", probe->attached ? "" : " (interface gone)");
	printf("%-38s %15s %15s", name, units_print_count(other, sizeof(other), probe->other_frames),
	       units_print_count(test, sizeof(test), probe->test_frames));
	if (before)
		printf(" %11s %11s",
		       units_print_pps(rate[0], sizeof(rate[0]),
				       per_second(probe->other_frames, before->other_frames, elapsed_s)),
		       units_print_pps(rate[1], sizeof(rate[1]),
				       per_second(probe->test_frames, before->test_frames, elapsed_s)));
	else if (options.watch)
		printf(" %11s %11s", "-", "-");
	if (probe->stamped)
		printf(" %10s %10s %10s", units_print_ns(p50, sizeof(p50), (double)probe->p50_ns),
		       units_print_ns(p99, sizeof(p99), (double)probe->p99_ns),
		       units_print_ns(max, sizeof(max), (double)probe->max_ns));
	printf("\n");
}

static json_t *probe_json(const struct domain *domain, const struct domain_pinned *probe)
{
	char name[RUN_NAME_BYTES];

	name_of(domain, probe, name, sizeof(name));
	return json_pack(
		"{s:s, s:s, s:s, s:s, s:s, s:s, s:b, s:f, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}",
		"name", name, "interface", probe->interface, "netns", probe->netns, "domain", domain->name, "direction",
		probe->direction, "mode", probe->mode, "attached", probe->attached, "age_s",
		(double)probe->age_ns / 1e9, "test_frames", (json_int_t)probe->test_frames, "test_bytes",
		(json_int_t)probe->test_bytes, "other_frames", (json_int_t)probe->other_frames, "other_bytes",
		(json_int_t)probe->other_bytes, "other_segments", (json_int_t)probe->other_segments, "stamped",
		(json_int_t)probe->stamped, "stamp_errors", (json_int_t)probe->stamp_errors, "hop_p50_ns",
		(json_int_t)probe->p50_ns, "hop_p99_ns", (json_int_t)probe->p99_ns, "hop_max_ns",
		(json_int_t)probe->max_ns, "path_p50_ns", (json_int_t)probe->path_p50_ns, "path_p99_ns",
		(json_int_t)probe->path_p99_ns);
}

static int print_json(const struct domains *domains, const struct readings *now)
{
	json_t *probes = json_array(), *object = json_pack("{s:s, s:o}", "schema", "hopcap.stat/1", "probes", probes);
	char *text;

	for (int d = 0; object && d < domains->count; d++)
		for (int i = 0; i < now->of[d].count; i++)
			json_array_append_new(probes, probe_json(domains->list[d], &now->of[d].list[i]));
	text = object ? json_dumps(object, JSON_COMPACT) : NULL;
	if (text)
		puts(text);
	free(text);
	json_decref(object);
	return text ? 0 : error_set(ENOMEM, "out of memory");
}

static int print_text(const struct domains *domains, const struct readings *now, const struct readings *before)
{
	double elapsed_s = (double)(now->when.tv_sec - before->when.tv_sec) +
			   (double)(now->when.tv_nsec - before->when.tv_nsec) / 1e9;
	int probes = 0;

	printf("%-38s %15s %15s%s %10s %10s %10s\n", "probe", "other frames", "test frames",
	       options.watch ? "       other        test" : "", "hop p50", "p99", "max");
	for (int d = 0; d < domains->count; d++)
		for (int i = 0; i < now->of[d].count; i++, probes++) {
			const struct domain_pinned *probe = &now->of[d].list[i];

			print_probe(domains->list[d], probe,
				    before->known[d] ? same_probe(&before->of[d], probe) : NULL, elapsed_s);
		}
	if (!probes)
		printf("nothing is loaded; `hopcap load POINT...` does it\n");
	return 0;
}

static int read_all(const struct domains *domains, struct readings *now)
{
	int code = 0;

	clock_gettime(CLOCK_MONOTONIC, &now->when);
	for (int d = 0; !code && d < domains->count; d++) {
		struct domain *domain = domains->list[d];

		code = domain->ops->call(domain, VERB_STAT, NULL, &now->of[d]);
		now->known[d] = !code;
	}
	return code;
}

static int show(const struct domains *domains)
{
	struct readings *readings = calloc(2, sizeof(*readings));
	const struct timespec pause = { .tv_sec = (time_t)options.interval_s,
					.tv_nsec = (long)((options.interval_s - (double)(time_t)options.interval_s) *
							  1e9) };
	int code = readings ? 0 : error_set(ENOMEM, "out of memory"), round = 0;

	while (!code && !undo_interrupted()) {
		struct readings *now = &readings[round % 2], *before = &readings[(round + 1) % 2];

		round++;
		code = read_all(domains, now);
		if (!code)
			code = options.json ? print_json(domains, now) : print_text(domains, now, before);
		if (fflush(stdout))
			break;
		if (!options.watch)
			break;
		nanosleep(&pause, NULL);
	}
	free(readings);
	return code;
}

static int run_stat(int count, char **positional)
{
	struct domains domains = { 0 };
	int code = count ? error_set(EINVAL, "'%s': it shows all probes and takes no points", positional[0])
			 : need_root();

	if (!code)
		code = undo_catch_signals();
	if (!code)
		code = domain_options_open(&domains);
	if (!code)
		code = show(&domains);
	if (code)
		code = fail("stat", code);
	domains_close(&domains);
	return code;
}

/* --- unload --- */

static int unload_point(const struct domains *domains, const char *text)
{
	struct verb_unload unload = { "", "" };
	struct verb_number removed = { 0 };
	struct point_text point;
	struct domain *domain;
	int code = point_parse_in_domains(text, &point);

	if (code)
		return code;
	domain = domains_find(domains, point.domain[0] ? point.domain : "local");
	if (!domain)
		return -EINVAL;
	memcpy(unload.interface, point.interface, sizeof(unload.interface));
	memcpy(unload.netns, point.netns, sizeof(unload.netns));
	code = domain->ops->call(domain, VERB_UNLOAD, &unload, &removed);
	if (!code && !removed.number)
		code = error_set(ENOENT, "%s: no probe is loaded there; `hopcap stat` lists them", text);
	if (!code)
		printf("%s: %d unloaded\n", text, removed.number);
	return code;
}

static int unload_all(const struct domains *domains)
{
	const struct verb_unload all = { "", "" };
	struct verb_number removed;
	int code = 0;

	for (int d = 0; !code && d < domains->count; d++) {
		struct domain *domain = domains->list[d];

		code = domain->ops->call(domain, VERB_UNLOAD, &all, &removed);
		if (!code)
			printf("%s: %d unloaded\n", domain->name, removed.number);
	}
	return code;
}

static int run_unload(int count, char **points)
{
	struct domains domains = { 0 };
	int code = !count == !options.all ? error_set(EINVAL, "give points, or --all") : need_root();

	if (!code)
		code = undo_catch_signals();
	if (!code)
		code = domain_options_open(&domains);
	if (!code && options.all)
		code = unload_all(&domains);
	for (int i = 0; !code && i < count; i++)
		code = unload_point(&domains, points[i]);
	if (code)
		code = fail("unload", code);
	domains_close(&domains);
	return code;
}

const struct command command_load = {
	.name = "load",
	.arguments = "POINT...",
	.summary = "load probes that stay: they count all frames and the delays of test frames",
	.details =
		"POINT is INTERFACE[@ns:NAMESPACE|@DOMAIN[:ns=NAMESPACE]], with :out for outgoing frames (default: incoming), :xdp or\n"
		":generic for XDP. Probes count the frames of everybody, and test frames of whichever `hopcap send` or `run`. They change\n"
		"nothing but those frames' time stamps. `hopcap stat` reads them, `hopcap unload` removes them.",
	.options = load_rows,
	.run = run_load,
};

const struct command command_stat = {
	.name = "stat",
	.arguments = "",
	.summary = "show what loaded probes have counted",
	.details =
		"Counts are since loading. Other frames: those that are no test frames, super-frames as one. Delays: of stamped test\n"
		"frames, since the last point that stamped.",
	.options = stat_rows,
	.run = run_stat,
};

const struct command command_unload = {
	.name = "unload",
	.arguments = "POINT... | --all",
	.summary = "remove loaded probes",
	.details = "A POINT's direction and hook do not matter: all probes of its interface go.",
	.options = unload_rows,
	.run = run_unload,
};
