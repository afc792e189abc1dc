// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See undo_fixture.h.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/undo.h"
#include "undo_fixture.h"

char fixture_work_dir[64], fixture_state_dir[80];
char fixture_undone[1024];
char fixture_reported[1024];

static int undo_made_file(int count, char **arguments)
{
	if (count < 1)
		return error_set(EINVAL, "no argument");
	strcat(strcat(fixture_undone, arguments[0]), " ");
	error_set(ENOENT, "a failure that the handler takes as success");
	if (count > 1)
		unlink(arguments[1]);
	return 0;
}

static int undo_stuck(int count, char **arguments)
{
	(void)count;
	strcat(strcat(strcat(fixture_undone, "!"), arguments[0]), " ");
	return access(arguments[1], F_OK) ? 0 : error_set(EBUSY, "%s is stuck", arguments[0]);
}

static const struct undo_handler handlers[] = {
	{ "file", undo_made_file },
	{ "stuck", undo_stuck },
	{ NULL, NULL },
};

void fixture_start(void)
{
	int signal_number, result;

	undo_set_handlers(handlers);
	signal_number = undo_finish(&result);
	if (signal_number)
		_exit(result ? 1 : 128 + signal_number);
}

static int remove_tree(const char *path)
{
	char entry_path[512];
	struct dirent *entry;
	DIR *dir = opendir(path);

	while (dir && (entry = readdir(dir))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		snprintf(entry_path, sizeof(entry_path), "%s/%s", path, entry->d_name);
		if (unlink(entry_path))
			remove_tree(entry_path);
	}
	if (dir)
		closedir(dir);
	return rmdir(path);
}

int fixture_set_up(void **state)
{
	(void)state;
	snprintf(fixture_work_dir, sizeof(fixture_work_dir), "/tmp/test_undo.XXXXXX");
	if (!mkdtemp(fixture_work_dir))
		return -1;
	snprintf(fixture_state_dir, sizeof(fixture_state_dir), "%s/state", fixture_work_dir);
	setenv("HOPCAP_STATE_DIR", fixture_state_dir, 1);
	fixture_undone[0] = '\0';
	return 0;
}

int fixture_tear_down(void **state)
{
	(void)state;
	undo_run_all();
	return remove_tree(fixture_work_dir);
}

const char *fixture_state_text(void)
{
	static char text[4096];
	char path[512];
	struct dirent *entry;
	DIR *dir = opendir(fixture_state_dir);
	int fd;

	text[0] = '\0';
	while (dir && (entry = readdir(dir))) {
		ssize_t length;

		if (!strstr(entry->d_name, ".undo"))
			continue;
		snprintf(path, sizeof(path), "%s/%s", fixture_state_dir, entry->d_name);
		fd = open(path, O_RDONLY);
		assert_true(fd >= 0);
		length = read(fd, text, sizeof(text) - 1);
		assert_true(length >= 0);
		text[length] = '\0';
		close(fd);
	}
	if (dir)
		closedir(dir);
	return text;
}

int fixture_state_files(void)
{
	struct dirent *entry;
	DIR *dir = opendir(fixture_state_dir);
	int count = 0;

	while (dir && (entry = readdir(dir)))
		count += strstr(entry->d_name, ".undo") != NULL;
	if (dir)
		closedir(dir);
	return count;
}

void fixture_write_state(int pid, unsigned long long start_time, const char *text)
{
	char path[160];
	FILE *file;

	mkdir(fixture_state_dir, 0755);
	snprintf(path, sizeof(path), "%s/%d-%llu.undo", fixture_state_dir, pid, start_time);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

void fixture_touch(const char *path)
{
	int fd = open(path, O_CREAT | O_WRONLY, 0600);

	assert_true(fd >= 0);
	close(fd);
}

void fixture_report(int pid, const char *kind, const char *argument, int result)
{
	assert_true(pid > 0);
	snprintf(fixture_reported + strlen(fixture_reported), sizeof(fixture_reported) - strlen(fixture_reported),
		 "%s:%s:%d ", kind, argument, result);
}

pid_t fixture_start_child(void (*act)(void))
{
	int pipe_fds[2];
	char byte = 0;
	pid_t child;

	assert_int_equal(pipe(pipe_fds), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		act();
		if (write(pipe_fds[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(pipe_fds[1]);
	assert_int_equal(read(pipe_fds[0], &byte, 1), 1);
	close(pipe_fds[0]);
	return child;
}

int fixture_kill_child(pid_t child, int signal_number)
{
	int status;

	kill(child, signal_number);
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

void fixture_make_two_files(void)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/one", fixture_work_dir);
	undo_push("file", "one", path, NULL);
	fixture_touch(path);
	snprintf(path, sizeof(path), "%s/two", fixture_work_dir);
	undo_push("file", "two", path, NULL);
	fixture_touch(path);
}

int fixture_work_file_exists(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", fixture_work_dir, name);
	return !access(path, F_OK);
}