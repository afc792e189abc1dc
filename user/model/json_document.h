/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON documents as text and as files, whatever they hold. Used by run.json (model_json*.c) and facts (facts_json*.c).
 */
#ifndef MODEL_JSON_DOCUMENT_H
#define MODEL_JSON_DOCUMENT_H

#include <stddef.h>
#include <stdio.h>

struct json_t;

/* An array or object as text, ends with a newline. 0 or -ENOMEM; failures of the stream stay with the stream. */
int json_document_print(struct json_t *document, FILE *stream);

/* 0 or -EINVAL with error text: no JSON, names twice, or more than max_values values. `name` stands in messages. */
int json_document_parse(const char *text, size_t length, const char *name, size_t max_values, struct json_t **document);

/* Writes durably: to PATH.tmp, synced, renamed. "-" is the standard output; devices and pipes are written to directly. 0 or -errno
 * with error text; then no new file is left and an older one stays as it was. */
int json_document_save(const char *path, const char *text);

/* Reads a whole file, "-" the standard input. *text is malloc'ed (NULL after a failure), *name what messages call it. 0 or -errno with
 * error text; EINVAL: larger than limit bytes. */
int json_document_load(const char *path, size_t limit, const char **name, char **text, size_t *length);

#endif
