// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One row a run, best marked; below it what keeps rows from being compared. Called by cmd/compare.c.
 */
#include "report/compare_text.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "report/page.h"
#include "report/table.h"

#define BAR_COLUMNS 12

_Static_assert(COMPARISON_MAX_ROWS <= TABLE_MAX_ROWS, "a table takes all rows");

struct column_values {
	double first[COMPARISON_MAX_ROWS], second[COMPARISON_MAX_ROWS];
};

static void add_keys(struct table *table, const struct comparison *comparison)
{
	int column = table_column(table, "path", TABLE_LEFT);

	for (int i = 0; i < comparison->count; i++) {
		table_set(table, i, column, "%.60s%s", comparison->rows[i].name,
			  comparison->rows[i].differences ? " *" : "");
		if (comparison->count > 1 && comparison->rows[i].ratio == 1)
			table->inks[i] = INK_BOLD;
	}
}

static void add_rates(struct table *table, const struct comparison *comparison, char *title, size_t size)
{
	struct column_values passes, capacity;
	double gbps[COMPARISON_MAX_ROWS];

	for (int i = 0; i < comparison->count; i++) {
		passes.first[i] = comparison->rows[i].passes_pps;
		capacity.first[i] = comparison->rows[i].capacity_pps;
		gbps[i] = comparison->rows[i].gbps_1500;
	}
	table_group(table, "passes");
	table_rates(table, passes.first, NULL);
	snprintf(title, size, isfinite(comparison->rows[0].loss_goal) ? "sustains, <= %g %%" : "sustains",
		 100 * comparison->rows[0].loss_goal);
	table_group(table, title);
	table_rates(table, capacity.first, passes.first);
	table_group(table, "MTU 1500");
	table_gbps(table, gbps);
}

static void add_latency(struct table *table, const struct comparison *comparison)
{
	struct column_values idle, loaded;

	for (int i = 0; i < comparison->count; i++) {
		const struct comparison_row *row = &comparison->rows[i];

		idle.first[i] = row->idle_ns;
		idle.second[i] = row->idle_bound_ns;
		loaded.first[i] = row->loaded_ns;
		loaded.second[i] = row->loaded_bound_ns;
	}
	table_group(table, "idle, us");
	table_us(table, "p50", idle.first, idle.second);
	table_group(table, "90% load, us");
	table_us(table, "p99", loaded.first, loaded.second);
}

static void add_cost(struct table *table, const struct comparison *comparison)
{
	struct column_values cost;

	for (int i = 0; i < comparison->count; i++)
		cost.first[i] = comparison->rows[i].cpu_s_per_million;
	table_group(table, "CPU");
	table_numbers(table, "s/Mframes", cost.first, 2);
}

static void add_caps(struct table *table, const struct comparison *comparison)
{
	int hop, cause;

	table_group(table, "cap");
	hop = table_column(table, "hop", TABLE_LEFT);
	cause = table_column(table, "cause", TABLE_LEFT);
	for (int i = 0; i < comparison->count; i++) {
		const struct comparison_row *row = &comparison->rows[i];

		if (row->kind == RUN_VERDICT_NONE)
			continue;
		if (row->cap_hop)
			table_set(table, i, hop, "%d %s", row->cap_hop, row->cap_name);
		if (row->kind == RUN_VERDICT_SOURCE_LIMITED || row->cause != RUN_CAUSE_UNKNOWN)
			table_set(table, i, cause, "%s",
				  row->kind == RUN_VERDICT_SOURCE_LIMITED ? "source" : run_cause_name(row->cause));
	}
}

static void add_ratios(struct table *table, const struct comparison *comparison)
{
	struct column_values ratio;

	for (int i = 0; i < comparison->count; i++)
		ratio.first[i] = comparison->rows[i].ratio;
	table_group(table, "to the best");
	table_numbers(table, "ratio", ratio.first, 3);
	table_bars(table, ratio.first, BAR_COLUMNS);
}

/* Says of each difference what the first row is, and every row that is not. */
static void print_differences(const struct page *page, const struct comparison *comparison)
{
	unsigned int all = 0;
	char value[160], text[PAGE_TEXT_BYTES];

	for (int i = 0; i < comparison->count; i++)
		all |= comparison->rows[i].differences;
	if (!all)
		return;
	page_paragraph(page, 0, "", "* not comparable with the first row in what differs:");
	for (int bit = 0; bit < COMPARISON_DIFFERENCES; bit++) {
		size_t used;

		if (!(all & 1u << bit))
			continue;
		used = (size_t)snprintf(text, sizeof(text), "%s",
					comparison_difference_value(&comparison->rows[0], bit, value, sizeof(value)));
		for (int i = 1; i < comparison->count && used < sizeof(text); i++)
			if (comparison->rows[i].differences & 1u << bit)
				used += (size_t)snprintf(
					text + used, sizeof(text) - used, "; %.60s: %s", comparison->rows[i].name,
					comparison_difference_value(&comparison->rows[i], bit, value, sizeof(value)));
		page_paragraph(page, 14, comparison_difference_name(bit), "%s", text);
	}
}

int compare_text(const struct comparison *comparison, FILE *stream, const struct report_style *style)
{
	struct page page = { .stream = stream,
			     .width = style->width > 0 ? style->width : 100,
			     .colour = style->colour };
	char sustains[64];
	struct table table;

	errno = 0;
	table_start(&table, comparison->count);
	add_keys(&table, comparison);
	add_rates(&table, comparison, sustains, sizeof(sustains));
	add_ratios(&table, comparison);
	add_latency(&table, comparison);
	add_cost(&table, comparison);
	add_caps(&table, comparison);
	table_print(&page, &table);
	page_ink(&page, INK_DIM);
	page_paragraph(
		&page, 0, "",
		"passes: arrives when more is offered than fits. ratio: of what passes, among runs of one frame size. CPU: of all "
		"kernels just above capacity, source included, for frames that arrive. -: not known.");
	page_ink(&page, INK_PLAIN);
	print_differences(&page, comparison);
	if (fflush(stream) || ferror(stream))
		return error_set(errno ? errno : EIO, "cannot print the table: %s", strerror(errno ? errno : EIO));
	return 0;
}
