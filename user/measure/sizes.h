/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which frame sizes come through a path, and where the others end: a ladder of sizes, then halving until each is exact.
 *
 * Owns: which sizes are sent, when it is over. Leaves to others: sending and counting (the delivery trials of a run: measure/trial.c),
 * what the counts mean (model/path_sizes.h, doctor/checks_probe.c). Called by cmd/doctor_probe.c.
 */
#ifndef MEASURE_SIZES_H
#define MEASURE_SIZES_H

#include "measure/path.h"
#include "model/path_sizes.h"

#define MEASURE_SIZES_BUDGET_S 1.6 /* of sending, no trial begins later; a trial takes some hundredths of a second */

/*
 * Sends some frames of each size along the path that stands in run->points, all of which count. Fills *sizes but for `points`. run is used up
 * by it: its trials are those of the ladder. 0, or -errno with error text: EINTR when interrupted; what was attached and armed is
 * taken off in any case. That no frame arrives is a result.
 */
int measure_sizes(const struct path *path, struct run *run, struct path_sizes *sizes);

#endif
