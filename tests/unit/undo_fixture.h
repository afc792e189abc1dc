/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the tests of the undo stack share: a state directory for each test, handlers that log, children to be killed.
 *
 * The handlers undo the making of files: "file" removes its second argument, if there is one; "stuck" fails while the file
 * that is its second argument exists. Both log their first argument.
 */
#ifndef TESTS_UNIT_UNDO_FIXTURE_H
#define TESTS_UNIT_UNDO_FIXTURE_H

#include <sys/types.h>

extern char fixture_work_dir[64], fixture_state_dir[80];
/* First arguments in the order of undoing, each with a space behind it; those of "stuck" with "!" in front. */
extern char fixture_undone[1024];
/* What fixture_report() was told: "kind:argument:result ". */
extern char fixture_reported[1024];

/* First thing in main(): sets the handlers, and ends a process that a second signal has started anew. */
void fixture_start(void);
int fixture_set_up(void **state);
int fixture_tear_down(void **state);

void fixture_report(int pid, const char *kind, const char *argument, int result);
/* Content of the only state file; "" when there is none. */
const char *fixture_state_text(void);
int fixture_state_files(void);
void fixture_touch(const char *path);
/* Writes a state file of a process that never was, or of this one in an earlier life. */
void fixture_write_state(int pid, unsigned long long start_time, const char *text);

/* Forks a child that calls `act` and then waits to be killed; returns once `act` has returned. */
pid_t fixture_start_child(void (*act)(void));
/* Returns its wait status. */
int fixture_kill_child(pid_t child, int signal_number);
/* For `act`: makes the files "one" and "two" in the work directory, registered. */
void fixture_make_two_files(void);
int fixture_work_file_exists(const char *name);

#endif
