/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The undo stack: every change to the system is registered here before it is made.
 *
 * Owns: the order of undoing, and the state file that lets another process undo after SIGKILL. Leaves to others: what an
 * action does (sys/undo_actions.c supplies the handler table). Knows no networking.
 *
 * State file: /run/hopcap/<pid>-<starttime>.undo, one record a line, fields separated by tabs: kind, then arguments (no
 * tabs or newlines in them). It is appended and synced before the change is made; removed when the stack is empty.
 * A record must be safe to undo when the change never happened (handlers treat "not there" as success).
 * HOPCAP_STATE_DIR in the environment names another directory than /run/hopcap.
 *
 * One thread of a process pushes and undoes; others may call undo_interrupted() only. A forked child starts with an empty
 * stack and leaves its parent's file alone.
 */
#ifndef BASE_UNDO_H
#define BASE_UNDO_H

#define UNDO_MAX_ARGUMENTS 6

struct undo_handler {
	const char *kind;
	/* Undoes; 0, or -errno with error text. "Already gone" is 0. */
	int (*undo)(int argument_count, char **arguments);
};

/* Sets the handler table (ends with kind NULL). Called once by main(). */
void undo_set_handlers(const struct undo_handler *handlers);

/* Registers one action; arguments end with NULL. 0 or -errno (then the change must not be made). */
int undo_push(const char *kind, ...) __attribute__((sentinel));

/* Undoes all registered actions, newest first; goes on after a failure and returns the first. What failed stays registered
 * and in the state file. When all went well, the error text is what it was before the call. */
int undo_run_all(void);

/* Undoes actions back to a mark taken earlier; marks nest. */
int undo_mark(void);
int undo_run_to(int mark);

/* Forgets the actions registered since a mark without undoing them: their changes are meant to stay (`lab up`). */
void undo_forget_to(int mark);

/* For `hopcap cleanup`: undoes the state files of processes that are gone (pid and start time compared). Calls
 * report(pid, kind, first_argument, result) for each record. Returns the number of records undone, or -errno. */
int undo_cleanup_dead(void (*report)(int pid, const char *kind, const char *argument, int result));

/* Only tells what undo_cleanup_dead would undo: report(pid, kind, first_argument, 0). Returns the number of records, or
 * -errno. */
int undo_list_dead(void (*report)(int pid, const char *kind, const char *argument, int result));

/* Who has a record of this kind with this first argument: a living process (this one included), dead ones only, nobody;
 * or -errno. */
enum undo_claim { UNDO_CLAIM_NONE, UNDO_CLAIM_DEAD, UNDO_CLAIM_LIVING };
int undo_claim(const char *kind, const char *argument);

/* SIGINT/SIGTERM/SIGHUP handling: after undo_catch_signals() the first signal sets a flag that loops poll, and interrupts
 * system calls (no SA_RESTART). The second SIGINT or SIGTERM ends what the process does at once: it starts itself anew from
 * within the signal handler, which leaves no thread and no lock behind, and the new image undoes what the state file holds.
 * So main() must call undo_finish() first thing after undo_set_handlers(). */
int undo_catch_signals(void);
int undo_interrupted(void); /* signal number, or 0 */

/* In a process that was started anew by a second signal: undoes all, sets *result as undo_run_all() would and returns the
 * signal's number; the caller then exits with 128 + that number. Otherwise returns 0 and does nothing. */
int undo_finish(int *result);

#endif
