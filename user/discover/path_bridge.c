// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Edges through a kernel bridge: what its FDB answers, to whom it floods, what its ports let through.
 *
 * Theory. A bridge looks the destination up in its FDB, in the frame's VLAN when it is VLAN-aware. A known address goes to its port alone,
 * or up to the bridge's own device; an unknown one goes to all ports that flood. A frame never leaves by the port it came in at
 * (unless in hairpin mode). Which VLANs a port carries is not in the facts but for its PVID: frames of the PVID are taken to
 * leave untagged, others tagged.
 */
#include <string.h>

#include "discover/path_moves.h"

#define VLAN_MASK 0xfffu
#define STATE_FORWARDING 3
#define IFF_UP_FLAG 1u
#define VLAN_ANY (-1)

struct passage {
	struct path_moves *moves;
	int bridge, port;      /* port: where the frame came in, -1 the bridge's own device */
	int is_aware;	       /* of VLANs */
	int vlan;	       /* that the frame belongs to; 0 none, VLAN_ANY unknown */
	uint32_t tags, inside; /* as it came; without the tag that the bridge took off */
	enum { ANSWER_UNKNOWN, ANSWER_PORT, ANSWER_HERE } answer;
	int answer_port;
};

static int pvid_of(const struct passage *passage, int link)
{
	const struct facts_link *which = path_link(passage->moves->graph, link);

	return link == passage->bridge ? which->bridge.vlan_default_pvid : which->port.pvid;
}

static void classify(struct passage *passage)
{
	uint32_t flag = passage->tags & PATH_ENCAPSULATED, tags = passage->tags & ~PATH_ENCAPSULATED;
	int filtering = path_link(passage->moves->graph, passage->bridge)->bridge.vlan_filtering;

	passage->inside = passage->tags;
	passage->is_aware = filtering == 1;
	passage->vlan = filtering < 0 ? VLAN_ANY : 0;
	if (!passage->is_aware)
		return;
	if (tags & PATH_ANY_TAG) {
		passage->vlan = VLAN_ANY;
	} else if (tags & VLAN_MASK) {
		passage->vlan = (int)(tags & VLAN_MASK);
		passage->inside = tags >> 12 | flag;
	} else {
		passage->vlan = pvid_of(passage, passage->port >= 0 ? passage->port : passage->bridge);
	}
}

static uint32_t tags_behind(const struct passage *passage, int port)
{
	int pvid = pvid_of(passage, port);

	if (!passage->is_aware || passage->vlan <= 0 || pvid < 0 || pvid == passage->vlan)
		return passage->inside;
	return (passage->inside & PATH_ENCAPSULATED) | ((passage->inside & VLAN_MASK) << 12) | (uint32_t)passage->vlan;
}

static int port_link(const struct passage *passage, int ifindex)
{
	const struct path_graph *graph = passage->moves->graph;
	const struct facts_link *link = facts_link_at(graph->facts, path_link(graph, passage->bridge)->netns, ifindex);

	return link ? (int)(link - graph->facts->links) : PATH_UNSEEN;
}

static int knows_address(const struct path_moves *moves, uint32_t tags)
{
	return moves->target->has_address && !(tags & PATH_ENCAPSULATED);
}

static void ask_fdb(struct passage *passage)
{
	const struct path_graph *graph = passage->moves->graph;
	const struct path_target *target = passage->moves->target;
	const struct facts_fdb *chosen = NULL;
	int first, count;

	passage->answer_port = PATH_NONE;
	if (!knows_address(passage->moves, passage->tags))
		return;
	count = path_fdb_find(graph, passage->bridge, target->address, &first);
	for (int i = 0; i < count && !chosen; i++) {
		const struct facts_fdb *entry = path_fdb_entry(graph, first + i);

		if (passage->vlan == VLAN_ANY || entry->vlan == passage->vlan)
			chosen = entry;
	}
	if (chosen) {
		passage->answer_port = port_link(passage, chosen->port_ifindex);
		passage->answer = chosen->is_local || passage->answer_port == passage->bridge ? ANSWER_HERE
											      : ANSWER_PORT;
	} else if (!memcmp(path_link(graph, passage->bridge)->address, target->address, 6)) {
		passage->answer = ANSWER_HERE;
	}
}

int path_is_forwarding(const struct path_graph *graph, int port)
{
	int state = path_link(graph, port)->port.state;

	return state < 0 || state == STATE_FORWARDING;
}

