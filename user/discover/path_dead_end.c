// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A search that did not arrive, told: where frames leave what these facts show, or where it is clear that they end. The hop from there to
 * the sink says why. Called by path_connect.c.
 */
#include <stdio.h>
#include <string.h>

#include "discover/path_connect.h"
#include "discover/path_describe.h"

static int is_door(const struct path_search *search, int index)
{
	const struct path_node *node = &search->nodes[index];

	return node->is_settled && node->edge.to.is_out && node->cost < PATH_COST_GUESS &&
	       path_door(search->graph, node->edge.to.link) != PATH_DOOR_NONE;
}

static int nearest_door(const struct path_search *search)
{
	int best = -1;

	for (int i = 0; i < search->count; i++)
		if (is_door(search, i) && (best < 0 || search->nodes[i].cost < search->nodes[best].cost))
			best = i;
	return best;
}

/* Edges that are shut for whoever they are not meant for say nothing about why frames end. */
static int is_for_others(enum path_block block)
{
	return block == BLOCK_NOT_LOCAL || block == BLOCK_ADDRESS || block == BLOCK_TAG || block == BLOCK_MACVLAN_MODE;
}

/* How many ways go on from a node without a cut; the first of those in *next, or of those with one. */
static int ways_on(const struct path_search *search, int index, int *next)
{
	int count = 0;

	*next = -1;
	for (int i = 1; i < search->count; i++) {
		if (search->nodes[i].parent != index ||
		    search->nodes[i].cost - search->nodes[index].cost >= PATH_COST_GUESS)
			continue;
		if (!count++)
			*next = i;
	}
	for (int i = 1; i < search->count && *next < 0; i++)
		if (search->nodes[i].parent == index && search->nodes[i].edge.block &&
		    !is_for_others(search->nodes[i].edge.block))
			*next = i;
	return count;
}

static void tell_door(const struct path_graph *graph, int link, struct facts_path_hop *hop)
{
	const char *name = path_link(graph, link)->name;
	int door = path_door(graph, link);

	hop->kind = FACTS_HOP_OPAQUE;
	if (door == PATH_DOOR_WIRE) {
		snprintf(hop->name, sizeof(hop->name), "network behind %s", name);
		path_add_note(hop,
			      "the kernel at the other end of %s's wire cannot be asked from here without an agent",
			      name);
	} else if (door == PATH_DOOR_UNSEEN) {
		snprintf(hop->name, sizeof(hop->name), "behind %s", name);
		path_add_note(
			hop, "%s leads to a namespace that is not in these facts: run as root, or where it can be seen",
			name);
	} else {
		const struct facts_process *process = &graph->facts->processes[door - PATH_DOOR_HOLDER];

		snprintf(hop->name, sizeof(hop->name), "%s %d", process->is_qemu ? "guest of qemu" : process->name,
			 process->pid);
		path_add_note(hop, "%s hands its frames to this process: only an agent in there can say where they go",
			      name);
	}
}

/* A state from which no edge leads on. */
static void tell_end(const struct path_graph *graph, const struct path_state *state, struct facts_path_hop *hop)
{
	const struct facts_link *link = path_link(graph, state->link);
	char place[96];

	path_link_name(graph, state->link, place, sizeof(place));
	snprintf(hop->name, sizeof(hop->name), "end at %s", link->name);
	if (graph->family[state->link] == PATH_MIRROR)
		path_add_note(
			hop,
			"%s is an ifb: what comes there and leaves it is decided by tc (mirred), which is not followed",
			place);
	else if (graph->family[state->link] == PATH_OTHER)
		path_add_note(hop, "%s is of kind %s, which is not followed", place, link->kind);
	else if (!state->is_out && graph->master[state->link] >= 0)
		path_add_note(hop, "%s, which %s is a port of, has no other port that leads on",
			      path_link(graph, graph->master[state->link])->name, place);
	else if (!state->is_out)
		path_add_note(
			hop,
			"frames that come in at %s stay in its namespace: it is no port, and no device above it leads on",
			place);
	else if (graph->family[state->link] == PATH_TAP)
		path_add_note(hop, "no process is known to hold %s", place);
	else if (graph->family[state->link] == PATH_END)
		path_add_note(hop, "%s takes whatever is sent and leads nowhere", place);
	else if (graph->family[state->link] == PATH_BRIDGE || graph->family[state->link] == PATH_AGGREGATE)
		path_add_note(hop, "%s has no port", place);
	else
		path_add_note(hop, "nothing is known of where %s leads", place);
}

static void tell_branches(const struct path_search *search, int next, int count, struct facts_path_hop *hop)
{
	const struct path_edge *edge = &search->nodes[next].edge;
	const char *device = edge->device >= 0 ? path_link(search->graph, edge->device)->name : "here";

	snprintf(hop->name, sizeof(hop->name), "end at %s", device);
	path_add_note(hop, "none of the %d ways on from %s leads to the sink", count, device);
}

int path_append_dead_end(const struct path_question *question, const struct path_search *search,
			 const char *why_no_route, struct facts_path *path)
{
	struct facts_path_hop hop = { .kind = FACTS_HOP_CUT };
	struct path_state sink = { question->target.link, search->graph->family[question->target.link] == PATH_TAP, 0 };
	int node = nearest_door(search), next, count, code;

	if (node >= 0) {
		tell_door(search->graph, search->nodes[node].edge.to.link, &hop);
	} else {
		for (node = 0; (count = ways_on(search, node, &next)) == 1; node = next)
			;
		if (search->is_too_long)
			path_add_note(&hop, "the way is longer than %d points", FACTS_PATH_MAX_POINTS);
		else if (count > 1)
			tell_branches(search, next, count, &hop);
		else if (next >= 0)
			path_describe(search->graph, search->target, &search->nodes[node].edge.to,
				      &search->nodes[next].edge, &hop);
		else
			tell_end(search->graph, &search->nodes[node].edge.to, &hop);
	}
	if (why_no_route[0])
		path_add_note(&hop, "%s", why_no_route);
	code = path_append_search(question, search, node, path);
	return code ? code : path_append(question->graph, path, &sink, question->depth > 0, &hop);
}
