/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's own reasons for dropping test frames, during one trial.
 *
 * An extra: where the tracepoint or BTF is missing, trials have no reasons and everything else stays as it is.
 */
#ifndef PROBE_DROP_TRACE_H
#define PROBE_DROP_TRACE_H

#include <stdint.h>

struct drop_trace;

/* Starts counting drops of one stream. NULL when this kernel cannot; error text says why. */
struct drop_trace *drop_trace_begin(uint16_t run_tag, uint8_t stream);
/* Drops of one reason at one device. */
struct drop_count {
	char reason[40];	  /* as the running kernel names it */
	unsigned int ifindex;	  /* of the frame's device when it was dropped; 0 none … */
	unsigned int netns_inode; /* … in the namespace with this inode number */
	uint64_t count;
};

/* Writes up to max counts and frees; returns how many there are. */
int drop_trace_end(struct drop_trace *trace, struct drop_count *counts, int max);
void drop_trace_cancel(struct drop_trace *trace);

#endif
