// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The text report.
 *
 * Owns: the order of its blocks, the first lines, words that several blocks use. The verdict stands last, where a
 * reader of a terminal looks. Called by: cmd/run.c and cmd/report.c, which know whether there is a terminal.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/units.h"
#include "report/report.h"
#include "report/text.h"

#define DEFAULT_WIDTH 100
#define MIN_WIDTH 40
#define MAX_WIDTH 400

/* clang-format off */
static void (*const blocks[])(const struct page *page, const struct run *run) = {
	text_header, text_hops,
	text_throughput, text_rfc2544, text_sizes, text_latency,
	text_pressure, text_costs, text_findings,
	text_verdict,
};
/* clang-format on */

int report_text(const struct run *run, FILE *stream, const struct report_style *style)
{
	struct page page = { .stream = stream, .width = DEFAULT_WIDTH };

	if (style && style->width > 0)
		page.width = style->width < MIN_WIDTH ? MIN_WIDTH : style->width > MAX_WIDTH ? MAX_WIDTH : style->width;
	if (style)
		page.colour = style->colour;
	errno = 0;
	for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++)
		blocks[i](&page, run);
	if (fflush(stream) != 0 || ferror(stream)) {
		int code = errno ? errno : EIO;

		return error_set(code, "cannot print the report: %s", strerror(code));
	}
	return 0;
}

int text_hop_count(const struct run *run)
{
	if (run->point_count > RUN_MAX_POINTS)
		return RUN_MAX_HOPS;
	return run->point_count > 0 ? run->point_count - 1 : 0;
}

const char *text_hop_name(const struct run *run, int hop, char buffer[TEXT_NAME_BYTES])
{
	const struct run_hop *which;
	const char *kind;

	if (hop < 1 || hop > text_hop_count(run)) {
		snprintf(buffer, TEXT_NAME_BYTES, "unknown");
		return buffer;
	}
	which = &run->hops[hop - 1];
	kind = run_hop_kind_name(which->kind);
	if (!which->name[0])
		snprintf(buffer, TEXT_NAME_BYTES, "%s", kind);
	else if (strncmp(which->name, kind, strlen(kind)) == 0)
		snprintf(buffer, TEXT_NAME_BYTES, "%s", which->name);
	else
		snprintf(buffer, TEXT_NAME_BYTES, "%s %s", kind, which->name);
	return buffer;
}

/* Bytes of a point's name before "@ns:…". */
static int short_length(const char *name)
{
	return (int)strcspn(name, "@");
}

const char *text_short_point(const struct run *run, int point, char buffer[RUN_NAME_BYTES])
{
	const char *name = run->points[point].name;
	int length = short_length(name), same = 0;

	for (int i = 0; i < run->point_count && i < RUN_MAX_POINTS; i++) {
		const char *other = run->points[i].name;

		same += short_length(other) == length && strncmp(other, name, (size_t)length) == 0;
	}
	snprintf(buffer, RUN_NAME_BYTES, "%.*s", same == 1 ? length : RUN_NAME_BYTES - 1, name);
	return buffer;
}

const char *text_port(enum run_port port)
{
	switch (port) {
	case RUN_PORT_LIVE:
		return "live frames";
	case RUN_PORT_AF_XDP_COPY:
		return "AF_XDP copy";
	case RUN_PORT_AF_XDP_ZC:
		return "AF_XDP zero-copy";
	case RUN_PORT_PACKET:
		return "AF_PACKET";
	}
	return "unknown";
}

const struct run_service *text_service(const struct run *run, int point, unsigned int frame_bytes)
{
	for (int i = 0; i < run->service_count; i++) {
		if (run->services[i].point == point && run->services[i].frame_bytes == frame_bytes)
			return &run->services[i];
	}
	return NULL;
}

const struct run_trial *text_pressure_trial(const struct run *run)
{
	int trial = run->pressure.trial;

	return trial >= 0 && trial < run->trial_count ? &run->trials[trial] : NULL;
}

const char *text_percent(char buffer[TEXT_QUANTITY_BYTES], double ratio)
{
	double percent = 100 * ratio;
	int decimals = fabs(percent) < 9.95 ? 2 : 1;

	if (fabs(percent) < 0.095)
		decimals = 3;
	if (!isfinite(percent))
		snprintf(buffer, TEXT_QUANTITY_BYTES, "-");
	else if (percent == 0)
		snprintf(buffer, TEXT_QUANTITY_BYTES, "0 %%");
	else
		snprintf(buffer, TEXT_QUANTITY_BYTES, "%.*f %%", decimals, percent);
	return buffer;
}

static void print_path(const struct page *page, const struct run *run)
{
	char path[RUN_MAX_POINTS * (RUN_NAME_BYTES + 4)] = "";
	size_t used = 0;

	for (int i = 0; i < run->point_count && i < RUN_MAX_POINTS; i++)
		used += (size_t)snprintf(path + used, sizeof(path) - used, "%s%s", i ? " -> " : "",
					 run->points[i].name);
	page_paragraph(page, TEXT_INDENT, "  path", "%s", path);
}

