/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From one state to a link, whatever lies between: one layer-2 network, or several joined by routers; tunnels are followed through
 * their underlay by the same means.
 *
 * Owns: choosing between the two, writing points and hops, the path as far as it goes when it does not arrive. Leaves to others: one
 * layer-2 network (path_search.h), routes (path_route.h), words (path_describe.h). Called by path_follow.c and path_tunnel.c.
 */
#ifndef DISCOVER_PATH_CONNECT_H
#define DISCOVER_PATH_CONNECT_H

#include "discover/path_search.h"
#include "model/facts_path.h"

struct path_question {
	const struct path_graph *graph;
	struct path_state start;
	struct path_target target;
	int depth;	    /* of tunnels around */
	int *searches_left; /* see PATH_MAX_SEARCHES */
};

/* The cost of the best way, PATH_COST_NEVER when there is none. 0 or -ENOMEM with error text. */
int path_connect_cost(const struct path_question *question, uint64_t *cost);

/* Appends the best way to the path: the start's point (unless the path's last point is that already), all others, the target's. Where
 * there is no way it goes as far as it is clear, and the hop to the target says why it ends. Sets path->way_count at depth 0.
 * 0 or -ENOMEM with error text. */
int path_connect(const struct path_question *question, struct facts_path *path);

/* One point more, after a hop that is `hop` (NULL: the first point). 0, or -ENOSPC when the path is as long as it may be. */
int path_append(const struct path_graph *graph, struct facts_path *path, const struct path_state *state,
		int is_inside_tunnel, const struct facts_path_hop *hop);

/* Appends the hop through a tunnel that edge (MOVE_TUNNEL) found, underlay and other end included. 0, -ENOSPC or -ENOMEM. */
int path_append_tunnel(const struct path_question *question, const struct path_state *from,
		       const struct path_edge *edge, struct facts_path *path);

/* Appends all states from the search's start to one of its nodes. */
int path_append_search(const struct path_question *question, const struct path_search *search, int goal,
		       struct facts_path *path);
/* Of a search that did not arrive: as far as it is clear where frames go, then a hop to the target that says why it ends; why_no_route
 * may be "". */
int path_append_dead_end(const struct path_question *question, const struct path_search *search,
			 const char *why_no_route, struct facts_path *path);

/* Of a tunnel: the link of the underlay by which packets to `remote` leave it; PATH_NONE when no route says. */
int path_tunnel_exit(const struct path_graph *graph, int tunnel, const char *remote);

#endif
