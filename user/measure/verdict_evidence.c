// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The named evidence that a verdict rests on.
 *
 * Owns: what each name means, its words, and whether it agrees with the verdict. Leaves to others: judging (verdict.c),
 * lookups (verdict_facts.c). Called by: verdict.c, after a rule has decided and before confidence is weighed.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "measure/verdict_case.h"

#define GROWTH 2.0 /* loaded over idle median: the queue grows here */
#define IDLE_BUSY 0.7

static void add_evidence(struct verdict_case *facts, const char *name, int hop, const char *text)
{
	struct run_verdict *verdict = &facts->run->verdict;
	struct run_evidence *evidence;

	if (verdict->evidence_count >= RUN_MAX_EVIDENCE)
		return;
	evidence = &verdict->evidence[verdict->evidence_count++];
	snprintf(evidence->name, sizeof(evidence->name), "%s", name);
	snprintf(evidence->text, sizeof(evidence->text), "%s", text);
	evidence->hop = hop;
}

/* Is this hop where the cap is, or in front of it? */
static int at_or_before_cap(const struct verdict_case *facts, int hop)
{
	const struct run_verdict *verdict = &facts->run->verdict;
	int last = verdict->hop > verdict->second_hop ? verdict->hop : verdict->second_hop;

	return verdict->kind == RUN_VERDICT_CAPPED && hop <= last;
}

#define TELLING_WIDTH 1.5  /* upper over lower bound */
#define ABOVE_SERVICE 1.15 /* of the service rate: a search cannot honestly find more */

static int cause_is(const struct verdict_case *facts, enum run_cause cause)
{
	return facts->run->verdict.kind == RUN_VERDICT_CAPPED && facts->run->verdict.cause == cause;
}

static int telling(const struct verdict_case *facts, const struct run_cut *cut)
{
	const struct run_service *service = facts->services[cut->point];

	return cut->lower_pps > 0 && cut->upper_pps <= TELLING_WIDTH * cut->lower_pps &&
	       (!service || cut->lower_pps <= ABOVE_SERVICE * service->pps);
}

static void add_search_bounds(struct verdict_case *facts, struct verdict_text *text, int hop)
{
	const struct run_cut *before = verdict_cut(facts->run, hop - 1), *after = verdict_cut(facts->run, hop);

	/* Bounds that are wide, or above what the cut passes, come from a machine that changed its speed: no evidence. */
	if (!after || !telling(facts, after) || (before && !telling(facts, before)))
		return;
	verdict_add(text, "; the search finds %s to %s there", verdict_pps(after->lower_pps).text,
		    verdict_pps(after->upper_pps).text);
	if (before)
		verdict_add(text, " and %s to %s before it", verdict_pps(before->lower_pps).text,
			    verdict_pps(before->upper_pps).text);
	if (before ? after->upper_pps < before->lower_pps : hop == 1 && after->limited_by == RUN_LIMIT_PATH)
		facts->agreeing++;
}

static void add_step(struct verdict_case *facts, int hop)
{
	const struct run_service *before = hop > 1 ? facts->services[hop - 1] : NULL, *after = facts->services[hop];
	const struct run_hop_share *share = &facts->shares[hop - 1];
	char bytes[RUN_TEXT_BYTES] = "";
	struct verdict_text text = { bytes, sizeof(bytes), 0 };

	if (!after)
		return;
	if (before)
		verdict_add(&text, "cut %d passes %s, cut %d %s", hop - 1, verdict_pps(before->pps).text, hop,
			    verdict_pps(after->pps).text);
	else
		verdict_add(&text, "of %s offered cut 1 passes %s", verdict_pps(after->offered_pps).text,
			    verdict_pps(after->pps).text);
	if (!isnan(share->service_ns))
		verdict_add(&text, ": hop %d takes %s +/- %s a frame", hop, verdict_ns(share->service_ns).text,
			    verdict_ns(share->error_ns).text);
	if (share->cpu >= 0 && facts->run->verdict.cause == RUN_CAUSE_CPU) /* elsewhere it is waiting, not CPU time */
		verdict_add(&text, " of CPU %s", run_cpu_name(facts->run, share->cpu).text);
	add_search_bounds(facts, &text, hop);
	add_evidence(facts, "capacity_step", hop, bytes);
}

static void gather_steps(struct verdict_case *facts)
{
	const struct run_verdict *verdict = &facts->run->verdict;

	if (verdict->kind != RUN_VERDICT_CAPPED || verdict->cause == RUN_CAUSE_MTU)
		return;
	add_step(facts, verdict->hop);
	if (verdict->second_hop)
		add_step(facts, verdict->second_hop);
}

