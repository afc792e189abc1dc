// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What RFC 2544's benchmarks found: a table for each, by frame size, with what Ethernet would carry beside.
 */
#include <math.h>
#include <stdio.h>

#include "base/units.h"
#include "report/table.h"
#include "report/text.h"

#define FCS_BYTES 4

/* What Ethernet of the speed that holds all sizes carries of one. */
static double theoretical_pps(const struct run_rfc2544 *rfc2544, unsigned int frame_bytes, double *speed_gbps)
{
	double most = 0;

	for (int i = 0; i < rfc2544->size_count; i++)
		most = fmax(most, units_gbps_l1(rfc2544->sizes[i].max_pps, rfc2544->sizes[i].frame_bytes));
	*speed_gbps = text_ethernet_gbps(most);
	return *speed_gbps / units_gbps_l1(1, frame_bytes);
}

static void add_sizes(struct table *table, const struct run_rfc2544 *rfc2544)
{
	int column = table_column(table, "  frame bytes", TABLE_RIGHT), with_fcs;

	with_fcs = table_column(table, "with FCS", TABLE_RIGHT);
	for (int i = 0; i < table->row_count; i++) {
		table_set(table, i, column, "%u", rfc2544->sizes[i].frame_bytes);
		table_set(table, i, with_fcs, "%u", rfc2544->sizes[i].frame_bytes + FCS_BYTES);
	}
}

static void print_throughput(const struct page *page, const struct run_rfc2544 *rfc2544)
{
	double pps[RUN_MAX_RFC2544_SIZES], gbps[RUN_MAX_RFC2544_SIZES], ceiling[RUN_MAX_RFC2544_SIZES];
	double source[RUN_MAX_RFC2544_SIZES], used[RUN_MAX_RFC2544_SIZES], speed = 0;
	int limited = 0, known = 0, limit;
	struct table table;
	char title[48];

	for (int i = 0; i < rfc2544->size_count; i++) {
		const struct run_rfc2544_size *size = &rfc2544->sizes[i];

		pps[i] = size->throughput_trials ? size->throughput_pps : RUN_UNKNOWN;
		gbps[i] = units_gbps(pps[i], size->frame_bytes);
		source[i] = size->max_pps;
		ceiling[i] = theoretical_pps(rfc2544, size->frame_bytes, &speed);
		used[i] = 100 * pps[i] / ceiling[i];
		known |= size->throughput_trials > 0;
	}
	if (!known)
		return;
	page_heading(page, "RFC 2544 throughput (26.1): the highest rate at which not a frame is lost");
	table_start(&table, rfc2544->size_count);
	add_sizes(&table, rfc2544);
	table_group(&table, "throughput");
	table_rates(&table, pps, NULL);
	table_gbps(&table, gbps);
	limit = table_column(&table, "limit", TABLE_LEFT);
	for (int i = 0; i < table.row_count; i++) {
		const struct run_rfc2544_size *size = &rfc2544->sizes[i];

		if (size->throughput_trials)
			table_set(&table, i, limit, "%s", size->lossy_pps > 0 ? "path" : "source");
		limited |= size->throughput_trials && !(size->lossy_pps > 0);
	}
	table_group(&table, "100 % (source)");
	table_rates(&table, source, NULL);
	snprintf(title, sizeof(title), "%.0f Gbit/s Ethernet", speed);
	table_group(&table, title);
	table_rates(&table, ceiling, source);
	table_numbers(&table, "used, %", used, 1);
	table_print(page, &table);
	page_ink(page, INK_DIM);
	page_paragraph(
		page, 2, "",
		"Found to within %g %%, by binary search. The theoretical maximum is that of the slowest Ethernet that carries what "
		"the source offers.%s",
		100 * rfc2544->resolution,
		limited ? " Limit source: the most it offers passes, the path may carry more." : "");
	page_ink(page, INK_PLAIN);
}

static void print_latency(const struct page *page, const struct run_rfc2544 *rfc2544)
{
	double values[5][RUN_MAX_RFC2544_SIZES], rate[RUN_MAX_RFC2544_SIZES];
	char buffer[TEXT_QUANTITY_BYTES];
	int known = 0, frames, lost, repetitions = 0;
	struct table table;

	for (int i = 0; i < rfc2544->size_count; i++) {
		const struct run_rfc2544_size *size = &rfc2544->sizes[i];
		const double found[5] = { size->latency_mean_ns, size->latency_median_ns, size->latency_p999_ns,
					  size->latency_min_ns, size->latency_max_ns };

		known |= size->latency_repetitions > 0;
		repetitions = size->latency_repetitions > repetitions ? size->latency_repetitions : repetitions;
		rate[i] = size->latency_repetitions ? size->latency_pps : RUN_UNKNOWN;
		for (int k = 0; k < 5; k++)
			values[k][i] = size->latency_frames ? found[k] : RUN_UNKNOWN;
	}
	if (!known)
		return;
	page_heading(page, "RFC 2544 latency (26.2), us: at the throughput");
	table_start(&table, rfc2544->size_count);
	add_sizes(&table, rfc2544);
	table_group(&table, "");
	table_rates(&table, rate, NULL);
	frames = table_column(&table, "stamped frames", TABLE_RIGHT);
	lost = table_column(&table, "lost", TABLE_RIGHT);
	for (int i = 0; i < table.row_count; i++) {
		const struct run_rfc2544_size *size = &rfc2544->sizes[i];

		if (!size->latency_repetitions)
			continue;
		table_set(&table, i, frames, "%s", units_print_count(buffer, sizeof(buffer), size->latency_frames));
		table_set(&table, i, lost, "%s", units_print_count(buffer, sizeof(buffer), size->latency_lost));
	}
	table_group(&table, "RFC 2544");
	table_us(&table, "mean", values[0], NULL);
	table_group(&table, "RFC 8219");
	table_us(&table, "median", values[1], NULL);
	table_us(&table, "p99.9", values[2], NULL);
	table_group(&table, "");
	table_us(&table, "min", values[3], NULL);
	table_us(&table, "max", values[4], NULL);
	table_print(page, &table);
	page_ink(page, INK_DIM);
	page_paragraph(
		page, 2, "",
		"Mean: average of %d streams of %g s; frames are stamped all through a stream, where the RFC tags one. First bit out of "
		"the source to frame at the sink.",
		repetitions, rfc2544->stream_s);
	page_ink(page, INK_PLAIN);
}

