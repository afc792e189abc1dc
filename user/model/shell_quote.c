// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Quoting names in commands; see shell_quote.h. Called by doctor/check.c, doctor/plan.c and discover/path_describe.c.
 *
 * The text is read once from the left; where several names fit, the longest is taken, so that no part of a name is left outside the
 * quotes. A name may be so made that it fits other parts of a command (";"): those are then quoted, too, and the command does less
 * than it should, never more.
 */
#include "model/shell_quote.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST 64 /* of names in facts */
#define QUOTED_BYTES (4 * LONGEST + 3)

int shell_is_word(const char *name)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:@%+=,/-";

	return name[0] && !name[strspn(name, plain)];
}

/* 'it'\''s' of it's. */
static void quote(const char *name, char quoted[QUOTED_BYTES])
{
	char *out = quoted;

	*out++ = '\'';
	for (; *name && out < quoted + QUOTED_BYTES - 6; name++) {
		if (*name == '\'') {
			memcpy(out, "'\\''", 4);
			out += 4;
		} else {
			*out++ = *name;
		}
	}
	*out++ = '\'';
	*out = '\0';
}

/* The longest name that needs quotes and stands at the text's start: as it is, or (in_quotes) as quote() writes it. */
static void look_at(const char *text, const char *name, int in_quotes, const char **longest)
{
	char quoted[QUOTED_BYTES];
	const char *wanted = name;

	if (!name[0] || shell_is_word(name) || (*longest && strlen(*longest) >= strlen(name)))
		return;
	if (in_quotes) {
		quote(name, quoted);
		wanted = quoted;
	}
	if (!strncmp(text, wanted, strlen(wanted)))
		*longest = name;
}

static const char *name_at(const struct facts *facts, const char *text, int in_quotes)
{
	const char *longest = NULL;

	for (int i = 0; i < facts->netns_count; i++)
		look_at(text, facts->netns[i].name, in_quotes, &longest);
	for (int i = 0; i < facts->link_count; i++)
		look_at(text, facts->links[i].name, in_quotes, &longest);
	return longest;
}

int shell_needs_quotes(const struct facts *facts)
{
	for (int i = 0; i < facts->netns_count; i++)
		if (facts->netns[i].name[0] && !shell_is_word(facts->netns[i].name))
			return 1;
	for (int i = 0; i < facts->link_count; i++)
		if (facts->links[i].name[0] && !shell_is_word(facts->links[i].name))
			return 1;
	return 0;
}

static void put_quoted(const struct facts *facts, const char *text, FILE *out)
{
	char quoted[QUOTED_BYTES];

	while (*text) {
		const char *before = *text == '\'' ? name_at(facts, text, 1) : NULL; /* it has been here before */
		const char *name = before ? before : name_at(facts, text, 0);

		if (!name) {
			fputc(*text++, out);
			continue;
		}
		quote(name, quoted);
		fputs(quoted, out);
		text += strlen(before ? quoted : name);
	}
}

char *shell_quote_names(const struct facts *facts, const char *text)
{
	char *result = NULL;
	size_t size;
	FILE *out;

	if (!shell_needs_quotes(facts))
		return strdup(text);
	out = open_memstream(&result, &size);
	if (!out)
		return NULL;
	put_quoted(facts, text, out);
	if (fclose(out)) {
		free(result);
		return NULL;
	}
	return result;
}
