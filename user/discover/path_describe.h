/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Words for edges: the kind, name and note of a hop. Owns: texts. Called by path_connect.c. */
#ifndef DISCOVER_PATH_DESCRIBE_H
#define DISCOVER_PATH_DESCRIBE_H

#include "discover/path_search.h"
#include "model/facts_path.h"

/* The hop between two neighbouring states, with what shuts it as a cut. */
void path_describe(const struct path_graph *graph, const struct path_target *target, const struct path_state *from,
		   const struct path_edge *edge, struct facts_path_hop *hop);
/* The first line of what is wrong with an edge that is shut. */
void path_describe_block(const struct path_graph *graph, const struct path_edge *edge, char *note, size_t size);
/* Puts one more remark behind what a note says already. */
void path_add_note(struct facts_path_hop *hop, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
