// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The page and its tables: what reaches a terminal, where lines end, which columns are shown. Whole reports are golden
 * tests.
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
#include "random_run.h"
#include "report/page.h"
#include "report/table.h"

/* A page that is kept in memory. */
struct kept {
	struct page page;
	char *text;
	size_t length;
};

static void open_kept(struct kept *kept, int width)
{
	kept->page = (struct page){ .stream = open_memstream(&kept->text, &kept->length), .width = width };
	assert_non_null(kept->page.stream);
}

static void close_kept(struct kept *kept, const char *expected)
{
	fclose(kept->page.stream);
	assert_string_equal(kept->text, expected);
	free(kept->text);
}

static void test_plain(void **state)
{
	static const struct {
		const char *text, *plain;
	} cases[] = {
		{ "1.2 µs → 3 ≤ 4 × 5 ± 6 …", "1.2 us -> 3 <= 4 x 5 +- 6 ..." },
		{ "\033[31mred\a\n", "?[31mred??" },
		{ "a\xc2\x9b", "a?" }, /* CSI in one character */
		{ "a\xe2\x80\xae"
		  "b",
		  "a?b" }, /* right to left from here */
		{ "\xff\xc2", "??" },
		{ "größe", "größe" },
		{ "", "" },
	};
	char buffer[64];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(page_plain(buffer, sizeof(buffer), cases[i].text), cases[i].plain);
	assert_string_equal(page_plain(buffer, 4, "ab→c"), "ab"); /* never half a character or a half sign */
	assert_int_equal(page_columns("größe"), 5);
}

static void test_paragraph(void **state)
{
	struct kept kept;

	(void)state;
	open_kept(&kept, 30);
	page_paragraph(&kept.page, 8, "  label", "of 717 690 frames a few are lost on the way %s", "home");
	close_kept(&kept, "  label of 717 690 frames a\n"
			  "        few are lost on the\n"
			  "        way home\n");
	open_kept(&kept, 30);
	page_paragraph(&kept.page, 8, "", "frames of the path: 41 877");
	close_kept(&kept, "        frames of the path:\n"
			  "        41 877\n");
	open_kept(&kept, 28);
	page_paragraph(&kept.page, 8, "", "%s", "a_word_that_is_longer_than_a_line and");
	close_kept(&kept, "        a_word_that_is_longe\n"
			  "        r_than_a_line and\n");
}

static void test_table(void **state)
{
	static const double some[] = { 2903120, 710, RUN_UNKNOWN }, none[] = { RUN_UNKNOWN, RUN_UNKNOWN, RUN_UNKNOWN };
	static const double ns[] = { 800, 2000, 100 }, bounds[] = { 0, 70, 250 };
	struct table table;
	struct kept kept;

	(void)state;
	open_kept(&kept, 100);
	table_start(&table, 3);
	table_column(&table, "key", TABLE_LEFT);
	for (int i = 0; i < 3; i++)
		table_set(&table, i, 0, "%c\t", 'a' + i);
	table_group(&table, "rates");
	table_rates(&table, some, NULL);
	table_rates(&table, none, NULL);
	table_bars(&table, some, 4);
	table_group(&table, "gone");
	table_numbers(&table, "gone", none, 0);
	table_group(&table, "latency, us");
	table_us(&table, "p50", ns, bounds);
	table_print(&kept.page, &table);
	close_kept(&kept, "      -- rates --   latency, us\n"
			  "key    Mpps                 p50\n"
			  "a?    2.903  ####          0.80\n"
			  "b?    0.001  #      2.00 +-0.07\n"
			  "c?        -  -            <0.35\n");
}

static void test_wide_table(void **state)
{
	static const double values[] = { 1, -0.4 };
	struct table table;
	struct kept kept;

	(void)state;
	open_kept(&kept, 20);
	table_start(&table, 2);
	table_column(&table, "key", TABLE_LEFT);
	table_set(&table, 0, 0, "a");
	table_set(&table, 1, 0, "b");
	for (int i = 0; i < 3; i++) {
		table_group(&table, "");
		table_numbers(&table, i == 1 ? "a long title" : "n", values, 0);
	}
	table_print(&kept.page, &table);
	close_kept(&kept, "key   n\n"
			  "a     1\n"
			  "b     0\n"
			  "\n"
			  "key   a long title\n"
			  "a                1\n"
			  "b                0\n"
			  "\n"
			  "key   n\n"
			  "a     1\n"
			  "b     0\n");
}

/* Any run, any width: no crash, and no byte that a terminal obeys. */
static void test_any_run(void **state)
{
	static const int widths[] = { 0, 1, 80, 400, 1000000, -5 };

	(void)state;
	for (uint64_t i = 1; i <= 60; i++) {
		struct run *run = random_run(5000 + i);
		char *text = printed(run, widths[i % 6], 0);

		for (const char *at = text; *at; at++)
			assert_true((unsigned char)*at >= ' ' || *at == '\n');
		free(text);
		run_free(run);
	}
}

static void test_empty_run(void **state)
{
	struct run *run = run_new();
	char *text;

	(void)state;
	assert_non_null(run);
	text = printed(run, 0, 0);
	assert_non_null(strstr(text, "verdict: no hop stands out"));
	free(text);
	run_free(run);
}

static void test_full_disk(void **state)
{
	struct run *run = small_run();
	struct report_style style = { 0 };
	FILE *full = fopen("/dev/full", "w");

	(void)state;
	assert_non_null(full);
	assert_int_equal(report_text(run, full, &style), -ENOSPC);
	assert_one_line(error_text());
	fclose(full);
	run_free(run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),	   cmocka_unit_test(test_paragraph), cmocka_unit_test(test_table),
		cmocka_unit_test(test_wide_table), cmocka_unit_test(test_any_run),   cmocka_unit_test(test_empty_run),
		cmocka_unit_test(test_full_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
