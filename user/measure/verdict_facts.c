// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Facts that the verdict's rules ask for, looked up in a run.
 *
 * Owns: looking up and comparing; text that grows. Leaves to others: rules (verdict.c), wording (verdict_evidence.c,
 * verdict_sentence.c). Called by those.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "measure/verdict_case.h"

#define ETHERNET_HEADER_BYTES 14
#define RATE_MATCH 0.15 /* a shaper's rate and the rate that comes through differ by less: it is the shaper's */
#define CARRIED 0.98
#define CLEARLY_LOST 0.01 /* of what was sent */
#define EXPLAINED_BUSY 0.75 /* of the load that the service times predict */
#define CLEARLY_LOADED 0.3

const struct run_cut *verdict_cut(const struct run *run, int point)
{
	int i;

	for (i = 0; i < run->cut_count; i++)
		if (run->cuts[i].point == point)
			return &run->cuts[i];
	return NULL;
}

const struct run_cost *verdict_cost(const struct run *run, int hop)
{
	int i;

	for (i = 0; i < run->cost_count; i++)
		if (run->cost[i].hop == hop && !isnan(run->cost[i].ns_per_frame))
			return &run->cost[i];
	return NULL;
}

const struct run_cpu *verdict_cpu(const struct run *run, int cpu)
{
	int i;

	for (i = 0; cpu >= 0 && i < run->pressure.cpu_count; i++)
		if (run->pressure.cpus[i].cpu == cpu && run->pressure.cpus[i].busy >= 0)
			return &run->pressure.cpus[i];
	return NULL;
}

int verdict_hop_cpu(const struct verdict_case *facts, int hop)
{
	int cpu = facts->shares[hop - 1].cpu;

	return cpu >= 0 ? cpu : facts->run->pressure.serving_cpu[hop];
}

int verdict_one_cpu(const struct verdict_case *facts)
{
	int hop, cpu = verdict_hop_cpu(facts, 1);

	for (hop = 2; hop <= facts->hop_count; hop++)
		if (verdict_hop_cpu(facts, hop) != cpu)
			return 0;
	return cpu >= 0;
}

/* More was offered to the whole path than came through, or the source had to wait for it. */
static int overloaded(const struct verdict_case *facts)
{
	const struct run_service *service = facts->services[facts->hop_count];

	return service && (service->self_clocked || service->pps < CARRIED * service->offered_pps);
}

/* Sum of the service times that a CPU is known to carry. */
double verdict_cpu_load_ns(const struct verdict_case *facts, int cpu)
{
	double sum_ns = 0;
	int hop;

	for (hop = 1; hop <= facts->hop_count; hop++)
		if (facts->shares[hop - 1].cpu == cpu && facts->shares[hop - 1].service_ns > 0)
			sum_ns += facts->shares[hop - 1].service_ns;
	return sum_ns;
}

/*
 * Is the CPU of a hop what limits it? Full: yes. Not full: the pressure trial may have offered less than the flood
 * trials did; then the CPU must be as busy as the service times on it predict for that rate. Not seen at all: it is
 * the CPU when every hop is on it and more was offered than came through.
 */
enum verdict_cpu_state verdict_cpu_state(const struct verdict_case *facts, int hop)
{
	const struct run_cpu *cpu = verdict_cpu(facts->run, verdict_hop_cpu(facts, hop));
	double predicted = 1;

	if (!cpu)
		return verdict_one_cpu(facts) && overloaded(facts) ? VERDICT_CPU_INFERRED : VERDICT_CPU_UNSEEN;
	if (cpu->busy >= VERDICT_BUSY)
		return VERDICT_CPU_BUSY;
	if (facts->pressure && facts->pressure->offered_pps > 0)
		predicted =
			1e-9 * facts->pressure->offered_pps * verdict_cpu_load_ns(facts, facts->shares[hop - 1].cpu);
	predicted = fmin(predicted, 1);
	if (overloaded(facts) && predicted >= CLEARLY_LOADED && cpu->busy >= EXPLAINED_BUSY * predicted)
		return VERDICT_CPU_INFERRED;
	return VERDICT_CPU_IDLE;
}

int verdict_queue_moved(const struct run_queue *queue)
{
	return queue->drops || queue->overlimits || queue->backlog_frames || queue->backlog_bytes;
}

/* A queue that holds frames back lies behind the hook of the point they leave by, so in the hop that starts there; on
 * the far side it is looked for as well, since a hook may lie behind the queue (a device that is entered by
 * redirect). */
