// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Clock alignment; theory in clock_align.h. Called by measure/clocks.c.
 *
 * Times and bounds are doubles relative to the first exchange held, so that they are whole numbers far below 2^53 and exact. A lower bound
 * is an upper one of -theta: one set of functions, called with the sign turned, serves both sides.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/clock_align.h"

#define ROUNDING_NS 1.0
#define SEARCH_STEPS 60 /* of a golden or binary section: 2^-60 of the range is below any resolution */
#define FASTEST 8

/* theta(x) <= v. */
struct bound {
	double x, v;
};

struct bounds {
	int count;
	struct bound list[CLOCK_SAMPLES];
};

static double limit_of(const struct clock_align *align)
{
	return align->rate_limit > 0 ? align->rate_limit : CLOCK_RATE_LIMIT;
}

static int64_t midpoint(const struct clock_sample *sample)
{
	return (sample->t2 - sample->t1) / 2 + (sample->t3 - sample->t4) / 2;
}

static double round_trip(const struct clock_sample *sample)
{
	return (double)((sample->t4 - sample->t1) - (sample->t3 - sample->t2));
}

/* What an exchange says, relative to times and offsets of `zero`. */
static struct bound upper_of(const struct clock_sample *sample, const struct clock_sample *zero)
{
	return (struct bound){ (double)(sample->t1 - zero->t1), (double)(sample->t2 - sample->t1 - midpoint(zero)) };
}

static struct bound minus_lower_of(const struct clock_sample *sample, const struct clock_sample *zero)
{
	return (struct bound){ (double)(sample->t4 - zero->t1), -(double)(sample->t3 - sample->t4 - midpoint(zero)) };
}

/* --- guaranteed --- */

static double cone_at(const struct bounds *bounds, double rate, double x)
{
	double least = INFINITY;

	for (int i = 0; i < bounds->count; i++)
		least = fmin(least, bounds->list[i].v + rate * fabs(x - bounds->list[i].x));
	return least;
}

/* The bounds that no other one implies; times are in rising order. */
static void keep_telling(struct bounds *bounds, double rate)
{
	double implied[CLOCK_SAMPLES];
	int kept = 0;

	for (int i = 0; i < bounds->count; i++) {
		const struct bound *list = bounds->list;

		implied[i] = i ? fmin(implied[i - 1] + rate * (list[i].x - list[i - 1].x), list[i].v) : list[i].v;
	}
	for (int i = bounds->count - 2; i >= 0; i--)
		implied[i] = fmin(implied[i], implied[i + 1] + rate * (bounds->list[i + 1].x - bounds->list[i].x));
	for (int i = 0; i < bounds->count; i++)
		if (bounds->list[i].v <= implied[i])
			bounds->list[kept++] = bounds->list[i];
	bounds->count = kept;
}

/* The largest that theta can be from `from` to `to`: at an end, or where the cones of two neighbours meet. */
static double cone_most(struct bounds *bounds, double rate, double from, double to)
{
	double most;

	keep_telling(bounds, rate);
	most = fmax(cone_at(bounds, rate, from), cone_at(bounds, rate, to));
	for (int i = 1; i < bounds->count; i++) {
		const struct bound *a = &bounds->list[i - 1], *b = &bounds->list[i];
		double x = (a->x + b->x) / 2 + (b->v - a->v) / (2 * rate);

		if (x > from && x < to)
			most = fmax(most, (a->v + b->v) / 2 + rate * (b->x - a->x) / 2);
	}
	return most;
}

/* --- linear --- */

/* Leaves the lower convex hull: a line below these is below all. */
static void keep_hull(struct bounds *bounds)
{
	struct bound *list = bounds->list;
	int kept = 0;

	for (int i = 0; i < bounds->count; i++) {
		struct bound next = list[i];

		if (kept && list[kept - 1].x == next.x) {
			if (list[kept - 1].v <= next.v)
				continue;
			kept--;
		}
		while (kept >= 2 && (list[kept - 1].x - list[kept - 2].x) * (next.v - list[kept - 2].v) <=
					    (list[kept - 1].v - list[kept - 2].v) * (next.x - list[kept - 2].x))
			kept--;
		list[kept++] = next;
	}
	bounds->count = kept;
}

/* The highest that a line of this slope can be at x. */
static double line_at(const struct bounds *bounds, double slope, double x)
{
	double least = INFINITY;

	for (int i = 0; i < bounds->count; i++)
		least = fmin(least, bounds->list[i].v + slope * (x - bounds->list[i].x));
	return least;
}

