// SPDX-License-Identifier: GPL-2.0-or-later
/* Evidence around a trial; see pressure.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "measure/drops.h"
#include "measure/pressure.h"

struct point_queues {
	int count;
	struct rtnl_qdisc before[DOMAIN_MAX_QUEUES];
	uint64_t most_bytes[DOMAIN_MAX_QUEUES], most_frames[DOMAIN_MAX_QUEUES];
};

struct pressure_watch {
	const struct bench *bench;
	struct point_queues queues[RUN_MAX_POINTS];
	struct domain_link links[RUN_MAX_POINTS];
	int has_drops[DOMAINS_MAX]; /* by number in bench->path.domains: its kernel tells reasons */
};

/* Whether a domain is to be watched: its kernel holds points, and no domain before it is served by the same kernel. */
static int is_watched(const struct bench *bench, int number)
{
	const struct domains *domains = bench->path.domains;
	int points = 0;

	for (int d = 0; d < number; d++)
		if (domain_is_same_kernel(domains->list[d], domains->list[number]))
			return 0;
	for (int i = 0; i < bench->run->point_count; i++)
		points += domain_is_same_kernel(bench->path.domain[i], domains->list[number]);
	return points > 0;
}

static int read_qdiscs(const struct bench *bench, int point, struct verb_queues_reply *queues)
{
	int count = domain_queues(bench->path.domain[point], &bench->run->points[point], queues);

	return count < 0 ? 0 : count;
}

/* Zeros when it cannot be asked. */
static void read_link(const struct bench *bench, int point, struct domain_link *link)
{
	memset(link, 0, sizeof(*link));
	domain_link(bench->path.domain[point], &bench->run->points[point], link);
}

struct pressure_watch *pressure_begin(const struct bench *bench)
{
	struct pressure_watch *watch = calloc(1, sizeof(*watch));
	const struct domains *domains = bench->path.domains;

	if (!watch) {
		error_set(ENOMEM, "out of memory");
		return NULL;
	}
	watch->bench = bench;
	for (int i = 0; i < bench->run->point_count; i++) {
		struct verb_queues_reply queues;

		watch->queues[i].count = read_qdiscs(bench, i, &queues);
		memcpy(watch->queues[i].before, queues.list, sizeof(queues.list));
		read_link(bench, i, &watch->links[i]);
	}
	for (int d = 0; d < domains->count; d++) {
		struct domain *domain = domains->list[d];

		if (!is_watched(bench, d))
			continue;
		if (domain_watch_begin(domain)) {
			pressure_cancel(watch);
			return NULL;
		}
		/* That a kernel tells no reasons is no failure: they stay unknown. */
		watch->has_drops[d] = !domain_drops_begin(domain, bench->run_tag, (uint8_t)(bench->stream + 1));
	}
	return watch;
}

/* What domains watch they forget when they are asked again, or closed. */
void pressure_cancel(struct pressure_watch *watch)
{
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
	struct verb_queues_reply now;

	for (int point = 0; point < watch->bench->run->point_count; point++) {
		struct point_queues *queues = &watch->queues[point];
		int count = queues->count ? read_qdiscs(watch->bench, point, &now) : 0;

		for (int i = 0; i < queues->count; i++) {
			const struct rtnl_qdisc *qdisc = same_qdisc(now.list, count, &queues->before[i]);

			if (qdisc && qdisc->backlog_bytes > queues->most_bytes[i])
				queues->most_bytes[i] = qdisc->backlog_bytes;
			if (qdisc && qdisc->backlog_frames > queues->most_frames[i])
				queues->most_frames[i] = qdisc->backlog_frames;
		}
	}
}

static void record_queues(struct pressure_watch *watch, struct run *run)
{
	struct verb_queues_reply now;

	run->pressure.queue_count = 0;
	for (int point = 0; point < run->point_count; point++) {
		struct point_queues *queues = &watch->queues[point];
		int count = read_qdiscs(watch->bench, point, &now);

		for (int i = 0; i < queues->count && run->pressure.queue_count < RUN_MAX_POINTS; i++) {
			const struct rtnl_qdisc *before = &queues->before[i],
						*after = same_qdisc(now.list, count, before);
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
			uint64_t after, uint64_t most)
{
	struct run_drop drop = { .count = after - before < most ? after - before : most };

	if (after <= before || !drop.count)
		return;
	snprintf(drop.reason, sizeof(drop.reason), "interface counter %s", counter);
	snprintf(drop.interface, sizeof(drop.interface), "%s", interface);
	drops_add(trial, &drop);
}

/* The interfaces' own counters of drops: they count everybody's frames, and some drivers count nothing. Others (virtio_net) count what an XDP
 * program drops, so at the sink no more is taken for loss than was lost on the way there. */
static void record_counters(struct pressure_watch *watch, struct run *run, struct run_trial *trial)
{
	for (int i = 0; i < run->point_count; i++) {
		const struct domain_link *before = &watch->links[i];
		uint64_t most = i > 0 && i == trial->sink_point ? (uint64_t)trial->lost[i - 1] : UINT64_MAX;
		struct domain_link now;

		read_link(watch->bench, i, &now);
		add_counter(trial, run->points[i].interface, "rx_dropped", before->rx_dropped, now.rx_dropped, most);
		add_counter(trial, run->points[i].interface, "tx_dropped", before->tx_dropped, now.tx_dropped, UINT64_MAX);
	}
}

/* All domains' CPUs and hogs, in the order of their numbers, as far as there is room. */
static void add_machine(struct run_pressure *pressure, const struct domain_machine *machine)
{
	for (int i = 0; i < machine->cpu_count && pressure->cpu_count < RUN_MAX_CPUS; i++)
		pressure->cpus[pressure->cpu_count++] = machine->cpus[i];
	for (int i = 0; i < machine->hog_count && pressure->hog_count < RUN_MAX_HOGS; i++)
		pressure->hogs[pressure->hog_count++] = machine->hogs[i];
}

static void record_domain(struct pressure_watch *watch, int number, struct run *run, struct run_trial *trial)
{
	const struct path *path = &watch->bench->path;
	struct domain *domain = path->domains->list[number];
	struct verb_drops_reply drops;
	struct domain_machine *machine;

	if (watch->has_drops[number] && !domain_drops_end(domain, &drops))
		drops_record(trial, run, path, domain, drops.list, drops.count);
	machine = calloc(1, sizeof(*machine));
	if (machine && !domain_watch_end(domain, machine))
		add_machine(&run->pressure, machine);
	free(machine);
}

void pressure_end(struct pressure_watch *watch, struct bench *bench, int trial)
{
	struct run_pressure *pressure = &bench->run->pressure;
	const struct domains *domains = bench->path.domains;

	pressure->trial = trial;
	pressure->cpu_count = pressure->hog_count = 0;
	for (int d = 0; d < domains->count; d++)
		if (is_watched(bench, d))
			record_domain(watch, d, bench->run, &bench->run->trials[trial]);
	record_queues(watch, bench->run);
	record_counters(watch, bench->run, &bench->run->trials[trial]);
	for (int i = 0; i < bench->run->point_count; i++)
		pressure->serving_cpu[i] = i && bench->active[i] ? bench->readings[i].cpu : -1;
	pressure->serving_cpu[0] = bench->source_cpu;
	pressure_cancel(watch);
}
