/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A directory that looks like sys/ and proc/ of a machine, made file by file and removed again.
 */
#ifndef TESTS_UNIT_MADE_TREE_H
#define TESTS_UNIT_MADE_TREE_H

#include <stddef.h>

struct made_tree {
	char root[64];
};

/* All end the process when the file system refuses. Paths start with '/', directories are made on the way. */
void made_tree_start(struct made_tree *tree);
void made_tree_end(struct made_tree *tree);
void made_tree_file(const struct made_tree *tree, const char *path, const char *text);
void made_tree_bytes(const struct made_tree *tree, const char *path, const void *bytes, size_t size);
void made_tree_link(const struct made_tree *tree, const char *path, const char *target);
void made_tree_fifo(const struct made_tree *tree, const char *path);
void made_tree_mode(const struct made_tree *tree, const char *path, unsigned int mode);

#endif
