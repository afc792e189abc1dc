/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bytes that are nearly right, the same ones for the same seed: for running fuzz targets without libFuzzer.
 */
#ifndef TESTS_FUZZ_MUTATE_H
#define TESTS_FUZZ_MUTATE_H

#include <stddef.h>
#include <stdint.h>

struct mutate_sample {
	const uint8_t *data;
	size_t size;
};

/* Writes at most `room` bytes: a sample, or two spliced, with some bytes flipped, replaced, repeated, removed or by words of the
 * samples; rarely noise alone. *random is the generator's state, not 0. Returns their number. */
size_t mutate(const struct mutate_sample *samples, int count, uint64_t *random, uint8_t *out, size_t room);

#endif
