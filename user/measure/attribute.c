// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From the cuts' service rates to each hop's own service time.
 *
 * Owns: the model that turns rates of cuts into times of hops, with errors. Leaves to others: measuring the rates
 * (measure/run), comparing sizes (cost_model), judging (verdict). Called by: measure/run, cost_model, verdict.
 *
 * Model. T_k = 1/C_k is the time a frame takes at the busiest server of cut k. A server is a CPU; hops served by one
 * CPU add up, different CPUs work side by side: T_k = max over CPUs c of L_k(c), L_k(c) = sum of the s_j, j <= k,
 * served by c (and the source's own time, when c is the source's). Hence for hop k on CPU c:
 *  - c served cut k-1 as well and was its busiest server: s_k = T_k - T_(k-1), exactly.
 *  - c served other hops, but cut k-1 was limited elsewhere: all that is known is L_(k-1)(c) <= T_(k-1). If T_k does
 *    not exceed T_(k-1), hop k hides: s_k <= T_k. If it does, c has become the busiest server, L_k(c) = T_k, and s_k
 *    lies between T_k - (most that L_(k-1)(c) can be) and T_k - (what is known of it): the middle is given, half the
 *    width joins the error.
 * Both rules need the same notion of "what is known of L": measured shares count with their value, bounded ones
 * between 0 and their bound. A hop whose CPU is unknown is taken to share the one before it (that never invents a
 * parallel server).
 *
 * The source. When it shares the CPU of hop 1, T_1 contains it: s_1 = T_1 - source_ns where source_ns is known, else s_1 is
 * only bounded by T_1. In later differences on that CPU it cancels. The same holds for the sink: a live frame ends in XDP,
 * next to free of cost, but one that is a socket buffer must be freed, for as much as a hop takes; so with other ports than
 * live frames s_1 is only bounded. A cut that passes nearly everything a source on a CPU of its own can offer shows
 * the source's rate, not the path's: T_k is then only an upper bound of L_k, and hop k is bounded. "Nearly", since a source at
 * its limit still overruns a short queue in bursts: a server is taken for busy all the time only when clearly more was
 * offered (OVERLOADED).
 *
 * Others on the CPU. A busy process next to the path takes its part of the CPU, and not the same of each cut: a thread
 * that serves a short cut sleeps now and then, and waits each time until it gets the CPU back. So T_k is CPU time where the
 * kernel tells how long the serving thread waited (threaded NAPI; measure/cpu_share.c); rates stay what they were.
 *
 * Errors. The median of the trials gives T_k, the distance from the median to the best trial gives e_k, at least 0.5
 * % of T_k (trials are short, and frames move in batches). For noise that goes both ways that is half the spread; but
 * on a machine whose CPU is taken away now and then one stolen trial may be three times too slow, which says nothing
 * of the median, while none is ever too fast. Differences add errors in quadrature. A difference below zero is 0;
 * what exceeds its error shows that the model (sinks that cost the same wherever they stand) is off by that much
 * hereabouts, so the excess joins the errors of the hop itself and of both neighbours.
 */
#include <errno.h>
#include <math.h>
#include <stddef.h>

#include "base/error.h"
#include "measure/attribute.h"

#define NS_PER_S 1e9
#define LEAST_RELATIVE_ERROR 0.005
#define CARRIED 0.98 /* of what was offered: nothing is lost but what a stolen CPU explains */
#define OVERLOADED 0.9 /* less than this of what was offered came through: the server never waited for a frame */

struct frame_time {
	int known;
	int source_limited;
	int not_alone; /* contains time that is no hop's and not known */
	double ns, error_ns, source_ns;
	int cpu;
};

const struct run_service *attribute_service(const struct run *run, int point, unsigned int frame_bytes,
					    enum run_port port)
{
	int i;

	for (i = 0; i < run->service_count; i++) {
		const struct run_service *service = &run->services[i];

		if (service->point == point && service->frame_bytes == frame_bytes && service->port == port)
			return service->pps > 0 && !isinf(service->pps) ? service : NULL;
	}
	return NULL;
}

