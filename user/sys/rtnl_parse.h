/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From rtnetlink messages to the structs of rtnl.h. Pure: bytes in, struct out; lengths are checked, nothing is
 * trusted.
 */
#ifndef SYS_RTNL_PARSE_H
#define SYS_RTNL_PARSE_H

#include <linux/neighbour.h>
#include <linux/netlink.h>
#include <netlink/attr.h>

#include "sys/rtnl.h"

/* Each returns 1 when the message was of the asked kind and *result is filled, 0 when it is of another kind, -EBADMSG
 * when it is damaged (no error text: the caller knows what it asked for). */
int rtnl_parse_link(struct nlmsghdr *message, struct rtnl_link *link);
/* A qdisc or a class: all but its rate. *options: what its kind adds, inside the message; NULL: nothing. */
int rtnl_parse_queue(struct nlmsghdr *message, struct rtnl_qdisc *queue, struct nlattr **options);
/* Of the options of a tbf, by number (up to TCA_TBF_MAX); 0: not told. */
uint64_t rtnl_tbf_rate(struct nlattr *const *options);
/* A qdisc, with the rate of a tbf. */
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
/* Any entry of a forwarding table that has an address of six bytes; *table gets NDA_MAX + 1 attributes. */
int rtnl_parse_fdb_message(struct nlmsghdr *message, struct nlattr **table, struct ndmsg **header);
/* One of a bridge. */
int rtnl_parse_fdb_entry(struct nlmsghdr *message, struct rtnl_fdb_entry *entry);

#endif
