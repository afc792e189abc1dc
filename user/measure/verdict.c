// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The verdict: which hop caps the path, and why.
 *
 * Owns: the rules, their order, ranking, confidence. Leaves to others: looking facts up (verdict_facts.c), writing
 * evidence (verdict_evidence.c) and the sentence (verdict_sentence.c), service times (attribute.c). Called by:
 * measure/run, once, last.
 *
 * Order. Rules stand in a table; the first that decides wins.
 *  1. mtu: what does not pass at any rate is no matter of rates.
 *  2. source: no hop may be accused of what the source did not offer, nor of the CPU time that the source itself
 *     takes where it shares the path's CPU.
 *  3. shaper: a queue stands at the largest step, and either its rate is the rate that comes through, or the CPU does
 *     not explain the step.
 *  4. cpu: the CPU that serves the largest step is saturated.
 *  5. ring: the largest step begins at a tap whose ring is full: the process behind it takes frames too slowly.
 *  6. step: there is a step that nothing explains.
 * Otherwise no hop stands out.
 *
 * Ranking. The saturated CPU is the one with the largest sum of service times (attribute.c: that sum is 1/C_n). The
 * cap is the hop with the largest service time on it; the capacity step ranks first, since loss shows in front of the
 * cap, not at it. Two hops whose difference is within their errors (in quadrature) are both named. A step that does
 * not exceed its own error is none, unless a saturated CPU shows that there must be one.
 *
 * Confidence. z = (s - r) / hypot(e_s, e_r), where s is the service time of the smallest hop that is named, r that of
 * the largest that is not (0 without one), e their errors. The step alone gives p = z / (1 + z): 0.5 when the margin
 * is one error, 0.9 when it is nine. n further pieces of evidence that agree (search bounds, loss in front, latency
 * growth, CPU, queue counters) take away up to half of the doubt: 1 - (1 - p) * (1 + 0.7^n) / 2, at most 0.99; they
 * speak for the cause more than for the hop. A step without a cause counts 0.6 of that. MTU: 0.97 when an interface
 * at the hop has the too small MTU, else 0.6 (a bridge or something unseen in between). Source: 0.95 when search and
 * service rates both say so, 0.8 when there is only one of them.
 */
#include <math.h>
#include <string.h>

#include "measure/attribute.h"
#include "measure/verdict.h"
#include "measure/verdict_case.h"

#define CARRIED 0.98
#define CARRIED_NOISY 0.9 /* beside a search that says "source": allows for noise in both rates */
#define STANDS_OUT 0.85	  /* the last cut is below this share of the best one: some hop takes something away */
#define FAR_ABOVE 5.0	  /* times the next hop: more than CPU time on the same CPU accounts for */
#define AGREEMENT_DOUBT 0.7
#define UNEXPLAINED 0.6
#define MOST_CONFIDENT 0.99

static void gather_shares(struct verdict_case *facts)
{
	const struct run *run = facts->run;
	int hop, port = attribute_port(run, run->primary_bytes);

	for (hop = 1; port >= 0 && hop <= facts->hop_count; hop++)
		facts->services[hop] = attribute_service(run, hop, run->primary_bytes, (enum run_port)port);
	if (run->share_count == facts->hop_count) {
		memcpy(facts->shares, run->shares, sizeof(facts->shares));
		return;
	}
	for (hop = 1; hop <= RUN_MAX_HOPS; hop++)
		facts->shares[hop - 1] =
			(struct run_hop_share){ .service_ns = RUN_UNKNOWN, .error_ns = RUN_UNKNOWN, .cpu = -1 };
	if (port >= 0)
		attribute_port_services(run, run->primary_bytes, (enum run_port)port, facts->shares);
}

/* Largest service time on the saturated CPU among the hops that are not left out; 0 none. */
static int largest_hop(const struct verdict_case *facts, int without, int without_too)
{
	int hop, best = 0;

	for (hop = 1; hop <= facts->hop_count; hop++) {
		const struct run_hop_share *share = &facts->shares[hop - 1];

		if (hop == without || hop == without_too || share->cpu != facts->cpu)
			continue;
		if (share->service_ns > 0 && (!best || share->service_ns > facts->shares[best - 1].service_ns))
			best = hop;
	}
	return best;
}

static void rank_hops(struct verdict_case *facts)
{
	const struct run_hop_share *shares = facts->shares;
	double most_ns = -1;
	int hop, rival;

	for (hop = 1; hop <= facts->hop_count; hop++) {
		double load_ns = verdict_cpu_load_ns(facts, shares[hop - 1].cpu);

		if (load_ns > most_ns) {
			most_ns = load_ns;
			facts->cpu = shares[hop - 1].cpu;
		}
	}
	facts->top = largest_hop(facts, 0, 0);
	hop = facts->top ? largest_hop(facts, facts->top, 0) : 0;
	if (hop && shares[facts->top - 1].service_ns - shares[hop - 1].service_ns <=
			   hypot(shares[facts->top - 1].error_ns, shares[hop - 1].error_ns))
		facts->second = hop;
	rival = facts->top ? largest_hop(facts, facts->top, facts->second) : 0;
	facts->rival_ns = rival ? shares[rival - 1].service_ns : 0;
	facts->rival_error_ns = rival ? shares[rival - 1].error_ns : 0;
}

