/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bridges and their ports as the kernel describes them over rtnetlink, beyond what rtnl.h reads of every link.
 *
 * Owns: the attributes of bridges, of bridge ports and of taps. Runs in the namespace of the calling thread.
 */
#ifndef SYS_BRIDGE_LINKS_H
#define SYS_BRIDGE_LINKS_H

#include <linux/netlink.h>

#include "sys/rtnl.h"

struct bridge_link {
	struct rtnl_link link;
	unsigned int promiscuity; /* how many want all frames; a bridge counts itself at its ports */
	int has_switch_id;	  /* a port of a switch that may forward by itself */
	int is_tap;
	int tap_vnet_header; /* its owner hands over segmentation and checksums to be made */

	/* of a bridge */
	int is_bridge;
	int vlan_filtering;
	int stp;     /* 0 none, else the kernel's or a daemon's */
	int nf_call; /* iptables & Co. are called for this bridge, whatever the namespace's setting is */
	double ageing_s, forward_delay_s;

	/* of a bridge's port */
	int is_port;
	unsigned int port_state; /* BR_STATE_* */
	int learning, isolated, locked, neigh_suppress, proxy_arp, vlan_tunnel, has_backup;
};

/* One message: 1 filled, 0 another kind of message, -EBADMSG. Pure. */
int bridge_link_parse(struct nlmsghdr *message, struct bridge_link *link);
/* All links of the namespace, not only those of bridges; *links is malloc'ed. Returns their number or -errno with error text. */
int bridge_links_list(struct bridge_link **links);

#endif
