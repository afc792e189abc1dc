/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Drops of a trial: from what kernels count to what the model keeps. Pure.
 */
#ifndef MEASURE_DROPS_H
#define MEASURE_DROPS_H

#include "measure/path.h"
#include "probe/drop_trace.h"

/* Adds one count to trial->drops: largest first, the smallest falls off. */
void drops_add(struct run_trial *trial, const struct run_drop *drop);
/*
 * Adds what the kernel of one domain counted, with interface names of the run's points. What our own sink dropped is no drop of the
 * path: at its interface no more is counted than was lost since the last probed point.
 */
void drops_record(struct run_trial *trial, const struct run *run, const struct path *path, const struct domain *domain,
		  const struct drop_count *counts, int count);

#endif
