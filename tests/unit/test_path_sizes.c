// SPDX-License-Identifier: GPL-2.0-or-later
/* What counts by frame size say of each stretch, and which size is sent next. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/path_sizes.h"

#define FRAMES 64

/* A path of three stretches that pass frames up to these bytes each. */
struct holes {
	unsigned int passes[4]; /* by the stretch's end; [0] unused */
};

static void send(struct path_sizes *sizes, const struct holes *holes, unsigned int bytes)
{
	int arrived[RUN_MAX_POINTS] = { FRAMES };

	for (int i = 1; i < sizes->point_count; i++)
		arrived[i] = arrived[i - 1] && bytes <= holes->passes[i] ? FRAMES : 0;
	assert_int_equal(path_sizes_add(sizes, bytes, arrived), 0);
}

/* As measure/sizes.c does it. Returns how many trials were made. */
static int climb(struct path_sizes *sizes, const struct holes *holes, unsigned int limit)
{
	unsigned int next;
	int trials = 2;

	*sizes = (struct path_sizes){ .point_count = 4, .points = { 0, 2, 3, 7 }, .limit_bytes = limit };
	send(sizes, holes, 60);
	send(sizes, holes, limit);
	for (; (next = path_sizes_next(sizes)) != 0; trials++) {
		assert_in_range(next, 60, limit);
		assert_in_range(trials, 0, 100);
		send(sizes, holes, next);
	}
	return trials;
}

static void each_stretch_is_exact(void **state)
{
	static struct path_sizes sizes;

	(void)state;
	srand(4);
	for (int round = 0; round < 2000; round++) {
		struct holes holes;
		unsigned int limit = 61 + (unsigned int)rand() % 9000, reaches = limit;
		int trials;

		for (int i = 1; i < 4; i++)
			holes.passes[i] = rand() % 3 ? 60 + (unsigned int)rand() % 9000 : 100000;
		trials = climb(&sizes, &holes, limit);
		assert_in_range(trials, 2, 2 + 3 * 15);
		for (int end = 1; end < 4; end++) {
			struct path_stretch stretch = path_sizes_stretch(&sizes, end);
			unsigned int expected = holes.passes[end] < reaches ? holes.passes[end] : reaches;

			assert_int_equal(stretch.passes_bytes, expected);
			assert_int_equal(stretch.stops_bytes, holes.passes[end] < reaches ? holes.passes[end] + 1 : 0);
			if (stretch.stops_bytes) /* it was not chance */
				assert_int_equal(path_sizes_step_of(&sizes, stretch.stops_bytes)->trials, 2);
			reaches = expected;
		}
	}
}

static void a_lucky_second_trial_is_believed(void **state)
{
	static struct path_sizes sizes;
	int none[RUN_MAX_POINTS] = { FRAMES, 0 }, all[RUN_MAX_POINTS] = { FRAMES, FRAMES };

	(void)state;
	sizes = (struct path_sizes){ .point_count = 2, .points = { 0, 1 }, .limit_bytes = 1514 };
	path_sizes_add(&sizes, 1513, all);
	path_sizes_add(&sizes, 1514, none);
	assert_int_equal(path_sizes_next(&sizes), 1514);
	path_sizes_add(&sizes, 1514, all);
	assert_int_equal(path_sizes_next(&sizes), 0);
	assert_int_equal(path_sizes_stretch(&sizes, 1).stops_bytes, 0);
	assert_int_equal(sizes.steps[1].arrived[0], 2 * FRAMES);
}

static void a_path_that_passes_nothing_is_no_matter_of_size(void **state)
{
	static struct path_sizes sizes;
	const struct holes shut = { { 0, 100000, 0, 100000 } };

	(void)state;
	assert_int_equal(climb(&sizes, &shut, 1514), 2);
	assert_int_equal(path_sizes_stretch(&sizes, 2).passes_bytes, 0);
	assert_int_equal(path_sizes_stretch(&sizes, 2).stops_bytes, 60);
	assert_int_equal(path_sizes_stretch(&sizes, 3).stops_bytes, 0);
}

static void hops_belong_to_stretches(void **state)
{
	static const int expected[] = { 0, 1, 1, 2, 3, 3, 3, 3, 0 };
	const struct path_sizes sizes = { .point_count = 4, .points = { 0, 2, 3, 7 } };

	(void)state;
	for (int hop = 0; hop < 9; hop++)
		assert_int_equal(path_sizes_stretch_of(&sizes, hop), expected[hop]);
}

static void room_is_bounded(void **state)
{
	static struct path_sizes sizes;
	int arrived[RUN_MAX_POINTS] = { FRAMES };

	(void)state;
	sizes = (struct path_sizes){ .point_count = 2 };
	for (unsigned int i = 0; i < PATH_SIZES_MAX_STEPS; i++)
		assert_int_equal(path_sizes_add(&sizes, 60 + i, arrived), 0);
	assert_int_equal(path_sizes_add(&sizes, 60, arrived), 0);
	assert_int_equal(path_sizes_add(&sizes, 59, arrived), -ENOSPC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_stretch_is_exact),
		cmocka_unit_test(a_lucky_second_trial_is_believed),
		cmocka_unit_test(a_path_that_passes_nothing_is_no_matter_of_size),
		cmocka_unit_test(hops_belong_to_stretches),
		cmocka_unit_test(room_is_bounded),
	};

	return cmocka_run_group_tests_name("path sizes", tests, NULL, NULL);
}
