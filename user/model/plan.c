// SPDX-License-Identifier: GPL-2.0-or-later
/* Plans; see plan.h. */
#include "model/plan.h"

#include <errno.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/utf8.h"

int plan_add_line(struct plan_lines *lines, const char *format, ...)
{
	char **grown = realloc(lines->lines, ((size_t)lines->count + 1) * sizeof(*grown));
	va_list arguments;
	int length;

	if (!grown)
		return -ENOMEM;
	lines->lines = grown;
	va_start(arguments, format);
	length = vasprintf(&grown[lines->count], format, arguments);
	va_end(arguments);
	if (length < 0)
		return -ENOMEM;
	lines->count++;
	return 0;
}

struct plan_alternative *plan_add(struct plan *plan)
{
	struct plan_alternative *grown = realloc(plan->alternatives, ((size_t)plan->count + 1) * sizeof(*grown));

	if (!grown)
		return NULL;
	plan->alternatives = grown;
	grown[plan->count] = (struct plan_alternative){ 0 };
	return &grown[plan->count++];
}

static void free_lines(struct plan_lines *lines)
{
	for (int i = 0; i < lines->count; i++)
		free(lines->lines[i]);
	free(lines->lines);
}

void plan_free(struct plan *plan)
{
	for (int i = 0; i < plan->count; i++) {
		free_lines(&plan->alternatives[i].commands);
		free_lines(&plan->alternatives[i].missing);
	}
	free(plan->alternatives);
	*plan = (struct plan){ 0 };
}

static json_t *lines_to_json(const struct plan_lines *lines)
{
	json_t *array = json_array();

	for (int i = 0; array && i < lines->count; i++) {
		char *line = strdup(lines->lines[i]);
		json_t *string = line ? json_string(utf8_make_valid(line)) : NULL;

		free(line);
		if (!string || json_array_append_new(array, string) < 0) {
			json_decref(array);
			array = NULL;
		}
	}
	return array;
}

json_t *plan_to_json(const struct plan *plan)
{
	json_t *array = json_array();

	for (int i = 0; array && i < plan->count; i++) {
		const struct plan_alternative *one = &plan->alternatives[i];
		json_t *object = json_pack("{s:s, s:s, s:s, s:o, s:o}", "id", one->id, "title", one->title, "effect",
					   one->effect, "commands", lines_to_json(&one->commands), "missing",
					   lines_to_json(&one->missing));

		if (!object || json_array_append_new(array, object) < 0) {
			json_decref(array);
			array = NULL;
		}
	}
	return array ? json_pack("{s:s, s:o}", "schema", "hopcap.plan/1", "alternatives", array) : NULL;
}
