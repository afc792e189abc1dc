// SPDX-License-Identifier: GPL-2.0-or-later
/* A signal when an interface goes away; see link_watch.h. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include "base/error.h"
#include "sys/link_watch.h"

#define TYPE_OFFSET 4				   /* of struct nlmsghdr */
#define INDEX_OFFSET (sizeof(struct nlmsghdr) + 4) /* of struct ifinfomsg behind it */

/* All other events stay out of the socket: each one would end a trial's long call. Netlink is in host order, loads are
 * big-endian. */
static int attach_filter(int fd, int ifindex)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, TYPE_OFFSET),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htons(RTM_DELLINK), 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, INDEX_OFFSET),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htonl((unsigned int)ifindex), 0, 1),
		BPF_STMT(BPF_RET | BPF_K, 0xffffffff),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	struct sock_fprog program = { .len = sizeof(code) / sizeof(code[0]), .filter = code };

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
}

int link_watch_open(struct link_watch *watch, const char *interface, int ifindex)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = RTMGRP_LINK };
	int code;

	watch->socket = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
	if (watch->socket >= 0 && !attach_filter(watch->socket, ifindex) &&
	    !bind(watch->socket, (struct sockaddr *)&address, sizeof(address)))
		return 0;
	code = errno;
	link_watch_close(watch);
	return error_set(code, "%s: cannot watch the interface: %s", interface, strerror(code));
}

void link_watch_close(struct link_watch *watch)
{
	if (watch->socket >= 0)
		close(watch->socket);
	watch->socket = -1;
}

int link_watch_arm(struct link_watch *watch, int signal)
{
	struct f_owner_ex owner = { .type = F_OWNER_TID, .pid = gettid() };

	if (fcntl(watch->socket, F_SETOWN_EX, &owner) || fcntl(watch->socket, F_SETSIG, signal) ||
	    fcntl(watch->socket, F_SETFL, O_NONBLOCK | O_ASYNC))
		return error_set(errno, "cannot watch the interface: %s", strerror(errno));
	return 0;
}

void link_watch_disarm(struct link_watch *watch)
{
	fcntl(watch->socket, F_SETFL, O_NONBLOCK);
}

int link_watch_gone(const struct link_watch *watch)
{
	struct pollfd ready = { .fd = watch->socket, .events = POLLIN };

	return poll(&ready, 1, 0) > 0;
}
