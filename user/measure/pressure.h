/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the machine did during one trial: queues of the points' interfaces, CPUs, threads that are not ours.
 *
 * Owns: reading before, meanwhile (backlog comes and goes) and after, of every kernel that the path lies in. Leaves to others:
 * judging (measure/verdict.c). The
 * result is run->pressure.
 */
#ifndef MEASURE_PRESSURE_H
#define MEASURE_PRESSURE_H

#include "measure/trial.h"

struct pressure_watch;

/* NULL with error text when something cannot be read. */
struct pressure_watch *pressure_begin(const struct bench *bench);
/* For trial_request.tick. */
void pressure_tick(void *watch);
/* Fills run->pressure and frees the watch. trial: index in run->trials. */
void pressure_end(struct pressure_watch *watch, struct bench *bench, int trial);
void pressure_cancel(struct pressure_watch *watch);

#endif
