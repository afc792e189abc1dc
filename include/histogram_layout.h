/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Log-linear histogram: where a value of 32 bits is counted.
 *
 * Owns: the bucket layout, so that a BPF program and user space agree on it. Leaves to others: counting (bpf/), percentiles
 * and merging (user/base/histogram.c).
 *
 * Theory. Values below 64 have a bucket each. Above, every octave [2^e, 2^(e+1)), e = 6…31, is cut in 32 equal buckets of
 * width 2^(e-5). Reporting the middle of a bucket is then wrong by at most half a width: 2^(e-6) of a value ≥ 2^e,
 * a relative error ≤ 1/64 = 1.5625 %. 64 + 26 * 32 = 896 buckets cover all of u32.
 */
#ifndef HOPCAP_HISTOGRAM_LAYOUT_H
#define HOPCAP_HISTOGRAM_LAYOUT_H

#define HOPCAP_HISTOGRAM_EXACT 64u
#define HOPCAP_HISTOGRAM_BUCKETS 896u

/* Position of the highest set bit, value > 0. Branches instead of a loop: BPF has no count-leading-zeros before v4. */
static inline __attribute__((always_inline)) unsigned int hopcap_log2_u32(unsigned int value)
{
	unsigned int position = 0;

	if (value >> 16) { value >>= 16; position += 16; }
	if (value >> 8) { value >>= 8; position += 8; }
	if (value >> 4) { value >>= 4; position += 4; }
	if (value >> 2) { value >>= 2; position += 2; }
	if (value >> 1) position += 1;
	return position;
}

/* Bucket of a value; always below HOPCAP_HISTOGRAM_BUCKETS. */
static inline __attribute__((always_inline)) unsigned int hopcap_histogram_bucket(unsigned int value)
{
	unsigned int octave;

	if (value < HOPCAP_HISTOGRAM_EXACT)
		return value;
	octave = hopcap_log2_u32(value);
	return (octave - 5) * 32 + (value >> (octave - 5));
}

#endif
