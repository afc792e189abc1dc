// SPDX-License-Identifier: GPL-2.0-or-later
/* What came how far, by frame size; see path_sizes.h. Called by measure/sizes.c and doctor/. */
#include "model/path_sizes.h"

#include <errno.h>
#include <stddef.h>

struct path_stretch path_sizes_stretch(const struct path_sizes *sizes, int end)
{
	struct path_stretch stretch = { 0, 0 };

	for (int i = 0; i < sizes->step_count; i++)
		if (sizes->steps[i].arrived[end] > 0 && sizes->steps[i].frame_bytes > stretch.passes_bytes)
			stretch.passes_bytes = sizes->steps[i].frame_bytes;
	for (int i = 0; i < sizes->step_count; i++) {
		const struct path_sizes_step *step = &sizes->steps[i];

		if (step->frame_bytes > stretch.passes_bytes && step->arrived[end - 1] > 0 && step->arrived[end] <= 0 &&
		    (!stretch.stops_bytes || step->frame_bytes < stretch.stops_bytes))
			stretch.stops_bytes = step->frame_bytes;
	}
	return stretch;
}

const struct path_sizes_step *path_sizes_step_of(const struct path_sizes *sizes, unsigned int frame_bytes)
{
	for (int i = 0; i < sizes->step_count; i++)
		if (sizes->steps[i].frame_bytes == frame_bytes)
			return &sizes->steps[i];
	return NULL;
}

int path_sizes_stretch_of(const struct path_sizes *sizes, int hop)
{
	for (int end = 1; end < sizes->point_count; end++)
		if (hop > sizes->points[end - 1] && hop <= sizes->points[end])
			return end;
	return 0;
}

unsigned int path_sizes_next(const struct path_sizes *sizes)
{
	for (int end = 1; end < sizes->point_count; end++) {
		struct path_stretch stretch = path_sizes_stretch(sizes, end);

		/* Nothing passes at all: that is no matter of size, and there is no second bound. */
		if (!stretch.stops_bytes || !stretch.passes_bytes)
			continue;
		if (stretch.stops_bytes - stretch.passes_bytes > 1)
			return stretch.passes_bytes + (stretch.stops_bytes - stretch.passes_bytes) / 2;
		if (path_sizes_step_of(sizes, stretch.stops_bytes)->trials < 2)
			return stretch.stops_bytes;
	}
	return 0;
}

int path_sizes_add(struct path_sizes *sizes, unsigned int frame_bytes, const int *arrived)
{
	struct path_sizes_step *step = (struct path_sizes_step *)path_sizes_step_of(sizes, frame_bytes);

	if (!step) {
		if (sizes->step_count == PATH_SIZES_MAX_STEPS)
			return -ENOSPC;
		step = &sizes->steps[sizes->step_count++];
		*step = (struct path_sizes_step){ .frame_bytes = frame_bytes };
	}
	for (int i = 0; i < sizes->point_count; i++)
		step->arrived[i] += arrived[i];
	step->trials++;
	return 0;
}
