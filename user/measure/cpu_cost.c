// SPDX-License-Identifier: GPL-2.0-or-later
/* CPU cost from two readings; theory in cpu_cost.h. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "measure/cpu_cost.h"

/* Counters of /proc/stat are known to step back now and then (iowait, idle). */
static double ticks_between(uint64_t before, uint64_t after)
{
	return after > before ? (double)(after - before) : 0;
}

static struct run_cost_split split_between(const struct proc_cpu_times *before, const struct proc_cpu_times *after,
					   double tick_s)
{
	return (struct run_cost_split){ .user_s = ticks_between(before->user, after->user) * tick_s,
					.system_s = ticks_between(before->system, after->system) * tick_s,
					.softirq_s = ticks_between(before->softirq, after->softirq) * tick_s,
					.irq_s = ticks_between(before->irq, after->irq) * tick_s,
					.steal_s = ticks_between(before->steal, after->steal) * tick_s };
}

static double busy_between(const struct proc_cpu_times *before, const struct proc_cpu_times *after, double tick_s,
			   double wall_s)
{
	double other_s = (ticks_between(before->idle, after->idle) + ticks_between(before->iowait, after->iowait) +
			  ticks_between(before->steal, after->steal)) *
			 tick_s;

	return fmin(fmax(wall_s - other_s, 0), wall_s);
}

static void fill_cpus(const struct proc_cpu_reading *before, const struct proc_cpu_reading *after, double tick_s,
		      struct run_cpu_cost *cost)
{
	for (int cpu = 0; cpu < RUN_MAX_CPUS; cpu++) {
		const struct proc_cpu_times *b = &before->cpus[cpu], *a = &after->cpus[cpu];

		if (b->present && a->present)
			cost->cpus[cost->cpu_count++] =
				(struct run_cost_cpu){ .cpu = cpu,
						       .busy_s = busy_between(b, a, tick_s, cost->elapsed_s),
						       .split = split_between(b, a, tick_s) };
	}
}

static void fill_total(const struct proc_cpu_reading *before, const struct proc_cpu_reading *after, double tick_s,
		       struct run_cpu_cost *cost)
{
	const struct run_cost_split *split = &cost->split;
	int rounded = 1 + !!after->all.iowait + !!after->all.steal;

	cost->cpu_total = before->cpu_total < after->cpu_total ? before->cpu_total : after->cpu_total;
	cost->cpu_s = busy_between(&before->all, &after->all, tick_s, cost->elapsed_s * cost->cpu_total);
	cost->cpu_error_s = rounded * tick_s;
	cost->split = split_between(&before->all, &after->all, tick_s);
	cost->unsampled_s = cost->cpu_s - split->user_s - split->system_s - split->softirq_s - split->irq_s;
	cost->split_error_s = tick_s + sqrt(tick_s * fmax(fmax(split->user_s, split->system_s),
							  fmax(split->softirq_s, split->irq_s)));
}

