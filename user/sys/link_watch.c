// SPDX-License-Identifier: GPL-2.0-or-later
/* A signal when an interface goes away or down; see link_watch.h. Called by port/live.c. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include "base/error.h"
#include "sys/link_watch.h"

#define TYPE_OFFSET 4 /* of struct nlmsghdr */
#define FAMILY_OFFSET (sizeof(struct nlmsghdr) + offsetof(struct ifinfomsg, ifi_family))
#define INDEX_OFFSET (sizeof(struct nlmsghdr) + offsetof(struct ifinfomsg, ifi_index))
#define FLAGS_OFFSET (sizeof(struct nlmsghdr) + offsetof(struct ifinfomsg, ifi_flags))

/*
 * All other events stay out of the socket: each one would end a trial's long call. Netlink is in host order, loads are
 * big-endian. RTM_NEWLINK says any change; the one that counts is that the interface is not up any more.
 */
static int attach_filter(int fd, int ifindex)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS,
			 FAMILY_OFFSET), /* that a port leaves its bridge is an RTM_DELLINK, too */
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_UNSPEC, 0, 8),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, INDEX_OFFSET),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htonl((unsigned int)ifindex), 0, 6),
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, TYPE_OFFSET),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htons(RTM_DELLINK), 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htons(RTM_NEWLINK), 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, FLAGS_OFFSET),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, htonl(IFF_UP), 1, 0),
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

	watch->event = LINK_STAYS;
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

static void hear(struct link_watch *watch)
{
	struct nlmsghdr header;

	while (recv(watch->socket, &header, sizeof(header), MSG_DONTWAIT) == sizeof(header)) {
		enum link_event event = header.nlmsg_type == RTM_NEWLINK ? LINK_DOWN : LINK_GONE;

		watch->event = event > watch->event ? event : watch->event;
	}
}

enum link_event link_watch_event(struct link_watch *watch, int wait_ms)
{
	struct pollfd ready = { .fd = watch->socket, .events = POLLIN };

	hear(watch);
	if (watch->event == LINK_DOWN && wait_ms > 0 && poll(&ready, 1, wait_ms) > 0)
		hear(watch);
	return watch->event;
}
