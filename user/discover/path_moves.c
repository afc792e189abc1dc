// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Edges by family of link: pairs, stacks, macvlan, bonds, taps, Open vSwitch. Bridges are in path_bridge.c, NICs in path_device.c,
 * tunnels in path_tunnel.c. See path_moves.h.
 */
#include "discover/path_moves.h"

#include <stdlib.h>
#include <string.h>

#define IFF_UP_FLAG 1u
#define VLAN_MASK 0xfffu

/* The carrier of other links is that of a link which is looked at by itself. */
static int has_carrier_of_its_own(const struct path_graph *graph, int link)
{
	enum path_family family = graph->family[link];

	return family == PATH_DEVICE || family == PATH_TAP || (family == PATH_PAIR && graph->peer[link] < 0);
}

void path_shut(struct path_edge *edge, enum path_block block, int culprit)
{
	if (!edge || edge->block)
		return;
	edge->block = block;
	edge->culprit = culprit;
}

static void shut_if_down(const struct path_graph *graph, struct path_edge *edge, int link)
{
	const struct facts_link *which = path_link(graph, link);

	if (!(which->flags & IFF_UP_FLAG))
		path_shut(edge, BLOCK_DOWN, link);
	else if (which->carrier == 0 && has_carrier_of_its_own(graph, link))
		path_shut(edge, BLOCK_NO_CARRIER, link);
}

struct path_edge *path_add_edge(struct path_moves *moves, int link, int is_out, uint32_t tags, enum path_move move,
				int device)
{
	struct path_edges *edges = moves->edges;
	struct path_edge *edge;

	if (edges->count == edges->room) {
		int room = edges->room ? edges->room * 2 : 64;

		edge = realloc(edges->edges, (size_t)room * sizeof(*edge));
		if (!edge) {
			edges->failed = 1;
			return NULL;
		}
		edges->edges = edge;
		edges->room = room;
	}
	edge = &edges->edges[edges->count++];
	*edge = (struct path_edge){
		.to = { link, is_out, tags }, .move = move, .device = device, .culprit = PATH_NONE
	};
	shut_if_down(moves->graph, edge, link);
	return edge;
}

static int takes_address(const struct path_moves *moves, int link)
{
	return !moves->target->has_address ||
	       !memcmp(path_link(moves->graph, link)->address, moves->target->address, 6);
}

static int is_mode(const struct path_graph *graph, int link, const char *mode)
{
	return !strcmp(path_link(graph, link)->macvlan_mode, mode);
}

/* A macvlan hands a frame to a sibling itself when both are in bridge mode. */
static void add_siblings(struct path_moves *moves, int link, uint32_t tags)
{
	const struct path_graph *graph = moves->graph;
	int lower = graph->lower[link];

	for (int i = graph->uppers.first[lower]; i < graph->uppers.first[lower + 1]; i++) {
		int other = graph->uppers.order[i];
		struct path_edge *edge;

		if (other == link || graph->family[other] != PATH_MACVLAN)
			continue;
		edge = path_add_edge(moves, other, 0, tags, MOVE_SIBLING, lower);
		if (!is_mode(graph, link, "bridge"))
			path_shut(edge, BLOCK_MACVLAN_MODE, link);
		else if (!is_mode(graph, other, "bridge"))
			path_shut(edge, BLOCK_MACVLAN_MODE, other);
		else if (!takes_address(moves, other))
			path_shut(edge, BLOCK_ADDRESS, other);
	}
}

static uint32_t push_tag(const struct path_graph *graph, int link, uint32_t tags)
{
	uint32_t vlan = (uint32_t)path_link(graph, link)->vlan_id & VLAN_MASK;

	if (strcmp(path_link(graph, link)->kind, "vlan") || !vlan)
		return tags;
	return (tags & PATH_ENCAPSULATED) | ((tags & VLAN_MASK) << 12) | vlan;
}

/* A bond that has an active slave uses it alone; the others hash. */
static int has_active_slave(const struct path_graph *graph, int bond)
{
	const char *mode = path_link(graph, bond)->bond_mode;
	int found = 0;

	if (mode[0] && strcmp(mode, "active-backup") && strcmp(mode, "activebackup"))
		return 0;
	for (int i = graph->ports.first[bond]; i < graph->ports.first[bond + 1]; i++)
		found |= path_link(graph, graph->ports.order[i])->bond_is_active == 1;
	return found;
}

