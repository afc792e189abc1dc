/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a path is expected to be, written as "a0 >wire> b0@ns:b": points and kinds of hops, in order. Failures end the test. */
#ifndef TESTS_PATH_EXPECT_H
#define TESTS_PATH_EXPECT_H

#include "model/facts.h"
#include "model/facts_path.h"

extern struct facts_path path; /* that was found last */

/* Sorts the facts first. */
void expect(struct facts *facts, const char *source, const char *sink, const char *wanted);
void expect_complete(struct facts *facts, const char *source, const char *sink, const char *wanted);
/* why: a part of why_incomplete. */
void expect_incomplete(struct facts *facts, const char *source, const char *sink, const char *wanted, const char *why);
/* A hop's note holds a text; hops are counted from 1. */
void expect_note(int hop, const char *text);

#endif