static void print_source(const struct page *page, const struct run *run)
{
	const struct run_source *source = &run->source;
	char cpu[RUN_NAME_BYTES + 48] = "", ceiling[96] = "", asked[96] = "", rate[TEXT_QUANTITY_BYTES];
	const char *clock = "";

	if (source->cpu >= 0)
		snprintf(cpu, sizeof(cpu), " on CPU %s", run_cpu_name(run, source->cpu).text);
	if (isfinite(source->ceiling_pps))
		snprintf(ceiling, sizeof(ceiling), ", up to %s",
			 units_print_pps(rate, sizeof(rate), source->ceiling_pps));
	if (run->rate_limit_asked_pps > 0)
		snprintf(asked, sizeof(asked), ", held to %s as asked",
			 units_print_pps(rate, sizeof(rate), run->rate_limit_asked_pps));
	if (source->self_clocked)
		clock = ", self-clocked (it shares a CPU with the path and slows down instead of losing frames)";
	page_paragraph(page, TEXT_INDENT, "  source", "%s%s%s%s%s%s%s", text_port(source->port), cpu, ceiling, asked,
		       clock, source->why[0] ? "; " : "", source->why);
}

static void print_system(const struct page *page, const struct run *run)
{
	char line[RUN_TEXT_BYTES] = "";
	size_t used = 0;

	if (run->kernel[0])
		used += (size_t)snprintf(line + used, sizeof(line) - used, "kernel %s", run->kernel);
	if (run->machine[0])
		used += (size_t)snprintf(line + used, sizeof(line) - used, "%s%s", used ? ", " : "", run->machine);
	if (run->created[0])
		used += (size_t)snprintf(line + used, sizeof(line) - used, "%s%s", used ? ", " : "", run->created);
	if (isfinite(run->measuring_s))
		used += (size_t)snprintf(line + used, sizeof(line) - used, "%smeasured for %.1f s", used ? ", " : "",
					 run->measuring_s);
	if (used)
		page_paragraph(page, TEXT_INDENT, "  system", "%s", line);
}

/* Exchanges are between the local kernel and another one: the local clock is known by those with the source's. */
static const struct run_domain *exchanged_with(const struct run *run, const struct run_domain *domain)
{
	for (int i = 0; !strcmp(domain->name, "local") && i < run->domain_count && i < RUN_MAX_DOMAINS; i++)
		if (!strcmp(run->domains[i].name, run->points[0].domain))
			return &run->domains[i];
	return domain;
}

/* How many of the exchanges went through the path itself. */
static void print_frame_exchanges(char *text, size_t size, const struct run *run, const struct run_domain *which)
{
	const struct run_domain *domain = exchanged_with(run, which);

	text[0] = 0;
	if (domain->frame_exchanges)
		snprintf(text, size, ", %llu of them by test frames through the path",
			 (unsigned long long)domain->frame_exchanges);
	else if (domain->frames_note[0])
		snprintf(text, size, ", none of them by test frames: %s", domain->frames_note);
}

/* The other kernels, and how well their clocks are known. */
static void print_domains(const struct page *page, const struct run *run)
{
	for (int i = 0; i < run->domain_count && i < RUN_MAX_DOMAINS; i++) {
		const struct run_domain *domain = &run->domains[i];
		char linear[96] = "", bound[32], value[32], frames[RUN_TEXT_BYTES + 64];

		if (strcmp(domain->name, "local"))
			page_paragraph(page, TEXT_INDENT, "  domain", "%s: kernel %s, %s", domain->name, domain->kernel, domain->machine);
		if (!isfinite(domain->clock_bound_ns))
			continue;
		if (isfinite(domain->clock_linear_ns))
			snprintf(linear, sizeof(linear), "; +-%s if it runs evenly (%+.2f ppm)",
				 units_print_ns(value, sizeof(value), domain->clock_linear_ns), domain->clock_drift_ppm);
		print_frame_exchanges(frames, sizeof(frames), run, domain);
		page_paragraph(page, TEXT_INDENT, "  clock",
			       "of %s: known to +-%s of the source's, guaranteed%s; fastest of %llu exchanges %s%s%s", domain->name,
			       units_print_ns(bound, sizeof(bound), domain->clock_bound_ns), linear,
			       (unsigned long long)domain->clock_exchanges,
			       units_print_ns(value, sizeof(value), domain->round_trip_ns), frames,
			       domain->clock_steps ? "; IT STEPPED during the run" : "");
	}
}

void text_header(const struct page *page, const struct run *run)
{
	int hops = text_hop_count(run);
	char where[64] = "";

	if (run->lab[0])
		snprintf(where, sizeof(where), " of lab %s", run->lab);
	page_ink(page, INK_BOLD);
	page_paragraph(page, 0, "", "hopcap %s: %d hop%s%s, frames of %u bytes (without FCS)", run->version, hops,
		       hops == 1 ? "" : "s", where, run->primary_bytes);
	page_ink(page, INK_PLAIN);
	print_path(page, run);
	print_source(page, run);
	print_domains(page, run);
	print_system(page, run);
}
