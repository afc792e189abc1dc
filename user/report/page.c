// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Owns: what may stand on the page, and where lines end. Leaves to others: what is said (report/text*.c), tables
 * (report/table.c).
 */
#include "report/page.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include "model/utf8.h"

struct spelling {
	uint32_t character;
	const char *ascii;
};

static const struct spelling spellings[] = {
	{ 0xa0, " " },	  { 0xb1, "+-" },   { 0xb2, "2" },     { 0xb5, "u" },	{ 0xb7, "." },	  { 0xd7, "x" },
	{ 0x3bc, "u" },	  { 0x2009, " " },  { 0x2013, "-" },   { 0x2014, "-" }, { 0x2018, "'" },  { 0x2019, "'" },
	{ 0x201c, "\"" }, { 0x201d, "\"" }, { 0x2026, "..." }, { 0x202f, " " }, { 0x2192, "->" }, { 0x2212, "-" },
	{ 0x2248, "~" },  { 0x2264, "<=" }, { 0x2265, ">=" },
};

/* Printable form of one character; `length` bytes of `text` when it may stay. */
static const char *spell(const char *text, int *length)
{
	uint32_t character;

	*length = utf8_decode(text, &character);
	if (*length == 0 || character < ' ' || (character >= 0x7f && character < 0xa0))
		return "?";
	/* Line and direction marks, byte order mark: invisible, and they shuffle what stands beside them. */
	if ((character >= 0x200b && character <= 0x200f) || (character >= 0x2028 && character <= 0x202e) ||
	    (character >= 0x2060 && character <= 0x206f) || character == 0xfeff)
		return "?";
	for (size_t i = 0; i < sizeof(spellings) / sizeof(spellings[0]); i++) {
		if (spellings[i].character == character)
			return spellings[i].ascii;
	}
	return NULL;
}

const char *page_plain(char *buffer, size_t size, const char *text)
{
	size_t used = 0;

	while (*text) {
		int length;
		const char *spelled = spell(text, &length);
		size_t needed = spelled ? strlen(spelled) : (size_t)length;

		if (used + needed >= size)
			break;
		memcpy(buffer + used, spelled ? spelled : text, needed);
		used += needed;
		text += length ? length : 1;
	}
	buffer[used] = '\0';
	return buffer;
}

int page_columns(const char *text)
{
	int columns = 0;

	for (; *text; text++)
		columns += ((unsigned char)*text & 0xc0) != 0x80;
	return columns;
}

int page_bytes(const char *text, int columns)
{
	int bytes = 0;

	while (text[bytes]) {
		columns -= ((unsigned char)text[bytes] & 0xc0) != 0x80;
		if (columns < 0)
			break;
		bytes++;
	}
	return bytes;
}

void page_ink(const struct page *page, enum page_ink ink)
{
	static const char *const sequences[] = {
		[INK_PLAIN] = "\033[0m",
		[INK_BOLD] = "\033[1m",
		[INK_DIM] = "\033[2m",
		[INK_ALARM] = "\033[1;31m",
	};

	if (page->colour)
		fputs(sequences[ink], page->stream);
}

void page_heading(const struct page *page, const char *heading)
{
	fputc('\n', page->stream);
	page_ink(page, INK_BOLD);
	fputs(heading, page->stream);
	page_ink(page, INK_PLAIN);
	fputc('\n', page->stream);
}

/* Bytes of `text` that go on a line of `columns`: up to a space that does not follow a digit, or to any space, or as
 * many as fit. Trailing spaces are not counted. */
static int line_bytes(const char *text, int columns)
{
	int fit = page_bytes(text, columns), good = 0, any = 0;

	if (!text[fit])
		return fit;
	for (int i = 1; i <= fit; i++) {
		if (text[i] != ' ' || text[i - 1] == ' ')
			continue;
		any = i;
		if (!isdigit((unsigned char)text[i - 1]))
			good = i;
	}
	if (good > 0)
		return good;
	return any > 0 ? any : fit;
}

void page_paragraph(const struct page *page, int indent, const char *label, const char *format, ...)
{
	char raw[PAGE_TEXT_BYTES], text[PAGE_TEXT_BYTES];
	int columns = page->width - indent;
	const char *rest = text;
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(raw, sizeof(raw), format, arguments);
	va_end(arguments);
	page_plain(text, sizeof(text), raw);
	if (columns < 20)
		columns = 20;
	if (label[0] && indent <= page_columns(label))
		fprintf(page->stream, "%s ", label);
	else
		fprintf(page->stream, "%s%*s", label, indent - page_columns(label), "");
	for (;;) {
		int bytes = line_bytes(rest, columns);

		fprintf(page->stream, "%.*s\n", bytes, rest);
		rest += bytes;
		rest += strspn(rest, " ");
		if (!*rest)
			break;
		fprintf(page->stream, "%*s", indent, "");
	}
}
