// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Arithmetic over log-linear buckets. Layout, error bound and its proof: include/histogram_layout.h.
 *
 * A bucket b ≥ 64 of octave e holds the values [m << s, (m + 1) << s) with s = e - 5 = b / 32 - 1 and m = 32 + b % 32.
 */
#include "base/histogram.h"

static unsigned int bucket_shift(unsigned int bucket)
{
	return bucket < HOPCAP_HISTOGRAM_EXACT ? 0 : bucket / 32 - 1;
}

uint32_t histogram_bucket_low(unsigned int bucket)
{
	if (bucket < HOPCAP_HISTOGRAM_EXACT)
		return bucket;
	return (uint32_t)(32 + bucket % 32) << bucket_shift(bucket);
}

uint32_t histogram_bucket_high(unsigned int bucket)
{
	return histogram_bucket_low(bucket) + ((1u << bucket_shift(bucket)) - 1);
}

uint32_t histogram_bucket_middle(unsigned int bucket)
{
	return histogram_bucket_low(bucket) + (1u << bucket_shift(bucket)) / 2;
}

void histogram_record(struct histogram *histogram, uint32_t value)
{
	histogram->buckets[hopcap_histogram_bucket(value)]++;
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
	for (unsigned int i = 0; i < HOPCAP_HISTOGRAM_BUCKETS; i++)
		into->buckets[i] += from->buckets[i];
}

void histogram_subtract(struct histogram *later, const struct histogram *earlier)
{
	for (unsigned int i = 0; i < HOPCAP_HISTOGRAM_BUCKETS; i++) {
		uint64_t before = earlier->buckets[i];

		later->buckets[i] -= before < later->buckets[i] ? before : later->buckets[i];
	}
}

uint64_t histogram_count(const struct histogram *histogram)
{
	uint64_t count = 0;

	for (unsigned int i = 0; i < HOPCAP_HISTOGRAM_BUCKETS; i++)
		count += histogram->buckets[i];
	return count;
}

/* Rank of a quantile among `count` values, 1…count: ceil(fraction * count). A product that rounding alone has lifted over an
 * integer (0.07 * 100) must not take the next value. */
static uint64_t quantile_rank(uint64_t count, double fraction)
{
	double exact = fraction * (double)count, slack = exact * 1e-12;
	uint64_t rank;

	if (!(exact > 1)) /* NaN as well */
		return 1;
	if (exact >= (double)count)
		return count;
	rank = (uint64_t)exact;
	if (exact - (double)rank > slack)
		rank++;
	return rank ? rank : 1;
}

uint32_t histogram_quantile(const struct histogram *histogram, double fraction)
{
	uint64_t count = histogram_count(histogram), rank = quantile_rank(count, fraction), seen = 0;

	if (!count)
		return 0;
	for (unsigned int i = 0; i < HOPCAP_HISTOGRAM_BUCKETS; i++) {
		seen += histogram->buckets[i];
		if (seen >= rank)
			return histogram_bucket_middle(i);
	}
	return histogram_max(histogram);
}

uint32_t histogram_min(const struct histogram *histogram)
{
	for (unsigned int i = 0; i < HOPCAP_HISTOGRAM_BUCKETS; i++)
		if (histogram->buckets[i])
			return histogram_bucket_middle(i);
	return 0;
}

uint32_t histogram_max(const struct histogram *histogram)
{
	for (unsigned int i = HOPCAP_HISTOGRAM_BUCKETS; i-- > 0;)
		if (histogram->buckets[i])
			return histogram_bucket_middle(i);
	return 0;
}

double histogram_mean(const struct histogram *histogram)
{
	uint64_t count = 0;
	double sum = 0;

	for (unsigned int i = 0; i < HOPCAP_HISTOGRAM_BUCKETS; i++) {
		count += histogram->buckets[i];
		sum += (double)histogram->buckets[i] * histogram_bucket_middle(i);
	}
	return count ? sum / (double)count : 0;
}
