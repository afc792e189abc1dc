// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the verdict rests on, and the verdict.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/units.h"
#include "report/text.h"

#define BUSY 0.5 /* a CPU that is worth a word although it serves no point */

/* "sent 120 = lost 1 (hop 1) + 2 (hops 2-3) + received 117": a term for each stretch between probed points. */
static void print_conservation(const struct page *page, const struct run *run, const struct run_trial *trial)
{
	char line[PAGE_TEXT_BYTES], count[TEXT_QUANTITY_BYTES];
	uint64_t sum = (uint64_t)trial->received; /* of counts that may be anything: no signed overflow */
	size_t used;

	if (trial->sent < 0 || trial->received < 0)
		return;
	used = (size_t)snprintf(line, sizeof(line), "sent %s = lost",
				units_print_count(count, sizeof(count), (uint64_t)trial->sent));
	for (int hop = 1, first = 1; hop <= text_hop_count(run); hop++) {
		int64_t lost = trial->lost[hop - 1];

		if (lost < 0)
			continue;
		sum += (uint64_t)lost;
		used += (size_t)snprintf(line + used, sizeof(line) - used, "%s%s (hop", first == 1 ? " " : " + ",
					 units_print_count(count, sizeof(count), (uint64_t)lost));
		used += (size_t)(first < hop ? snprintf(line + used, sizeof(line) - used, "s %d-%d)", first, hop) :
					       snprintf(line + used, sizeof(line) - used, " %d)", hop));
		first = hop + 1;
	}
	used += (size_t)snprintf(line + used, sizeof(line) - used, " + received %s",
				 units_print_count(count, sizeof(count), (uint64_t)trial->received));
	if (sum != (uint64_t)trial->sent)
		snprintf(line + used, sizeof(line) - used, "; this does not add up: %+" PRId64 " frames",
			 (int64_t)((uint64_t)trial->sent - sum));
	page_paragraph(page, TEXT_INDENT, "  frames", "%s", line);
	if (trial->duplicates > 0 || trial->reordered > 0)
		page_paragraph(page, TEXT_INDENT, "", "%" PRId64 " duplicates, %" PRId64 " reordered",
			       trial->duplicates > 0 ? trial->duplicates : 0,
			       trial->reordered > 0 ? trial->reordered : 0);
}

/* "lpar0 and vios0 probed besides the ends": what counted in the middle of the path. */
static void name_probed(const struct run *run, const struct run_trial *trial, char text[PAGE_TEXT_BYTES])
{
	char name[RUN_NAME_BYTES];
	size_t used = 0;

	text[0] = '\0';
	for (int i = 1; i < trial->sink_point && i < RUN_MAX_POINTS && used < PAGE_TEXT_BYTES - 2 * RUN_NAME_BYTES; i++)
		if (trial->points[i] >= 0)
			used += (size_t)snprintf(text + used, PAGE_TEXT_BYTES - used, "%s%s", used ? ", " : "",
						 text_short_point(run, i, name));
	if (!used)
		snprintf(text, PAGE_TEXT_BYTES, "no middle point");
}

static void print_drops(const struct page *page, const struct run_trial *trial)
{
	for (int i = 0; i < trial->drop_count && i < RUN_MAX_DROPS; i++) {
		const struct run_drop *drop = &trial->drops[i];
		char count[TEXT_QUANTITY_BYTES];

		page_paragraph(page, TEXT_INDENT, i ? "" : "  drops", "%s by %s%s%s",
			       units_print_count(count, sizeof(count), drop->count), drop->reason,
			       drop->interface[0] ? " on " : "", drop->interface);
	}
}

