// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finding network namespaces; see collect_netns.h and collect_enter() of collect.h.
 *
 * A namespace is told by the inode of its nsfs file. A name is kept for as long as the file is mounted on it; "pid:N" may be
 * another namespace by the time that it is opened, so the inode is compared. Called by collect_links.c and whoever enters one
 * later.
 */
#include "sys/collect_netns.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/magic.h>

#include "base/error.h"
#include "sys/collect.h"
#include "sys/rtnl_message.h"

#define NAMED_DIRECTORY "/run/netns"
#define OWN_FILE "/proc/thread-self/ns/net"

static int is_known(const struct facts *facts, uint64_t inode)
{
	for (int i = 0; i < facts->netns_count; i++)
		if (facts->netns[i].inode == inode)
			return 1;
	return 0;
}

/* Of what a path leads to: its inode, or 0 with errno when it is no namespace. */
static uint64_t namespace_inode(const char *path)
{
	struct statfs system;
	struct stat status;

	if (stat(path, &status) < 0 || statfs(path, &system) < 0)
		return 0;
	errno = EINVAL;
	return (unsigned long)system.f_type == NSFS_MAGIC ? status.st_ino : 0;
}

static int add_namespace(struct facts *facts, const char *name, uint64_t inode, const char *why_not)
{
	struct facts_netns *added;

	if (inode && is_known(facts, inode))
		return 0;
	added = facts_add_netns(facts);
	if (!added)
		return error_set(ENOMEM, "out of memory for namespaces");
	snprintf(added->name, sizeof(added->name), "%s", name);
	added->inode = inode;
	added->could_enter = !why_not;
	snprintf(added->why_not, sizeof(added->why_not), "%s", why_not ? why_not : "");
	return 0;
}

static int find_named(struct facts *facts)
{
	char **names, path[PATH_MAX], why[sizeof(facts->netns[0].why_not)];
	int count = netns_list("", &names), code = 0;

	if (count == -ENOMEM)
		return count;
	if (count < 0)
		return facts_add_gap(facts, "%s", error_text()) ? error_set(ENOMEM, "out of memory for a gap") : 0;
	for (int i = 0; i < count && !code; i++) {
		uint64_t inode;

		snprintf(path, sizeof(path), NAMED_DIRECTORY "/%s", names[i]);
		inode = namespace_inode(path);
		if (!inode && errno == EINVAL)
			snprintf(why, sizeof(why), "%s is a file, not a network namespace", path);
		else if (!inode)
			snprintf(why, sizeof(why), "%s: %s", path, strerror(errno));
		/* A longer name than facts hold could not be entered by it. */
		if (strlen(names[i]) < sizeof(facts->netns[0].name))
			code = add_namespace(facts, names[i], inode, inode ? NULL : why);
	}
	netns_list_free(names, count);
	return code;
}

static int find_of_processes(struct facts *facts)
{
	DIR *directory = opendir("/proc");
	char path[64], name[32];
	struct dirent *entry;
	int code = 0, closed = 0;

	while (directory && !code && (entry = readdir(directory))) {
		long pid = strtol(entry->d_name, NULL, 10);
		struct stat status;

		if (pid <= 0)
			continue;
		snprintf(path, sizeof(path), "/proc/%ld/ns/net", pid);
		if (stat(path, &status) < 0) { /* a process that ended, or somebody else's */
			closed += errno == EACCES || errno == EPERM;
			continue;
		}
		snprintf(name, sizeof(name), "pid:%ld", pid);
		code = add_namespace(facts, name, status.st_ino, NULL);
	}
	if (directory)
		closedir(directory);
	if (!code && closed &&
	    facts_add_gap(facts, "namespaces of %d process%s: Permission denied%s", closed, closed == 1 ? "" : "es",
			  geteuid() ? " (run as root)" : ""))
		code = error_set(ENOMEM, "out of memory for a gap");
	return code;
}

int collect_netns_find(struct facts *facts)
{
	int code;

	facts->netns[0].inode = namespace_inode(OWN_FILE);
	facts->netns[0].could_enter = 1;
	code = find_named(facts);
	return code ? code : find_of_processes(facts);
}

/* Opens one that is not the caller's, and makes sure that it still is the one. A descriptor, or -errno with error text. */
static int open_namespace(const struct facts_netns *netns)
{
	char path[PATH_MAX];
	struct stat status;
	int fd, code;

	if (!strncmp(netns->name, "pid:", 4))
		snprintf(path, sizeof(path), "/proc/%ld/ns/net", strtol(netns->name + 4, NULL, 10));
	else
		snprintf(path, sizeof(path), NAMED_DIRECTORY "/%s", netns->name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_set(errno, "cannot open network namespace '%s': %s", netns->name, strerror(errno));
	code = fstat(fd, &status) < 0 ? errno : status.st_ino != netns->inode ? ESTALE : 0;
	if (!code)
		return fd;
	close(fd);
	return error_set(code, "network namespace '%s' is another one by now", netns->name);
}

int collect_enter(const struct facts_netns *netns, struct netns_token *token)
{
	int fd, code;

	token->home_fd = -1;
	if (!netns->name[0])
		return 0;
	fd = open_namespace(netns);
	if (fd < 0)
		return fd;
	code = netns_enter_fd(fd, netns->name, token);
	close(fd);
	return code;
}

/* Namespaces are asked for in order, until all numbers are known: mostly the caller's is the one, and it comes first. */
void collect_netns_resolve(const struct collect_scope *scope, int home_fd, const struct collect_far_link *far,
			   int count)
{
	int left = count;

	for (int i = 0; i < scope->facts->netns_count && left > 0; i++) {
		int fd, number;

		if (i == scope->netns || !scope->facts->netns[i].inode)
			continue;
		fd = i == 0 ? home_fd : open_namespace(&scope->facts->netns[i]);
		if (fd < 0)
			continue;
		number = rtnl_netns_number(fd);
		if (fd != home_fd)
			close(fd);
		for (int k = 0; k < count && number >= 0; k++) {
			struct facts_link *link = far[k].netnsid == number ? collect_scope_link(scope, far[k].ifindex)
									   : NULL;

			if (!link)
				continue;
			link->lower_netns = i;
			left--;
		}
	}
}
