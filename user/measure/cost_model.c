// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Per-frame and per-byte cost from service times at several frame sizes; what larger frames give.
 *
 * Owns: the straight-line model, which samples may be fitted together, the MTU gain. Leaves to others: service times
 * (attribute), judging (verdict). Called by: measure/run.
 *
 * Model. service_ns(b) = a + c * b: a nanoseconds a frame, c nanoseconds a byte. The fit is kept as it comes out: a
 * slope that cannot be told from 0, or a slightly negative one, is printed with its standard error, not replaced by a
 * nicer number. The path's own model is fitted to 1/C_n, the rate that the whole path passes (with the source's time
 * in it where the source shares the path's CPU); rates that were the source's limit say nothing about the path and
 * are left out.
 *
 * Ports. Frames of up to 3408 bytes go through one port (live frames), larger ones through another (AF_PACKET), and a
 * frame enters the path in another form then (xdp frame or socket buffer): its service time may differ by a constant.
 * Fitting both on one line would turn that constant into a slope. So: when two ports were measured at some common
 * size, samples of one port are fitted: for each hop, and for the path, the one with more of them (the source's own
 * at a tie). When no size is common there is nothing to compare, and all samples are fitted together.
 *
 * MTU gain. Ratio of Gbit/s at 9014 and at 1514 bytes. Measured: from rates of one port at both sizes, by preference
 * one that the path limited at both; if there is none, one that its source limited (then it is what larger frames
 * give to that source on this path). Modelled: from the samples of the same port *without* the large one when two
 * other sizes remain, so that the measurement tests the model and is not fitted by it; without a large sample the
 * path's own line extrapolates. Only in a prediction is a line that falls laid flat, at the weighted mean: six times
 * beyond the last sample a slope that is negative by noise would promise more than the ratio of the sizes.
 *
 * Arithmetic. Weighted sums are taken around the weighted mean (no cancellation at 9014^2); with S_xx = sum w (x -
 * mx)^2: c = S_xy / S_xx, var c = 1 / S_xx, var a = 1 / S_w + mx^2 / S_xx, both times max(1, chi^2 / (n - 2)).
 */
#include <errno.h>
#include <math.h>
#include <stddef.h>

#include "base/error.h"
#include "measure/attribute.h"
#include "measure/cost_model.h"

#define WHOLE_PATH 0
#define MAX_SAMPLES (RUN_MAX_SIZES * (RUN_PORT_PACKET + 1))

struct size_list {
	int count;
	unsigned int bytes[RUN_MAX_SIZES];
};

static int usable(const struct cost_sample *sample)
{
	return isfinite(sample->frame_bytes) && isfinite(sample->service_ns) && isfinite(sample->weight) &&
	       sample->weight > 0;
}

struct sums {
	int count, plain_weights;
	double weight, mean_x, mean_y, xx, xy, yy;
};

static struct sums sum_up(const struct cost_sample *samples, int count)
{
	struct sums sums = { .plain_weights = 1 };
	int i;

	for (i = 0; i < count; i++) {
		if (!usable(&samples[i]))
			continue;
		sums.count++;
		sums.plain_weights &= samples[i].weight == 1;
		sums.weight += samples[i].weight;
		sums.mean_x += samples[i].weight * samples[i].frame_bytes;
		sums.mean_y += samples[i].weight * samples[i].service_ns;
	}
	sums.mean_x /= sums.weight;
	sums.mean_y /= sums.weight;
	for (i = 0; i < count; i++) {
		double x = samples[i].frame_bytes - sums.mean_x, y = samples[i].service_ns - sums.mean_y;

		if (!usable(&samples[i]))
			continue;
		sums.xx += samples[i].weight * x * x;
		sums.xy += samples[i].weight * x * y;
		sums.yy += samples[i].weight * y * y;
	}
	return sums;
}

static void forget_cost(struct run_cost *cost)
{
	cost->ns_per_frame = cost->ns_per_byte = cost->r2 = RUN_UNKNOWN;
	cost->ns_per_frame_error = cost->ns_per_byte_error = RUN_UNKNOWN;
}

static int two_sizes(const struct cost_sample *samples, int count)
{
	double first = NAN;
	int i;

	for (i = 0; i < count; i++) {
		if (!usable(&samples[i]))
			continue;
		if (isnan(first))
			first = samples[i].frame_bytes;
		if (samples[i].frame_bytes != first)
			return 1;
	}
	return 0;
}

