// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Processes that hold an end of a path: descriptors of tun/tap and macvtap, vhost, vDPA, KVM, VFIO; QEMU in any case.
 *
 * Owns: finding them by their descriptors, which interface each tap descriptor is, and where that interface lives. Leaves to others:
 * their threads and arguments (collect_threads.c), what a command line means (doctor/). Called by collect.c.
 *
 * One pass over /proc: a link is read for each descriptor of the machine, some 2 us each; everything else only of those that are found.
 * vhost workers are kernel threads "vhost-PID" (threads of the process since Linux 6.4): they count among the threads of PID.
 */
#include "sys/collect.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/if_tun.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "sys/collect_threads.h"
#include "sys/file_tree.h"
#include "sys/proc_cpu.h"

#define MAX_VHOST_WORKERS 65536

struct search {
	struct facts *facts;
	struct file_tree tree;
	int all_entered; /* links of all namespaces are known */
	int denied;	 /* processes whose descriptors cannot be read */
	struct vhost_worker {
		int tid, owner;
	} * workers;
	int worker_count;
};

/* What the descriptors of one process are. */
struct holdings {
	int vhost_net, vhost_vdpa, kvm, vfio;
	int tun_count;
	struct facts_tun_holder *tuns; /* grows like facts */
};

/* --- where a tap lives --- */

static int netns_of_inode(const struct facts *facts, uint64_t inode)
{
	for (int i = 0; i < facts->netns_count; i++)
		if (inode && facts->netns[i].inode == inode)
			return i;
	return FACTS_UNKNOWN;
}

static int netns_of_process(const struct search *search, int pid)
{
	char path[64], target[64];
	unsigned long long inode;

	snprintf(path, sizeof(path), "/proc/%d/ns/net", pid);
	if (file_tree_link(&search->tree, path, target, sizeof(target)) < 0 ||
	    sscanf(target, "net:[%llu]", &inode) != 1)
		return FACTS_UNKNOWN;
	return netns_of_inode(search->facts, inode);
}

/* Asks the tap itself, through a copy of the descriptor that lives for this one question. */
static int netns_of_descriptor(const struct search *search, int pid, int descriptor)
{
	int result = FACTS_UNKNOWN, process, copy, netns;
	struct stat status;

	if (search->tree.is_captured)
		return FACTS_UNKNOWN;
	process = (int)syscall(SYS_pidfd_open, pid, 0);
	copy = process < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, process, descriptor, 0);
	netns = copy < 0 ? -1 : ioctl(copy, TUNGETDEVNETNS);
	if (netns >= 0 && fstat(netns, &status) == 0)
		result = netns_of_inode(search->facts, status.st_ino);
	if (netns >= 0)
		close(netns);
	if (copy >= 0)
		close(copy);
	if (process >= 0)
		close(process);
	return result;
}

/* A tap need not live in the namespace of its process. When just one namespace has such a link, it is that one. */
static int netns_of_tap(const struct search *search, int pid, int descriptor, const char *name)
{
	int count = 0, candidate = FACTS_UNKNOWN, netns;

	for (int i = 0; i < search->facts->netns_count; i++) {
		if (!facts_link_named(search->facts, i, name))
			continue;
		candidate = i;
		count++;
	}
	if (count == 1 && search->all_entered)
		return candidate;
	netns = netns_of_descriptor(search, pid, descriptor);
	if (netns < 0)
		netns = netns_of_process(search, pid);
	if (netns >= 0 && facts_link_named(search->facts, netns, name))
		return netns;
	return count == 1 ? candidate : FACTS_UNKNOWN;
}

/* macvtap: the device file is named after the interface's number. */
static const struct facts_link *find_macvtap(const struct search *search, int pid, int ifindex)
{
	int own = netns_of_process(search, pid);
	const struct facts_link *link = facts_link_at(search->facts, own, ifindex);

	for (int i = 0; i < search->facts->netns_count && !(link && strstr(link->kind, "vtap")); i++)
		link = facts_link_at(search->facts, i, ifindex);
	return link && strstr(link->kind, "vtap") ? link : NULL;
}

/* --- descriptors --- */

