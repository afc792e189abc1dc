// SPDX-License-Identifier: GPL-2.0-or-later
/* Clocks of a path; theory in clocks.h. Called by trial.c, latency.c and run.c. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "measure/clock_exchange.h"
#include "measure/clocks.h"
#include "port/pacer.h"

#define MARGIN_RATE 200e-6 /* an offset changes by so much of the trial's time; more only costs stamps */
#define MARGIN_NS 2000
#define BUCKETS_OF_MARGIN 64.0 /* a delay is counted with its margin, in buckets of 1/64 */

/* One kernel of the path. The local one is what the others are measured against: its theta is 0. */
struct clock_domain {
	struct domain *domain;
	struct clock_align align;
	int64_t used_ns;		/* theta as it was known before the trial */
	struct clock_estimate estimate; /* over the last trial */
	int stepped;			/* during it */
	struct clock_estimate widest;	/* of all trials, by its guaranteed bound */
	int trials;
};

struct clocks {
	const struct run *run;
	int count;
	struct clock_domain list[DOMAINS_MAX];
	int domain_of[RUN_MAX_POINTS]; /* index in list */
	int crossings[RUN_MAX_POINTS]; /* from the source to a point */
	double margin_ns;
	uint64_t begin_ns, last_ns, end_ns;
	int is_used;
};

static int find(struct clocks *clocks, struct domain *domain)
{
	int i = 0;

	while (i < clocks->count && !domain_is_same_kernel(clocks->list[i].domain, domain))
		i++;
	if (i == clocks->count)
		clocks->list[clocks->count++].domain = domain;
	return i;
}

int clocks_open(const struct run *run, const struct path *path, struct clocks **result)
{
	struct clocks *clocks = calloc(1, sizeof(*clocks));

	*result = NULL;
	if (!clocks)
		return error_set(ENOMEM, "out of memory");
	clocks->run = run;
	for (int i = 0; i < run->point_count; i++) {
		clocks->domain_of[i] = find(clocks, path->domain[i]);
		clocks->crossings[i] = i ? clocks->crossings[i - 1] + (clocks->domain_of[i] != clocks->domain_of[i - 1])
					 : 0;
	}
	/* Ours is asked through no agent, whatever else it is called. */
	for (int i = 0; i < clocks->count; i++)
		if (domain_is_same_kernel(clocks->list[i].domain, path->domains->list[0]))
			clocks->list[i].domain = path->domains->list[0];
	if (clocks->count > 1)
		*result = clocks;
	else
		free(clocks);
	return 0;
}

void clocks_close(struct clocks *clocks)
{
	free(clocks);
}

static int exchange_all(struct clocks *clocks, int times)
{
	int code = 0;

	for (int i = 0; !code && i < clocks->count; i++)
		if (!domain_is_local(clocks->list[i].domain))
			code = clock_exchange(clocks->list[i].domain, &clocks->list[i].align, times,
					      &clocks->list[i].stepped);
	return code;
}

static void estimate(struct clock_domain *clock, uint64_t from_ns, uint64_t to_ns)
{
	memset(&clock->estimate, 0, sizeof(clock->estimate));
	if (!domain_is_local(clock->domain))
		clock_align_estimate(&clock->align, (int64_t)from_ns, (int64_t)to_ns, &clock->estimate);
}

int clocks_before(struct clocks *clocks, double duration_s)
{
	double bounds_ns = 0;
	uint64_t now_ns;
	int code;

	if (!clocks)
		return 0;
	code = exchange_all(clocks, CLOCK_EXCHANGES);
	if (code)
		return code;
	now_ns = pacer_now_ns();
	for (int i = 0; i < clocks->count; i++) {
		struct clock_domain *clock = &clocks->list[i];

		estimate(clock, now_ns, now_ns);
		clock->used_ns = clock->estimate.offset_ns;
		clock->stepped = 0;
		bounds_ns += clock->estimate.bound_ns;
	}
	clocks->margin_ns = ceil(bounds_ns + MARGIN_RATE * duration_s * 1e9 + MARGIN_NS);
	clocks->begin_ns = clocks->last_ns = now_ns;
	clocks->is_used = 1;
	return 0;
}

void clocks_meanwhile(struct clocks *clocks)
{
	uint64_t now_ns = clocks ? pacer_now_ns() : 0;

	if (!clocks || now_ns - clocks->last_ns < CLOCK_MEANWHILE_NS)
		return;
	clocks->last_ns = now_ns;
	exchange_all(clocks, CLOCK_MEANWHILE); /* a domain that is lost is found out by the trial itself */
}

