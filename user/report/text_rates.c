// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the whole path carries: throughput, frame sizes, latency.
 */
#include <math.h>
#include <stdio.h>

#include "base/units.h"
#include "report/table.h"
#include "report/text.h"

static void set_range(struct table *table, int row, int column, double low, double high, double unit, int decimals)
{
	if (isfinite(low) && isfinite(high))
		table_set(table, row, column, "%.*f - %.*f", decimals, low / unit, decimals, high / unit);
	else if (isfinite(low))
		table_set(table, row, column, ">= %.*f", decimals, low / unit);
}

static void set_bounds(struct table *table, int row, int column, const struct run_throughput_bounds *bounds, double factor,
		       int decimals)
{
	double low = bounds->lower_pps * factor, high = bounds->upper_pps * factor;

	if (bounds->no_lower)
		table_set(table, row, column, "< %.*f", decimals, high);
	else
		set_range(table, row, column, low, bounds->no_upper ? RUN_UNKNOWN : high, 1, decimals);
}

static void add_bounds(struct table *table, const struct run *run, const struct run_throughput_bounds *goals)
{
	int rate, gbps, through, loss, mega = 0;

	for (int i = 0; i < table->row_count; i++)
		mega |= goals[i].upper_pps >= 1e6 || goals[i].lower_pps >= 1e6;
	table_group(table, "");
	rate = table_column(table, mega ? "Mpps" : "kpps", TABLE_RIGHT);
	gbps = table_column(table, "Gbit/s", TABLE_RIGHT);
	through = table_column(table, "comes through", TABLE_RIGHT);
	loss = table_column(table, "lost at the lower", TABLE_RIGHT);
	for (int i = 0; i < table->row_count; i++) {
		char buffer[TEXT_QUANTITY_BYTES];

		set_bounds(table, i, rate, &goals[i], mega ? 1e-6 : 1e-3, mega ? 3 : 1);
		set_bounds(table, i, gbps, &goals[i], units_gbps(1, run->primary_bytes), 2);
		if (isfinite(goals[i].conditional_pps))
			table_set(table, i, through, "%.*f", mega ? 3 : 1, goals[i].conditional_pps * (mega ? 1e-6 : 1e-3));
		if (!goals[i].no_lower)
			table_set(table, i, loss, "%s", text_percent(buffer, goals[i].loss_ratio));
	}
}

static const char *goal_name(const struct run *run, const struct run_throughput_bounds *goals, int count, int i, char *buffer,
			     size_t size)
{
	const char *which = count == 1 ? "" : i == 0 ? "NDR, " : i == count - 1 ? "PDR, " : "";

	if (!run->goal_count && !(goals[i].loss_goal >= 0)) /* an old run */
		snprintf(buffer, size, "%s", i ? "PDR" : "NDR, no frame lost");
	else if (goals[i].loss_goal > 0)
		snprintf(buffer, size, "%sat most %g %% lost", which, 100 * goals[i].loss_goal);
	else
		snprintf(buffer, size, "%sno frame lost", which);
	return buffer;
}

static void print_irregular(const struct page *page, const struct run_throughput_bounds *bounds, const char *name)
{
	char why[PAGE_TEXT_BYTES] = "";
	size_t used = 0;
	const struct {
		int is;
		const char *text;
	} reasons[] = {
		{ bounds->no_lower, "no load meets it for certain" },
		{ bounds->no_upper, "no load fails for certain" },
		{ bounds->contradiction, "trials contradict each other (a lower load failed, or a higher one passed)" },
		{ bounds->wide, "closer bounds are not certain on a machine as unsteady as this" },
	};

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (reasons[i].is)
			used += (size_t)snprintf(why + used, sizeof(why) - used, "%s%s", used ? "; " : "", reasons[i].text);
	if (!used)
		snprintf(why, sizeof(why), "a lower rate failed where a higher one passed, so the bounds are wide on purpose");
	page_paragraph(page, 2, "", "irregular (%s): %s", name, why);
}