struct lines {
	struct bounds upper, minus_lower; /* hulls */
	double least_slope, most_slope;	  /* of the lines that fit */
};

/* Room for a line of this slope: concave in the slope. */
static double room(const struct lines *lines, double slope)
{
	return line_at(&lines->upper, slope, 0) + line_at(&lines->minus_lower, -slope, 0) + 2 * ROUNDING_NS;
}

/* Where value(context, slope), concave, is largest. */
static double highest(double (*value)(const void *context, double slope), const void *context, double low, double high)
{
	for (int step = 0; step < 2 * SEARCH_STEPS; step++) {
		double a = low + (high - low) * 0.45, b = low + (high - low) * 0.55;

		if (value(context, a) < value(context, b))
			low = a;
		else
			high = b;
	}
	return (low + high) / 2;
}

static double room_at(const void *context, double slope)
{
	return room(context, slope);
}

/* The end of the slopes that fit, between one that does and the limit. */
static double last_fitting(const struct lines *lines, double fits, double limit)
{
	if (room(lines, limit) >= 0)
		return limit;
	for (int step = 0; step < SEARCH_STEPS; step++) {
		double middle = (fits + limit) / 2;

		if (room(lines, middle) >= 0)
			fits = middle;
		else
			limit = middle;
	}
	return limit; /* outwards */
}

static int find_slopes(struct lines *lines, double rate)
{
	double best = highest(room_at, lines, -rate, rate);

	if (room(lines, best) < 0)
		return 0;
	lines->least_slope = last_fitting(lines, best, -rate);
	lines->most_slope = last_fitting(lines, best, rate);
	return 1;
}

struct at {
	const struct bounds *bounds;
	double x;
};

static double height_at(const void *context, double slope)
{
	const struct at *at = context;

	return line_at(at->bounds, slope, at->x);
}

/* The highest that a fitting line can be at x; slopes from low to high fit. */
static double highest_line(const struct bounds *bounds, double low, double high, double x)
{
	const struct at at = { bounds, x };
	double inside = height_at(&at, highest(height_at, &at, low, high));

	return fmax(inside, fmax(height_at(&at, low), height_at(&at, high)));
}

static void fit_lines(struct lines *lines, double rate, double from, double to, int64_t zero_ns,
		      struct clock_estimate *estimate)
{
	double most, minus_least;

	keep_hull(&lines->upper);
	keep_hull(&lines->minus_lower);
	estimate->has_linear = find_slopes(lines, rate);
	if (!estimate->has_linear)
		return;
	most = fmax(highest_line(&lines->upper, lines->least_slope, lines->most_slope, from),
		    highest_line(&lines->upper, lines->least_slope, lines->most_slope, to));
	minus_least = fmax(highest_line(&lines->minus_lower, -lines->most_slope, -lines->least_slope, from),
			   highest_line(&lines->minus_lower, -lines->most_slope, -lines->least_slope, to));
	estimate->linear_ns = zero_ns + llround((most - minus_least) / 2);
	estimate->linear_bound_ns = (most + minus_least) / 2 + 2 * ROUNDING_NS;
	estimate->drift = (lines->least_slope + lines->most_slope) / 2;
	estimate->drift_bound = (lines->most_slope - lines->least_slope) / 2;
}

/* --- symmetric --- */

static int is_faster(const struct clock_sample *a, const struct clock_sample *b)
{
	return round_trip(a) < round_trip(b);
}

/* The fastest exchanges of those from `first` on, fastest first. */
static int find_fastest(const struct clock_align *align, int first, const struct clock_sample *fastest[FASTEST])
{
	int count = 0;

	for (int i = first; i < align->count; i++) {
		const struct clock_sample *sample = &align->samples[i];
		int at = count < FASTEST ? count : FASTEST - 1;

		if (count == FASTEST && !is_faster(sample, fastest[at]))
			continue;
		for (; at > 0 && is_faster(sample, fastest[at - 1]); at--)
			fastest[at] = fastest[at - 1];
		fastest[at] = sample;
		if (count < FASTEST)
			count++;
	}
	return count;
}