static void gather_loss(struct verdict_case *facts)
{
	const struct run_trial *trial = facts->pressure;
	char bytes[RUN_TEXT_BYTES] = "", count[32], sent[32];
	struct verdict_text text = { bytes, sizeof(bytes), 0 };
	int hop, first, worst = 0, drop;

	for (hop = 1; trial && hop <= facts->hop_count; hop++)
		if (trial->lost[hop - 1] > 0 && (!worst || trial->lost[hop - 1] > trial->lost[worst - 1]))
			worst = hop;
	if (!worst || cause_is(facts, RUN_CAUSE_MTU)) /* sizes that do not pass are no matter of load */
		return;
	units_print_count(count, sizeof(count), (uint64_t)trial->lost[worst - 1]);
	units_print_count(sent, sizeof(sent), (uint64_t)trial->sent);
	for (first = worst; first > 1 && trial->lost[first - 2] < 0;)
		first--;
	verdict_add(&text, "at %s offered most loss falls in hop%s ", verdict_pps(trial->offered_pps).text,
		    first < worst ? "s" : "");
	if (first < worst) /* no probe between them in this trial */
		verdict_add(&text, "%d to ", first);
	verdict_add(&text, "%d: %s of %s frames", worst, count, sent);
	for (drop = 0; drop < trial->drop_count && drop < 2; drop++)
		verdict_add(&text, "%s%s %s %llu", drop ? ", " : " (", trial->drops[drop].interface,
			    trial->drops[drop].reason, (unsigned long long)trial->drops[drop].count);
	if (drop)
		verdict_add(&text, ")");
	if (at_or_before_cap(facts, first)) {
		if (worst != facts->run->verdict.hop)
			verdict_add(&text, "; loss in front of the cap is expected, frames wait and are dropped there");
		facts->agreeing++;
	}
	add_evidence(facts, "loss_at_hop", first < worst ? 0 : worst, bytes);
}

static const struct run_latency *find_latency(const struct run *run, int loaded)
{
	const struct run_latency *found = NULL;
	int i;

	for (i = 0; i < run->latency_count; i++) {
		const struct run_latency *latency = &run->latency[i];

		if (!loaded == !strcmp(latency->load, "idle") && (!found || latency->rate_pps > found->rate_pps))
			found = latency;
	}
	return found;
}

static void gather_latency(struct verdict_case *facts)
{
	const struct run_latency *idle = find_latency(facts->run, 0), *loaded = find_latency(facts->run, 1);
	char bytes[RUN_TEXT_BYTES] = "";
	struct verdict_text text = { bytes, sizeof(bytes), 0 };
	double growth_ns, most_ns = 0;
	int hop, worst = 0;

	for (hop = 1; idle && loaded && hop <= facts->hop_count; hop++) {
		growth_ns = loaded->hops[hop - 1].p50_ns - idle->hops[hop - 1].p50_ns;
		if (growth_ns > most_ns) {
			most_ns = growth_ns;
			worst = hop;
		}
	}
	if (!worst || loaded->hops[worst - 1].p50_ns < GROWTH * idle->hops[worst - 1].p50_ns)
		return;
	verdict_add(&text, "latency grows most in hop %d: median %s when idle, %s at %s load", worst,
		    verdict_ns(idle->hops[worst - 1].p50_ns).text, verdict_ns(loaded->hops[worst - 1].p50_ns).text,
		    loaded->load);
	if (at_or_before_cap(facts, worst)) {
		if (worst != facts->run->verdict.hop)
			verdict_add(&text, "; the queue stands in front of the cap");
		facts->agreeing++;
	}
	add_evidence(facts, "latency_growth", worst, bytes);
}

/* "hops 1, 3 and 4" that a CPU serves. */
static void add_served_hops(const struct verdict_case *facts, struct verdict_text *text, int cpu)
{
	int hop, served = 0, written = 0;

	for (hop = 1; hop <= facts->hop_count; hop++)
		served += verdict_hop_cpu(facts, hop) == cpu;
	verdict_add(text, served == 1 ? "hop " : "hops ");
	for (hop = 1; hop <= facts->hop_count; hop++) {
		if (verdict_hop_cpu(facts, hop) != cpu)
			continue;
		verdict_add(text, "%s%d", !written ? "" : written == served - 1 ? " and " : ", ", hop);
		written++;
	}
}