static void print_queues(const struct page *page, const struct run *run)
{
	const struct run_pressure *pressure = &run->pressure;

	for (int i = 0, shown = 0; i < pressure->queue_count && i < RUN_MAX_POINTS; i++) {
		const struct run_queue *queue = &pressure->queues[i];
		char rate[64] = "", speed[TEXT_QUANTITY_BYTES], drops[TEXT_QUANTITY_BYTES], bytes[TEXT_QUANTITY_BYTES];
		char frames[TEXT_QUANTITY_BYTES];

		if (!queue->drops && !queue->backlog_bytes && !queue->overlimits && !queue->rate_bytes_per_s)
			continue;
		if (queue->rate_bytes_per_s)
			snprintf(rate, sizeof(rate), " limits to %s,",
				 units_print_gbps(speed, sizeof(speed), (double)queue->rate_bytes_per_s * 8 / 1e9));
		page_paragraph(page, TEXT_INDENT, shown++ ? "" : "  queues",
			       "%s on %s%s dropped %s, held up to %s bytes (%s frames)", queue->kind, queue->interface,
			       rate, units_print_count(drops, sizeof(drops), queue->drops),
			       units_print_count(bytes, sizeof(bytes), queue->backlog_bytes),
			       units_print_count(frames, sizeof(frames), queue->backlog_frames));
	}
}

static int serves_path(const struct run *run, int cpu)
{
	for (int i = 1; i < run->point_count && i < RUN_MAX_POINTS; i++) {
		if (run->pressure.serving_cpu[i] == cpu)
			return 1;
	}
	return 0;
}

static void print_cpus(const struct page *page, const struct run *run)
{
	const struct run_pressure *pressure = &run->pressure;

	for (int i = 0, shown = 0; i < pressure->cpu_count && i < RUN_MAX_CPUS && shown < 16; i++) {
		const struct run_cpu *cpu = &pressure->cpus[i];
		int serves = serves_path(run, cpu->cpu);

		if (!serves && cpu->cpu != run->source.cpu && !(cpu->busy >= BUSY))
			continue;
		page_paragraph(page, TEXT_INDENT, shown++ ? "" : "  CPUs",
			       "%s: %.0f %% busy (softirq %.0f, system %.0f, user %.0f, steal %.0f)%s%s",
			       run_cpu_name(run, cpu->cpu).text,
			       100 * cpu->busy, 100 * cpu->softirq, 100 * cpu->system, 100 * cpu->user,
			       100 * cpu->steal, serves ? ", serves the path" : "",
			       cpu->cpu == run->source.cpu ? ", runs the source" : "");
	}
	for (int i = 0; i < pressure->hog_count && i < RUN_MAX_HOGS; i++)
		page_paragraph(page, TEXT_INDENT, i ? "" : "  others", "%s (thread %d) takes %.0f %% of CPU %s",
			       pressure->hogs[i].command, pressure->hogs[i].pid, 100 * pressure->hogs[i].share,
			       run_cpu_name(run, pressure->hogs[i].cpu).text);
}

void text_pressure(const struct page *page, const struct run *run)
{
	const struct run_trial *trial = text_pressure_trial(run);
	char rate[TEXT_QUANTITY_BYTES], probed[PAGE_TEXT_BYTES];

	if (!trial)
		return;
	name_probed(run, trial, probed);
	page_heading(page, "under pressure");
	page_paragraph(page, TEXT_INDENT, "  offered", "%s of %u-byte frames for %.1f s, probed between the ends: %s",
		       units_print_pps(rate, sizeof(rate), trial->offered_pps), trial->frame_bytes, trial->duration_s, probed);
	print_conservation(page, run, trial);
	print_drops(page, trial);
	print_queues(page, run);
	print_cpus(page, run);
}

static void print_path_cost(const struct page *page, const struct run *run)
{
	const struct run_cost *cost = &run->path_cost;

	if (!isfinite(cost->ns_per_frame) || !isfinite(cost->ns_per_byte))
		return;
	page_paragraph(page, TEXT_INDENT, "  path",
		       "%.0f ns a frame + %.3f ns a byte, fitted over the frame sizes (r2 %.3f)", cost->ns_per_frame,
		       cost->ns_per_byte, cost->r2);
}

