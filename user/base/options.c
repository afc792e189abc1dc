// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Option rows at work: getopt_long over a table, and the help text of the same table.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/nearest.h"
#include "base/options.h"
#include "base/units.h"

#define HELP_VALUE 256 /* what getopt_long returns for --help; row i returns ROW_VALUE + i */
#define ROW_VALUE 257
#define HELP_WIDTH 96	  /* columns of a help text */
#define LEFT_WIDTH_MAX 30 /* a longer option stands on a line of its own */

static int row_count(const struct option_row *rows)
{
	int count = 0;

	while (rows && rows[count].name)
		count++;
	return count;
}

static const struct option_row *row_of_letter(const struct option_row *rows, int letter)
{
	for (; rows && rows->name; rows++)
		if (rows->letter && rows->letter == letter)
			return rows;
	return NULL;
}

static int is_optional(const struct option_row *row)
{
	return row->argument && row->argument[0] == '[';
}

static int store_value(const struct option_row *row, const char *argument)
{
	switch (row->kind) {
	case OPTION_FLAG:
		*(int *)row->target = 1;
		return 0;
	case OPTION_TEXT:
		*(const char **)row->target = argument;
		return 0;
	case OPTION_INTEGER:
		return units_parse_integer(argument, row->min, row->max, row->target);
	case OPTION_PPS:
		return units_parse_pps(argument, row->target);
	case OPTION_BYTES:
		return units_parse_bytes(argument, (unsigned int)row->min, (unsigned int)row->max, row->target);
	case OPTION_SECONDS:
		return units_parse_seconds(argument, row->target);
	case OPTION_CALL:
		return ((int (*)(const char *))row->target)(argument);
	}
	return error_set(EINVAL, "the option table has an unknown kind %d", (int)row->kind);
}

/* What getopt_long needs, made from the rows. Freed by the caller: one block each. */
static int make_tables(const struct option_row *rows, struct option **longs, char **shorts)
{
	int count = row_count(rows), used = 0;

	*longs = calloc((size_t)count + 2, sizeof(**longs));
	*shorts = calloc((size_t)count + 2, 4);
	if (!*longs || !*shorts)
		return error_set(ENOMEM, "no memory for %d options", count);
	/* '-': positional arguments come as value 1, whatever POSIXLY_CORRECT says; ':': no messages of getopt's own. */
	(*shorts)[used++] = '-';
	(*shorts)[used++] = ':';
	for (int i = 0; i < count; i++) {
		int has_argument = rows[i].kind != OPTION_FLAG && rows[i].argument;

		if (has_argument && is_optional(&rows[i]))
			has_argument = optional_argument;
		(*longs)[i] = (struct option){ .name = rows[i].name, .has_arg = has_argument, .val = ROW_VALUE + i };
		if (!rows[i].letter)
			continue;
		(*shorts)[used++] = rows[i].letter;
		for (int colons = 0; colons < has_argument; colons++) /* two when it may be left out */
			(*shorts)[used++] = ':';
	}
	(*longs)[count] = (struct option){ .name = "help", .val = HELP_VALUE };
	if (!row_of_letter(rows, 'h'))
		(*shorts)[used++] = 'h';
	return 0;
}

/* -EINVAL with text for an option that getopt does not know. `word` is the argument it stands in. */
static int report_unknown(const struct option_row *rows, const char *word)
{
	int count = row_count(rows);
	const char *names[count + 1], *near;
	char typed[64];

	if (optopt >= ROW_VALUE)
		return error_set(EINVAL, "option '--%s' takes no value", rows[optopt - ROW_VALUE].name);
	if (optopt == HELP_VALUE)
		return error_set(EINVAL, "option '--help' takes no value");
	if (optopt)
		return error_set(EINVAL, "unknown option '-%c'", optopt);
	snprintf(typed, sizeof(typed), "%.*s", (int)strcspn(word, "="), word);
	for (int i = 0; i < count; i++)
		names[i] = rows[i].name;
	names[count] = "help";
	near = nearest_name(typed + strspn(typed, "-"), names, count + 1);
	if (near)
		return error_set(EINVAL, "unknown or ambiguous option '%s'; did you mean '--%s'?", typed, near);
	return error_set(EINVAL, "unknown or ambiguous option '%s'", typed);
}

