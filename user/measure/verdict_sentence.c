// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The verdict's one sentence, as a network engineer would say it.
 *
 * Owns: its words (plain ASCII but for names that are not). Leaves to others: what is said (verdict.c). Called by:
 * verdict.c.
 *
 * Shape for a cap: WHO (name, hop number, interfaces) caps this path: of WHAT REACHES IT WHAT COMES OUT, because WHY;
 * what a frame and a byte cost there; what the whole path carries, when that is clearly less; what MTU 9000 gives.
 * Each part is left out when it was not measured or means nothing for the cause.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>

#include "base/units.h"
#include "measure/attribute.h"
#include "measure/verdict_case.h"

#define CLEARLY_LESS 0.9
#define STANDARD_FRAME_BYTES 1514 /* frames of MTU 1500 */
#define NO_GAIN 1.05

static double gbps(const struct verdict_case *facts, double pps)
{
	return units_gbps(pps, facts->run->primary_bytes);
}

/* "bridge sea0 (hop 4, trunk0 to phys0)" */
static void add_hop(const struct verdict_case *facts, struct verdict_text *text, int hop, int capital)
{
	const struct run *run = facts->run;
	const char *name = run->hops[hop - 1].name[0] ? run->hops[hop - 1].name
						      : run_hop_kind_name(run->hops[hop - 1].kind);

	if (run->hops[hop - 1].kind == RUN_HOP_OPAQUE) { /* called after its ends, which are interfaces */
		verdict_add(text, "%s %s (hop %d)", capital ? "What lies between" : "what lies between", name, hop);
		return;
	}
	verdict_add(text, "%c%s (hop %d, %s to %s)", capital ? toupper((unsigned char)*name) : *name, name + 1, hop,
		    run->points[hop - 1].interface, run->points[hop].interface);
}

/* "2.91 Mpps that reach it 0.98 Mpps come out" needs less to come out than went in. */
static void add_throughput(const struct verdict_case *facts, struct verdict_text *text, int hop, const char *whom)
{
	const struct run_service *service = facts->services[hop];
	double reach_pps = NAN;

	if (!service)
		return;
	if (hop > 1 && facts->services[hop - 1])
		reach_pps = facts->services[hop - 1]->pps;
	else if (hop == 1 && !service->self_clocked)
		reach_pps = service->offered_pps;
	if (reach_pps > service->pps)
		verdict_add(text, "of %s that reach %s %s", verdict_pps(reach_pps).text, whom,
			    verdict_pps(service->pps).text);
	else
		verdict_add(text, "%s", verdict_pps(service->pps).text);
	verdict_add(text, " (%s at %u bytes) come out%s", verdict_gbps(gbps(facts, service->pps)).text,
		    facts->run->primary_bytes, reach_pps > service->pps ? "" : " of ");
	if (!(reach_pps > service->pps))
		verdict_add(text, "%s", whom);
}

static void add_who_and_what(const struct verdict_case *facts, struct verdict_text *text)
{
	const struct run_verdict *verdict = &facts->run->verdict;
	int first = verdict->hop, second = verdict->second_hop;
	char whom[32];

	add_hop(facts, text, first, 1);
	if (!second) {
		verdict_add(text, " caps this path");
		if (facts->services[first]) {
			verdict_add(text, ": ");
			add_throughput(facts, text, first, "it");
		}
		return;
	}
	verdict_add(text, " and ");
	add_hop(facts, text, second, 0);
	verdict_add(text, " cap this path, alike within the error of measurement: ");
	snprintf(whom, sizeof(whom), "hop %d", first);
	add_throughput(facts, text, first, whom);
	verdict_add(text, ", and ");
	snprintf(whom, sizeof(whom), "hop %d", second);
	add_throughput(facts, text, second, whom);
}

static void add_cpu_name(const struct verdict_case *facts, struct verdict_text *text, int cpu)
{
	int hop, others = 0, all = verdict_one_cpu(facts);

	for (hop = 1; hop <= facts->hop_count; hop++)
		others += hop != facts->run->verdict.hop && verdict_hop_cpu(facts, hop) == cpu;
	if (cpu < 0)
		verdict_add(text, "the CPU that serves it");
	else
		verdict_add(text, "CPU %s", run_cpu_name(facts->run, cpu).text);
	if (cpu >= 0 && others && all)
		verdict_add(text, ", which also serves the rest of the path,");
	else if (cpu >= 0 && others)
		verdict_add(text, ", which also serves %d other hop%s,", others, others == 1 ? "" : "s");
}

