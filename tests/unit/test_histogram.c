// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Properties of the histogram against plain arithmetic and sorted arrays, with seeded random values.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/histogram.h"

#define VALUES 4000

static uint64_t random_state;

/* xorshift64*: the same values on every machine. */
static uint64_t next_random(void)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return random_state * 0x2545f4914f6cdd1dull;
}

/* Every octave equally often. */
static uint32_t random_value(void)
{
	return (uint32_t)(next_random() >> 32) >> (next_random() % 32);
}

static int set_up(void **state)
{
	(void)state;
	random_state = 20240917;
	return 0;
}

static void assert_near(uint32_t reported, uint32_t value)
{
	double error = fabs((double)reported - value);

	if (value < 64)
		assert_int_equal(reported, value);
	else if (error * 64 > value)
		fail_msg("%u is reported as %u", value, reported);
}

static void check_value(uint32_t value)
{
	unsigned int bucket = hopcap_histogram_bucket(value);

	assert_in_range(bucket, 0, HOPCAP_HISTOGRAM_BUCKETS - 1);
	assert_in_range(value, histogram_bucket_low(bucket), histogram_bucket_high(bucket));
	assert_near(histogram_bucket_middle(bucket), value);
}

static void test_error_bound(void **state)
{
	static const uint32_t edges[] = { 0,   1,   31,	 32,	     63,	 64,	     65,
					  127, 128, 129, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff };

	(void)state;
	for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++)
		check_value(edges[i]);
	for (uint32_t value = 0; value < 200000; value++)
		check_value(value);
	for (int i = 0; i < 200000; i++)
		check_value(random_value());
}

/* Buckets follow each other without gap or overlap from 0 to 2^32 - 1. */
static void test_buckets_cover_all_values(void **state)
{
	uint64_t next = 0;

	(void)state;
	for (unsigned int bucket = 0; bucket < HOPCAP_HISTOGRAM_BUCKETS; bucket++) {
		uint32_t low = histogram_bucket_low(bucket), high = histogram_bucket_high(bucket);

		assert_int_equal(low, next);
		assert_true(high >= low);
		assert_in_range(histogram_bucket_middle(bucket), low, high);
		assert_int_equal(hopcap_histogram_bucket(low), bucket);
		assert_int_equal(hopcap_histogram_bucket(high), bucket);
		next = (uint64_t)high + 1;
	}
	assert_int_equal(next, 1ull << 32);
}

static int ascending(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	return left < right ? -1 : left > right;
}

static void test_quantiles_against_a_sorted_array(void **state)
{
	static const double fractions[] = { 0, 0.001, 0.07, 0.25, 0.5, 0.9, 0.99, 0.999, 1 };
	static uint32_t values[VALUES];

	(void)state;
	for (int round = 0; round < 40; round++) {
		int count = 1 + (int)(next_random() % VALUES);
		struct histogram histogram = { 0 };
		double sum = 0;

		for (int i = 0; i < count; i++) {
			values[i] = round % 2 ? random_value() : 1000 + (uint32_t)(next_random() % 500);
			histogram_record(&histogram, values[i]);
			sum += values[i];
		}
		qsort(values, (size_t)count, sizeof(values[0]), ascending);
		for (size_t i = 0; i < sizeof(fractions) / sizeof(fractions[0]); i++) {
			int rank = (int)ceil(fractions[i] * count - 1e-9);

			assert_near(histogram_quantile(&histogram, fractions[i]), values[rank > 0 ? rank - 1 : 0]);
		}
		assert_near(histogram_min(&histogram), values[0]);
		assert_near(histogram_max(&histogram), values[count - 1]);
		assert_int_equal(histogram_count(&histogram), count);
		assert_true(fabs(histogram_mean(&histogram) * count - sum) <= sum / 64);
	}
}

/* 0.07 * 100 is a little above 7 in floating point, and must still be the seventh value. */
static void test_quantile_ranks_are_exact(void **state)
{
	struct histogram histogram = { 0 };

	(void)state;
	for (uint32_t value = 1; value <= 50; value++) {
		histogram_record(&histogram, value);
		histogram_record(&histogram, value);
	}
	for (int percent = 1; percent <= 100; percent++)
		assert_int_equal(histogram_quantile(&histogram, percent / 100.0), (percent + 1) / 2);
	assert_int_equal(histogram_quantile(&histogram, -1), 1);
	assert_int_equal(histogram_quantile(&histogram, 2), 50);
	assert_int_equal(histogram_quantile(&histogram, NAN), 1);
}

static void test_quantiles_never_decrease(void **state)
{
	struct histogram histogram = { 0 };
	uint32_t last = 0;

	(void)state;
	for (int i = 0; i < VALUES; i++)
		histogram_record(&histogram, random_value());
	for (int i = 0; i <= 1000; i++) {
		uint32_t value = histogram_quantile(&histogram, i / 1000.0);

		assert_true(value >= last);
		last = value;
	}
	assert_int_equal(histogram_quantile(&histogram, 0), histogram_min(&histogram));
	assert_int_equal(last, histogram_max(&histogram));
}

static void test_merge_is_recording_both(void **state)
{
	struct histogram a = { 0 }, b = { 0 }, both = { 0 };

	(void)state;
	for (int i = 0; i < VALUES; i++) {
		uint32_t value = random_value();

		histogram_record(next_random() % 2 ? &a : &b, value);
		histogram_record(&both, value);
	}
	histogram_merge(&a, &b);
	assert_memory_equal(&a, &both, sizeof(a));
}

static void test_subtract_takes_a_merge_back(void **state)
{
	struct histogram earlier = { 0 }, later, since = { 0 };

	(void)state;
	for (int i = 0; i < VALUES; i++)
		histogram_record(&earlier, random_value());
	later = earlier;
	for (int i = 0; i < VALUES; i++) {
		uint32_t value = random_value();

		histogram_record(&later, value);
		histogram_record(&since, value);
	}
	histogram_subtract(&later, &earlier);
	assert_memory_equal(&later, &since, sizeof(since));
	/* Snapshots in the wrong order give nothing, not a huge number. */
	histogram_merge(&earlier, &later);
	histogram_subtract(&later, &earlier);
	assert_int_equal(histogram_count(&later), 0);
}

static void test_empty(void **state)
{
	struct histogram histogram = { 0 };

	(void)state;
	assert_int_equal(histogram_count(&histogram), 0);
	assert_int_equal(histogram_quantile(&histogram, 0.5), 0);
	assert_int_equal(histogram_min(&histogram), 0);
	assert_int_equal(histogram_max(&histogram), 0);
	assert_true(histogram_mean(&histogram) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_error_bound, set_up),
		cmocka_unit_test_setup(test_buckets_cover_all_values, set_up),
		cmocka_unit_test_setup(test_quantiles_against_a_sorted_array, set_up),
		cmocka_unit_test_setup(test_quantile_ranks_are_exact, set_up),
		cmocka_unit_test_setup(test_quantiles_never_decrease, set_up),
		cmocka_unit_test_setup(test_merge_is_recording_both, set_up),
		cmocka_unit_test_setup(test_subtract_takes_a_merge_back, set_up),
		cmocka_unit_test_setup(test_empty, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