double attribute_frame_ns(const struct run_service *service)
{
	return service->cpu_ns > 0 ? service->cpu_ns : NS_PER_S / service->pps;
}

double attribute_frame_error_ns(const struct run_service *service)
{
	double frame_ns = attribute_frame_ns(service), to_best_ns = 0;

	if (service->cpu_ns > 0)
		to_best_ns = service->cpu_low_ns > 0 ? frame_ns - service->cpu_low_ns : 0;
	else if (service->high_pps >= service->pps)
		to_best_ns = frame_ns - NS_PER_S / service->high_pps;
	return fmax(LEAST_RELATIVE_ERROR * frame_ns, to_best_ns);
}

int attribute_source_limited(const struct run_service *service)
{
	return !service->self_clocked && service->offered_pps > 0 && service->pps >= CARRIED * service->offered_pps;
}

int attribute_port(const struct run *run, unsigned int frame_bytes)
{
	int cuts[RUN_PORT_PACKET + 1] = { 0 }, best = -1, port, i;

	for (i = 0; i < run->service_count; i++) {
		const struct run_service *service = &run->services[i];

		if (service->frame_bytes == frame_bytes && service->pps > 0 && service->port <= RUN_PORT_PACKET)
			cuts[service->port]++;
	}
	for (port = 0; port <= RUN_PORT_PACKET; port++)
		if (cuts[port] && (best < 0 || cuts[port] > cuts[best] ||
				   (cuts[port] == cuts[best] && port == (int)run->source.port)))
			best = port;
	return best;
}

static struct frame_time frame_time(const struct run *run, int point, unsigned int frame_bytes, enum run_port port)
{
	const struct run_service *service = attribute_service(run, point, frame_bytes, port);

	if (!service)
		return (struct frame_time){ .cpu = -1 };
	return (struct frame_time){
		.known = 1,
		.source_limited = !service->self_clocked && service->offered_pps > 0 &&
				  service->pps >= OVERLOADED * service->offered_pps,
		.ns = attribute_frame_ns(service),
		.error_ns = attribute_frame_error_ns(service),
		.source_ns = service->source_ns > 0 ? service->source_ns : 0,
		.not_alone = (service->self_clocked && !(service->source_ns > 0)) || port != RUN_PORT_LIVE,
		.cpu = service->cpu,
	};
}

static void bound(struct run_hop_share *share, double most_ns)
{
	share->service_ns = RUN_UNKNOWN;
	share->error_ns = most_ns;
}

/* What hops 1…hop-1 are known to take of a CPU, and the most that those can take whose time is only bounded. */
static void load_before(const struct run_hop_share *shares, int hop, int cpu, double *known_ns, double *bounded_ns)
{
	int i;

	*known_ns = *bounded_ns = 0;
	for (i = 0; i < hop - 1; i++) {
		if (shares[i].cpu != cpu)
			continue;
		if (!isnan(shares[i].service_ns))
			*known_ns += shares[i].service_ns;
		else if (!isnan(shares[i].error_ns))
			*bounded_ns += shares[i].error_ns;
	}
}

/* Hop 1: alone with the source. */
static void first_share(struct run_hop_share *share, const struct frame_time *now)
{
	double service_ns = now->ns - now->source_ns;

	if (now->source_limited || now->not_alone) {
		bound(share, now->ns + now->error_ns);
		return;
	}
	share->service_ns = fmax(service_ns, 0);
	share->error_ns = fmax(now->error_ns, -service_ns);
}

/* A hop on a CPU that was not, or not for certain, the busiest one of the cut before. */
static void hidden_share(struct run_hop_share *shares, int hop, const struct frame_time *now,
			 const struct frame_time *before, double source_ns)
{
	struct run_hop_share *share = &shares[hop - 1];
	double error_ns = hypot(now->error_ns, before->error_ns), known_ns, bounded_ns, least_ns, most_ns;

	load_before(shares, hop, share->cpu, &known_ns, &bounded_ns);
	known_ns += source_ns;
	most_ns = fmax(now->ns - known_ns, 0);
	if (now->ns - before->ns <= error_ns) {
		bound(share, most_ns + now->error_ns);
		return;
	}
	/* Whatever is bounded was within the cut before. */
	bounded_ns = fmin(bounded_ns, fmax(before->ns - known_ns, 0));
	least_ns = fmax(most_ns - bounded_ns, 0);
	share->service_ns = (least_ns + most_ns) / 2;
	share->error_ns = hypot(bounded_ns > 0 ? error_ns : now->error_ns, (most_ns - least_ns) / 2);
}

