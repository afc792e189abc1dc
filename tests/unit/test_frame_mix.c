// SPDX-License-Identifier: GPL-2.0-or-later
/* Mixes of frame sizes: exact proportions, even order, what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "traffic/frame_mix.h"

static struct frame_mix parse(const char *text)
{
	struct frame_mix mix;

	if (frame_mix_parse(text, 60, 9018, &mix))
		fail_msg("%s: %s", text, error_text());
	return mix;
}

static void expect_order(const char *text, const unsigned int *sizes, unsigned int count)
{
	struct frame_mix mix = parse(text);

	assert_int_equal(mix.count, count);
	assert_memory_equal(mix.order, sizes, count * sizeof(*sizes));
}

/* The published sizes less 4 bytes of FCS. */
static void named_mixes(void **state)
{
	static const unsigned int simple[] = { 60, 566, 60, 60, 566, 60, 1514, 60, 566, 60, 566, 60 };
	static const unsigned int nfvbench[] = { 60, 590, 60, 60, 590, 60, 1514, 60, 590, 60, 590, 60 };
	struct frame_mix mix;

	(void)state;
	expect_order("imix", simple, 12);
	expect_order("imix-csit", simple, 12); /* 28:16:4 is the same in lowest terms */
	expect_order("nfvbench", nfvbench, 12);
	mix = parse("imix");
	assert_true(mix.mean_bytes > 349.83 && mix.mean_bytes < 349.84);
	mix = parse("nfvbench");
	assert_true(mix.mean_bytes > 357.83 && mix.mean_bytes < 357.84);
}

static void lists(void **state)
{
	static const unsigned int one[] = { 64 }, three[] = { 64, 512, 1518 }, weighted[] = { 65, 64, 65 },
				  twice[] = { 64, 100, 64 };

	(void)state;
	expect_order("64", one, 1);
	expect_order("64:50", one, 1);
	expect_order("64,512,1518", three, 3);
	expect_order("64:100,65:200", weighted, 3);
	expect_order("64,64,100", twice, 3);
}

/* Any weights: every size has its exact share, and at no place is one further than a frame from it. */
static void shares_are_exact_and_even(void **state)
{
	uint32_t seed = 1;

	(void)state;
	for (int round = 0; round < 3000; round++) {
		unsigned int sizes = 1 + (seed >> 8) % 6, weights[6], given[6] = { 0 };
		char text[200] = "";
		struct frame_mix mix;

		for (unsigned int i = 0; i < sizes; i++) {
			seed = seed * 1664525 + 1013904223;
			weights[i] = 1 + (seed >> 16) % 10;
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%u:%u", i ? "," : "", 100 + i,
				 weights[i]);
		}
		mix = parse(text);
		for (unsigned int place = 0; place < mix.count; place++) {
			given[mix.order[place] - 100]++;
			for (unsigned int i = 0; i < sizes; i++) {
				double share = (double)mix.weights[i] * (place + 1) / mix.count;

				assert_true(given[i] < share + 1 && given[i] > share - 1.001 - (sizes > 2));
			}
		}
		for (unsigned int i = 0; i < sizes; i++) {
			assert_int_equal(given[i], mix.weights[i]);
			assert_int_equal(mix.weights[i] * weights[0], mix.weights[0] * weights[i]);
		}
	}
}

static void refusals(void **state)
{
	static const struct {
		const char *text, *said;
	} rows[] = {
		{ "", "write SIZE" },
		{ "64,", "write SIZE" },
		{ ",64", "write SIZE" },
		{ "64,,65", "write SIZE" },
		{ "64:0", "\"64:0\"" },
		{ "64:", "\"64:\"" },
		{ "64:7x", "\"64:7x\"" },
		{ "abc", "\"abc\"" },
		{ "-64", "\"-64\"" },
		{ "64 ,65", "\"64 \"" },
		{ "IMIX", "imix-csit" },
		{ "59", "60 to 9018" },
		{ "64,9019", "60 to 9018" },
		{ "64:60,65:7", "add up to 67" },
		{ "4294967297", "write SIZE" },
		{ "64:1000001", "write SIZE" },
		{ "61,62,63,64,65,66,67,68,69,70,71,72,73,74,75,76,77", "more than 16" },
	};
	struct frame_mix mix;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(frame_mix_parse(rows[i].text, 60, 9018, &mix), -22);
		if (!strstr(error_text(), rows[i].said))
			fail_msg("%s: \"%s\" says nothing of %s", rows[i].text, error_text(), rows[i].said);
	}
	assert_int_equal(frame_mix_parse("imix", 60, 1513, &mix), -22);
	assert_non_null(strstr(error_text(), "1514"));
}

/* 64 with FCS does not hold IPv6: the smallest frame takes its place. */
static void named_mix_is_raised(void **state)
{
	struct frame_mix mix;
	char text[300];

	(void)state;
	assert_int_equal(frame_mix_parse("imix", 80, 9018, &mix), 0);
	assert_int_equal(mix.sizes[0], 80);
	assert_int_equal(mix.weights[0], 7);
	assert_non_null(strstr(frame_mix_describe(&mix, text, sizeof(text)), "80 (84 with FCS)"));
}

static void description(void **state)
{
	struct frame_mix mix = parse("imix");
	char text[400], small[16];

	(void)state;
	assert_string_equal(
		frame_mix_describe(&mix, text, sizeof(text)),
		"imix: 7 x 60 (64 with FCS), 4 x 566 (570 with FCS), 1 x 1514 (1518 with FCS); mean 349.8 bytes "
		"(353.8 with FCS); in the order 60 566 60 60 566 60 1514 60 566 60 566 60");
	assert_string_equal(frame_mix_describe(&mix, small, sizeof(small)), "imix: 7 x 60 (6");
	mix = parse("1514");
	assert_string_equal(frame_mix_describe(&mix, text, sizeof(text)), "frames of 1514 bytes (1518 with FCS)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(named_mixes),
		cmocka_unit_test(lists),
		cmocka_unit_test(shares_are_exact_and_even),
		cmocka_unit_test(refusals),
		cmocka_unit_test(named_mix_is_raised),
		cmocka_unit_test(description),
	};

	return cmocka_run_group_tests_name("frame mixes", tests, NULL, NULL);
}
