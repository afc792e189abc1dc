// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Network namespaces: entering and leaving them, making and removing named ones. See netns.h for what it owns.
 *
 * Only the calling thread moves, ever. Making a namespace moves it as well, for a moment: the namespace that
 * unshare() makes can be named only through the thread that is in it. Called by lab/, probe/, traffic/, measure/ and
 * the undo handlers.
 */
#include "sys/netns.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/units.h"

#define NETNS_DIRECTORY "/run/netns"
#define NETNS_OF_THREAD "/proc/thread-self/ns/net"

static int netns_path(const char *name, char path[PATH_MAX])
{
	size_t length = strlen(name);

	if (length == 0 || length > NAME_MAX || strchr(name, '/') || !strcmp(name, ".") || !strcmp(name, ".."))
		return error_set(EINVAL, "'%s' is no name of a network namespace", name);
	snprintf(path, PATH_MAX, NETNS_DIRECTORY "/%s", name);
	return 0;
}

static int netns_open_home(void)
{
	int fd = open(NETNS_OF_THREAD, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return error_set(errno, "cannot open " NETNS_OF_THREAD ": %s; is /proc mounted?", strerror(errno));
	return fd;
}

int netns_enter_fd(int fd, const char *label, struct netns_token *token)
{
	int result = netns_open_home();

	token->home_fd = -1;
	if (result < 0)
		return result;
	token->home_fd = result;
	if (setns(fd, CLONE_NEWNET) == 0)
		return 0;
	result = errno == EINVAL ? error_set(EINVAL, "%s is a file, not a network namespace; remove it", label)
				 : error_set(errno, "cannot enter network namespace '%s': %s%s", label, strerror(errno),
					     errno == EPERM ? "; call hopcap as root" : "");
	close(token->home_fd);
	token->home_fd = -1;
	return result;
}

/* The file that a namespace is entered by: that of its name, or with "pid:N" that of the process. *is_process tells which. */
static int netns_entrance(const char *name, char path[PATH_MAX], int *is_process)
{
	int result = netns_path(name, path);
	long pid;

	*is_process = 0;
	/* `ip netns add pid:1` is legal: a name that is there is a name. */
	if (result < 0 || strncmp(name, "pid:", 4) != 0 || access(path, F_OK) == 0)
		return result;
	if (units_parse_integer(name + 4, 1, INT_MAX, &pid) < 0)
		return error_set(EINVAL, "network namespace '%s': pid: takes the number of a process", name);
	*is_process = 1;
	snprintf(path, PATH_MAX, "/proc/%ld/ns/net", pid);
	return 0;
}

int netns_enter(const char *name, struct netns_token *token)
{
	char path[PATH_MAX];
	int fd, result, is_process;

	token->home_fd = -1;
	if (!name || !*name)
		return 0;
	result = netns_entrance(name, path, &is_process);
	if (result < 0)
		return result;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		if (errno == ENOENT && is_process)
			return error_set(ENOENT, "there is no process %s, whose network namespace was meant by '%s'",
					 name + 4, name);
		if (errno == ENOENT)
			return error_set(ENOENT, "there is no network namespace '%s'; 'ip netns' lists those that are",
					 name);
		return error_set(errno, "cannot open network namespace '%s': %s", name, strerror(errno));
	}
	result = netns_enter_fd(fd, name, token);
	close(fd);
	return result;
}

void netns_leave(struct netns_token *token)
{
	if (token->home_fd < 0)
		return;
	if (setns(token->home_fd, CLONE_NEWNET) < 0) {
		fprintf(stderr, "hopcap: cannot return to its own network namespace: %s\n", strerror(errno));
		abort();
	}
	close(token->home_fd);
	token->home_fd = -1;
}

/* Makes the directory a shared mount, so that a name shows up and goes away in all mount namespaces (services with
 * private mounts would otherwise keep a deleted namespace alive). Under a lock: two that do it at once would mount it
 * twice. */
