// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Threaded NAPI of an interface: switching it, and pinning its kernel threads. See link_settings.h.
 *
 * A thread is named "napi/<interface>-<napi id>". Namespaces may hold interfaces of the same name (two labs do), and
 * the name does not tell which is meant. Two ways to know, best first: the netdev generic netlink family gives the
 * thread of each NAPI of an interface index, in the caller's namespace; without it (Linux < 6.8), /proc is listed
 * before and after threading is switched on.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/genetlink.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>

#include "base/error.h"
#include "sys/link_settings.h"
#include "sys/rtnl.h"
#include "sys/sysfs_mount.h"

#define MAX_THREADS 1024

/* From linux/netdev.h, which the oldest supported headers lack. */
#define NETDEV_FAMILY "netdev"
#define NETDEV_NAPI_GET 11
enum { NETDEV_NAPI_IFINDEX = 1, NETDEV_NAPI_ID = 2, NETDEV_NAPI_PID = 4, NETDEV_NAPI_LAST = 4 };

struct thread_set {
	int count;
	int overflow; /* more than fit */
	pid_t ids[MAX_THREADS];
};

/* What appeared when threading was last switched on; only looked at on kernels that cannot be asked. */
static struct {
	char name[16];
	int ifindex;
	struct thread_set threads;
} last_switched;

static void thread_set_add(struct thread_set *set, pid_t id)
{
	if (set->count < MAX_THREADS)
		set->ids[set->count++] = id;
	else
		set->overflow = 1;
}

static int thread_set_has(const struct thread_set *set, pid_t id)
{
	for (int i = 0; i < set->count; i++)
		if (set->ids[i] == id)
			return 1;
	return 0;
}

static int read_text(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length;

	if (fd < 0)
		return -errno;
	do
		length = read(fd, text, size - 1);
	while (length < 0 && errno == EINTR);
	if (length < 0)
		length = -errno;
	close(fd);
	if (length < 0)
		return (int)length;
	text[length] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return 0;
}

/* Kernel threads whose name says that they serve an interface called `name`, in any namespace. */
static int threads_named(const char *name, struct thread_set *set)
{
	DIR *directory = opendir("/proc");
	char prefix[32], path[64], command[64];
	struct dirent *entry;

	set->count = set->overflow = 0;
	if (!directory)
		return error_set(errno, "%s: cannot read /proc: %s", name, strerror(errno));
	snprintf(prefix, sizeof(prefix), "napi/%s-", name);
	while ((entry = readdir(directory))) {
		long id = strtol(entry->d_name, NULL, 10);

		if (id <= 0)
			continue;
		snprintf(path, sizeof(path), "/proc/%ld/comm", id);
		if (read_text(path, command, sizeof(command)) == 0 && !strncmp(command, prefix, strlen(prefix)))
			thread_set_add(set, (pid_t)id);
	}
	closedir(directory);
	return 0;
}

/* Opens the file that switches threaded NAPI. */
static int threaded_open(const char *name, int flags)
{
	int mount_fd, fd, result;
	char path[64];

	if (!*name || strlen(name) > 15 || strchr(name, '/'))
		return error_set(EINVAL, "'%s' is no interface name", name);
	mount_fd = sysfs_mount();
	if (mount_fd < 0)
		return error_set(-mount_fd, "%s: cannot mount its sysfs: %s%s", name, strerror(-mount_fd),
				 mount_fd == -EPERM ? "; call hopcap as root (CAP_SYS_ADMIN)" : "");
	snprintf(path, sizeof(path), "class/net/%s/threaded", name);
	fd = openat(mount_fd, path, flags | O_CLOEXEC);
	result = fd;
	if (fd < 0 && errno == ENOENT && faccessat(mount_fd, "class/net", F_OK, 0) == 0) {
		path[strlen(path) - strlen("/threaded")] = '\0';
		result = faccessat(mount_fd, path, F_OK, 0) < 0
				 ? error_set(ENODEV, "%s: there is no such interface here", name)
				 : error_set(EOPNOTSUPP,
					     "%s: this kernel has no threaded NAPI (Linux 5.12 or newer has)", name);
	} else if (fd < 0) {
		result = error_set(errno, "%s: cannot open its threaded NAPI switch: %s%s", name, strerror(errno),
				   errno == EACCES ? "; call hopcap as root" : "");
	}
	close(mount_fd);
	return result;
}

int link_get_threaded_napi(const char *name)
{
	int fd = threaded_open(name, O_RDONLY);
	char text[8] = "";
	ssize_t length;

	if (fd < 0)
		return fd;
	length = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (length <= 0)
		return error_set(EIO, "%s: cannot read whether NAPI is threaded", name);
	return text[0] == '1';
}

static int write_switch(const char *name, int on)
{
	int fd = threaded_open(name, O_WRONLY), result = 0;

	if (fd < 0)
		return fd;
	if (write(fd, on ? "1" : "0", 1) != 1)
		result = error_set(errno, "%s: cannot switch threaded NAPI %s: %s%s", name, on ? "on" : "off",
				   strerror(errno), errno == EOPNOTSUPP ? "; this device has no NAPI" : "");
	close(fd);
	return result;
}

