/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The live-frame generator, run one frame at a time.
 *
 * Owns: loading source_live and running it through BPF_PROG_TEST_RUN without live frames: the program then writes into
 * the frame that it is given and its verdict comes back; nothing is sent anywhere.
 */
#ifndef SOURCE_UNDER_TEST_H
#define SOURCE_UNDER_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "map_source.h"
#include "test_frames.h"

#define SOURCE_FRAME_BYTES 2048

struct source_result {
	uint32_t verdict;
	uint32_t bytes;
	uint64_t before_ns, after_ns; /* CLOCK_MONOTONIC around the run */
	unsigned char frame[SOURCE_FRAME_BYTES];
};

/* Mapped memory of the program; valid after source_ready. */
extern struct source_control *live_control;
extern struct source_state *live_state;
extern __u64 *live_lateness;

/* Group set-up and clean-up for cmocka. */
int source_load(void **state);
int source_unload(void **state);

/* To be called first in each test: skips it when the kernel refuses to load programs, else sets a plan without pacing,
 * without end, with none stamped but the first; the template is an IPv4 frame of 60 bytes, returned in *frame. */
void source_ready(struct built_frame *frame);

/* Uses the first bytes of a frame as template, or of several. */
void source_use_template(const struct built_frame *frame);
void source_use_templates(const struct built_frame *frames, uint32_t count);

/* Runs source_live, or source_live_plain, `repeat` times on one page, as the live loop does. */
void source_run(const unsigned char *page, uint32_t bytes, uint32_t repeat, struct source_result *result);
void source_run_plain(const unsigned char *page, uint32_t bytes, uint32_t repeat, struct source_result *result);

/* As if the device had been deleted, or as if it were back. */
void source_device_gone(int gone);

#endif
