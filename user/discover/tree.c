// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The tree of links; see tree.h. Owns: what hangs on what, and the order. Leaves to others: the words of a row (tree_row.c).
 *
 * Each link stands once: under its bridge or bond, else under the device below it, else (a VF) under its PF, else at the top.
 */
#include "discover/tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "discover/tree_row.h"

#define MAX_DEPTH 16 /* stacks that are deeper, or hang on themselves, start anew at the top */

struct builder {
	const struct path_graph *graph;
	struct facts_tree *tree;
	struct path_groups children;
	int *parent;
	char *is_shown;
	int failed;
};

struct facts_tree_row *tree_add_row(struct facts_tree *tree, int depth)
{
	struct facts_tree_row *row;

	if (tree->count == tree->room) {
		int room = tree->room ? tree->room * 2 : 64;

		row = realloc(tree->rows, (size_t)room * sizeof(*row));
		if (!row)
			return NULL;
		tree->rows = row;
		tree->room = room;
	}
	row = &tree->rows[tree->count++];
	*row = (struct facts_tree_row){ .depth = depth };
	return row;
}

void tree_free(struct facts_tree *tree)
{
	free(tree->rows);
	*tree = (struct facts_tree){ 0 };
}

static int is_in_netns(const struct path_graph *graph, int link, int netns)
{
	return link >= 0 && path_link(graph, link)->netns == netns;
}

static int tunnel_lower(const struct path_graph *graph, int link)
{
	int exit = graph->family[link] == PATH_TUNNEL ? path_link(graph, link)->lower_ifindex : 0;
	const struct facts_link *lower = exit ? facts_link_at(graph->facts, path_link(graph, link)->lower_netns, exit)
					      : NULL;

	return lower ? (int)(lower - graph->facts->links) : PATH_NONE;
}

static int parent_of(const struct path_graph *graph, int link)
{
	const int candidates[] = { graph->master[link], graph->lower[link], tunnel_lower(graph, link),
				   graph->pf[link] };

	for (size_t i = 0; i < sizeof(candidates) / sizeof(candidates[0]); i++)
		if (candidates[i] != link && is_in_netns(graph, candidates[i], path_link(graph, link)->netns))
			return candidates[i];
	return PATH_NONE;
}

static void add_link(struct builder *builder, int link, int depth)
{
	struct facts_tree_row *row;

	if (builder->is_shown[link] || builder->failed)
		return;
	builder->is_shown[link] = 1;
	row = tree_add_row(builder->tree, depth);
	if (!row || tree_describe(builder->graph, link, builder->parent[link], row) < 0 ||
	    tree_add_hidden_vfs(builder->graph, link, depth + 1, builder->tree) < 0) {
		builder->failed = 1;
		return;
	}
	if (depth == MAX_DEPTH)
		return;
	for (int i = builder->children.first[link]; i < builder->children.first[link + 1]; i++)
		add_link(builder, builder->children.order[i], depth + 1);
}

static void add_netns(struct builder *builder, int netns)
{
	const struct path_graph *graph = builder->graph;
	const struct facts_netns *which = &graph->facts->netns[netns];
	struct facts_tree_row *row = tree_add_row(builder->tree, 0);

	if (!row) {
		builder->failed = 1;
		return;
	}
	snprintf(row->name, sizeof(row->name), "%s%s", which->name[0] ? "namespace " : "this namespace", which->name);
	if (!which->could_enter) {
		row->is_trouble = 1;
		snprintf(row->detail, sizeof(row->detail), "could not be looked into: %s", which->why_not);
	}
	for (int pass = 0; pass < 2; pass++) /* the second is for links that hang on themselves or stand too deep */
		for (int i = 0; i < graph->link_count; i++)
			if (path_link(graph, i)->netns == netns && (pass || builder->parent[i] < 0))
				add_link(builder, i, 1);
}

static int build(struct builder *builder)
{
	const struct path_graph *graph = builder->graph;

	builder->parent = calloc((size_t)graph->link_count + 1, sizeof(int));
	builder->is_shown = calloc((size_t)graph->link_count + 1, 1);
	if (!builder->parent || !builder->is_shown)
		return -ENOMEM;
	for (int i = 0; i < graph->link_count; i++)
		builder->parent[i] = parent_of(graph, i);
	if (path_groups_make(graph->link_count, builder->parent, &builder->children) < 0)
		return -ENOMEM;
	for (int i = 0; i < graph->facts->netns_count && !builder->failed; i++)
		add_netns(builder, i);
	return builder->failed ? -ENOMEM : tree_add_guests(graph, builder->tree);
}

int tree_build(const struct facts *facts, struct facts_tree *tree)
{
	struct path_graph graph;
	struct builder builder = { .graph = &graph, .tree = tree };
	int code = path_graph_build(&graph, facts);

	*tree = (struct facts_tree){ 0 };
	if (!code && build(&builder) < 0)
		code = error_set(ENOMEM, "no memory for a tree of %d links", facts->link_count);
	path_groups_free(&builder.children);
	free(builder.parent);
	free(builder.is_shown);
	path_graph_free(&graph);
	return code;
}
