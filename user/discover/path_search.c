// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Dijkstra over states; see path_search.h. States are made as they are met and found again by hashing; ties go to what was met
 * first, so that the answer is always the same.
 */
#include "discover/path_search.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/facts_path.h"

#define MAX_NODES (1 << 21)
#define MAX_WAYS 999
#define EXITS_PER_CLASS 2  /* the second finds what the first could not: the first itself */
#define ENTRIES_PER_HUB 32 /* two would do for the same reason; the others are counted as ways that are as good */

static uint32_t hash_state(const struct path_state *state)
{
	uint64_t key = ((uint64_t)(uint32_t)state->link << 33 | (uint64_t)state->is_out << 32 | state->tags) *
		       0x9e3779b97f4a7c15ull;

	return (uint32_t)(key >> 32);
}

static int is_same(const struct path_state *a, const struct path_state *b)
{
	return a->link == b->link && a->is_out == b->is_out && a->tags == b->tags;
}

/* The slot of a state: that of its node, or the free one where it belongs. */
static int find_slot(const struct path_search *search, const struct path_state *state)
{
	int slot = (int)(hash_state(state) & (uint32_t)(search->table_size - 1));

	while (search->table[slot] >= 0 && !is_same(&search->nodes[search->table[slot]].edge.to, state))
		slot = (slot + 1) & (search->table_size - 1);
	return slot;
}

static int grow(struct path_search *search)
{
	int room = search->room ? search->room * 2 : 1024, size = room * 2;
	struct path_node *nodes = realloc(search->nodes, (size_t)room * sizeof(*nodes));
	int *heap, *table;

	if (!nodes)
		return -ENOMEM;
	search->nodes = nodes;
	heap = realloc(search->heap, (size_t)room * sizeof(*heap));
	if (!heap)
		return -ENOMEM;
	search->heap = heap;
	table = realloc(search->table, (size_t)size * sizeof(*table));
	if (!table)
		return -ENOMEM;
	search->table = table;
	search->room = room;
	search->table_size = size;
	memset(table, 0xff, (size_t)size * sizeof(*table));
	for (int i = 0; i < search->count; i++)
		table[find_slot(search, &nodes[i].edge.to)] = i;
	return 0;
}

static int comes_before(const struct path_search *search, int a, int b)
{
	return search->nodes[a].cost != search->nodes[b].cost ? search->nodes[a].cost < search->nodes[b].cost : a < b;
}

static void put(struct path_search *search, int place, int node)
{
	search->heap[place] = node;
	search->nodes[node].place = place;
}

static void sift_up(struct path_search *search, int place)
{
	int node = search->heap[place];

	while (place > 0 && comes_before(search, node, search->heap[(place - 1) / 2])) {
		put(search, place, search->heap[(place - 1) / 2]);
		place = (place - 1) / 2;
	}
	put(search, place, node);
}

static int pop(struct path_search *search)
{
	int top = search->heap[0], last = search->heap[--search->heap_count], place = 0;

	for (;;) {
		int child = 2 * place + 1;

		if (child >= search->heap_count)
			break;
		if (child + 1 < search->heap_count &&
		    comes_before(search, search->heap[child + 1], search->heap[child]))
			child++;
		if (!comes_before(search, search->heap[child], last))
			break;
		put(search, place, search->heap[child]);
		place = child;
	}
	if (search->heap_count)
		put(search, place, last);
	return top;
}

static int add_node(struct path_search *search, const struct path_edge *edge, uint64_t cost, int parent)
{
	struct path_node *node;

	if (search->count == search->room && grow(search) < 0)
		return -ENOMEM;
	node = &search->nodes[search->count];
	*node = (struct path_node){ .edge = *edge, .cost = cost, .parent = parent, .length = 1, .ways = 1 };
	if (parent >= 0) {
		node->length = search->nodes[parent].length + 1;
		node->ways = search->nodes[parent].ways;
	}
	search->table[find_slot(search, &edge->to)] = search->count;
	search->heap[search->heap_count++] = search->count++;
	sift_up(search, search->heap_count - 1);
	return 0;
}

static uint64_t cost_of(const struct path_edge *edge)
{
	uint64_t cost = edge->cost + PATH_COST_HOP;

	if (edge->block)
		cost += PATH_COST_CUT;
	switch (edge->move) {
	case MOVE_EMBEDDED_SWITCH:
	case MOVE_DATAPATH:
		return cost + PATH_COST_OPAQUE;
	case MOVE_OUTSIDE_WIRE:
	case MOVE_UNSEEN_NETNS:
	case MOVE_THROUGH_HOLDER:
		return cost + PATH_COST_GUESS;
	default:
		return cost;
	}
}

static int relax(struct path_search *search, int from, const struct path_edge *edge)
{
	uint64_t cost = search->nodes[from].cost + cost_of(edge);
	struct path_node *node;
	int known;

	if (search->stays_inside && edge->block)
		return 0;
	if (search->nodes[from].length >= FACTS_PATH_MAX_POINTS) {
		search->is_too_long = 1;
		return 0;
	}
	known = search->table[find_slot(search, &edge->to)];
	if (known < 0) {
		if (search->count >= MAX_NODES) {
			search->is_too_long = 1;
			return 0;
		}
		return add_node(search, edge, cost, from);
	}
	node = &search->nodes[known];
	if (node->is_settled || cost > node->cost)
		return 0;
	if (cost == node->cost) {
		node->ways += search->nodes[from].ways;
		node->ways = node->ways > MAX_WAYS ? MAX_WAYS : node->ways;
		return 0;
	}
	*node = (struct path_node){ .edge = *edge,
				    .cost = cost,
				    .parent = from,
				    .length = search->nodes[from].length + 1,
				    .ways = search->nodes[from].ways,
				    .place = node->place };
	sift_up(search, node->place);
	return 0;
}

