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

static void add_bounds(struct table *table, const struct run *run, const struct run_throughput_bounds *const bounds[2])
{
	double most = fmax(bounds[0]->upper_pps, bounds[1]->upper_pps);
	int mega = most >= 1e6;
	int rate, gbps, loss;

	table_group(table, "");
	rate = table_column(table, mega ? "Mpps" : "kpps", TABLE_RIGHT);
	gbps = table_column(table, "Gbit/s", TABLE_RIGHT);
	loss = table_column(table, "lost at the lower", TABLE_RIGHT);
	for (int i = 0; i < 2; i++) {
		char buffer[TEXT_QUANTITY_BYTES];

		set_range(table, i, rate, bounds[i]->lower_pps, bounds[i]->upper_pps, mega ? 1e6 : 1e3, mega ? 3 : 1);
		set_range(table, i, gbps, units_gbps(bounds[i]->lower_pps, run->primary_bytes),
			  units_gbps(bounds[i]->upper_pps, run->primary_bytes), 1, 2);
		table_set(table, i, loss, "%s", text_percent(buffer, bounds[i]->loss_ratio));
	}
}

void text_throughput(const struct page *page, const struct run *run)
{
	const struct run_throughput_bounds *const bounds[2] = { &run->ndr, &run->pdr };
	struct table table;
	int name;

	if (!run->has_throughput)
		return;
	page_heading(page, "end to end");
	table_start(&table, 2);
	name = table_column(&table, "  capacity lies between", TABLE_LEFT);
	for (int i = 0; i < 2; i++) {
		if (bounds[i]->loss_goal > 0)
			table_set(&table, i, name, "  %s, at most %g %% lost", i ? "PDR" : "NDR",
				  100 * bounds[i]->loss_goal);
		else
			table_set(&table, i, name, "  %s", i ? "PDR" : "NDR, no frame lost");
	}
	add_bounds(&table, run, bounds);
	table_print(page, &table);
	for (int i = 0; i < 2; i++) {
		if (bounds[i]->irregular)
			page_paragraph(
				page, 2, "",
				"%s is irregular: a lower rate failed where a higher one passed, so the bounds are "
				"wide on purpose",
				i ? "PDR" : "NDR");
	}
}

/* The smallest speed of Ethernet that is not below a rate on the wire. */
static double ethernet_gbps(double most_l1)
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
	values->speed = ethernet_gbps(most);
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

	if (count < 2)
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