/* A port without carrier does not forward either; then the link's own end is the one to name. */
static int is_shut_port(const struct path_graph *graph, int port)
{
	const struct facts_link *link = path_link(graph, port);

	return !path_is_forwarding(graph, port) && link->flags & IFF_UP_FLAG && link->carrier != 0;
}

/* What the port that the frame came in at does to all edges. */
static void shut_at_entry(const struct passage *passage, struct path_edge *edge)
{
	if (passage->port < 0)
		return;
	if (is_shut_port(passage->moves->graph, passage->port))
		path_shut(edge, BLOCK_PORT_STATE, passage->port);
	if (passage->is_aware && passage->vlan == 0)
		path_shut(edge, BLOCK_NO_VLAN, passage->port);
}

static void shut_by_answer(const struct passage *passage, struct path_edge *edge, int port)
{
	if (passage->answer == ANSWER_HERE)
		path_shut(edge, BLOCK_FDB_HERE, passage->bridge);
	else if (passage->answer == ANSWER_PORT && passage->answer_port == passage->port)
		path_shut(edge, BLOCK_FDB_SAME_PORT, passage->port);
	else if (passage->answer == ANSWER_PORT && passage->answer_port != port)
		path_shut(edge, BLOCK_FDB_ELSEWHERE, passage->answer_port);
	else if (passage->answer == ANSWER_UNKNOWN && path_link(passage->moves->graph, port)->port.unicast_flood == 0)
		path_shut(edge, BLOCK_NO_FLOOD, port);
}

static void add_port(const struct passage *passage, int port)
{
	const struct path_graph *graph = passage->moves->graph;
	enum path_move move = MOVE_BRIDGE_FLOOD;
	struct path_edge *edge;

	if (port == passage->port && path_link(graph, port)->port.hairpin != 1)
		return;
	if (passage->port < 0)
		move = MOVE_BRIDGE_LOCAL;
	if (passage->answer == ANSWER_PORT && passage->answer_port == port)
		move = MOVE_BRIDGE_KNOWN;
	if (passage->answer == ANSWER_HERE && port == passage->moves->target->link)
		move = MOVE_BRIDGE_AS_PORT;
	edge = path_add_edge(passage->moves, port, 1, tags_behind(passage, port), move, passage->bridge);
	shut_at_entry(passage, edge);
	if (is_shut_port(graph, port))
		path_shut(edge, BLOCK_PORT_STATE, port);
	if (passage->port >= 0 && path_link(graph, passage->port)->port.isolated == 1 &&
	    path_link(graph, port)->port.isolated == 1)
		path_shut(edge, BLOCK_ISOLATED, port);
	if (move != MOVE_BRIDGE_AS_PORT)
		shut_by_answer(passage, edge, port);
}

/* Up to the bridge's own device. */
static void add_own_device(const struct passage *passage)
{
	struct path_edge *edge = path_add_edge(passage->moves, passage->bridge, 0,
					       tags_behind(passage, passage->bridge), MOVE_BRIDGE_LOCAL,
					       passage->bridge);

	shut_at_entry(passage, edge);
	if (passage->answer == ANSWER_PORT)
		path_shut(edge, BLOCK_FDB_ELSEWHERE, passage->answer_port);
	else if (passage->answer == ANSWER_UNKNOWN && knows_address(passage->moves, passage->tags))
		path_shut(edge, BLOCK_NOT_LOCAL, passage->bridge);
}

void path_moves_bridge(struct path_moves *moves, int bridge, int port, uint32_t tags)
{
	struct passage passage = { .moves = moves, .bridge = bridge, .port = port, .tags = tags };
	const struct path_groups *ports = &moves->graph->ports;
	int before = moves->edges->count, flooded = 0;

	classify(&passage);
	ask_fdb(&passage);
	for (int i = ports->first[bridge]; i < ports->first[bridge + 1]; i++)
		add_port(&passage, ports->order[i]);
	flooded = moves->edges->count - before;
	if (port >= 0)
		add_own_device(&passage);
	for (int i = before; i < moves->edges->count; i++) {
		moves->edges->edges[i].detail = flooded;
		if (!(path_link(moves->graph, bridge)->flags & IFF_UP_FLAG)) /* a bridge that is down takes no frames */
			path_shut(&moves->edges->edges[i], BLOCK_DOWN, bridge);
	}
}
