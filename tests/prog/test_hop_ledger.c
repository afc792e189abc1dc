// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The ledger of sinks in the kernel: the same streams and the same model as tests/unit/test_ledger.c, several streams, CPUs, trials.
 */
#define _GNU_SOURCE

#include "hop_under_test.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>

#include "../unit/ledger_model.h"
#include "wire_test_frame.h"

#define STREAMS 3
#define RANDOM_FRAMES 100000

static void run_judged(uint32_t stream, uint32_t sequence, uint8_t flags, uint32_t verdict)
{
	static const struct test_frame_spec spec = { .ip_version = 4 };
	static struct built_frame frame;
	static struct hop_result result;

	if (!frame.length)
		test_frame_build(&spec, &frame);
	test_put_be(frame.bytes + frame.header_offset + HOPCAP_OFFSET_FLAGS, flags, 1);
	test_put_be(frame.bytes + frame.header_offset + HOPCAP_OFFSET_STREAM, (TEST_STREAM + stream) & 0xff, 1);
	test_put_be(frame.bytes + frame.header_offset + HOPCAP_OFFSET_SEQUENCE, sequence, 4);
	assert_int_equal(hop_run_frame(frame.bytes, frame.length, &result), 0);
	assert_int_equal(result.verdict, verdict);
}

static void run_flagged(uint32_t stream, uint32_t sequence, uint8_t flags)
{
	run_judged(stream, sequence, flags, hop->drop);
}

/* Of a stream that has no ledger here. */
static void run_other_stream(uint32_t stream, uint32_t sequence, uint8_t flags)
{
	run_judged(stream, sequence, flags, hop->pass);
}

static void run_sequence(uint32_t stream, uint32_t sequence)
{
	run_flagged(stream, sequence, 0);
}

static void ready_as_sink(void)
{
	hop_ready();
	hop->control->sink = 1;
	hop->control->stream_count = hop->streams ? (uint8_t)hop->streams : 1;
	hop->control->action = HOPCAP_HOP_DROP;
}

static void expect_stream(uint32_t stream, uint64_t frames, uint64_t duplicates, uint64_t reordered, uint64_t late,
			  uint64_t corrupted)
{
	struct ledger_counts counts;

	hop_read_stream(stream, &counts);
	if (counts.frames != frames || counts.duplicates != duplicates || counts.reordered != reordered || counts.late != late ||
	    counts.corrupted != corrupted)
		fail_msg("%s, stream %u: %llu frames, %llu duplicates, %llu reordered, %llu late, %llu corrupted", hop->name, stream,
			 (unsigned long long)counts.frames, (unsigned long long)counts.duplicates,
			 (unsigned long long)counts.reordered, (unsigned long long)counts.late,
			 (unsigned long long)counts.corrupted);
}

static void run_all(const uint32_t *sequences, size_t count)
{
	for (size_t i = 0; i < count; i++)
		run_sequence(0, sequences[i]);
}

#define RUN(...) run_all((const uint32_t[]){ __VA_ARGS__ }, sizeof((const uint32_t[]){ __VA_ARGS__ }) / 4)

static void by_hand(void **state)
{
	struct ledger_counts counts;

	(void)state;
	ready_as_sink();
	RUN(0, 0, 1, 2, 1, 5, 3, 4, 3, 9);
	expect_stream(0, 10, 3, 2, 0, 0);
	hop_read_stream(0, &counts);
	assert_int_equal(counts.next, 10);
	assert_int_equal(counts.extent[0], 1);
	assert_int_equal(counts.extent[1], 1);
	assert_int_equal(counts.announced, 0);
	run_flagged(0, 10, HOPCAP_FRAME_END); /* marks what is pending */
	assert_int_equal(hop->ledger[0] & 0xffffffff, 0x23f); /* 0…5 and 9 */
	assert_int_equal(hop->ledger[0] >> 32, hop->base / LEDGER_WINDOW);
	expect_stream(1, 0, 0, 0, 0, 0);
}