static void print_search(const struct page *page, const struct run *run)
{
	const struct run_throughput_bounds *goal = &run->goals[0];
	char spent[64] = "";

	if (!run->goal_count || !isfinite(goal->final_trial_s))
		return;
	if (run->search_trials > 0 && isfinite(run->search_trial_s))
		snprintf(spent, sizeof(spent), "; %d trials, %.1f s", run->search_trials, run->search_trial_s);
	page_ink(page, INK_DIM);
	page_paragraph(page, 2, "",
		       "MLRsearch: full-length trials of %g s, %g s of them for a bound, high loss in at most %g %% of the time, width "
		       "%g %%%s. Comes through: conditional throughput at the lower bound.",
		       goal->final_trial_s, goal->duration_sum_s, 100 * goal->exceed_ratio, 100 * goal->width, spent);
	page_ink(page, INK_PLAIN);
}

void text_throughput(const struct page *page, const struct run *run)
{
	const struct run_throughput_bounds old[2] = { run->ndr, run->pdr }, *goals = run->goal_count ? run->goals : old;
	int count = run->goal_count ? run->goal_count : 2, column;
	char name[64];
	struct table table;

	if (!run->has_throughput || count > RUN_MAX_GOALS)
		return;
	page_heading(page, "end to end");
	table_start(&table, count);
	column = table_column(&table, "  capacity lies between", TABLE_LEFT);
	for (int i = 0; i < count; i++)
		table_set(&table, i, column, "  %s", goal_name(run, goals, count, i, name, sizeof(name)));
	add_bounds(&table, run, goals);
	table_print(page, &table);
	for (int i = 0; i < count; i++)
		if (goals[i].irregular)
			print_irregular(page, &goals[i], goal_name(run, goals, count, i, name, sizeof(name)));
	print_search(page, run);
}

double text_ethernet_gbps(double most_l1)
{
	static const double speeds[] = { 1, 10, 25, 40, 100, 200, 400, 800 };
	size_t i = 0;

	while (i + 1 < sizeof(speeds) / sizeof(speeds[0]) && speeds[i] < most_l1)
		i++;
	return speeds[i];
}

struct size_values {
	double pps[RUN_MAX_SIZES], low[RUN_MAX_SIZES], high[RUN_MAX_SIZES];
	double gbps[RUN_MAX_SIZES], gbps_l1[RUN_MAX_SIZES], ceiling[RUN_MAX_SIZES];
	double speed;
};

static void measure_sizes(const struct run *run, const unsigned int *sizes, int count, struct size_values *values)
{
	double most = 0;

	for (int i = 0; i < count; i++) {
		const struct run_service *service = text_service(run, text_hop_count(run), sizes[i]);

		values->pps[i] = service ? service->pps : RUN_UNKNOWN;
		values->low[i] = service ? service->low_pps : RUN_UNKNOWN;
		values->high[i] = service ? service->high_pps : RUN_UNKNOWN;
		values->gbps[i] = units_gbps(values->pps[i], sizes[i]);
		values->gbps_l1[i] = units_gbps_l1(values->pps[i], sizes[i]);
		most = fmax(most, values->gbps_l1[i]);
	}
	values->speed = text_ethernet_gbps(most);
	for (int i = 0; i < count; i++)
		values->ceiling[i] = values->speed / units_gbps_l1(1, sizes[i]);
}

/* All frame sizes that were tried or measured over the whole path, each once, ascending. */
static int collect_sizes(const struct run *run, unsigned int sizes[RUN_MAX_SIZES])
{
	int count = 0;

	for (int i = 0; i < run->size_count + run->service_count; i++) {
		unsigned int bytes;
		int at = count;

		if (i >= run->size_count && run->services[i - run->size_count].point != text_hop_count(run))
			continue;
		bytes = i < run->size_count ? run->sizes[i].frame_bytes
					    : run->services[i - run->size_count].frame_bytes;
		while (at > 0 && sizes[at - 1] > bytes)
			at--;
		if ((at > 0 && sizes[at - 1] == bytes) || count == RUN_MAX_SIZES)
			continue;
		for (int move = count++; move > at; move--)
			sizes[move] = sizes[move - 1];
		sizes[at] = bytes;
	}
	return count;
}