static void add_hogs(const struct verdict_case *facts, struct verdict_text *text, int cpu)
{
	const struct run_pressure *pressure = &facts->run->pressure;
	int i, named = 0;

	for (i = 0; cpu >= 0 && i < pressure->hog_count && named < 2; i++) {
		const struct run_hog *hog = &pressure->hogs[i];

		if (hog->cpu != cpu || !(hog->share >= VERDICT_HOG))
			continue;
		verdict_add(text, "%s%.0f %% %sto %s (pid %d)", named ? " and " : ": ", 100 * hog->share,
			    named ? "" : "of it goes ", hog->command, hog->pid);
		named++;
	}
	if (named)
		verdict_add(text, named == 1 ? ", which is no part of the path" : ", which are no part of the path");
}

static void add_because_cpu(const struct verdict_case *facts, struct verdict_text *text)
{
	const struct run *run = facts->run;
	const struct run_service *service = facts->services[run->verdict.hop];
	int number = verdict_hop_cpu(facts, run->verdict.hop);
	const struct run_cpu *cpu = verdict_cpu(run, number);

	verdict_add(text, ", because ");
	add_cpu_name(facts, text, number);
	if (facts->cpu_state == VERDICT_CPU_INFERRED || !cpu)
		verdict_add(text, " has no time for more (the service times of its hops say so)");
	else if (cpu->busy >= 0.985)
		verdict_add(text, " is fully busy");
	else
		verdict_add(text, " is %.0f %% busy", 100 * cpu->busy);
	add_hogs(facts, text, number);
	if (run->source.self_clocked || (service && service->self_clocked))
		verdict_add(text, " (self-clocked: the source shares it and slows down instead of losing frames)");
}

static void add_idle_cpu(const struct verdict_case *facts, struct verdict_text *text)
{
	int number = verdict_hop_cpu(facts, facts->run->verdict.hop);
	const struct run_cpu *cpu = verdict_cpu(facts->run, number);

	if (cpu && cpu->busy < VERDICT_BUSY)
		verdict_add(text, ", while CPU %s is only %.0f %% busy", run_cpu_name(facts->run, number).text, 100 * cpu->busy);
}

static void add_because_queue(const struct verdict_case *facts, struct verdict_text *text)
{
	const struct run_queue *queue = facts->queue;
	unsigned long long drops = queue->drops;

	if (queue->rate_bytes_per_s)
		verdict_add(text, ", because %s on %s limits the rate to %s", queue->kind, queue->interface,
			    verdict_gbps(8e-9 * (double)queue->rate_bytes_per_s).text);
	else if (facts->run->verdict.cause == RUN_CAUSE_RATE_LIMIT)
		verdict_add(text, ", because %s on %s holds frames back, %llu times over its limit", queue->kind,
			    queue->interface, (unsigned long long)queue->overlimits);
	else
		verdict_add(text, ", because the %s queue on %s %s", queue->kind, queue->interface,
			    drops ? "overflows" : "fills up");
	if (drops)
		verdict_add(text, " (%llu frames dropped)", drops);
	else if (queue->backlog_frames)
		verdict_add(text, " (%llu frames waiting)", (unsigned long long)queue->backlog_frames);
	add_idle_cpu(facts, text);
}

static void add_because_ring(const struct verdict_case *facts, struct verdict_text *text)
{
	const struct run_drop *ring = facts->ring;

	verdict_add(text, ", because whoever takes frames from %s is too slow: its ring was full for %llu of %llu frames",
		    ring->interface, (unsigned long long)ring->count, (unsigned long long)facts->pressure->sent);
	add_idle_cpu(facts, text);
}

static void add_because_unknown(const struct verdict_case *facts, struct verdict_text *text)
{
	verdict_add(text, ", and nothing that was watched says why");
	add_idle_cpu(facts, text);
	if (facts->run->pressure.queue_count)
		verdict_add(text, " and no queue there moved");
}

