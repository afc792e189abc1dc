/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A hop probe at one point: load, attach, arm, read, remove.
 *
 * Owns: one instance of hop_xdp or hop_tc with its maps. A probe is loaded once and attached for the trials that want it, as
 * a middle point (counts and passes) or as the sink of a cut (counts, keeps the sequence ledger, drops). Leaves to others:
 * what the counts mean (measure/).
 */
#ifndef PROBE_HOP_PROBE_H
#define PROBE_HOP_PROBE_H

#include "base/histogram.h"
#include "map_hop.h"
#include "model/run.h"

struct hop_probe;

/* Counts since the probe was armed. */
struct hop_reading {
	struct hop_counters total;	    /* over all CPUs */
	struct histogram hop_ns, path_ns;   /* stamped frames: since the last stamping point, since the source */
	uint64_t first_ns, last_ns;	    /* CLOCK_MONOTONIC of the first and last stamped frame; 0: none */
	int cpu;			    /* that counted most test frames; -1 none */
	double cpu_share;		    /* of all test frames, that this CPU counted */
};

/* Loads the program for point->hook (XDP or TC; a sink by its mode). 0 or -errno with error text. */
int hop_probe_open(const struct run_point *point, struct hop_probe **probe);
void hop_probe_close(struct hop_probe *probe);
/* Attaches; mode_name says what was got ("native", "generic", "tcx", "clsact"). 0 or -errno with error text. */
int hop_probe_attach(struct hop_probe *probe, const char **mode_name);
void hop_probe_detach(struct hop_probe *probe);
/* Starts counting a stream from zero. as_sink: drop the stream's frames here and keep the ledger. 0 or -errno. */
int hop_probe_arm(struct hop_probe *probe, uint16_t run_tag, uint8_t stream, int as_sink);
/* Test frames counted since armed: cheap, to wait for the last of them. */
uint64_t hop_probe_count(const struct hop_probe *probe);
int hop_probe_read(const struct hop_probe *probe, struct hop_reading *reading);

#endif
