/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which hop caps the path, why, on what evidence. Pure: reads the measured parts of a run, fills run->verdict. */
#ifndef MEASURE_VERDICT_H
#define MEASURE_VERDICT_H

#include "model/run.h"

/* To be called last: after attribute_hops() and cost_model_run() (without shares it attributes for itself). */
void verdict_judge(struct run *run);

#endif