static void cap_at(struct verdict_case *facts, int hop, int second_hop, enum run_cause cause)
{
	struct run_verdict *verdict = &facts->run->verdict;

	verdict->kind = RUN_VERDICT_CAPPED;
	verdict->hop = hop;
	verdict->second_hop = second_hop;
	verdict->cause = cause;
}

static int judge_mtu(struct verdict_case *facts)
{
	int hop, small;

	if (!verdict_find_mtu_hole(facts))
		return 0;
	hop = facts->lost_size->last_seen_point < 0 ? 1 : facts->lost_size->last_seen_point + 1;
	small = verdict_mtu_too_small(facts->run, hop - 1, facts->lost_size->frame_bytes) ||
		verdict_mtu_too_small(facts->run, hop, facts->lost_size->frame_bytes);
	cap_at(facts, hop, 0, RUN_CAUSE_MTU);
	facts->run->verdict.confidence = small ? 0.97 : 0.6;
	return 1;
}

/* Everything that was offered came out at the end, as far as search and flood trials tell. */
static int all_carried(const struct verdict_case *facts)
{
	const struct run *run = facts->run;
	const struct run_service *service = facts->services[facts->hop_count];
	const struct run_cut *cut = verdict_cut(run, facts->hop_count);
	double asked_pps = run->rate_limit_asked_pps;

	if (!service && !cut)
		return 0;
	if (cut && cut->limited_by != RUN_LIMIT_SOURCE && !(asked_pps > 0 && cut->lower_pps >= CARRIED * asked_pps))
		return 0;
	return !service || !(service->pps < (cut ? CARRIED_NOISY : CARRIED) * service->offered_pps);
}

static int source_had_to_wait(const struct verdict_case *facts)
{
	const struct run_service *service = facts->services[facts->hop_count];

	return facts->run->source.self_clocked || (service && service->self_clocked);
}

static int some_hop_stands_out(const struct verdict_case *facts)
{
	const struct run_service *last = facts->services[facts->hop_count];
	double best_pps = 0;
	int hop;

	for (hop = 1; hop <= facts->hop_count; hop++)
		if (facts->services[hop])
			best_pps = fmax(best_pps, facts->services[hop]->pps);
	return last && last->pps < STANDS_OUT * best_pps;
}

static int judge_source(struct verdict_case *facts)
{
	const struct run_service *service = facts->services[facts->hop_count];
	const struct run_cut *cut = verdict_cut(facts->run, facts->hop_count);
	struct run_verdict *verdict = &facts->run->verdict;
	double asked_pps = facts->run->rate_limit_asked_pps, reached_pps = 0;

	if (!all_carried(facts))
		return 0;
	if (cut)
		reached_pps = cut->lower_pps;
	if (service)
		reached_pps = fmax(reached_pps, service->pps);
	/* A rate that was asked for and reached leaves no question; otherwise the source must have run free. */
	if (!(asked_pps > 0 && reached_pps >= CARRIED_NOISY * asked_pps) &&
	    (source_had_to_wait(facts) || some_hop_stands_out(facts)))
		return 0;
	verdict->kind = RUN_VERDICT_SOURCE_LIMITED;
	verdict->cause = RUN_CAUSE_SOURCE;
	verdict->confidence = service && cut ? 0.95 : 0.8;
	return 1;
}

static int exceeds_error(const struct verdict_case *facts)
{
	const struct run_hop_share *share = &facts->shares[facts->top ? facts->top - 1 : 0];

	return facts->top && share->service_ns > share->error_ns;
}

/* The largest other hop takes more than all that is in the first cut, whatever part of it is hop 1, beyond the errors. */
static int exceeds_first(const struct verdict_case *facts, const struct run_service *first)
{
	const struct run_hop_share *top = facts->top ? &facts->shares[facts->top - 1] : NULL;

	return top && top->service_ns - attribute_frame_ns(first) > hypot(top->error_ns, attribute_frame_error_ns(first));
}

/* Self-clocked, and the source with hop 1 takes more of the shared CPU than any hop that can be told from it. */
static int judge_shared_source(struct verdict_case *facts)
{
	const struct run_service *first = facts->services[1];

	if (!first || !first->self_clocked || !isnan(facts->shares[0].service_ns))
		return 0;
	if (exceeds_first(facts, first))
		return 0;
	facts->run->verdict.kind = RUN_VERDICT_SOURCE_LIMITED;
	facts->run->verdict.cause = RUN_CAUSE_SOURCE;
	facts->run->verdict.confidence = 0.8;
	return 1;
}

