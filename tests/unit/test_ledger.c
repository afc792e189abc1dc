// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The ledger of sinks in user space: every count of streams that a path has mistreated, against a model that remembers all.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>

#include "ledger_model.h"
#include "traffic/ledger.h"

#define RANDOM_FRAMES 400000

static void expect_counts(const struct ledger_counts *wanted, const struct ledger_counts *got)
{
	assert_int_equal(got->frames, wanted->frames);
	assert_int_equal(got->duplicates, wanted->duplicates);
	assert_int_equal(got->reordered, wanted->reordered);
	assert_int_equal(got->late, wanted->late);
	assert_int_equal(got->corrupted, wanted->corrupted);
	assert_int_equal(got->next, wanted->next);
	for (int i = 0; i < LEDGER_EXTENTS; i++)
		assert_int_equal(got->extent[i], wanted->extent[i]);
}

static void expect(const struct ledger *ledger, uint64_t frames, uint64_t duplicates, uint64_t reordered, uint64_t late,
		   uint64_t corrupted)
{
	const struct ledger_counts *counts = ledger_read(ledger);

	assert_int_equal(counts->frames, frames);
	assert_int_equal(counts->duplicates, duplicates);
	assert_int_equal(counts->reordered, reordered);
	assert_int_equal(counts->late, late);
	assert_int_equal(counts->corrupted, corrupted);
}

static void add_all(struct ledger *ledger, const uint32_t *sequences, size_t count)
{
	for (size_t i = 0; i < count; i++)
		ledger_add(ledger, sequences[i]);
}

#define ADD(ledger, ...) add_all(ledger, (const uint32_t[]){ __VA_ARGS__ }, sizeof((const uint32_t[]){ __VA_ARGS__ }) / 4)

static void by_hand(void **state)
{
	struct ledger *ledger = ledger_open();

	(void)state;
	assert_non_null(ledger);
	expect(ledger, 0, 0, 0, 0, 0);
	assert_int_equal(ledger_read(ledger)->next, 0);
	assert_int_equal(ledger_lost(ledger_read(ledger), 0), 0);
	assert_int_equal(ledger_lost(ledger_read(ledger), 7), 7);
	ADD(ledger, 0, 0, 1, 2, 1, 5, 3, 4, 3, 9); /* twice 0, 1 and 3; 3 and 4 after 5; 6, 7, 8 missing */
	expect(ledger, 10, 3, 2, 0, 0);
	assert_int_equal(ledger_read(ledger)->next, 10);
	assert_int_equal(ledger_read(ledger)->extent[0], 1); /* 4: 1 below */
	assert_int_equal(ledger_read(ledger)->extent[1], 1); /* 3: 2 below */
	assert_int_equal(ledger_distinct(ledger_read(ledger)), 7);
	assert_int_equal(ledger_lost(ledger_read(ledger), 0), 3);
	assert_int_equal(ledger_lost(ledger_read(ledger), 20), 13);
	assert_int_equal(ledger_lost(ledger_read(ledger), 5), 0);
	ledger_add_end(ledger, 12);
	ledger_add_end(ledger, 12);
	assert_int_equal(ledger_read(ledger)->announced, 12);
	assert_int_equal(ledger_lost(ledger_read(ledger), 0), 5);
	ledger_add_corrupted(ledger);
	expect(ledger, 10, 3, 2, 0, 1);
	ledger_close(ledger);
	ledger_close(NULL);
}

/* A sink that comes late counts from where it came in, unless it knows better; what came later but lies lower moves that down. */
static void joined_late(void **state)
{
	struct ledger *ledger = ledger_open();
	struct ledger_counts sum = { 0 };

	(void)state;
	for (int trial = 0; trial < 2; trial++) { /* what one trial saw is nothing to the next */
		ADD(ledger, 1000, 1001, 1004);
		assert_int_equal(ledger_read(ledger)->lowest, 1000);
		assert_int_equal(ledger_lost_from(ledger_read(ledger), 1000, 0), 2);
		assert_int_equal(ledger_lost(ledger_read(ledger), 0), 1002);
		ADD(ledger, 998, 1000);
		assert_int_equal(ledger_read(ledger)->lowest, 998);
		assert_int_equal(ledger_lost_from(ledger_read(ledger), 998, 0), 3);
		ledger_add_end(ledger, 1010);
		assert_int_equal(ledger_lost_from(ledger_read(ledger), 998, 0), 8);
		assert_int_equal(ledger_lost_from(ledger_read(ledger), 998, 900), 0);
		ledger_merge(&sum, ledger_read(ledger));
		assert_int_equal(sum.lowest, 998);
		ledger_clear(ledger);
	}
	ADD(ledger, 5);
	ledger_merge(&sum, ledger_read(ledger));
	assert_int_equal(sum.lowest, 5);
	ledger_close(ledger);
}

