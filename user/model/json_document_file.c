// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * JSON text on disk: written durably, read with a limit.
 *
 * A reader of FILE sees the old contents or the whole new ones, never a part, also when the machine stops: FILE.tmp is synced before it
 * is renamed, and its directory afterwards. Called by: model_json.c, facts_json_file.c.
 */
#include "model/json_document.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

static int wait_until_writable(int file)
{
	struct pollfd wait = { .fd = file, .events = POLLOUT };

	while (poll(&wait, 1, -1) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	return 0;
}

static int write_all(int file, const char *text, size_t length)
{
	while (length > 0) {
		ssize_t written = write(file, text, length);

		if (written < 0 && errno == EAGAIN && wait_until_writable(file) == 0)
			continue;
		if (written < 0 && errno != EINTR)
			return -errno;
		if (written > 0) {
			text += written;
			length -= (size_t)written;
		}
	}
	return 0;
}

static int write_failed(const char *path, int code)
{
	const char *advice = "";

	if (code == ENOSPC || code == EDQUOT)
		advice = "; free some space or name a file on another disk";
	else if (code == EACCES || code == EROFS || code == EPERM || code == ENOENT || code == ENOTDIR)
		advice = "; name a file in a directory that can be written to";
	return error_set(code, "cannot write %s: %s%s", path, strerror(code), advice);
}

/* Devices and pipes, and what is open already: there is nothing to rename. */
static int save_directly(int file, const char *path, const char *text, int close_it)
{
	int result = write_all(file, text, strlen(text));

	if (close_it && close(file) < 0 && result == 0 && errno != EINTR)
		result = -errno;
	return result < 0 ? write_failed(path, -result) : 0;
}

/* A name in the directory is durable when the directory is. Some file systems cannot sync one; theirs is no failure. */
static int sync_directory(const char *path)
{
	char directory[PATH_MAX];
	const char *slash = strrchr(path, '/');
	int result = 0;
	int file;

	snprintf(directory, sizeof(directory), "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
	file = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (file < 0)
		return errno == EACCES ? 0 : -errno;
	if (fsync(file) < 0 && errno != EINVAL && errno != ENOSYS && errno != EROFS)
		result = -errno;
	close(file);
	return result;
}

/* What an earlier, killed process left under the name is replaced; nothing is followed or overwritten. */
static int create_temporary(const char *temporary)
{
	struct stat left;
	int file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

	if (file >= 0 || errno != EEXIST)
		return file >= 0 ? file : -errno;
	if (lstat(temporary, &left) < 0 || !S_ISREG(left.st_mode) || unlink(temporary) < 0)
		return -EEXIST;
	file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	return file >= 0 ? file : -errno;
}

static int save_durably(const char *path, const char *text)
{
	char temporary[PATH_MAX];
	int result, file;

	if (snprintf(temporary, sizeof(temporary), "%s.tmp", path) >= (int)sizeof(temporary))
		return write_failed(path, ENAMETOOLONG);
	file = create_temporary(temporary);
	if (file < 0)
		return write_failed(temporary, -file);
	result = write_all(file, text, strlen(text));
	if (result == 0 && fsync(file) < 0)
		result = -errno;
	if (close(file) < 0 && result == 0 && errno != EINTR)
		result = -errno;
	if (result == 0 && rename(temporary, path) < 0)
		result = -errno;
	if (result < 0) {
		unlink(temporary);
		return write_failed(path, -result);
	}
	result = sync_directory(path);
	if (result < 0)
		return error_set(-result,
				 "%s is written, but may be lost in a power cut: its directory cannot be synced: %s",
				 path, strerror(-result));
	return 0;
}

int json_document_save(const char *path, const char *text)
{
	struct stat target, output;
	char real[PATH_MAX];
	int file;

	if (strcmp(path, "-") == 0) {
		fflush(stdout);
		return save_directly(STDOUT_FILENO, "the standard output", text, 0);
	}
	if (stat(path, &target) < 0)
		return save_durably(path, text);
	if (fstat(STDOUT_FILENO, &output) == 0 && target.st_dev == output.st_dev && target.st_ino == output.st_ino) {
		fflush(stdout);
		return save_directly(STDOUT_FILENO, path, text, 0);
	}
	if (S_ISREG(target.st_mode)) /* of a link, the file is replaced and the link stays */
		return realpath(path, real) ? save_durably(real, text) : write_failed(path, errno);
	file = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
	return file < 0 ? write_failed(path, errno) : save_directly(file, path, text, 1);
}

/* Reads to the end or to one byte over the limit. *text is malloc'ed. */
static int read_all(int file, size_t limit, char **text, size_t *length)
{
	size_t room = 1 << 16;

	*length = 0;
	*text = malloc(room);
	while (*text && *length <= limit) {
		ssize_t got = read(file, *text + *length, room - *length);
		char *larger;

		if (got == 0)
			return 0;
		if (got < 0 && errno != EINTR)
			return -errno;
		*length += got > 0 ? (size_t)got : 0;
		if (*length < room)
			continue;
		room *= 2;
		larger = realloc(*text, room);
		if (!larger)
			return -ENOMEM;
		*text = larger;
	}
	return *text ? -EFBIG : -ENOMEM;
}

int json_document_load(const char *path, size_t limit, const char **name, char **text, size_t *length)
{
	int standard = strcmp(path, "-") == 0;
	int file = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	int result;

	*name = standard ? "standard input" : path;
	*text = NULL;
	if (file < 0)
		return error_set(errno, "cannot read %s: %s", *name, strerror(errno));
	result = read_all(file, limit, text, length);
	if (!standard)
		close(file);
	if (result == 0)
		return 0;
	free(*text);
	*text = NULL;
	if (result == -EFBIG)
		return error_set(EINVAL, "%s is larger than %zu MiB: not written by hopcap", *name, limit >> 20);
	return error_set(-result, "cannot read %s: %s", *name, strerror(-result));
}
