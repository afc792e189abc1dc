/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Log-linear histogram of 32-bit values (nanoseconds, as a rule): record, merge, percentiles.
 *
 * Owns: arithmetic over the buckets that include/histogram_layout.h defines. A reported value is wrong by at most
 * 1/64 = 1.5625 % (middle of its bucket); min and max are those of the buckets, too.
 */
#ifndef BASE_HISTOGRAM_H
#define BASE_HISTOGRAM_H

#include <stdint.h>

#include "histogram_layout.h"

struct histogram {
	uint64_t buckets[HOPCAP_HISTOGRAM_BUCKETS];
};

void histogram_record(struct histogram *histogram, uint32_t value);
void histogram_merge(struct histogram *into, const struct histogram *from);
/* later - earlier, bucket by bucket: what came in between two snapshots. */
void histogram_subtract(struct histogram *later, const struct histogram *earlier);
uint64_t histogram_count(const struct histogram *histogram);
/* Smallest reported value v such that at least fraction (0…1) of the values are ≤ v's bucket; 0 when empty. */
uint32_t histogram_quantile(const struct histogram *histogram, double fraction);
uint32_t histogram_min(const struct histogram *histogram);
uint32_t histogram_max(const struct histogram *histogram);
double histogram_mean(const struct histogram *histogram);
/* Middle, lowest and highest value of a bucket. */
uint32_t histogram_bucket_middle(unsigned int bucket);
uint32_t histogram_bucket_low(unsigned int bucket);
uint32_t histogram_bucket_high(unsigned int bucket);

#endif
