/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state file of an undo stack. Used by base/undo*.c only.
 *
 * Owns: names, format and atomicity. A record is one line; striking one out either cuts the file (newest record) or
 * overwrites its first byte with '#': neither needs space on the disk, and either is done or not done when the process
 * is killed. A last line without its newline was never finished, so its change was never made: it is ignored.
 */
#ifndef BASE_UNDO_FILE_H
#define BASE_UNDO_FILE_H

#include <limits.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/undo.h"

struct undo_record {
	char *line;	/* malloc'ed; the fields point into it */
	int field_count; /* kind and arguments */
	char *fields[1 + UNDO_MAX_ARGUMENTS];
	off_t offset;	/* of the line in the file */
};

struct undo_file_name {
	int pid;
	unsigned long long start_time; /* clock ticks after boot, as in /proc/PID/stat */
};

struct undo_file {
	int fd; /* -1: closed */
	char path[PATH_MAX];
	int count, capacity;
	struct undo_record *records; /* oldest first */
	off_t end;		     /* where the next record goes */
};

#define UNDO_FILE_CLOSED { .fd = -1 }

/* The file of this process, made when it is not there; records that it already holds become the oldest of the stack. */
int undo_file_open_own(struct undo_file *file);
/* The file of a dead process, locked against other cleanups: -EBUSY when one is at it, -ENOENT when it is gone. */
int undo_file_open_dead(struct undo_file *file, const struct undo_file_name *name);
/* Any file, only to look at: neither locked nor changed. -ENOENT when it is gone. */
int undo_file_open_to_read(struct undo_file *file, const struct undo_file_name *name);
int undo_file_append(struct undo_file *file, const char *const *fields, int count);
/* Takes one record out of the file and of records[]. */
void undo_file_strike(struct undo_file *file, int index);
/* Deletes the file and closes it. */
void undo_file_remove(struct undo_file *file);
/* Frees and closes; the file stays. */
void undo_file_close(struct undo_file *file);

/* All state files, youngest process first; *names is malloc'ed. Their number, or -errno. */
int undo_file_list(struct undo_file_name **names);
int undo_file_owner_lives(const struct undo_file_name *name);

/* undo.c: takes over this process's own state file and undoes all of it. */
int undo_resume_own(void);

#endif
