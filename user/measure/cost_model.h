/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Per-frame and per-byte cost from service times at several frame sizes. Pure. */
#ifndef MEASURE_COST_MODEL_H
#define MEASURE_COST_MODEL_H

#include "model/run.h"

/* What "MTU 1500" and "MTU 9000" mean in frames, without FCS. */
#define COST_SMALL_BYTES 1514u
#define COST_LARGE_BYTES 9014u

struct cost_sample {
	double frame_bytes;
	double service_ns;
	double weight; /* 1/variance, or 1 */
};

/* Weighted least squares service_ns = ns_per_frame + ns_per_byte * frame_bytes. Samples that are no numbers or have
 * no weight are left out. cost->hop is not touched; everything else is unknown on failure. 0, or -EDOM (with error
 * text) when there are fewer than two sizes. Standard errors: from the weights as inverse variances, enlarged when
 * the residuals are larger than those; when all weights are 1 the variances are unknown and the residuals alone
 * count, so two samples give no error (NAN). */
int cost_fit(const struct cost_sample *samples, int count, struct run_cost *cost);

/* Fills run->cost (one entry a hop that could be fitted), run->path_cost and run->mtu_gain from run->services. */
void cost_model_run(struct run *run);

#endif
