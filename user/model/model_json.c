// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * run.json as a file: written durably, read with a limit.
 *
 * Leaves to others: the text itself (model_json_write.c, model_json_read.c), what happens on disk (json_document_file.c). Called by:
 * cmd/.
 */
#include "model/model_json.h"

#include <errno.h>
#include <stdlib.h>

#include "model/json_document.h"

int run_json_save(const struct run *run, const char *path)
{
	char *text;
	int result;

	errno = 0;
	text = run_json_print(run);
	if (!text)
		return errno == ENOMEM ? -ENOMEM : -EFAULT;
	result = json_document_save(path, text);
	free(text);
	return result;
}

struct run *run_json_load(const char *path)
{
	struct run *run = NULL;
	const char *name;
	char *text;
	size_t length;
	int result = json_document_load(path, RUN_JSON_MAX_BYTES, &name, &text, &length);

	if (result == 0)
		run = run_json_parse(text, length, name);
	free(text);
	if (result < 0)
		errno = -result;
	return run;
}