static void gather_cpu(struct verdict_case *facts)
{
	int hop = facts->run->verdict.hop ? facts->run->verdict.hop : facts->top;
	int number = hop ? verdict_hop_cpu(facts, hop) : -1;
	const struct run_cpu *cpu = verdict_cpu(facts->run, number);
	char bytes[RUN_TEXT_BYTES] = "";
	struct verdict_text text = { bytes, sizeof(bytes), 0 };

	if (!cpu || cause_is(facts, RUN_CAUSE_MTU))
		return;
	verdict_add(&text, "CPU %s, which serves ", run_cpu_name(facts->run, number).text);
	add_served_hops(facts, &text, number);
	verdict_add(&text, ", is %.0f %% busy under pressure", 100 * cpu->busy);
	if (cpu->softirq >= 0)
		verdict_add(&text, " (%.0f %% in soft interrupts", 100 * cpu->softirq);
	if (cpu->softirq >= 0 && cpu->steal > 0.005)
		verdict_add(&text, ", %.0f %% stolen by the host", 100 * cpu->steal);
	if (cpu->softirq >= 0)
		verdict_add(&text, ")");
	if (cause_is(facts, RUN_CAUSE_RATE_LIMIT) || cause_is(facts, RUN_CAUSE_QUEUE)) {
		if (cpu->busy < IDLE_BUSY)
			verdict_add(&text, ": the CPU does not explain the step");
		facts->agreeing += cpu->busy < IDLE_BUSY;
	}
	facts->agreeing += cause_is(facts, RUN_CAUSE_CPU) && cpu->busy >= VERDICT_BUSY;
	add_evidence(facts, "cpu_saturation", hop, bytes);
}

static void gather_hogs(struct verdict_case *facts)
{
	const struct run_pressure *pressure = &facts->run->pressure;
	int hop = facts->run->verdict.hop, i;
	char bytes[RUN_TEXT_BYTES];

	for (i = 0; hop && i < pressure->hog_count; i++) {
		const struct run_hog *hog = &pressure->hogs[i];

		if (hog->cpu < 0 || hog->cpu != verdict_hop_cpu(facts, hop) || !(hog->share >= VERDICT_HOG))
			continue;
		snprintf(bytes, sizeof(bytes), "thread %s (pid %d) takes %.0f %% of CPU %s, which serves hop %d",
			 hog->command, hog->pid, 100 * hog->share, run_cpu_name(facts->run, hog->cpu).text, hop);
		add_evidence(facts, "cpu_hog", hop, bytes);
	}
}

static void add_queue(struct verdict_case *facts, const struct run_queue *queue)
{
	int hop = queue->point < facts->hop_count ? queue->point + 1 : facts->hop_count;
	char bytes[RUN_TEXT_BYTES] = "";
	struct verdict_text text = { bytes, sizeof(bytes), 0 };

	if (queue == facts->queue)
		hop = facts->run->verdict.hop;
	verdict_add(&text, "%s on %s", queue->kind, queue->interface);
	if (queue->rate_bytes_per_s)
		verdict_add(&text, " (rate %s)", verdict_gbps(8e-9 * (double)queue->rate_bytes_per_s).text);
	verdict_add(&text, ": %llu drops, %llu times over the limit, backlog up to %llu frames, %llu bytes",
		    (unsigned long long)queue->drops, (unsigned long long)queue->overlimits,
		    (unsigned long long)queue->backlog_frames, (unsigned long long)queue->backlog_bytes);
	if (queue == facts->queue) {
		facts->agreeing++;
		if (verdict_queue_sets_rate(facts, queue, hop)) {
			verdict_add(&text, "; its rate is the rate that comes through");
			facts->agreeing++;
		}
	}
	add_evidence(facts, "queue_counters", hop, bytes);
}

static void gather_queues(struct verdict_case *facts)
{
	const struct run_pressure *pressure = &facts->run->pressure;
	int i, others = 0;

	if (facts->queue)
		add_queue(facts, facts->queue);
	for (i = 0; i < pressure->queue_count && others < 2; i++) {
		const struct run_queue *queue = &pressure->queues[i];

		if (queue == facts->queue || !verdict_queue_moved(queue))
			continue;
		add_queue(facts, queue);
		others++;
	}
}

static void gather_mtu(struct verdict_case *facts)
{
	const struct run *run = facts->run;
	int hop = run->verdict.hop;
	const struct run_point *from, *to;
	char bytes[RUN_TEXT_BYTES];

	if (!cause_is(facts, RUN_CAUSE_MTU))
		return;
	from = &run->points[hop - 1];
	to = &run->points[hop];
	snprintf(bytes, sizeof(bytes),
		 "frames of %u bytes arrive, frames of %u bytes are last seen at %s; MTU of %s is %u, of %s %u",
		 facts->passed_size->frame_bytes, facts->lost_size->frame_bytes,
		 facts->lost_size->last_seen_point < 0 ? "no point" : from->interface, from->interface, from->mtu_bytes,
		 to->interface, to->mtu_bytes);
	add_evidence(facts, "mtu", hop, bytes);
}

