/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The process that `hopcap accel start` leaves behind: it holds the fast path, follows the bridge and answers `status`.
 *
 * Owns: forking, one pid file and one socket a bridge under /run/hopcap (HOPCAP_STATE_DIR), who holds them. Leaves to others: the fast
 * path (accel.c), text (cmd/). The pid file is locked by its process for life: a file without a lock was left by one that was killed.
 * What that one had changed stands in its undo file, and `hopcap cleanup` undoes it; its programs went with it.
 */
#ifndef ACCEL_ACCEL_DAEMON_H
#define ACCEL_ACCEL_DAEMON_H

#include <sys/types.h>

#include "accel/accel.h"

struct accel_name {
	char bridge[16];
	char netns[64]; /* "": the namespace of whoever asks */
};

/* Returns once the fast path works: its pid, or -errno with error text that says why not (EEXIST: there is one). */
pid_t accel_daemon_start(const struct accel_request *request);
/* Ends it and waits until all is undone. 0; -ENOENT with error text: there is none; -errno. */
int accel_daemon_stop(const struct accel_name *name);
/* What accel_status() says there; *status is for json_decref(). 0, -ENOENT with error text, or -errno. */
int accel_daemon_status(const struct accel_name *name, json_t **status);
/* Those that run; *names is malloc'ed. Their number or -errno with error text. */
int accel_daemon_list(struct accel_name **names);

#endif
