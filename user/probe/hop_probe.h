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

/* What a probe is to count. */
struct hop_arming {
	uint16_t run_tag;     /* 0 with learn: that of the first sound test frame that comes */
	uint8_t first_stream; /* first_stream … first_stream + streams - 1 (modulo 256) are test frames */
	int streams;	      /* 1 … those that the probe was opened for */
	int sink;	      /* 1: keep ledger, gaps, jitter and queues, check the frames */
	int drop;	      /* 1: the frames end here */
	int verify;	      /* 1: a sink compares every byte of the payload, too */
	int learn;
	int64_t clock_offset_ns; /* added to this kernel's CLOCK_MONOTONIC for stamps; 0 on the source's kernel */
};

/* Names of what hop_probe_pin() pins, in one directory for each probe. */
#define HOP_PIN_LINK "link"
#define HOP_PIN_COUNTERS "counters"
#define HOP_PIN_HISTOGRAMS "histograms"

/* Counts since the probe was armed. */
struct hop_reading {
	struct hop_counters total;	    /* over all CPUs */
	struct ledger_counts streams[LEDGER_MAX_STREAMS]; /* sinks: from the first stream on */
	struct histogram hop_ns, path_ns;   /* stamped frames: since the last stamping point, since the source */
	struct histogram gap_ns;	    /* sinks: between stamped frames that follow each other on one CPU */
	uint64_t jitter_sum_ns, jitter_count; /* sinks: sum of |latency - latency of the frame before| over so many frames */
	uint64_t cpu_frames[RUN_MAX_CPUS];  /* test frames by CPU */
	uint16_t run_tag;		    /* that is counted; 0: none learnt yet */
	uint8_t begun_streams;		    /* sinks: bit s: the source announced that stream s begins since the probe was armed */
	uint64_t first_ns, last_ns;	    /* CLOCK_MONOTONIC of the first and last stamped frame; 0: none */
	int cpu;			    /* that counted most test frames; -1 none */
	double cpu_share;		    /* of all test frames, that this CPU counted */
};

/* Loads the program for point->hook (XDP or TC; a sink by its mode), with a ledger for so many streams (1…LEDGER_MAX_STREAMS) of 1 MiB
 * each. 0 or -errno with error text. */
int hop_probe_open_streams(const struct run_point *point, int streams, struct hop_probe **probe);
/* The same for one stream. */
int hop_probe_open(const struct run_point *point, struct hop_probe **probe);
void hop_probe_close(struct hop_probe *probe);
/* Attaches; mode_name says what was got ("native", "generic", "tcx", "clsact"). 0 or -errno with error text. */
int hop_probe_attach(struct hop_probe *probe, const char **mode_name);
void hop_probe_detach(struct hop_probe *probe);
/* Starts counting from zero; takes no time for the ledger. 0 or -errno with error text. */
int hop_probe_arm_as(struct hop_probe *probe, const struct hop_arming *arming);
/* The usual way: one stream. as_sink: drop the stream's frames here and keep the ledger. 0 or -errno. */
int hop_probe_arm(struct hop_probe *probe, uint16_t run_tag, uint8_t stream, int as_sink);
/* Test frames counted since armed: cheap, to wait for the last of them. */
uint64_t hop_probe_count(const struct hop_probe *probe);
int hop_probe_read(const struct hop_probe *probe, struct hop_reading *reading);
/*
 * Lets an attached probe stay when it is closed: it counts sound test frames of every run from now on. Its link and maps are pinned as
 * files in `directory`, which is on a bpffs; each is on the undo stack before it is made. 0 or -errno with error text: EOPNOTSUPP when it
 * is attached by a clsact filter, which has no link.
 */
int hop_probe_pin(struct hop_probe *probe, const char *directory);
/* 0, or with error text -ENODEV when the interface is gone, and the attachment with it, -ENETDOWN when it is down. What was counted
 * can still be read. */
int hop_probe_alive(const struct hop_probe *probe);

#endif
