/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Commands that people paste: names in them must not be commands themselves.
 *
 * An interface may be called "x;id;#" and a namespace may have any file name; a container chooses the former itself. Owns: quoting such
 * names where they stand in a finished command. Leaves to others: writing the command. Pure. Called by doctor/ (fixes, plans) and
 * discover/ (how a cut is mended).
 */
#ifndef MODEL_SHELL_QUOTE_H
#define MODEL_SHELL_QUOTE_H

#include "model/facts.h"

/* A copy of `text` in which each name of an interface or a namespace of these facts that a shell could read as more than a word stands
 * in single quotes; what is quoted already stays. The caller frees it. NULL: out of memory. */
char *shell_quote_names(const struct facts *facts, const char *text);

/* 1 when there is such a name among these facts: most have none. */
int shell_needs_quotes(const struct facts *facts);

/* 1 when a shell reads the name as one plain word. */
int shell_is_word(const char *name);

#endif
