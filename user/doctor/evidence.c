// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads pasted text and hands its lines to the format that recognises them; adds the claims. See evidence.h for what becomes what,
 * evidence_section.h for what a format is.
 *
 * Each line is first shown to every format: one that says "begins" opens a section. A command line at a prompt (evidence_command.c)
 * closes the open section and remembers which object the command names, since some outputs (`lsattr`, `ethtool -S`) do not say
 * themselves what they are about.
 */
#include "doctor/evidence.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "doctor/evidence_command.h"
#include "doctor/evidence_section.h"

#define LINE_BYTES 300 /* of a line that is kept with a claim */
#define VALUE_BYTES 1024

static const struct evidence_formats *const tables[] = { &evidence_vios, &evidence_esxi, &evidence_vsish,
							 &evidence_ethtool };

#define TABLE_COUNT ((int)(sizeof(tables) / sizeof(tables[0])))

/* --- claims ------------------------------------------------------------------------------------------------------ */

/* Appends lower-case words joined by '_'. */
static size_t append_key(char *key, size_t used, size_t size, const char *text, size_t length)
{
	for (size_t i = 0; i < length && text[i] && used + 1 < size; i++) {
		unsigned char byte = (unsigned char)text[i];

		if (byte < 0x80 && isalnum(byte))
			key[used++] = (char)tolower(byte);
		else if (used && key[used - 1] != '_')
			key[used++] = '_';
	}
	key[used] = 0;
	return used;
}

static char *copy_text(const char *text, size_t length, size_t limit)
{
	while (length && *text == ' ') {
		text++;
		length--;
	}
	while (length && text[length - 1] == ' ')
		length--;
	if (length > limit) {
		length = limit;
		while (length && ((unsigned char)text[length] & 0xc0) == 0x80) /* not within a character */
			length--;
	}
	return strndup(text, length);
}

/* The contract wants text that is never NULL; what is there is freed and replaced. */
static int replace_text(char **text, const char *value, size_t length, size_t limit)
{
	char *copy = copy_text(value, length, limit);

	if (!copy)
		return -ENOMEM;
	free(*text);
	*text = copy;
	return 0;
}

int evidence_add(struct evidence *evidence, const char *prefix, const char *name, int name_length, const char *value,
		 int value_length)
{
	char key[sizeof(evidence->facts->claims->key)];
	struct facts_claim *claim;
	size_t used, prefix_length = append_key(key, 0, sizeof(key), prefix, strlen(prefix));

	used = append_key(key, prefix_length, sizeof(key), name, name_length < 0 ? strlen(name) : (size_t)name_length);
	while (used && key[used - 1] == '_')
		key[--used] = 0;
	if (!used || used < prefix_length || (used == prefix_length && *name))
		return 0;
	if (evidence->facts->claim_count >= EVIDENCE_MAX_CLAIMS)
		return -E2BIG;
	claim = facts_add_claim(evidence->facts);
	if (!claim)
		return -ENOMEM;
	snprintf(claim->kind, sizeof(claim->kind), "%s", evidence->format->kind);
	snprintf(claim->source, sizeof(claim->source), "%s", evidence->source);
	snprintf(claim->object, sizeof(claim->object), "%s", evidence->object);
	snprintf(claim->key, sizeof(claim->key), "%s", key);
	claim->line_number = evidence->line.number;
	if (replace_text(&claim->value, value, value_length < 0 ? strlen(value) : (size_t)value_length, VALUE_BYTES) ||
	    replace_text(&claim->line, evidence->line.text, strlen(evidence->line.text), LINE_BYTES))
		return -ENOMEM;
	return 0;
}

/* End of a value that begins at text: where two blanks and another "name:" follow, else the end of the text. */
static const char *value_end(const char *text)
{
	for (const char *at = text; (at = strstr(at, "  ")); at = evidence_skip_blanks(at))
		if (strchr(at, ':'))
			return at;
	return text + strlen(text);
}

int evidence_add_pairs(struct evidence *evidence, const char *prefix)
{
	const char *at = evidence->line.text;
	int result = 0;

	while (*at && !result) {
		const char *colon = strchr(at, ':'), *value, *end;

		if (!colon)
			break;
		value = evidence_skip_blanks(colon + strspn(colon, ":"));
		end = value_end(value);
		result = evidence_add(evidence, prefix, at, (int)(colon - at), value, (int)(end - value));
		at = evidence_skip_blanks(end);
	}
	return result;
}

