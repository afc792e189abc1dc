// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The clone generator (source_tc) and the drop counter (drop_trace) through BPF_PROG_TEST_RUN. Clones are redirected to
 * an interface that does not exist: what counts here is which frames are taken, how many leave, and what is left alone.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/pkt_cls.h>

#include "drop_trace.skel.h"
#include "histogram_layout.h"
#include "map_drop.h"
#include "map_source.h"
#include "skip_because.h"
#include "source_tc.skel.h"
#include "test_frames.h"
#include "wire_test_frame.h"

#define NO_INTERFACE 0x7ffffff0
#define ROUNDS 256 /* of one call, bpf/source_tc.bpf.c */

static struct source_tc_bpf *program;
static struct source_control *control;
static struct source_state *source;

static int load(void **state)
{
	(void)state;
	program = source_tc_bpf__open_and_load();
	if (!program && errno == EPERM) {
		printf("skipped: loading BPF programs needs root\n");
		return 0;
	}
	if (!program)
		return -1;
	if (!program->bss)
		return -1;
	control = &program->bss->source_control;
	source = &program->bss->source_state;
	return 0;
}

static int unload(void **state)
{
	(void)state;
	source_tc_bpf__destroy(program);
	return 0;
}

/* Sends one frame with this mark past the program; returns its verdict. */
static int run_marked(uint32_t mark, uint64_t frames, uint64_t interval_fp)
{
	static const struct test_frame_spec spec = { .ip_version = 4 };
	struct __sk_buff context = { .mark = mark };
	struct built_frame frame;
	LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = &context, .ctx_size_in = sizeof(context));

	test_frame_build(&spec, &frame);
	memset(source, 0, sizeof(*source));
	memset(control, 0, sizeof(*control));
	memcpy(control->templates[0].bytes, frame.bytes, HOPCAP_MIN_FRAME_BYTES);
	control->frames = frames;
	control->interval_fp = interval_fp;
	control->ifindex = NO_INTERFACE;
	control->templates[0].frame_bytes = frame.length;
	control->templates[0].header_offset = frame.header_offset;
	control->templates[0].source_port = 49152;
	control->slip_ns = 50000;
	control->trigger_mark = HOPCAP_MARK_TRIGGER;
	options.data_in = frame.bytes;
	options.data_size_in = frame.length;
	assert_int_equal(bpf_prog_test_run_opts(bpf_program__fd(program->progs.source_clone), &options), 0);
	return (int)options.retval;
}

#define NEEDS_PROGRAM()         \
	do {                    \
		(void)state;    \
		if (!program)   \
			SKIP_BECAUSE("the kernel does not load source_clone; root is needed"); \
	} while (0)

static void other_frames_pass(void **state)
{
	NEEDS_PROGRAM();
	assert_int_equal(run_marked(0, 10, 0), TC_ACT_UNSPEC);
	assert_int_equal(source->sent, 0);
	assert_int_equal(run_marked(HOPCAP_MARK_TRIGGER + 1, 10, 0), TC_ACT_UNSPEC);
	assert_int_equal(source->sent, 0);
}

static void clones_pass(void **state)
{
	NEEDS_PROGRAM();
	assert_int_equal(run_marked(HOPCAP_MARK_CLONE, 10, 0), TC_ACT_UNSPEC);
	assert_int_equal(source->sent, 0);
}

static void trigger_makes_the_stream_and_ends(void **state)
{
	NEEDS_PROGRAM();
	assert_int_equal(run_marked(HOPCAP_MARK_TRIGGER, 10, 0), TC_ACT_SHOT);
	assert_int_equal(source->sent, 10);
	/* the last header that was numbered */
	assert_int_equal(
		test_get_be(control->templates[0].bytes + control->templates[0].header_offset + HOPCAP_OFFSET_SEQUENCE,
			    4),
		9);
}

static void one_call_is_bounded(void **state)
{
	NEEDS_PROGRAM();
	assert_int_equal(run_marked(HOPCAP_MARK_TRIGGER, 100000, 0), TC_ACT_SHOT);
	assert_int_equal(source->sent, ROUNDS);
}

/* One frame a second: the first leaves at once, no other one within a call. */
static void nothing_leaves_before_it_is_due(void **state)
{
	NEEDS_PROGRAM();
	assert_int_equal(run_marked(HOPCAP_MARK_TRIGGER, 100, 1000000000ull << HOPCAP_PACE_SHIFT), TC_ACT_SHOT);
	assert_int_equal(source->sent, 1);
}

static void header_that_does_not_fit_is_refused(void **state)
{
	struct __sk_buff context = { .mark = HOPCAP_MARK_TRIGGER };
	unsigned char frame[64] = { 0 };
	LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = &context, .ctx_size_in = sizeof(context), .data_in = frame,
		    .data_size_in = sizeof(frame));

	NEEDS_PROGRAM();
	memset(source, 0, sizeof(*source));
	control->templates[0].header_offset = HOPCAP_TEMPLATE_BYTES - HOPCAP_TEST_HEADER_BYTES + 1;
	control->frames = 10;
	frame[12] = 0x08;
	frame[14] = 0x45;
	assert_int_equal(bpf_prog_test_run_opts(bpf_program__fd(program->progs.source_clone), &options), 0);
	assert_int_equal((int)options.retval, TC_ACT_SHOT);
	assert_int_equal(source->sent, 0);
}

/* A tracepoint's arguments are what the kernel says they are; a buffer that cannot be read is nobody's. */
static void drop_of_nothing_counts_nothing(void **state)
{
	struct drop_control armed = { .run_tag = 0x1234, .stream = 1 };
	struct drop_trace_bpf *trace;
	uint64_t arguments[3] = { 0, 0, 2 };
	struct drop_key key;
	uint32_t zero = 0;
	LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = arguments, .ctx_size_in = sizeof(arguments));

	NEEDS_PROGRAM();
	trace = drop_trace_bpf__open_and_load();
	assert_non_null(trace);
	assert_int_equal(bpf_map_update_elem(bpf_map__fd(trace->maps.drop_control), &zero, &armed, BPF_ANY), 0);
	assert_int_equal(bpf_prog_test_run_opts(bpf_program__fd(trace->progs.count_drop), &options), 0);
	assert_int_equal(options.retval, 0);
	assert_int_not_equal(bpf_map_get_next_key(bpf_map__fd(trace->maps.drop_counts), NULL, &key), 0);
	drop_trace_bpf__destroy(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(other_frames_pass),
		cmocka_unit_test(clones_pass),
		cmocka_unit_test(trigger_makes_the_stream_and_ends),
		cmocka_unit_test(one_call_is_bounded),
		cmocka_unit_test(nothing_leaves_before_it_is_due),
		cmocka_unit_test(header_that_does_not_fit_is_refused),
		cmocka_unit_test(drop_of_nothing_counts_nothing),
	};

	return cmocka_run_group_tests_name("source_tc, drop_trace", tests, load, unload);
}
