// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One option's argument, in QEMU's own syntax and in JSON. Pure. Called by qemu_command.c.
 *
 * QEMU's syntax: words between commas; a doubled comma is a comma within a word; the first word may stand without a name; a word without '='
 * switches on what it names ("novhost", of old, switches off). JSON: what libvirt writes since 2021; values may be nested.
 */
#include "model/qemu_command_parts.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SETTINGS 256 /* of one part; QEMU's largest devices have below 100 */
#define MAX_DEPTH 6
#define MAX_NAME_BYTES 128

int qemu_set_text(char **text, const char *value)
{
	char *copy = strdup(value ? value : "");

	if (!copy)
		return -ENOMEM;
	free(*text);
	*text = copy;
	return 0;
}

void qemu_free_part(struct qemu_part *part)
{
	for (int i = 0; i < part->setting_count; i++) {
		free(part->settings[i].name);
		free(part->settings[i].value);
	}
	free(part->settings);
	free(part->token);
	free(part->type);
	free(part->id);
	memset(part, 0, sizeof(*part));
}

struct qemu_part *qemu_add_part(struct qemu_command *command, enum qemu_part_kind kind, const char *option,
				const char *argument)
{
	struct qemu_part *parts, *part;

	parts = realloc(command->parts, ((size_t)command->part_count + 1) * sizeof(*parts));
	if (!parts)
		return NULL;
	command->parts = parts;
	part = &parts[command->part_count];
	memset(part, 0, sizeof(*part));
	part->kind = kind;
	part->hub = -1;
	if (asprintf(&part->token, "%s%s%s", option, *argument ? " " : "", argument) < 0)
		part->token = NULL;
	part->type = strdup("");
	part->id = strdup("");
	if (!part->token || !part->type || !part->id) {
		qemu_free_part(part);
		return NULL;
	}
	command->part_count++;
	return part;
}

int qemu_add_setting(struct qemu_part *part, const char *name, const char *value)
{
	struct qemu_setting *settings, *setting;

	if (part->setting_count >= MAX_SETTINGS)
		return -EINVAL;
	settings = realloc(part->settings, ((size_t)part->setting_count + 1) * sizeof(*settings));
	if (!settings)
		return -ENOMEM;
	part->settings = settings;
	setting = &settings[part->setting_count];
	setting->name = strdup(name);
	setting->value = strdup(value ? value : "");
	if (!setting->name || !setting->value) {
		free(setting->name);
		free(setting->value);
		return -ENOMEM;
	}
	part->setting_count++;
	return 0;
}

const char *qemu_own_value(const struct qemu_part *part, const char *name)
{
	for (int i = part->setting_count; i-- > 0;)
		if (!strcmp(part->settings[i].name, name))
			return part->settings[i].value;
	return NULL;
}

/* --- QEMU's own syntax -------------------------------------------------------------------------------------------- */

/* Copies the word at *at to `word`, doubled commas once, and moves *at behind it. 1 when there is another word. */
static int take_word(const char **at, char *word)
{
	const char *from = *at;
	int is_more = 0;

	for (; *from; from++) {
		if (*from == ',' && from[1] == ',') {
			from++;
		} else if (*from == ',') {
			is_more = 1;
			from++;
			break;
		}
		*word++ = *from;
	}
	*word = 0;
	*at = from;
	return is_more;
}

static int take_setting(struct qemu_part *part, char *word, const char *implied, int is_first)
{
	char *equals = strchr(word, '=');

	if (!*word)
		return 0;
	if (equals) {
		*equals = 0;
		return qemu_add_setting(part, word, equals + 1);
	}
	if (is_first && implied)
		return qemu_add_setting(part, implied, word);
	if (!strncmp(word, "no", 2) && word[2])
		return qemu_add_setting(part, word + 2, "off");
	return qemu_add_setting(part, word, "on");
}

static int split_words(struct qemu_part *part, const char *argument, const char *implied)
{
	char *word = malloc(strlen(argument) + 1);
	int result = 0, is_more = 1;

	if (!word)
		return -ENOMEM;
	for (int i = 0; is_more && !result; i++) {
		is_more = take_word(&argument, word);
		result = take_setting(part, word, implied, i == 0);
	}
	free(word);
	return result;
}

/* --- JSON --------------------------------------------------------------------------------------------------------- */

static int add_json(struct qemu_part *part, const char *name, json_t *value, int depth)
{
	char text[MAX_NAME_BYTES];
	const char *key;
	json_t *member;
	size_t index;
	int result = 0;

	if (depth > MAX_DEPTH)
		return -EINVAL;
	if (json_is_string(value))
		return qemu_add_setting(part, name, json_string_value(value));
	if (json_is_boolean(value))
		return qemu_add_setting(part, name, json_is_true(value) ? "on" : "off");
	if (json_is_number(value)) {
		if (json_is_integer(value))
			snprintf(text, sizeof(text), "%lld", (long long)json_integer_value(value));
		else
			snprintf(text, sizeof(text), "%g", json_real_value(value));
		return qemu_add_setting(part, name, text);
	}
	json_object_foreach(value, key, member)
	{
		snprintf(text, sizeof(text), "%s%s%s", name, *name ? "." : "", key);
		result = result ? result : add_json(part, text, member, depth + 1);
	}
	json_array_foreach(value, index, member)
	{
		snprintf(text, sizeof(text), "%s.%zu", name, index);
		result = result ? result : add_json(part, text, member, depth + 1);
	}
	return result;
}

static int split_json(struct qemu_part *part, const char *argument)
{
	json_t *json = json_loads(argument, 0, NULL);
	int result = json_is_object(json) ? add_json(part, "", json, 0) : -EINVAL;

	part->is_json = 1;
	json_decref(json);
	return result;
}

int qemu_split(struct qemu_part *part, const char *argument, const char *implied)
{
	int result = *argument == '{' ? split_json(part, argument) : split_words(part, argument, implied);

	if (!result && implied)
		result = qemu_set_text(&part->type, qemu_own_value(part, implied));
	if (!result)
		result = qemu_set_text(&part->id, qemu_own_value(part, "id"));
	return result;
}