static void add_cost(const struct verdict_case *facts, struct verdict_text *text)
{
	int hop = facts->run->verdict.hop;
	const struct run_cost *cost = verdict_cost(facts->run, hop);
	const struct run_hop_share *share = &facts->shares[hop - 1];
	char where[16] = "there";

	if (facts->run->verdict.second_hop)
		snprintf(where, sizeof(where), "in hop %d", hop);
	if (!cost) {
		if (share->service_ns > 0)
			verdict_add(text, "; a frame of %u bytes costs %s %s", facts->run->primary_bytes,
				    verdict_ns(share->service_ns).text, where);
		return;
	}
	verdict_add(text, "; a frame costs %s and ", verdict_ns(cost->ns_per_frame).text);
	if (cost->ns_per_byte < 0.005)
		verdict_add(text, "nothing measurable for its bytes %s", where);
	else if (cost->ns_per_byte < 2 * cost->ns_per_byte_error)
		verdict_add(text, "%.2f +/- %.2f ns/byte %s", cost->ns_per_byte, cost->ns_per_byte_error, where);
	else
		verdict_add(text, "%.2f ns/byte %s", cost->ns_per_byte, where);
}

static void add_whole_path(const struct verdict_case *facts, struct verdict_text *text)
{
	const struct run_service *last = facts->services[facts->hop_count];
	const struct run_service *service = facts->services[facts->run->verdict.hop];

	if (!last || !service || facts->run->verdict.hop == facts->hop_count ||
	    last->pps >= CLEARLY_LESS * service->pps)
		return;
	verdict_add(text, "; %sthe whole path carries %s (%s)",
		    verdict_one_cpu(facts) ? "with all hops on that CPU " : "", verdict_pps(last->pps).text,
		    verdict_gbps(gbps(facts, last->pps)).text);
}

static void add_mtu_gain(const struct verdict_case *facts, struct verdict_text *text)
{
	const struct run_mtu_gain *gain = &facts->run->mtu_gain;
	int measured = !isnan(gain->measured_ratio);
	double ratio = measured ? gain->measured_ratio : gain->model_ratio;

	if (!facts->run->has_mtu_gain || !(ratio > 0) || facts->run->primary_bytes > STANDARD_FRAME_BYTES)
		return;
	if (ratio < NO_GAIN)
		verdict_add(text, "; MTU 9000 would not help");
	else
		verdict_add(text, "; MTU 9000 %s %.1f times the bytes", measured ? "carries" : "would carry", ratio);
	if (measured && gain->model_ratio > 0)
		verdict_add(text, " (measured; model %.1f)", gain->model_ratio);
	else
		verdict_add(text, measured ? " (measured)" : " (model)");
}

static void add_bypass(const struct verdict_case *facts, struct verdict_text *text)
{
	const struct run_bypass *bypass = &facts->run->bypass;

	if (facts->run->has_bypass && bypass->ratio > 0)
		verdict_add(text, "; with %s in its place the path passes %s%.2f times as much (measured)", bypass->way,
			    bypass->limited_by == RUN_LIMIT_SOURCE ? "at least " : "", bypass->ratio);
}

static void write_mtu(const struct verdict_case *facts, struct verdict_text *text)
{
	const struct run *run = facts->run;
	unsigned int lost = facts->lost_size->frame_bytes;
	int hop = run->verdict.hop, from = hop - 1, to = hop, small = -1;
	unsigned int wanted = lost - 14;

	if (verdict_mtu_too_small(run, to, lost))
		small = to;
	else if (verdict_mtu_too_small(run, from, lost))
		small = from;
	add_hop(facts, text, hop, 1);
	if (facts->lost_size->last_seen_point < 0)
		verdict_add(text, " caps this path: frames of %u bytes are not seen at any point", lost);
	else
		verdict_add(text, " caps this path: frames of %u bytes are last seen at %s and never reach %s", lost,
			    run->points[from].interface, run->points[to].interface);
	verdict_add(text, ", while frames of %u bytes arrive, because ", facts->passed_size->frame_bytes);
	if (small >= 0) {
		if (run->points[0].mtu_bytes > wanted) /* the smallest size that was lost need not be the largest in use */
			wanted = run->points[0].mtu_bytes;
		verdict_add(text, "%s has MTU %u; raise it to %u, as the source has it", run->points[small].interface,
			    run->points[small].mtu_bytes, wanted);
	} else {
		verdict_add(
			text,
			"something between them takes no frames of that size, though %s has MTU %u and %s %u; look at "
			"the MTU of what lies between",
			run->points[from].interface, run->points[from].mtu_bytes, run->points[to].interface,
			run->points[to].mtu_bytes);
	}
}

