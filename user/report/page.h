/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A page of plain text: clean characters, wrapped paragraphs, ink.
 *
 * Everything that a run says passes through page_plain(): a saved run may come from anybody, and its names must not
 * reach the terminal as control sequences.
 */
#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

#include <stddef.h>
#include <stdio.h>

#define PAGE_TEXT_BYTES 2048

enum page_ink { INK_PLAIN, INK_BOLD, INK_DIM, INK_ALARM };

struct page {
	FILE *stream;
	int width;
	int colour;
};

/* One line of printable text: signs of the field become ASCII ("us", "->", "<="), control characters and bytes that are
 * not UTF-8 become '?', what does not fit is cut off. Other letters stay. Returns buffer. */
const char *page_plain(char *buffer, size_t size, const char *text);
/* Columns that clean text takes. */
int page_columns(const char *text);
/* Bytes of clean text that take that many columns at most. */
int page_bytes(const char *text, int columns);

/* Switches ink when the page has colour. */
void page_ink(const struct page *page, enum page_ink ink);
/* A blank line and a heading. */
void page_heading(const struct page *page, const char *heading);
/* "  label    text text…", wrapped, the following lines indented as the first. The label is padded to `indent` columns.
 * A number is not parted from what follows it. */
void page_paragraph(const struct page *page, int indent, const char *label, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

#endif
