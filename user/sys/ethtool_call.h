/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ethtool ioctl: one request about an interface of this thread's namespace. The ioctl, not ethtool netlink: it does all that
 * is needed on every kernel, and names features the same way for all drivers.
 */
#ifndef SYS_ETHTOOL_CALL_H
#define SYS_ETHTOOL_CALL_H

/* A socket to ask through, of the namespace this thread is in; -errno without error text. */
int ethtool_socket(void);
/* `command` points at a struct ethtool_* whose first member says what is asked. The ioctl's value, or -errno without error text:
 * EOPNOTSUPP when the driver has no such thing. */
int ethtool_call_on(int socket_fd, const char *interface, void *command);
/* The same through a socket of its own. */
int ethtool_call(const char *interface, void *command);

#endif
