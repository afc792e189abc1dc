/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bridge fast path as one thing: set up, followed, taken down.
 *
 * Owns: joining ports, table and programs; the loop that follows the kernel. Leaves to others: living on after the command
 * (accel_daemon.c), text (cmd/accel_output.c).
 *
 * Nothing is stale by construction: programs, maps and links belong to the process that follows. When it dies, the kernel takes
 * the programs off the ports and all frames go through the bridge, as if there had been none.
 */
#ifndef ACCEL_ACCEL_H
#define ACCEL_ACCEL_H

#include <jansson.h>
#include <stdint.h>

struct accel_request {
	const char *bridge;
	const char *netns; /* "" the caller's */
	const char *ports; /* comma-separated names; NULL or "": all, also those that come later */
	int one_way;	   /* with ports: the first one needs to be a source only, the others need to be targets only */
	int set_offloads;  /* change what stands in the way, undone by accel_close() */
	int force_uplink;  /* also ports that carry the default route or this ssh session */
};

struct accel;

/*
 * Sets it up: refuses (with error text, one reason) when the bridge or a named port cannot be used, or fewer than two ports could
 * exchange frames. Changes are on the calling thread's undo stack. 0 or -errno.
 */
int accel_open(const struct accel_request *request, struct accel **accel);
/* Detaches; undoes what accel_open() changed. 0 or -errno with error text (something could not be undone). */
int accel_close(struct accel *accel);

/*
 * Follows the kernel until stop_fd can be read: 0. -ENODEV with error text: the bridge went. Another -errno with error text: it
 * cannot be followed any more; then nothing takes the fast path any more. control_fd (-1: none): on_control is called when it can be read.
 */
int accel_follow(struct accel *accel, int stop_fd, int control_fd,
		 void (*on_control)(struct accel *accel, int control_fd));

/* For a run that measures the bypass: the same with the loop in a thread of its own. *accel is for accel_stop() only, and for
 * accel_status(). */
int accel_start(const struct accel_request *request, struct accel **accel);
int accel_stop(struct accel *accel);

/* Frames that went past the bridge since it was started. From any thread. */
uint64_t accel_frames(struct accel *accel);

/* What it does, counters included; README describes it. NULL: out of memory. From any thread. */
json_t *accel_status(struct accel *accel);

#endif
