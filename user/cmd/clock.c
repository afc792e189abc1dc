// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `hopcap clock`: how well the clocks of other kernels are known, in windows as long as the trials of a run.
 *
 * Owns: the command line, the table, the lines of JSON. Leaves to others: exchanging (measure/clock_exchange.c), what follows from exchanges
 * (measure/clock_align.c).
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <jansson.h>

#include "base/error.h"
#include "base/undo.h"
#include "base/units.h"
#include "cmd/command.h"
#include "cmd/domain_options.h"
#include "measure/clock_exchange.h"
#include "port/pacer.h"

#define MOST_WINDOW_S 60.0

static struct {
	long windows;
	double window_s;
	int json;
} options = { .windows = 10, .window_s = 0.1 };

static const struct option_row rows[] = {
	{ "windows", 'n', OPTION_INTEGER, "N", "so many windows (default: 10)", &options.windows, 1, 1000000 },
	{ "window", 'w', OPTION_SECONDS, "S", "each so long (default: 0.1)", &options.window_s, 0, 0 },
	{ "json", 'j', OPTION_FLAG, NULL, "one JSON object a window, on a line", &options.json, 0, 0 },
	DOMAIN_OPTION_ROWS,
	{ NULL, 0, OPTION_FLAG, NULL, NULL, NULL, 0, 0 },
};

/* One kernel's clock over one window. */
struct watched {
	struct domain *domain;
	struct clock_align align;
	struct clock_estimate estimate;
	int stepped; /* during the window: then there is no estimate */
};

static json_t *known(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static int print_json(const struct watched *clock, uint64_t from_ns, uint64_t to_ns)
{
	const struct clock_estimate *is = &clock->estimate;
	double linear = clock->stepped || !is->has_linear ? NAN : 0, any = clock->stepped ? NAN : 0;
	json_t *object = json_pack("{s:s, s:s, s:I, s:I, s:b, s:i, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
				   "schema", "hopcap.clock/1", "domain", clock->domain->name, "from_ns",
				   (json_int_t)from_ns, "to_ns", (json_int_t)to_ns, "stepped", clock->stepped, "steps",
				   clock->align.steps, "exchanges", (json_int_t)clock->align.exchanges, "offset_ns",
				   clock->stepped ? json_null() : json_integer(is->offset_ns), "bound_ns",
				   known(any + is->bound_ns), "linear_ns",
				   isnan(linear) ? json_null() : json_integer(is->linear_ns), "linear_bound_ns",
				   known(linear + is->linear_bound_ns), "drift_ppm", known(linear + is->drift * 1e6),
				   "symmetric_ns", clock->stepped ? json_null() : json_integer(is->symmetric_ns),
				   "symmetric_spread_ns", known(any + is->symmetric_spread_ns), "round_trip_ns",
				   known(any + is->round_trip_ns));
	char *text = object ? json_dumps(object, JSON_COMPACT) : NULL;

	if (text)
		puts(text);
	free(text);
	json_decref(object);
	return text ? 0 : error_set(ENOMEM, "out of memory");
}

static void print_text(const struct watched *clock)
{
	const struct clock_estimate *is = &clock->estimate;
	char bound[32], linear[32] = "-", drift[32] = "-", trip[32];

	if (clock->stepped) {
		printf("%-16s %20s\n", clock->domain->name, "a clock stepped");
		return;
	}
	if (is->has_linear) {
		units_print_ns(linear, sizeof(linear), is->linear_bound_ns);
		snprintf(drift, sizeof(drift), "%+.2f", is->drift * 1e6);
	}
	printf("%-16s %20.3f %12s %12s %10s %12s %6d\n", clock->domain->name, (double)is->offset_ns / 1e3,
	       units_print_ns(bound, sizeof(bound), is->bound_ns), linear, drift,
	       units_print_ns(trip, sizeof(trip), is->round_trip_ns), clock->align.steps);
}

static int exchange_all(struct watched *clocks, int count, int times)
{
	int code = 0;

	for (int i = 0; !code && i < count; i++)
		code = clock_exchange(clocks[i].domain, &clocks[i].align, times, &clocks[i].stepped);
	return code;
}

static int watch_window(struct watched *clocks, int count)
{
	const struct timespec pause = { .tv_nsec = CLOCK_MEANWHILE_NS };
	uint64_t from_ns, to_ns;
	int code = exchange_all(clocks, count, CLOCK_EXCHANGES);

	from_ns = pacer_now_ns();
	for (int i = 0; i < count; i++)
		clocks[i].stepped = 0;
	while (!code && !undo_interrupted() && (double)(pacer_now_ns() - from_ns) < options.window_s * 1e9) {
		nanosleep(&pause, NULL);
		code = exchange_all(clocks, count, CLOCK_MEANWHILE);
	}
	to_ns = pacer_now_ns();
	if (!code)
		code = exchange_all(clocks, count, CLOCK_EXCHANGES);
	for (int i = 0; !code && i < count && !undo_interrupted(); i++) {
		if (clock_align_estimate(&clocks[i].align, (int64_t)from_ns, (int64_t)to_ns, &clocks[i].estimate))
			clocks[i].stepped = 1;
		if (options.json)
			code = print_json(&clocks[i], from_ns, to_ns);
		else
			print_text(&clocks[i]);
	}
	return code;
}

static int watch(const struct domains *domains)
{
	struct watched *clocks = calloc(DOMAINS_MAX, sizeof(*clocks));
	int count = 0, code = clocks ? 0 : error_set(ENOMEM, "out of memory");

	for (int d = 1; !code && d < domains->count; d++)
		if (domain_is_same_kernel(domains->list[d], domains->list[0]))
			fprintf(stderr, "hopcap clock: %s is this kernel: one clock\n", domains->list[d]->name);
		else
			clocks[count++].domain = domains->list[d];
	if (!options.json && count)
		printf("%-16s %20s %12s %12s %10s %12s %6s\n", "clock of", "offset, us", "guaranteed", "if even", "ppm",
		       "round trip", "steps");
	for (long i = 0; !code && count && i < options.windows && !undo_interrupted(); i++) {
		code = watch_window(clocks, count);
		if (fflush(stdout))
			break;
	}
	free(clocks);
	return code;
}

static int run_clock(int count, char **positional)
{
	struct domains domains = { 0 };
	int code = count ? error_set(EINVAL, "'%s': it takes no points", positional[0]) : 0;

	if (!code && options.window_s > MOST_WINDOW_S)
		code = error_set(EINVAL, "--window: at most %g s", MOST_WINDOW_S);
	if (!code)
		code = undo_catch_signals();
	if (!code)
		code = domain_options_open(&domains);
	if (!code && domains.count < 2)
		code = error_set(EINVAL, "give the kernels whose clocks are to be watched: --domain NAME=HOW");
	if (!code)
		code = watch(&domains);
	if (code)
		fprintf(stderr, "hopcap clock: %s\n", error_text());
	domains_close(&domains);
	if (!code && undo_interrupted())
		return EXIT_STATUS_FINDINGS;
	return code ? error_exit_status(code) : EXIT_STATUS_FINE;
}

const struct command command_clock = {
	.name = "clock",
	.arguments = "--domain NAME=HOW",
	.summary = "show how well other kernels' clocks are known",
	.details =
		"Offsets are those of the other kernel's CLOCK_MONOTONIC from ours. `guaranteed`: it is right within that, whatever the\n"
		"delays, over the whole window. `if even`: and within that if both clocks run evenly. A step (a guest that was stopped or\n"
		"migrated) is reported, not averaged. Uses the control channel alone; `run` has test frames as well.",
	.options = rows,
	.run = run_clock,
};