static int netns_prepare_directory(void)
{
	int lock, result = 0;

	if (mkdir(NETNS_DIRECTORY, 0755) < 0 && errno != EEXIST)
		return error_set(errno, "cannot make " NETNS_DIRECTORY ": %s%s", strerror(errno),
				 errno == EACCES || errno == EPERM ? "; call hopcap as root" : "");
	lock = open(NETNS_DIRECTORY, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (lock < 0)
		return error_set(errno, "cannot open " NETNS_DIRECTORY ": %s", strerror(errno));
	while (flock(lock, LOCK_EX) < 0) {
		if (errno == EINTR)
			continue;
		result = error_set(errno, "cannot lock " NETNS_DIRECTORY ": %s", strerror(errno));
		close(lock);
		return result;
	}
	if (mount("", NETNS_DIRECTORY, "none", MS_SHARED | MS_REC, NULL) < 0 &&
	    (errno != EINVAL || mount(NETNS_DIRECTORY, NETNS_DIRECTORY, "none", MS_BIND | MS_REC, NULL) < 0 ||
	     mount("", NETNS_DIRECTORY, "none", MS_SHARED | MS_REC, NULL) < 0))
		result = error_set(errno, "cannot make " NETNS_DIRECTORY " a shared mount: %s%s", strerror(errno),
				   errno == EPERM ? "; call hopcap as root (CAP_SYS_ADMIN)" : "");
	close(lock);
	return result;
}

/* Makes a namespace, gives it the name, comes back. */
static int netns_unshare_onto(const char *name, const char *path)
{
	struct netns_token token;
	int result = netns_open_home();

	if (result < 0)
		return result;
	token.home_fd = result;
	if (unshare(CLONE_NEWNET) < 0) {
		result = error_set(errno, "cannot make network namespace '%s': %s%s", name, strerror(errno),
				   errno == EPERM ? "; call hopcap as root" : "");
		close(token.home_fd);
		return result;
	}
	result = 0;
	if (mount(NETNS_OF_THREAD, path, "none", MS_BIND, NULL) < 0)
		result = error_set(errno, "cannot mount network namespace '%s' on %s: %s", name, path, strerror(errno));
	netns_leave(&token);
	return result;
}

int netns_create(const char *name)
{
	char path[PATH_MAX];
	int fd, result;

	result = netns_path(name, path);
	if (!result)
		result = netns_prepare_directory();
	if (result < 0)
		return result;
	fd = open(path, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0);
	if (fd < 0)
		return error_set(errno, "cannot make network namespace '%s': %s", name,
				 errno == EEXIST ? "the name is taken" : strerror(errno));
	close(fd);
	result = netns_unshare_onto(name, path);
	if (result < 0)
		unlink(path);
	return result;
}

int netns_delete(const char *name)
{
	char path[PATH_MAX];
	int result = netns_path(name, path);

	if (result < 0)
		return result;
	/* EINVAL: no mount, as when its making was cut short. ENOENT: gone. */
	if (umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW) < 0 && errno != EINVAL && errno != ENOENT)
		return error_set(errno, "cannot unmount network namespace '%s': %s%s", name, strerror(errno),
				 errno == EPERM ? "; call hopcap as root" : "");
	if (unlink(path) < 0 && errno != ENOENT)
		return error_set(errno, "cannot remove network namespace '%s': %s", name, strerror(errno));
	return 0;
}

int netns_exists(const char *name)
{
	char path[PATH_MAX];
	int is_process;

	return netns_entrance(name, path, &is_process) == 0 && access(path, F_OK) == 0;
}

static int compare_names(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

/* Appends a copy of name; the array grows by doubling. */
static int netns_list_append(char ***names, int *count, const char *name)
{
	char **larger;

	if ((*count & (*count - 1)) == 0) {
		larger = realloc(*names, (*count ? 2 * (size_t)*count : 1) * sizeof(**names));
		if (!larger)
			return error_set(ENOMEM, "out of memory for the list of network namespaces");
		*names = larger;
	}
	(*names)[*count] = strdup(name);
	if (!(*names)[*count])
		return error_set(ENOMEM, "out of memory for the list of network namespaces");
	(*count)++;
	return 0;
}

int netns_list(const char *prefix, char ***names)
{
	DIR *directory = opendir(NETNS_DIRECTORY);
	int count = 0, result = 0;
	struct dirent *entry;

	*names = NULL;
	if (!directory) {
		if (errno == ENOENT)
			return 0;
		return error_set(errno, "cannot read " NETNS_DIRECTORY ": %s", strerror(errno));
	}
	while (!result && (errno = 0, entry = readdir(directory)))
		if (entry->d_name[0] != '.' && !strncmp(entry->d_name, prefix, strlen(prefix)))
			result = netns_list_append(names, &count, entry->d_name);
	if (!result && errno)
		result = error_set(errno, "cannot read " NETNS_DIRECTORY ": %s", strerror(errno));
	closedir(directory);
	if (result < 0) {
		netns_list_free(*names, count);
		*names = NULL;
		return result;
	}
	if (count > 1)
		qsort(*names, (size_t)count, sizeof(**names), compare_names);
	return count;
}

void netns_list_free(char **names, int count)
{
	for (int i = 0; i < count; i++)
		free(names[i]);
	free(names);
}
