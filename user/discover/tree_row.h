/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of the tree of links. Owns: their words. Called by tree.c. */
#ifndef DISCOVER_TREE_ROW_H
#define DISCOVER_TREE_ROW_H

#include "discover/path_graph.h"
#include "model/facts_tree.h"

/* A new row at the end; NULL when out of memory. */
struct facts_tree_row *tree_add_row(struct facts_tree *tree, int depth);
/* Fills the row of a link; parent: the link it stands under, or -1. 0 or -ENOMEM. */
int tree_describe(const struct path_graph *graph, int link, int parent, struct facts_tree_row *row);
/* Rows for VFs that the PF tells of and that are no link in these facts. 0 or -ENOMEM. */
int tree_add_hidden_vfs(const struct path_graph *graph, int pf, int depth, struct facts_tree *tree);
/* Rows for guests' devices that are served without an interface of this kernel. 0 or -ENOMEM. */
int tree_add_guests(const struct path_graph *graph, struct facts_tree *tree);

#endif
