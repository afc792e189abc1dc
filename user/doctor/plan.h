/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From facts, a path and the doctor's findings: the other ways that this machine could offer between the same two ends. Pure.
 *
 * Owns: which alternatives there are, their commands, what is missing for each. Leaves to others: running anything (nobody does),
 * showing (report/plan_text.c). Called by cmd/plan.c. A new alternative: a row in plan.c.
 */
#ifndef DOCTOR_PLAN_H
#define DOCTOR_PLAN_H

#include "doctor/doctor.h"
#include "model/plan.h"

/* request: as for doctor_examine(), with a path; findings: what that made of it. 0 or -ENOMEM. */
int plan_make(const struct doctor_request *request, const struct finding_list *findings, struct plan *plan);

#endif