/* Sizes that do not arrive, and those that another port than the usual one sent. */
static void print_size_notes(const struct page *page, const struct run *run, const unsigned int *sizes, int count)
{
	char point[RUN_NAME_BYTES], others[RUN_MAX_SIZES * 12] = "";
	enum run_port port = run->source.port;
	size_t used = 0;

	for (int i = 0; i < run->size_count; i++) {
		const struct run_size *size = &run->sizes[i];

		if (!size->delivered)
			page_paragraph(page, 2, "", "frames of %u bytes do not arrive: they are last seen at %s",
				       size->frame_bytes, text_short_point(run, size->last_seen_point, point));
	}
	for (int i = 0; i < count; i++) {
		const struct run_service *service = text_service(run, text_hop_count(run), sizes[i]);

		if (!service || service->port == run->source.port)
			continue;
		port = service->port;
		used += (size_t)snprintf(others + used, sizeof(others) - used, "%s%u", used ? ", " : "", sizes[i]);
	}
	if (used)
		page_paragraph(page, 2, "", "frames of %s bytes were sent by %s instead of %s", others, text_port(port),
			       text_port(run->source.port));
}

/* The trials' spread, in the unit of the rates before it. */
static void add_spread(struct table *table, const struct size_values *values)
{
	double most = 0, unit = 1;
	int column;

	for (int i = 0; i < table->row_count; i++)
		most = values->pps[i] > most ? values->pps[i] : most;
	if (most >= 1e3)
		unit = most >= 1e6 ? 1e6 : 1e3;
	column = table_column(table, "trials", TABLE_RIGHT);
	for (int i = 0; i < table->row_count; i++)
		set_range(table, i, column, values->low[i], values->high[i], unit, most >= 1e6 ? 3 : 1);
}

void text_sizes(const struct page *page, const struct run *run)
{
	unsigned int sizes[RUN_MAX_SIZES];
	int count = collect_sizes(run, sizes), bytes;
	double share[RUN_MAX_SIZES];
	struct size_values values;
	char heading[64];
	struct table table;

	if (count < 2 || (run->has_rfc2544 && !run->service_count))
		return;
	measure_sizes(run, sizes, count, &values);
	page_heading(page, "frame sizes: what the whole path passes when more is offered than fits");
	table_start(&table, count);
	bytes = table_column(&table, "  frame bytes", TABLE_RIGHT);
	for (int i = 0; i < count; i++) {
		table_set(&table, i, bytes, "%u", sizes[i]);
		share[i] = 100 * values.pps[i] / values.ceiling[i];
	}
	table_group(&table, "passes");
	table_rates(&table, values.pps, NULL);
	table_gbps(&table, values.gbps);
	add_spread(&table, &values);
	snprintf(heading, sizeof(heading), "%.0f Gbit/s Ethernet passes", values.speed);
	table_group(&table, heading);
	table_rates(&table, values.ceiling, values.pps);
	table_numbers(&table, "used, %", share, 1);
	table_print(page, &table);
	print_size_notes(page, run, sizes, count);
	page_ink(page, INK_DIM);
	page_paragraph(
		page, 2, "",
		"The ceiling of Ethernet is that of layer 1: each frame takes 24 bytes more (FCS, preamble, gap).");
	page_ink(page, INK_PLAIN);
}

void text_latency(const struct page *page, const struct run *run)
{
	int rows = run->latency_count, load, frames;
	double rate[4], values[5][4], bound[4];
	char buffer[TEXT_QUANTITY_BYTES];
	struct table table;

	if (rows <= 0 || rows > 4)
		return;
	page_heading(page, "latency of the whole path, us");
	table_start(&table, rows);
	load = table_column(&table, "  load", TABLE_LEFT);
	for (int i = 0; i < rows; i++) {
		const struct run_percentiles *path = &run->latency[i].path;
		const double found[5] = { path->p50_ns, path->p90_ns, path->p99_ns, path->p999_ns, path->max_ns };

		table_set(&table, i, load, "  %s", run->latency[i].load);
		rate[i] = run->latency[i].rate_pps;
		bound[i] = path->bound_ns;
		for (int k = 0; k < 5; k++)
			values[k][i] = path->count > 0 ? found[k] : RUN_UNKNOWN;
	}
	table_group(&table, "");
	table_rates(&table, rate, NULL);
	frames = table_column(&table, "stamped frames", TABLE_RIGHT);
	for (int i = 0; i < rows; i++)
		table_set(&table, i, frames, "%s",
			  units_print_count(buffer, sizeof(buffer), run->latency[i].path.count));
	table_group(&table, "");
	table_us(&table, "p50", values[0], bound);
	table_us(&table, "p90", values[1], bound);
	table_us(&table, "p99", values[2], bound);
	table_us(&table, "p99.9", values[3], bound);
	table_us(&table, "max", values[4], bound);
	table_print(page, &table);
}
