/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One line of context for a failure.
 *
 * Owns: the text that goes with a negative errno. Leaves to others: printing it (cmd/, once). Below cmd/ a function that
 * fails returns error_set(...) and whoever passes the failure on returns the number unchanged.
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

/* Remembers the formatted line for this thread and returns -code (code > 0, an errno). A good line says what failed, on which
 * interface, why, and what to do. */
int error_set(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The line of the last error_set of this thread; "" when there was none. */
const char *error_text(void);

/* Exit statuses, the same for every command. */
enum exit_status {
	EXIT_STATUS_FINE = 0,
	EXIT_STATUS_FINDINGS = 1,    /* findings, or a goal was missed */
	EXIT_STATUS_USAGE = 2,
	EXIT_STATUS_ENVIRONMENT = 3, /* the environment lacks something */
	EXIT_STATUS_INTERNAL = 4,
};

/* Status for a failure number: EINVAL → usage, EFAULT/ENOTRECOVERABLE → internal, everything else → environment. */
int error_exit_status(int negative_errno);

#endif
