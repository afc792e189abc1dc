// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Small files below a root; see file_tree.h.
 *
 * Of a captured tree a file is opened in two steps: first as a place (O_PATH), which touches nothing, then, if it is a regular file, for
 * reading. The place is found by openat2(RESOLVE_IN_ROOT); where that is missing, by walking the path name by name with a stack of
 * directories, so that ".." cannot lead above the root, whatever is moved meanwhile.
 */
#include "sys/file_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"

#define MAX_LINKS 40
#define MAX_DEPTH 64
#define MAX_ENTRIES 65536

int file_tree_open(struct file_tree *tree, const char *sysroot)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT };
	long probe;

	*tree = (struct file_tree){ .fd = AT_FDCWD, .strip = "" };
	if (!sysroot)
		return 0;
	tree->is_captured = 1;
	tree->fd = open(sysroot, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (tree->fd < 0)
		return error_set(errno,
				 "cannot open the sysroot %s: %s; name a directory with sys/ and proc/ of a machine",
				 sysroot, strerror(errno));
	probe = syscall(SYS_openat2, tree->fd, "/", &how, sizeof(how));
	tree->walks = probe < 0;
	if (probe >= 0)
		close((int)probe);
	return 0;
}

void file_tree_of_mount(struct file_tree *tree, int fd, const char *strip)
{
	*tree = (struct file_tree){ .fd = fd, .strip = strip };
}

void file_tree_close(struct file_tree *tree)
{
	if (tree->fd >= 0)
		close(tree->fd);
	tree->fd = -1;
}

/* --- a place in a captured tree, without openat2 --- */

struct walk {
	int fds[MAX_DEPTH]; /* [0] the root, not ours to close */
	int depth;
	int links;
	char rest[2 * PATH_MAX]; /* what is still to be walked */
};

static void walk_to_root(struct walk *walk)
{
	while (walk->depth > 0)
		close(walk->fds[walk->depth--]);
}

/* fd is a symbolic link: its text goes before the rest. */
static int walk_through_link(struct walk *walk, int fd)
{
	char target[PATH_MAX], rest[sizeof(walk->rest)];
	ssize_t length = readlinkat(fd, "", target, sizeof(target) - 1);

	if (length < 0)
		return -errno;
	target[length] = '\0';
	if (++walk->links > MAX_LINKS)
		return -ELOOP;
	strcpy(rest, walk->rest);
	if (snprintf(walk->rest, sizeof(walk->rest), "%s/%s", target, rest) >= (int)sizeof(walk->rest))
		return -ENAMETOOLONG;
	if (target[0] == '/')
		walk_to_root(walk);
	return 0;
}

static int walk_step(struct walk *walk, const char *name, int follow_last)
{
	struct stat status;
	int fd, result = 0;

	if (!strcmp(name, "."))
		return 0;
	if (!strcmp(name, "..")) {
		if (walk->depth > 0)
			close(walk->fds[walk->depth--]);
		return 0;
	}
	fd = openat(walk->fds[walk->depth], name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &status) < 0)
		result = -errno;
	else if (S_ISLNK(status.st_mode) && (follow_last || walk->rest[strspn(walk->rest, "/")]))
		result = walk_through_link(walk, fd);
	else if (walk->depth + 1 == MAX_DEPTH)
		result = -ENAMETOOLONG;
	else {
		walk->fds[++walk->depth] = fd;
		return 0;
	}
	close(fd);
	return result;
}

/* A place descriptor of the caller's, or -errno. */
static int walk_path(int root, const char *path, int follow_last)
{
	struct walk walk = { .fds = { root } };
	char name[NAME_MAX + 1];
	int result = 0;

	if (strlen(path) >= PATH_MAX)
		return -ENAMETOOLONG;
	strcpy(walk.rest, path);
	while (result == 0) {
		char *start = walk.rest + strspn(walk.rest, "/");
		size_t length = strcspn(start, "/");

		if (length == 0)
			break;
		if (length > NAME_MAX) {
			result = -ENAMETOOLONG;
			break;
		}
		memcpy(name, start, length);
		name[length] = '\0';
		memmove(walk.rest, start + length, strlen(start + length) + 1);
		result = walk_step(&walk, name, follow_last);
	}
	if (result == 0) {
		result = walk.depth > 0 ? walk.fds[walk.depth--] : openat(root, ".", O_PATH | O_CLOEXEC);
		if (result < 0)
			result = -errno;
	}
	walk_to_root(&walk);
	return result;
}

