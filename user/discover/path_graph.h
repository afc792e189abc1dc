/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts as a graph: what hangs together with what, in indices, so that a search of thousands of links needs no look-ups by name.
 *
 * Owns: families of link kinds, the adjacency of links, an index of forwarding entries, who holds a tap. Leaves to others: how a
 * frame moves along it (path_moves.h). Called by the rest of discover/.
 *
 * A link is named by its index in facts->links; -1 is none. The facts must outlive the graph and not change.
 */
#ifndef DISCOVER_PATH_GRAPH_H
#define DISCOVER_PATH_GRAPH_H

#include <stdint.h>

#include "model/facts.h"

#define PATH_NONE (-1)
#define PATH_UNSEEN (-2) /* there is one, but not in these facts */

/* What a link is to a frame; many kinds of the kernel make one family. */
enum path_family {
	PATH_DEVICE,	/* a NIC, a VF, a representor, a NIC of a guest */
	PATH_PAIR,	/* what one end sends the other receives: veth */
	PATH_STACKED,	/* one device above one other that passes all frames on: vlan, macsec, ipvlan */
	PATH_MACVLAN,	/* above one other, told by address */
	PATH_TUNNEL,	/* frames travel inside packets of the underlay: vxlan */
	PATH_BRIDGE,	/* kernel bridge */
	PATH_AGGREGATE, /* bond, team: one device of several slaves */
	PATH_SWITCH,	/* Open vSwitch: a datapath, or a port that it made */
	PATH_TAP,	/* frames go to a process and come from one */
	PATH_MIRROR,	/* ifb: gets frames by tc only */
	PATH_END,	/* dummy, loopback: takes everything, leads nowhere */
	PATH_OTHER,	/* not followed */
};

/* Links in groups: those that belong to link i are order[first[i]] … order[first[i + 1] - 1], by index. */
struct path_groups {
	int *order, *first;
};

struct path_graph {
	const struct facts *facts;
	int link_count;
	enum path_family *family;
	int *peer;		   /* of a pair's end: the other end, PATH_UNSEEN, PATH_NONE */
	int *lower;		   /* of a stacked device: the one below, PATH_UNSEEN, PATH_NONE */
	int *master;		   /* bridge, bond, datapath that a link is a port or slave of */
	int *pf;		   /* of a VF: its PF */
	int *holder;		   /* of a tap: index of a process that holds it */
	struct path_groups ports;  /* by master */
	struct path_groups uppers; /* by lower */
	struct path_groups vfs;	   /* by PF */
	int *fdb;		   /* indices into facts->fdb, sorted by namespace, bridge, address, VLAN */
};

/* 0 or -ENOMEM with error text. path_graph_free() also after a failure. */
int path_graph_build(struct path_graph *graph, const struct facts *facts);
void path_graph_free(struct path_graph *graph);

/* Groups of links by the link that each belongs to (group[i]; negative: none), in order of their numbers. 0 or -ENOMEM; to be freed
 * by path_groups_free() in any case. */
int path_groups_make(int link_count, const int *group, struct path_groups *groups);
void path_groups_free(struct path_groups *groups);

const struct facts_link *path_link(const struct path_graph *graph, int link);
/* "lpar0@ns:phyp", "eth0" in the caller's namespace. */
void path_link_name(const struct path_graph *graph, int link, char *name, size_t size);
/* The namespace in which the tunnel's packets travel. */
int path_underlay_netns(const struct path_graph *graph, int tunnel);

/* The forwarding entries of a bridge (or, with a tunnel's link, of the tunnel itself) for an address: they stand together in
 * graph->fdb from *first on. Returns how many. */
int path_fdb_find(const struct path_graph *graph, int bridge, const uint8_t address[6], int *first);
const struct facts_fdb *path_fdb_entry(const struct path_graph *graph, int position);
/* Addresses learned at a port: 1 and the address when there is just one, else 0. */
int path_fdb_only_station(const struct path_graph *graph, int port, uint8_t address[6]);

#endif
