/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From what the user wrote to points that can be measured.
 *
 * Owns: directions and hooks of points, kinds and names of hops, refusing what must not be touched. Leaves to others: probes,
 * sources. Fills run->points, run->hops and, when the path is not in the local kernel alone, run->domains.
 */
#ifndef MEASURE_PATH_H
#define MEASURE_PATH_H

#include "domain/domain.h"
#include "lab/lab.h"
#include "model/run.h"

struct path {
	const struct domains *domains;		  /* all that the run may ask; the caller's */
	struct domain *domain[RUN_MAX_POINTS];	  /* of each point */
	struct domain_link links[RUN_MAX_POINTS]; /* as they were when the path was resolved */
	int hook_given[RUN_MAX_POINTS];		  /* the user chose the hook: no falling back */
};

/*
 * texts: points in the syntax of model/point_syntax.h, source first. 0 or -errno with error text: EINVAL for what the user
 * wrote wrongly (also a point given twice), ENODEV, ENETDOWN, EPERM for an uplink without force_uplink.
 *
 * Directions, where not given: the source sends out, the sink takes in; between them in and out take turns, since a frame that
 * came in at one interface goes out at the next.
 */
int path_from_texts(struct run *run, struct path *path, const struct domains *domains, char *const *texts, int count,
		    int force_uplink);
/* The points of a lab; reports name them shortly ("ent0@ns:lpar"). */
int path_from_lab(struct run *run, struct path *path, const struct domains *domains, const struct lab *lab);

#endif
