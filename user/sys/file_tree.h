/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading small files below a root: this machine's /, a sysfs without a path, or a captured tree that may hold anything.
 *
 * Owns: staying inside the root (symbolic links are resolved as if the root were /), opening regular files only (never a FIFO or a
 * device, which could block or do something), limits. Leaves to others: which files, what they mean. Used by the collectors.
 */
#ifndef SYS_FILE_TREE_H
#define SYS_FILE_TREE_H

#include <dirent.h>
#include <stddef.h>
#include <sys/types.h>

struct file_tree {
	int fd;		   /* of the root directory; AT_FDCWD for this machine's / */
	const char *strip; /* leading part of paths that stands for the root: "/sys" of a mounted sysfs, "" otherwise */
	int is_captured;   /* links are resolved inside the root */
	int walks;	   /* links are resolved here, the kernel has no openat2() (before 5.6, or a seccomp filter) */
};

/* sysroot NULL: this machine. 0 or -errno with error text: no such directory. */
int file_tree_open(struct file_tree *tree, const char *sysroot);
/* Takes over the descriptor of a mount that stands for the directory `strip`. */
void file_tree_of_mount(struct file_tree *tree, int fd, const char *strip);
void file_tree_close(struct file_tree *tree);

/* Paths are absolute. All return -errno without error text: ELOOP, ENOENT, EACCES …; EINVAL: no regular file. */

/* Reads up to size - 1 bytes, ends them with 0; returns their number. A longer file is cut. */
ssize_t file_tree_read(const struct file_tree *tree, const char *path, char *buffer, size_t size);
/* Reads all of a file of up to limit bytes (EFBIG: longer) into *text, malloc'ed and ended with 0; NULL after a failure. */
int file_tree_read_all(const struct file_tree *tree, const char *path, size_t limit, char **text);
/* The text of a symbolic link, ended with 0 (ENAMETOOLONG when it does not fit). */
int file_tree_link(const struct file_tree *tree, const char *path, char *buffer, size_t size);
/* *directory is to be closed with closedir(). Its entries may be read with readlinkat(dirfd(), name), which follows nothing. */
int file_tree_directory(const struct file_tree *tree, const char *path, DIR **directory);

/* Whether something is there, whatever it is. */
int file_tree_exists(const struct file_tree *tree, const char *path);

/*
 * Calls visit for each path that fits the pattern: "*" stands for any part of one name that does not start with a dot, a component "%"
 * for `name`, letter by letter. The last component need not exist when it has no "*". Stops when visit returns other than 0, and returns
 * that; else 0. Directories that are missing or closed have no entries; of one with more than 65536 entries the rest is left out.
 */
int file_tree_glob(const struct file_tree *tree, const char *pattern, const char *name,
		   int (*visit)(const char *path, void *context), void *context);

#endif
