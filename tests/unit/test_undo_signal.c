// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The first signal asks, the second one ends the process with everything undone.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/undo.h"
#include "undo_fixture.h"

static void child_catches_signals(void)
{
	if (undo_catch_signals())
		_exit(99);
	fixture_make_two_files();
}

static void wait_for_flag(pid_t child)
{
	char path[64], line[256];
	unsigned long long pending = 1;

	/* Delivered means: no longer pending. */
	while (pending) {
		FILE *file;

		snprintf(path, sizeof(path), "/proc/%d/status", (int)child);
		file = fopen(path, "r");
		assert_non_null(file);
		while (fgets(line, sizeof(line), file))
			if (sscanf(line, "ShdPnd: %llx", &pending) == 1)
				break;
		fclose(file);
	}
}

static void test_first_signal_asks_second_ends(void **state)
{
	pid_t child = fixture_start_child(child_catches_signals);
	int status;

	(void)state;
	kill(child, SIGINT);
	wait_for_flag(child);
	assert_true(fixture_work_file_exists("one") && fixture_work_file_exists("two"));
	status = fixture_kill_child(child, SIGTERM);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 128 + SIGTERM);
	assert_false(fixture_work_file_exists("one") || fixture_work_file_exists("two"));
	assert_int_equal(fixture_state_files(), 0);
}

static void test_second_hangup_changes_nothing(void **state)
{
	pid_t child = fixture_start_child(child_catches_signals);

	(void)state;
	kill(child, SIGHUP);
	wait_for_flag(child);
	kill(child, SIGHUP);
	wait_for_flag(child);
	assert_true(fixture_work_file_exists("one"));
	fixture_kill_child(child, SIGKILL);
	assert_int_equal(undo_cleanup_dead(fixture_report), 2);
}

static void child_waits_for_interruption(void)
{
	if (undo_interrupted() || undo_catch_signals())
		_exit(99);
	raise(SIGTERM);
	if (undo_interrupted() != SIGTERM)
		_exit(98);
	raise(SIGHUP);
	if (undo_interrupted() != SIGTERM)
		_exit(97);
}

static void test_flag_holds_the_first_signal(void **state)
{
	(void)state;
	fixture_kill_child(fixture_start_child(child_waits_for_interruption), SIGKILL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_first_signal_asks_second_ends, fixture_set_up, fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_second_hangup_changes_nothing, fixture_set_up, fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_flag_holds_the_first_signal, fixture_set_up, fixture_tear_down),
	};

	fixture_start();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
