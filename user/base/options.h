/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Option rows: one row gives parsing (getopt_long), --help and, later, man page and completion.
 */
#ifndef BASE_OPTIONS_H
#define BASE_OPTIONS_H

#include <stdio.h>

enum option_kind {
	OPTION_FLAG,	/* int *: set to 1 */
	OPTION_TEXT,	/* const char **: the argument itself */
	OPTION_INTEGER, /* long *: min…max */
	OPTION_PPS,	/* double *: frames per second, > 0 */
	OPTION_BYTES,	/* unsigned int *: min…max */
	OPTION_SECONDS, /* double *: > 0 */
	OPTION_CALL,	/* int (*)(const char *argument): 0 or -errno with error text */
};

struct option_row {
	const char *name;    /* long name without dashes; NULL ends the table */
	char letter;	     /* short form, or 0 */
	enum option_kind kind;
	const char *argument; /* metavariable: "FILE"; "[=LIST]": may be left out, CALL gets NULL then; NULL for flags */
	const char *help;
	void *target;
	long min, max;	      /* INTEGER and BYTES */
};

/* Parses argv[1…]; moves positional arguments to the front of argv+1 and returns their number, or -EINVAL with error text.
 * --help and -h are always there: *wants_help is set. */
int options_parse(const struct option_row *rows, int argc, char **argv, int *wants_help);
void options_print_help(FILE *stream, const struct option_row *rows);

#endif
