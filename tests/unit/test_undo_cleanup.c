// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * State files of other processes: dead, living, used again, malformed; and forked children.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/undo.h"
#include "undo_fixture.h"

static void test_cleanup_after_sigkill(void **state)
{
	pid_t child = fixture_start_child(fixture_make_two_files);

	(void)state;
	fixture_reported[0] = '\0';
	assert_int_equal(undo_cleanup_dead(fixture_report), 0); /* it lives */
	assert_string_equal(fixture_reported, "");
	assert_int_equal(fixture_state_files(), 1);
	assert_true(fixture_work_file_exists("one") && fixture_work_file_exists("two"));
	fixture_kill_child(child, SIGKILL);
	assert_int_equal(undo_cleanup_dead(fixture_report), 2);
	assert_string_equal(fixture_reported, "file:two:0 file:one:0 ");
	assert_false(fixture_work_file_exists("one") || fixture_work_file_exists("two"));
	assert_int_equal(fixture_state_files(), 0);
	assert_int_equal(undo_cleanup_dead(fixture_report), 0);
}

static void test_cleanup_of_a_zombie(void **state)
{
	pid_t child = fixture_start_child(fixture_make_two_files);
	siginfo_t info;

	(void)state;
	kill(child, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(undo_cleanup_dead(fixture_report), 2);
	waitpid(child, NULL, 0);
}

static void test_cleanup_leaves_own_and_foreign_files(void **state)
{
	char path[160];

	(void)state;
	undo_push("file", "mine", NULL);
	snprintf(path, sizeof(path), "%s/notes.undo", fixture_state_dir);
	fixture_touch(path);
	snprintf(path, sizeof(path), "%s/1x-22.undo", fixture_state_dir);
	fixture_touch(path);
	assert_int_equal(undo_cleanup_dead(fixture_report), 0);
	assert_int_equal(fixture_state_files(), 3);
	assert_string_equal(fixture_undone, "");
}

/* Same pid as a living process, another start time: the pid was used again. */
static void test_cleanup_compares_start_times(void **state)
{
	(void)state;
	fixture_write_state(getpid(), 1, "#ile\tstruck\nfile\told\n\nfile\tunfinished");
	fixture_reported[0] = '\0';
	assert_int_equal(undo_cleanup_dead(fixture_report), 1);
	assert_string_equal(fixture_reported, "file:old:0 ");
	assert_int_equal(fixture_state_files(), 0);
}

static void test_cleanup_keeps_what_failed(void **state)
{
	char blocker[128], planted[400], expected[400];

	(void)state;
	snprintf(blocker, sizeof(blocker), "%s/blocker", fixture_work_dir);
	fixture_touch(blocker);
	snprintf(planted, sizeof(planted), "file\ta\nstuck\ts\t%s\nfuture\tx\nfile\tb\n", blocker);
	fixture_write_state(999999999, 1, planted);
	fixture_reported[0] = '\0';
	assert_int_equal(undo_cleanup_dead(fixture_report), 2);
	snprintf(expected, sizeof(expected), "file:b:0 future:x:%d stuck:s:%d file:a:0 ", -ENOTSUP, -EBUSY);
	assert_string_equal(fixture_reported, expected);
	snprintf(expected, sizeof(expected), "#ile\ta\nstuck\ts\t%s\nfuture\tx\n", blocker);
	assert_string_equal(fixture_state_text(), expected);
	unlink(blocker);
	fixture_reported[0] = '\0';
	assert_int_equal(undo_cleanup_dead(fixture_report), 1);
	assert_int_equal(fixture_state_files(), 1);
}

/* A file with a record of too many fields is reported, not half undone, and the files after it are still looked at. */
static void test_cleanup_of_a_malformed_file(void **state)
{
	(void)state;
	fixture_write_state(999999999, 2, "file\ta\nfile\t1\t2\t3\t4\t5\t6\t7\n");
	fixture_write_state(999999999, 1, "file\tgood\n");
	assert_int_equal(undo_cleanup_dead(fixture_report), -EBADMSG);
	assert_non_null(strstr(error_text(), "999999999-2.undo"));
	assert_string_equal(fixture_undone, "good ");
}

static void test_list_and_claims(void **state)
{
	pid_t child = fixture_start_child(fixture_make_two_files);

	(void)state;
	undo_push("file", "mine", NULL);
	fixture_reported[0] = '\0';
	assert_int_equal(undo_list_dead(fixture_report), 0);
	assert_int_equal(undo_claim("file", "one"), UNDO_CLAIM_LIVING);
	assert_int_equal(undo_claim("file", "mine"), UNDO_CLAIM_LIVING);
	assert_int_equal(undo_claim("file", "three"), UNDO_CLAIM_NONE);
	assert_int_equal(undo_claim("stuck", "one"), UNDO_CLAIM_NONE);
	fixture_kill_child(child, SIGKILL);
	assert_int_equal(undo_list_dead(fixture_report), 2);
	assert_string_equal(fixture_reported, "file:two:0 file:one:0 ");
	assert_true(fixture_work_file_exists("one")); /* told, not done */
	assert_int_equal(undo_claim("file", "one"), UNDO_CLAIM_DEAD);
	assert_int_equal(undo_claim("file", "mine"), UNDO_CLAIM_LIVING);
	assert_int_equal(undo_cleanup_dead(fixture_report), 2);
	assert_int_equal(undo_claim("file", "one"), UNDO_CLAIM_NONE);
}

static void child_runs_all(void)
{
	undo_run_all();
	undo_push("file", "child", NULL);
}

static void test_child_does_not_undo_for_its_parent(void **state)
{
	pid_t child;

	(void)state;
	undo_push("file", "parent", NULL);
	child = fixture_start_child(child_runs_all);
	assert_int_equal(fixture_state_files(), 2);
	fixture_kill_child(child, SIGKILL);
	assert_int_equal(undo_mark(), 1);
	fixture_reported[0] = '\0';
	assert_int_equal(undo_cleanup_dead(fixture_report), 1);
	assert_string_equal(fixture_reported, "file:child:0 ");
	assert_string_equal(fixture_state_text(), "file\tparent\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_cleanup_after_sigkill, fixture_set_up, fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_cleanup_of_a_zombie, fixture_set_up, fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_cleanup_leaves_own_and_foreign_files, fixture_set_up,
						fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_cleanup_compares_start_times, fixture_set_up, fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_cleanup_keeps_what_failed, fixture_set_up, fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_cleanup_of_a_malformed_file, fixture_set_up, fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_list_and_claims, fixture_set_up, fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_child_does_not_undo_for_its_parent, fixture_set_up,
						fixture_tear_down),
	};

	fixture_start();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
