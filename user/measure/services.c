// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Service rates: what each cut passes at each frame size when more is offered than fits.
 *
 * Owns: the order of these trials and which of them count. Leaves to others: what the rates mean (attribute.c, cost_model.c).
 *
 * Theory. A shared machine has spells: its CPUs are lent out, for milliseconds or for minutes, and everything takes up to
 * twice as long. Rates of different cuts are subtracted from each other (1/C_k - 1/C_(k-1)), so they must come from the same
 * spell. Therefore trials run in rounds: each round holds one trial of every cut at every size. A round's speed is the
 * geometric mean of its rates; rounds.c keeps those that are most alike. Medians, lowest and highest are taken over the
 * kept rounds, which are the same for all cuts and sizes.
 *
 * Sizes that only AF_PACKET can carry are compared with smaller ones of the same port, over the whole path: the compared cells.
 * Their ratio is wanted within some per cent, and is extrapolated from (measure/cost_model.c). They cross the same path, so a
 * spell slows all of them alike; they stand side by side in a round, and each of their rates is divided by the geometric mean
 * of its round's and multiplied by that of the kept rounds. Then a change of speed between rounds no longer counts, all
 * rounds can be used, and only what is special to a size is left.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "measure/cpu_share.h"
#include "measure/median.h"
#include "measure/phases.h"
#include "measure/rounds.h"

#define MAX_ROUNDS ROUNDS_MAX
#define MAX_CELLS (RUN_MAX_SIZES * RUN_MAX_POINTS + 3)
#define LOSSLESS 0.001
#define TAKEN 0.05 /* of the serving CPU by others: less is the noise of any machine */

/* One cut at one size through one port, in all rounds. */
struct cell {
	int cut;
	unsigned int frame_bytes;
	enum run_port port;
	double passed_pps[MAX_ROUNDS], offered_pps[MAX_ROUNDS], path_share[MAX_ROUNDS];
	int lossless, cpu;
	int is_compared;
};

static void add_cell(struct cell *cells, int *count, const struct cell *cell)
{
	if (*count >= MAX_CELLS)
		return;
	cells[*count] = *cell;
	cells[(*count)++].cpu = -1;
}

static int is_delivered_by(const struct run_size *size, int packet)
{
	return size->delivered && (size->port == RUN_PORT_PACKET) == packet;
}

/* The whole path, by AF_PACKET: sizes for comparison, then those that only it can carry. */
static void add_comparison(const struct run *run, struct cell *cells, int *count)
{
	static const unsigned int sizes[] = { 64, 512, 1514 };
	struct cell cell = { .cut = run->point_count - 1, .port = RUN_PORT_PACKET, .is_compared = 1 };

	for (unsigned int i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		cell.frame_bytes = sizes[i];
		add_cell(cells, count, &cell);
	}
	for (int i = 0; i < run->size_count; i++) {
		cell.frame_bytes = run->sizes[i].frame_bytes;
		if (is_delivered_by(&run->sizes[i], 1))
			add_cell(cells, count, &cell);
	}
}

static int list_cells(const struct run *run, struct cell *cells)
{
	int count = 0, needs_comparison = 0, sink = run->point_count - 1;

	for (int i = 0; run->sizes[0].port != RUN_PORT_PACKET && i < run->size_count; i++)
		needs_comparison |= is_delivered_by(&run->sizes[i], 1);
	for (int i = 0; i < run->size_count; i++) {
		const struct run_size *size = &run->sizes[i];
		struct cell cell = { .frame_bytes = size->frame_bytes, .port = size->port };

		for (cell.cut = 1; size->delivered && cell.cut <= sink; cell.cut++)
			if (cell.cut < sink || !needs_comparison || size->port != RUN_PORT_PACKET)
				add_cell(cells, &count, &cell);
	}
	if (needs_comparison)
		add_comparison(run, cells, &count);
	return count;
}

static int measure_cell(struct phases *phases, struct cell *cell, struct cpu_share *share, int round)
{
	const struct trial_request request = {
		.purpose = RUN_PURPOSE_SERVICE,
		.sink_point = cell->cut,
		.port = cell->port,
		.frame_bytes = cell->frame_bytes,
		.pps = phases->request->rate_pps,
		.duration_s = phases->plan->service_s,
		.stamp_interval = FULL_LOAD_STAMP_INTERVAL,
		.tick = share ? cpu_share_tick : NULL,
		.tick_context = share,
	};
	struct run_trial *trial;
	int code;

	cpu_share_reset(share);
	code = trial_run(&phases->bench, &request, &trial);
	if (code)
		return code;
	cell->passed_pps[round] = trial_passed_pps(trial);
	cell->offered_pps[round] = trial->offered_pps;
	cell->lossless += trial_loss_ratio(trial) < LOSSLESS;
	cell->cpu = phases->bench.readings[cell->cut].cpu;
	cell->path_share[round] = cpu_share_of(share, cell->cpu);
	return 0;
}

