/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From rtnetlink messages to facts: forwarding tables of bridges and vxlan devices, neighbours, addresses, routes. Pure; nothing
 * in the bytes is trusted.
 *
 * Each returns 1 when the message is such a fact, 0 when it is another kind or says nothing of use, -EBADMSG when it is damaged.
 * No error text.
 */
#ifndef SYS_COLLECT_TABLES_PARSE_H
#define SYS_COLLECT_TABLES_PARSE_H

#include <linux/netlink.h>

#include "model/facts.h"

/* These fill the whole record but its netns. */

/* An entry without a bridge (bridge_ifindex 0) is a device's own: of use only when that is a vxlan device, since all others
 * list the addresses that they listen to. */
int collect_parse_fdb(struct nlmsghdr *message, struct facts_fdb *entry);
/* Those with an address of six bytes that was told or learned. */
int collect_parse_neighbour(struct nlmsghdr *message, struct facts_neighbour *neighbour);
int collect_parse_address(struct nlmsghdr *message, struct facts_address *address);

/* Of the main table, unicast: adds one record a next hop. -ENOMEM, too. */
int collect_parse_route(struct nlmsghdr *message, struct facts *facts, int netns);

#endif
