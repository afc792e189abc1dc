// SPDX-License-Identifier: GPL-2.0-or-later
/* The process that holds a fast path; see accel_daemon.h. Called by cmd/accel.c. */
#include "accel/accel_daemon.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/undo.h"

#define PREFIX "accel-"
#define SUFFIX ".pid"
#define STOP_PATIENCE_MS 15000
#define ANSWER_LIMIT (4 << 20)

static void pause_ms(long milliseconds)
{
	const struct timespec pause = { .tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000 };

	nanosleep(&pause, NULL);
}

struct files {
	char directory[PATH_MAX / 2], pid[PATH_MAX], socket[PATH_MAX];
};

static void name_files(const struct accel_name *name, struct files *files)
{
	const char *directory = getenv("HOPCAP_STATE_DIR");
	char key[96];

	snprintf(files->directory, sizeof(files->directory), "%s", directory && *directory ? directory : "/run/hopcap");
	snprintf(key, sizeof(key), "%s%s%s", name->bridge, name->netns[0] ? "@" : "", name->netns);
	snprintf(files->pid, sizeof(files->pid), "%s/" PREFIX "%s" SUFFIX, files->directory, key);
	snprintf(files->socket, sizeof(files->socket), "%s/" PREFIX "%s.sock", files->directory, key);
}

static const char *label(const struct accel_name *name, char *buffer, size_t size)
{
	snprintf(buffer, size, "%s%s%s", name->bridge, name->netns[0] ? "@ns:" : "", name->netns);
	return buffer;
}

/* Opens the pid file: its pid when somebody holds the lock (*fd stays open), 0 when nobody does, -errno without error text. */
static pid_t holder(const struct files *files, int *fd)
{
	char text[32] = "";
	long pid;

	*fd = open(files->pid, O_RDONLY | O_CLOEXEC);
	if (*fd < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!flock(*fd, LOCK_SH | LOCK_NB)) { /* a killed one's */
		close(*fd);
		return 0;
	}
	if (pread(*fd, text, sizeof(text) - 1, 0) < 0)
		text[0] = '\0';
	pid = strtol(text, NULL, 10);
	if (pid > 1 && pid <= INT_MAX)
		return (pid_t)pid;
	close(*fd); /* it has just been made */
	return -EAGAIN;
}

static int not_there(const struct accel_name *name)
{
	char text[96];

	return error_set(ENOENT, "%s: no fast path runs; 'hopcap accel status' lists those that do",
			 label(name, text, sizeof(text)));
}

/* --- the process itself --- */

/* The lock, on the file that has the name now: the last holder removes it. -EAGAIN when it is another one. */
static int try_pid_file(const struct files *files)
{
	int fd = open(files->pid, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	struct stat named, own;

	if (fd < 0)
		return error_set(errno, "cannot make %s: %s", files->pid, strerror(errno));
	if (!flock(fd, LOCK_EX | LOCK_NB) && !fstat(fd, &own) && !stat(files->pid, &named) &&
	    own.st_ino == named.st_ino)
		return fd;
	close(fd);
	return -EAGAIN;
}

/* Its descriptor or -errno. Who asks for the status holds the lock for a moment, too. */
static int take_pid_file(const struct files *files, const struct accel_name *name)
{
	int fd, code = 0;
	char text[96];

	if (mkdir(files->directory, 0755) && errno != EEXIST)
		return error_set(errno, "cannot make %s: %s", files->directory, strerror(errno));
	for (int tries = 0; tries < 20; tries++) {
		fd = try_pid_file(files);
		if (fd != -EAGAIN)
			break;
		pause_ms(10);
	}
	if (fd == -EAGAIN)
		return error_set(EEXIST, "%s: its fast path runs already; 'hopcap accel stop' ends it",
				 label(name, text, sizeof(text)));
	if (fd < 0)
		return fd;
	code = undo_push("unlink", files->pid, NULL);
	if (!code && (ftruncate(fd, 0) || dprintf(fd, "%d\n", (int)getpid()) < 0))
		code = error_set(errno, "cannot write %s: %s", files->pid, strerror(errno));
	if (code)
		close(fd);
	return code ? code : fd;
}

static int make_address(const char *path, struct sockaddr_un *address)
{
	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (strlen(path) >= sizeof(address->sun_path))
		return error_set(ENAMETOOLONG, "%s: too long for a socket's name", path);
	memcpy(address->sun_path, path, strlen(path) + 1);
	return 0;
}

static int open_socket(const struct files *files)
{
	struct sockaddr_un address;
	int fd, code = make_address(files->socket, &address);

	if (!code)
		code = undo_push("unlink", files->socket, NULL);
	if (code)
		return code;
	unlink(files->socket); /* a killed one's: the lock is ours */
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0 && !bind(fd, (struct sockaddr *)&address, sizeof(address)) && !chmod(files->socket, 0600) &&
	    !listen(fd, 8))
		return fd;
	code = error_set(errno, "cannot listen on %s: %s", files->socket, strerror(errno));
	if (fd >= 0)
		close(fd);
	return code;
}

