/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts as a file. (facts_to_json() and facts_from_json() are in model/facts.h.)
 */
#ifndef MODEL_FACTS_JSON_H
#define MODEL_FACTS_JSON_H

#include <stddef.h>

#include "model/facts.h"

/* The first name of the document that facts do not know, printed to `where` ("links[2].mtu"): 1, or 0 when there is none. For
 * fixtures, where such a name is a typing error; the reader passes over them. */
int facts_json_stray(struct json_t *json, char *where, size_t size);

/* Text in memory to sorted facts; `name` stands in messages. 0 or -errno with error text; EINVAL: it is no facts. */
int facts_json_parse(const char *text, size_t length, const char *name, struct facts **facts);
/* The same from a file, "-" the standard input; at most 256 MiB. */
int facts_json_load(const char *path, struct facts **facts);
/* Durably, "-" the standard output; a line for each record that fits on one. 0 or -errno with error text. */
int facts_json_save(const struct facts *facts, const char *path);

#endif