static void write_cap(const struct verdict_case *facts, struct verdict_text *text)
{
	enum run_cause cause = facts->run->verdict.cause;
	int about_cpu = cause == RUN_CAUSE_CPU || cause == RUN_CAUSE_UNKNOWN || facts->ring;

	add_who_and_what(facts, text);
	if (cause == RUN_CAUSE_CPU)
		add_because_cpu(facts, text);
	else if (cause == RUN_CAUSE_UNKNOWN)
		add_because_unknown(facts, text);
	else if (facts->ring)
		add_because_ring(facts, text);
	else
		add_because_queue(facts, text);
	if (about_cpu)
		add_cost(facts, text);
	add_whole_path(facts, text);
	if (about_cpu)
		add_mtu_gain(facts, text);
	add_bypass(facts, text);
}

static void write_shared_source(const struct verdict_case *facts, struct verdict_text *text)
{
	const struct run_service *first = facts->services[1], *last = facts->services[facts->hop_count];

	verdict_add(text,
		    "The source is the limit: it shares CPU %s with the path and takes, together with hop 1, %.0f of the "
		    "%.0f ns that a frame costs there, so the path passes %s (%s at %u bytes)",
		    run_cpu_name(facts->run, first->cpu).text, attribute_frame_ns(first), attribute_frame_ns(last), verdict_pps(last->pps).text,
		    verdict_gbps(gbps(facts, last->pps)).text, facts->run->primary_bytes);
	if (facts->top) {
		verdict_add(text, "; of the other hops ");
		add_hop(facts, text, facts->top, 0);
		verdict_add(text, " takes most, %.0f ns", facts->shares[facts->top - 1].service_ns);
	}
	verdict_add(text, "; a faster source, or one with a CPU of its own, would tell more");
}

static void write_source(const struct verdict_case *facts, struct verdict_text *text)
{
	const struct run *run = facts->run;
	const struct run_service *last = facts->services[facts->hop_count];
	const struct run_cut *cut = verdict_cut(run, facts->hop_count);
	double pps = last ? last->pps : cut->lower_pps;

	if (facts->services[1] && last && facts->services[1]->self_clocked && !(run->rate_limit_asked_pps > 0)) {
		write_shared_source(facts, text);
		return;
	}
	verdict_add(text, "The source is the limit: the path carries all of the %s (%s at %u bytes) ",
		    verdict_pps(pps).text, verdict_gbps(gbps(facts, pps)).text, run->primary_bytes);
	if (run->rate_limit_asked_pps > 0 && pps >= CLEARLY_LESS * run->rate_limit_asked_pps)
		verdict_add(text, "offered by --rate, so it can carry at least that; run without it to find the cap");
	else
		verdict_add(text,
			    "that the source (port %s) can offer, so it can carry at least that; a faster source "
			    "is needed to find the cap",
			    run_port_name(run->source.port));
}

static void write_none(const struct verdict_case *facts, struct verdict_text *text)
{
	const struct run_service *last = facts->hop_count >= 1 ? facts->services[facts->hop_count] : NULL;

	verdict_add(text, "No hop stands out: ");
	if (facts->first_is_hidden) {
		verdict_add(text,
			    "through port %s hop 1 cannot be told from the sink, and both together take up to %.0f ns a frame",
			    run_port_name(facts->run->source.port), attribute_frame_ns(facts->services[1]));
		if (facts->top) {
			verdict_add(text, ", not clearly less than the largest other hop, ");
			add_hop(facts, text, facts->top, 0);
			verdict_add(text, ", with %.0f ns", facts->shares[facts->top - 1].service_ns);
		}
		verdict_add(text, "; measure with live frames to tell them apart");
	} else if (last)
		verdict_add(text,
			    "the whole path passes %s (%s at %u bytes), and no step in the cuts exceeds its error",
			    verdict_pps(last->pps).text, verdict_gbps(gbps(facts, last->pps)).text,
			    facts->run->primary_bytes);
	else
		verdict_add(text, "the cuts of this path were not measured, so there is nothing to judge by");
}

void verdict_write_sentence(struct verdict_case *facts)
{
	struct run_verdict *verdict = &facts->run->verdict;
	struct verdict_text text = { verdict->sentence, sizeof(verdict->sentence), 0 };

	if (verdict->kind == RUN_VERDICT_SOURCE_LIMITED)
		write_source(facts, &text);
	else if (verdict->kind != RUN_VERDICT_CAPPED)
		write_none(facts, &text);
	else if (verdict->cause == RUN_CAUSE_MTU)
		write_mtu(facts, &text);
	else
		write_cap(facts, &text);
	verdict_add(&text, ".");
}
