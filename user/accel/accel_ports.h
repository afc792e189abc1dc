/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ports of an accelerated bridge: who is one, what it may do, and the fast path told so.
 *
 * Owns: the list. Leaves to others: facts (port_facts.c), judging (accel_policy.c), programs and slots (fast_path.c). Used by accel.c
 * only.
 */
#ifndef ACCEL_ACCEL_PORTS_H
#define ACCEL_ACCEL_PORTS_H

#include "accel/accel.h"
#include "accel/fast_path.h"
#include "accel/port_facts.h"

struct accel_port {
	int ifindex, slot;
	char name[16];
	struct accel_port_facts facts;
	struct accel_port_verdict verdict;
	struct veth_peer peer;
	unsigned int failed_mtu; /* with this MTU attaching failed */
	char why[256];		 /* it failed */
	int is_seen;
};

struct accel_ports {
	struct accel_port *list;
	int count, capacity;
	int bridge_ifindex;
	struct fast_path *path;
	struct port_place place;
	const struct accel_request *request;
	struct accel_bridge_facts bridge;
	enum accel_refusal bridge_refusal;
	int stp;
	double forward_delay_s;
};

/*
 * Reads the links, and with `ask` what must be asked for; judges; attaches and detaches; tells the fast path. *changed: a port came,
 * went or changed its slot, so stations must be put anew. 0 or -errno with error text.
 */
int accel_ports_update(struct accel_ports *ports, int ask, int *changed);
/* Before they are attached: --set-offloads. */
int accel_ports_set_offloads(struct accel_ports *ports);
/* Nothing takes the fast path until the next update. */
void accel_ports_shut(struct accel_ports *ports);
/* This one not, if it is a port. */
void accel_ports_shut_one(struct accel_ports *ports, int ifindex);
uint32_t accel_ports_slot(const struct accel_ports *ports, int ifindex);
void accel_ports_close(struct accel_ports *ports);
/* 1 when a comma-separated list (NULL or "": all) holds the name. */
int accel_ports_is_asked(const char *list, const char *name);

#endif
