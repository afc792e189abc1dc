// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The sequence ledger of a sink: duplicates, reordering, sequences beyond its size, against a model in plain C.
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

#define WORDS 512u /* of the small ledger */
#define SEQUENCES (WORDS * 64)
#define RANDOM_FRAMES 100000

/* What the contract says, written a second time: one byte a sequence. */
struct model {
	uint64_t frames, duplicates, reordered, beyond;
	uint64_t next; /* highest sequence + 1 */
	unsigned char seen[SEQUENCES];
};

static void model_add(struct model *model, uint32_t sequence)
{
	model->frames++;
	if ((uint64_t)sequence + 1 < model->next)
		model->reordered++;
	else
		model->next = (uint64_t)sequence + 1;
	if (sequence >= SEQUENCES)
		model->beyond++;
	else if (model->seen[sequence]++)
		model->duplicates++;
}

/* Sends one test frame with this sequence; only the sequence is written into the frame between two runs. */
static void run_sequence(uint32_t sequence)
{
	static const struct test_frame_spec spec = { .ip_version = 4 };
	static struct built_frame frame;
	static struct hop_result result;

	if (!frame.length)
		test_frame_build(&spec, &frame);
	test_put_be(frame.bytes + frame.header_offset + 4, sequence, 4);
	assert_int_equal(hop_run_frame(frame.bytes, frame.length, &result), 0);
}

static void ready_with_ledger(void)
{
	hop_ready();
	hop->control->ledger = 1;
	hop->control->action = HOPCAP_HOP_DROP;
}

static void expect_ledger(uint64_t frames, uint64_t duplicates, uint64_t reordered, uint64_t beyond)
{
	struct hop_counters counters;

	hop_read_counters(&counters);
	assert_int_equal(counters.test_frames, frames);
	assert_int_equal(counters.duplicates, duplicates);
	assert_int_equal(counters.reordered, reordered);
	assert_int_equal(counters.beyond, beyond);
}

static uint64_t bits_set(void)
{
	uint64_t bits = 0;

	for (uint32_t i = 0; i < hop->ledger_words; i++)
		bits += (uint64_t)__builtin_popcountll(hop->ledger[i]);
	return bits;
}

static void in_order(void **state)
{
	(void)state;
	ready_with_ledger();
	for (uint32_t sequence = 0; sequence < 200; sequence++)
		run_sequence(sequence);
	expect_ledger(200, 0, 0, 0);
	assert_int_equal(hop->ledger_state->highest, 200);
	assert_int_equal(bits_set(), 200);
	assert_int_equal(hop->ledger[0], UINT64_MAX);
	assert_int_equal(hop->ledger[3], 0xff);
}

/* A gap is loss, neither duplicate nor reordering; user space finds it in the bits. */
static void gap(void **state)
{
	(void)state;
	ready_with_ledger();
	for (uint32_t sequence = 0; sequence < 1000; sequence += 10)
		run_sequence(sequence);
	expect_ledger(100, 0, 0, 0);
	assert_int_equal(bits_set(), 100);
}

/* The copy of the newest frame is not below the highest sequence seen, that of an older one is. */
static void duplicate(void **state)
{
	(void)state;
	ready_with_ledger();
	run_sequence(0);
	run_sequence(0);
	expect_ledger(2, 1, 0, 0);
	run_sequence(1);
	run_sequence(2);
	run_sequence(1);
	expect_ledger(5, 2, 1, 0);
	assert_int_equal(bits_set(), 3);
}

static void reordered(void **state)
{
	static const uint32_t order[] = { 0, 3, 1, 2, 5, 4, 64, 63, 128, 65 };

	(void)state;
	ready_with_ledger();
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		run_sequence(order[i]);
	expect_ledger(10, 0, 5, 0);
	assert_int_equal(hop->ledger_state->highest, 129);
}

static void beyond_the_ledger(void **state)
{
	(void)state;
	ready_with_ledger();
	run_sequence(SEQUENCES - 1);
	expect_ledger(1, 0, 0, 0);
	run_sequence(SEQUENCES);
	run_sequence(SEQUENCES);
	run_sequence(0xfffffffe);
	expect_ledger(4, 0, 0, 3);
	assert_int_equal(bits_set(), 1);
	assert_int_equal(hop->ledger[WORDS - 1], 1ULL << 63);
}

static void off_keeps_no_ledger(void **state)
{
	(void)state;
	ready_with_ledger();
	hop->control->ledger = 0;
	run_sequence(5);
	run_sequence(5);
	run_sequence(1);
	expect_ledger(3, 0, 0, 0);
	assert_int_equal(bits_set(), 0);
	assert_int_equal(hop->ledger_state->highest, 0);
}

