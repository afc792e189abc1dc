/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A reflector: sends test frames back to where they came from, addresses swapped.
 *
 * Owns: the reflecting programs and, with AF_XDP, the threads that do it in user space. Leaves to others: the time of both ways,
 * which the sink behind the source measures. A frame is reflected once: two reflectors that face each other let it pass.
 */
#ifndef TRAFFIC_REFLECTOR_H
#define TRAFFIC_REFLECTOR_H

#include <stdint.h>

#include "model/run.h"
#include "traffic/sink.h"

struct reflector_config {
	char interface[16], netns[RUN_NAME_BYTES];
	enum sink_kind kind;
	uint16_t run_tag; /* 0: frames of any run */
	int queue, queues; /* AF_XDP: first queue and how many; queues 0: all */
	int cpu;	   /* AF_XDP: of the first thread; -1 nowhere */
	int busy_poll;
};

struct reflector_counts {
	uint64_t frames, bytes; /* test frames that were sent back */
	uint64_t probes;	/* frames that look for a way or announce a stream's beginning or end, sent back as well */
	uint64_t again;		/* came marked as sent back already, and were let pass */
	uint64_t queue_frames[SINK_MAX_QUEUES]; /* AF_XDP */
};

struct reflector;

/* 0 or -errno with error text; reflects from now on. */
int reflector_open(const struct reflector_config *config, struct reflector **reflector);
/* 0, or -errno with error text (-ENODEV: the interface is gone, -ENETDOWN: it went down; counts are those until then). */
int reflector_read(struct reflector *reflector, struct reflector_counts *counts);
const char *reflector_describe(const struct reflector *reflector);
void reflector_close(struct reflector *reflector);

#endif
