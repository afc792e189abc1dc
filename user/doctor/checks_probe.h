/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What probing found at a hop: for checks that say by MTUs alone what was measured (doctor/checks_mtu.c). */
#ifndef DOCTOR_CHECKS_PROBE_H
#define DOCTOR_CHECKS_PROBE_H

#include "doctor/check.h"

/* 1: frames were sent, and mtu-probed fails at this hop: its cause needs no second finding. */
int checks_probe_found_step(const struct check_context *context, int hop);
/* 1: frames were sent, and the largest that passes this hop is known, or is at least as large as the source can send. */
int checks_probe_knows(const struct check_context *context, int hop);

#endif
