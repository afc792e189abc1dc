// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `hopcap sink`: counts test frames that arrive at an interface, whoever sends them, and keeps their ledger.
 *
 * Owns: the command line, the seconds. Leaves to others: counting (traffic/sink.c), showing (traffic_output.c).
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/undo.h"
#include "cmd/command.h"
#include "cmd/endpoint.h"
#include "cmd/sink_kind.h"
#include "cmd/traffic_output.h"
#include "port/pacer.h"
#include "wire_test_frame.h"

#define TICK_NS 20000000

static struct {
	struct take_options take;
	double seconds;
	long tag, streams;
	int verify, pass, json_lines, keep_going;
} options = { .take = TAKE_OPTIONS_NONE, .streams = 4 };

static const struct option_row rows[] = {
	TAKE_KIND_ROW(options.take, "xdp, else tc"),
	{ "seconds", 't', OPTION_SECONDS, "S", "how long (default: until all streams have said their end, or interrupted)", &options.seconds,
	  0, 0 },
	{ "keep-going", 0, OPTION_FLAG, NULL, "do not end when the streams do", &options.keep_going, 0, 0 },
	{ "tag", 0, OPTION_INTEGER, "N", "run tag to count (default: that of the first test frame)", &options.tag, 1,
	  HOPCAP_PROBE_TAG - 1 },
	{ "streams", 0, OPTION_INTEGER, "N", "streams that get a ledger (default 4)", &options.streams, 1, LEDGER_MAX_STREAMS },
	{ "verify", 0, OPTION_FLAG, NULL, "compare every byte of the payload", &options.verify, 0, 0 },
	{ "pass", 0, OPTION_FLAG, NULL, "let the frames go on after counting (not with AF_XDP)", &options.pass, 0, 0 },
	TAKE_QUEUE_ROWS(options.take),
	{ "json-lines", 'j', OPTION_FLAG, NULL, "one JSON object a second, the result last", &options.json_lines, 0, 0 },
	{ NULL, 0, OPTION_FLAG, NULL, NULL, NULL, 0, 0 },
};

static struct sink_reading reading, before_reading;

/* Every stream that came has said its end, and one has come. */
static int streams_ended(void)
{
	int ended = 0;

	for (long i = 0; i < options.streams; i++) {
		const struct ledger_counts *counts = &reading.streams[i];

		if (counts->announced)
			ended++;
		else if (counts->frames)
			return 0;
	}
	return ended > 0;
}

static struct traffic_state state_at(double elapsed_s, const struct sink_reading *of)
{
	return (struct traffic_state){ .elapsed_s = elapsed_s, .sinks = 1, .reading = of, .streams = (int)options.streams };
}

static int watch(struct sink *sink, const struct traffic_form *form, double *elapsed_s)
{
	const struct timespec pause = { .tv_nsec = TICK_NS };
	uint64_t begin_ns = pacer_now_ns();
	double next_s = 1, before_s = 0;
	int code = 0;

	while (!code && !undo_interrupted() && !traffic_unread(form)) {
		nanosleep(&pause, NULL);
		*elapsed_s = (double)(pacer_now_ns() - begin_ns) / 1e9;
		code = sink_read(sink, &reading);
		if ((options.seconds > 0 && *elapsed_s >= options.seconds) || (!options.keep_going && streams_ended()))
			break;
		if (*elapsed_s >= next_s) {
			struct traffic_state now = state_at(*elapsed_s, &reading), before = state_at(before_s, &before_reading);

			traffic_interval(form, &now, &before);
			before_reading = reading;
			before_s = *elapsed_s;
			next_s = floor(*elapsed_s) + 1;
		}
	}
	return code;
}

static int run_sink(struct endpoint *point, struct sink_config *config)
{
	const struct traffic_form form = { .json_lines = options.json_lines,
					   .live = !options.json_lines && isatty(STDOUT_FILENO) };
	struct traffic_result result = { .sink = point->name };
	double elapsed_s = 0;
	struct sink *sink;
	char why[512] = "";
	int code = sink_open_kind(config, !options.take.kind && !point->text.hook_given, &sink);

	if (code)
		return code;
	fprintf(stderr, "%s: %s; waiting for test frames\n", point->name, sink_describe(sink));
	code = watch(sink, &form, &elapsed_s);
	if (code)
		snprintf(why, sizeof(why), "%s", error_text());
	sink_stop(sink);
	sink_read(sink, &reading); /* what came until now, at rest; of an interface that is gone, too */
	result.sink_got = sink_describe(sink);
	result.run_tag = reading.run_tag;
	result.interrupted = undo_interrupted() != 0;
	result.error = code ? why : NULL;
	result.state = state_at(elapsed_s, &reading);
	traffic_result(&form, &result);
	sink_close(sink);
	return code ? error_set(-code, "%s", why) : 0;
}

static int sink_command(int count, char **points)
{
	struct sink_config config = { .run_tag = (uint16_t)options.tag,
				      .streams = (int)options.streams,
				      .verify = options.verify,
				      .pass = options.pass,
				      .queue = options.take.queue < 0 ? 0 : (int)options.take.queue,
				      .queues = (int)options.take.queues,
				      .cpu = (int)options.take.cpu,
				      .busy_poll = options.take.busy_poll };
	struct endpoint point;
	int code = take_options_check(&options.take);

	if (!code && count != 1)
		code = error_set(EINVAL, "give the one interface that frames arrive at");
	if (!code && geteuid() != 0)
		code = error_set(EPERM, "needs root: BPF programs take CAP_BPF and CAP_NET_ADMIN");
	if (!code)
		code = endpoint_open(points[0], 0, 0, &point);
	if (!code)
		code = sink_kind_choose(options.take.kind, &point, &config);
	if (!code && options.pass && config.kind >= SINK_AF_XDP_ZC)
		code = error_set(EINVAL, "--pass: AF_XDP takes frames away from the stack; use --kind xdp or tc");
	if (!code)
		code = undo_catch_signals();
	if (!code) {
		snprintf(config.interface, sizeof(config.interface), "%s", point.interface);
		snprintf(config.netns, sizeof(config.netns), "%s", point.netns);
		code = run_sink(&point, &config);
	}
	if (code) {
		fprintf(stderr, "hopcap sink: %s\n", error_text());
		return error_exit_status(code);
	}
	return EXIT_STATUS_FINE;
}

const struct command command_sink = {
	.name = "sink",
	.arguments = "POINT",
	.summary = "count test frames that arrive, with an exact ledger: lost, doubled, reordered, late, corrupted",
	.details = "POINT is INTERFACE[@ns:NAMESPACE], optionally with a hook (:xdp, :generic, :tc). Frames of others pass untouched.\n"
		   "Exit status: 0 fine, 2 usage, 3 the environment lacks something.",
	.options = rows,
	.run = sink_command,
};