/* Streams of our run without a ledger are others' frames, and counted by stream as well; what announces is no frame of theirs. */
static void streams_beyond(void **state)
{
	struct hop_counters counters;

	(void)state;
	ready_as_sink();
	hop->control->stream_count = 2;
	for (int i = 0; i < 3; i++)
		run_other_stream(3, (uint32_t)i, 0);
	run_other_stream(5, 0, 0);
	run_other_stream(5, 1, HOPCAP_FRAME_END);
	run_sequence(1, 0);
	run_sequence(1, 1);
	run_flagged(1, 0, HOPCAP_FRAME_END); /* it begins */
	assert_int_equal(hop->control->begun_streams, 2);
	hop_read_counters(&counters);
	assert_int_equal(counters.test_frames, 2);
	assert_int_equal(counters.other_frames, 5);
	for (unsigned int i = 0; i < LEDGER_MAX_STREAMS; i++)
		assert_int_equal(counters.beyond_frames[i], i == 3 ? 3 : i == 5 ? 1 : 0);
}

static void damage_and_interruption(void **state)
{
	const uint32_t far = 50 * LEDGER_WINDOW;
	struct hop_counters counters;

	(void)state;
	ready_as_sink();
	RUN(0, 1, 2, 3 + far, 3, 4);
	expect_stream(0, 5, 0, 0, 0, 1);
	RUN(far, far + 1, far + 2, far, 5);
	expect_stream(0, 10, 1, 0, 1, 1);
	RUN(3 * far, far + 3, 2 * far, far + 4, 3 * far + 2000);
	expect_stream(0, 12, 1, 0, 1, 4);
	hop_read_counters(&counters);
	assert_int_equal(counters.test_frames, 16); /* what is corrupted did arrive */
	ready_as_sink();
	RUN(0xfffffff0, 0, 0xffffffff);
	expect_stream(0, 1, 0, 0, 0, 2);
}

/* Said three times; no test frame, no other frame, and gone. */
static void end_of_a_stream(void **state)
{
	struct hop_counters counters;
	struct ledger_counts counts;

	(void)state;
	ready_as_sink();
	RUN(0, 1, 2);
	for (int i = 0; i < 3; i++)
		run_flagged(0, 5, HOPCAP_FRAME_END);
	hop_read_counters(&counters);
	assert_int_equal(counters.test_frames, 3);
	assert_int_equal(counters.test_bytes, 180);
	assert_int_equal(counters.other_frames, 0);
	expect_stream(0, 3, 0, 0, 0, 0);
	hop_read_stream(0, &counts);
	assert_int_equal(counts.announced, 5);
	assert_int_equal(counts.next, 3);
	/* Around the wrap. */
	ready_as_sink();
	RUN(0xfffffffd, 0xfffffffe);
	run_flagged(0, 7, HOPCAP_FRAME_END);
	hop_read_stream(0, &counts);
	assert_int_equal(counts.next, 0xffffffff);
	assert_int_equal(counts.announced, (1ull << 32) + 7);
	/* A stream of which nothing came. */
	ready_as_sink();
	run_flagged(1, 1000, HOPCAP_FRAME_END);
	hop_read_stream(1, &counts);
	assert_int_equal(counts.announced, 1000);
	assert_int_equal(counts.frames, 0);
}

static void no_sink_keeps_none(void **state)
{
	struct hop_counters counters;
	struct built_frame frame;
	struct hop_result result;

	(void)state;
	ready_as_sink();
	hop->control->sink = 0;
	RUN(0, 0, 5, 1);
	run_flagged(0, 9, HOPCAP_FRAME_END);
	expect_stream(0, 0, 0, 0, 0, 0);
	hop_read_counters(&counters);
	assert_int_equal(counters.test_frames, 4);
	assert_int_equal(counters.other_frames, 0);
	/* In the middle of a path an end goes on. */
	hop->control->action = HOPCAP_HOP_PASS;
	test_frame_build(&(struct test_frame_spec){ .ip_version = 4, .flags = HOPCAP_FRAME_END }, &frame);
	assert_int_equal(hop_run_frame(frame.bytes, frame.length, &result), 0);
	assert_int_equal(result.verdict, hop->pass);
	assert_memory_equal(result.frame, frame.bytes, frame.length);
	hop_read_counters(&counters);
	assert_int_equal(counters.test_frames + counters.other_frames, 4);
}