/* Mostly in order, with jumps ahead, stragglers, copies, and now and then a sequence that no ledger holds. */
static uint32_t next_random_sequence(uint32_t *random, uint32_t *cursor)
{
	uint32_t kind, jump;

	*random = *random * 1664525 + 1013904223;
	kind = *random >> 24;
	jump = *random >> 8 & 0xffff;
	if (kind < 200)
		return (*cursor)++;
	if (kind < 220)
		return *cursor += jump & 15;
	if (kind < 235)
		return *cursor > (jump & 127) ? *cursor - (jump & 127) : 0;
	if (kind < 245)
		return jump % SEQUENCES;
	if (kind < 250)
		return SEQUENCES - 64 + (jump & 127);
	return kind == 255 ? *random | 0x80000000u : *cursor;
}

static void random_sequences_as_in_the_model(void **state)
{
	static struct model model;
	uint32_t random = 4737, cursor = 0;

	(void)state;
	ready_with_ledger();
	memset(&model, 0, sizeof(model));
	for (int i = 0; i < RANDOM_FRAMES; i++) {
		uint32_t sequence = next_random_sequence(&random, &cursor);

		if (sequence == UINT32_MAX)
			sequence--; /* no trial gets there: user space ends it before the number wraps */
		cursor %= SEQUENCES + 100;
		run_sequence(sequence);
		model_add(&model, sequence);
	}
	assert_true(model.duplicates && model.reordered && model.beyond);
	expect_ledger(model.frames, model.duplicates, model.reordered, model.beyond);
	assert_int_equal(hop->ledger_state->highest, model.next);
	for (uint32_t sequence = 0; sequence < SEQUENCES; sequence++)
		assert_int_equal(hop->ledger[sequence / 64] >> (sequence & 63) & 1, model.seen[sequence] != 0);
}

#define RACE_ROUNDS 2000
#define ROUND_FRAMES 32 /* one word of the ledger takes the rounds of both racers */

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
		uint32_t sequence = i / ROUND_FRAMES * 64 + racer->first + i % ROUND_FRAMES * racer->step;

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
	struct hop_counters counters;

	hop_read_counters(&counters);
	assert_int_equal(counters.test_frames, frames);
	assert_int_equal(counters.beyond, 0);
	assert_int_equal(counters.duplicates, duplicates);
	assert_int_equal(bits_set(), frames - duplicates);
}

/* Even sequences on one CPU, odd ones on the other: no bit is lost, so none is seen twice when all are sent again. */
static void two_cpus_lose_no_bit(void **state)
{
	(void)state;
	ready_with_ledger();
	run_race(1, 2);
	expect_race(0);
}

/* The same sequences on both: however they interleave, of two equal frames one is the duplicate. */
static void two_cpus_count_every_duplicate(void **state)
{
	(void)state;
	ready_with_ledger();
	run_race(0, 1);
	expect_race(RACE_ROUNDS * ROUND_FRAMES);
}

/* The size that a sink has: the last sequence that fits and the first one that does not. */
static void full_size_bounds(void **state)
{
	(void)state;
	ready_with_ledger();
	run_sequence(HOPCAP_LEDGER_SEQUENCES - 1);
	run_sequence(HOPCAP_LEDGER_SEQUENCES - 1);
	run_sequence(HOPCAP_LEDGER_SEQUENCES);
	expect_ledger(3, 1, 0, 1);
	assert_int_equal(hop->ledger[HOPCAP_LEDGER_WORDS - 1], 1ULL << 63);
}

/* A probe that is no sink has a ledger of one word, and nothing breaks should it be asked to keep one. */
static void one_word_bounds(void **state)
{
	(void)state;
	ready_with_ledger();
	run_sequence(63);
	run_sequence(64);
	run_sequence(63);
	expect_ledger(3, 1, 1, 1);
	assert_int_equal(hop->ledger[0], 1ULL << 63);
}

int main(void)
{
	static const struct CMUnitTest small[] = {
		cmocka_unit_test(in_order),
		cmocka_unit_test(gap),
		cmocka_unit_test(duplicate),
		cmocka_unit_test(reordered),
		cmocka_unit_test(beyond_the_ledger),
		cmocka_unit_test(off_keeps_no_ledger),
		cmocka_unit_test(random_sequences_as_in_the_model),
	};
	static const struct CMUnitTest races[] = {
		cmocka_unit_test(two_cpus_lose_no_bit),
		cmocka_unit_test(two_cpus_count_every_duplicate),
	};
	static const struct CMUnitTest full[] = { cmocka_unit_test(full_size_bounds) };
	static const struct CMUnitTest one[] = { cmocka_unit_test(one_word_bounds) };

	return hop_run_groups("ledger", small, sizeof(small) / sizeof(small[0]), WORDS) +
	       hop_run_groups("ledger on two CPUs", races, 2, RACE_ROUNDS) +
	       hop_run_groups("ledger of a sink", full, 1, HOPCAP_LEDGER_WORDS) +
	       hop_run_groups("ledger of one word", one, 1, 1);
}
