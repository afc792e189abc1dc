// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Pasted bytes as clean lines, and words of them. Pure. Called by evidence.c and the formats.
 *
 * What people paste went through terminals (escape sequences, carriage returns), mail (quoting, 8-bit letters) and Windows editors (UTF-16,
 * byte order marks). Claims are printed and saved as JSON, so all that is not text is taken out here, once.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "doctor/evidence_section.h"
#include "model/utf8.h"

#define ESCAPE 0x1b
#define MAX_LINE_BYTES 2048 /* what follows is dropped, so that no parser can be slow on a line without end */

/* Length of an escape sequence at text[0] (ESC [ … letter), 1 when it is only the ESC. */
static size_t escape_length(const char *text, size_t size)
{
	size_t length = 2;

	if (size < 2 || text[1] != '[')
		return 1;
	while (length < size && length < 32 && (unsigned char)text[length] < 0x40 &&
	       (unsigned char)text[length] >= 0x20)
		length++;
	return length < size && length < 32 ? length + 1 : 1;
}

/* Copies the character at text, '?' for what is none or a control character; takes *taken bytes and returns those written.
 * utf8_decode() wants its text ended. */
static size_t copy_character(char *to, const char *text, size_t size, size_t *taken)
{
	char piece[5] = "";
	uint32_t character;
	int length;

	memcpy(piece, text, size < 4 ? size : 4);
	length = utf8_decode(piece, &character);
	*taken = length > 0 ? (size_t)length : 1;
	if (length <= 0 || character < 0xa0) {
		*to = '?';
		return 1;
	}
	memcpy(to, text, *taken);
	return *taken;
}

/* ASCII of UTF-16 text; other characters become '?'. */
static char *narrow(const char *text, size_t size, size_t *narrow_size)
{
	int big_endian = (unsigned char)text[0] == 0xfe;
	char *copy = malloc(size / 2 + 1);
	size_t count = 0;

	if (!copy)
		return NULL;
	for (size_t i = 2; i + 1 < size; i += 2) {
		char high = text[i + !big_endian], low = text[i + big_endian];

		copy[count++] = (char)(high || (low & 0x80) ? '?' : low);
	}
	*narrow_size = count;
	return copy;
}

static int is_utf16(const char *text, size_t size)
{
	return size >= 2 && (!memcmp(text, "\xff\xfe", 2) || !memcmp(text, "\xfe\xff", 2));
}

/* Without the bytes at the end that are the beginning of a character only. */
static size_t whole_characters(const char *text, size_t length)
{
	size_t start = length;

	while (start && length - start < 3 && ((unsigned char)text[start - 1] & 0xc0) == 0x80)
		start--;
	if (start && (unsigned char)text[start - 1] >= 0xc0) {
		size_t taken;
		char character[4];

		start--;
		copy_character(character, text + start, length - start, &taken);
		return start + taken == length ? length : start;
	}
	return length;
}

/* At most two bytes are written for each that is read, and one at the end. */
static size_t clean_into(char *to, const char *text, size_t size)
{
	size_t at = size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0, count = 0, line_start = 0;

	while (at < size) {
		unsigned char byte = (unsigned char)text[at];
		size_t length = 1;

		if (byte != '\n' && count - line_start >= MAX_LINE_BYTES) {
			const char *newline = memchr(text + at, '\n', size - at);

			length = newline ? (size_t)(newline - text) - at : size - at;
		} else if (byte == '\n') {
			while (count > line_start && to[count - 1] == ' ')
				count--;
			to[count++] = 0;
			line_start = count;
		} else if (byte == '\t') { /* columns come apart at two blanks */
			to[count++] = ' ';
			to[count++] = ' ';
		} else if (byte == ESCAPE) {
			length = escape_length(text + at, size - at);
		} else if (byte < 0x20 || byte == 0x7f) {
			to[count++] = ' ';
		} else if (byte < 0x80) {
			to[count++] = (char)byte;
		} else {
			count += copy_character(to + count, text + at, size - at, &length);
		}
		at += length;
	}
	while (count > line_start && to[count - 1] == ' ')
		count--;
	to[count++] = 0;
	return count;
}

char *evidence_clean(const char *text, size_t text_size, size_t *size)
{
	char *narrowed = NULL, *lines;

	if (is_utf16(text, text_size)) {
		narrowed = narrow(text, text_size, &text_size);
		if (!narrowed)
			return NULL;
		text = narrowed;
	}
	lines = malloc(2 * text_size + 1);
	if (lines)
		*size = clean_into(lines, text, text_size);
	free(narrowed);
	return lines;
}

int evidence_next_line(struct evidence *evidence)
{
	const char *text = evidence->next;

	if (text >= evidence->end)
		return 0;
	evidence->next = text + strlen(text) + 1;
	evidence->line.text = evidence_skip_blanks(text);
	evidence->line.indent = (int)(evidence->line.text - text);
	evidence->line.number++;
	return 1;
}

const char *evidence_peek(const struct evidence *evidence, int ahead)
{
	const char *text = evidence->next;

	for (int i = 1; i < ahead && text < evidence->end; i++)
		text += strlen(text) + 1;
	return text < evidence->end ? evidence_skip_blanks(text) : "";
}

const char *evidence_skip_blanks(const char *text)
{
	return text + strspn(text, " ");
}

int evidence_word(const char *text)
{
	return (int)strcspn(text, " ");
}

const char *evidence_after_word(const char *text)
{
	return evidence_skip_blanks(text + evidence_word(text));
}

int evidence_starts(const char *text, const char *beginning)
{
	return !strncasecmp(text, beginning, strlen(beginning));
}

void evidence_copy_name(char *name, const char *text, int length)
{
	size_t count = length < 0 ? strlen(text) : (size_t)length;

	while (count && *text == ' ') {
		text++;
		count--;
	}
	while (count && text[count - 1] == ' ')
		count--;
	if (count >= EVIDENCE_NAME_BYTES)
		count = EVIDENCE_NAME_BYTES - 1;
	count = whole_characters(text, count);
	memmove(name, text, count);
	name[count] = 0;
}

void evidence_join_name(char *name, const char *first, int first_length, char between, const char *second,
			int second_length)
{
	char joined[2 * EVIDENCE_NAME_BYTES];

	if (first_length > EVIDENCE_NAME_BYTES - 24) /* both should be seen */
		first_length = EVIDENCE_NAME_BYTES - 24;
	if (second_length > EVIDENCE_NAME_BYTES)
		second_length = EVIDENCE_NAME_BYTES;
	first_length = (int)whole_characters(first, (size_t)first_length);
	snprintf(joined, sizeof(joined), "%.*s%c%.*s", first_length, first, between, second_length, second);
	evidence_copy_name(name, joined, -1);
}

int evidence_is_number(const char *text, int length)
{
	if (length <= 0 || !isdigit((unsigned char)text[0]))
		return 0;
	for (int i = 0; i < length; i++)
		if (!isdigit((unsigned char)text[i]) && text[i] != ',')
			return 0;
	return 1;
}
