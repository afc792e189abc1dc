// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The ladder of frame sizes; see sizes.h.
 *
 * Frames are sent as a program's would be, by AF_PACKET: it takes all sizes, works on every driver, and changes nothing at the source, where
 * an AF_XDP socket may restart a NIC's queues.
 */
#include "measure/sizes.h"

#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "measure/phases.h"
#include "port/pacer.h"
#include "wire_test_frame.h"

#define LINK_HEADER_BYTES 14
#define TELLING_STEPS 2 /* when the smallest and the largest do not arrive, none between will */

static int compare_sizes(const void *left, const void *right)
{
	unsigned int a = *(const unsigned int *)left, b = *(const unsigned int *)right;

	return (a > b) - (a < b);
}

/*
 * Sizes that are always tried, what each point's MTU allows, and the most that the source takes; some twice. The smallest first, then the
 * largest, which tells most when the time is short, then the rest ascending.
 */
static int ladder(const struct run *run, unsigned int limit, unsigned int *list)
{
	static const unsigned int usual[] = {
		64, 576, 1280, 1514, 2048, 4096, 6144, 8192, 9014, HOPCAP_MAX_FRAME_BYTES
	};
	int count = 0;

	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
		list[count++] = usual[i];
	for (int i = 0; i < run->point_count; i++)
		list[count++] = run->points[i].mtu_bytes + LINK_HEADER_BYTES;
	list[count++] = limit;
	qsort(list, (size_t)count, sizeof(*list), compare_sizes);
	while (count && list[count - 1] > limit)
		count--;
	for (int i = count - 1; i > 1; i--)
		list[i] = list[i - 1];
	list[1] = limit;
	return count;
}

static int try_size(struct phases *phases, unsigned int bytes, struct path_sizes *sizes)
{
	int arrived[RUN_MAX_POINTS] = { 0 };
	struct run_trial *trial = NULL;
	char why[RUN_TEXT_BYTES];
	enum run_port port;
	int code = phase_choose_port(phases, bytes, &port, why, sizeof(why), &trial);

	/* Frames that do not reach even the first point are counted nowhere: a result. Without a trial there was no port at all. */
	if (code == -EHOSTUNREACH && !trial)
		return error_set(EHOSTUNREACH, "%s: no port can send frames of %u bytes here: %s",
				 phases->bench.run->points[0].name, bytes, why);
	if (code && code != -EHOSTUNREACH)
		return code;
	for (int i = 0; i < sizes->point_count; i++)
		arrived[i] = (int)trial->points[i];
	code = path_sizes_add(sizes, bytes, arrived);
	return code ? error_set(-code, "more frame sizes than there is room for") : 0;
}

static int arrives(const struct path_sizes *sizes)
{
	for (int i = 0; i < sizes->step_count; i++)
		if (sizes->steps[i].arrived[sizes->point_count - 1] > 0)
			return 1;
	return 0;
}

static int try_all(struct phases *phases, uint64_t deadline_ns, struct path_sizes *sizes)
{
	unsigned int list[RUN_MAX_POINTS + 16], next;
	int count = ladder(phases->bench.run, sizes->limit_bytes, list), code = 0;

	for (int i = 0; !code && i < count && !sizes->is_cut_short; i++) {
		if (path_sizes_step_of(sizes, list[i]))
			continue;
		if (sizes->step_count >= TELLING_STEPS && !arrives(sizes))
			return 0;
		sizes->is_cut_short = pacer_now_ns() >= deadline_ns;
		if (!sizes->is_cut_short)
			code = try_size(phases, list[i], sizes);
	}
	while (!code && !sizes->is_cut_short && (next = path_sizes_next(sizes)) != 0) {
		sizes->is_cut_short = pacer_now_ns() >= deadline_ns || sizes->step_count == PATH_SIZES_MAX_STEPS;
		if (!sizes->is_cut_short)
			code = try_size(phases, next, sizes);
	}
	return code;
}

int measure_sizes(const struct path *path, struct run *run, struct path_sizes *sizes)
{
	const struct measure_request request = { .source_cpu = -1, .port_given = 1, .port = RUN_PORT_PACKET };
	struct phases phases = { .request = &request, .bench = { .path = *path } };
	int sink = run->point_count - 1, code;

	sizes->point_count = run->point_count;
	sizes->step_count = 0;
	sizes->is_cut_short = 0;
	sizes->limit_bytes = run->points[0].mtu_bytes + LINK_HEADER_BYTES;
	if (sizes->limit_bytes > HOPCAP_MAX_FRAME_BYTES)
		sizes->limit_bytes = HOPCAP_MAX_FRAME_BYTES;
	code = bench_open(&phases.bench, run, -1);
	if (!code)
		code = domain_announce(path->domain[sink], &run->points[sink], path->links[sink].address,
				       path->links[0].address);
	if (!code)
		code = try_all(&phases, pacer_now_ns() + (uint64_t)(MEASURE_SIZES_BUDGET_S * 1e9), sizes);
	bench_close(&phases.bench);
	return code;
}
