/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loops of bridges: frames to unknown addresses circle in them for ever. Owns: finding them. Called by path_follow.c. */
#ifndef DISCOVER_PATH_LOOP_H
#define DISCOVER_PATH_LOOP_H

#include "discover/path_moves.h"

/* Bridges that a flooded frame from this state reaches and that lie in a loop of forwarding ports: *bridges is malloc'ed (NULL when there are none), by
 * link, ascending. Returns how many, or -ENOMEM with error text. */
int path_find_loop(const struct path_graph *graph, const struct path_state *start, int **bridges);
/* "bridges br1@ns:a and br2@ns:b form a loop…" */
void path_tell_loop(const struct path_graph *graph, const int *bridges, int count, char *text, size_t size);

#endif
