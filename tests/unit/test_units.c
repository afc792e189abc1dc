// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Numbers with units: what users type and what they read.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/units.h"

static void test_parse_pps(void **state)
{
	static const struct {
		const char *text;
		double pps;
	} good[] = {
		{ "10000", 1e4 }, { "10k", 1e4 }, { "10K", 1e4 },   { "1.5M", 1.5e6 },	 { "2G", 2e9 },
		{ "0.5", 0.5 },	  { "7pps", 7 },  { "7kpps", 7e3 }, { ".25Mpps", 25e4 }, { "1000000000000", 1e12 },
	};
	static const char *const bad[] = {
		"",
		"0",
		"-1",
		"+1",
		"k",
		"1kk",
		"1 k",
		" 1",
		"1e6",
		"0x10",
		"inf",
		"nan",
		"1.2.3",
		".",
		"1m",
		"1ppsx",
		"10,000",
		"1001G",
		"99999999999999999999999999999999999999",
	};
	double pps;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(units_parse_pps(good[i].text, &pps), 0);
		assert_true(fabs(pps - good[i].pps) <= good[i].pps * 1e-12);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		pps = 42;
		if (units_parse_pps(bad[i], &pps) != -EINVAL)
			fail_msg("'%s' was taken as %g", bad[i], pps);
		assert_true(pps == 42);
		assert_non_null(strstr(error_text(), "frames per second"));
	}
}

static void test_parse_bytes(void **state)
{
	static const char *const bad[] = {
		"",	      "63", "9015", "-64", "+64", " 64", "64 ", "64b", "0x40", "1e3", "18446744073709551617",
		"4294967360",
	};
	unsigned int bytes = 1;

	(void)state;
	assert_int_equal(units_parse_bytes("64", 64, 9014, &bytes), 0);
	assert_int_equal(bytes, 64);
	assert_int_equal(units_parse_bytes("9014", 64, 9014, &bytes), 0);
	assert_int_equal(bytes, 9014);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(units_parse_bytes(bad[i], 64, 9014, &bytes), -EINVAL);
	assert_int_equal(bytes, 9014);
	assert_non_null(strstr(error_text(), "64 to 9014"));
}

static void test_parse_seconds(void **state)
{
	static const struct {
		const char *text;
		double seconds;
	} good[] = { { "5", 5 }, { "0.5", 0.5 }, { "5s", 5 }, { "200ms", 0.2 }, { "1.5ms", 0.0015 } };
	static const char *const bad[] = { "", "0", "0ms", "-1", "1m", "s", "ms", "5 s", "5sec", "inf", "1e2" };
	double seconds;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(units_parse_seconds(good[i].text, &seconds), 0);
		assert_true(fabs(seconds - good[i].seconds) < 1e-12);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(units_parse_seconds(bad[i], &seconds), -EINVAL);
}

static void test_parse_integer(void **state)
{
	static const char *const bad[] = {
		"", "-6", "11", "+3", "3 ", " 3", "3x", "0x3", "--3", "-", "9999999999999999999999"
	};
	long value;

	(void)state;
	assert_int_equal(units_parse_integer("-5", -5, 10, &value), 0);
	assert_int_equal(value, -5);
	assert_int_equal(units_parse_integer("010", -5, 10, &value), 0);
	assert_int_equal(value, 10);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(units_parse_integer(bad[i], -5, 10, &value), -EINVAL);
}

/* Random bytes never crash a parser; what it accepts is in range. */
static void test_parse_random_text(void **state)
{
	static const char letters[] = "0123456789..kKMGpsm-+ex \t";

	(void)state;
	srand(5);
	for (int round = 0; round < 100000; round++) {
		char text[16] = "";
		int length = rand() % (int)(sizeof(text) - 1);
		unsigned int bytes;
		double number;
		long integer;

		for (int i = 0; i < length; i++)
			text[i] = letters[rand() % (int)(sizeof(letters) - 1)];
		if (!units_parse_pps(text, &number))
			assert_true(number > 0 && number <= 1e12);
		if (!units_parse_seconds(text, &number))
			assert_true(number > 0 && number <= 1e9);
		if (!units_parse_bytes(text, 10, 99, &bytes))
			assert_in_range(bytes, 10, 99);
		if (!units_parse_integer(text, -3, 3, &integer))
			assert_true(integer >= -3 && integer <= 3);
	}
}

