/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a hop can be replaced by, as measuring sees it: something that is started and stopped. cmd/ joins it with accel/, which
 * measuring does not know.
 */
#ifndef MEASURE_BYPASS_H
#define MEASURE_BYPASS_H

#include <stdint.h>

#include "model/run.h"

/* A bridge of this kernel, between two of its ports. */
struct bypass_hop {
	char bridge[16], netns[RUN_NAME_BYTES]; /* netns: "" the caller's */
	char into[16], out[16];			/* ports: frames come in at the one and leave at the other */
};

struct bypass_means {
	const char *way; /* for people, "the fast path"; at most as long as run_bypass.way */
	/* From its return on frames go past the hop. 0, or -errno with error text that says why that cannot be. */
	int (*start)(void *context, const struct bypass_hop *hop);
	/* Frames that went past the hop since it was started. */
	uint64_t (*frames)(void *context);
	/* The hop is as it was. 0 or -errno with error text. */
	int (*stop)(void *context);
	void *context;
};

#endif