const struct run_queue *verdict_hop_queue(const struct verdict_case *facts, int hop)
{
	const struct run_pressure *pressure = &facts->run->pressure;
	const struct run_queue *best = NULL;
	int i;

	for (i = 0; i < pressure->queue_count; i++) {
		const struct run_queue *queue = &pressure->queues[i];

		if (!verdict_queue_moved(queue) || (queue->point != hop - 1 && queue->point != hop))
			continue;
		if (!best || (queue->point == hop - 1 && best->point == hop) ||
		    (queue->point == best->point && queue->rate_bytes_per_s && !best->rate_bytes_per_s))
			best = queue;
	}
	return best;
}

const struct run_drop *verdict_full_ring(const struct verdict_case *facts, int hop)
{
	const struct run_trial *pressure = facts->pressure;

	for (int i = 0; pressure && i < pressure->drop_count; i++) {
		const struct run_drop *drop = &pressure->drops[i];

		/* The reason's name of tun and tap alone. */
		if (!strcmp(drop->reason, "FULL_RING") &&
		    !strcmp(drop->interface, facts->run->points[hop - 1].interface) &&
		    (double)drop->count >= CLEARLY_LOST * (double)pressure->sent)
			return drop;
	}
	return NULL;
}

int verdict_queue_sets_rate(const struct verdict_case *facts, const struct run_queue *queue, int hop)
{
	const struct run_service *service = facts->services[hop];
	double bytes_per_s;

	if (!service || !queue->rate_bytes_per_s)
		return 0;
	bytes_per_s = service->pps * service->frame_bytes;
	return fabs(bytes_per_s / (double)queue->rate_bytes_per_s - 1) <= RATE_MATCH;
}

int verdict_mtu_too_small(const struct run *run, int point, unsigned int frame_bytes)
{
	unsigned int mtu_bytes = run->points[point].mtu_bytes;

	return mtu_bytes && frame_bytes > mtu_bytes + ETHERNET_HEADER_BYTES;
}

int verdict_find_mtu_hole(struct verdict_case *facts)
{
	const struct run *run = facts->run;
	int i;

	facts->lost_size = facts->passed_size = NULL;
	for (i = 0; i < run->size_count; i++) {
		const struct run_size *size = &run->sizes[i];

		if (size->delivered || size->last_seen_point >= facts->hop_count ||
		    verdict_mtu_too_small(run, 0, size->frame_bytes)) /* not even the source takes it: no hole */
			continue;
		if (!facts->lost_size || size->frame_bytes < facts->lost_size->frame_bytes)
			facts->lost_size = size;
	}
	for (i = 0; facts->lost_size && i < run->size_count; i++) {
		const struct run_size *size = &run->sizes[i];

		if (size->delivered && size->frame_bytes < facts->lost_size->frame_bytes &&
		    (!facts->passed_size || size->frame_bytes > facts->passed_size->frame_bytes))
			facts->passed_size = size;
	}
	return facts->passed_size != NULL;
}

void verdict_add(struct verdict_text *text, const char *format, ...)
{
	va_list arguments;
	int added;

	if (text->used + 1 >= text->size)
		return;
	va_start(arguments, format);
	added = vsnprintf(text->bytes + text->used, text->size - text->used, format, arguments);
	va_end(arguments);
	if (added > 0)
		text->used += (size_t)added;
	if (text->used >= text->size)
		text->used = text->size - 1;
}

struct verdict_number verdict_pps(double pps)
{
	struct verdict_number number;

	units_print_pps(number.text, sizeof(number.text), pps);
	return number;
}

struct verdict_number verdict_gbps(double gbps)
{
	struct verdict_number number;

	units_print_gbps(number.text, sizeof(number.text), gbps);
	return number;
}

struct verdict_number verdict_ns(double ns)
{
	struct verdict_number number;

	if (isnan(ns))
		snprintf(number.text, sizeof(number.text), "unknown");
	else if (fabs(ns) < 9.95)
		snprintf(number.text, sizeof(number.text), "%.1f ns", ns);
	else if (fabs(ns) < 9995)
		snprintf(number.text, sizeof(number.text), "%.0f ns", ns);
	else if (fabs(ns) < 9995e3)
		snprintf(number.text, sizeof(number.text), fabs(ns) < 99.95e3 ? "%.1f us" : "%.0f us", ns / 1e3);
	else
		snprintf(number.text, sizeof(number.text), "%.0f ms", ns / 1e6);
	return number;
}