static void guess_symmetric(const struct clock_align *align, int first, double at_ns, struct clock_estimate *estimate)
{
	const struct clock_sample *fastest[FASTEST], *zero = &align->samples[0];
	double least = INFINITY, most = -INFINITY, drift = estimate->has_linear ? estimate->drift : 0;
	int count = find_fastest(align, first, fastest);

	for (int i = 0; i < count; i++) {
		double middle_x = (double)(fastest[i]->t1 - zero->t1) + (double)(fastest[i]->t4 - fastest[i]->t1) / 2;
		double offset = (double)(midpoint(fastest[i]) - midpoint(zero)) + drift * (at_ns - middle_x);

		if (!i)
			estimate->symmetric_ns = midpoint(zero) + llround(offset);
		least = fmin(least, offset);
		most = fmax(most, offset);
	}
	estimate->symmetric_spread_ns = (most - least) / 2;
	estimate->round_trip_ns = round_trip(fastest[0]);
}

/* --- all of it --- */

static int contradicts(const struct clock_align *align, const struct clock_sample *sample)
{
	const struct clock_sample *zero = &align->samples[0];
	struct bound upper = upper_of(sample, zero), minus_lower = minus_lower_of(sample, zero);
	double rate = limit_of(align);

	for (int i = 0; i < align->count; i++) {
		struct bound old_upper = upper_of(&align->samples[i], zero),
			     old_lower = minus_lower_of(&align->samples[i], zero);

		if (upper.v + rate * fabs(upper.x - old_lower.x) + old_lower.v + 2 * ROUNDING_NS < 0 ||
		    old_upper.v + rate * fabs(minus_lower.x - old_upper.x) + minus_lower.v + 2 * ROUNDING_NS < 0)
			return 1;
	}
	return 0;
}

/* Back before it can be: the other clock was put forward while it was there, or on the way. What it says belongs to neither time. */
static int holds_a_step(const struct clock_align *align, const struct clock_sample *sample)
{
	return round_trip(sample) < -limit_of(align) * (double)(sample->t4 - sample->t1) - 2 * ROUNDING_NS;
}

int clock_align_add(struct clock_align *align, const struct clock_sample *sample)
{
	const struct clock_sample *last = align->count ? &align->samples[align->count - 1] : NULL;
	int is_torn, stepped;

	if (sample->t4 < sample->t1 || sample->t3 < sample->t2 || sample->t1 < align->heard_ns)
		return -EINVAL;
	is_torn = holds_a_step(align, sample);
	stepped = is_torn || (last && contradicts(align, sample));
	if (stepped) {
		align->steps++;
		align->step_after_ns = last ? last->t1 : sample->t1;
		align->step_before_ns = sample->t4;
		align->count = 0;
	}
	align->heard_ns = sample->t4;
	align->exchanges++;
	if (is_torn)
		return 1;
	if (align->count == CLOCK_SAMPLES)
		memmove(align->samples, align->samples + 1, (size_t)--align->count * sizeof(align->samples[0]));
	align->samples[align->count++] = *sample;
	return stepped;
}

int clock_align_estimate(const struct clock_align *align, int64_t from_ns, int64_t to_ns,
			 struct clock_estimate *estimate)
{
	const struct clock_sample *zero = &align->samples[0];
	double from = (double)(from_ns - zero->t1), to = (double)(to_ns - zero->t1), rate = limit_of(align), most,
	       minus_least;
	struct lines *lines;
	int first = 0;

	memset(estimate, 0, sizeof(*estimate));
	if (!align->count)
		return -ENODATA;
	lines = calloc(1, sizeof(*lines));
	if (!lines)
		return -ENODATA;
	lines->upper.count = lines->minus_lower.count = align->count;
	for (int i = 0; i < align->count; i++) {
		lines->upper.list[i] = upper_of(&align->samples[i], zero);
		lines->minus_lower.list[i] = minus_lower_of(&align->samples[i], zero);
		if (to_ns - align->samples[i].t1 > CLOCK_LINEAR_NS && i + 1 < align->count)
			first = i + 1;
	}
	most = cone_most(&lines->upper, rate, from, to);
	minus_least = cone_most(&lines->minus_lower, rate, from, to);
	estimate->offset_ns = midpoint(zero) + llround((most - minus_least) / 2);
	estimate->bound_ns = (most + minus_least) / 2 + 2 * ROUNDING_NS;
	lines->upper.count = lines->minus_lower.count = align->count - first;
	for (int i = first; i < align->count; i++) {
		lines->upper.list[i - first] = upper_of(&align->samples[i], zero);
		lines->minus_lower.list[i - first] = minus_lower_of(&align->samples[i], zero);
	}
	fit_lines(lines, rate, from, to, midpoint(zero), estimate);
	guess_symmetric(align, first, (from + to) / 2, estimate);
	free(lines);
	return 0;
}