static void print_mtu_gain(const struct page *page, const struct run *run)
{
	const struct run_mtu_gain *gain = &run->mtu_gain;
	char rate[TEXT_QUANTITY_BYTES], model[128] = "", off[64] = "";

	if (!run->has_mtu_gain)
		return;
	if (isfinite(gain->model_ratio))
		snprintf(model, sizeof(model), "%.2f times%s%s%s", gain->model_ratio,
			 isfinite(gain->model_gbps) ? " (" : "",
			 isfinite(gain->model_gbps) ? units_print_gbps(rate, sizeof(rate), gain->model_gbps) : "",
			 isfinite(gain->model_gbps) ? ")" : "");
	if (isfinite(gain->measured_ratio)) {
		if (model[0])
			snprintf(off, sizeof(off), ", %.1f %% off",
				 100 * fabs(gain->model_ratio / gain->measured_ratio - 1));
		page_paragraph(page, TEXT_INDENT, "  MTU",
			       "%u-byte frames carry %.2f times the Gbit/s of %u-byte frames%s%s%s", gain->large_bytes,
			       gain->measured_ratio, gain->small_bytes, model[0] ? "; the fitted model says " : "",
			       model, off);
	} else if (model[0]) {
		page_paragraph(page, TEXT_INDENT, "  MTU",
			       "by the fitted model, %u-byte frames would carry %s the Gbit/s of %u-byte frames; the "
			       "path does not take them, so this is not measured",
			       gain->large_bytes, model, gain->small_bytes);
	}
}

static void print_observer(const struct page *page, const struct run *run)
{
	const struct run_observer *observer = &run->observer;
	const struct run_trial *pressure = text_pressure_trial(run);
	char range[96] = "", each[64] = "", probed[PAGE_TEXT_BYTES] = "its middle points";

	if (!run->has_observer || !isfinite(observer->throughput_ratio))
		return;
	if (isfinite(observer->low_ratio) && isfinite(observer->high_ratio))
		snprintf(range, sizeof(range), ", %.3f to %.3f", observer->low_ratio, observer->high_ratio);
	if (isfinite(observer->ns_per_frame))
		snprintf(each, sizeof(each), ", %.0f ns a frame", observer->ns_per_frame);
	if (pressure)
		name_probed(run, pressure, probed);
	page_paragraph(page, TEXT_INDENT, "  observer",
		       "at full load the path passes %.3f of what it passes without the probes at %s (%+.1f %%; "
		       "%d pair%s%s)%s; rates and capacities are measured without them",
		       observer->throughput_ratio, probed, 100 * (observer->throughput_ratio - 1), observer->pairs,
		       observer->pairs == 1 ? "" : "s", range, each);
}

static void print_bypass_gain(const struct page *page, const struct run *run)
{
	const struct run_bypass *bypass = &run->bypass;
	char pps[TEXT_QUANTITY_BYTES], with_pps[TEXT_QUANTITY_BYTES], ns[TEXT_QUANTITY_BYTES], with_ns[TEXT_QUANTITY_BYTES];
	char name[TEXT_NAME_BYTES], saved[96] = "", idle[128] = "";
	const char *least = bypass->limited_by == RUN_LIMIT_SOURCE ? "at least " : "";

	if (isfinite(bypass->cpu_saved_s))
		snprintf(saved, sizeof(saved), "; %s%.2f s of CPU time saved per million frames", least, bypass->cpu_saved_s);
	if (isfinite(bypass->idle_ns) && isfinite(bypass->with_hop_idle_ns))
		snprintf(idle, sizeof(idle), "; latency when idle %s instead of %s", units_print_ns(ns, sizeof(ns), bypass->idle_ns),
			 units_print_ns(with_ns, sizeof(with_ns), bypass->with_hop_idle_ns));
	page_paragraph(page, TEXT_INDENT, "  bypassed",
		       "with %s in place of hop %d (%s) the path passes %s%s instead of %s: %s%.2f times (%.2f to %.2f, %d pair%s)%s%s",
		       bypass->way, bypass->hop, text_hop_name(run, bypass->hop, name), least,
		       units_print_pps(pps, sizeof(pps), bypass->capacity_pps),
		       units_print_pps(with_pps, sizeof(with_pps), bypass->with_hop_pps), least, bypass->ratio, bypass->low_ratio,
		       bypass->high_ratio, bypass->pairs, bypass->pairs == 1 ? "" : "s", saved, idle);
}

