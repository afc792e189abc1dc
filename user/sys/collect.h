/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Collecting facts: one entry, one collector a source.
 *
 * Owns: the order of collectors and what they share. Leaves to others: rtnetlink, ethtool and the netdev family (collect_links.c),
 * files of sysfs and procfs (collect_files.c), processes (collect_processes.c), links of a captured sysfs
 * (collect_sysfs_links.c). Called by: cmd/. Nothing is judged and nothing changed here.
 *
 * What cannot be read is a gap (facts_add_gap) or a file with an errno, never a failure: unprivileged, everything that is open to
 * anybody is still collected. A collector fails when memory runs out, or the sysroot is no directory.
 */
#ifndef SYS_COLLECT_H
#define SYS_COLLECT_H

#include "model/facts.h"
#include "sys/netns.h"

struct collect_request {
	const char *sysroot; /* directory with sys/, proc/, dev/ of another machine; NULL: this machine */
};

/* Everything, sorted. 0 or -errno with error text. */
int collect_facts(const struct collect_request *request, struct facts **facts);

/* The collectors, in the order they are called: each adds to facts. 0 or -errno with error text. */

/* Of this machine: fills facts->netns ([0], that of the caller, is there already: sets its inode) with every namespace that can be
 * found, in /run/netns by name and those of processes by inode ("pid:N"), then links, fdb, addresses, routes, neighbours, and qdiscs
 * and filters of each. facts->uplink, too. Leaves the thread in the namespace it was in. */
int collect_links(struct facts *facts);
/* Of a sysroot: links from its class/net. Namespace 0 only. */
int collect_sysfs_links(const char *sysroot, struct facts *facts);
/* Files by the table in collect_file_rows.c. Needs namespaces and links. */
int collect_files(const char *sysroot, struct facts *facts);
/* What those files say of the machine: kernel, machine, cpu_count, hypervisor. Needs facts_sort(). */
void collect_machine(struct facts *facts);
/* Processes that hold tun/tap, vhost, KVM or VFIO descriptors, and vhost kernel threads. Needs namespaces. */
int collect_processes(const char *sysroot, struct facts *facts);

/* Moves this thread into a namespace of facts->netns ("" stays, a name, "pid:N"), and checks that the inode is still the same. Always
 * pair with netns_leave(). 0 or -errno with error text. */
int collect_enter(const struct facts_netns *netns, struct netns_token *token);

#endif
