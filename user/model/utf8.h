/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Well-formed UTF-8, one character at a time. Names of interfaces, namespaces and threads are bytes to the kernel; JSON
 * and terminals want text.
 */
#ifndef MODEL_UTF8_H
#define MODEL_UTF8_H

#include <stdint.h>

/* Bytes (1…4) of the character at `text`, and the character; 0 at the end of the text or when it is not well-formed
 * there (overlong forms and surrogates are not). */
int utf8_decode(const char *text, uint32_t *character);
/* Replaces each byte that is no part of a well-formed character by '?'. Returns text. */
char *utf8_make_valid(char *text);

#endif