static int add_tap(struct holdings *holdings, int netns, const char *name)
{
	struct facts_tun_holder *tun;

	for (int i = 0; i < holdings->tun_count; i++) {
		tun = &holdings->tuns[i];
		if (tun->netns == netns && !strcmp(tun->interface, name)) {
			tun->descriptors++;
			return 0;
		}
	}
	tun = collect_tun_add(&holdings->tuns, &holdings->tun_count);
	if (!tun)
		return -ENOMEM;
	tun->netns = netns;
	tun->descriptors = 1;
	snprintf(tun->interface, sizeof(tun->interface), "%s", name);
	return 0;
}

static int take_tun(const struct search *search, struct holdings *holdings, int pid, const char *descriptor)
{
	char path[64], text[512], name[16], *line;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%s", pid, descriptor);
	if (file_tree_read(&search->tree, path, text, sizeof(text)) < 0)
		return 0;
	line = strstr(text, "\niff:");
	if (!line || sscanf(line + 5, " %15s", name) != 1)
		return 0; /* opened, but no interface yet */
	return add_tap(holdings, netns_of_tap(search, pid, atoi(descriptor), name), name);
}

static int take_macvtap(const struct search *search, struct holdings *holdings, int pid, const char *number)
{
	const struct facts_link *link;

	if (!isdigit((unsigned char)*number))
		return 0;
	link = find_macvtap(search, pid, atoi(number));
	return link ? add_tap(holdings, link->netns, link->name) : 0;
}

static int take_descriptor(const struct search *search, struct holdings *holdings, int pid, const char *descriptor,
			   const char *target)
{
	static const struct {
		const char *prefix;
		size_t count;
	} devices[] = {
		{ "/dev/vhost-net", offsetof(struct holdings, vhost_net) },
		{ "/dev/vhost-vdpa", offsetof(struct holdings, vhost_vdpa) },
		{ "/dev/kvm", offsetof(struct holdings, kvm) },
		{ "anon_inode:kvm-vm", offsetof(struct holdings, kvm) },
		{ "/dev/vfio/", offsetof(struct holdings, vfio) },
	};

	if (!strncmp(target, "/dev/net/tun", 12))
		return take_tun(search, holdings, pid, descriptor);
	if (!strncmp(target, "/dev/tap", 8))
		return take_macvtap(search, holdings, pid, target + 8);
	for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++)
		if (!strncmp(target, devices[i].prefix, strlen(devices[i].prefix)) &&
		    strncmp(target, "anon_inode:kvm-vcpu", 19) != 0)
			++*(int *)((char *)holdings + devices[i].count);
	return 0;
}

/* 0; -EACCES when the descriptors are not for us; -ENOMEM. A process that has ended has none. */
static int read_descriptors(const struct search *search, int pid, struct holdings *holdings)
{
	char path[64], target[64];
	struct dirent *entry;
	DIR *directory;
	int result;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	result = file_tree_directory(&search->tree, path, &directory);
	if (result < 0)
		return result == -EACCES || result == -EPERM ? -EACCES : 0;
	while (result == 0 && (entry = readdir(directory))) {
		ssize_t length;

		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		length = readlinkat(dirfd(directory), entry->d_name, target, sizeof(target) - 1);
		if (length < 0) {
			result = errno == EACCES || errno == EPERM ? -EACCES : 0;
			continue;
		}
		target[length] = '\0';
		if (target[0] == '/' ? !strncmp(target, "/dev/", 5) : !strncmp(target, "anon_inode:kvm", 14))
			result = take_descriptor(search, holdings, pid, entry->d_name, target);
	}
	closedir(directory);
	return result;
}

/* --- processes --- */

static struct facts_process *add_process(struct search *search, int pid, const char *name)
{
	struct facts_process *process = facts_add_process(search->facts);

	if (!process)
		return NULL;
	process->pid = pid;
	snprintf(process->name, sizeof(process->name), "%s", name);
	if (collect_arguments(&search->tree, process) < 0 || collect_threads(&search->tree, process) < 0)
		return NULL;
	process->is_qemu = collect_is_qemu(process);
	return process;
}