/* The numbers of streams may pass 255; those outside are others' frames. */
static void streams_apart(void **state)
{
	struct hop_counters counters;

	(void)state;
	ready_as_sink();
	for (uint32_t round = 0; round < 10; round++)
		for (uint32_t stream = 0; stream < STREAMS; stream++)
			for (uint32_t i = 0; i <= stream; i++)
				run_sequence(stream, round * (stream + 1) + i);
	for (uint32_t stream = 0; stream < STREAMS; stream++)
		expect_stream(stream, 10 * (stream + 1), 0, 0, 0, 0);
	hop_read_counters(&counters);
	assert_int_equal(counters.test_frames, 60);
	hop->control->stream = 254;
	run_sequence(254 - TEST_STREAM, 100);
	run_sequence(256 - TEST_STREAM, 200);
	expect_stream(0, 11, 0, 0, 0, 0);
	expect_stream(2, 31, 0, 0, 0, 0);
}

static uint64_t late_in_all;

static void expect_model(uint32_t stream, const struct ledger_model *model)
{
	struct ledger_counts counts;

	hop_read_stream(stream, &counts);
	assert_true(model->counts.duplicates && model->counts.reordered);
	late_in_all += model->counts.late;
	assert_memory_equal(&counts, &model->counts, sizeof(counts));
}

static void as_in_the_model(uint64_t seed, uint64_t begin, uint64_t long_loss_in)
{
	static struct bad_path paths[STREAMS];
	static struct ledger_model models[STREAMS];

	ready_as_sink();
	for (uint32_t stream = 0; stream < STREAMS; stream++) {
		paths[stream] = (struct bad_path){ .random = seed + stream, .cursor = begin, .long_loss_in = long_loss_in };
		assert_true(model_open(&models[stream]));
	}
	for (int i = 0; i < RANDOM_FRAMES; i++) {
		uint32_t stream = (uint32_t)i % STREAMS;
		uint64_t place = i < 2 * STREAMS ? paths[stream].cursor++ : bad_path_next(&paths[stream]);

		model_add(&models[stream], place);
		run_sequence(stream, (uint32_t)place);
	}
	for (uint32_t stream = 0; stream < STREAMS; stream++) {
		expect_model(stream, &models[stream]);
		model_close(&models[stream]);
	}
}

/* One process, one CPU at a time: but test runs may be moved between CPUs, where order is another matter. */
static void stay_on_one_cpu(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
}

static int free_cpus(void **state)
{
	cpu_set_t all;

	(void)state;
	memset(&all, 0xff, sizeof(all));
	return sched_setaffinity(0, sizeof(all), &all);
}

static void random_streams(void **state)
{
	(void)state;
	stay_on_one_cpu();
	late_in_all = 0;
	as_in_the_model(4737, 4 * LEDGER_WINDOW, 0);
	as_in_the_model(2544, 4 * LEDGER_WINDOW + 77, 20000);
	as_in_the_model(8, (1ull << 32) - 20000, 0);
	as_in_the_model(15, (1ull << 31) - 20000, 15000);
	assert_true(late_in_all);
}

#define RACE_ROUNDS 2000
#define ROUND_FRAMES 16 /* one word of the ledger takes the rounds of both racers */

struct racer {
	pthread_t thread;
	int cpu, error;
	uint32_t first, step; /* sequences of a round */
	atomic_uint *at_line; /* racers that have reached the start of a round, over all rounds */
};

/* Both start each round together, so that they meet in the same word again and again. */
static void start_round(struct racer *racer, unsigned int round)
{
	atomic_fetch_add(racer->at_line, 1);
	while (atomic_load(racer->at_line) < 2 * (round + 1))
		sched_yield();
}

