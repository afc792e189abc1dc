/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A short view of facts: the machine, its links by namespace, who holds taps, what could not be read.
 */
#ifndef REPORT_FACTS_TEXT_H
#define REPORT_FACTS_TEXT_H

#include <stdio.h>

#include "model/facts.h"

/* The same facts give the same bytes. Control characters of names and of pasted text are shown as '?'. 0, or -errno with error text when
 * the stream cannot be written to. */
int facts_text(const struct facts *facts, FILE *stream);

#endif
