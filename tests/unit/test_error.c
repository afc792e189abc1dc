// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Error text and exit statuses.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"

static void *other_thread(void *text)
{
	strcpy(text, error_text());
	error_set(EIO, "of the other thread");
	return NULL;
}

static void test_text_belongs_to_its_thread(void **state)
{
	char seen[64] = "?";
	pthread_t thread;

	(void)state;
	assert_int_equal(error_set(ENOENT, "no interface %s", "tap7"), -ENOENT);
	assert_int_equal(pthread_create(&thread, NULL, other_thread, seen), 0);
	pthread_join(thread, NULL);
	assert_string_equal(seen, "");
	assert_string_equal(error_text(), "no interface tap7");
}

static void test_text_may_hold_the_text_before(void **state)
{
	(void)state;
	error_set(EINVAL, "inner");
	assert_int_equal(error_set(EINVAL, "outer: %s", error_text()), -EINVAL);
	assert_string_equal(error_text(), "outer: inner");
}

static void test_long_text_is_cut(void **state)
{
	char text[5000];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	error_set(EINVAL, "%s", text);
	assert_in_range(strlen(error_text()), 500, sizeof(text) - 2);
	error_set(EINVAL, "short");
	assert_string_equal(error_text(), "short");
}

static void test_exit_statuses(void **state)
{
	(void)state;
	assert_int_equal(error_exit_status(0), EXIT_STATUS_FINE);
	assert_int_equal(error_exit_status(-EINVAL), EXIT_STATUS_USAGE);
	assert_int_equal(error_exit_status(-EFAULT), EXIT_STATUS_INTERNAL);
	assert_int_equal(error_exit_status(-ENOTRECOVERABLE), EXIT_STATUS_INTERNAL);
	assert_int_equal(error_exit_status(-ENODEV), EXIT_STATUS_ENVIRONMENT);
	assert_int_equal(error_exit_status(-EPERM), EXIT_STATUS_ENVIRONMENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text_belongs_to_its_thread),
		cmocka_unit_test(test_text_may_hold_the_text_before),
		cmocka_unit_test(test_long_text_is_cut),
		cmocka_unit_test(test_exit_statuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
