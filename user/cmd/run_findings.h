/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the doctor finds on the path of a run before a frame is sent: into run->findings, for the report and for the verdict to cite.
 */
#ifndef CMD_RUN_FINDINGS_H
#define CMD_RUN_FINDINGS_H

#include "measure/path.h"
#include "model/run.h"

/* Adds findings that fail or cost (fail, warn) and lie on the path, the most likely cap first. That the facts cannot be had is a
 * finding, too (severity unknown), never a failure. Changes nothing on the system. */
void run_findings_add(struct run *run, const struct path *path);

#endif