static void test_print(void **state)
{
	static const struct {
		const char *(*print)(char *, size_t, double);
		double value;
		const char *text;
	} rows[] = {
		{ units_print_pps, 0, "0 pps" },
		{ units_print_pps, 1, "1.00 pps" },
		{ units_print_pps, 999, "999 pps" },
		{ units_print_pps, 999.4, "999 pps" },
		{ units_print_pps, 999.5, "1.00 kpps" },
		{ units_print_pps, 9994, "9.99 kpps" },
		{ units_print_pps, 9996, "10.0 kpps" },
		{ units_print_pps, 99960, "100 kpps" },
		{ units_print_pps, 812345, "812 kpps" },
		{ units_print_pps, 4512345, "4.51 Mpps" },
		{ units_print_pps, 999.6e6, "1.00 Gpps" },
		{ units_print_pps, 5e12, "5000 Gpps" },
		{ units_print_pps, -1, "-" },
		{ units_print_pps, -0.0, "0 pps" },
		{ units_print_pps, NAN, "-" },
		{ units_print_pps, INFINITY, "-" },
		{ units_print_ns, 0.73, "0.73 ns" },
		{ units_print_ns, 812, "812 ns" },
		{ units_print_ns, 1200, "1.20 µs" },
		{ units_print_ns, 45e6, "45.0 ms" },
		{ units_print_ns, 4.29e9, "4.29 s" },
		{ units_print_ns, NAN, "-" },
		{ units_print_gbps, 9.21, "9.21 Gbit/s" },
		{ units_print_gbps, 0.4, "400 Mbit/s" },
		{ units_print_gbps, 0.9996, "1.00 Gbit/s" },
		{ units_print_gbps, 25.13, "25.1 Gbit/s" },
		{ units_print_gbps, 0.0000123, "12.3 kbit/s" },
		{ units_print_gbps, 0, "0 bit/s" },
		{ units_print_gbps, -3, "-" },
	};
	char buffer[32];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_ptr_equal(rows[i].print(buffer, sizeof(buffer), rows[i].value), buffer);
		assert_string_equal(buffer, rows[i].text);
	}
	assert_string_equal(units_print_pps(buffer, 5, 4512345), "4.51");
}

/* What is printed is within half a unit of the third digit of what was meant, and can be typed again. */
static void test_round_trip(void **state)
{
	char buffer[32], typed[32];

	(void)state;
	srand(6);
	for (int round = 0; round < 20000; round++) {
		double meant = pow(10, rand() / (double)RAND_MAX * 11), read;
		const char *unit;

		units_print_pps(buffer, sizeof(buffer), meant);
		unit = strchr(buffer, ' ');
		assert_non_null(unit);
		snprintf(typed, sizeof(typed), "%.*s%s", (int)(unit - buffer), buffer, unit + 1);
		assert_int_equal(units_parse_pps(typed, &read), 0);
		assert_true(fabs(read - meant) <= meant * 0.00501);
	}
}

static void test_print_count(void **state)
{
	static const struct {
		uint64_t count;
		const char *text;
	} rows[] = {
		{ 0, "0" },
		{ 999, "999" },
		{ 1000, "1 000" },
		{ 1234567, "1 234 567" },
		{ UINT64_MAX, "18 446 744 073 709 551 615" },
	};
	char buffer[40];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_string_equal(units_print_count(buffer, sizeof(buffer), rows[i].count), rows[i].text);
	assert_string_equal(units_print_count(buffer, 4, 1234567), "1 2");
}

/* 10 Gbit/s Ethernet carries 14 880 952 smallest and 812 744 largest frames a second. */
static void test_wire_rates(void **state)
{
	(void)state;
	assert_true(fabs(units_gbps_l1(14880952.38, 60) - 10) < 1e-6);
	assert_true(fabs(units_gbps_l1(812743.82, 1514) - 10) < 1e-6);
	assert_true(units_gbps_l1(1e6, 20) == units_gbps_l1(1e6, 60));
	assert_true(fabs(units_gbps(1e6, 1514) - 12.112) < 1e-9);
	assert_true(fabs(units_gbps(1e6, 60) - 0.48) < 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse_pps),	  cmocka_unit_test(test_parse_bytes),
		cmocka_unit_test(test_parse_seconds),	  cmocka_unit_test(test_parse_integer),
		cmocka_unit_test(test_parse_random_text), cmocka_unit_test(test_print),
		cmocka_unit_test(test_round_trip),	  cmocka_unit_test(test_print_count),
		cmocka_unit_test(test_wire_rates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
