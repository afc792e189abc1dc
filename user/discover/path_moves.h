/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a frame gets from one point to the next: the edges of the search.
 *
 * A state is a link, a direction and the VLAN tags that the frame carries there. From each state there are edges, one a possible next
 * point. An edge that is shut (link down, port that does not forward, FDB that says another port) is an edge all the same, with
 * what shuts it: so that a path that is cut is found whole and the cut can be named.
 *
 * Owns: which edges there are and what shuts them. Leaves to others: choosing among them (path_search.h), words (path_describe.h).
 */
#ifndef DISCOVER_PATH_MOVES_H
#define DISCOVER_PATH_MOVES_H

#include <stdint.h>

#include "discover/path_graph.h"

enum path_move {
	MOVE_NONE,	     /* the start */
	MOVE_WIRE,	     /* pair */
	MOVE_BRIDGE_KNOWN,   /* the FDB knows the port */
	MOVE_BRIDGE_FLOOD,   /* it does not: every port */
	MOVE_BRIDGE_LOCAL,   /* to or from the bridge's own device */
	MOVE_BRIDGE_AS_PORT, /* the sink is this very port: its own address would end in the bridge */
	MOVE_DOWN_STACK,     /* upper to lower */
	MOVE_UP_STACK,	     /* lower to upper */
	MOVE_SIBLING,	     /* macvlan to macvlan above one device */
	MOVE_TO_SLAVE,	     /* bond or team sends */
	MOVE_FROM_SLAVE,     /* bond or team receives */
	MOVE_TO_VF_SLAVE,    /* netvsc, net_failover: data path through its slave */
	MOVE_FROM_VF_SLAVE,
	MOVE_TUNNEL,	      /* through the underlay to the other end; a search of its own */
	MOVE_ENCAPSULATE,     /* into the underlay, other end not in these facts */
	MOVE_REPRESENTOR,     /* VF and its representor */
	MOVE_EMBEDDED_SWITCH, /* of an SR-IOV card, among VFs and PF */
	MOVE_DATAPATH,	      /* Open vSwitch */
	MOVE_OUTSIDE_WIRE,    /* guess: out of a NIC and in at another */
	MOVE_UNSEEN_NETNS,    /* guess: through namespaces that are not in these facts */
	MOVE_THROUGH_HOLDER,  /* guess: from tap to tap through the process that holds both */
};

enum path_block {
	BLOCK_NONE,
	BLOCK_DOWN, /* `culprit` is down */
	BLOCK_NO_CARRIER,
	BLOCK_PORT_STATE,    /* `culprit` is a port that does not forward */
	BLOCK_FDB_ELSEWHERE, /* the FDB says port `culprit` */
	BLOCK_FDB_SAME_PORT, /* the FDB says the port that the frame came from */
	BLOCK_FDB_HERE,	     /* the FDB says that the bridge itself has the address */
	BLOCK_NOT_LOCAL,     /* the bridge's own device does not get a frame to another's address */
	BLOCK_NO_FLOOD,	     /* unknown address, and `culprit` takes no flooded frames */
	BLOCK_ISOLATED,	     /* both ports are isolated */
	BLOCK_NO_VLAN,	     /* the port of a VLAN-aware bridge has no VLAN for untagged frames */
	BLOCK_TAG,	     /* the VLAN device takes another tag */
	BLOCK_ADDRESS,	     /* macvlan takes only frames to its own address */
	BLOCK_MACVLAN_MODE,
	BLOCK_BACKUP_SLAVE, /* not the active one */
	BLOCK_NO_UNDERLAY,  /* the underlay does not lead to the remote */
	BLOCK_DEPTH,	    /* tunnels in tunnels in tunnels */
};

/* Where frames are to go in one layer-2 network. */
struct path_target {
	int link;
	uint8_t address[6];
	int has_address; /* 0: of an unknown station, so every bridge floods */
	int direction;	 /* 1: only (link, out) counts, 0 only (link, in), -1 whichever is reached first */
};

struct path_state {
	int link;
	int is_out;
	uint32_t tags; /* outer VLAN in the low 12 bits, the next above; or PATH_ANY_TAG; PATH_ENCAPSULATED */
};

#define PATH_ANY_TAG (1u << 30)	     /* frames from outside, whose sender may tag them as it takes */
#define PATH_ENCAPSULATED (1u << 31) /* inside a tunnel whose other end is not in these facts */

struct path_edge {
	struct path_state to;
	enum path_move move;
	enum path_block block;
	int culprit; /* link, of the block */
	int device;  /* link: bridge, bond, datapath, PF, a tunnel's exit into the underlay; -1 none */
	int detail; /* MOVE_BRIDGE_FLOOD: ports flooded to; MOVE_THROUGH_HOLDER: process; MOVE_TUNNEL: link of the underlay's end */
	const char *remote; /* of a tunnel: address of its other end, a text in the facts */
	uint64_t cost;	    /* MOVE_TUNNEL: of the way through the underlay; else 0 */
};

struct path_edges {
	int count, room, failed; /* failed: out of memory */
	struct path_edge *edges;
};

struct path_moves {
	const struct path_graph *graph;
	const struct path_target *target;
	int depth;	    /* of tunnels around */
	int *searches_left; /* through underlays: all searches of one question share it */
	int is_start;	    /* the state is the search's first */
	int stays_inside;   /* 1: nothing opaque, underlays not looked into: for finding loops */
	int passes_by_hub;  /* 1: leave out the edges through the state's hub (path_hub_of) */
	struct path_edges *edges;
};

/* What joins many links, so that each of them has an edge to all others: the bridge or datapath that frames of this state go into, the
 * embedded switch (its PF); -1 none. */
int path_hub_of(const struct path_graph *graph, const struct path_state *state);

/* All edges from a state. Answers in moves->edges, which is emptied first. */
void path_moves_from(struct path_moves *moves, const struct path_state *from);

/* For the files path_moves*.c: adds an edge; marks it shut when the link it leads to is down or has no carrier. Returns it until
 * the next is added, NULL when out of memory. */
struct path_edge *path_add_edge(struct path_moves *moves, int link, int is_out, uint32_t tags, enum path_move move,
				int device);
void path_shut(struct path_edge *edge, enum path_block block, int culprit);
/* Of a bridge: from port `port`, or from its own device (-1). */
void path_moves_bridge(struct path_moves *moves, int bridge, int port, uint32_t tags);
void path_moves_tunnel(struct path_moves *moves, int tunnel, uint32_t tags);
void path_moves_device(struct path_moves *moves, const struct path_state *from); /* a NIC or what looks like one */
/* 0: a port of a bridge whose state is known to be another one than forwarding. */
int path_is_forwarding(const struct path_graph *graph, int port);
int path_is_representor(const struct path_graph *graph, int link);

/* Where the network seen here ends: frames leave it by (link, out) and enter it by (link, in). Links of one class may be joined
 * outside; PATH_DOOR_NONE: the link is no such end. */
enum { PATH_DOOR_NONE, PATH_DOOR_WIRE, PATH_DOOR_UNSEEN, PATH_DOOR_HOLDER /* + index of the process */ };
int path_door(const struct path_graph *graph, int link);

#endif
