// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * JSON documents as text: their looks, and parsing what may come from anybody.
 *
 * Whatever fits stands on one line, so that a file has a line for each point, cut or counter, and diffs well.
 */
#include "model/json_document.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define LINE_COLUMNS 300

/* The shortest decimal form that reads back as the same double: 17 digits always do. */
static char *print_real(const json_t *value)
{
	double number = json_real_value(value);
	size_t digits = 15;
	char text[40];

	for (; digits < 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", (int)digits, number);
		if (strtod(text, NULL) == number)
			break;
	}
	return json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(digits));
}

static int print_scalar(FILE *stream, const json_t *value)
{
	char *text = json_is_real(value) ? print_real(value) : json_dumps(value, JSON_ENCODE_ANY);

	if (!text)
		return -ENOMEM;
	fputs(text, stream);
	free(text);
	return 0;
}

static int print_value(FILE *stream, json_t *value, int indent);

/* Elements of an array or members of an object; indent < 0: all on one line. */
static int print_container(FILE *stream, json_t *value, int indent)
{
	void *member = json_object_iter(value);
	size_t size = json_is_array(value) ? json_array_size(value) : json_object_size(value);
	int result = 0;

	fputc(json_is_array(value) ? '[' : '{', stream);
	for (size_t i = 0; i < size && result == 0; i++) {
		if (indent >= 0)
			fprintf(stream, "%s\n%*s", i ? "," : "", indent + 1, "");
		else if (i)
			fputs(", ", stream);
		if (json_is_array(value)) {
			result = print_value(stream, json_array_get(value, i), indent < 0 ? -1 : indent + 1);
			continue;
		}
		fprintf(stream, "\"%s\": ", json_object_iter_key(member));
		result = print_value(stream, json_object_iter_value(member), indent < 0 ? -1 : indent + 1);
		member = json_object_iter_next(value, member);
	}
	if (indent >= 0)
		fprintf(stream, "\n%*s", indent, "");
	fputc(json_is_array(value) ? ']' : '}', stream);
	return result;
}

/* The container on one line; *text is NULL when it is too long for one. */
static int print_one_line(json_t *value, int indent, char **text)
{
	size_t length;
	FILE *line = open_memstream(text, &length);
	int result;

	if (!line)
		return -ENOMEM;
	result = print_container(line, value, -1);
	if (fclose(line) != 0)
		result = -ENOMEM;
	if (result == 0 && length + (size_t)indent <= LINE_COLUMNS)
		return 0;
	free(*text);
	*text = NULL;
	return result;
}

static int print_value(FILE *stream, json_t *value, int indent)
{
	char *line;
	int result;

	if (!json_is_array(value) && !json_is_object(value))
		return print_scalar(stream, value);
	if (indent < 0)
		return print_container(stream, value, -1);
	result = print_one_line(value, indent, &line);
	if (result < 0)
		return result;
	if (!line)
		return print_container(stream, value, indent);
	fputs(line, stream);
	free(line);
	return 0;
}

int json_document_print(struct json_t *document, FILE *stream)
{
	int result = print_container(stream, document, 0);

	fputc('\n', stream);
	return result;
}

/* The parser's message on one line: it may quote what it read. */
static int refuse_syntax(const char *name, const json_error_t *error)
{
	char text[JSON_ERROR_TEXT_LENGTH];

	snprintf(text, sizeof(text), "%s", error->text);
	for (char *at = text; *at; at++) {
		if ((unsigned char)*at < ' ' || (unsigned char)*at >= 0x7f)
			*at = '?';
	}
	return error_set(EINVAL, "%s is not JSON: line %d, column %d: %s", name, error->line, error->column, text);
}

/* The parser needs some hundred bytes for the smallest value, so that 64 MiB of "[],[]," would need gigabytes. */
static int check_value_count(const char *text, size_t length, const char *name, size_t max_values)
{
	size_t values = 0;

	for (size_t i = 0; i < length; i++)
		values += text[i] == ',' || text[i] == '[' || text[i] == '{';
	if (values <= max_values)
		return 0;
	return error_set(EINVAL, "%s holds %zu values, %zu at most are allowed", name, values, max_values);
}

int json_document_parse(const char *text, size_t length, const char *name, size_t max_values, struct json_t **document)
{
	int result = check_value_count(text, length, name, max_values);
	json_error_t error;

	*document = NULL;
	if (result < 0)
		return result;
	*document = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
	return *document ? 0 : refuse_syntax(name, &error);
}
