/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The doctor: facts in, ranked findings out. Pure.
 *
 * Owns: which links, hops and processes are examined, calling the judges, ranking. Leaves to others: the rules
 * (doctor/checks_*.c), the list of tables (doctor/tables.c), what a judge may use (doctor/check.h), printing (report/).
 * Called by cmd/doctor.c and by whoever judges saved facts.
 */
#ifndef DOCTOR_DOCTOR_H
#define DOCTOR_DOCTOR_H

#include "doctor/check.h"

struct doctor_target {
	int netns, ifindex;
};

struct doctor_request {
	const struct facts *facts;
	const struct facts *earlier;   /* of the same machine, some time before; may be NULL */
	const struct facts_path *path; /* may be NULL */
	const struct path_sizes *sizes; /* of frames sent along the path (doctor --probe); may be NULL */
	double goal_gbps;	       /* 0 unknown */
	const struct doctor_target
		*targets; /* links to examine, beside those of the path; none and no path: all that are up but
					      * loopback */
	int target_count;
};

/* Runs all checks and appends to *findings, highest rank first. 0, -ENOMEM, or -ENOENT with error text for a target that is not
 * among the facts. */
int doctor_examine(const struct doctor_request *request, struct finding_list *findings);

/* All tables; *count gets their number. */
const struct check_table *const *doctor_tables(int *count);
/* The check with this id; NULL when there is none. */
const struct check *doctor_check_find(const char *id);

#endif