void evidence_name_object(struct evidence *evidence, const char *name, int length)
{
	evidence_copy_name(evidence->object, name, length);
	for (int i = evidence->first_claim; i < evidence->facts->claim_count; i++) {
		struct facts_claim *claim = &evidence->facts->claims[i];

		if (!claim->object[0])
			snprintf(claim->object, sizeof(claim->object), "%s", evidence->object);
	}
}

/* --- sections ---------------------------------------------------------------------------------------------------- */

static void open_section(struct evidence *evidence, const struct evidence_format *format)
{
	if (format != evidence->format)
		evidence->outer[0] = 0;
	evidence->format = format;
	evidence->object[0] = 0;
	evidence->prefix[0] = 0;
	evidence->column_count = 0;
	evidence->value_column = 0;
	evidence->two_sides = 0;
	evidence->first_claim = evidence->facts->claim_count;
	evidence->section_count++;
}

static const struct evidence_format *find_beginning(const struct evidence *evidence)
{
	for (int t = 0; t < TABLE_COUNT; t++)
		for (int i = 0; i < tables[t]->count; i++)
			if (tables[t]->formats[i].begins && tables[t]->formats[i].begins(evidence))
				return &tables[t]->formats[i];
	return NULL;
}

static const struct evidence_format *find_kind(const char *kind)
{
	for (int t = 0; t < TABLE_COUNT; t++)
		for (int i = 0; i < tables[t]->count; i++)
			if (!strcmp(tables[t]->formats[i].kind, kind))
				return &tables[t]->formats[i];
	return NULL;
}

/* A prompt with a command ends what was before it; some outputs begin right behind it. */
static void take_command(struct evidence *evidence, const struct evidence_command *command)
{
	evidence->format = NULL;
	evidence->outer[0] = 0;
	snprintf(evidence->hint, sizeof(evidence->hint), "%s", command->object);
	if (command->host[0])
		evidence_join_name(evidence->source, evidence->file, (int)strlen(evidence->file), ':', command->host,
				   (int)strlen(command->host));
	if (!command->opens)
		return;
	open_section(evidence, find_kind(command->opens));
	evidence_name_object(evidence, evidence->hint, -1);
}

/* Mail quotes with "> ". */
static void drop_quoting(struct evidence *evidence)
{
	while (evidence_starts(evidence->line.text, "> ")) {
		const char *inner = evidence_skip_blanks(evidence->line.text + 2);

		evidence->line.indent = (int)(inner - evidence->line.text) - 2;
		evidence->line.text = inner;
	}
}

static int take_lines(struct evidence *evidence)
{
	int result = 0;

	while (!result && evidence_next_line(evidence)) {
		struct evidence_command command;
		const struct evidence_format *format;

		drop_quoting(evidence);
		if (!*evidence->line.text)
			continue;
		if (evidence_command_parse(evidence->line.text, &command)) {
			take_command(evidence, &command);
			continue;
		}
		format = find_beginning(evidence);
		if (format) {
			open_section(evidence, format);
			evidence_name_object(evidence, evidence->hint, -1);
		}
		if (evidence->format)
			result = evidence->format->take(evidence);
	}
	return result;
}

/* --- whole texts ------------------------------------------------------------------------------------------------- */

static void forget_claims(struct facts *facts, int count)
{
	while (facts->claim_count > count) {
		struct facts_claim *claim = &facts->claims[--facts->claim_count];

		free(claim->value);
		free(claim->line);
	}
}

/* "VIOS `entstat`; …": what is recognised, into `text`. */
static const char *list_formats(char *text, size_t size)
{
	size_t used = 0;

	text[0] = 0;
	for (int t = 0; t < TABLE_COUNT; t++)
		for (int i = 0; i < tables[t]->count; i++)
			if (tables[t]->formats[i].shown && used < size)
				used += (size_t)snprintf(text + used, size - used, "%s%s", used ? "; " : "",
							 tables[t]->formats[i].shown);
	return text;
}

static int explain(const struct evidence *evidence, int result, int claims_before)
{
	char list[800];

	if (result == -ENOMEM)
		return error_set(ENOMEM, "evidence '%s': out of memory", evidence->file);
	if (result == -E2BIG)
		return error_set(
			EINVAL,
			"evidence '%s': more than %d statements at line %d; give the part that is about this path",
			evidence->file, EVIDENCE_MAX_CLAIMS, evidence->line.number);
	if (evidence->facts->claim_count > claims_before)
		return 0;
	if (evidence->section_count)
		return error_set(
			EINVAL,
			"evidence '%s': the beginning of a known output, but no statement behind it; is the text complete?",
			evidence->file);
	return error_set(EINVAL, "evidence '%s': nothing in it is recognised; known are the outputs of %s",
			 evidence->file, list_formats(list, sizeof(list)));
}

