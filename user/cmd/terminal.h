/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the stream is that a command prints on.
 */
#ifndef CMD_TERMINAL_H
#define CMD_TERMINAL_H

#include <stdio.h>

#include "report/report.h"

/* On a terminal: its width, and colour unless NO_COLOR is set or TERM is dumb. Elsewhere no colour, and the default
 * width, so that the text is the same everywhere. */
struct report_style terminal_style(FILE *stream);

/* 1 when the stream is a pipe whose reader has gone (`… | head -1`): nobody will see any more of it. */
int terminal_reader_gone(FILE *stream);

#endif
