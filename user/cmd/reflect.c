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
#include "cmd/traffic_json.h"
#include "port/pacer.h"
#include "traffic/reflector.h"

#define TICK_NS 20000000

static struct {
	struct take_options take;
	double seconds;
	long tag;
	int json_lines, force_uplink;
} options = { .take = TAKE_OPTIONS_NONE };

static const struct option_row rows[] = {
	TAKE_KIND_ROW(options.take, "xdp"),
	{ "seconds", 't', OPTION_SECONDS, "S", "how long (default: until interrupted)", &options.seconds, 0, 0 },
	{ "tag", 0, OPTION_INTEGER, "N", "run tag to reflect (default: frames of any run)", &options.tag, 1, 65535 },
	TAKE_QUEUE_ROWS(options.take),
	{ "json-lines", 'j', OPTION_FLAG, NULL, "one JSON object a second, the result last", &options.json_lines, 0, 0 },
	{ "force-uplink", 0, OPTION_FLAG, NULL, "reflect even on the interface of the default route or this ssh session",
	  &options.force_uplink, 0, 0 },
	{ NULL, 0, OPTION_FLAG, NULL, NULL, NULL, 0, 0 },
};

static void show_text(const struct reflected *now)
{
	char rate[32], frames[32], probes[32], again[32];

	units_print_pps(rate, sizeof(rate), now->pps);
	units_print_count(frames, sizeof(frames), now->counts.frames);
	units_print_count(probes, sizeof(probes), now->counts.probes);
	units_print_count(again, sizeof(again), now->counts.again);
	if (now->is_result)
		printf("%s  reflected  %s test frames in %.1f s, and %s probes and announcements; %s came marked as reflected already and "
		       "passed\n",
		       isatty(STDOUT_FILENO) ? "\r\033[K" : "", frames, now->elapsed_s, probes, again);
	else if (isatty(STDOUT_FILENO))
		printf("\r\033[K%6.1f s  reflected %s, %s frames", now->elapsed_s, rate, frames);
	fflush(stdout);
}

static void show(struct reflected *now, uint64_t frames_before, double before_s)
{
	double seconds = now->elapsed_s - before_s;

	now->pps = seconds > 0 ? (double)(now->counts.frames - frames_before) / seconds : 0;
	if (options.json_lines)
		traffic_json_reflected(now);
	else
		show_text(now);
}

static int watch(struct reflector *reflector)
{
	const struct traffic_form form = { .json_lines = options.json_lines };
	const struct timespec pause = { .tv_nsec = TICK_NS };
	uint64_t begin_ns = pacer_now_ns(), before = 0;
	struct reflected now = { 0 };
	double before_s = 0, next_s = 1;
	char why[512] = "";
	int code = 0;

	while (!code && !undo_interrupted() && !traffic_unread(&form) && (options.seconds <= 0 || now.elapsed_s < options.seconds)) {
		nanosleep(&pause, NULL);
		now.elapsed_s = (double)(pacer_now_ns() - begin_ns) / 1e9;
		code = reflector_read(reflector, &now.counts);
		if (now.elapsed_s < next_s)
			continue;
		show(&now, before, before_s);
		before = now.counts.frames;
		before_s = now.elapsed_s;
		next_s = floor(now.elapsed_s) + 1;
	}
	if (code)
		snprintf(why, sizeof(why), "%s", error_text());
	now.is_result = 1;
	now.interrupted = undo_interrupted() != 0;
	now.error = code ? why : NULL;
	show(&now, 0, 0);
	return code ? error_set(-code, "%s", why) : 0;
}

static int reflect_command(int count, char **points)
{
	struct reflector_config config = { .run_tag = (uint16_t)options.tag,
					   .queue = options.take.queue < 0 ? 0 : (int)options.take.queue,
					   .queues = (int)options.take.queues,
					   .cpu = (int)options.take.cpu,
					   .busy_poll = options.take.busy_poll };
	struct sink_config kind = { 0 };
	struct reflector *reflector = NULL;
	struct endpoint point;
	int code = take_options_check(&options.take);

	if (!code && count != 1)
		code = error_set(EINVAL, "give the one interface to reflect on");
	if (!code && geteuid() != 0)
		code = error_set(EPERM, "needs root: BPF programs take CAP_BPF and CAP_NET_ADMIN");
	if (!code)
		code = endpoint_open(points[0], 1, options.force_uplink, &point);
	if (!code)
		code = sink_kind_choose(options.take.kind, &point, &kind);
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
