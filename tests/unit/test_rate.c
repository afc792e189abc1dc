// SPDX-License-Identifier: GPL-2.0-or-later
/* Rates as users write them: traffic/rate. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "traffic/rate.h"

static const struct {
	const char *text;
	enum rate_unit unit;
	double value;
} good[] = {
	{ "10000", RATE_PPS, 1e4 },	    { "1.5M", RATE_PPS, 1.5e6 },      { "10kpps", RATE_PPS, 1e4 },
	{ "400Mbit/s", RATE_BPS, 4e8 },	    { "2.5Gbit", RATE_BPS, 2.5e9 },   { "10Gbps", RATE_BPS, 1e10 },
	{ "10 gbit/s", RATE_BPS, 1e10 },    { "1000bit/s", RATE_BPS, 1000 },  { "50%", RATE_LINE, 0.5 },
	{ "12.5 %", RATE_LINE, 0.125 },	    { "100%", RATE_LINE, 1 },
};

static const char *const bad[] = { "",	  "x",	   "0",	    "-1",    "0%",    "101%",  "5 apples", "nan",
				   "inf", "10 %%", "1Gbyte", "Gbit/s", "1e400", "1e3", "0x10", "10Mbit/m" };

static void test_good(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct rate rate;

		assert_int_equal(rate_parse(good[i].text, &rate), 0);
		assert_int_equal(rate.unit, good[i].unit);
		assert_true(fabs(rate.value / good[i].value - 1) < 1e-12);
	}
}

static void test_bad(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct rate rate;

		if (rate_parse(bad[i], &rate) >= 0)
			fail_msg("'%s' was taken for a rate", bad[i]);
		assert_true(strlen(error_text()) > 0);
	}
}

static void test_frames(void **state)
{
	struct rate rate;
	double pps;

	(void)state;
	/* 100 % of 10 Gbit/s with the smallest frame (64 with FCS) is 14.88 Mpps, with the largest 812.7 kpps */
	assert_int_equal(rate_parse("100%", &rate), 0);
	assert_int_equal(rate_to_pps(&rate, 60, 10e9, &pps), 0);
	assert_true(fabs(pps - 14880952.4) < 1);
	assert_int_equal(rate_to_pps(&rate, 1514, 10e9, &pps), 0);
	assert_true(fabs(pps - 812743.8) < 1);
	assert_int_equal(rate_to_pps(&rate, 1514, 0, &pps), -22);
	assert_int_equal(rate_parse("1Gbit/s", &rate), 0);
	assert_int_equal(rate_to_pps(&rate, 1250, 0, &pps), 0);
	assert_true(fabs(pps - 1e5) < 1e-6);
	rate.unit = RATE_FULL;
	assert_int_equal(rate_to_pps(&rate, 60, 0, &pps), 0);
	assert_true(pps == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