/* Nothing is cleared between trials, and nothing of one trial is seen in the next. */
static void clearing(void **state)
{
	struct ledger *ledger = ledger_open();

	(void)state;
	for (int trial = 0; trial < 100; trial++) {
		for (uint32_t i = 0; i < 1000; i++)
			ledger_add(ledger, i);
		ledger_add_end(ledger, 1001);
		expect(ledger, 1000, 0, 0, 0, 0);
		assert_int_equal(ledger_read(ledger)->next, 1000);
		assert_int_equal(ledger_lost(ledger_read(ledger), 0), 1);
		ledger_clear(ledger);
		expect(ledger, 0, 0, 0, 0, 0);
		assert_int_equal(ledger_read(ledger)->next, 0);
		assert_int_equal(ledger_read(ledger)->announced, 0);
	}
	ledger_close(ledger);
}

/* Never late within the window less one word's bits, always beyond what has been replaced. */
static void window(void **state)
{
	struct ledger *ledger = ledger_open();
	const uint32_t top = 3 * LEDGER_WINDOW - 1;

	(void)state;
	for (uint32_t i = 0; i <= top; i++)
		ledger_add(ledger, i == top - 100 ? 0 : i); /* 0 again in place of one */
	expect(ledger, 3 * LEDGER_WINDOW, 0, 0, 1, 0);
	ledger_add(ledger, top - (LEDGER_WINDOW - 32));
	expect(ledger, 3 * LEDGER_WINDOW + 1, 1, 0, 1, 0);
	ledger_add(ledger, top - 100);
	expect(ledger, 3 * LEDGER_WINDOW + 2, 1, 1, 1, 0);
	ledger_add(ledger, top - LEDGER_WINDOW);
	expect(ledger, 3 * LEDGER_WINDOW + 3, 1, 1, 2, 0);
	assert_int_equal(ledger_read(ledger)->extent[6], 1);
	ledger_close(ledger);
}

/* Damage and interruption: what the next frame confirms was the path, what it does not was the frame. */
static void jumps(void **state)
{
	struct ledger *ledger = ledger_open();
	const uint32_t far = 50 * LEDGER_WINDOW;

	(void)state;
	ADD(ledger, 0, 1, 2, 3 + far, 3, 4); /* one damaged: the rest is as ever */
	expect(ledger, 5, 0, 0, 0, 1);
	assert_int_equal(ledger_read(ledger)->next, 5);
	ADD(ledger, far, far + 1, far + 2, far, 5); /* interrupted; the frame kept in mind counts once confirmed, and its copy is one */
	expect(ledger, 10, 1, 0, 1, 1);
	assert_int_equal(ledger_read(ledger)->next, far + 3);
	ADD(ledger, 3 * far, far + 3, 2 * far, far + 4, 3 * far + 2000); /* none confirms another */
	expect(ledger, 12, 1, 0, 1, 4);
	assert_int_equal(ledger_read(ledger)->next, far + 5);
	ledger_clear(ledger);
	ADD(ledger, 0xfffffff0, 0); /* damaged first frame */
	expect(ledger, 1, 0, 0, 0, 1);
	ADD(ledger, 0xffffffff); /* below the beginning */
	expect(ledger, 1, 0, 0, 0, 2);
	assert_int_equal(ledger_read(ledger)->next, 1);
	ledger_close(ledger);
}

/* A sink that comes late to a stream, which then passes 2^32 and announces its end there. */
static void joined_late_and_wrapped(void **state)
{
	struct ledger *ledger = ledger_open();

	(void)state;
	for (uint64_t i = (1ull << 32) - 1000; i < (1ull << 32) + 1000; i++)
		ledger_add(ledger, (uint32_t)i);
	expect(ledger, 2000, 0, 0, 0, 0);
	assert_int_equal(ledger_read(ledger)->next, (1ull << 32) + 1000);
	ADD(ledger, 0xffffffff, 0, 0xfffffc17);
	expect(ledger, 2003, 2, 1, 0, 0);
	ledger_add_end(ledger, 1010);
	assert_int_equal(ledger_read(ledger)->announced, (1ull << 32) + 1010);
	ledger_close(ledger);
}