int clocks_over(struct clocks *clocks)
{
	if (!clocks)
		return 0;
	clocks->end_ns = pacer_now_ns();
	return exchange_all(clocks, CLOCK_EXCHANGES);
}

void clocks_settle(struct clocks *clocks)
{
	for (int i = 0; clocks && i < clocks->count; i++) {
		struct clock_domain *clock = &clocks->list[i];

		estimate(clock, clocks->begin_ns, clocks->end_ns);
		clock->trials++;
		if (!clock->stepped && clock->estimate.bound_ns >= clock->widest.bound_ns)
			clock->widest = clock->estimate;
	}
}

int clocks_kernel_count(const struct clocks *clocks)
{
	return clocks->count;
}

int clocks_kernel(const struct clocks *clocks, int point)
{
	return clocks->domain_of[point];
}

int clocks_is_local(const struct clocks *clocks, int kernel)
{
	return domain_is_local(clocks->list[kernel].domain);
}

const char *clocks_kernel_name(const struct clocks *clocks, int kernel)
{
	return clocks->list[kernel].domain->name;
}

int clocks_add(struct clocks *clocks, int kernel, const struct clock_sample *sample)
{
	struct clock_domain *clock = &clocks->list[kernel];
	int code = clock_align_add(&clock->align, sample);

	if (code > 0)
		clock->stepped = 1;
	return code;
}

int64_t clocks_offset_ns(const struct clocks *clocks, int point)
{
	if (!clocks || !clocks->is_used)
		return 0;
	return clocks->list[clocks->domain_of[0]].used_ns - clocks->list[clocks->domain_of[point]].used_ns +
	       clocks->crossings[point] * (int64_t)clocks->margin_ns;
}

struct clock_correction clocks_correction(const struct clocks *clocks, int from, int to)
{
	struct clock_correction correction = { 0 };
	const struct clock_domain *a, *b;
	int crossings;

	if (!clocks || !clocks->is_used)
		return correction;
	a = &clocks->list[clocks->domain_of[from]];
	b = &clocks->list[clocks->domain_of[to]];
	crossings = clocks->crossings[to] - clocks->crossings[from];
	correction.shift_ns = crossings * clocks->margin_ns;
	/* Also between two points of one clock a delay was counted with the margins that lie between, in buckets. */
	correction.bound_ns = crossings * clocks->margin_ns / BUCKETS_OF_MARGIN;
	if (a == b)
		return correction;
	correction.shift_ns += (double)((b->estimate.offset_ns - b->used_ns) - (a->estimate.offset_ns - a->used_ns));
	correction.bound_ns += a->estimate.bound_ns + b->estimate.bound_ns;
	correction.unknown = a->stepped || b->stepped;
	return correction;
}

static const struct clock_domain *find_by_name(const struct clocks *clocks, const char *name)
{
	for (int i = 0; i < clocks->count; i++)
		if (!strcmp(clocks->list[i].domain->name, name))
			return &clocks->list[i];
	return NULL;
}

void clocks_record(const struct clocks *clocks, struct run *run)
{
	const struct clock_domain *source = clocks ? &clocks->list[clocks->domain_of[0]] : NULL;

	for (int i = 0; clocks && i < run->domain_count; i++) {
		struct run_domain *listed = &run->domains[i];
		const struct clock_domain *clock = find_by_name(clocks, listed->name), *far;

		/* The local clock is known as well as the source's is, where that is another. */
		far = clock && domain_is_local(clock->domain) ? source : clock;
		if (!clock || clock == source || !far->trials || !far->widest.round_trip_ns)
			continue;
		listed->clock_offset_ns = (double)(clock->widest.offset_ns - source->widest.offset_ns);
		listed->clock_bound_ns = clock->widest.bound_ns + source->widest.bound_ns;
		listed->clock_spread_ns = far->widest.symmetric_spread_ns;
		listed->round_trip_ns = far->widest.round_trip_ns;
		listed->clock_steps = far->align.steps;
		listed->clock_exchanges = far->align.exchanges;
		if (!far->widest.has_linear)
			continue;
		listed->clock_linear_ns = clock->widest.linear_bound_ns + source->widest.linear_bound_ns;
		listed->clock_drift_ppm = far->widest.drift * 1e6;
	}
}
