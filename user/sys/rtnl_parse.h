/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From rtnetlink messages to the structs of rtnl.h. Pure: bytes in, struct out; lengths are checked, nothing is
 * trusted.
 */
#ifndef SYS_RTNL_PARSE_H
#define SYS_RTNL_PARSE_H

#include <linux/netlink.h>

#include "sys/rtnl.h"

/* Each returns 1 when the message was of the asked kind and *result is filled, 0 when it is of another kind, -EBADMSG
 * when it is damaged (no error text: the caller knows what it asked for). */
int rtnl_parse_link(struct nlmsghdr *message, struct rtnl_link *link);
int rtnl_parse_qdisc(struct nlmsghdr *message, struct rtnl_qdisc *qdisc);

struct rtnl_default { /* a default route of the main table */
	int ifindex;
	uint32_t metric;
};
int rtnl_parse_default_route(struct nlmsghdr *message, struct rtnl_default *route);

struct rtnl_fdb_entry {
	int bridge_ifindex;
	int port_ifindex;
	unsigned char address[6];
};
int rtnl_parse_fdb_entry(struct nlmsghdr *message, struct rtnl_fdb_entry *entry);

#endif
