/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Exchanges of clocks by test frames that go through the path itself, both ways, while it is idle.
 *
 * Owns: which frames to send and where to read their times; the way back: a source at the sink's interface, a sink at the source's, and
 * probes for the opposite direction. Leaves to others: what exchanges prove (clock_align.c), when they are wanted (trial.c).
 *
 * Theory. A frame that goes from our kernel to another one is seen by our clock as it leaves (t1) and by the other one as it arrives (t2);
 * one that comes back is seen at t3 there and t4 here. That is an exchange like those over the control channel, only over a shorter way; so
 * it is added to the same estimate, and the tighter bounds win by themselves. How long lies between t2 and t3 does not matter for the
 * bounds: each holds at its own time.
 * - Every time is read from one frame alone: a stream of one frame, a probe's last_ns, which is the stamping clock as it is (no offset).
 *   A source's time is taken before it hands the frame over. So t1 and t3 are never late, t2 and t4 never early.
 * - A path that leaves our kernel and comes back to it (or the other way round) needs no way back: the frame itself crosses twice. Other
 *   paths are driven backwards by a source at the sink's interface, addressed to the source's interface.
 * - ((t4 - t1) - (t3 - t2)) / 2 is half of what crossing takes there and back: both clocks measure intervals only, so no offset is needed.
 *   What remains is how far their rates differ, over the time from t2 to t3.
 * - Kernels that have no neighbour of ours on the path, or whose way back cannot be driven, are known by the control channel alone; the
 *   reason is kept for the report.
 */
#ifndef MEASURE_CLOCK_FRAMES_H
#define MEASURE_CLOCK_FRAMES_H

#include "model/run.h"

struct bench;
struct clock_frames;

/* Where the path lies in one kernel *frames is NULL, and everything below does nothing. After bench->probes and ->clocks have been opened.
 * 0 or -errno with error text: only out of memory, or a domain that is lost. */
int clock_frames_open(struct bench *bench, struct clock_frames **frames);
void clock_frames_close(struct clock_frames *frames);
/* Some exchanges, on an idle path; counts of the last trial must have been read. 0 or -errno with error text. */
int clock_frames_exchange(struct clock_frames *frames);
/* Writes round trips, and why there are none, into run->domains. */
void clock_frames_record(const struct clock_frames *frames, struct run *run);

#endif
