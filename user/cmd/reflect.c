// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `hopcap reflect`: sends test frames back to where they came from.
 *
 * Owns: the command line, the seconds. Leaves to others: reflecting (traffic/reflector.c).
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/undo.h"
#include "base/units.h"
#include "cmd/command.h"
#include "cmd/endpoint.h"
#include "cmd/sink_kind.h"
#include "port/pacer.h"
#include "traffic/reflector.h"

#define TICK_NS 20000000

static struct {
	const char *kind;
	double seconds;
	long tag, queue, queues, cpu;
	int busy_poll, json_lines, force_uplink;
} options = { .cpu = -1 };

static const struct option_row rows[] = {
	{ "kind", 'k', OPTION_TEXT, "KIND", "xdp, xdp-generic, tc, af_xdp_zc or af_xdp_copy (default xdp)", &options.kind, 0, 0 },
	{ "seconds", 't', OPTION_SECONDS, "S", "how long (default: until interrupted)", &options.seconds, 0, 0 },
	{ "tag", 0, OPTION_INTEGER, "N", "run tag to reflect (default: frames of any run)", &options.tag, 1, 65535 },
	{ "queue", 0, OPTION_INTEGER, "N", "AF_XDP: first queue", &options.queue, 0, 4095 },
	{ "queues", 0, OPTION_INTEGER, "N", "AF_XDP: how many queues, a thread each (default: all)", &options.queues, 1, SINK_MAX_QUEUES },
	{ "cpu", 0, OPTION_INTEGER, "N", "AF_XDP: CPU of the first thread", &options.cpu, 0, 4095 },
	{ "busy-poll", 0, OPTION_FLAG, NULL, "AF_XDP: the threads drive the device themselves (preferred busy polling)",
	  &options.busy_poll, 0, 0 },
	{ "json-lines", 'j', OPTION_FLAG, NULL, "one JSON object a second, the result last", &options.json_lines, 0, 0 },
	{ "force-uplink", 0, OPTION_FLAG, NULL, "reflect even on the interface of the default route or this ssh session",
	  &options.force_uplink, 0, 0 },
	{ NULL, 0, OPTION_FLAG, NULL, NULL, NULL, 0, 0 },
};

static void show(const char *event, double elapsed_s, const struct reflector_counts *counts, uint64_t before, double seconds)
{
	double pps = seconds > 0 ? (double)(counts->frames - before) / seconds : 0;
	char rate[32], frames[32], again[32];

	if (options.json_lines) {
		printf("{\"event\":\"%s\",\"elapsed_s\":%.3f,\"reflected\":%llu,\"bytes\":%llu,\"pps\":%.1f,\"again\":%llu}\n", event,
		       elapsed_s, (unsigned long long)counts->frames, (unsigned long long)counts->bytes, pps,
		       (unsigned long long)counts->again);
		fflush(stdout);
		return;
	}
	units_print_pps(rate, sizeof(rate), pps);
	units_print_count(frames, sizeof(frames), counts->frames);
	units_print_count(again, sizeof(again), counts->again);
	if (!strcmp(event, "result"))
		printf("%s  reflected  %s frames in %.1f s; %s came marked as reflected already and passed\n",
		       isatty(STDOUT_FILENO) ? "\r\033[K" : "", frames, elapsed_s, again);
	else if (isatty(STDOUT_FILENO))
		printf("\r\033[K%6.1f s  reflected %s, %s frames", elapsed_s, rate, frames);
	fflush(stdout);
}

static int watch(struct reflector *reflector)
{
	const struct timespec pause = { .tv_nsec = TICK_NS };
	uint64_t begin_ns = pacer_now_ns(), before = 0;
	double elapsed_s = 0, before_s = 0, next_s = 1;
	struct reflector_counts counts = { 0 };
	char why[512] = "";
	int code = 0;

	while (!code && !undo_interrupted() && (options.seconds <= 0 || elapsed_s < options.seconds)) {
		nanosleep(&pause, NULL);
		elapsed_s = (double)(pacer_now_ns() - begin_ns) / 1e9;
		code = reflector_read(reflector, &counts);
		if (elapsed_s < next_s)
			continue;
		show("interval", elapsed_s, &counts, before, elapsed_s - before_s);
		before = counts.frames;
		before_s = elapsed_s;
		next_s = floor(elapsed_s) + 1;
	}
	if (code)
		snprintf(why, sizeof(why), "%s", error_text());
	show("result", elapsed_s, &counts, 0, elapsed_s);
	return code ? error_set(-code, "%s", why) : 0;
}

static int reflect_command(int count, char **points)
{
	struct reflector_config config = { .run_tag = (uint16_t)options.tag,
					   .queue = (int)options.queue,
					   .queues = (int)options.queues,
					   .cpu = (int)options.cpu,
					   .busy_poll = options.busy_poll };
	struct sink_config kind = { 0 };
	struct reflector *reflector = NULL;
	struct endpoint point;
	int code = 0;

	if (count != 1)
		code = error_set(EINVAL, "give the one interface to reflect on");
	else if (geteuid() != 0)
		code = error_set(EPERM, "needs root: BPF programs take CAP_BPF and CAP_NET_ADMIN");
	if (!code)
		code = endpoint_open(points[0], 1, options.force_uplink, &point);
	if (!code)
		code = sink_kind_choose(options.kind, &point, &kind);
	if (!code)
		code = undo_catch_signals();
	if (!code) {
		config.kind = kind.kind;
		snprintf(config.interface, sizeof(config.interface), "%s", point.interface);
		snprintf(config.netns, sizeof(config.netns), "%s", point.netns);
		code = reflector_open(&config, &reflector);
	}
	if (!code) {
		fprintf(stderr, "%s: %s\n", point.name, reflector_describe(reflector));
		code = watch(reflector);
	}
	if (code)
		fprintf(stderr, "hopcap reflect: %s\n", error_text());
	reflector_close(reflector);
	return code ? error_exit_status(code) : EXIT_STATUS_FINE;
}

const struct command command_reflect = {
	.name = "reflect",
	.arguments = "POINT",
	.summary = "send test frames back to where they came from, so that one end measures the time of both ways",
	.details = "POINT is INTERFACE[@ns:NAMESPACE], optionally with a hook (:xdp, :generic, :tc). At the other end:\n"
		   "`hopcap send IF IF --to-mac MAC-OF-POINT` sends and counts what comes back.\n"
		   "Exit status: 0 fine, 2 usage, 3 the environment lacks something.",
	.options = rows,
	.run = reflect_command,
};
