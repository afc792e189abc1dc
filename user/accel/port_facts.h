/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts of a bridge and its ports, as accel_policy.h wants them.
 *
 * Owns: asking. Leaves to others: judging (accel_policy.c). Runs in the bridge's namespace. What the kernel tells by one dump of links is
 * read at every change (port_facts_of_link); what it tells only when asked, port by port, at the start and once a second
 * (port_facts_ask): tc, XDP features, offloads of a veth's other end.
 */
#ifndef ACCEL_PORT_FACTS_H
#define ACCEL_PORT_FACTS_H

#include "accel/accel_policy.h"
#include "sys/bridge_links.h"
#include "sys/veth_peer.h"

struct port_place {	   /* where we are */
	const char *netns; /* of the bridge; "" our own */
	int home_fd;	   /* the namespace that we come from; -1: we are there */
};

void port_facts_of_bridge(const struct bridge_link *links, int count, int bridge_ifindex,
			  struct accel_bridge_facts *facts);
/* Packet filters; part of the facts of a bridge that is asked for. 0 or -errno with error text. */
int port_facts_ask_bridge(struct accel_bridge_facts *facts);
/* own_program: ours is attached, so the XDP program there is none of somebody else. */
void port_facts_of_link(const struct bridge_link *links, int count, const struct bridge_link *link, int bridge_ifindex,
			int own_program, struct accel_port_facts *facts);
/* 0 or -errno with error text; ENODEV: the port went meanwhile. *peer is filled for a veth whose other end can be reached. */
int port_facts_ask(const struct port_place *place, const struct bridge_link *link, struct accel_port_facts *facts,
		   struct veth_peer *peer);
/* --set-offloads: changes what stands in the way of a role and can be changed; registered before. 0 or -errno with error text. */
int port_facts_set_offloads(const struct port_place *place, const struct bridge_link *link,
			    const struct veth_peer *peer, const struct accel_port_facts *facts);

#endif
