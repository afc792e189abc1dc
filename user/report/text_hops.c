// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The hop table: one row a hop, the cap's row marked.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "report/table.h"
#include "report/text.h"

#define BAR_COLUMNS 12

struct hop_values {
	double first[RUN_MAX_HOPS], second[RUN_MAX_HOPS], third[RUN_MAX_HOPS], bound[RUN_MAX_HOPS];
};

static void forget(struct hop_values *values)
{
	for (int i = 0; i < RUN_MAX_HOPS; i++)
		values->first[i] = values->second[i] = values->third[i] = values->bound[i] = RUN_UNKNOWN;
}

static void add_keys(struct table *table, const struct run *run)
{
	const struct run_verdict *verdict = &run->verdict;
	int number = table_column(table, "#", TABLE_RIGHT), name = table_column(table, "hop", TABLE_LEFT);
	char buffer[TEXT_NAME_BYTES];

	for (int i = 0; i < table->row_count; i++) {
		int hop = i + 1, capped = verdict->kind == RUN_VERDICT_CAPPED;
		char mark = capped && verdict->hop == hop ? '>' : capped && verdict->second_hop == hop ? '~' : ' ';

		table_set(table, i, number, "%c%2d", mark, hop);
		table_set(table, i, name, "%s", text_hop_name(run, hop, buffer));
		table->inks[i] = mark == '>' ? INK_ALARM : INK_PLAIN;
	}
}

static void add_ends(struct table *table, const struct run *run)
{
	char from[RUN_NAME_BYTES], to[RUN_NAME_BYTES];
	int column;

	table_group(table, "");
	column = table_column(table, "from -> to", TABLE_LEFT);
	for (int i = 0; i < table->row_count; i++)
		table_set(table, i, column, "%s -> %s", text_short_point(run, i, from),
			  text_short_point(run, i + 1, to));
}

static void add_services(struct table *table, const struct run *run)
{
	struct hop_values values;

	forget(&values);
	for (int i = 0; i < table->row_count; i++) {
		const struct run_service *service = text_service(run, i + 1, run->primary_bytes);

		if (!service)
			continue;
		values.first[i] = service->pps;
		values.second[i] = units_gbps(service->pps, run->primary_bytes);
	}
	table_group(table, "passes");
	table_rates(table, values.first, NULL);
	table_gbps(table, values.second);
	table_bars(table, values.first, BAR_COLUMNS);
}

static void add_shares(struct table *table, const struct run *run)
{
	struct hop_values values;
	int cpu;

	forget(&values);
	for (int i = 0; i < table->row_count && i < run->share_count; i++) {
		values.first[i] = run->shares[i].service_ns;
		values.second[i] = run->shares[i].error_ns;
	}
	table_group(table, "adds a frame");
	table_numbers(table, "ns", values.first, 0);
	table_numbers(table, "+-", values.second, 0);
	table_group(table, "");
	cpu = table_column(table, "CPU", TABLE_RIGHT);
	for (int i = 0; i < table->row_count && i < run->share_count; i++) {
		if (run->shares[i].cpu >= 0)
			table_set(table, i, cpu, "%s", run_cpu_name(run, run->shares[i].cpu).text);
	}
}

/* What each cut carries within the loss goal; of the whole path alone, it is the throughput below. */
static void add_cuts(struct table *table, const struct run *run, char *title, size_t size)
{
	struct hop_values values;
	int cuts = 0;

	forget(&values);
	for (int i = 0; i < run->cut_count; i++) {
		const struct run_cut *cut = &run->cuts[i];

		if (cut->point < 1 || cut->point >= table->row_count)
			continue;
		cuts++;
	}
	if (!cuts)
		return;
	for (int i = 0; i < run->cut_count; i++) {
		const struct run_cut *cut = &run->cuts[i];

		if (cut->point < 1 || cut->point > table->row_count)
			continue;
		values.first[cut->point - 1] = cut->lower_pps;
		values.second[cut->point - 1] = cut->upper_pps;
	}
	snprintf(title, size, "sustains, <= %g %% lost", 100 * run->loss_goal);
	table_group(table, title);
	table_rates(table, values.first, values.second);
	table_rates(table, values.second, NULL);
}