static void print_bypass(const struct page *page, const struct run *run)
{
	const struct run_bypass *bypass = &run->bypass;
	char name[TEXT_NAME_BYTES], hop[TEXT_NAME_BYTES + 32] = "";

	if (!run->has_bypass)
		return;
	if (isfinite(bypass->ratio)) {
		print_bypass_gain(page, run);
		return;
	}
	if (bypass->hop > 0)
		snprintf(hop, sizeof(hop), "hop %d (%s): ", bypass->hop, text_hop_name(run, bypass->hop, name));
	page_paragraph(page, TEXT_INDENT, "  bypass", "no number: %s%s", hop, bypass->why_not);
}

void text_costs(const struct page *page, const struct run *run)
{
	if (!run->has_observer && !run->has_mtu_gain && !run->has_bypass && !isfinite(run->path_cost.ns_per_frame))
		return;
	page_heading(page, "cost");
	print_path_cost(page, run);
	print_mtu_gain(page, run);
	print_observer(page, run);
	print_bypass(page, run);
}

void text_findings(const struct page *page, const struct run *run)
{
	char label[64];

	if (run->finding_count <= 0)
		return;
	page_heading(page, "findings");
	for (int i = 0; i < run->finding_count && i < RUN_MAX_FINDINGS; i++) {
		const struct run_finding *finding = &run->findings[i];
		char severity[16];

		snprintf(label, sizeof(label), "  %s", page_plain(severity, sizeof(severity), finding->severity));
		page_paragraph(page, TEXT_INDENT, label, "%s%s%s: %s", finding->id, finding->interface[0] ? " on " : "",
			       finding->interface, finding->evidence);
		if (finding->effect[0])
			page_paragraph(page, TEXT_INDENT, "", "%s", finding->effect);
		if (finding->fix[0])
			page_paragraph(page, TEXT_INDENT, "", "to do: %s", finding->fix);
	}
}

static void print_verdict_line(const struct page *page, const struct run *run)
{
	const struct run_verdict *verdict = &run->verdict;
	char name[TEXT_NAME_BYTES], second[TEXT_NAME_BYTES], also[160] = "", line[PAGE_TEXT_BYTES], sure[64] = "";

	if (isfinite(verdict->confidence))
		snprintf(sure, sizeof(sure), ", confidence %.0f %%", 100 * verdict->confidence);
	if (verdict->kind == RUN_VERDICT_SOURCE_LIMITED)
		snprintf(line, sizeof(line), "verdict: the source is the limit%s", sure);
	else if (verdict->kind != RUN_VERDICT_CAPPED)
		snprintf(line, sizeof(line), "verdict: no hop stands out%s", sure);
	else {
		if (verdict->second_hop > 0)
			snprintf(also, sizeof(also), " or hop %d (%s)", verdict->second_hop,
				 text_hop_name(run, verdict->second_hop, second));
		snprintf(line, sizeof(line), "verdict: capped at hop %d (%s)%s, cause %s%s", verdict->hop,
			 text_hop_name(run, verdict->hop, name), also, run_cause_name(verdict->cause), sure);
	}
	page_heading(page, page_plain((char[PAGE_TEXT_BYTES]){ 0 }, PAGE_TEXT_BYTES, line));
}

void text_verdict(const struct page *page, const struct run *run)
{
	const struct run_verdict *verdict = &run->verdict;

	if (run->has_rfc2544 && !run->service_count) /* no hop was looked at */
		return;
	print_verdict_line(page, run);
	if (verdict->sentence[0]) {
		page_ink(page, INK_BOLD);
		page_paragraph(page, 2, "", "%s", verdict->sentence);
		page_ink(page, INK_PLAIN);
	}
	for (int i = 0; i < verdict->evidence_count && i < RUN_MAX_EVIDENCE; i++) {
		const struct run_evidence *evidence = &verdict->evidence[i];
		char hop[32] = "";

		if (evidence->hop > 0)
			snprintf(hop, sizeof(hop), ", hop %d", evidence->hop);
		page_paragraph(page, 6, "    -", "%s%s: %s", evidence->name, hop, evidence->text);
	}
}