/* Runs outside of cmocka's thread, so it only records. */
static void *race(void *argument)
{
	static const struct test_frame_spec spec = { .ip_version = 4 };
	struct racer *racer = argument;
	struct built_frame frame;
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame.bytes, .repeat = 1);
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET((size_t)racer->cpu, &cpus);
	racer->error = pthread_setaffinity_np(pthread_self(), sizeof(cpus), &cpus);
	test_frame_build(&spec, &frame);
	options.data_size_in = frame.length;
	for (unsigned int i = 0; i < RACE_ROUNDS * ROUND_FRAMES; i++) {
		uint32_t sequence = i / ROUND_FRAMES * 32 + racer->first + i % ROUND_FRAMES * racer->step;

		if (i % ROUND_FRAMES == 0)
			start_round(racer, i / ROUND_FRAMES);
		if (racer->error)
			continue; /* the other one waits at each line */
		test_put_be(frame.bytes + frame.header_offset + 4, sequence, 4);
		do {
			racer->error = bpf_prog_test_run_opts(hop->program_fd, &options);
		} while (racer->error == -EINTR || racer->error == -EAGAIN);
	}
	return NULL;
}

static void run_race(uint32_t second_first, uint32_t step)
{
	struct racer racers[2] = { { .step = step }, { .step = step, .first = second_first } };
	atomic_uint at_line = 0;
	cpu_set_t allowed;
	int found = 0;

	assert_int_equal(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
	for (int cpu = 0; cpu < CPU_SETSIZE && found < 2; cpu++) {
		if (CPU_ISSET((size_t)cpu, &allowed))
			racers[found++].cpu = cpu;
	}
	if (found < 2)
		racers[1].cpu = racers[0].cpu;
	for (int i = 0; i < 2; i++) {
		racers[i].at_line = &at_line;
		assert_int_equal(pthread_create(&racers[i].thread, NULL, race, &racers[i]), 0);
	}
	for (int i = 0; i < 2; i++) {
		assert_int_equal(pthread_join(racers[i].thread, NULL), 0);
		assert_int_equal(racers[i].error, 0);
	}
}

static void expect_race(uint64_t duplicates)
{
	const uint64_t frames = 2 * RACE_ROUNDS * ROUND_FRAMES;
	struct ledger_counts counts;

	hop_read_stream(0, &counts);
	assert_int_equal(counts.frames, frames);
	assert_int_equal(counts.duplicates, duplicates);
	assert_int_equal(counts.late + counts.corrupted, 0);
}

/* Even sequences on one CPU, odd ones on the other: no bit is lost, none seen twice, and neither CPU calls it reordering. */
static void two_cpus_lose_no_bit(void **state)
{
	struct ledger_counts counts;

	(void)state;
	ready_as_sink();
	run_race(1, 2);
	expect_race(0);
	hop_read_stream(0, &counts);
	assert_int_equal(counts.reordered, 0);
	run_race(1, 2); /* the same once more: every one is a duplicate */
	hop_read_stream(0, &counts);
	assert_int_equal(counts.duplicates, 2 * RACE_ROUNDS * ROUND_FRAMES);
}

/* The same sequences on both: however they interleave, of two equal frames one is the duplicate. */
static void two_cpus_count_every_duplicate(void **state)
{
	(void)state;
	ready_as_sink();
	run_race(0, 1);
	expect_race(RACE_ROUNDS * ROUND_FRAMES);
}

/* A probe that is no sink has a ledger of one word, and nothing breaks should it be asked to keep one. */
static void one_word(void **state)
{
	(void)state;
	ready_as_sink();
	RUN(31, 32, 31, 31);
	expect_stream(0, 4, 2, 0, 0, 0);
	RUN(64, 40); /* a word that there is not */
	expect_stream(0, 6, 2, 0, 1, 0);
	assert_int_equal(hop->ledger[0] & 0xffffffff, 1ULL << 31);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_hand),
		cmocka_unit_test(streams_beyond),
		cmocka_unit_test(damage_and_interruption),
		cmocka_unit_test(end_of_a_stream),
		cmocka_unit_test(no_sink_keeps_none),
		cmocka_unit_test(streams_apart),
		cmocka_unit_test_teardown(random_streams, free_cpus),
		cmocka_unit_test(two_cpus_lose_no_bit),
		cmocka_unit_test(two_cpus_count_every_duplicate),
	};
	static const struct CMUnitTest one[] = { cmocka_unit_test(one_word) };

	return hop_run_groups("ledger", tests, sizeof(tests) / sizeof(tests[0]), STREAMS) +
	       hop_run_groups("ledger of one word", one, 1, 0);
}
