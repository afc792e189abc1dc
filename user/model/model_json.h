/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A run as JSON and back. Contract: "run.json: names that stay" in ARCHITECTURE.md; the rows are in
 * model_json_fields.c.
 *
 * Numbers survive the way through a file bit for bit; a double that is not finite is null in the file and RUN_UNKNOWN
 * when it is read back. Bytes of a text that are not UTF-8 become '?'.
 */
#ifndef MODEL_MODEL_JSON_H
#define MODEL_MODEL_JSON_H

#include <stddef.h>

#include "model/run.h"

#define RUN_JSON_MAX_BYTES (64u << 20)

/* Writes the whole run, durably: to FILE.tmp, synced, renamed. 0 or -errno with error text; when it cannot be written
 * no new file is left and an older FILE stays as it was. "-" is the standard output; a device or a pipe is written to
 * directly. */
int run_json_save(const struct run *run, const char *path);

/* Reads a run; strict: schema "hopcap.run/1", types, ranges and array sizes are checked, names it does not know are
 * passed over. "-" is the standard input. NULL with error text, and errno set: EINVAL when the contents are wrong. */
struct run *run_json_load(const char *path);

/* The same without files. run_json_print: malloc'ed text, or NULL with error text. `name` is what messages call the
 * text. */
char *run_json_print(const struct run *run);
struct run *run_json_parse(const char *text, size_t length, const char *name);

#endif
