/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Wakes a thread out of a system call when an interface goes away.
 *
 * Owns: a netlink socket that hears of one event only, the removal of one interface from this namespace (deleted or
 * moved away), and that signals one thread then. Leaves to others: the signal's handler, which must be there before a
 * thread is armed. For calls that nothing else ends, like a long BPF_PROG_TEST_RUN (port/live.c).
 */
#ifndef SYS_LINK_WATCH_H
#define SYS_LINK_WATCH_H

struct link_watch {
	int socket; /* -1: not open */
};

/* Hears of the interface in the namespace of the calling thread. 0 or -errno with error text. */
int link_watch_open(struct link_watch *watch, const char *interface, int ifindex);
void link_watch_close(struct link_watch *watch);
/* From now on the removal sends `signal` to the calling thread, until disarmed; ask link_watch_gone() afterwards, for
 * one that has happened before. 0 or -errno with error text. */
int link_watch_arm(struct link_watch *watch, int signal);
void link_watch_disarm(struct link_watch *watch);
/* 1 when the interface has gone away since link_watch_open. */
int link_watch_gone(const struct link_watch *watch);

#endif
