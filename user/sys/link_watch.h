/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Wakes a thread out of a system call when an interface goes away or down.
 *
 * Owns: a netlink socket that hears of two events only, the removal of one interface from this namespace (deleted or
 * moved away) and its being set down, and that signals one thread then. Leaves to others: the signal's handler, which must be there before a
 * thread is armed. For calls that nothing else ends, like a long BPF_PROG_TEST_RUN (port/live.c).
 */
#ifndef SYS_LINK_WATCH_H
#define SYS_LINK_WATCH_H

enum link_event { LINK_STAYS, LINK_DOWN, LINK_GONE };

struct link_watch {
	int socket;	       /* -1: not open */
	enum link_event event; /* the worst that was heard of */
};

/* Hears of the interface in the namespace of the calling thread. 0 or -errno with error text. */
int link_watch_open(struct link_watch *watch, const char *interface, int ifindex);
void link_watch_close(struct link_watch *watch);
/* From now on such an event sends `signal` to the calling thread, until disarmed; ask link_watch_event() afterwards, for
 * one that has happened before. 0 or -errno with error text. */
int link_watch_arm(struct link_watch *watch, int signal);
void link_watch_disarm(struct link_watch *watch);
/* The worst that has happened since link_watch_open. An interface goes down before it goes away: after LINK_DOWN this waits for up to
 * wait_ms whether it does. */
enum link_event link_watch_event(struct link_watch *watch, int wait_ms);

#endif
