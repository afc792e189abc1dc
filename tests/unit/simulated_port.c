// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Ports of known capacity and noise; see simulated_port.h.
 *
 * Capacity by theory. Let T be the length of a full-length trial, e the exceed ratio, H = -ln(1 - e), g the loss goal,
 * Q the queue. SHARP: r T - C T - Q lost of r T: the highest load is (C + Q / T) / (1 - g). FLOOR: with g = 0 a trial is
 * clean with probability exp(-q r T), so r <= H / (q T) as well; a goal far above the floor does not see it. BURSTS: of
 * a burst of length x, r x - Q frames are lost; bursts longer than Q / r come lambda exp(-Q / (r m)) times a second, and
 * g = 0 wants at most H / T of them: r <= Q / (m ln(lambda T / H)). For g > 0: stolen time is lambda m of all, which
 *	leaves C (1 - lambda m); loss in bursts is drawn well below the goal.
 *   WANDERS, BISTABLE: the highest load a stretch of length T carries within the goal is found by bisection for each of
 * many stretches; capacity is their e quantile. For given parameters it is the same share of C: kept in a table.
 */
#include "simulated_port.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define SLICES_IN_FULL 240 /* of a full-length trial: how finely a wandering capacity is followed */
#define STRETCHES 2001

static double slice_s; /* of the machines that remember; set by draw */

double simulated_unit(uint64_t *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return (double)(*random >> 11) / 9007199254740992.0;
}

static double log_between(uint64_t *random, double low, double high)
{
	return low * exp(log(high / low) * simulated_unit(random));
}

static double normal(uint64_t *random)
{
	return sqrt(-2 * log(1 - simulated_unit(random))) * cos(2 * M_PI * simulated_unit(random));
}

static double exponential(uint64_t *random, double mean)
{
	return -mean * log(1 - simulated_unit(random));
}

static double poisson(uint64_t *random, double mean)
{
	double sum = 0;
	int count;

	if (mean > 200)
		return fmax(floor(mean + sqrt(mean) * normal(random) + 0.5), 0);
	for (count = -1; sum <= mean; count++)
		sum += exponential(random, 1);
	return count;
}

static uint64_t seeded(uint64_t seed)
{
	uint64_t random = 88172645463325252u ^ (seed + 1) * 0x9e3779b97f4a7c15u;

	for (int i = 0; i < 20; i++)
		simulated_unit(&random);
	return random;
}

/* The share of the capacity that is there in the next slice. */
static double next_slice(struct simulated_port *port)
{
	if (port->machine == MACHINE_WANDERS) {
		double keep = exp(-slice_s / port->correlation_s);

		port->wander = keep * port->wander + sqrt(1 - keep * keep) * normal(&port->random);
		return 1 + port->deviation * port->wander;
	}
	if (simulated_unit(&port->random) < 1 - exp(-slice_s / port->dwell_s))
		port->is_low = !port->is_low;
	return port->is_low ? port->low_share : 1;
}

/* A few values of each, so that the table of capacities is small. */
static void draw_memory(struct simulated_port *port, double full_s)
{
	static const double deviations[] = { 0.005, 0.01, 0.02 }, correlations[] = { 1 / 40.0, 1 / 20.0, 1 / 10.0 },
			    lows[] = { 0.7, 0.8, 0.9 }, dwells[] = { 1 / 60.0, 1 / 30.0, 1 / 12.0 };

	slice_s = full_s / SLICES_IN_FULL;
	port->deviation = deviations[(int)(3 * simulated_unit(&port->random))];
	port->correlation_s = full_s * correlations[(int)(3 * simulated_unit(&port->random))];
	port->low_share = lows[(int)(3 * simulated_unit(&port->random))];
	port->dwell_s = full_s * dwells[(int)(3 * simulated_unit(&port->random))];
	port->wander = normal(&port->random);
	port->is_low = simulated_unit(&port->random) < 0.5;
}

void simulated_port_draw(struct simulated_port *port, enum simulated_machine machine, uint64_t seed, double full_s)
{
	*port = (struct simulated_port){ .machine = machine, .random = seeded(seed * MACHINE_COUNT + machine) };
	port->capacity_pps = log_between(&port->random, 2e4, 4e6);
	port->queue_frames = 256 * (1 << (int)(4 * simulated_unit(&port->random)));
	if (machine == MACHINE_FLOOR) /* 0.001 to 1000 frames in a full-length trial at capacity */
		port->lost_share = fmin(log_between(&port->random, 0.001, 1000) / (port->capacity_pps * full_s), 1e-4);
	if (machine == MACHINE_BURSTS) {
		port->bursts_per_s = log_between(&port->random, 0.1, 300) / full_s;
		port->burst_s = log_between(&port->random, 2e-4, 3e-3);
		port->burst_s = fmin(port->burst_s, 1e-3 / port->bursts_per_s);
	}
	if (machine == MACHINE_WANDERS || machine == MACHINE_BISTABLE)
		draw_memory(port, full_s);
}

