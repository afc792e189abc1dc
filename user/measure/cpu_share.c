// SPDX-License-Identifier: GPL-2.0-or-later
/* The path's part of its CPU; theory in cpu_share.h. Called by services.c. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/error.h"
#include "measure/cpu_share.h"
#include "model/run.h"
#include "port/pacer.h"
#include "sys/proc_cpu.h"

#define LEAST_SEEN_NS 20000000 /* shorter than this the scheduler's slices do not average out */
#define SERVED 0.75	       /* of the time seen, running or waiting: the thread serves the path */

struct watched {
	struct proc_thread first, last;
};

struct cpu_share {
	uint64_t first_ns, last_ns;
	int count;
	struct watched threads[];
};

struct cpu_share *cpu_share_open(void)
{
	struct proc_thread *threads;
	struct cpu_share *share;
	int all = proc_threads(&threads);

	if (all < 0)
		return NULL;
	share = calloc(1, sizeof(*share) + sizeof(share->threads[0]) * (size_t)all);
	for (int i = 0; share && i < all; i++)
		if (proc_thread_polls(&threads[i]))
			share->threads[share->count++].first = threads[i];
	free(threads);
	return share;
}

void cpu_share_close(struct cpu_share *share)
{
	free(share);
}

void cpu_share_reset(struct cpu_share *share)
{
	if (share)
		share->first_ns = share->last_ns = 0;
}

void cpu_share_tick(void *context)
{
	struct cpu_share *share = context;

	for (int i = 0; i < share->count; i++) {
		struct watched *watched = &share->threads[i];
		struct proc_thread now;

		if (proc_thread_read(watched->first.pid, watched->first.tid, &now))
			now = watched->last; /* gone: it adds nothing */
		watched->last = now;
		if (!share->first_ns)
			watched->first = now;
	}
	share->last_ns = pacer_now_ns();
	if (!share->first_ns)
		share->first_ns = share->last_ns;
}

double cpu_share_of(const struct cpu_share *share, int cpu)
{
	double run_ns = 0, most_run_ns = 0, its_wait_ns = 0, seen_ns;

	if (!share || share->last_ns - share->first_ns < LEAST_SEEN_NS)
		return RUN_UNKNOWN;
	seen_ns = (double)(share->last_ns - share->first_ns);
	for (int i = 0; i < share->count; i++) {
		const struct proc_thread *first = &share->threads[i].first, *last = &share->threads[i].last;
		double ran_ns = (double)(last->run_ns - first->run_ns);

		if (last->cpu != cpu)
			continue;
		run_ns += ran_ns;
		if (ran_ns > most_run_ns) {
			most_run_ns = ran_ns;
			its_wait_ns = (double)(last->wait_ns - first->wait_ns);
		}
	}
	if (most_run_ns + its_wait_ns < SERVED * seen_ns)
		return RUN_UNKNOWN;
	return fmin(run_ns / (most_run_ns + its_wait_ns), 1);
}