/* --- opening --- */

static const char *inside(const struct file_tree *tree, const char *path)
{
	size_t length = strlen(tree->strip);

	if (!tree->is_captured && length == 0)
		return path;
	path += strncmp(path, tree->strip, length) ? 0 : length;
	path += strspn(path, "/");
	return *path ? path : ".";
}

/* Of a captured tree: where the path leads to, nothing opened yet. */
static int find_place(const struct file_tree *tree, const char *path, int follow_last)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | (follow_last ? 0 : O_NOFOLLOW),
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	long fd;

	if (tree->walks)
		return walk_path(tree->fd, inside(tree, path), follow_last);
	do
		fd = syscall(SYS_openat2, tree->fd, inside(tree, path), &how, sizeof(how));
	while (fd < 0 && errno == EINTR);
	return fd < 0 ? -errno : (int)fd;
}

/* Opens a place of the wanted type (S_IFREG, S_IFDIR) for reading. */
static int open_place(int place, mode_t type, int flags)
{
	char path[40];
	struct stat status;
	int fd;

	if (fstat(place, &status) < 0)
		return -errno;
	if ((status.st_mode & S_IFMT) != type)
		return type == S_IFDIR ? -ENOTDIR : -EINVAL;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", place);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | flags);
	return fd < 0 ? -errno : fd;
}

static int open_in(const struct file_tree *tree, const char *path, mode_t type)
{
	int flags = type == S_IFDIR ? O_DIRECTORY : 0, fd, place;
	struct stat status;

	if (tree->is_captured) {
		place = find_place(tree, path, 1);
		if (place < 0)
			return place;
		fd = open_place(place, type, flags);
		close(place);
		return fd;
	}
	fd = openat(tree->fd, inside(tree, path), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | flags);
	if (fd < 0)
		return -errno;
	if (type == S_IFREG && (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))) {
		close(fd);
		return -EINVAL;
	}
	return fd;
}

/* Up to size bytes: their number or -errno. */
static ssize_t read_fully(int fd, char *buffer, size_t size)
{
	size_t used = 0;

	while (used < size) {
		ssize_t got = read(fd, buffer + used, size - used);

		if (got == 0)
			break;
		if (got < 0 && errno != EINTR)
			return -errno;
		used += got > 0 ? (size_t)got : 0;
	}
	return (ssize_t)used;
}

ssize_t file_tree_read(const struct file_tree *tree, const char *path, char *buffer, size_t size)
{
	int fd = open_in(tree, path, S_IFREG);
	ssize_t length = fd;

	if (fd >= 0) {
		length = read_fully(fd, buffer, size - 1);
		close(fd);
	}
	buffer[length > 0 ? length : 0] = '\0';
	return length;
}

int file_tree_read_all(const struct file_tree *tree, const char *path, size_t limit, char **text)
{
	int fd = open_in(tree, path, S_IFREG), result = fd < 0 ? fd : 0;
	size_t used = 0, room = 1 << 16;

	*text = NULL;
	while (result == 0) {
		char *larger = realloc(*text, room);
		ssize_t got;

		if (!larger) {
			result = -ENOMEM;
			break;
		}
		*text = larger;
		got = read_fully(fd, *text + used, room - 1 - used);
		if (got < 0)
			result = (int)got;
		else if (used + (size_t)got > limit)
			result = -EFBIG;
		used += got > 0 ? (size_t)got : 0;
		if (result < 0 || used + 1 < room)
			break;
		room *= 2;
	}
	if (fd >= 0)
		close(fd);
	if (result < 0) {
		free(*text);
		*text = NULL;
		return result;
	}
	(*text)[used] = '\0';
	return 0;
}