static int starts_with(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

static enum run_cost_who who_is(const struct proc_thread *thread)
{
	if (starts_with(thread->command, "vhost-"))
		return RUN_COST_VHOST;
	if (!thread->is_kernel)
		return RUN_COST_OTHER;
	if (proc_thread_polls(thread))
		return RUN_COST_NAPI;
	if (starts_with(thread->command, "ksoftirqd/"))
		return RUN_COST_KSOFTIRQD;
	return starts_with(thread->command, "kworker/") ? RUN_COST_KWORKER : RUN_COST_KERNEL;
}

static int compare_tid(const void *left, const void *right)
{
	const struct proc_thread *a = left, *b = right;

	return (a->tid > b->tid) - (a->tid < b->tid);
}

/* What a thread has used since the first reading; one that was not there then has used all of it since. So has one that
 * has used less by now: its number was given to another. */
static uint64_t used_ns(const struct proc_cpu_reading *before, const struct proc_thread *thread)
{
	const struct proc_thread *earlier = NULL;

	if (before->thread_count > 0)
		earlier = bsearch(thread, before->threads, (size_t)before->thread_count, sizeof(*thread), compare_tid);
	if (!earlier || earlier->pid != thread->pid || earlier->run_ns > thread->run_ns)
		return thread->run_ns;
	return thread->run_ns - earlier->run_ns;
}

static int compare_name(const void *left, const void *right)
{
	const struct run_cost_thread *a = left, *b = right;

	return a->who != b->who ? (a->who > b->who) - (a->who < b->who) : strcmp(a->name, b->name);
}

static int compare_most(const void *left, const void *right)
{
	const struct run_cost_thread *a = left, *b = right;

	return a->cpu_s != b->cpu_s ? (a->cpu_s < b->cpu_s) - (a->cpu_s > b->cpu_s) : compare_name(left, right);
}

/* Sums those of one name and keeps the greatest. */
static void keep_most(struct run_cost_thread *used, int count, struct run_cpu_cost *cost)
{
	int names = 0;

	qsort(used, (size_t)count, sizeof(*used), compare_name);
	for (int i = 0; i < count; i++) {
		if (names && !compare_name(&used[names - 1], &used[i]))
			used[names - 1].cpu_s += used[i].cpu_s;
		else
			used[names++] = used[i];
	}
	qsort(used, (size_t)names, sizeof(*used), compare_most);
	cost->thread_count = names < RUN_COST_MAX_THREADS ? names : RUN_COST_MAX_THREADS;
	memcpy(cost->threads, used, sizeof(*used) * (size_t)cost->thread_count);
}

static int fill_threads(const struct proc_cpu_reading *before, const struct proc_cpu_reading *after,
			struct run_cpu_cost *cost)
{
	struct run_cost_thread *used = calloc((size_t)after->thread_count + 1, sizeof(*used));
	int count = 0;

	if (!used)
		return error_set(ENOMEM, "out of memory for the CPU time of %d threads", after->thread_count);
	if (after->own_ns > before->own_ns)
		cost->who_s[RUN_COST_OWN] = (double)(after->own_ns - before->own_ns) / 1e9;
	for (int i = 0; i < after->thread_count; i++) {
		const struct proc_thread *thread = &after->threads[i];
		double cpu_s = (double)used_ns(before, thread) / 1e9;
		struct run_cost_thread *to = &used[count];

		if (thread->pid == after->own_pid || cpu_s <= 0)
			continue;
		*to = (struct run_cost_thread){ .who = who_is(thread), .cpu_s = cpu_s };
		/* A worker is called after what it did last. */
		snprintf(to->name, sizeof(to->name), "%s", to->who == RUN_COST_KWORKER ? "kworker" : thread->command);
		cost->who_s[to->who] += cpu_s;
		count++;
	}
	keep_most(used, count, cost);
	free(used);
	return 0;
}

static double sum_of_threads(const struct run_cpu_cost *cost)
{
	double sum_s = 0;

	for (int i = 0; i < RUN_COST_WHO_COUNT; i++)
		sum_s += cost->who_s[i];
	return sum_s;
}

static enum run_cost_billing billing_of(const struct proc_cpu_reading *after, const struct run_cpu_cost *cost)
{
	if (!after->all.irq)
		return RUN_COST_BILLED_TO_THREAD;
	/* Stolen time may be in threads' times as well. */
	if (sum_of_threads(cost) - cost->split.steal_s >
	    cost->split.user_s + cost->split.system_s + 3 * cost->split_error_s)
		return RUN_COST_BILLED_TO_THREAD;
	return RUN_COST_BILLED_APART;
}

int cpu_cost_compute(const struct proc_cpu_reading *before, const struct proc_cpu_reading *after, uint64_t frames,
		     struct run_cpu_cost *cost)
{
	double tick_s = after->ticks_per_s ? 1.0 / after->ticks_per_s : 0.01;
	int result;

	memset(cost, 0, sizeof(*cost));
	cost->frames = frames;
	cost->per_mframes_s = cost->per_mframes_error_s = RUN_UNKNOWN;
	cost->idle_measured_s = cost->idle_s = cost->idle_error_s = RUN_UNKNOWN;
	cost->above_idle_s = cost->above_idle_error_s = RUN_UNKNOWN;
	cost->above_idle_per_mframes_s = cost->above_idle_per_mframes_error_s = RUN_UNKNOWN;
	if (after->when_ns <= before->when_ns)
		return error_set(EINVAL, "no time passed between two readings of the CPUs");
	cost->elapsed_s = (double)(after->when_ns - before->when_ns) / 1e9;
	fill_total(before, after, tick_s, cost);
	fill_cpus(before, after, tick_s, cost);
	result = fill_threads(before, after, cost);
	if (result)
		return result;
	cost->outside_s = cost->cpu_s - sum_of_threads(cost);
	cost->billing = billing_of(after, cost);
	if (frames) {
		cost->per_mframes_s = cost->cpu_s * 1e6 / (double)frames;
		cost->per_mframes_error_s = cost->cpu_error_s * 1e6 / (double)frames;
	}
	return 0;
}

void cpu_cost_set_idle(struct run_cpu_cost *cost, const struct run_cpu_cost *idle)
{
	double scale = idle->elapsed_s > 0 ? cost->elapsed_s / idle->elapsed_s : 0;

	if (scale <= 0)
		return;
	cost->has_idle = 1;
	cost->idle_measured_s = idle->elapsed_s;
	cost->idle_s = idle->cpu_s * scale;
	cost->idle_error_s = idle->cpu_error_s * scale;
	cost->above_idle_s = cost->cpu_s - cost->idle_s;
	cost->above_idle_error_s = cost->cpu_error_s + cost->idle_error_s;
	if (cost->frames) {
		cost->above_idle_per_mframes_s = cost->above_idle_s * 1e6 / (double)cost->frames;
		cost->above_idle_per_mframes_error_s = cost->above_idle_error_s * 1e6 / (double)cost->frames;
	}
}