static double lost_in_bursts(struct simulated_port *port, double pps, double duration_s)
{
	double count = poisson(&port->random, port->bursts_per_s * duration_s), lost = 0, stolen_s = 0, over;

	for (; count > 0; count--) {
		double length_s = exponential(&port->random, port->burst_s);

		stolen_s += length_s;
		lost += fmax(0, floor(pps * length_s - port->queue_frames));
	}
	over = pps * duration_s - port->capacity_pps * (duration_s - stolen_s) - port->queue_frames;
	return fmax(lost, over);
}

static double lost_in_slices(struct simulated_port *port, double pps, double duration_s)
{
	double lost = 0;
	int count = (int)fmax(round(duration_s / slice_s), 1);

	for (int i = 0; i < count; i++)
		lost += fmax(0, pps - port->capacity_pps * next_slice(port)) * duration_s / count;
	return lost;
}

int simulated_port_send(struct simulated_port *port, double pps, double duration_s, double *sent, double *lost)
{
	double over;

	if (++port->trials == port->fail_at_trial)
		return -EIO;
	if (port->source_pps > 0)
		pps = fmin(pps, port->source_pps);
	port->trial_s += duration_s;
	*sent = fmax(floor(pps * duration_s), 1);
	over = pps * duration_s - port->capacity_pps * duration_s - port->queue_frames;
	switch (port->machine) {
	case MACHINE_BURSTS:
		*lost = lost_in_bursts(port, pps, duration_s);
		break;
	case MACHINE_WANDERS:
	case MACHINE_BISTABLE:
		*lost = lost_in_slices(port, pps, duration_s);
		for (int i = 0; i < 2; i++) /* the pause between trials */
			next_slice(port);
		break;
	default:
		*lost = fmax(over, 0) + poisson(&port->random, port->lost_share * *sent);
	}
	*lost = fmin(fmax(ceil(*lost), 0), *sent);
	return 0;
}

static int compare(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

/* Highest load, as a share of the capacity, that one stretch carries within the goal. */
static double stretch_threshold(const double *slices, double loss_ratio)
{
	double low = 0.5, high = 1.5;

	for (int i = 0; i < 30; i++) {
		double middle = (low + high) / 2, lost = 0;

		for (int k = 0; k < SLICES_IN_FULL; k++)
			lost += fmax(0, middle - slices[k]);
		if (lost <= loss_ratio * middle * SLICES_IN_FULL + 1e-12)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static double capacity_share(const struct simulated_port *port, double loss_ratio, double exceed_ratio)
{
	static struct {
		struct simulated_port port;
		double loss_ratio, exceed_ratio, share;
	} table[256];
	static int count;
	static double thresholds[STRETCHES];
	struct simulated_port copy = { .machine = port->machine,
				       .deviation = port->deviation,
				       .correlation_s = port->correlation_s,
				       .low_share = port->low_share,
				       .dwell_s = port->dwell_s,
				       .random = seeded(4711) };

	for (int i = 0; i < count; i++)
		if (table[i].port.machine == port->machine && table[i].loss_ratio == loss_ratio &&
		    table[i].exceed_ratio == exceed_ratio &&
		    (port->machine == MACHINE_WANDERS
			     ? table[i].port.deviation == port->deviation &&
				       table[i].port.correlation_s == port->correlation_s
			     : table[i].port.low_share == port->low_share && table[i].port.dwell_s == port->dwell_s))
			return table[i].share;
	for (int i = 0; i < STRETCHES; i++) {
		double slices[SLICES_IN_FULL];

		copy.wander = normal(&copy.random);
		copy.is_low = simulated_unit(&copy.random) < 0.5;
		for (int k = 0; k < SLICES_IN_FULL; k++)
			slices[k] = next_slice(&copy);
		thresholds[i] = stretch_threshold(slices, loss_ratio);
	}
	qsort(thresholds, STRETCHES, sizeof(thresholds[0]), compare);
	table[count].port = *port;
	table[count].loss_ratio = loss_ratio;
	table[count].exceed_ratio = exceed_ratio;
	table[count].share = thresholds[(int)(exceed_ratio * (STRETCHES - 1))];
	return table[count++].share;
}

double simulated_port_capacity(const struct simulated_port *port, double loss_ratio, double exceed_ratio, double full_s)
{
	double plain = (port->capacity_pps + port->queue_frames / full_s) / (1 - loss_ratio);
	double hazard = -log1p(-exceed_ratio), stolen;

	switch (port->machine) {
	case MACHINE_FLOOR:
		return loss_ratio > 0 ? plain : fmin(plain, hazard / (port->lost_share * full_s));
	case MACHINE_BURSTS:
		stolen = port->bursts_per_s * port->burst_s;
		plain = (port->capacity_pps * (1 - stolen) + port->queue_frames / full_s) / (1 - loss_ratio);
		if (loss_ratio > 0 || port->bursts_per_s * full_s <= hazard)
			return plain;
		return fmin(plain, port->queue_frames / (port->burst_s * log(port->bursts_per_s * full_s / hazard)));
	case MACHINE_WANDERS:
	case MACHINE_BISTABLE:
		return port->capacity_pps * capacity_share(port, loss_ratio, exceed_ratio);
	default:
		return plain;
	}
}

const char *simulated_machine_name(enum simulated_machine machine)
{
	static const char *const names[] = { "sharp", "loss floor", "stolen CPU", "wanders", "bistable" };

	return names[machine];
}
