/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's own reasons for dropping test frames, during one trial.
 *
 * An extra: where the tracepoint or BTF is missing, trials have no reasons and everything else stays as it is.
 */
#ifndef PROBE_DROP_TRACE_H
#define PROBE_DROP_TRACE_H

#include "model/run.h"

struct drop_trace;

/* Starts counting drops of one stream. NULL when this kernel cannot; error text says why. */
struct drop_trace *drop_trace_begin(uint16_t run_tag, uint8_t stream);
/*
 * Writes the counts into trial->drops with interface names of the run's points, and frees. ifindex: of the points. What our
 * own sink dropped is no drop of the path: at its interface no more is counted than was lost since the last probed point.
 */
void drop_trace_end(struct drop_trace *trace, const struct run *run, const int *ifindex, struct run_trial *trial);
/* Adds one count to trial->drops: largest first, the smallest falls off. */
void drop_trace_add(struct run_trial *trial, const struct run_drop *drop);
void drop_trace_cancel(struct drop_trace *trace);

#endif
