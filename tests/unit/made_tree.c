// SPDX-License-Identifier: GPL-2.0-or-later
/* See made_tree.h. */
#include "made_tree.h"

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void die(const char *what)
{
	perror(what);
	abort();
}

void made_tree_start(struct made_tree *tree)
{
	strcpy(tree->root, "/tmp/hopcap-tree-XXXXXX");
	if (!mkdtemp(tree->root))
		die("mkdtemp");
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *walk)
{
	(void)status;
	(void)type;
	(void)walk;
	return remove(path);
}

void made_tree_end(struct made_tree *tree)
{
	if (nftw(tree->root, remove_entry, 16, FTW_DEPTH | FTW_PHYS) < 0)
		die(tree->root);
}

/* Makes the directories above. */
static void whole_path(const struct made_tree *tree, const char *path, char whole[PATH_MAX])
{
	snprintf(whole, PATH_MAX, "%s%s", tree->root, path);
	for (char *slash = whole + strlen(tree->root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(whole, 0755);
		*slash = '/';
	}
}

void made_tree_bytes(const struct made_tree *tree, const char *path, const void *bytes, size_t size)
{
	char whole[PATH_MAX];
	FILE *file;

	whole_path(tree, path, whole);
	file = fopen(whole, "w");
	if (!file || fwrite(bytes, 1, size, file) != size || fclose(file))
		die(whole);
}

void made_tree_file(const struct made_tree *tree, const char *path, const char *text)
{
	made_tree_bytes(tree, path, text, strlen(text));
}

void made_tree_link(const struct made_tree *tree, const char *path, const char *target)
{
	char whole[PATH_MAX];

	whole_path(tree, path, whole);
	if (symlink(target, whole))
		die(whole);
}

void made_tree_fifo(const struct made_tree *tree, const char *path)
{
	char whole[PATH_MAX];

	whole_path(tree, path, whole);
	if (mkfifo(whole, 0644))
		die(whole);
}

void made_tree_mode(const struct made_tree *tree, const char *path, unsigned int mode)
{
	char whole[PATH_MAX];

	whole_path(tree, path, whole);
	if (chmod(whole, mode))
		die(whole);
}
