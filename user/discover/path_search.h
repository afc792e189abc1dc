/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The best way through one layer-2 network, as Dijkstra finds it.
 *
 * Theory. Costs are in classes, each far above any sum of the one below: a hop; a hop that we cannot look into but know of; a guess (two
 * NICs taken to be on one network); a cut. So the best way is one without cuts if there is any, else the one with the fewest, and
 * within a class the shortest. Every state is settled once, and ways are at most FACTS_PATH_MAX_POINTS long: loops end nowhere.
 *
 * Owns: the search and its costs. Leaves to others: edges (path_moves.h), several networks joined by routers (path_connect.h), words.
 */
#ifndef DISCOVER_PATH_SEARCH_H
#define DISCOVER_PATH_SEARCH_H

#include "discover/path_moves.h"

#define PATH_COST_HOP 1ull
#define PATH_COST_OPAQUE (1ull << 12)
#define PATH_COST_GUESS (1ull << 24)
#define PATH_COST_CUT (1ull << 36)
#define PATH_COST_NEVER UINT64_MAX

#define PATH_MAX_DEPTH 4      /* tunnels in tunnels */
#define PATH_MAX_SEARCHES 512 /* through underlays, for one question */

struct path_node {
	struct path_edge edge; /* that led here; edge.to is this state */
	uint64_t cost;	       /* from the start */
	int parent;	       /* index; -1 the start */
	int length;	       /* points up to this one */
	int ways; /* as good ways to get here, at most 999; of those into one bridge the first 32 are counted */
	int is_settled, place; /* place: in the heap */
};

struct path_search {
	const struct path_graph *graph;
	const struct path_target *target;
	int depth, *searches_left;
	int stays_inside; /* 1: open edges only, everything flooded, nothing opaque: for finding loops */

	int count;
	struct path_node *nodes; /* nodes[0] the start */
	int goal;		 /* index of a node, -1 not found */
	int is_too_long;	 /* ways were given up for their length */
	/* The rest is the search's own. */
	int room, *table, table_size, *heap, heap_count;
	struct path_edges edges;
	int *exits, exit_classes; /* how often each class of doors was gone out by */
	struct path_entries {	  /* how often a hub was gone into by links of one sort */
		int hub, count;
		uint64_t sort;
	} * entries;
	int entry_count, entry_room;
};

/* Searches from `start` until the target's link is reached in either direction; the other members of `search` are zero but
 * graph, target, depth, searches_left, stays_inside. 0, also when it was not reached (goal -1), or -ENOMEM with error text.
 * path_search_free() in any case. */
int path_search_run(struct path_search *search, const struct path_state *start);
void path_search_free(struct path_search *search);

#endif
