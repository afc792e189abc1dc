// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The undo stack of one process: order, marks, failures, the state file.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/undo.h"
#include "undo_fixture.h"

static void test_undoes_newest_first(void **state)
{
	(void)state;
	assert_int_equal(undo_push("file", "a", NULL), 0);
	assert_int_equal(undo_push("file", "b", NULL), 0);
	assert_int_equal(undo_push("file", "c", NULL), 0);
	assert_int_equal(undo_run_all(), 0);
	assert_string_equal(fixture_undone, "c b a ");
	assert_int_equal(undo_run_all(), 0);
	assert_string_equal(fixture_undone, "c b a ");
}

static void test_marks_nest(void **state)
{
	int outer, inner;

	(void)state;
	undo_push("file", "a", NULL);
	outer = undo_mark();
	undo_push("file", "b", NULL);
	inner = undo_mark();
	undo_push("file", "c", NULL);
	assert_int_equal(undo_run_to(inner), 0);
	assert_string_equal(fixture_undone, "c ");
	undo_push("file", "d", NULL);
	assert_int_equal(undo_run_to(outer), 0);
	assert_string_equal(fixture_undone, "c d b ");
	assert_int_equal(undo_mark(), outer);
	assert_string_equal(fixture_state_text(), "file\ta\n");
}

static void test_file_is_written_before_the_change_and_removed_at_the_end(void **state)
{
	struct stat status;

	(void)state;
	assert_int_equal(fixture_state_files(), 0);
	assert_int_equal(undo_push("file", "first", "", "third", NULL), 0);
	assert_string_equal(fixture_state_text(), "file\tfirst\t\tthird\n");
	assert_int_equal(stat(fixture_state_dir, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0755);
	assert_int_equal(undo_push("file", "next", NULL), 0);
	assert_string_equal(fixture_state_text(), "file\tfirst\t\tthird\nfile\tnext\n");
	assert_int_equal(undo_run_all(), 0);
	assert_int_equal(fixture_state_files(), 0);
}

static void test_failed_undo_goes_on_and_stays(void **state)
{
	char blocker[128], expected[400];

	(void)state;
	snprintf(blocker, sizeof(blocker), "%s/blocker", fixture_work_dir);
	fixture_touch(blocker);
	undo_push("file", "a", NULL);
	undo_push("stuck", "s1", blocker, NULL);
	undo_push("file", "b", NULL);
	undo_push("stuck", "s2", blocker, NULL);
	undo_push("file", "c", NULL);
	assert_int_equal(undo_run_all(), -EBUSY);
	assert_string_equal(error_text(), "s2 is stuck");
	assert_string_equal(fixture_undone, "c !s2 b !s1 a ");
	snprintf(expected, sizeof(expected), "#ile\ta\nstuck\ts1\t%s\n#ile\tb\nstuck\ts2\t%s\n", blocker, blocker);
	assert_string_equal(fixture_state_text(), expected);
	unlink(blocker);
	fixture_undone[0] = '\0';
	assert_int_equal(undo_run_all(), 0);
	assert_string_equal(fixture_undone, "!s2 !s1 ");
	assert_int_equal(fixture_state_files(), 0);
}

static void test_success_keeps_the_error_text(void **state)
{
	(void)state;
	undo_push("file", "a", NULL);
	error_set(EIO, "what went wrong first");
	assert_int_equal(undo_run_all(), 0);
	assert_string_equal(error_text(), "what went wrong first");
}

static void test_forget_leaves_the_change(void **state)
{
	int mark;

	(void)state;
	undo_push("file", "a", NULL);
	mark = undo_mark();
	undo_push("file", "b", NULL);
	undo_push("file", "c", NULL);
	undo_forget_to(mark);
	assert_string_equal(fixture_state_text(), "file\ta\n");
	assert_int_equal(undo_run_all(), 0);
	assert_string_equal(fixture_undone, "a ");
	undo_push("file", "b", NULL);
	undo_forget_to(0);
	assert_int_equal(fixture_state_files(), 0);
}

static void test_malformed_records_are_refused(void **state)
{
	(void)state;
	assert_int_equal(undo_push("file", "tab\there", NULL), -EINVAL);
	assert_int_equal(undo_push("file", "line\nhere", NULL), -EINVAL);
	assert_int_equal(undo_push("nobody", "a", NULL), -ENOTRECOVERABLE);
	assert_int_equal(undo_push("file", "1", "2", "3", "4", "5", "6", "7", NULL), -ENOTRECOVERABLE);
	assert_int_equal(undo_mark(), 0);
	assert_int_equal(undo_push("file", "1", "2", "3", "4", "5", "6", NULL), 0);
	assert_int_equal(undo_run_all(), 0);
	assert_string_equal(fixture_undone, "1 ");
}

static void test_directory_that_cannot_be_made(void **state)
{
	(void)state;
	setenv("HOPCAP_STATE_DIR", "/nonexistent/below", 1);
	assert_int_equal(undo_push("file", "a", NULL), -ENOENT);
	assert_non_null(strstr(error_text(), "/nonexistent/below"));
	assert_int_equal(undo_mark(), 0);
	assert_int_equal(undo_cleanup_dead(fixture_report), 0);
	setenv("HOPCAP_STATE_DIR", fixture_state_dir, 1);
}

/* Records many, undoes to random marks, and compares with a plain array. */
static void test_random_pushes_and_marks(void **state)
{
	char name[16], expected[64];
	int depth = 0;

	(void)state;
	srand(11);
	for (int round = 0; round < 300; round++) {
		if (rand() % 3) {
			snprintf(name, sizeof(name), "r%d", depth);
			assert_int_equal(undo_push("file", name, NULL), 0);
			depth++;
		} else {
			int mark = depth ? rand() % depth : 0;

			fixture_undone[0] = '\0';
			if (depth - mark > 100)
				mark = depth - 100;
			assert_int_equal(undo_run_to(mark), 0);
			snprintf(expected, sizeof(expected), "r%d ", depth - 1);
			if (depth > mark)
				assert_int_equal(strncmp(fixture_undone, expected, strlen(expected)), 0);
			depth = mark;
		}
		assert_int_equal(undo_mark(), depth);
		assert_int_equal(fixture_state_files(), depth > 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_undoes_newest_first, fixture_set_up, fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_marks_nest, fixture_set_up, fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_file_is_written_before_the_change_and_removed_at_the_end,
						fixture_set_up, fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_failed_undo_goes_on_and_stays, fixture_set_up, fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_success_keeps_the_error_text, fixture_set_up, fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_forget_leaves_the_change, fixture_set_up, fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_malformed_records_are_refused, fixture_set_up, fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_directory_that_cannot_be_made, fixture_set_up, fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_random_pushes_and_marks, fixture_set_up, fixture_tear_down),
	};

	fixture_start();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
