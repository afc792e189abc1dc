/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an accelerated bridge is made of; for accel.c and accel_status.c. */
#ifndef ACCEL_ACCEL_STATE_H
#define ACCEL_ACCEL_STATE_H

#include <pthread.h>

#include "accel/accel.h"
#include "accel/accel_ports.h"
#include "accel/fast_path.h"
#include "accel/fdb_follow.h"

struct accel {
	char bridge[16], netns[64], ports_text[1024];
	struct accel_request request;
	struct fast_path path;
	struct fdb_follow follow;
	struct accel_ports ports;
	int undo_mark;
	double begin_s;	      /* CLOCK_MONOTONIC */
	pthread_mutex_t lock; /* between the thread that follows and accel_status() */
	/* accel_start() */
	pthread_t thread;
	int stop_fd, result;
	char why[512];
};

#endif
