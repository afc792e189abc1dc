// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Option rows: parsing, messages, help; and the nearest name that messages offer.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/nearest.h"
#include "base/options.h"

static int flag;
static const char *text;
static long number;
static double rate_pps, seconds;
static unsigned int bytes;
static char called_with[32];

static int take_call(const char *argument)
{
	if (!argument)
		argument = "(none)";
	if (!strcmp(argument, "bad"))
		return error_set(ENODEV, "there is no '%s'", argument);
	snprintf(called_with, sizeof(called_with), "%s", argument);
	return 0;
}

static const struct option_row rows[] = {
	{ "flag", 'f', OPTION_FLAG, NULL, "raise the flag", &flag, 0, 0 },
	{ "json", 'j', OPTION_TEXT, "FILE", "write FILE", &text, 0, 0 },
	{ "number", 'n', OPTION_INTEGER, "N", "a number", &number, -5, 10 },
	{ "rate", 0, OPTION_PPS, "PPS", "offered rate", &rate_pps, 0, 0 },
	{ "mtu", 0, OPTION_BYTES, "BYTES", "size", &bytes, 68, 9000 },
	{ "seconds", 's', OPTION_SECONDS, "S", "duration", &seconds, 0, 0 },
	{ "call", 'c', OPTION_CALL, "ARG", "call a function", (void *)take_call, 0, 0 },
	{ "maybe", 'm', OPTION_CALL, "[=ARG]", "call it with or without", (void *)take_call, 0, 0 },
	{ NULL, 0, OPTION_FLAG, NULL, NULL, NULL, 0, 0 },
};

static char *arguments[32];
static int wants_help;

static int set_up(void **state)
{
	(void)state;
	flag = 0;
	text = NULL;
	number = 3;
	rate_pps = seconds = 0;
	bytes = 0;
	called_with[0] = '\0';
	return 0;
}

/* Parses a command line that is separated by single spaces. */
static int parse(const char *line)
{
	static char words[512];
	char *rest = words, *word;
	int count = 0;

	snprintf(words, sizeof(words), "%s", line);
	arguments[count++] = "command";
	while ((word = strsep(&rest, " ")))
		if (*word)
			arguments[count++] = word;
	arguments[count] = NULL;
	return options_parse(rows, count, arguments, &wants_help);
}

static void test_every_kind(void **state)
{
	(void)state;
	assert_int_equal(parse("--flag --json=a.json --number -5 --rate 1.5M --mtu 9000 --seconds 200ms --call x"), 0);
	assert_int_equal(flag, 1);
	assert_string_equal(text, "a.json");
	assert_int_equal(number, -5);
	assert_true(rate_pps == 1.5e6);
	assert_int_equal(bytes, 9000);
	assert_true(seconds == 0.2);
	assert_string_equal(called_with, "x");
	assert_int_equal(wants_help, 0);
}

/* What may be left out is never taken from the next word. */
static void test_value_that_may_be_left_out(void **state)
{
	(void)state;
	assert_int_equal(parse("--maybe=y x"), 1);
	assert_string_equal(called_with, "y");
	assert_int_equal(parse("--maybe x"), 1);
	assert_string_equal(called_with, "(none)");
	assert_string_equal(arguments[1], "x");
	assert_int_equal(parse("-my"), 0);
	assert_string_equal(called_with, "y");
	assert_int_equal(parse("-m -f"), 0);
	assert_string_equal(called_with, "(none)");
	assert_int_equal(flag, 1);
}

static void test_letters(void **state)
{
	(void)state;
	assert_int_equal(parse("-fn7 -j- -s 2"), 0);
	assert_int_equal(flag, 1);
	assert_int_equal(number, 7);
	assert_string_equal(text, "-");
	assert_true(seconds == 2);
}

static void test_positionals_come_first(void **state)
{
	static const char *const wanted[] = { "ent0", "trunk0", "-", "--flag", "nic0" };
	static const char *const lines[] = {
		"ent0 --number 4 trunk0 - -- --flag nic0",
		"--number=4 ent0 trunk0 -- - --flag nic0",
		"ent0 trunk0 -n 4 - -- --flag nic0",
	};

	(void)state;
	for (int strict = 0; strict < 2; strict++) {
		if (strict)
			setenv("POSIXLY_CORRECT", "1", 1);
		for (size_t line = 0; line < sizeof(lines) / sizeof(lines[0]); line++) {
			assert_int_equal(parse(lines[line]), 5);
			for (int i = 0; i < 5; i++)
				assert_string_equal(arguments[1 + i], wanted[i]);
			assert_int_equal(number, 4);
			assert_int_equal(flag, 0);
		}
	}
	unsetenv("POSIXLY_CORRECT");
}