static int apply_option(const struct option_row *rows, int value, char **argv)
{
	const struct option_row *row;
	char text[512];

	if (value == '?')
		return report_unknown(rows, argv[optind - 1]);
	if (value == ':' && optopt >= ROW_VALUE)
		return error_set(EINVAL, "option '--%s' needs a value: %s", rows[optopt - ROW_VALUE].name,
				 rows[optopt - ROW_VALUE].argument);
	if (value == ':')
		return error_set(EINVAL, "option '-%c' needs a value: %s", optopt,
				 row_of_letter(rows, optopt)->argument);
	row = value >= ROW_VALUE ? &rows[value - ROW_VALUE] : row_of_letter(rows, value);
	if (!store_value(row, optarg))
		return 0;
	snprintf(text, sizeof(text), "%s", error_text());
	return error_set(EINVAL, "--%s: %s", row->name, text);
}

int options_parse(const struct option_row *rows, int argc, char **argv, int *wants_help)
{
	struct option *longs;
	char *shorts;
	int value, result, count = 0;

	*wants_help = 0;
	result = make_tables(rows, &longs, &shorts);
	opterr = 0;
	optind = 0; /* glibc: start anew, with all state of an earlier table gone */
	while (!result && (value = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		if (value == 1) {
			argv[1 + count++] = optarg; /* a place that getopt has left behind */
		} else if (value == HELP_VALUE || (value == 'h' && !row_of_letter(rows, 'h'))) {
			*wants_help = 1;
			break;
		} else {
			result = apply_option(rows, value, argv);
		}
	}
	if (!result && !*wants_help)
		while (optind < argc) /* what follows "--" */
			argv[1 + count++] = argv[optind++];
	free(longs);
	free(shorts);
	return result ? result : count;
}

/* "  -j, --json FILE" */
static int print_left(char *buffer, size_t size, const struct option_row *row)
{
	char letter[8] = "    ";

	if (row->letter)
		snprintf(letter, sizeof(letter), "-%c, ", row->letter);
	return snprintf(buffer, size, "  %s--%s%s%s", letter, row->name, row->argument && !is_optional(row) ? " " : "",
			row->argument ? row->argument : "");
}

/* Prints text in columns left…HELP_WIDTH, the cursor standing at `left` already. */
static void print_wrapped(FILE *stream, const char *text, int left)
{
	int column = left;

	while (*text) {
		int word = (int)strcspn(text, " "), at_start = column == left;

		if (!at_start && column + 1 + word > HELP_WIDTH) {
			fprintf(stream, "\n%*s", left, "");
			column = left;
			at_start = 1;
		}
		fprintf(stream, "%s%.*s", at_start ? "" : " ", word, text);
		column += word + !at_start;
		text += word;
		text += strspn(text, " ");
	}
	fputc('\n', stream);
}

static void print_row(FILE *stream, const struct option_row *row, int width)
{
	char left[128];
	int length = print_left(left, sizeof(left), row);

	if (length + 2 > width)
		fprintf(stream, "%s\n%*s", left, width, "");
	else
		fprintf(stream, "%-*s", width, left);
	print_wrapped(stream, row->help ? row->help : "", width);
}

void options_print_help(FILE *stream, const struct option_row *rows)
{
	static const struct option_row help = { .name = "help", .letter = 'h', .help = "print this help and exit" };
	char left[128];
	int width = print_left(left, sizeof(left), &help) + 2;

	for (const struct option_row *row = rows; row && row->name; row++) {
		int length = print_left(left, sizeof(left), row) + 2;

		if (length > width && length <= LEFT_WIDTH_MAX)
			width = length;
	}
	for (const struct option_row *row = rows; row && row->name; row++)
		print_row(stream, row, width);
	print_row(stream, &help, width);
}
