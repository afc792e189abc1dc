/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts of made-up networks, a call a link. Every link is up; the address of a link tells its namespace and number. */
#ifndef TESTS_NETWORK_FACTS_H
#define TESTS_NETWORK_FACTS_H

#include "model/facts.h"

/* A namespace by name: there, or new. "" is the caller's. */
int net_netns(struct facts *facts, const char *name);
/* A link "name" or "name@namespace" of a kind; numbers go up in each namespace. The pointer is good until the next link. */
struct facts_link *net_link(struct facts *facts, const char *where, const char *kind);
/* A veth pair. */
void net_pair(struct facts *facts, const char *a, const char *b);
/* Puts a link on a bridge, bond or datapath of its namespace; on a bridge it forwards. */
void net_enslave(struct facts *facts, const char *where, const char *master);
/* A link above another. */
struct facts_link *net_above(struct facts *facts, const char *where, const char *kind, const char *lower);
/* The FDB of a port's bridge says that an address is behind it. */
void net_learn(struct facts *facts, const char *port, const char *station, int vlan);
void net_address(struct facts *facts, const char *where, const char *address, int prefix_length);
void net_route(struct facts *facts, const char *out, const char *destination, int prefix_length, const char *gateway);
/* QEMU with these arguments (ends with NULL), which holds a tap. */
void net_qemu(struct facts *facts, int pid, const char *tap, int vhost, const char *const *arguments);
/* A link made before; good until the next one is made. */
struct facts_link *net_at(struct facts *facts, const char *where);

#endif
