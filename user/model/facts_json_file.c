// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Facts as text and as files. Leaves to others: the document (facts_json_write.c, facts_json_read.c), the disk (json_document_file.c).
 */
#include "model/facts_json.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/json_document.h"

#define MAX_BYTES ((size_t)256 << 20)
/* 4096 links with all their counters and features stay below. */
#define MAX_VALUES ((size_t)8 << 20)

int facts_json_parse(const char *text, size_t length, const char *name, struct facts **facts)
{
	json_t *document;
	char why[512];
	int result = json_document_parse(text, length, name, MAX_VALUES, &document);

	*facts = NULL;
	if (result < 0)
		return result;
	result = facts_from_json(document, facts);
	json_decref(document);
	if (result == 0)
		return 0;
	snprintf(why, sizeof(why), "%s", error_text());
	return error_set(-result, "%s: %s", name, why);
}

int facts_json_load(const char *path, struct facts **facts)
{
	const char *name;
	char *text;
	size_t length;
	int result = json_document_load(path, MAX_BYTES, &name, &text, &length);

	*facts = NULL;
	if (result == 0)
		result = facts_json_parse(text, length, name, facts);
	free(text);
	return result;
}

static int print_text(const struct facts *facts, FILE *stream)
{
	json_t *document = facts_to_json(facts);
	int result = document ? json_document_print(document, stream) : -ENOMEM;

	json_decref(document);
	return result < 0 ? error_set(-result, "not enough memory to turn the facts into JSON") : 0;
}

int facts_json_save(const struct facts *facts, const char *path)
{
	char *text = NULL;
	size_t length;
	FILE *stream = open_memstream(&text, &length);
	int result;

	if (!stream)
		return error_set(ENOMEM, "not enough memory to turn the facts into JSON");
	result = print_text(facts, stream);
	if (fclose(stream) != 0 && result == 0)
		result = error_set(ENOMEM, "not enough memory to turn the facts into JSON");
	if (result == 0)
		result = json_document_save(path, text);
	free(text);
	return result;
}