static void gather_source(struct verdict_case *facts)
{
	const struct run *run = facts->run;
	const struct run_service *last = facts->services[facts->hop_count];
	double ceiling_pps = run->source.ceiling_pps;
	char bytes[RUN_TEXT_BYTES] = "";
	struct verdict_text text = { bytes, sizeof(bytes), 0 };

	if (run->rate_limit_asked_pps > 0)
		verdict_add(&text, "the rate was limited to %s by --rate", verdict_pps(run->rate_limit_asked_pps).text);
	else if (ceiling_pps > 0)
		verdict_add(&text, "the source (port %s) offers up to %s", run_port_name(run->source.port),
			    verdict_pps(ceiling_pps).text);
	else if (last && last->offered_pps > 0)
		verdict_add(&text, "the source (port %s) offered %s", run_port_name(run->source.port),
			    verdict_pps(last->offered_pps).text);
	else
		return;
	if (last)
		verdict_add(&text, ", the whole path passes %s", verdict_pps(last->pps).text);
	if (run->source.self_clocked || (last && last->self_clocked))
		verdict_add(&text, "; source and path share a CPU, so the source slows down instead of losing frames "
				   "(self-clocked)");
	add_evidence(facts, "source_ceiling", 0, bytes);
}

static int is_beside(const struct run *run, int hop, const char *interface)
{
	return hop > 0 && (!interface[0] || !strcmp(interface, run->points[hop - 1].interface) ||
			   !strcmp(interface, run->points[hop].interface));
}

/* What was known before the first frame and explains the cause; the most likely one. */
static void gather_findings(struct verdict_case *facts)
{
	const struct run *run = facts->run;
	const struct run_verdict *verdict = &run->verdict;
	/* Who empties a ring too slowly does so for what makes any back end slow. */
	enum run_cause cause = facts->ring ? RUN_CAUSE_CPU : verdict->cause;

	for (int i = 0; verdict->kind == RUN_VERDICT_CAPPED && i < run->finding_count && i < RUN_MAX_FINDINGS; i++) {
		const struct run_finding *finding = &run->findings[i];
		char bytes[RUN_TEXT_BYTES];

		if (strcmp(finding->explains, run_cause_name(cause)) != 0 ||
		    !(is_beside(run, verdict->hop, finding->interface) ||
		      is_beside(run, verdict->second_hop, finding->interface)))
			continue;
		snprintf(bytes, sizeof(bytes), "%s%s%s: %.400s", finding->id, finding->interface[0] ? " on " : "",
			 finding->interface, finding->evidence);
		add_evidence(facts, "doctor", verdict->hop, bytes);
		return;
	}
}

/* The hop replaced: the only evidence that does not rest on subtracting. */
static void gather_bypass(struct verdict_case *facts)
{
	const struct run_bypass *bypass = &facts->run->bypass;
	const char *least = bypass->limited_by == RUN_LIMIT_SOURCE ? "at least " : "";
	char bytes[RUN_TEXT_BYTES] = "";
	struct verdict_text text = { bytes, sizeof(bytes), 0 };

	if (!facts->run->has_bypass || !(bypass->ratio > 0))
		return;
	verdict_add(&text, "replaced by %s the path passes %s%s instead of %s, %.2f times (%.2f to %.2f, %d pairs)",
		    bypass->way, least, verdict_pps(bypass->capacity_pps).text, verdict_pps(bypass->with_hop_pps).text,
		    bypass->ratio, bypass->low_ratio, bypass->high_ratio, bypass->pairs);
	if (isfinite(bypass->cpu_saved_s))
		verdict_add(&text, ", %s%.2f s of CPU time less per million frames", least, bypass->cpu_saved_s);
	add_evidence(facts, "bypass", bypass->hop, bytes);
}

/* In the order in which they are read. */
static void (*const gatherers[])(struct verdict_case *facts) = {
	gather_findings, gather_mtu,  gather_steps,   gather_cpu,    gather_hogs,
	gather_queues,	 gather_loss, gather_latency, gather_source, gather_bypass,
};

void verdict_collect_evidence(struct verdict_case *facts)
{
	unsigned int i;

	for (i = 0; i < sizeof(gatherers) / sizeof(gatherers[0]); i++)
		gatherers[i](facts);
}
