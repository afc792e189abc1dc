/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parsers of vendor text share: the state while one text is read, the line at hand, and how a claim is added.
 *
 * A format is one row: it says where its output begins, and takes line after line from there until another format begins or a prompt
 * comes. Owned by evidence.c; the formats stand in evidence_vios.c, evidence_esxi.c and evidence_ethtool.c, lines of text in
 * evidence_text.c. Nobody else includes this.
 */
#ifndef DOCTOR_EVIDENCE_SECTION_H
#define DOCTOR_EVIDENCE_SECTION_H

#include "model/facts.h"

#define EVIDENCE_NAME_BYTES 64
#define EVIDENCE_MAX_COLUMNS 12

struct evidence_line {
	const char *text; /* without indentation and blanks at the end; never NULL */
	int indent;	  /* columns */
	int number;	  /* 1…; 0 in front of the first */
};

struct evidence {
	struct facts *facts;
	const char *next, *end; /* the lines that were not taken yet, each ended by NUL */
	struct evidence_line line;
	const struct evidence_format *format; /* of the open section, NULL none */
	int section_count;		      /* sections so far */

	char file[EVIDENCE_NAME_BYTES];	  /* name of the text */
	char source[EVIDENCE_NAME_BYTES]; /* that, with the host of the last prompt */
	char object[EVIDENCE_NAME_BYTES]; /* what the open section is about */
	char hint[EVIDENCE_NAME_BYTES];	  /* the object that the last command line named */
	char outer[EVIDENCE_NAME_BYTES];  /* the object around this one: the SEA of an adapter, seastat's device */

	/* Of the open section, each format's own use. */
	char prefix[EVIDENCE_NAME_BYTES]; /* in front of keys */
	char columns[EVIDENCE_MAX_COLUMNS][24];
	int column_count;
	int value_column;
	int two_sides;	 /* transmit to the left, receive to the right */
	int first_claim; /* index of the section's first */
};

struct evidence_format {
	const char *kind;
	const char *shown; /* for the list of what is recognised; NULL: another row of the same says it */
	/* 1 when an output begins at this line. May look ahead. The line is then given to `take` as well. */
	int (*begins)(const struct evidence *evidence);
	/* One line. 0, or -errno from evidence_add(). */
	int (*take)(struct evidence *evidence);
};

struct evidence_formats {
	const struct evidence_format *formats;
	int count;
};

extern const struct evidence_formats evidence_vios, evidence_esxi, evidence_vsish, evidence_ethtool;

/* Adds a claim about the open section's object, with the line at hand. The key is prefix and name, normalised; nothing happens when
 * that is empty. The value is taken up to `value_length` bytes (-1: all), without blanks around it. 0, -ENOMEM or -E2BIG. */
int evidence_add(struct evidence *evidence, const char *prefix, const char *name, int name_length, const char *value,
		 int value_length);
/* All "name: value" of the line, several when two blanks or more stand between them. */
int evidence_add_pairs(struct evidence *evidence, const char *prefix);
/* Names the object of the open section, also in its claims so far that have none. */
void evidence_name_object(struct evidence *evidence, const char *name, int length);

/* --- lines ------------------------------------------------------------------------------------------------------- */

/* A copy of any bytes as lines that are text: each ended by NUL, UTF-8 without control characters, escape sequences, tabs and blanks
 * at the end. *size gets its bytes. NULL: out of memory. UTF-16 with a byte order mark is read, too. */
char *evidence_clean(const char *text, size_t text_size, size_t *size);
/* Takes the next line; 0 at the end. */
int evidence_next_line(struct evidence *evidence);
/* The line `ahead` lines on (1…), without indentation; "" behind the end. */
const char *evidence_peek(const struct evidence *evidence, int ahead);

/* --- words ------------------------------------------------------------------------------------------------------- */

/* Length of the word at text, up to a blank; and the start of the next word (or the end of the text). */
int evidence_word(const char *text);
const char *evidence_after_word(const char *text);
const char *evidence_skip_blanks(const char *text);
/* 1 when text begins with `beginning`, letters of either case. */
int evidence_starts(const char *text, const char *beginning);
/* Copies at most `length` bytes (-1: all) without blanks around them into a name of EVIDENCE_NAME_BYTES. */
void evidence_copy_name(char *name, const char *text, int length);
/* "FIRST:SECOND" likewise; the first is cut so that there is room for both. */
void evidence_join_name(char *name, const char *first, int first_length, char between, const char *second,
			int second_length);
/* 1 when all of the word is digits, with thousands' commas perhaps. */
int evidence_is_number(const char *text, int length);

#endif