static void shut_backup(const struct path_graph *graph, struct path_edge *edge, int bond, int slave)
{
	if (has_active_slave(graph, bond) && path_link(graph, slave)->bond_is_active != 1)
		path_shut(edge, BLOCK_BACKUP_SLAVE, slave);
}

static void add_slaves(struct path_moves *moves, int bond, uint32_t tags)
{
	const struct path_graph *graph = moves->graph;

	for (int i = graph->ports.first[bond]; i < graph->ports.first[bond + 1]; i++)
		shut_backup(graph, path_add_edge(moves, graph->ports.order[i], 1, tags, MOVE_TO_SLAVE, bond), bond,
			    graph->ports.order[i]);
}

/* From a port of an Open vSwitch datapath to all others: the ports that the kernel knows by their master, and those that the
 * datapath made itself, which have none. The flow table decides, and only ovs-vswitchd knows it. */
static void add_datapath(struct path_moves *moves, int datapath, int from, uint32_t tags)
{
	const struct path_graph *graph = moves->graph;
	int netns = path_link(graph, from)->netns;

	if (moves->stays_inside)
		return;
	for (int i = 0; i < graph->link_count; i++) {
		int is_own = graph->family[i] == PATH_SWITCH && graph->master[i] < 0 &&
			     path_link(graph, i)->netns == netns;

		if (i == from || i == datapath || (!is_own && (datapath < 0 || graph->master[i] != datapath)))
			continue;
		path_add_edge(moves, i, !is_own, tags, MOVE_DATAPATH, datapath);
	}
}

/* The datapath that a port made by Open vSwitch belongs to: the kernel does not say, but has one of them in nearly all cases. */
static int datapath_near(const struct path_graph *graph, int link)
{
	for (int i = 0; i < graph->link_count; i++) {
		int master = graph->master[i];

		if (master >= 0 && graph->family[master] == PATH_SWITCH &&
		    path_link(graph, master)->netns == path_link(graph, link)->netns)
			return master;
	}
	return PATH_NONE;
}

static void moves_out(struct path_moves *moves, const struct path_state *from)
{
	const struct path_graph *graph = moves->graph;
	int link = from->link;

	switch (graph->family[link]) {
	case PATH_PAIR:
		if (graph->peer[link] >= 0)
			path_add_edge(moves, graph->peer[link], 0, from->tags, MOVE_WIRE, PATH_NONE);
		break;
	case PATH_MACVLAN:
		if (graph->lower[link] >= 0) {
			add_siblings(moves, link, from->tags);
			path_add_edge(moves, graph->lower[link], 1, from->tags, MOVE_DOWN_STACK, link);
		}
		break;
	case PATH_STACKED:
		if (graph->lower[link] >= 0)
			path_add_edge(moves, graph->lower[link], 1, push_tag(graph, link, from->tags), MOVE_DOWN_STACK,
				      link);
		break;
	case PATH_TUNNEL:
		path_moves_tunnel(moves, link, from->tags);
		break;
	case PATH_BRIDGE:
		path_moves_bridge(moves, link, PATH_NONE, from->tags);
		break;
	case PATH_AGGREGATE:
		add_slaves(moves, link, from->tags);
		break;
	case PATH_SWITCH:
		add_datapath(moves, datapath_near(graph, link), link, from->tags);
		break;
	case PATH_DEVICE:
		path_moves_device(moves, from);
		break;
	case PATH_TAP:
	case PATH_MIRROR:
	case PATH_END:
	case PATH_OTHER:
		break;
	}
}