/* CPU time of a frame in one round: that of the wall, less what others had of the CPU meanwhile. */
static double cpu_ns(const struct cell *cell, int round)
{
	return cell->path_share[round] * 1e9 / fmax(cell->passed_pps[round], 1);
}

/* Others count when they took more of the CPU than noise does; and in all rounds that are kept, or the medians would mix. */
static int is_shared(const struct cell *cell, const int *kept, int count)
{
	double taken = 0;

	for (int i = 0; i < count; i++)
		taken += 1 - cell->path_share[kept[i]]; /* unknown: not a number, and so is the sum */
	return taken / count >= TAKEN;
}

static void record_cpu_time(const struct cell *cell, const int *kept, int count, struct run_service *service)
{
	double times_ns[MAX_ROUNDS];

	service->cpu_ns = service->cpu_low_ns = RUN_UNKNOWN;
	if (!is_shared(cell, kept, count))
		return;
	for (int i = 0; i < count; i++)
		times_ns[i] = cpu_ns(cell, kept[i]);
	service->cpu_ns = median(times_ns, count);
	service->cpu_low_ns = times_ns[0];
}

/* Logarithm of the geometric mean of a round's rates, each for the whole of a CPU. */
static double round_speed(const struct cell *cells, int count, int round)
{
	double speed = 0;

	for (int i = 0; i < count; i++)
		speed += log(fmax(cells[i].passed_pps[round], 1) /
			     (cells[i].path_share[round] > 0 ? cells[i].path_share[round] : 1));
	return speed / count;
}

/* Logarithm of the geometric mean of the compared rates in one round; 0 when there are none. */
static double compared_speed(const struct cell *cells, int count, int round)
{
	double speed = 0;
	int compared = 0;

	for (int i = 0; i < count; i++) {
		if (!cells[i].is_compared)
			continue;
		speed += log(fmax(cells[i].passed_pps[round], 1));
		compared++;
	}
	return compared ? speed / compared : 0;
}

/* Brings the compared rates of all rounds to the speed of the kept ones. */
static void level_compared(struct cell *cells, int count, int rounds, const int *kept, int kept_count)
{
	double speed[MAX_ROUNDS], level = 0;

	for (int round = 0; round < rounds; round++)
		speed[round] = compared_speed(cells, count, round);
	for (int i = 0; i < kept_count; i++)
		level += speed[kept[i]] / kept_count;
	for (int i = 0; i < count; i++)
		for (int round = 0; cells[i].is_compared && round < rounds; round++)
			cells[i].passed_pps[round] *= exp(level - speed[round]);
}

static void record(struct phases *phases, const struct cell *cell, const int *kept, int count, int rounds)
{
	struct run *run = phases->bench.run;
	struct run_service *service = &run->services[run->service_count++];
	double passed_pps[MAX_ROUNDS], offered_pps[MAX_ROUNDS];

	for (int i = 0; i < count; i++) {
		passed_pps[i] = cell->passed_pps[kept[i]];
		offered_pps[i] = cell->offered_pps[kept[i]];
	}
	*service = (struct run_service){ .point = cell->cut,
					 .frame_bytes = cell->frame_bytes,
					 .port = cell->port,
					 .pps = median(passed_pps, count),
					 .offered_pps = median(offered_pps, count),
					 .low_pps = passed_pps[0],
					 .high_pps = passed_pps[count - 1],
					 .trials = count,
					 .cpu = cell->cpu };
	record_cpu_time(cell, kept, count, service);
	service->self_clocked = !phases->request->rate_pps && cell->lossless * 2 > rounds &&
				cell->cpu == phases->bench.source_cpu;
}

static void record_all(struct phases *phases, struct cell *cells, int count, int rounds)
{
	int kept[MAX_ROUNDS], all[MAX_ROUNDS], kept_count;
	double speed[MAX_ROUNDS];

	for (int round = 0; round < rounds; round++) {
		speed[round] = round_speed(cells, count, round);
		all[round] = round;
	}
	kept_count = rounds_choose(speed, rounds, kept);
	level_compared(cells, count, rounds, kept, kept_count);
	for (int i = 0; i < count; i++)
		record(phases, &cells[i], cells[i].is_compared ? all : kept, cells[i].is_compared ? rounds : kept_count,
		       rounds);
}

int phase_services(struct phases *phases)
{
	struct run *run = phases->bench.run;
	struct cell *cells = calloc(MAX_CELLS, sizeof(*cells));
	struct cpu_share *share;
	int rounds = phases->plan->service_rounds, count, code = 0;

	if (!cells)
		return error_set(ENOMEM, "out of memory");
	share = cpu_share_open();
	count = list_cells(run, cells);
	for (int round = 0; !code && round < rounds; round++) {
		for (int i = 0; !code && i < count; i++) {
			phase_progress(phases, 0.08 + 0.32 * (round * count + i) / (rounds * count),
				       "cuts: service rates, round %d of %d", round + 1, rounds);
			code = measure_cell(phases, &cells[i], share, round);
		}
	}
	if (!code)
		record_all(phases, cells, count, rounds);
	cpu_share_close(share);
	free(cells);
	return code;
}
