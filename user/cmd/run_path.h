/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The path of a run in the terms of facts, so that the doctor can judge it: measure/ and model/facts do not know each other. Called by
 * cmd/run_findings.c and cmd/doctor_probe.c.
 */
#ifndef CMD_RUN_PATH_H
#define CMD_RUN_PATH_H

#include "measure/path.h"
#include "model/facts_path.h"

/* run->points and ->hops, resolved into `path`; point i becomes described->points[i]. */
void run_path_describe(const struct run *run, const struct path *path, const struct facts *facts,
		       struct facts_path *described);

#endif