/* Whoever connects is told the status. One who does not read is not waited for. */
static void answer(struct accel *accel, int control_fd)
{
	const struct timeval limit = { .tv_usec = 200000 };
	int fd = accept4(control_fd, NULL, NULL, SOCK_CLOEXEC);
	json_t *status;
	char *text;

	if (fd < 0)
		return;
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	status = accel_status(accel);
	text = status ? json_dumps(status, JSON_COMPACT | JSON_REAL_PRECISION(10)) : NULL;
	for (size_t at = 0, length = text ? strlen(text) : 0; at < length;) {
		ssize_t sent = send(fd, text + at, length - at, MSG_NOSIGNAL);

		if (sent <= 0)
			break;
		at += (size_t)sent;
	}
	free(text);
	json_decref(status);
	close(fd);
}

struct outcome {
	int code;
	char why[512];
};

static void report(int fd, int code)
{
	struct outcome outcome = { .code = code };

	snprintf(outcome.why, sizeof(outcome.why), "%s", code ? error_text() : "");
	if (write(fd, &outcome, sizeof(outcome)) < 0)
		_exit(EXIT_STATUS_INTERNAL);
	close(fd);
}

/* Our caller's files are not ours to keep open; a pipe would never end. */
static void leave_terminal(void)
{
	int null = open("/dev/null", O_RDWR);

	for (int fd = 0; fd <= 2 && null >= 0; fd++)
		dup2(null, fd);
	if (null > 2)
		close(null);
}

static int live(const struct accel_request *request, const struct accel_name *name, int report_fd)
{
	struct accel *accel = NULL;
	struct files files;
	int pid_fd, socket_fd = -1, code, undone;
	char text[96];

	name_files(name, &files);
	code = undo_catch_signals();
	pid_fd = code ? code : take_pid_file(&files, name);
	if (pid_fd >= 0)
		socket_fd = open_socket(&files);
	code = pid_fd < 0 ? pid_fd : socket_fd < 0 ? socket_fd : accel_open(request, &accel);
	if (code) {
		struct outcome outcome = { .code = code };

		/* Undone first: who asked may try again at once. */
		snprintf(outcome.why, sizeof(outcome.why), "%s", error_text());
		undo_run_all();
		error_set(-code, "%s", outcome.why);
		report(report_fd, code);
		return code;
	}
	leave_terminal();
	if (files.directory[0] == '/' && chdir("/"))
		syslog(LOG_NOTICE, "stays in the directory that it was started in");
	report(report_fd, 0);
	openlog("hopcap", LOG_PID, LOG_DAEMON);
	syslog(LOG_INFO, "the bridge fast path of %s runs", label(name, text, sizeof(text)));
	code = accel_follow(accel, -1, socket_fd, answer);
	syslog(code ? LOG_WARNING : LOG_INFO, "the bridge fast path of %s ends: %s", label(name, text, sizeof(text)),
	       code ? error_text() : "told to");
	undone = accel_close(accel);
	if (undone)
		syslog(LOG_ERR, "not everything could be undone: %s; try hopcap cleanup", error_text());
	undo_run_all(); /* the files, last of all: who waits for the lock then finds all undone */
	return code ? code : undone;
}

pid_t accel_daemon_start(const struct accel_request *request)
{
	struct outcome outcome = { .code = -EPIPE, .why = "the process that was to hold the fast path has died" };
	struct accel_name name = { 0 };
	int ends[2];
	pid_t child;

	snprintf(name.bridge, sizeof(name.bridge), "%s", request->bridge);
	snprintf(name.netns, sizeof(name.netns), "%s", request->netns ? request->netns : "");
	if (pipe2(ends, O_CLOEXEC))
		return error_set(errno, "cannot make a pipe: %s", strerror(errno));
	child = fork();
	if (child < 0) {
		int code = errno;

		close(ends[0]);
		close(ends[1]);
		return error_set(code, "cannot start a process: %s", strerror(code));
	}
	if (!child) {
		/* Whoever called us waits for the end of pipes that we know nothing of. */
		if (ends[1] > 3)
			close_range(3, (unsigned int)ends[1] - 1, 0);
		close_range((unsigned int)ends[1] + 1, ~0u, 0);
		setsid();
		_exit(live(request, &name, ends[1]) ? EXIT_STATUS_ENVIRONMENT : EXIT_STATUS_FINE);
	}
	close(ends[1]);
	while (read(ends[0], &outcome, sizeof(outcome)) < 0 && errno == EINTR && !undo_interrupted())
		;
	close(ends[0]);
	if (!outcome.code)
		return child;
	outcome.why[sizeof(outcome.why) - 1] = '\0';
	return error_set(-outcome.code, "%s", outcome.why);
}

/* --- for those who ask --- */