int cost_fit(const struct cost_sample *samples, int count, struct run_cost *cost)
{
	double residual = 0, scale;
	struct sums sums;
	int i;

	forget_cost(cost);
	if (!two_sizes(samples, count))
		return error_set(EDOM, "a cost per frame and per byte needs service times at two frame sizes or more");
	sums = sum_up(samples, count);
	cost->ns_per_byte = sums.xy / sums.xx;
	cost->ns_per_frame = sums.mean_y - cost->ns_per_byte * sums.mean_x;
	for (i = 0; i < count; i++) {
		double off = samples[i].service_ns - cost->ns_per_frame - cost->ns_per_byte * samples[i].frame_bytes;

		if (usable(&samples[i]))
			residual += samples[i].weight * off * off;
	}
	/* All values equal (but for rounding): the line explains them fully. */
	cost->r2 = sums.yy <= 1e-18 * sums.weight * sums.mean_y * sums.mean_y ? 1 : fmax(1 - residual / sums.yy, 0);
	scale = sums.count > 2 ? residual / (sums.count - 2) : NAN;
	if (!sums.plain_weights)
		scale = fmax(scale, 1); /* fmax ignores a NAN */
	cost->ns_per_byte_error = sqrt(scale / sums.xx);
	cost->ns_per_frame_error = sqrt(scale * (1 / sums.weight + sums.mean_x * sums.mean_x / sums.xx));
	return 0;
}

static int measured_at(const struct run *run, int port, unsigned int frame_bytes)
{
	int i;

	for (i = 0; i < run->service_count; i++)
		if ((int)run->services[i].port == port && run->services[i].frame_bytes == frame_bytes &&
		    run->services[i].pps > 0)
			return 1;
	return 0;
}

static void list_sizes(const struct run *run, int port, struct size_list *sizes)
{
	int i, known;

	sizes->count = 0;
	for (i = 0; i < run->service_count; i++) {
		if ((int)run->services[i].port != port)
			continue;
		for (known = 0; known < sizes->count; known++)
			if (sizes->bytes[known] == run->services[i].frame_bytes)
				break;
		if (known == sizes->count && sizes->count < RUN_MAX_SIZES)
			sizes->bytes[sizes->count++] = run->services[i].frame_bytes;
	}
}

/* Was any size measured through two ports? */
static int ports_overlap(const struct run *run)
{
	struct size_list sizes;
	int port, other, i;

	for (port = 0; port <= RUN_PORT_PACKET; port++) {
		list_sizes(run, port, &sizes);
		for (other = 0; other < port; other++)
			for (i = 0; i < sizes.count; i++)
				if (measured_at(run, other, sizes.bytes[i]))
					return 1;
	}
	return 0;
}

/* Which samples of the whole path count. */
enum limits { PATH_LIMIT_ONLY, ANY_LIMIT };

static int path_sample(const struct run *run, unsigned int frame_bytes, enum run_port port, enum limits limits,
		       struct cost_sample *sample)
{
	const struct run_service *service = attribute_service(run, run->point_count - 1, frame_bytes, port);
	double error_ns;

	if (!service || (limits == PATH_LIMIT_ONLY && attribute_source_limited(service)))
		return 0;
	error_ns = attribute_frame_error_ns(service);
	*sample = (struct cost_sample){ frame_bytes, attribute_frame_ns(service), 1 / (error_ns * error_ns) };
	return 1;
}

static int hop_sample(const struct run *run, int hop, unsigned int frame_bytes, enum run_port port,
		      struct cost_sample *sample)
{
	struct run_hop_share shares[RUN_MAX_HOPS];
	double error_ns;

	attribute_port_services(run, frame_bytes, port, shares); /* other hops may lack a cut at this size */
	if (isnan(shares[hop - 1].service_ns))
		return 0;
	error_ns = fmax(shares[hop - 1].error_ns, 1e-3);
	*sample = (struct cost_sample){ frame_bytes, shares[hop - 1].service_ns, 1 / (error_ns * error_ns) };
	return 1;
}

/* Samples of a hop, or of the whole path, through one port; frames of `without_bytes` are left out. */
static int collect(const struct run *run, int hop, int port, enum limits limits, unsigned int without_bytes,
		   struct cost_sample *samples)
{
	struct size_list sizes;
	int count = 0, i;

	list_sizes(run, port, &sizes);
	for (i = 0; i < sizes.count; i++) {
		if (sizes.bytes[i] == without_bytes)
			continue;
		if (hop == WHOLE_PATH)
			count += path_sample(run, sizes.bytes[i], (enum run_port)port, limits, &samples[count]);
		else
			count += hop_sample(run, hop, sizes.bytes[i], (enum run_port)port, &samples[count]);
	}
	return count;
}

/* All samples of a hop, or of the whole path, that may stand on one line. */
static int collect_comparable(const struct run *run, int hop, struct cost_sample *samples)
{
	int port, count, best = -1, most = 0, all = 0;

	if (!ports_overlap(run)) {
		for (port = 0; port <= RUN_PORT_PACKET; port++)
			all += collect(run, hop, port, PATH_LIMIT_ONLY, 0, samples + all);
		return all;
	}
	for (port = 0; port <= RUN_PORT_PACKET; port++) {
		count = collect(run, hop, port, PATH_LIMIT_ONLY, 0, samples);
		if (count > most || (count == most && count && port == (int)run->source.port)) {
			most = count;
			best = port;
		}
	}
	return best < 0 ? 0 : collect(run, hop, best, PATH_LIMIT_ONLY, 0, samples);
}

