// SPDX-License-Identifier: GPL-2.0-or-later
/* Evidence around a trial; see pressure.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "measure/pressure.h"
#include "port/pacer.h"
#include "probe/drop_trace.h"
#include "sys/netns.h"
#include "sys/proc_cpu.h"
#include "sys/rtnl.h"

#define MAX_QDISCS 16
#define HOG_SHARE 0.05 /* of a CPU: less is the noise of any machine */

struct point_queues {
	int count;
	struct rtnl_qdisc before[MAX_QDISCS];
	uint64_t most_bytes[MAX_QDISCS], most_frames[MAX_QDISCS];
};

struct pressure_watch {
	const struct bench *bench;
	uint64_t begin_ns;
	struct point_queues queues[RUN_MAX_POINTS];
	struct rtnl_link links[RUN_MAX_POINTS];
	struct proc_cpu_times cpus[RUN_MAX_CPUS];
	struct proc_thread *threads;
	int thread_count;
};

static int read_qdiscs(const struct bench *bench, int point, struct rtnl_qdisc *qdiscs)
{
	struct netns_token token;
	int count;

	if (netns_enter(bench->run->points[point].netns, &token))
		return 0;
	count = rtnl_qdisc_list(bench->path.ifindex[point], qdiscs, MAX_QDISCS);
	netns_leave(&token);
	return count < 0 ? 0 : count;
}

/* Zeros when it cannot be asked. */
static void read_link(const struct bench *bench, int point, struct rtnl_link *link)
{
	struct netns_token token;

	memset(link, 0, sizeof(*link));
	if (netns_enter(bench->run->points[point].netns, &token))
		return;
	rtnl_link_get(bench->run->points[point].interface, link);
	netns_leave(&token);
}

struct pressure_watch *pressure_begin(const struct bench *bench)
{
	struct pressure_watch *watch = calloc(1, sizeof(*watch));

	if (!watch) {
		error_set(ENOMEM, "out of memory");
		return NULL;
	}
	watch->bench = bench;
	for (int i = 0; i < bench->run->point_count; i++) {
		watch->queues[i].count = read_qdiscs(bench, i, watch->queues[i].before);
		read_link(bench, i, &watch->links[i]);
	}
	watch->thread_count = proc_threads(&watch->threads);
	if (watch->thread_count < 0 || proc_cpu_times(watch->cpus, RUN_MAX_CPUS)) {
		pressure_cancel(watch);
		return NULL;
	}
	watch->begin_ns = pacer_now_ns();
	return watch;
}

void pressure_cancel(struct pressure_watch *watch)
{
	if (!watch)
		return;
	free(watch->threads);
	free(watch);
}

static const struct rtnl_qdisc *same_qdisc(const struct rtnl_qdisc *list, int count, const struct rtnl_qdisc *wanted)
{
	for (int i = 0; i < count; i++)
		if (list[i].handle == wanted->handle && list[i].parent == wanted->parent &&
		    !strcmp(list[i].kind, wanted->kind))
			return &list[i];
	return NULL;
}

void pressure_tick(void *argument)
{
	struct pressure_watch *watch = argument;
	struct rtnl_qdisc now[MAX_QDISCS];

	for (int point = 0; point < watch->bench->run->point_count; point++) {
		struct point_queues *queues = &watch->queues[point];
		int count = queues->count ? read_qdiscs(watch->bench, point, now) : 0;

		for (int i = 0; i < queues->count; i++) {
			const struct rtnl_qdisc *qdisc = same_qdisc(now, count, &queues->before[i]);

			if (qdisc && qdisc->backlog_bytes > queues->most_bytes[i])
				queues->most_bytes[i] = qdisc->backlog_bytes;
			if (qdisc && qdisc->backlog_frames > queues->most_frames[i])
				queues->most_frames[i] = qdisc->backlog_frames;
		}
	}
}

static void record_queues(struct pressure_watch *watch, struct run *run)
{
	struct rtnl_qdisc now[MAX_QDISCS];

	run->pressure.queue_count = 0;
	for (int point = 0; point < run->point_count; point++) {
		struct point_queues *queues = &watch->queues[point];
		int count = read_qdiscs(watch->bench, point, now);

		for (int i = 0; i < queues->count && run->pressure.queue_count < RUN_MAX_POINTS; i++) {
			const struct rtnl_qdisc *before = &queues->before[i], *after = same_qdisc(now, count, before);
			struct run_queue *queue = &run->pressure.queues[run->pressure.queue_count];

			/* noqueue and clsact hold nothing; a queue that nothing happened in is no evidence. */
			if (!after || !strcmp(before->kind, "noqueue") || !strcmp(before->kind, "clsact"))
				continue;
			memset(queue, 0, sizeof(*queue));
			queue->point = point;
			memcpy(queue->interface, run->points[point].interface, sizeof(queue->interface));
			memcpy(queue->kind, before->kind, sizeof(queue->kind));
			queue->rate_bytes_per_s = after->rate_bytes_per_s;
			queue->drops = (uint32_t)(after->drops - before->drops);
			queue->overlimits = (uint32_t)(after->overlimits - before->overlimits);
			queue->backlog_bytes = queues->most_bytes[i];
			queue->backlog_frames = queues->most_frames[i];
			run->pressure.queue_count++;
		}
	}
}

