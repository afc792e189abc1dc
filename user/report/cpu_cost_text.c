// SPDX-License-Identifier: GPL-2.0-or-later
/* A CPU cost as text; see cpu_cost_text.h. Called by cmd/. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/units.h"
#include "report/cpu_cost_text.h"
#include "report/table.h"

#define INDENT 11
#define SHOWN_S 0.0005 /* less is not worth a word */
#define COUNT_BYTES 32
#define NUMBER_BYTES 400 /* the longest a double can be, and its name */

static void print_number(const struct page *page, const struct run_cpu_cost *cost)
{
	char count[COUNT_BYTES];

	if (isfinite(cost->per_mframes_s))
		page_paragraph(page, INDENT, "  cost",
			       "%.3f s of CPU time per million frames (+-%.3f): %.2f s in %.2f s on %d CPUs"
			       " for %s frames",
			       cost->per_mframes_s, cost->per_mframes_error_s, cost->cpu_s, cost->elapsed_s,
			       cost->cpu_total, units_print_count(count, sizeof(count), cost->frames));
	else
		page_paragraph(page, INDENT, "  cost", "%.2f s of CPU time (+-%.2f) in %.2f s on %d CPUs, and no frame",
			       cost->cpu_s, cost->cpu_error_s, cost->elapsed_s, cost->cpu_total);
	if (!cost->has_idle)
		page_paragraph(page, INDENT, "",
			       "the whole machine; what it uses without this traffic was not measured");
	else if (isfinite(cost->above_idle_per_mframes_s))
		page_paragraph(page, INDENT, "",
			       "the whole machine; %.3f s per million frames (+-%.3f) above what it uses without"
			       " this traffic: %.2f s in the same time, as seen for %.1f s before",
			       cost->above_idle_per_mframes_s, cost->above_idle_per_mframes_error_s, cost->idle_s,
			       cost->idle_measured_s);
	else
		page_paragraph(page, INDENT, "",
			       "the whole machine; without this traffic it would have used %.2f s (+-%.2f)",
			       cost->idle_s, cost->idle_error_s);
}

static int busier(const void *left, const void *right)
{
	const struct run_cost_cpu *a = left, *b = right;

	if (a->busy_s != b->busy_s)
		return (a->busy_s < b->busy_s) - (a->busy_s > b->busy_s);
	return (a->cpu > b->cpu) - (a->cpu < b->cpu);
}

static int lower_number(const void *left, const void *right)
{
	const struct run_cost_cpu *a = left, *b = right;

	return (a->cpu > b->cpu) - (a->cpu < b->cpu);
}

/* The busiest, in the order of their numbers; the others in one line. */
static void print_cpus(const struct page *page, const struct run_cpu_cost *cost)
{
	double column[6][TABLE_MAX_ROWS], others_s = 0;
	static const char *const titles[6] = { "busy s", "user", "system", "softirq", "irq", "steal" };
	struct run_cost_cpu cpus[RUN_MAX_CPUS];
	int count = cost->cpu_count < RUN_MAX_CPUS ? cost->cpu_count : RUN_MAX_CPUS, shown = count;
	struct table table;

	if (count <= 0)
		return;
	for (int i = 0; i < count; i++)
		cpus[i] = cost->cpus[i];
	qsort(cpus, (size_t)count, sizeof(cpus[0]), busier);
	if (shown > TABLE_MAX_ROWS)
		shown = TABLE_MAX_ROWS;
	qsort(cpus, (size_t)shown, sizeof(cpus[0]), lower_number);
	table_start(&table, shown);
	table_column(&table, "CPU", TABLE_RIGHT);
	table_group(&table, "");
	for (int i = 0; i < count; i++) {
		const struct run_cost_cpu *cpu = &cpus[i];
		const double values[6] = { cpu->busy_s,		 cpu->split.user_s, cpu->split.system_s,
					   cpu->split.softirq_s, cpu->split.irq_s,  cpu->split.steal_s };

		for (int k = 0; i < shown && k < 6; k++)
			column[k][i] = values[k];
		if (i < shown)
			table_set(&table, i, 0, "%d", cpu->cpu);
		else
			others_s += cpu->busy_s;
	}
	for (int k = 0; k < 6; k++)
		table_numbers(&table, titles[k], column[k], 2);
	table_print(page, &table);
	if (count > shown)
		page_paragraph(page, INDENT, "", "%d further CPUs: %.2f s", count - shown, others_s);
	page_paragraph(page, INDENT, "", "busy: by the clock; the rest: sampled, +-%.2f s%s", cost->split_error_s,
		       cost->unsampled_s > cost->split_error_s ? "; work that no tick found is in busy only" : "");
}

static void print_threads(const struct page *page, const struct run_cpu_cost *cost)
{
	static const char *const words[RUN_COST_WHO_COUNT] = {
		[RUN_COST_OWN] = "this process",      [RUN_COST_NAPI] = "NAPI threads",
		[RUN_COST_KSOFTIRQD] = "ksoftirqd",   [RUN_COST_VHOST] = "vhost",
		[RUN_COST_KWORKER] = "kworker",	      [RUN_COST_KERNEL] = "other kernel threads",
		[RUN_COST_OTHER] = "other processes",
	};
	char line[PAGE_TEXT_BYTES] = "";
	int used = 0;

	for (int i = 0; i < RUN_COST_WHO_COUNT; i++)
		if ((i == RUN_COST_OWN || cost->who_s[i] >= SHOWN_S) && used < PAGE_TEXT_BYTES - NUMBER_BYTES)
			used += snprintf(line + used, sizeof(line) - (size_t)used, "%s %.3f s, ", words[i],
					 cost->who_s[i]);
	page_paragraph(page, INDENT, "  threads", "%soutside of threads %.3f s", line, cost->outside_s);
	line[0] = '\0';
	used = 0;
	for (int i = 0; i < cost->thread_count && i < RUN_COST_MAX_THREADS; i++)
		if (cost->threads[i].cpu_s >= SHOWN_S && used < PAGE_TEXT_BYTES - NUMBER_BYTES)
			used += snprintf(line + used, sizeof(line) - (size_t)used, "%s%s %.3f s", used ? ", " : "",
					 cost->threads[i].name, cost->threads[i].cpu_s);
	if (used)
		page_paragraph(page, INDENT, "", "most: %s", line);
	page_paragraph(page, INDENT, "", "%s",
		       cost->billing == RUN_COST_BILLED_TO_THREAD
			       ? "softirqs are in the time of the thread that they interrupted (no accounting apart)"
			       : "softirqs and interrupts are in no thread's time: this kernel accounts them apart");
}

void cpu_cost_text(const struct page *page, const struct run_cpu_cost *cost)
{
	page_heading(page, "CPU time");
	print_number(page, cost);
	print_cpus(page, cost);
	print_threads(page, cost);
}
