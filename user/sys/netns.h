/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Network namespaces: entering and leaving them, making and removing named ones.
 *
 * Owns: names under /run/netns, in the manner of `ip netns`: a file that the namespace is bind-mounted on, in a
 * directory that is a shared mount. So each of the two can use and delete what the other made. Leaves to others: what
 * is in a namespace.
 */
#ifndef SYS_NETNS_H
#define SYS_NETNS_H

struct netns_token {
	int home_fd; /* namespace to return to; -1: nothing was entered */
};

/* Moves this thread into a named namespace ("" or NULL: stays), or with "pid:N", as facts call one without a name, into that of process
 * N. 0 or -errno with error text (ENOENT: no such name or process).
 * Always pair with netns_leave, which ends the process if the way home is barred: going on in a wrong namespace would
 * change it. */
int netns_enter(const char *name, struct netns_token *token);
/* The same by an open file of the namespace (/proc/PID/ns/net); `label` is what messages call it. */
int netns_enter_fd(int fd, const char *label, struct netns_token *token);
void netns_leave(struct netns_token *token);
int netns_create(const char *name); /* 0 or -errno; EEXIST when it is there */
int netns_delete(const char *name); /* 0, also when it is not there */
int netns_exists(const char *name);

/* Names that start with prefix, sorted. Returns their number or -errno; *names is to be given to netns_list_free. */
int netns_list(const char *prefix, char ***names);
void netns_list_free(char **names, int count);

#endif