static void add_counter(struct run_trial *trial, const char *interface, const char *counter, uint64_t before,
			uint64_t after)
{
	struct run_drop drop = { .count = after - before };

	if (after <= before)
		return;
	snprintf(drop.reason, sizeof(drop.reason), "interface counter %s", counter);
	snprintf(drop.interface, sizeof(drop.interface), "%s", interface);
	drop_trace_add(trial, &drop);
}

/* The interfaces' own counters of drops: they count everybody's frames, and some drivers count nothing. */
static void record_counters(struct pressure_watch *watch, struct run *run, struct run_trial *trial)
{
	for (int i = 0; i < run->point_count; i++) {
		const struct rtnl_link *before = &watch->links[i];
		struct rtnl_link now;

		read_link(watch->bench, i, &now);
		add_counter(trial, now.name, "rx_dropped", before->rx_dropped, now.rx_dropped);
		add_counter(trial, now.name, "tx_dropped", before->tx_dropped, now.tx_dropped);
	}
}

/* Threads of the path itself: the kernel's packet threads. Ours are known by their process. */
static int is_path_thread(const struct proc_thread *thread)
{
	return thread->pid == getpid() || proc_thread_polls(thread) ||
	       (thread->is_kernel && !strncmp(thread->command, "ksoftirqd/", 10));
}

static void add_hog(struct run_pressure *pressure, const struct proc_thread *thread, double share)
{
	struct run_hog *hog =
		&pressure->hogs[pressure->hog_count < RUN_MAX_HOGS ? pressure->hog_count : RUN_MAX_HOGS - 1];

	if (pressure->hog_count == RUN_MAX_HOGS && hog->share >= share)
		return;
	*hog = (struct run_hog){ .cpu = thread->cpu, .pid = thread->tid, .share = share > 1 ? 1 : share };
	memcpy(hog->command, thread->command, sizeof(hog->command));
	if (pressure->hog_count < RUN_MAX_HOGS)
		pressure->hog_count++;
	for (int i = pressure->hog_count - 1; i > 0 && pressure->hogs[i].share > pressure->hogs[i - 1].share; i--) {
		struct run_hog swap = pressure->hogs[i];

		pressure->hogs[i] = pressure->hogs[i - 1];
		pressure->hogs[i - 1] = swap;
	}
}

static void record_hogs(struct pressure_watch *watch, struct run *run, double elapsed_ns)
{
	struct proc_thread *now;
	int count = proc_threads(&now), earlier = 0;

	run->pressure.hog_count = 0;
	for (int i = 0; i < count; i++) {
		uint64_t before_ns = 0;
		double share;

		while (earlier < watch->thread_count && watch->threads[earlier].tid < now[i].tid)
			earlier++;
		if (earlier < watch->thread_count && watch->threads[earlier].tid == now[i].tid)
			before_ns = watch->threads[earlier].run_ns;
		share = now[i].run_ns > before_ns ? (double)(now[i].run_ns - before_ns) / elapsed_ns : 0;
		if (share >= HOG_SHARE && !is_path_thread(&now[i]))
			add_hog(&run->pressure, &now[i], share);
	}
	if (count > 0)
		free(now);
}

void pressure_end(struct pressure_watch *watch, struct bench *bench, int trial)
{
	struct run_pressure *pressure = &bench->run->pressure;
	double elapsed_ns = (double)(pacer_now_ns() - watch->begin_ns);
	struct proc_cpu_times now[RUN_MAX_CPUS];

	pressure->trial = trial;
	record_queues(watch, bench->run);
	record_counters(watch, bench->run, &bench->run->trials[trial]);
	record_hogs(watch, bench->run, elapsed_ns);
	if (!proc_cpu_times(now, RUN_MAX_CPUS))
		pressure->cpu_count = proc_cpu_shares(watch->cpus, now, RUN_MAX_CPUS, pressure->cpus);
	for (int i = 0; i < bench->run->point_count; i++)
		pressure->serving_cpu[i] = i && bench->active[i] ? bench->readings[i].cpu : -1;
	pressure->serving_cpu[0] = bench->source_cpu;
	pressure_cancel(watch);
}
