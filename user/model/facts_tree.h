/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All links of facts as a tree, for a reader. Filled by discover/tree.c, shown by report/path_text.c. Pure data.
 */
#ifndef MODEL_FACTS_TREE_H
#define MODEL_FACTS_TREE_H

struct facts_tree_row {
	int depth; /* 0 a namespace or another heading, 1 a link that stands on nothing, 2 what hangs on that … */
	int is_trouble; /* 1: down, no carrier, a port that does not forward, a namespace that could not be looked into */
	char name[96];	  /* "trunk0"; of depth 0 "namespace vios" */
	char kind[48];	  /* "veth", "ixgbe", "bridge" */
	char detail[320]; /* "peer vios0@ns:phyp, port of sea0, MTU 9000" */
};

struct facts_tree {
	int count, room;
	struct facts_tree_row *rows; /* malloc'ed */
};

#endif
