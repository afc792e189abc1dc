// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Loops of bridges; see path_loop.h.
 *
 * Theory. A flooded frame is followed everywhere (each state once). Where it comes into a bridge from another one, the two have a
 * connection. Bridges with one connection are no part of a loop; taking them away again and again leaves the loops, and what lies
 * between two loops. Ports that STP blocks, and tags that keep VLANs apart, are respected by the search.
 */
#include "discover/path_loop.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "discover/path_search.h"

struct connection {
	int bridges[2], ports[2]; /* ports[0] < ports[1] */
	int is_gone;
};

struct connections {
	int count;
	struct connection *list;
	int *degree; /* by link */
};

/* The port by which the frame left the bridge before, on its way to a node; -1: it comes from none. */
static int port_before(const struct path_search *search, int node)
{
	for (; node >= 0; node = search->nodes[node].parent) {
		const struct path_node *at = &search->nodes[node];

		if (at->edge.to.is_out && at->edge.device >= 0 && search->graph->family[at->edge.device] == PATH_BRIDGE)
			return node;
	}
	return -1;
}

static int compare_connections(const void *left, const void *right)
{
	const struct connection *a = left, *b = right;

	return a->ports[0] != b->ports[0] ? a->ports[0] - b->ports[0] : a->ports[1] - b->ports[1];
}

static void note_connection(const struct path_search *search, int node, struct connections *connections)
{
	int port = search->nodes[node].edge.to.link, bridge = search->graph->master[port], before, other;
	struct connection *connection = &connections->list[connections->count];

	if (search->nodes[node].edge.to.is_out || bridge < 0 || search->graph->family[bridge] != PATH_BRIDGE ||
	    !path_is_forwarding(search->graph, port))
		return;
	before = port_before(search, search->nodes[node].parent);
	if (before < 0)
		return;
	other = search->nodes[before].edge.to.link;
	*connection = (struct connection){ .bridges = { search->nodes[before].edge.device, bridge },
					   .ports = { other < port ? other : port, other < port ? port : other } };
	connections->count++;
}

static void take_away_ends(const struct path_graph *graph, struct connections *connections)
{
	int changed = 1;

	for (int round = 0; changed && round <= graph->link_count; round++) {
		changed = 0;
		for (int i = 0; i < connections->count; i++) {
			struct connection *connection = &connections->list[i];

			if (connection->is_gone || (connections->degree[connection->bridges[0]] > 1 &&
						    connections->degree[connection->bridges[1]] > 1))
				continue;
			connection->is_gone = 1;
			connections->degree[connection->bridges[0]]--;
			connections->degree[connection->bridges[1]]--;
			changed = 1;
		}
	}
}

/* Both directions of one connection are found: once is enough. */
static void count_connections(struct connections *connections)
{
	int kept = 0;

	qsort(connections->list, (size_t)connections->count, sizeof(*connections->list), compare_connections);
	for (int i = 0; i < connections->count; i++)
		if (!kept || compare_connections(&connections->list[kept - 1], &connections->list[i]))
			connections->list[kept++] = connections->list[i];
	connections->count = kept;
	for (int i = 0; i < kept; i++) {
		connections->degree[connections->list[i].bridges[0]]++;
		connections->degree[connections->list[i].bridges[1]]++;
	}
}

int path_find_loop(const struct path_graph *graph, const struct path_state *start, int **bridges)
{
	const struct path_target nowhere = { .link = PATH_NONE, .direction = -1 };
	struct path_search search = { .graph = graph, .target = &nowhere, .stays_inside = 1 };
	struct connections connections = { 0 };
	int count = 0, code = path_search_run(&search, start);

	*bridges = NULL;
	if (!code) {
		connections.list = calloc((size_t)search.count + 1, sizeof(*connections.list));
		connections.degree = calloc((size_t)graph->link_count + 1, sizeof(int));
		*bridges = calloc((size_t)graph->link_count + 1, sizeof(int));
		if (!connections.list || !connections.degree || !*bridges)
			code = error_set(ENOMEM, "no memory to look for loops among %d links", graph->link_count);
	}
	if (!code) {
		for (int i = 0; i < search.count; i++)
			note_connection(&search, i, &connections);
		count_connections(&connections);
		take_away_ends(graph, &connections);
		for (int i = 0; i < graph->link_count; i++)
			if (connections.degree[i] > 0)
				(*bridges)[count++] = i;
	}
	path_search_free(&search);
	free(connections.list);
	free(connections.degree);
	if (code || !count) {
		free(*bridges);
		*bridges = NULL;
	}
	return code ? code : count;
}

void path_tell_loop(const struct path_graph *graph, const int *bridges, int count, char *text, size_t size)
{
	int used = snprintf(text, size, count > 1 ? "bridges " : "two ports of bridge "), shown = count > 4 ? 4 : count;

	for (int i = 0; i < shown && used > 0 && (size_t)used < size; i++) {
		char name[96];

		path_link_name(graph, bridges[i], name, sizeof(name));
		used += snprintf(text + used, size - (size_t)used, "%s%s",
				 i == 0		  ? ""
				 : i == count - 1 ? " and "
						  : ", ",
				 name);
	}
	if (count > shown && used > 0 && (size_t)used < size)
		used += snprintf(text + used, size - (size_t)used, " and %d more", count - shown);
	if (used > 0 && (size_t)used < size)
		snprintf(text + used, size - (size_t)used,
			 "%s in a loop: flooded frames circle; block a port, or turn STP on",
			 count > 1 ? " are joined" : " are joined to each other");
}
