/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz targets: each takes any bytes, hands them to one parser, and aborts when what came out breaks a promise of its header. Crashes
 * and leaks are the sanitizers' part.
 *
 * One file fuzz_NAME.c a target. `make fuzz` makes build/fuzz/NAME of each with libFuzzer (driver.c); tests/unit/test_fuzz.c runs all of
 * them for some thousand rounds without it.
 */
#ifndef TESTS_FUZZ_TARGETS_H
#define TESTS_FUZZ_TARGETS_H

#include <stddef.h>
#include <stdint.h>

int fuzz_evidence(const uint8_t *data, size_t size); /* pasted text, then the doctor about its claims */
int fuzz_qemu(const uint8_t *data, size_t size); /* arguments, each ended by 0; then the doctor about that process */
int fuzz_facts_json(const uint8_t *data, size_t size); /* saved facts, there and back, then the doctor */
int fuzz_point(const uint8_t *data, size_t size);      /* a point as users write it */
int fuzz_message(const uint8_t *data, size_t size);    /* a line between host and agent, either way */
int fuzz_path(const uint8_t *data, size_t size); /* bytes as facts (made_facts.h), then paths, loops and the tree */

/* Aborts with a line that says which promise was broken. */
#define FUZZ_PROMISE(condition)                                      \
	do {                                                         \
		if (!(condition))                                    \
			fuzz_broken(__FILE__, __LINE__, #condition); \
	} while (0)
void fuzz_broken(const char *file, int line, const char *condition) __attribute__((noreturn));

/* Text is well-formed UTF-8 without control characters. */
int fuzz_is_text(const char *text);

/* The doctor judges facts; every finding must be complete. */
struct facts;
void fuzz_examine(const struct facts *facts);

#endif
