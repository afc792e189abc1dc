/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Links and queueing disciplines over rtnetlink, in the namespace the calling thread is in.
 *
 * Built on libnl-3's core (sockets, messages, attributes). Every function returns 0 or -errno with error text that
 * names the interface. Returned structs are plain copies.
 */
#ifndef SYS_RTNL_H
#define SYS_RTNL_H

#include <stdint.h>

struct rtnl_link {
	int ifindex;
	char name[16];
	char kind[32];		/* veth, bridge, macvlan …; "" for a physical or virtio device */
	unsigned char address[6];
	unsigned int mtu_bytes;
	unsigned int flags;	/* IFF_* */
	unsigned int operstate;	/* IF_OPER_* */
	int master_ifindex;	/* 0 none */
	int peer_ifindex;	/* IFLA_LINK; 0 none. In namespace peer_netnsid when that is >= 0 */
	int peer_netnsid;	/* -1: same namespace */
	uint32_t xdp_program_id; /* 0 none */
	unsigned int xdp_mode;	/* XDP_ATTACHED_* */
	unsigned int rx_queues, tx_queues;
	char bridge_port_state[16]; /* "forwarding", "disabled"…; "" when no bridge port */
	uint64_t rx_frames, tx_frames, rx_dropped, tx_dropped, rx_errors, tx_errors;
};

struct rtnl_qdisc {
	int ifindex;
	char kind[16];
	uint32_t handle, parent;
	uint64_t rate_bytes_per_s; /* tbf: its rate; 0 otherwise */
	uint64_t bytes, frames;
	uint32_t drops, overlimits, requeues, backlog_bytes, backlog_frames;
};

int rtnl_link_get(const char *name, struct rtnl_link *link);
int rtnl_link_get_index(int ifindex, struct rtnl_link *link);
/* All links; *links is malloc'ed, freed by the caller. Returns their number or -errno. */
int rtnl_link_list(struct rtnl_link **links);
/* Qdiscs of one interface, root first. Returns their number (≤ max) or -errno. */
int rtnl_qdisc_list(int ifindex, struct rtnl_qdisc *qdiscs, int max);
/* Whether a default route of the main table, IPv4 or IPv6, whatever its metric, goes out of this interface: 1, 0 or -errno.
 * Of a route over several next hops the first one counts. */
int rtnl_carries_default_route(int ifindex);
/* Whether the bridge named `bridge_ifindex` has learned or been told `address`; port ifindex, 0 unknown. */
int rtnl_fdb_lookup(int bridge_ifindex, const unsigned char address[6], int *port_ifindex);

/* One queue in each direction, so that one CPU serves each end. The peer is made in namespace peer_netns. */
int rtnl_veth_create(const char *name, const char *peer, const char *peer_netns, unsigned int mtu_bytes);
int rtnl_bridge_create(const char *name, unsigned int mtu_bytes); /* no STP, no forward delay, no multicast snooping */
int rtnl_link_delete(const char *name);
int rtnl_link_set_master(const char *name, const char *bridge);
int rtnl_link_set_up(const char *name);
int rtnl_link_set_mtu(const char *name, unsigned int mtu_bytes);
/* Filters at the hook of a clsact qdisc, incoming or outgoing; their number (more than one message may tell of one) or -errno. */
int rtnl_clsact_filters(int ifindex, int ingress);
int rtnl_clsact_add(const char *name);    /* EEXIST: there is one; EBUSY: an ingress qdisc is in its place */
int rtnl_clsact_delete(const char *name); /* 0, also when there is none */

#endif
