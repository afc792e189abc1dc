/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the routing tables in facts say. Owns: longest prefix, who has an address. Leaves to others: how frames get to the gateway
 * (path_connect.h).
 */
#ifndef DISCOVER_PATH_ROUTE_H
#define DISCOVER_PATH_ROUTE_H

#include "discover/path_graph.h"

/* The route of a namespace to an address (text, either family); NULL: none, or the text is no address. */
const struct facts_route *path_route_find(const struct facts *facts, int netns, const char *address);
/* Links that have the address, in all namespaces; returns how many, at most `room` of them in links[]. */
int path_links_with_address(const struct path_graph *graph, const char *address, int *links, int room);
/* 1: the two texts are one address. */
int path_is_same_address(const char *a, const char *b);
/* 0: the namespace is known not to forward packets of that family; 1: it does, or nothing is known. */
int path_may_forward(const struct facts *facts, int netns, const char *address);

#endif
