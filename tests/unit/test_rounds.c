// SPDX-License-Identifier: GPL-2.0-or-later
/* Rounds of one spell are kept, whatever the others did. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "measure/rounds.h"

static void one_round_is_kept(void **state)
{
	double speed = 3;
	int kept[ROUNDS_MAX];

	(void)state;
	assert_int_equal(rounds_choose(&speed, 1, kept), 1);
	assert_int_equal(kept[0], 0);
}

static void slow_spell_falls_out(void **state)
{
	static const double speed[] = { 10.00, 9.40, 9.41, 10.01, 9.70, 10.02, 9.99, 9.3 };
	int kept[ROUNDS_MAX];

	(void)state;
	assert_int_equal(rounds_choose(speed, 8, kept), 4);
	for (int i = 0; i < 4; i++)
		assert_true(speed[kept[i]] > 9.9);
}

static void slow_spell_is_kept_when_it_is_the_longer(void **state)
{
	static const double speed[] = { 10.0, 9.41, 9.40, 9.42, 9.8, 9.39 };
	int kept[ROUNDS_MAX];

	(void)state;
	assert_int_equal(rounds_choose(speed, 6, kept), 3);
	for (int i = 0; i < 3; i++)
		assert_true(speed[kept[i]] < 9.5);
}

static void faster_ones_when_alike(void **state)
{
	static const double speed[] = { 1, 2, 3, 4 };
	int kept[ROUNDS_MAX];

	(void)state;
	assert_int_equal(rounds_choose(speed, 4, kept), 2);
	assert_int_equal(kept[0], 3);
	assert_int_equal(kept[1], 2);
}

/* Two spells at random, the longer one holds at least half: every kept round is of one spell, none twice. */
static void kept_rounds_are_of_one_spell(void **state)
{
	unsigned int seed = 7;

	(void)state;
	for (int run = 0; run < 2000; run++) {
		int count = 2 + rand_r(&seed) % (ROUNDS_MAX - 1), kept[ROUNDS_MAX], is_slow[ROUNDS_MAX], half;
		double speed[ROUNDS_MAX];

		for (int i = 0; i < count; i++) {
			is_slow[i] = rand_r(&seed) % 2;
			speed[i] = (is_slow[i] ? 9.5 : 10.0) + (double)(rand_r(&seed) % 1000) / 1000 * 0.05;
		}
		half = rounds_choose(speed, count, kept);
		assert_int_equal(half, (count + 1) / 2);
		for (int i = 1; i < half; i++) {
			int members = 0;

			for (int k = 0; k < count; k++)
				members += is_slow[k] == is_slow[kept[0]];
			assert_true(speed[kept[i]] <= speed[kept[i - 1]]);
			assert_int_not_equal(kept[i], kept[i - 1]);
			if (members >= half)
				assert_int_equal(is_slow[kept[i]], is_slow[kept[0]]);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_round_is_kept),
		cmocka_unit_test(slow_spell_falls_out),
		cmocka_unit_test(slow_spell_is_kept_when_it_is_the_longer),
		cmocka_unit_test(faster_ones_when_alike),
		cmocka_unit_test(kept_rounds_are_of_one_spell),
	};

	return cmocka_run_group_tests_name("rounds", tests, NULL, NULL);
}