/* To the devices above, which take their frames before a bridge does (VLAN) or instead of one (macvlan). 1: a VLAN device took it. */
static int add_uppers(struct path_moves *moves, const struct path_state *from)
{
	const struct path_graph *graph = moves->graph;
	int taken = 0;

	for (int i = graph->uppers.first[from->link]; i < graph->uppers.first[from->link + 1]; i++) {
		int upper = graph->uppers.order[i], is_vlan = !strcmp(path_link(graph, upper)->kind, "vlan");
		uint32_t tags = from->tags & ~(PATH_ENCAPSULATED | PATH_ANY_TAG), outer = tags & VLAN_MASK;
		struct path_edge *edge;

		edge = path_add_edge(moves, upper, 0,
				     is_vlan ? (from->tags & PATH_ENCAPSULATED) | tags >> 12 : from->tags,
				     MOVE_UP_STACK, upper);
		if (is_vlan &&
		    from->tags & PATH_ANY_TAG) /* then it has this one; and none for who stands above without */
			continue;
		if (is_vlan && outer != ((uint32_t)path_link(graph, upper)->vlan_id & VLAN_MASK))
			path_shut(edge, BLOCK_TAG, upper);
		else if (is_vlan)
			taken = 1;
		if (graph->family[upper] == PATH_MACVLAN && !is_mode(graph, upper, "passthru") &&
		    !takes_address(moves, upper))
			path_shut(edge, BLOCK_ADDRESS, upper);
	}
	return taken;
}

static void moves_in(struct path_moves *moves, const struct path_state *from)
{
	const struct path_graph *graph = moves->graph;
	int master = graph->master[from->link];

	if (add_uppers(moves, from) || master < 0 || moves->passes_by_hub)
		return;
	switch (graph->family[master]) {
	case PATH_BRIDGE:
		path_moves_bridge(moves, master, from->link, from->tags);
		break;
	case PATH_AGGREGATE:
		shut_backup(graph, path_add_edge(moves, master, 0, from->tags, MOVE_FROM_SLAVE, master), master,
			    from->link);
		break;
	case PATH_SWITCH:
		add_datapath(moves, master, from->link, from->tags);
		break;
	case PATH_DEVICE:
		path_add_edge(moves, master, 0, from->tags, MOVE_FROM_VF_SLAVE, master);
		break;
	default:
		break;
	}
}

int path_hub_of(const struct path_graph *graph, const struct path_state *state)
{
	int master = graph->master[state->link];

	if (state->is_out)
		return graph->family[state->link] == PATH_DEVICE ? graph->pf[state->link] : PATH_NONE;
	return master >= 0 && (graph->family[master] == PATH_BRIDGE || graph->family[master] == PATH_SWITCH)
		       ? master
		       : PATH_NONE;
}

void path_moves_from(struct path_moves *moves, const struct path_state *from)
{
	moves->edges->count = 0;
	if (from->is_out)
		moves_out(moves, from);
	else
		moves_in(moves, from);
	if (!moves->is_start)
		return;
	for (int i = 0; i < moves->edges->count; i++) /* every other state was looked at by the edge that led to it */
		shut_if_down(moves->graph, &moves->edges->edges[i], from->link);
}

/* A device that sends through a slave which is up is no end by itself. */
static int sends_through_slave(const struct path_graph *graph, int link)
{
	for (int i = graph->ports.first[link]; i < graph->ports.first[link + 1]; i++)
		if (path_link(graph, graph->ports.order[i])->flags & IFF_UP_FLAG)
			return 1;
	return 0;
}

int path_door(const struct path_graph *graph, int link)
{
	switch (graph->family[link]) {
	case PATH_PAIR:
		return graph->peer[link] == PATH_UNSEEN ? PATH_DOOR_UNSEEN : PATH_DOOR_NONE;
	case PATH_STACKED:
		return graph->lower[link] == PATH_UNSEEN ? PATH_DOOR_UNSEEN : PATH_DOOR_NONE;
	case PATH_MACVLAN: /* of a macvtap the process is above, of any the namespace of the lower device may be unseen */
		return graph->lower[link] == PATH_UNSEEN ? PATH_DOOR_UNSEEN : PATH_DOOR_NONE;
	case PATH_TAP:
		return graph->holder[link] >= 0 ? PATH_DOOR_HOLDER + graph->holder[link] : PATH_DOOR_NONE;
	case PATH_DEVICE:
		if (!path_link(graph, link)->bus[0] || path_is_representor(graph, link) ||
		    sends_through_slave(graph, link))
			return PATH_DOOR_NONE;
		return PATH_DOOR_WIRE;
	default:
		return PATH_DOOR_NONE;
	}
}