static int add_worker(struct search *search, int tid, int owner)
{
	struct vhost_worker *larger;

	if (search->worker_count == MAX_VHOST_WORKERS)
		return 0;
	if ((search->worker_count & (search->worker_count - 1)) == 0) {
		size_t room = search->worker_count ? 2 * (size_t)search->worker_count : 1;

		larger = realloc(search->workers, room * sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		search->workers = larger;
	}
	search->workers[search->worker_count++] = (struct vhost_worker){ .tid = tid, .owner = owner };
	return 0;
}

/* "vhost-4711": 4711; 0 when it is no such name. */
static int owner_of_worker(const char *name)
{
	char *end;
	long owner;

	if (strncmp(name, "vhost-", 6) != 0 || !isdigit((unsigned char)name[6]))
		return 0;
	owner = strtol(name + 6, &end, 10);
	return *end || owner > INT_MAX ? 0 : (int)owner;
}

static int look_into(struct search *search, int pid)
{
	struct holdings holdings = { 0 };
	struct proc_thread main_thread = { 0 };
	struct facts_process *process;
	char path[64], text[1024];
	int result, owner;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (file_tree_read(&search->tree, path, text, sizeof(text)) < 0 || proc_thread_parse(text, &main_thread) < 0)
		return 0;
	if (main_thread.is_kernel) {
		owner = owner_of_worker(main_thread.command);
		return owner > 0 ? add_worker(search, pid, owner) : 0;
	}
	result = read_descriptors(search, pid, &holdings);
	search->denied += result == -EACCES;
	if (result != -ENOMEM && (holdings.tun_count || holdings.vhost_net || holdings.vhost_vdpa || holdings.kvm ||
				  holdings.vfio || collect_is_qemu_name(main_thread.command))) {
		process = add_process(search, pid, main_thread.command);
		if (process && result == 0) {
			process->vhost_net = holdings.vhost_net;
			process->vhost_vdpa = holdings.vhost_vdpa;
			process->kvm = holdings.kvm;
			process->vfio = holdings.vfio;
			process->tuns = holdings.tuns;
			process->tun_count = holdings.tun_count;
			return 0;
		}
		result = process ? 0 : -ENOMEM;
	}
	free(holdings.tuns);
	return result == -EACCES ? 0 : result;
}

static int compare_pids(const void *left, const void *right)
{
	const struct facts_process *a = left, *b = right;

	return (a->pid > b->pid) - (a->pid < b->pid);
}

static struct facts_process *process_of(struct search *search, int pid)
{
	char path[64], text[1024];
	struct proc_thread thread = { 0 };

	for (int i = 0; i < search->facts->process_count; i++)
		if (search->facts->processes[i].pid == pid)
			return &search->facts->processes[i];
	/* Its descriptors are closed to us, or it has just ended: the worker says that it holds vhost. */
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (file_tree_read(&search->tree, path, text, sizeof(text)) > 0)
		proc_thread_parse(text, &thread);
	return add_process(search, pid, thread.command);
}

static int search_all(struct search *search)
{
	struct dirent *entry;
	DIR *proc;
	int result = file_tree_directory(&search->tree, "/proc", &proc);

	if (result < 0)
		return facts_add_gap(search->facts, "processes: cannot read /proc: %s", strerror(-result));
	while (result == 0 && (entry = readdir(proc)))
		if (isdigit((unsigned char)entry->d_name[0]) && atoi(entry->d_name) > 0)
			result = look_into(search, atoi(entry->d_name));
	closedir(proc);
	for (int i = 0; i < search->worker_count && result == 0; i++) {
		struct facts_process *process = process_of(search, search->workers[i].owner);

		result =
			process ? collect_thread(&search->tree, process, search->workers[i].tid, search->workers[i].tid)
				: -ENOMEM;
	}
	if (search->facts->process_count > 1)
		qsort(search->facts->processes, (size_t)search->facts->process_count, sizeof(*search->facts->processes),
		      compare_pids);
	if (result == 0 && search->denied)
		result = facts_add_gap(search->facts,
				       "descriptors of %d process%s: %s%s: taps, vhost and KVM may be held there",
				       search->denied, search->denied == 1 ? "" : "es", strerror(EACCES),
				       search->facts->is_root ? "" : " (run as root)");
	return result;
}

int collect_processes(const char *sysroot, struct facts *facts)
{
	struct search search = { .facts = facts, .all_entered = 1 };
	int result = file_tree_open(&search.tree, sysroot);

	if (result < 0)
		return result;
	for (int i = 0; i < facts->netns_count; i++)
		search.all_entered &= facts->netns[i].could_enter;
	result = search_all(&search);
	free(search.workers);
	file_tree_close(&search.tree);
	return result < 0 ? error_set(ENOMEM, "out of memory for processes") : 0;
}