static enum path_move move_through(int door)
{
	if (door == PATH_DOOR_WIRE)
		return MOVE_OUTSIDE_WIRE;
	return door == PATH_DOOR_UNSEEN ? MOVE_UNSEEN_NETNS : MOVE_THROUGH_HOLDER;
}

/* Out by a door, in by any other of its class. */
static void add_guesses(struct path_search *search, struct path_moves *moves, const struct path_state *from)
{
	int door = path_door(search->graph, from->link);
	uint32_t tags = from->tags;

	if (!from->is_out || door == PATH_DOOR_NONE || search->stays_inside || from->tags & PATH_ENCAPSULATED ||
	    search->exits[door]++ >= EXITS_PER_CLASS)
		return;
	if (door == PATH_DOOR_WIRE)
		tags = PATH_ANY_TAG;
	for (int i = 0; i < search->graph->link_count; i++) {
		struct path_edge *edge;

		if (i == from->link || path_door(search->graph, i) != door)
			continue;
		edge = path_add_edge(moves, i, 0, tags, move_through(door), PATH_NONE);
		if (edge)
			edge->detail = door - PATH_DOOR_HOLDER;
	}
}

/* What of a link makes a difference to where a hub passes its frames on: those that differ are counted apart. */
static uint64_t sort_of_entry(const struct path_graph *graph, const struct path_state *state)
{
	const struct facts_bridge_port *port = &path_link(graph, state->link)->port;
	uint64_t sort = state->tags | (uint64_t)(port->isolated == 1) << 32 |
			(uint64_t)path_is_forwarding(graph, state->link) << 33;

	return sort | (uint64_t)(uint16_t)port->pvid << 34;
}

/* 1: so many links of a hub have led into it that the next one finds nothing new. Negative when out of memory. */
static int is_well_known(struct path_search *search, const struct path_state *state)
{
	int hub = path_hub_of(search->graph, state);
	uint64_t sort = sort_of_entry(search->graph, state);
	struct path_entries *entries;

	if (hub < 0)
		return 0;
	for (int i = search->entry_count - 1; i >= 0; i--)
		if (search->entries[i].hub == hub && search->entries[i].sort == sort)
			return search->entries[i].count++ >= ENTRIES_PER_HUB;
	if (search->entry_count == search->entry_room) {
		int room = search->entry_room ? search->entry_room * 2 : 64;

		entries = realloc(search->entries, (size_t)room * sizeof(*entries));
		if (!entries)
			return -ENOMEM;
		search->entries = entries;
		search->entry_room = room;
	}
	search->entries[search->entry_count++] = (struct path_entries){ .hub = hub, .count = 1, .sort = sort };
	return 0;
}

static int expand(struct path_search *search, int index)
{
	struct path_moves moves = { .graph = search->graph,
				    .target = search->target,
				    .depth = search->depth,
				    .searches_left = search->searches_left,
				    .is_start = index == 0,
				    .stays_inside = search->stays_inside,
				    .edges = &search->edges };
	const struct path_state from = search->nodes[index].edge.to; /* the nodes move when there are more */

	moves.passes_by_hub = is_well_known(search, &from);
	if (moves.passes_by_hub < 0)
		return -ENOMEM;
	path_moves_from(&moves, &from);
	add_guesses(search, &moves, &from);
	if (search->edges.failed)
		return -ENOMEM;
	for (int i = 0; i < search->edges.count; i++)
		if (relax(search, index, &search->edges.edges[i]) < 0)
			return -ENOMEM;
	return 0;
}

static int is_goal(const struct path_search *search, int index)
{
	const struct path_state *state = &search->nodes[index].edge.to;

	if (search->target->direction >= 0 && state->is_out != search->target->direction)
		return 0;
	return index > 0 && state->link == search->target->link && !(state->tags & PATH_ENCAPSULATED);
}

int path_search_run(struct path_search *search, const struct path_state *start)
{
	const struct path_edge edge = { .to = *start, .move = MOVE_NONE, .device = PATH_NONE, .culprit = PATH_NONE };
	int code;

	search->goal = -1;
	search->exit_classes = PATH_DOOR_HOLDER + search->graph->facts->process_count;
	search->exits = calloc((size_t)search->exit_classes + 1, sizeof(int));
	code = search->exits ? grow(search) : -ENOMEM;
	if (!code)
		code = add_node(search, &edge, 0, PATH_NONE);
	while (!code && search->heap_count) {
		int index = pop(search);

		search->nodes[index].is_settled = 1;
		if (is_goal(search, index)) {
			search->goal = index;
			return 0;
		}
		code = expand(search, index);
	}
	return code ? error_set(ENOMEM, "no memory for a search over %d links", search->graph->link_count) : 0;
}

void path_search_free(struct path_search *search)
{
	free(search->nodes);
	free(search->table);
	free(search->heap);
	free(search->exits);
	free(search->entries);
	free(search->edges.edges);
	search->nodes = NULL;
	search->table = search->heap = search->exits = NULL;
	search->entries = NULL;
	search->entry_count = search->entry_room = 0;
	search->edges = (struct path_edges){ 0 };
	search->count = search->room = search->heap_count = 0;
}
