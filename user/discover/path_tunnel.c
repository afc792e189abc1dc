// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Edges of tunnels. A vxlan device looks the destination up in an FDB of its own, which names the remote (more than one for unknown
 * addresses); else its configured remote. The other end is a vxlan device of the same number in a namespace that has the remote's
 * address. How packets get there is a question of its own, asked in the underlay.
 */
#include <string.h>

#include "discover/path_connect.h"
#include "discover/path_route.h"

#define MAX_REMOTES 16
#define MAX_ENDS 16

static int add_remote(const char *remotes[MAX_REMOTES], int count, const char *remote)
{
	for (int i = 0; i < count; i++)
		if (!strcmp(remotes[i], remote))
			return count;
	if (remote[0] && count < MAX_REMOTES)
		remotes[count++] = remote;
	return count;
}

static int remotes_by_fdb(const struct path_moves *moves, int tunnel, const uint8_t address[6],
			  const char *remotes[MAX_REMOTES], int count)
{
	int first, entries = path_fdb_find(moves->graph, tunnel, address, &first);

	for (int i = 0; i < entries; i++) {
		const struct facts_fdb *entry = path_fdb_entry(moves->graph, first + i);

		if (entry->port_ifindex == path_link(moves->graph, tunnel)->ifindex)
			count = add_remote(remotes, count, entry->vxlan_remote);
	}
	return count;
}

static int find_remotes(const struct path_moves *moves, int tunnel, const char *remotes[MAX_REMOTES])
{
	static const uint8_t anybody[6];
	int count = 0;

	if (moves->target->has_address)
		count = remotes_by_fdb(moves, tunnel, moves->target->address, remotes, 0);
	if (!count)
		count = remotes_by_fdb(moves, tunnel, anybody, remotes, 0);
	return count ? count : add_remote(remotes, 0, path_link(moves->graph, tunnel)->vxlan_remote);
}

int path_tunnel_exit(const struct path_graph *graph, int tunnel, const char *remote)
{
	const struct facts *facts = graph->facts;
	const struct facts_link *link = path_link(graph, tunnel), *exit = NULL;
	int netns = path_underlay_netns(graph, tunnel);

	if (link->lower_ifindex && link->lower_netns >= 0)
		exit = facts_link_at(facts, link->lower_netns, link->lower_ifindex);
	if (!exit) {
		const struct facts_route *route = path_route_find(facts, netns, remote);

		exit = route ? facts_link_at(facts, netns, route->out_ifindex) : NULL;
	}
	return exit ? (int)(exit - facts->links) : PATH_NONE;
}

/* The vxlan devices that packets to a link of the underlay may be for. */
static int is_other_end(const struct path_graph *graph, int tunnel, int other, int underlay_end)
{
	const struct facts_link *a = path_link(graph, tunnel), *b = path_link(graph, other);

	return other != tunnel && graph->family[other] == PATH_TUNNEL && a->vxlan_id == b->vxlan_id &&
	       path_underlay_netns(graph, other) == path_link(graph, underlay_end)->netns;
}

static int underlay_cost(const struct path_moves *moves, int exit, int end, uint64_t *cost)
{
	struct path_question question = { .graph = moves->graph,
					  .start = { exit, 1, 0 },
					  .target = { .link = end, .has_address = 1, .direction = -1 },
					  .depth = moves->depth + 1,
					  .searches_left = moves->searches_left };

	*cost = 0;
	if (path_link(moves->graph, exit)->netns == path_link(moves->graph, end)->netns) /* packets never leave it */
		return 0;
	if (question.depth > PATH_MAX_DEPTH || *moves->searches_left <= 0) {
		*cost = PATH_COST_NEVER;
		return 0;
	}
	--*moves->searches_left;
	memcpy(question.target.address, path_link(moves->graph, end)->address, 6);
	return path_connect_cost(&question, cost);
}

static void add_other_ends(struct path_moves *moves, int tunnel, uint32_t tags, int exit, int end, const char *remote)
{
	const struct path_graph *graph = moves->graph;
	uint64_t cost = moves->stays_inside ? 0 : PATH_COST_NEVER;

	for (int i = 0; i < graph->link_count; i++) {
		struct path_edge *edge;

		if (!is_other_end(graph, tunnel, i, end))
			continue;
		if (cost == PATH_COST_NEVER && underlay_cost(moves, exit, end, &cost) < 0) {
			moves->edges->failed = 1;
			return;
		}
		edge = path_add_edge(moves, i, 0, tags, MOVE_TUNNEL, exit);
		if (!edge)
			return;
		edge->detail = end;
		edge->remote = remote;
		if (cost == PATH_COST_NEVER)
			path_shut(edge,
				  moves->depth >= PATH_MAX_DEPTH || *moves->searches_left <= 0 ? BLOCK_DEPTH
											       : BLOCK_NO_UNDERLAY,
				  tunnel);
		else
			edge->cost = cost + PATH_COST_HOP;
	}
}

void path_moves_tunnel(struct path_moves *moves, int tunnel, uint32_t tags)
{
	const char *remotes[MAX_REMOTES];
	int count;

	if (tags & PATH_ENCAPSULATED) /* a tunnel in a tunnel that ends elsewhere: what matters is the way out */
		return;
	count = find_remotes(moves, tunnel, remotes);
	for (int i = 0; i < count; i++) {
		int exit = path_tunnel_exit(moves->graph, tunnel, remotes[i]), ends[MAX_ENDS],
		    before = moves->edges->count;
		int end_count = path_links_with_address(moves->graph, remotes[i], ends, MAX_ENDS);

		if (exit < 0)
			continue;
		for (int k = 0; k < end_count; k++)
			add_other_ends(moves, tunnel, tags, exit, ends[k], remotes[i]);
		if (moves->edges->count == before && !moves->stays_inside) {
			struct path_edge *edge =
				path_add_edge(moves, exit, 1, tags | PATH_ENCAPSULATED, MOVE_ENCAPSULATE, tunnel);

			if (edge)
				edge->remote = remotes[i];
		}
	}
}