/* Until nobody holds the lock: 0 or -ETIMEDOUT without error text. */
static int wait_for_end(int fd)
{
	for (int waited = 0; waited < STOP_PATIENCE_MS; waited += 5) {
		if (!flock(fd, LOCK_SH | LOCK_NB))
			return 0;
		pause_ms(5);
	}
	return -ETIMEDOUT;
}

static void report_nothing(int pid, const char *kind, const char *argument, int result)
{
	(void)pid;
	(void)kind;
	(void)argument;
	(void)result;
}

int accel_daemon_stop(const struct accel_name *name)
{
	struct files files;
	char text[96];
	int fd, code;
	pid_t pid;

	name_files(name, &files);
	pid = holder(&files, &fd);
	if (!pid)
		return not_there(name);
	if (pid < 0)
		return error_set(-pid, "%s: cannot read %s: %s", name->bridge, files.pid, strerror(-pid));
	if (kill(pid, SIGTERM) && errno != ESRCH) {
		code = error_set(errno, "%s: cannot end process %d: %s", name->bridge, (int)pid, strerror(errno));
		close(fd);
		return code;
	}
	code = wait_for_end(fd);
	if (code) { /* it hangs: its programs go with it, the rest is in its undo file */
		kill(pid, SIGKILL);
		code = wait_for_end(fd);
		if (!code)
			code = undo_cleanup_dead(report_nothing);
	}
	close(fd);
	if (code == -ETIMEDOUT)
		return error_set(ETIMEDOUT, "%s: process %d does not end", label(name, text, sizeof(text)), (int)pid);
	return code < 0 ? code : 0;
}

/* All that comes until the other side closes. malloc'ed; NULL with errno. */
static char *read_all(int fd, size_t *length)
{
	size_t capacity = 65536;
	char *text = malloc(capacity);

	*length = 0;
	while (text) {
		ssize_t got = read(fd, text + *length, capacity - *length);

		if (got < 0 && errno == EINTR)
			continue;
		if (got == 0)
			return text;
		if (got < 0 || (*length += (size_t)got) > ANSWER_LIMIT)
			break;
		if (*length == capacity) {
			char *larger = realloc(text, capacity *= 2);

			if (!larger)
				break;
			text = larger;
		}
	}
	free(text);
	return NULL;
}

int accel_daemon_status(const struct accel_name *name, json_t **status)
{
	const struct timeval limit = { .tv_sec = 5 };
	struct sockaddr_un address;
	struct files files;
	json_error_t error;
	size_t length;
	char *text;
	int fd, code;

	name_files(name, &files);
	code = make_address(files.socket, &address);
	if (code)
		return code;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return error_set(errno, "cannot open a socket: %s", strerror(errno));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	if (connect(fd, (struct sockaddr *)&address, sizeof(address))) {
		code = errno == ENOENT || errno == ECONNREFUSED
			       ? not_there(name)
			       : error_set(errno, "%s: %s", files.socket, strerror(errno));
		close(fd);
		return code;
	}
	text = read_all(fd, &length);
	close(fd);
	*status = text ? json_loadb(text, length, 0, &error) : NULL;
	free(text);
	return *status ? 0
		       : error_set(EPROTO, "%s: the process that holds its fast path gives no answer", name->bridge);
}

/* "accel-br0@ns.pid" → name; 0 when the file is another one. */
static int parse_file_name(const char *file, struct accel_name *name)
{
	size_t length = strlen(file), prefix = strlen(PREFIX), suffix = strlen(SUFFIX);
	char key[96], *at;

	if (length <= prefix + suffix || length - prefix - suffix >= sizeof(key) || strncmp(file, PREFIX, prefix) ||
	    strcmp(file + length - suffix, SUFFIX))
		return 0;
	snprintf(key, sizeof(key), "%.*s", (int)(length - prefix - suffix), file + prefix);
	memset(name, 0, sizeof(*name));
	at = strchr(key, '@'); /* no namespace before a name with one in it: interfaces may have it, hopcap's do not */
	if (at) {
		*at = '\0';
		snprintf(name->netns, sizeof(name->netns), "%s", at + 1);
	}
	snprintf(name->bridge, sizeof(name->bridge), "%s", key);
	return 1;
}

int accel_daemon_list(struct accel_name **names)
{
	struct accel_name empty = { 0 }, name;
	struct dirent *entry;
	struct files files;
	DIR *directory;
	int count = 0;

	*names = NULL;
	name_files(&empty, &files);
	directory = opendir(files.directory);
	if (!directory)
		return errno == ENOENT ? 0 : error_set(errno, "cannot read %s: %s", files.directory, strerror(errno));
	while ((entry = readdir(directory))) {
		struct accel_name *larger;
		int fd;

		if (!parse_file_name(entry->d_name, &name))
			continue;
		name_files(&name, &files);
		if (holder(&files, &fd) <= 0)
			continue;
		close(fd);
		larger = realloc(*names, ((size_t)count + 1) * sizeof(**names));
		if (!larger)
			break;
		*names = larger;
		(*names)[count++] = name;
	}
	closedir(directory);
	return count;
}