static double gbps_ratio(double large_ns, double small_ns)
{
	return ((double)COST_LARGE_BYTES / large_ns) / ((double)COST_SMALL_BYTES / small_ns);
}

/* The port whose frames tell what large ones give. */
struct large_port {
	int port;	    /* -1 none */
	int both;	    /* it carried small and large ones */
	enum limits limits; /* samples that count */
};

static int carried(const struct run *run, int port, unsigned int frame_bytes, enum limits limits)
{
	struct cost_sample sample;

	return path_sample(run, frame_bytes, (enum run_port)port, limits, &sample);
}

/* Best first: both sizes, limited by the path; both sizes, whatever the limit; the large size alone. The source's own
 * port goes before others. */
static struct large_port choose_large_port(const struct run *run)
{
	struct large_port found = { .port = -1 };
	int limits, port;

	for (limits = PATH_LIMIT_ONLY; limits <= ANY_LIMIT && found.port < 0; limits++)
		for (port = 0; port <= RUN_PORT_PACKET; port++)
			if (carried(run, port, COST_SMALL_BYTES, (enum limits)limits) &&
			    carried(run, port, COST_LARGE_BYTES, (enum limits)limits) &&
			    (found.port < 0 || port == (int)run->source.port))
				found = (struct large_port){ .port = port, .both = 1, .limits = (enum limits)limits };
	for (port = 0; port <= RUN_PORT_PACKET && found.port < 0; port++)
		if (carried(run, port, COST_LARGE_BYTES, PATH_LIMIT_ONLY))
			found.port = port;
	return found;
}

/* Fits, and lays a line that falls with the size flat: it would predict that longer frames come cheaper. 0 or -EDOM. */
static int fit_to_predict(const struct cost_sample *samples, int count, struct run_cost *cost)
{
	int result = cost_fit(samples, count, cost);

	if (!result && cost->ns_per_byte < 0) {
		cost->ns_per_byte = 0;
		cost->ns_per_frame = sum_up(samples, count).mean_y;
	}
	return result;
}

/* The path's line for predicting large frames. 0 or -EDOM. */
static int fit_for_large(const struct run *run, const struct large_port *large, struct run_cost *cost)
{
	struct cost_sample samples[MAX_SAMPLES];
	int count;

	if (large->port >= 0) {
		count = collect(run, WHOLE_PATH, large->port, large->limits, COST_LARGE_BYTES, samples);
		if (!fit_to_predict(samples, count, cost))
			return 0;
		count = collect(run, WHOLE_PATH, large->port, large->limits, 0, samples);
		if (!fit_to_predict(samples, count, cost))
			return 0;
	}
	return fit_to_predict(samples, collect_comparable(run, WHOLE_PATH, samples), cost);
}

static void fill_mtu_gain(struct run *run)
{
	struct run_mtu_gain *gain = &run->mtu_gain;
	struct large_port large = choose_large_port(run);
	struct run_cost cost = { .hop = WHOLE_PATH };
	struct cost_sample small_sample, large_sample;

	run->has_mtu_gain = 0;
	*gain = (struct run_mtu_gain){
		.small_bytes = COST_SMALL_BYTES,
		.large_bytes = COST_LARGE_BYTES,
		.measured_ratio = RUN_UNKNOWN,
		.model_ratio = RUN_UNKNOWN,
		.model_gbps = RUN_UNKNOWN,
	};
	if (large.both && path_sample(run, COST_SMALL_BYTES, (enum run_port)large.port, large.limits, &small_sample) &&
	    path_sample(run, COST_LARGE_BYTES, (enum run_port)large.port, large.limits, &large_sample)) {
		gain->measured_ratio = gbps_ratio(large_sample.service_ns, small_sample.service_ns);
		run->has_mtu_gain = 1;
	}
	if (!fit_for_large(run, &large, &cost)) {
		double small_ns = cost.ns_per_frame + cost.ns_per_byte * COST_SMALL_BYTES;
		double large_ns = cost.ns_per_frame + cost.ns_per_byte * COST_LARGE_BYTES;

		if (small_ns > 0 && large_ns > 0) {
			gain->model_ratio = gbps_ratio(large_ns, small_ns);
			gain->model_gbps = 8.0 * COST_LARGE_BYTES / large_ns;
			run->has_mtu_gain = 1;
		}
	}
}

void cost_model_run(struct run *run)
{
	struct cost_sample samples[MAX_SAMPLES];
	int hop;

	run->cost_count = 0;
	run->path_cost.hop = WHOLE_PATH;
	forget_cost(&run->path_cost);
	if (run->point_count < 2 || run->point_count > RUN_MAX_POINTS)
		return;
	cost_fit(samples, collect_comparable(run, WHOLE_PATH, samples), &run->path_cost);
	for (hop = 1; hop < run->point_count; hop++) {
		struct run_cost *cost = &run->cost[run->cost_count];

		cost->hop = hop;
		if (!cost_fit(samples, collect_comparable(run, hop, samples), cost))
			run->cost_count++;
	}
	fill_mtu_gain(run);
}