int link_set_threaded_napi(const char *name, int on)
{
	struct thread_set *before, *after = &last_switched.threads;
	struct rtnl_link link;
	int result;

	last_switched.ifindex = 0;
	if (!on)
		return write_switch(name, 0);
	result = rtnl_link_get(name, &link);
	if (result < 0)
		return result;
	before = malloc(sizeof(*before));
	if (!before)
		return error_set(ENOMEM, "%s: out of memory for a list of threads", name);
	result = threads_named(name, before);
	if (!result)
		result = write_switch(name, 1);
	if (!result)
		result = threads_named(name, after);
	if (!result) {
		int kept = 0;

		for (int i = 0; i < after->count; i++)
			if (!thread_set_has(before, after->ids[i]))
				after->ids[kept++] = after->ids[i];
		after->count = kept;
		after->overflow |= before->overflow;
		last_switched.ifindex = link.ifindex;
		memcpy(last_switched.name, link.name, sizeof(link.name));
	}
	free(before);
	return result;
}

struct napi_search {
	int ifindex;
	struct thread_set *threads;
};

static int on_napi(struct nl_msg *message, void *argument)
{
	struct napi_search *search = argument;
	struct nlattr *table[NETDEV_NAPI_LAST + 1];

	if (genlmsg_parse(nlmsg_hdr(message), 0, table, NETDEV_NAPI_LAST, NULL) < 0 || !table[NETDEV_NAPI_IFINDEX])
		return NL_SKIP;
	if ((int)nla_get_u32(table[NETDEV_NAPI_IFINDEX]) == search->ifindex && table[NETDEV_NAPI_PID])
		thread_set_add(search->threads, (pid_t)nla_get_u32(table[NETDEV_NAPI_PID]));
	return NL_OK;
}

static int send_napi_dump(struct nl_sock *socket, int family, int ifindex)
{
	struct nl_msg *message = nlmsg_alloc();
	int result = -NLE_NOMEM;

	if (message && genlmsg_put(message, NL_AUTO_PORT, NL_AUTO_SEQ, family, 0, NLM_F_DUMP, NETDEV_NAPI_GET, 1) &&
	    nla_put_u32(message, NETDEV_NAPI_IFINDEX, (uint32_t)ifindex) == 0)
		result = nl_send_auto(socket, message);
	nlmsg_free(message);
	return result < 0 ? result : 0;
}

/* Asks the kernel. 0, or -EOPNOTSUPP when it does not know the question; no error text. */
static int threads_by_netlink(int ifindex, struct thread_set *threads)
{
	struct napi_search search = { .ifindex = ifindex, .threads = threads };
	struct nl_sock *socket = nl_socket_alloc();
	int family, result = -ENOMEM;

	threads->count = threads->overflow = 0;
	if (!socket)
		return result;
	result = -EOPNOTSUPP;
	if (genl_connect(socket) < 0)
		goto out;
	family = genl_ctrl_resolve(socket, NETDEV_FAMILY);
	if (family < 0)
		goto out;
	nl_socket_modify_cb(socket, NL_CB_VALID, NL_CB_CUSTOM, on_napi, &search);
	if (send_napi_dump(socket, family, ifindex) == 0 && nl_recvmsgs_default(socket) >= 0)
		result = 0;
out:
	nl_socket_free(socket);
	return result;
}

/* Without the kernel's word: threads that appeared at the switch, unless more did than this interface can have, since
 * then another interface of the same name was switched at that moment. */
static int threads_by_difference(const struct rtnl_link *link, struct thread_set *threads)
{
	if (last_switched.ifindex != link->ifindex || strcmp(last_switched.name, link->name))
		return error_set(EOPNOTSUPP,
				 "%s: this kernel cannot say which NAPI threads are its own (Linux 6.8 or newer can)",
				 link->name);
	*threads = last_switched.threads;
	if (threads->overflow || (unsigned int)threads->count > link->rx_queues)
		return error_set(
			EAGAIN,
			"%s: %d NAPI threads of that name appeared at once; another lab is being made: try again",
			link->name, threads->count);
	return 0;
}

static int pin_threads(const char *name, const struct thread_set *threads, int cpu)
{
	cpu_set_t *set = CPU_ALLOC((size_t)cpu + 1);
	size_t size = CPU_ALLOC_SIZE((size_t)cpu + 1);
	int result = 0;

	if (!set)
		return error_set(ENOMEM, "%s: out of memory for a set of CPUs", name);
	CPU_ZERO_S(size, set);
	CPU_SET_S((size_t)cpu, size, set);
	for (int i = 0; i < threads->count && !result; i++)
		if (sched_setaffinity(threads->ids[i], size, set) < 0)
			result = error_set(errno, "%s: cannot pin NAPI thread %d to CPU %d: %s", name, threads->ids[i],
					   cpu, strerror(errno));
	CPU_FREE(set);
	return result;
}

int link_pin_napi_threads(const char *name, int cpu)
{
	struct thread_set *threads;
	struct rtnl_link link;
	int result = rtnl_link_get(name, &link);

	if (result < 0)
		return result;
	if (cpu < 0)
		return error_set(EINVAL, "%s: %d is no CPU", name, cpu);
	threads = malloc(sizeof(*threads));
	if (!threads)
		return error_set(ENOMEM, "%s: out of memory for a list of threads", name);
	result = threads_by_netlink(link.ifindex, threads);
	if (result < 0)
		result = threads_by_difference(&link, threads);
	if (!result && threads->count == 0)
		result = error_set(ENOENT, "%s: it has no NAPI threads; is it up, and is threaded NAPI on?", name);
	if (!result)
		result = pin_threads(name, threads, cpu);
	if (!result)
		result = threads->count;
	free(threads);
	return result;
}
