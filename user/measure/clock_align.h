/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How far another kernel's clock is from ours, from two-way exchanges, with bounds that can be relied on. Pure.
 *
 * Owns: what follows from the four times of each exchange. Leaves to others: making exchanges (measure/clocks.c), which clock (both sides'
 * CLOCK_MONOTONIC, which is what frames are stamped with).
 *
 * Theory. A is our clock, B the other one, theta(t) = B - A at our time t. An exchange: t1 sent (A), t2 arrived (B), t3 returned (B), t4
 * heard (A). Nothing arrives before it was sent, so, whatever the delays and however unequal,
 *
 *     theta(t1) <= t2 - t1     and     theta(t4) >= t3 - t4.
 *
 * Both hold exactly at t1 and t4: B reads t2 not before our t1, and runs forward. Three results follow, and they are kept apart:
 *
 * - guaranteed: theta changes by at most `rate_limit` per unit of time, in either direction and at any moment. Then every exchange bounds
 *   theta at every time t, by its own bound + rate_limit * |t - t1|; the least of them counts. Nothing else is assumed, so this is what
 *   is printed as a bound. The limit holds the sum of both clocks' errors of frequency (100 ppm each) and of what NTP may slew
 *   (500 ppm): CLOCK_RATE_LIMIT. Exchanges before, during and after a trial keep the added term small.
 * - linear: theta is a straight line over the last CLOCK_LINEAR_NS. Lines below all upper bounds and above all lower ones make a convex
 *   polygon in (offset, drift); its extent at t is the bound, its extent in drift the drift. Only the convex hulls of the bounds matter
 *   (Moon, Skelly, Towsley, INFOCOM 1999). Narrower where the assumption holds; a clock that is being slewed breaks it, and then there
 *   often is no such line at all.
 * - symmetric: the fastest exchange took equally long in both directions. A best guess with no bound: its error is half of what the two
 *   directions differ by. `symmetric_spread_ns` only says how well the fastest exchanges agree.
 *
 * Two exchanges whose bounds contradict each other even with the rate limit prove that a clock stepped between them (a guest that was
 * stopped or migrated): older exchanges are then forgotten, and the step is counted. An exchange that came back before it can have proves it
 * by itself, and is not kept. What is smaller than the delays hide is no step that could be told from them, and the guarantee is about
 * clocks without such ones.
 *
 * Resolution: 1 ns is added on either side for rounding.
 */
#ifndef MEASURE_CLOCK_ALIGN_H
#define MEASURE_CLOCK_ALIGN_H

#include <stdint.h>

#define CLOCK_RATE_LIMIT 1e-3
#define CLOCK_LINEAR_NS 20000000000
#define CLOCK_SAMPLES 512

/* One exchange; see above. All CLOCK_MONOTONIC, ns. */
struct clock_sample {
	int64_t t1, t2, t3, t4;
};

struct clock_align {
	double rate_limit; /* 0: CLOCK_RATE_LIMIT */
	int count;
	struct clock_sample samples[CLOCK_SAMPLES]; /* oldest first, since the last step */
	int steps;				    /* found so far */
	int64_t step_after_ns, step_before_ns;	    /* our time of the exchanges between which the last one lies */
	uint64_t exchanges;			    /* added so far */
	int64_t heard_ns;			    /* t4 of the last one */
};

struct clock_estimate {
	int64_t offset_ns; /* middle of the guaranteed interval */
	double bound_ns;   /* guaranteed: |theta(t) - offset_ns| <= bound_ns for all t of the interval asked for */
	int has_linear;	   /* 0: no straight line fits */
	int64_t linear_ns; /* middle and half width of the linear interval, over the same times */
	double linear_bound_ns;
	double drift, drift_bound; /* d theta / dt by the linear fit: middle and half width */
	int64_t symmetric_ns;
	double symmetric_spread_ns;
	double round_trip_ns; /* of the fastest exchange */
};

/* Adds an exchange, made after all that were added before. 0; 1 when it proves that a clock stepped; -EINVAL when no exchange can have
 * these times (it is not added). */
int clock_align_add(struct clock_align *align, const struct clock_sample *sample);
/* What theta was from our time from_ns to to_ns. 0, or -ENODATA when there is no exchange. */
int clock_align_estimate(const struct clock_align *align, int64_t from_ns, int64_t to_ns,
			 struct clock_estimate *estimate);

#endif