/* Hop 1 cannot be told from the sink (attribute.c), and both together take more than any other hop: no hop is named. */
static int judge_hidden_first(struct verdict_case *facts)
{
	const struct run_service *first = facts->services[1];

	if (!first || first->port == RUN_PORT_LIVE || !isnan(facts->shares[0].service_ns))
		return 0;
	if (exceeds_first(facts, first))
		return 0;
	facts->first_is_hidden = 1;
	return 1;
}

static int judge_shaper(struct verdict_case *facts)
{
	const struct run_queue *queue = exceeds_error(facts) ? verdict_hop_queue(facts, facts->top) : NULL;
	int sets_rate, explained, second;

	if (!queue)
		return 0;
	sets_rate = verdict_queue_sets_rate(facts, queue, facts->top);
	second = largest_hop(facts, facts->top, 0);
	explained = facts->cpu_state == VERDICT_CPU_BUSY || facts->cpu_state == VERDICT_CPU_INFERRED;
	if (facts->cpu_state == VERDICT_CPU_INFERRED && second)
		explained = facts->shares[facts->top - 1].service_ns < FAR_ABOVE * facts->shares[second - 1].service_ns;
	if (!sets_rate && explained)
		return 0;
	facts->queue = queue;
	cap_at(facts, facts->top, facts->second,
	       queue->rate_bytes_per_s || queue->overlimits ? RUN_CAUSE_RATE_LIMIT : RUN_CAUSE_QUEUE);
	return 1;
}

static int judge_cpu(struct verdict_case *facts)
{
	if (!facts->top || (facts->cpu_state != VERDICT_CPU_BUSY && facts->cpu_state != VERDICT_CPU_INFERRED))
		return 0;
	cap_at(facts, facts->top, facts->second, RUN_CAUSE_CPU);
	return 1;
}

static int judge_ring(struct verdict_case *facts)
{
	facts->ring = exceeds_error(facts) ? verdict_full_ring(facts, facts->top) : NULL;
	if (!facts->ring)
		return 0;
	cap_at(facts, facts->top, facts->second, RUN_CAUSE_QUEUE);
	return 1;
}

static int judge_step(struct verdict_case *facts)
{
	if (!exceeds_error(facts))
		return 0;
	cap_at(facts, facts->top, facts->second, RUN_CAUSE_UNKNOWN);
	return 1;
}

static const struct {
	const char *name;
	int (*judge)(struct verdict_case *facts); /* 1: decided, run->verdict is set but for evidence and sentence */
} rules[] = {
	{ "mtu", judge_mtu },	    /* what does not pass at any rate is no matter of rates */
	{ "source", judge_source }, /* no hop is accused of what was not offered */
	{ "shared source", judge_shared_source }, /* nor of what the source takes from it */
	{ "hidden first hop", judge_hidden_first }, /* what cannot be told apart is not judged */
	{ "shaper", judge_shaper }, /* a queue sets the rate, or the CPU does not explain the step */
	{ "cpu", judge_cpu },	    /* the CPU of the largest step is saturated */
	{ "ring", judge_ring }, /* whoever empties the ring at the largest step is too slow */
	{ "step", judge_step },	    /* a step that nothing explains */
};

static void weigh(struct verdict_case *facts)
{
	struct run_verdict *verdict = &facts->run->verdict;
	const struct run_hop_share *named;
	double margin, doubt;

	if (verdict->kind != RUN_VERDICT_CAPPED || verdict->cause == RUN_CAUSE_MTU)
		return;
	/* What is only bounded may be as much as its bound. */
	if (isnan(facts->shares[0].service_ns) && facts->shares[0].error_ns > facts->rival_ns) {
		facts->rival_ns = facts->shares[0].error_ns;
		facts->rival_error_ns = 0;
	}
	named = &facts->shares[(verdict->second_hop ? verdict->second_hop : verdict->hop) - 1];
	margin = fmax(named->service_ns - facts->rival_ns, 0) /
		 fmax(hypot(named->error_ns, facts->rival_error_ns), 1e-6);
	doubt = 1 / (1 + margin) * (1 + pow(AGREEMENT_DOUBT, facts->agreeing)) / 2;
	verdict->confidence = fmin(1 - doubt, MOST_CONFIDENT) * (verdict->cause == RUN_CAUSE_UNKNOWN ? UNEXPLAINED : 1);
}

void verdict_judge(struct run *run)
{
	struct verdict_case facts = { .run = run, .hop_count = run->point_count - 1, .cpu = -1 };
	unsigned int i;

	memset(&run->verdict, 0, sizeof(run->verdict));
	run->verdict.kind = RUN_VERDICT_NONE;
	if (run->point_count >= 2 && run->point_count <= RUN_MAX_POINTS) {
		if (run->pressure.trial >= 0 && run->pressure.trial < run->trial_count)
			facts.pressure = &run->trials[run->pressure.trial];
		gather_shares(&facts);
		rank_hops(&facts);
		if (facts.top)
			facts.cpu_state = verdict_cpu_state(&facts, facts.top);
		for (i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
			if (rules[i].judge(&facts))
				break;
		verdict_collect_evidence(&facts);
		weigh(&facts);
	}
	verdict_write_sentence(&facts);
}
