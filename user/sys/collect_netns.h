/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The network namespaces of this kernel, as far as /run/netns and /proc show them, and what they call each other.
 */
#ifndef SYS_COLLECT_NETNS_H
#define SYS_COLLECT_NETNS_H

#include "model/facts.h"
#include "sys/collect_scope.h"

/* Fills facts->netns: [0] is the caller's, then those with a name, then those that only processes are in, each once. 0 or -ENOMEM
 * with error text. */
int collect_netns_find(struct facts *facts);

/* A link whose lower device is in the namespace that this one knows by a number (IFLA_LINK_NETNSID). */
struct collect_far_link {
	int ifindex;
	int netnsid;
};

/* Sets lower_netns of links whose number is that of a namespace in facts->netns; the others keep -1. The thread is in the scope's
 * namespace, home_fd is the caller's (-1: they are the same). */
void collect_netns_resolve(const struct collect_scope *scope, int home_fd, const struct collect_far_link *far,
			   int count);

#endif
