/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The clocks of a path that crosses kernels: what offsets its probes stamp with, and what their delays are worth afterwards.
 *
 * Owns: exchanges with each domain around and during a trial, offsets, corrections. Leaves to others: what exchanges prove
 * (clock_align.c).
 *
 * Theory. Probes stamp in the source's clock as well as it is known when the trial begins (hop_control.clock_offset_ns), so that what a
 * frame carries means the same at every point. A stamp that is early by an error could lie before the one of the point before, and such
 * stamps are dropped; so at every crossing from one kernel to another a margin K is added, which is larger than that error: point i
 * stamps in
 *     clock of its kernel - (theta of its kernel - theta of the source's), as known before + K * (crossings before it).
 * Afterwards, with exchanges from before, during and after the trial, the offsets over just that time are known better. What they differ
 * from the used ones, and the margins, are taken off the measured delays; the guaranteed half widths remain as the bound. A hop inside one
 * kernel has neither. The whole path has none when source and sink are in one kernel: margins and errors of the crossings cancel.
 *
 * Exchanges go over the control channel, the agent's lines, and by test frames through the path itself (clock_frames.c); the tighter bounds
 * win.
 */
#ifndef MEASURE_CLOCKS_H
#define MEASURE_CLOCKS_H

#include "measure/clock_align.h"
#include "measure/path.h"
#include "model/run.h"

struct clocks;

/* What a measured delay is corrected by. */
struct clock_correction {
	double shift_ns; /* to be taken off */
	double bound_ns; /* then it is right within this; 0: one clock */
	int unknown;	 /* 1: a clock stepped during the trial */
};

/* *clocks is NULL, and everything below does nothing, when all points are in one kernel. 0 or -errno with error text. */
int clocks_open(const struct run *run, const struct path *path, struct clocks **clocks);
void clocks_close(struct clocks *clocks);
/* Before probes are armed for a trial of that length. 0 or -errno with error text. */
int clocks_before(struct clocks *clocks, double duration_s);
/* Often while it runs. */
void clocks_meanwhile(struct clocks *clocks);
/* When the last frames of the trial have come. */
int clocks_over(struct clocks *clocks);
/* When all exchanges after the trial have been made. */
void clocks_settle(struct clocks *clocks);
/* For the arming of a point: 0 until clocks_before() was called. */
int64_t clocks_offset_ns(const struct clocks *clocks, int point);
/* Of the delay from point `from` to point `to` in the last trial. */
struct clock_correction clocks_correction(const struct clocks *clocks, int from, int to);
/* The kernels of the path, from 0 on, and what a point's is. */
int clocks_kernel_count(const struct clocks *clocks);
int clocks_kernel(const struct clocks *clocks, int point);
int clocks_is_local(const struct clocks *clocks, int kernel);
const char *clocks_kernel_name(const struct clocks *clocks, int kernel);
/* An exchange with a kernel's clock that was made elsewhere, after all others; as clock_align_add(). */
int clocks_add(struct clocks *clocks, int kernel, const struct clock_sample *sample);
/* Writes how well each clock is known into run->domains. */
void clocks_record(const struct clocks *clocks, struct run *run);

#endif
