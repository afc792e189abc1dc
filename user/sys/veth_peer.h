/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The other end of a veth: in which namespace it is, and what it is called there.
 *
 * Owns: from the kernel's namespace number to a name under /run/netns. Leaves to others: what is asked of it.
 */
#ifndef SYS_VETH_PEER_H
#define SYS_VETH_PEER_H

#include "sys/rtnl.h"

struct netns_token;

struct veth_peer {
	char netns[64]; /* a name; "": the namespace that the thread comes from (home) */
	char name[16];
};

/* The peer of a veth `link` of namespace `netns`, in which the calling thread is now. home_fd: the namespace that it comes from, -1:
 * it is there. 0; -ENOENT without error text when its namespace has no name; -errno with error text. */
int veth_peer_find(const char *netns, int home_fd, const struct rtnl_link *link, struct veth_peer *peer);
/* Moves the thread to the peer's namespace; pair with netns_leave(). 0 or -errno with error text. */
int veth_peer_enter(const struct veth_peer *peer, int home_fd, struct netns_token *token);

#endif
