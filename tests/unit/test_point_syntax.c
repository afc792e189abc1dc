// SPDX-License-Identifier: GPL-2.0-or-later
/* Points as users write them, right and wrong. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "model/point_syntax.h"

static const struct {
	const char *text, *interface, *netns, *mode;
	int direction; /* -1: not given */
} good[] = {
	{ "eth0", "eth0", "", "", -1 },
	{ "eth0@local", "eth0", "", "", -1 },
	{ "ent0@ns:lpar", "ent0", "lpar", "", -1 },
	{ "ent0@ns:lpar:out", "ent0", "lpar", "", RUN_DIRECTION_OUT },
	{ "ent0:in", "ent0", "", "", RUN_DIRECTION_IN },
	{ "ent0@ns:lpar:in:xdp", "ent0", "lpar", "native", RUN_DIRECTION_IN },
	{ "ent0@ns:lpar:xdp:in", "ent0", "lpar", "native", RUN_DIRECTION_IN },
	{ "ent0:generic", "ent0", "", "generic", -1 },
	{ "ent0:out:tc", "ent0", "", "tcx", RUN_DIRECTION_OUT },
	{ "eth0.100", "eth0.100", "", "", -1 },
	{ "eth0:1", "eth0:1", "", "", -1 },
	{ "abcdefghijklmno", "abcdefghijklmno", "", "", -1 },
	{ "n1@ns:pid:4711", "n1", "pid:4711", "", -1 }, /* one without a name */
	{ "n1@ns:pid:4711:in:tc", "n1", "pid:4711", "tcx", RUN_DIRECTION_IN },
	{ "ent0@ns:in", "ent0", "in", "", -1 }, /* a namespace may be called so */
};

static void good_points(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct point_text point;

		if (point_parse(good[i].text, &point))
			fail_msg("%s: %s", good[i].text, error_text());
		assert_string_equal(point.interface, good[i].interface);
		assert_string_equal(point.netns, good[i].netns);
		assert_string_equal(point.mode, good[i].mode);
		assert_int_equal(point.hook_given, good[i].mode[0] != 0);
		assert_int_equal(point.direction_given, good[i].direction >= 0);
		if (good[i].direction >= 0)
			assert_int_equal(point.direction, good[i].direction);
	}
}

static void commands_of_namespaces(void **state)
{
	(void)state;
	assert_string_equal(point_ip("").text, "ip");
	assert_string_equal(point_ip("blue").text, "ip -n blue");
	assert_string_equal(point_ip("pid:4711").text, "nsenter -t 4711 -n ip");
}

static void bad_points(void **state)
{
	static const char *const bad[] = { "", "@ns:lpar", "ent0@", "ent0@ns:", "ent0@mars", "ent0@ns:a/b", "ent0@ns:..:/",
					   "ent0:in:out", "ent0:tc:xdp", "ent0:out:xdp", "ent0:xdp:out", "a b", "ent0\n",
					   "abcdefghijklmnop", "../eth0", "ent0@ns:a@ns:b", ":in" };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct point_text point;

		if (point_parse(bad[i], &point) != -EINVAL)
			fail_msg("'%s' was taken for interface '%s' in namespace '%s'", bad[i], point.interface, point.netns);
		assert_true(strlen(error_text()) > 0);
	}
}

/* Whatever is typed, nothing is written past the fields. */
static void random_text(void **state)
{
	static const char letters[] = "ent0@ns:lpar:in:out:xdp:tc/. \t";
	unsigned int seed = 11;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		struct point_text point;
		char text[300];
		int length = rand_r(&seed) % (int)(sizeof(text) - 1);

		for (int k = 0; k < length; k++)
			text[k] = letters[rand_r(&seed) % (sizeof(letters) - 1)];
		text[length] = 0;
		if (!point_parse(text, &point)) {
			assert_in_range(strlen(point.interface), 1, 15);
			assert_true(strlen(point.netns) < RUN_NAME_BYTES);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_points),
		cmocka_unit_test(bad_points),
		cmocka_unit_test(commands_of_namespaces),
		cmocka_unit_test(random_text),
	};

	return cmocka_run_group_tests_name("point syntax", tests, NULL, NULL);
}