static void test_nothing_given_keeps_defaults(void **state)
{
	(void)state;
	assert_int_equal(parse(""), 0);
	assert_int_equal(number, 3);
	assert_null(text);
}

static void test_last_one_counts(void **state)
{
	(void)state;
	assert_int_equal(parse("-n 1 -n 2"), 0);
	assert_int_equal(number, 2);
}

static void test_messages(void **state)
{
	static const struct {
		const char *line, *message;
	} bad[] = {
		{ "--bogus", "unknown or ambiguous option '--bogus'" },
		{ "--jsom=x", "unknown or ambiguous option '--jsom'; did you mean '--json'?" },
		{ "a -z", "unknown option '-z'" },
		{ "--json", "option '--json' needs a value: FILE" },
		{ "-j", "option '-j' needs a value: FILE" },
		{ "--flag=1", "option '--flag' takes no value" },
		{ "--help=1", "option '--help' takes no value" },
		{ "--number eleven", "--number: 'eleven' is not a whole number from -5 to 10" },
		{ "-n 11", "--number: '11' is not a whole number from -5 to 10" },
		{ "--mtu 67", "--mtu: '67' is not a size from 68 to 9000 bytes" },
		{ "-c bad", "--call: there is no 'bad'" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(parse(bad[i].line), -EINVAL);
		assert_string_equal(error_text(), bad[i].message);
	}
	assert_int_equal(parse("--rate 0"), -EINVAL);
	assert_int_equal(parse("--seconds -1"), -EINVAL);
}

static void test_help_is_always_there(void **state)
{
	static const struct option_row none[] = { { NULL, 0, OPTION_FLAG, NULL, NULL, NULL, 0, 0 } };
	char *argv[] = { "command", "--help", NULL };

	(void)state;
	assert_int_equal(parse("a -h --bogus"), 1);
	assert_int_equal(wants_help, 1);
	assert_int_equal(options_parse(none, 2, argv, &wants_help), 0);
	assert_int_equal(wants_help, 1);
	assert_int_equal(options_parse(NULL, 1, argv, &wants_help), 0);
	assert_int_equal(wants_help, 0);
}

static void test_help_text(void **state)
{
	static const struct option_row table[] = {
		{ "json", 'j', OPTION_TEXT, "FILE", "write the run to FILE", &text, 0, 0 },
		{ "a-name-that-is-much-too-long", 0, OPTION_TEXT, "VALUE", "one", &text, 0, 0 },
		{ "wide", 0, OPTION_FLAG, NULL,
		  "a help text that is longer than a line holds, so that it has to be continued on the next one", &flag,
		  0, 0 },
		{ NULL, 0, OPTION_FLAG, NULL, NULL, NULL, 0, 0 },
	};
	char *printed = NULL;
	size_t length;
	FILE *stream = open_memstream(&printed, &length);

	(void)state;
	assert_non_null(stream);
	options_print_help(stream, table);
	fclose(stream);
	assert_string_equal(
		printed,
		"  -j, --json FILE  write the run to FILE\n"
		"      --a-name-that-is-much-too-long VALUE\n"
		"                   one\n"
		"      --wide       a help text that is longer than a line holds, so that it has to be continued\n"
		"                   on the next one\n"
		"  -h, --help       print this help and exit\n");
	free(printed);
}

static void test_nearest_name(void **state)
{
	static const char *const names[] = { "run", "report", "lab", "cleanup" };
	static const struct {
		const char *typed, *nearest;
	} cases[] = {
		{ "rnu", "run" },	  { "runn", "run" }, { "repot", "report" },  { "clean", "cleanup" },
		{ "cleanpu", "cleanup" }, { "labs", "lab" }, { "la", "lab" },	     { "zzz", NULL },
		{ "measure", NULL },	  { "", NULL },	     { "report", "report" },
	};
	char longest[100];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *near = nearest_name(cases[i].typed, names, 4);

		if (cases[i].nearest)
			assert_string_equal(near ? near : "(none)", cases[i].nearest);
		else if (near)
			fail_msg("'%s' gives '%s'", cases[i].typed, near);
	}
	memset(longest, 'r', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_null(nearest_name(longest, names, 4));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_every_kind, set_up),
		cmocka_unit_test_setup(test_letters, set_up),
		cmocka_unit_test_setup(test_value_that_may_be_left_out, set_up),
		cmocka_unit_test_setup(test_positionals_come_first, set_up),
		cmocka_unit_test_setup(test_nothing_given_keeps_defaults, set_up),
		cmocka_unit_test_setup(test_last_one_counts, set_up),
		cmocka_unit_test_setup(test_messages, set_up),
		cmocka_unit_test_setup(test_help_is_always_there, set_up),
		cmocka_unit_test_setup(test_help_text, set_up),
		cmocka_unit_test_setup(test_nearest_name, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
