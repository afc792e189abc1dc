/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From RTM_NEWLINK messages to facts about links. Pure; nothing in the bytes is trusted: what is cut or of a wrong size stays
 * unknown.
 *
 * Owns: which attribute is which fact. Leaves to others: asking (collect_links.c), in which namespace a number of
 * IFLA_LINK_NETNSID lies (collect_netns.c).
 */
#ifndef SYS_COLLECT_LINK_PARSE_H
#define SYS_COLLECT_LINK_PARSE_H

#include <linux/netlink.h>
#include <netlink/attr.h>

#include "model/facts.h"

#define COLLECT_NETNSID_NONE (-2) /* IFLA_LINK is in the link's own namespace; -1: in one that has no number here */

/* Adds the link to facts, as one of namespace `netns`; *netnsid is the namespace of its lower_ifindex, whose lower_netns is
 * `netns` where that is COLLECT_NETNSID_NONE, else (and without a lower device) -1. 1; 0: a message of another kind; -EBADMSG: damaged, nothing added;
 * -ENOMEM. No error text. */
int collect_parse_link(struct nlmsghdr *message, struct facts *facts, int netns, int *netnsid);

/* From an RTM_NEWLINK message of family AF_BRIDGE: a port's number, that of its bridge, and its VLANs into the members pvid, vlans and
 * untagged of *port (0 and "none": no frame without a tag comes in, none passes). 1; 0: of another kind, or no port; -EBADMSG. */
int collect_parse_port_vlan(struct nlmsghdr *message, int *port_ifindex, int *bridge_ifindex,
			    struct facts_bridge_port *port);

/* What IFLA_LINKINFO says of a kind (IFLA_INFO_DATA), and of a port of a kind of master (IFLA_INFO_SLAVE_DATA): the part in
 * collect_link_kind.c. Kinds without a row are left alone. */
void collect_parse_kind(const char *kind, struct nlattr *data, struct facts_link *link);
void collect_parse_slave_kind(const char *kind, struct nlattr *data, struct facts_link *link);

#endif