static void add_costs(struct table *table, const struct run *run)
{
	struct hop_values values;

	forget(&values);
	for (int i = 0; i < run->cost_count; i++) {
		int hop = run->cost[i].hop;

		if (hop < 1 || hop > table->row_count)
			continue;
		values.first[hop - 1] = run->cost[i].ns_per_frame;
		values.second[hop - 1] = run->cost[i].ns_per_byte;
		values.third[hop - 1] = run->cost[i].r2;
	}
	table_group(table, "fitted cost");
	table_numbers(table, "ns/frame", values.first, 0);
	table_numbers(table, "ns/byte", values.second, 3);
	table_numbers(table, "r2", values.third, 2);
}

static void add_latency(struct table *table, const struct run_latency *latency, int with_median, char *title,
			size_t size)
{
	struct hop_values values;

	if (!latency)
		return;
	forget(&values);
	for (int i = 0; i < table->row_count; i++) {
		const struct run_percentiles *percentiles = &latency->hops[i];

		if (percentiles->count == 0)
			continue;
		values.first[i] = percentiles->p50_ns;
		values.second[i] = percentiles->p99_ns;
		values.bound[i] = percentiles->bound_ns;
	}
	snprintf(title, size, strchr(latency->load, '%') ? "%s load, us" : "%s, us", latency->load);
	table_group(table, title);
	if (with_median)
		table_us(table, "p50", values.first, values.bound);
	table_us(table, "p99", values.second, values.bound);
}

/* Half of there and back, by test frames: known without any clock's offset. */
static int add_crossings(struct table *table, const struct run *run)
{
	struct hop_values values;
	int known = 0;

	forget(&values);
	for (int i = 0; i < run->domain_count && i < RUN_MAX_DOMAINS; i++) {
		const struct run_domain *domain = &run->domains[i];
		const int hops[] = { domain->crossing_out_hop, domain->crossing_back_hop };

		for (int k = 0; k < 2; k++)
			if (hops[k] >= 1 && hops[k] <= table->row_count && isfinite(domain->crossing_half_ns)) {
				values.first[hops[k] - 1] = domain->crossing_half_ns;
				values.bound[hops[k] - 1] = domain->crossing_bound_ns;
				known = 1;
			}
	}
	if (!known)
		return 0;
	table_group(table, "idle, there and back");
	table_us(table, "half, us", values.first, values.bound);
	return 1;
}

/* Which hops share a number. */
static void crossing_note(const struct page *page, const struct run *run)
{
	for (int i = 0; i < run->domain_count && i < RUN_MAX_DOMAINS; i++) {
		const struct run_domain *domain = &run->domains[i];

		if (!domain->crossing_out_hop || domain->crossing_out_hop == domain->crossing_back_hop)
			continue;
		page_ink(page, INK_DIM);
		page_paragraph(page, 2, "",
			       "Frames go to %s over hop %d and come back over hop %d: half is the mean of these two.",
			       domain->name, domain->crossing_out_hop, domain->crossing_back_hop);
		page_ink(page, INK_PLAIN);
	}
}

/* Of values that cross from one clock to another. */
static void bound_note(const struct page *page, const struct run *run, int has_crossings)
{
	int has_bounds = 0;

	for (int i = 0; i < run->latency_count; i++)
		for (int hop = 0; hop < text_hop_count(run); hop++)
			has_bounds |= run->latency[i].hops[hop].count && run->latency[i].hops[hop].bound_ns > 0;
	page_ink(page, INK_DIM);
	if (has_bounds)
		page_paragraph(
			page, 2, "",
			"+-: guaranteed bound of the clocks that the hop lies between; <: below resolution, so only the most "
			"that it can be is known.");
	if (has_crossings)
		page_paragraph(
			page, 2, "",
			"half: of the time that test frames take there and back, which needs no clock in common.");
	page_ink(page, INK_PLAIN);
	if (has_crossings)
		crossing_note(page, run);
}