static void print_losses(const struct page *page, const struct run_rfc2544 *rfc2544)
{
	struct table table;
	int most = 0;

	for (int i = 0; i < rfc2544->size_count; i++)
		most = rfc2544->sizes[i].step_count > most ? rfc2544->sizes[i].step_count : most;
	if (!most)
		return;
	page_heading(page, "RFC 2544 frame loss rate (26.3), % of the frames at a load of ...");
	table_start(&table, rfc2544->size_count);
	add_sizes(&table, rfc2544);
	table_group(&table, "");
	for (int step = 0; step < most; step++) {
		char title[16], buffer[TEXT_QUANTITY_BYTES];
		int column;

		snprintf(title, sizeof(title), "%d %%", 100 - 10 * step);
		column = table_column(&table, title, TABLE_RIGHT);
		for (int i = 0; i < rfc2544->size_count; i++)
			if (step < rfc2544->sizes[i].step_count)
				table_set(&table, i, column, "%s",
					  text_percent(buffer, rfc2544->sizes[i].steps[step].loss_ratio));
	}
	table_print(page, &table);
	page_ink(page, INK_DIM);
	page_paragraph(page, 2, "", "100 %% is what the source offers. Ends when two successive trials lost nothing.");
	page_ink(page, INK_PLAIN);
}

static void print_bursts(const struct page *page, const struct run_rfc2544 *rfc2544)
{
	double rate[RUN_MAX_RFC2544_SIZES], buffer_us[RUN_MAX_RFC2544_SIZES];
	int known = 0, mean, range, deviation, searches;
	struct table table;

	for (int i = 0; i < rfc2544->size_count; i++) {
		const struct run_rfc2544_size *size = &rfc2544->sizes[i];

		known |= size->bursts > 0;
		rate[i] = size->bursts ? size->burst_pps : RUN_UNKNOWN;
		buffer_us[i] = size->bursts ? size->buffer_ns / 1e3 : RUN_UNKNOWN;
	}
	if (!known)
		return;
	page_heading(page, "RFC 2544 back-to-back (26.4), frames: the longest burst without loss");
	table_start(&table, rfc2544->size_count);
	add_sizes(&table, rfc2544);
	table_group(&table, "");
	mean = table_column(&table, "mean", TABLE_RIGHT);
	deviation = table_column(&table, "deviation", TABLE_RIGHT);
	range = table_column(&table, "of all", TABLE_RIGHT);
	searches = table_column(&table, "searches", TABLE_RIGHT);
	for (int i = 0; i < table.row_count; i++) {
		const struct run_rfc2544_size *size = &rfc2544->sizes[i];

		if (!size->bursts)
			continue;
		table_set(&table, i, mean, "%s%.0f", size->burst_unbounded ? ">= " : "", size->burst_frames);
		table_set(&table, i, deviation, "%.0f", size->burst_deviation_frames);
		table_set(&table, i, range, "%.0f - %.0f", size->burst_min_frames, size->burst_max_frames);
		table_set(&table, i, searches, "%d", size->bursts);
	}
	table_group(&table, "in a burst");
	table_rates(&table, rate, NULL);
	table_group(&table, "RFC 9004");
	table_numbers(&table, "buffer, us", buffer_us, 1);
	table_print(page, &table);
	page_ink(page, INK_DIM);
	page_paragraph(
		page, 2, "",
		"Buffer: how long the buffer lasts at the rate of a burst, less what was forwarded meanwhile. Bursts of up to %.2g s are "
		"tried.",
		rfc2544->burst_s);
	page_ink(page, INK_PLAIN);
}

void text_rfc2544(const struct page *page, const struct run *run)
{
	const struct run_rfc2544 *rfc2544 = &run->rfc2544;

	if (!run->has_rfc2544 || rfc2544->size_count <= 0)
		return;
	if (!rfc2544->by_the_rfc) {
		page_ink(page, INK_ALARM);
		page_paragraph(
			page, 2, "",
			"not by the RFC: trials of %g s (it wants 60), streams of %g s (120), bursts of up to %.2g s (2), and pauses "
			"as much shorter",
			rfc2544->trial_s, rfc2544->stream_s, rfc2544->burst_s);
		page_ink(page, INK_PLAIN);
	}
	print_throughput(page, rfc2544);
	print_latency(page, rfc2544);
	print_losses(page, rfc2544);
	print_bursts(page, rfc2544);
}
