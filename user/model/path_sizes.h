/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which frame sizes were sent through a path, and how far they came. Pure data and what follows from it.
 *
 * Owns: the struct, and how counts are read: what passes a stretch, what it stops, which size would tell more. Leaves to others: sending
 * (measure/sizes.c), judging (doctor/checks_probe.c), which points these are (cmd/doctor_probe.c).
 *
 * A stretch lies between two neighbours among the probed points; it is called by the number of its end, 1…point_count-1. Bytes are of a
 * frame without FCS.
 */
#ifndef MODEL_PATH_SIZES_H
#define MODEL_PATH_SIZES_H

#include "model/run.h"

#define PATH_SIZES_MAX_STEPS 80

struct path_sizes_step {
	unsigned int frame_bytes;
	int trials;
	int arrived[RUN_MAX_POINTS]; /* frames counted at each probed point, of all trials; [0]: sent by the source */
};

struct path_sizes {
	int point_count;	    /* probed points, source first; 0: nothing was sent, and why_not says why */
	int points[RUN_MAX_POINTS]; /* their indices in facts_path->points, ascending */
	unsigned int limit_bytes;   /* the largest frame that the source's MTU allows, or that we can make */
	int is_cut_short;	    /* 1: the time was up before each size was exact */
	char why_not[RUN_TEXT_BYTES];
	int step_count;
	struct path_sizes_step steps[PATH_SIZES_MAX_STEPS]; /* in the order of their first trial; a size has one */
};

/* What a stretch does to sizes. */
struct path_stretch {
	unsigned int passes_bytes; /* the largest that came through; 0: none did */
	unsigned int
		stops_bytes; /* the smallest above that, or of all when none passes, that reached its start and not its end; 0: none */
};
struct path_stretch path_sizes_stretch(const struct path_sizes *sizes, int end);

/* The step of a size; NULL when it was not sent. */
const struct path_sizes_step *path_sizes_step_of(const struct path_sizes *sizes, unsigned int frame_bytes);

/* The number of the stretch that hop `hop` (1…, of the facts_path) is a part of; 0: it lies beyond the probed points. */
int path_sizes_stretch_of(const struct path_sizes *sizes, int hop);

/*
 * The size to send next, so that what each stretch stops becomes exact: between the largest that passes and the smallest that does not; and
 * once more the smallest that does not, since frames may be lost by chance. 0: all is exact.
 */
unsigned int path_sizes_next(const struct path_sizes *sizes);

/* Adds what a trial counted to the step of its size. arrived: [point_count] counts. 0, or -ENOSPC: no room for another size. */
int path_sizes_add(struct path_sizes *sizes, unsigned int frame_bytes, const int *arrived);

#endif