/* The last part of a path, of which any byte may be part, as text. */
static void name_file(struct evidence *evidence, const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t size;
	char *clean;

	path = slash && slash[1] ? slash + 1 : path;
	clean = evidence_clean(path, strlen(path), &size);
	evidence_copy_name(evidence->file, clean ? clean : "evidence", -1);
	free(clean);
	memcpy(evidence->source, evidence->file, sizeof(evidence->source));
}

int evidence_parse(const char *name, const char *text, size_t size, struct facts *facts)
{
	struct evidence evidence = { .facts = facts, .line = { .text = "" } };
	int result, claims_before = facts->claim_count;
	size_t clean_size;
	char *lines;

	name_file(&evidence, name);
	if (size > EVIDENCE_MAX_BYTES)
		return error_set(EINVAL, "evidence '%s': more than %d MB; give the part that is about this path",
				 evidence.file, EVIDENCE_MAX_BYTES >> 20);
	lines = evidence_clean(text, size, &clean_size);
	if (!lines)
		return explain(&evidence, -ENOMEM, claims_before);
	evidence.next = lines;
	evidence.end = lines + clean_size;
	result = explain(&evidence, take_lines(&evidence), claims_before);
	free(lines);
	if (result)
		forget_claims(facts, claims_before);
	return result;
}

/* Reads to the end or to one byte more than is allowed. */
static int read_all(int descriptor, char *text, size_t limit, size_t *size)
{
	*size = 0;
	while (*size < limit) {
		ssize_t count = read(descriptor, text + *size, limit - *size);

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return -errno;
		if (!count)
			break;
		*size += (size_t)count;
	}
	return 0;
}

int evidence_read(const char *path, struct facts *facts)
{
	int is_stdin = !strcmp(path, "-"), descriptor, result;
	size_t size, limit = EVIDENCE_MAX_BYTES + 1;
	char *text;

	descriptor = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (descriptor < 0)
		return error_set(errno, "evidence '%s': cannot be opened: %s", path, strerror(errno));
	text = malloc(limit); /* pages that are not read into cost nothing */
	result = text ? read_all(descriptor, text, limit, &size) : -ENOMEM;
	if (!is_stdin)
		close(descriptor);
	if (result)
		result = error_set(-result, "evidence '%s': cannot be read: %s", path, strerror(-result));
	else
		result = evidence_parse(is_stdin ? "stdin" : path, text, size, facts);
	free(text);
	return result;
}

/* --- look-ups ---------------------------------------------------------------------------------------------------- */

const struct facts_claim *evidence_find(const struct facts *facts, const char *kind, const char *source,
					const char *object, const char *key)
{
	for (int i = facts->claim_count; i-- > 0;) {
		const struct facts_claim *claim = &facts->claims[i];

		if (!strcmp(claim->kind, kind) && !strcmp(claim->key, key) &&
		    (!source || !strcmp(claim->source, source)) && (!object || !strcmp(claim->object, object)))
			return claim;
	}
	return NULL;
}

const struct facts_claim *evidence_next(const struct facts *facts, const struct facts_claim *claim, const char *kind,
					const char *key)
{
	int i = claim ? (int)(claim - facts->claims) + 1 : 0;

	for (; i < facts->claim_count; i++)
		if (!strcmp(facts->claims[i].kind, kind) && (!key || !strcmp(facts->claims[i].key, key)))
			return &facts->claims[i];
	return NULL;
}

int64_t evidence_number(const struct facts_claim *claim)
{
	const char *at = claim ? claim->value : "";
	int64_t number = 0;

	if (at[0] == '0' && (at[1] == 'x' || at[1] == 'X')) {
		char *end;
		unsigned long long hex = strtoull(at, &end, 16);

		return end > at + 2 && hex <= INT64_MAX ? (int64_t)hex : FACTS_UNKNOWN;
	}
	if (!isdigit((unsigned char)*at))
		return FACTS_UNKNOWN;
	for (; isdigit((unsigned char)*at) || (*at == ',' && isdigit((unsigned char)at[1])); at++) {
		if (*at == ',')
			continue;
		if (__builtin_mul_overflow(number, 10, &number) || __builtin_add_overflow(number, *at - '0', &number))
			return FACTS_UNKNOWN;
	}
	return number;
}