static void as_in_the_model(uint64_t seed, uint64_t begin, uint64_t long_loss_in)
{
	struct bad_path path = { .random = seed, .cursor = begin, .long_loss_in = long_loss_in };
	struct ledger *ledger = ledger_open();
	struct ledger_model model;

	assert_true(model_open(&model));
	for (int i = 0; i < RANDOM_FRAMES; i++) {
		uint64_t place = i < 2 ? path.cursor++ : bad_path_next(&path);

		model_add(&model, place);
		ledger_add(ledger, (uint32_t)place);
	}
	expect_counts(&model.counts, ledger_read(ledger));
	assert_true(model.counts.duplicates && model.counts.reordered && model.counts.late);
	model_close(&model);
	ledger_close(ledger);
}

static void random_streams(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 8; seed++)
		as_in_the_model(seed, 0, seed % 2 ? 0 : 100000);
}

/* The same around every kind of wrap: of the sequence, of its sign, of both in one stream (it moves on by about 2^31). */
static void random_streams_across_wraps(void **state)
{
	static const uint64_t begins[] = { (1ull << 32) - 200000, (1ull << 31) - 200000, (1ull << 32) - 2,
					  (1ull << 32) - 60 * LEDGER_WINDOW };

	(void)state;
	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		as_in_the_model(100 + i, begins[i], i % 2 ? 0 : 300000);
}

#define WRITERS 4
#define SHARED_FRAMES 300000u

struct writer {
	pthread_t thread;
	struct ledger *ledger;
	struct ledger_track track;
	uint32_t first, step;
} __attribute__((aligned(64)));

static void *write_all(void *argument)
{
	struct writer *writer = argument;

	for (uint32_t i = writer->first; i < SHARED_FRAMES; i += writer->step)
		ledger_track_add(writer->ledger, &writer->track, i);
	return NULL;
}

static void run_writers(uint32_t step, struct ledger_counts *sum)
{
	static struct writer writers[WRITERS];
	struct ledger *ledger = ledger_open();

	memset(sum, 0, sizeof(*sum));
	memset(writers, 0, sizeof(writers));
	for (uint32_t i = 0; i < WRITERS; i++) {
		writers[i].ledger = ledger;
		writers[i].first = step == 1 ? 0 : i;
		writers[i].step = step;
		assert_int_equal(pthread_create(&writers[i].thread, NULL, write_all, &writers[i]), 0);
	}
	for (int i = 0; i < WRITERS; i++) {
		assert_int_equal(pthread_join(writers[i].thread, NULL), 0);
		ledger_counts_add(sum, &writers[i].track, NULL, ledger_base(ledger));
	}
	ledger_close(ledger);
}

/* Four threads, each a quarter of the stream, or each all of it: duplicates are found between them, order is each one's own. */
static void several_writers(void **state)
{
	struct ledger_counts sum;

	(void)state;
	for (int round = 0; round < 5; round++) {
		run_writers(WRITERS, &sum);
		assert_int_equal(sum.frames, SHARED_FRAMES);
		assert_int_equal(sum.duplicates + sum.reordered + sum.late + sum.corrupted, 0);
		assert_int_equal(sum.next, SHARED_FRAMES);
		run_writers(1, &sum);
		assert_int_equal(sum.frames, WRITERS * SHARED_FRAMES);
		assert_int_equal(sum.duplicates, (WRITERS - 1) * SHARED_FRAMES);
		assert_int_equal(sum.reordered + sum.late + sum.corrupted, 0);
	}
}

static void merging(void **state)
{
	struct ledger_counts sum = { .next = 5, .announced = 9, .frames = 1, .extent = { 1 } };
	const struct ledger_counts other = { .next = 3, .announced = 12, .frames = 2, .duplicates = 3, .reordered = 4, .late = 5,
					     .corrupted = 6, .extent = { 7, 8 } };

	(void)state;
	ledger_merge(&sum, &other);
	assert_int_equal(sum.frames, 3);
	assert_int_equal(sum.duplicates, 3);
	assert_int_equal(sum.reordered, 4);
	assert_int_equal(sum.late, 5);
	assert_int_equal(sum.corrupted, 6);
	assert_int_equal(sum.next, 5);
	assert_int_equal(sum.announced, 12);
	assert_int_equal(sum.extent[0], 8);
	assert_int_equal(sum.extent[1], 8);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_hand),
		cmocka_unit_test(joined_late),
		cmocka_unit_test(clearing),
		cmocka_unit_test(window),
		cmocka_unit_test(jumps),
		cmocka_unit_test(joined_late_and_wrapped),
		cmocka_unit_test(random_streams),
		cmocka_unit_test(random_streams_across_wraps),
		cmocka_unit_test(several_writers),
		cmocka_unit_test(merging),
	};

	return cmocka_run_group_tests_name("ledger", tests, NULL, NULL);
}
