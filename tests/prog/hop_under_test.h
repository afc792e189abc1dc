/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The two hop programs behind one face, so that every test is run against both.
 *
 * Owns: loading hop_xdp and hop_tc, running one frame through BPF_PROG_TEST_RUN, reading and clearing the maps.
 */
#ifndef HOP_UNDER_TEST_H
#define HOP_UNDER_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "map_hop.h"
#include "test_frames.h"

struct hop_under_test {
	const char *name;
	uint32_t pass, drop;	  /* verdicts of the program's hook */
	int has_segments;	  /* the hook tells gso_segs */
	int program_fd;
	int counters_fd, seen_fd, histograms_fd, sink_fd, tracks_fd;
	int refused;		  /* errno of a kernel that does not let us load programs; 0: loaded */
	struct hop_control *control;
	ledger_u64 *ledger; /* streams * LEDGER_WORDS, at least one page */
	uint32_t streams;   /* 0: the probe was not made to be a sink: one word, one track */
	uint64_t base;	    /* of the ledger since hop_ready */
	void *skeleton;
};

/* Set by hop_run_groups for the tests that run; hop_ready first. */
extern struct hop_under_test *hop;

/* What came of one frame. */
struct hop_result {
	uint32_t verdict;
	uint32_t bytes;			/* of the frame afterwards */
	uint64_t before_ns, after_ns;	/* CLOCK_MONOTONIC around the run */
	unsigned char frame[TEST_FRAME_MAX_BYTES];
};

/* Runs the tests once per program, with a ledger for so many streams. Returns how many failed. */
int hop_run_groups(const char *group, const struct CMUnitTest *tests, size_t count, uint32_t streams);
/* Runs the tests with hop_tc alone. */
int hop_run_tc_group(const char *group, const struct CMUnitTest *tests, size_t count);

/* To be called first in each test: skips it when the kernel refuses to load programs, else clears all maps but the ledger, which
 * starts at a new base, and sets the control to our run and stream, pass, no sink. */
void hop_ready(void);

/* Runs one frame. 0, or -EINVAL when the kernel takes no such frame; fails the test on anything else. gso_segs and
 * gso_size are for programs with has_segments. */
int hop_run_frame(const unsigned char *frame, uint32_t bytes, struct hop_result *result);
int hop_run_segments(const unsigned char *frame, uint32_t bytes, uint32_t gso_segs, uint32_t gso_size,
		     struct hop_result *result);

/* Sums over all CPUs; of first_ns and last_ns the extremes. */
void hop_read_counters(struct hop_counters *sum);
void hop_read_seen(struct hop_seen *seen);
void hop_read_histograms(struct hop_histograms *sum);
/* Over all CPUs. */
void hop_read_stream(uint32_t stream, struct ledger_counts *counts);
void hop_read_sink(struct hop_sink *sum);
/* Counters of one CPU. */
void hop_read_cpu_counters(unsigned int cpu, struct hop_counters *counters);

/* Index of the only non-empty bucket, which must hold 1; -1 when all are empty; fails the test otherwise. */
int hop_only_bucket(const __u64 *buckets);

/* What a test needs could not be made for lack of privilege: says so and skips the test. */
void skip_refused(const char *what, int error);

#endif