static const struct run_latency *find_latency(const struct run *run, const char *load)
{
	for (int i = 0; i < run->latency_count; i++) {
		if (strcmp(run->latency[i].load, load) == 0)
			return &run->latency[i];
	}
	return NULL;
}

static void add_losses(struct table *table, const struct run *run)
{
	const struct run_trial *trial = text_pressure_trial(run);
	int frames, share;

	if (!trial)
		return;
	table_group(table, "lost (pressure)");
	frames = table_column(table, "frames", TABLE_RIGHT);
	share = table_column(table, "of sent", TABLE_RIGHT);
	for (int i = 0; i < table->row_count; i++) {
		char buffer[TEXT_QUANTITY_BYTES];

		if (trial->lost[i] < 0)
			continue;
		table_set(table, i, frames, "%s", units_print_count(buffer, sizeof(buffer), (uint64_t)trial->lost[i]));
		if (trial->sent > 0)
			table_set(table, i, share, "%s",
				  text_percent(buffer, (double)trial->lost[i] / (double)trial->sent));
	}
}

static void print_legend(const struct page *page, const struct run *run)
{
	char mark[160] = "";

	if (run->verdict.kind == RUN_VERDICT_CAPPED && run->verdict.hop > 0)
		snprintf(mark, sizeof(mark), " > marks the cap%s.",
			 run->verdict.second_hop > 0 ? ", ~ a hop within its error" : "");
	page_ink(page, INK_DIM);
	if (run->service_count > 0)
		page_paragraph(page, 2, "",
			       "passes: arrives behind the hop when more is offered than fits (layer 2, no FCS).%s",
			       mark);
	else if (mark[0])
		page_paragraph(page, 2, "", "%s", mark + 1);
	page_ink(page, INK_PLAIN);
}

/* Times are not those of the rates where others have a part of the CPU. */
static void shared_note(const struct page *page, const struct run *run)
{
	for (int i = run->service_count - 1; i >= 0; i--) {
		const struct run_service *service = &run->services[i];

		if (service->frame_bytes != run->primary_bytes || !(service->cpu_ns > 0) || !(service->pps > 0))
			continue;
		page_ink(page, INK_DIM);
		page_paragraph(
			page, 2, "",
			"Others have their part of CPU %s, the path about %.0f %%: what a hop adds is CPU time, less "
			"than the rates say.",
			run_cpu_name(run, service->cpu).text, fmin(100, service->cpu_ns * service->pps / 1e7));
		page_ink(page, INK_PLAIN);
		return;
	}
}

void text_hops(const struct page *page, const struct run *run)
{
	char cuts[64], idle[48], loaded[48];
	struct table table;
	int has_crossings;

	if (text_hop_count(run) == 0 || (run->has_rfc2544 && !run->service_count)) /* measured as a whole */
		return;
	page_heading(page, "hops");
	table_start(&table, text_hop_count(run));
	add_keys(&table, run);
	add_ends(&table, run);
	add_services(&table, run);
	add_shares(&table, run);
	add_cuts(&table, run, cuts, sizeof(cuts));
	add_costs(&table, run);
	add_latency(&table, find_latency(run, "idle"), 1, idle, sizeof(idle));
	has_crossings = add_crossings(&table, run);
	add_latency(&table, find_latency(run, "90%"), 0, loaded, sizeof(loaded));
	add_losses(&table, run);
	table_print(page, &table);
	print_legend(page, run);
	bound_note(page, run, has_crossings);
	shared_note(page, run);
}