/* Returns by how much the difference lies below zero beyond its error. */
static double added_share(struct run_hop_share *share, const struct frame_time *now, const struct frame_time *before)
{
	double difference_ns = now->ns - before->ns;

	share->error_ns = hypot(now->error_ns, before->error_ns);
	share->service_ns = fmax(difference_ns, 0);
	return fmax(-difference_ns - share->error_ns, 0);
}

static void spread_misfit(struct run_hop_share *shares, int hop_count, const double *misfit_ns)
{
	int hop, neighbour;

	for (hop = 1; hop <= hop_count; hop++)
		for (neighbour = hop - 1; misfit_ns[hop - 1] > 0 && neighbour <= hop + 1; neighbour++)
			if (neighbour >= 1 && neighbour <= hop_count && !isnan(shares[neighbour - 1].service_ns))
				shares[neighbour - 1].error_ns =
					hypot(shares[neighbour - 1].error_ns, misfit_ns[hop - 1]);
}

static void fill_shares(const struct run *run, unsigned int frame_bytes, enum run_port port,
			struct run_hop_share *shares)
{
	struct frame_time before = { .cpu = -1 }, now;
	double misfit_ns[RUN_MAX_HOPS] = { 0 }, source_ns = 0;
	int hop, same, source_cpu = -1;

	for (hop = 1; hop < run->point_count; hop++, before = now) {
		struct run_hop_share *share = &shares[hop - 1];

		now = frame_time(run, hop, frame_bytes, port);
		same = hop > 1 && now.cpu >= 0 && now.cpu == before.cpu;
		*share = (struct run_hop_share){
			.service_ns = RUN_UNKNOWN, .error_ns = RUN_UNKNOWN, .cpu = now.cpu, .same_cpu_as_previous = same
		};
		if (!now.known || (hop > 1 && !before.known))
			continue;
		if (hop == 1) {
			source_ns = now.source_ns;
			source_cpu = now.cpu;
			first_share(share, &now);
		} else if (now.source_limited) {
			bound(share, now.ns + now.error_ns);
		} else if ((same || now.cpu < 0 || before.cpu < 0) &&
			   (!isnan(shares[hop - 2].service_ns) || (hop == 2 && before.not_alone))) {
			misfit_ns[hop - 1] = added_share(share, &now, &before);
		} else {
			hidden_share(shares, hop, &now, &before, now.cpu == source_cpu ? source_ns : 0);
		}
	}
	spread_misfit(shares, run->point_count - 1, misfit_ns);
}

int attribute_port_services(const struct run *run, unsigned int frame_bytes, enum run_port port,
			    struct run_hop_share *shares)
{
	int point;

	if (run->point_count < 2 || run->point_count > RUN_MAX_POINTS)
		return error_set(ENODATA, "a path of %d points has no hops to attribute time to", run->point_count);
	fill_shares(run, frame_bytes, port, shares);
	for (point = 1; point < run->point_count; point++)
		if (!attribute_service(run, point, frame_bytes, port))
			return error_set(ENODATA,
					 "the cut at point %d (%s) has no service rate for frames of %u bytes through "
					 "port %s",
					 point, run->points[point].name, frame_bytes, run_port_name(port));
	return 0;
}

int attribute_services(const struct run *run, unsigned int frame_bytes, struct run_hop_share *shares)
{
	int port = attribute_port(run, frame_bytes);

	return attribute_port_services(run, frame_bytes, port < 0 ? run->source.port : (enum run_port)port, shares);
}

int attribute_hops(struct run *run)
{
	int result = attribute_services(run, run->primary_bytes, run->shares);

	run->share_count = result ? 0 : run->point_count - 1;
	return result;
}