int file_tree_link(const struct file_tree *tree, const char *path, char *buffer, size_t size)
{
	ssize_t length;
	int place = -1;

	if (tree->is_captured) {
		place = find_place(tree, path, 0);
		if (place < 0)
			return place;
		length = readlinkat(place, "", buffer, size);
	} else {
		length = readlinkat(tree->fd, inside(tree, path), buffer, size);
	}
	if (length < 0)
		length = errno == ENOENT && place >= 0 ? -EINVAL : -errno; /* ENOENT: the place is no link */
	if (place >= 0)
		close(place);
	if (length >= (ssize_t)size)
		length = -ENAMETOOLONG;
	buffer[length > 0 ? length : 0] = '\0';
	return length < 0 ? (int)length : 0;
}

int file_tree_directory(const struct file_tree *tree, const char *path, DIR **directory)
{
	int fd = open_in(tree, path, S_IFDIR), result;

	*directory = NULL;
	if (fd < 0)
		return fd;
	*directory = fdopendir(fd);
	if (*directory)
		return 0;
	result = -errno;
	close(fd);
	return result;
}

int file_tree_exists(const struct file_tree *tree, const char *path)
{
	int place;

	if (!tree->is_captured)
		return faccessat(tree->fd, inside(tree, path), F_OK, 0) == 0;
	place = find_place(tree, path, 1);
	if (place < 0)
		return 0;
	close(place);
	return 1;
}

/* --- patterns --- */

struct glob {
	const struct file_tree *tree;
	const char *name;
	int (*visit)(const char *path, void *context);
	void *context;
};

static int expand(const struct glob *glob, char path[PATH_MAX], size_t used, const char *pattern);

/* One more component behind path[used]. */
static int descend(const struct glob *glob, char path[PATH_MAX], size_t used, const char *component, size_t length,
		   const char *rest)
{
	if (used + 1 + length + 1 > PATH_MAX)
		return 0;
	path[used] = '/';
	memcpy(path + used + 1, component, length);
	path[used + 1 + length] = '\0';
	return expand(glob, path, used + 1 + length, rest);
}

static int expand_directory(const struct glob *glob, char path[PATH_MAX], size_t used, const char *component,
			    const char *rest)
{
	struct dirent *entry;
	DIR *directory;
	int result = 0;

	path[used] = '\0';
	if (file_tree_directory(glob->tree, used ? path : "/", &directory) < 0)
		return 0;
	for (int i = 0; i < MAX_ENTRIES && result == 0; i++) {
		entry = readdir(directory);
		if (!entry)
			break;
		if (entry->d_name[0] != '.' && !fnmatch(component, entry->d_name, FNM_NOESCAPE))
			result = descend(glob, path, used, entry->d_name, strlen(entry->d_name), rest);
	}
	closedir(directory);
	return result;
}

static int expand(const struct glob *glob, char path[PATH_MAX], size_t used, const char *pattern)
{
	const char *component = pattern + strspn(pattern, "/");
	size_t length = strcspn(component, "/");
	char text[NAME_MAX + 1];

	if (length == 0)
		return glob->visit(path, glob->context);
	if (length > NAME_MAX)
		return 0;
	if (length == 1 && component[0] == '%')
		return descend(glob, path, used, glob->name, strlen(glob->name), component + 1);
	memcpy(text, component, length);
	text[length] = '\0';
	if (!strchr(text, '*'))
		return descend(glob, path, used, text, length, component + length);
	return expand_directory(glob, path, used, text, component + length);
}

int file_tree_glob(const struct file_tree *tree, const char *pattern, const char *name,
		   int (*visit)(const char *path, void *context), void *context)
{
	const struct glob glob = { .tree = tree, .name = name, .visit = visit, .context = context };
	char path[PATH_MAX] = "";

	return expand(&glob, path, 0, pattern);
}
