// SPDX-License-Identifier: GPL-2.0-or-later
/* QEMU processes of labs; see guest_process.h. Called by lab/lab_guest.c and by undoing (sys/undo_actions.c). */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "sys/guest_process.h"

#define COMMAND_BYTES 8192
#define PROGRAM "qemu-system-"
#define SCRIPT "/qemu/start"
#define TERM_MS 3000
#define KILL_MS 3000
#define POLL_MS 10

/* "/bin/sh" and "…/qemu/start": a script that becomes QEMU, with the same words behind it. */
static int is_start_script(const char *words, const char *end)
{
	const char *script = words + strlen(words) + 1;
	size_t length = script < end ? strlen(script) : 0;

	return length >= strlen(SCRIPT) && !strcmp(script + length - strlen(SCRIPT), SCRIPT);
}

/* Words that end with zero bytes. 1 when they are QEMU's with a -name that starts with prefix. */
static int is_guest(const char *words, size_t length, const char *prefix)
{
	const char *end = words + length, *program = strrchr(words, '/');
	int is_name = 0;

	if (strncmp(program ? program + 1 : words, PROGRAM, strlen(PROGRAM)) && !is_start_script(words, end))
		return 0;
	for (const char *word = words; word < end; word += strlen(word) + 1) {
		if (is_name)
			return !strncmp(word, prefix, strlen(prefix));
		is_name = !strcmp(word, "-name");
	}
	return 0;
}

static int process_is_guest(const char *pid, const char *prefix)
{
	char path[300], words[COMMAND_BYTES];
	ssize_t length;
	int fd;

	snprintf(path, sizeof(path), "/proc/%s/cmdline", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	length = read(fd, words, sizeof(words) - 1);
	close(fd);
	if (length <= 0)
		return 0; /* a kernel thread, or it has just ended */
	words[length] = '\0';
	return is_guest(words, (size_t)length, prefix);
}

/* Sends a signal (0: none) to all of them; how many there are. */
static int signal_all(const char *prefix, int signal_number)
{
	DIR *processes = opendir("/proc");
	struct dirent *entry;
	int count = 0;

	if (!processes)
		return error_set(errno, "cannot read /proc: %s", strerror(errno));
	while ((entry = readdir(processes))) {
		pid_t pid = atoi(entry->d_name);

		if (pid <= 1 || !process_is_guest(entry->d_name, prefix))
			continue;
		if (signal_number && kill(pid, signal_number) < 0 && errno != ESRCH) {
			count = error_set(errno, "cannot end the guest in process %d: %s", (int)pid, strerror(errno));
			break;
		}
		count++;
	}
	closedir(processes);
	return count;
}

int guest_process_count(const char *prefix)
{
	return signal_all(prefix, 0);
}

/* 0 when they are gone, their number when not in time. */
static int wait_for_end(const char *prefix, int patience_ms)
{
	const struct timespec pause = { .tv_nsec = POLL_MS * 1000000 };
	int left;

	while ((left = signal_all(prefix, 0)) > 0 && patience_ms > 0) {
		nanosleep(&pause, NULL);
		patience_ms -= POLL_MS;
	}
	return left;
}

int guest_process_end(const char *prefix)
{
	int left;

	if (strncmp(prefix, GUEST_PROCESS_PREFIX, strlen(GUEST_PROCESS_PREFIX)) ||
	    strlen(prefix) < strlen(GUEST_PROCESS_PREFIX) + 4)
		return error_set(EINVAL, "'%s' is no name of a lab's guest", prefix);
	left = signal_all(prefix, SIGTERM);
	if (left > 0)
		left = wait_for_end(prefix, TERM_MS);
	if (left > 0)
		left = signal_all(prefix, SIGKILL);
	if (left > 0)
		left = wait_for_end(prefix, KILL_MS);
	return left > 0 ? error_set(EBUSY, "a guest %s* does not end", prefix) : left;
}

int guest_files_remove(const char *directory)
{
	const char *slash = strrchr(directory, '/');
	struct dirent *entry;
	int result = 0;
	DIR *files;

	if (directory[0] != '/' || strstr(directory, "/../") || !slash || slash - directory < 7 ||
	    strncmp(slash - 7, "/guests", 7) || !slash[1])
		return error_set(EINVAL, "'%s' is no directory of guests; it is left alone", directory);
	files = opendir(directory);
	if (!files)
		return errno == ENOENT ? 0 : error_set(errno, "cannot read %s: %s", directory, strerror(errno));
	while ((entry = readdir(files)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..") &&
		    unlinkat(dirfd(files), entry->d_name, 0) && errno != ENOENT)
			result = error_set(errno, "cannot remove %s/%s: %s", directory, entry->d_name, strerror(errno));
	closedir(files);
	if (!result && rmdir(directory) && errno != ENOENT)
		result = error_set(errno, "cannot remove %s: %s", directory, strerror(errno));
	return result;
}
