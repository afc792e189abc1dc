// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From one state to a link; see path_connect.h.
 *
 * Theory. Frames are tried to be brought to the sink's address in one layer-2 network first: that is how test frames travel. Only where that
 * would take a guess or a cut, the routes of the source's namespace to the sink's IP address are followed: each leg is a layer-2
 * question again, to the link that has the next gateway's address.
 */
#include "discover/path_connect.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "discover/path_describe.h"
#include "discover/path_route.h"

#define MAX_LEGS 16
#define MAX_CANDIDATES 16
#define MAX_ADDRESSES 8

struct leg {
	struct path_state start;
	struct path_target target;
	int may_forward; /* 0: the namespace that the leg starts in does not, but for the first */
};

struct way {
	struct leg legs[MAX_LEGS];
	int count, ends_nearby; /* ends_nearby: at another link of the sink's namespace */
	uint64_t cost;
	const char *address; /* of the sink */
	char why_not[160];
};

static int search_leg(const struct path_question *question, const struct leg *leg, struct path_search *search)
{
	*search = (struct path_search){ .graph = question->graph,
					.target = &leg->target,
					.depth = question->depth,
					.searches_left = question->searches_left };
	return path_search_run(search, &leg->start);
}

static uint64_t search_cost(const struct path_search *search)
{
	return search->goal < 0 ? PATH_COST_NEVER : search->nodes[search->goal].cost;
}

static uint64_t add_costs(uint64_t a, uint64_t b)
{
	return a > PATH_COST_NEVER - b ? PATH_COST_NEVER : a + b;
}

/* The link with the gateway's address that is nearest; adds the leg to it. */
static int add_leg(const struct path_question *question, struct way *way, const char *gateway)
{
	const struct path_graph *graph = question->graph;
	int links[MAX_CANDIDATES], count = path_links_with_address(graph, gateway, links, MAX_CANDIDATES), best = -1;
	struct leg *leg = &way->legs[way->count];
	uint64_t best_cost = PATH_COST_NEVER;

	for (int i = 0; i < count; i++) {
		struct path_search search;
		int code;

		if (links[i] == leg->start.link)
			continue;
		leg->target = (struct path_target){ .link = links[i], .has_address = 1, .direction = -1 };
		memcpy(leg->target.address, path_link(graph, links[i])->address, 6);
		code = search_leg(question, leg, &search);
		if (!code && search_cost(&search) < best_cost) {
			best_cost = search_cost(&search);
			best = links[i];
		}
		path_search_free(&search);
		if (code)
			return code;
	}
	way->cost = best < 0 ? PATH_COST_NEVER : add_costs(way->cost, best_cost + PATH_COST_HOP);
	if (best < 0) {
		snprintf(way->why_not, sizeof(way->why_not), "%s %s is not reached",
			 count ? "gateway" : "no interface here has", gateway);
		return 0;
	}
	leg->target.link = best;
	memcpy(leg->target.address, path_link(graph, best)->address, 6);
	way->count++;
	return 0;
}

/* 1 when a leg starts in this namespace already: routes in a circle. */
static int was_in(const struct path_graph *graph, const struct way *way, int netns)
{
	for (int i = 0; i < way->count; i++)
		if (path_link(graph, way->legs[i].start.link)->netns == netns)
			return 1;
	return 0;
}

/* Where the next leg starts: what the route of the namespace says. NULL: why_not says why there is none. */
static const struct facts_route *next_route(const struct path_question *question, struct way *way, int netns)
{
	const struct facts *facts = question->graph->facts;
	const struct facts_route *route = path_route_find(facts, netns, way->address);
	const struct facts_link *out = route ? facts_link_at(facts, netns, route->out_ifindex) : NULL;
	const char *name = facts->netns[netns].name;

	if (!out) {
		snprintf(way->why_not, sizeof(way->why_not), "no route to %s%s%s", way->address,
			 name[0] ? " in namespace " : "", name);
		return NULL;
	}
	if (way->count == 0 && out - facts->links != question->start.link) {
		snprintf(way->why_not, sizeof(way->why_not), "the route to %s leaves by %s", way->address, out->name);
		return NULL;
	}
	way->legs[way->count] = (struct leg){ .start = { (int)(out - facts->links), 1, 0 },
					      .may_forward = path_may_forward(facts, netns, way->address) };
	return route;
}

static int find_way_to(const struct path_question *question, const char *address, struct way *way)
{
	const struct path_graph *graph = question->graph;
	int netns = path_link(graph, question->start.link)->netns,
	    sink_netns = path_link(graph, question->target.link)->netns;

	*way = (struct way){ .address = address };
	while (way->count < MAX_LEGS) {
		const struct facts_route *route = next_route(question, way, netns);
		int code, reached, before = way->count;

		if (!route)
			break;
		if (before && !way->legs[before].may_forward)
			way->cost = add_costs(way->cost, PATH_COST_CUT);
		code = add_leg(question, way, route->gateway[0] ? route->gateway : address);
		if (code)
			return code;
		if (way->count == before)
			break;
		reached = way->legs[before].target.link;
		netns = path_link(graph, reached)->netns;
		if (reached == question->target.link || netns == sink_netns) {
			way->ends_nearby = reached != question->target.link;
			return 0;
		}
		if (was_in(graph, way, netns)) {
			snprintf(way->why_not, sizeof(way->why_not), "the routes to %s go in a circle", address);
			break;
		}
	}
	way->cost = PATH_COST_NEVER;
	return 0;
}

/* The cheapest way by any of the sink's addresses; its cost says whether there is one. */
static int find_way(const struct path_question *question, struct way *way)
{
	const struct facts *facts = question->graph->facts;
	const struct facts_link *sink = path_link(question->graph, question->target.link);
	int tried = 0;

	*way = (struct way){ .cost = PATH_COST_NEVER };
	if (!question->start.is_out || question->start.tags ||
	    sink->netns == path_link(question->graph, question->start.link)->netns)
		return 0;
	for (int i = 0; i < facts->address_count && tried < MAX_ADDRESSES; i++) {
		const struct facts_address *address = &facts->addresses[i];
		struct way found;
		int code;

		if (address->netns != sink->netns || address->ifindex != sink->ifindex ||
		    !strncasecmp(address->address, "fe80:", 5))
			continue;
		tried++;
		code = find_way_to(question, address->address, &found);
		if (code)
			return code;
		if (found.cost < way->cost || !way->address)
			*way = found;
	}
	return 0;
}

int path_append(const struct path_graph *graph, struct facts_path *path, const struct path_state *state,
		int is_inside_tunnel, const struct facts_path_hop *hop)
{
	const struct facts_link *link = path_link(graph, state->link);
	struct facts_path_point *point = &path->points[path->point_count];

	if (path->point_count == FACTS_PATH_MAX_POINTS)
		return -ENOSPC;
	*point = (struct facts_path_point){ .netns = link->netns,
					    .ifindex = link->ifindex,
					    .is_out = state->is_out,
					    .is_inside_tunnel = is_inside_tunnel || state->tags & PATH_ENCAPSULATED };
	path_link_name(graph, state->link, point->text, sizeof(point->text));
	if (hop)
		path->hops[path->point_count - 1] = *hop;
	path->point_count++;
	return 0;
}

static int append_start(const struct path_question *question, struct facts_path *path)
{
	const struct facts_link *link = path_link(question->graph, question->start.link);
	const struct facts_path_point *last = path->point_count ? &path->points[path->point_count - 1] : NULL;

	if (last && last->ifindex == link->ifindex && last->netns == link->netns)
		return 0;
	return path_append(question->graph, path, &question->start, question->depth > 0, NULL);
}

/* All states from the start to a node of the search. */
int path_append_search(const struct path_question *question, const struct path_search *search, int goal,
		       struct facts_path *path)
{
	int chain[FACTS_PATH_MAX_POINTS + 1], count = 0, code = 0;

	for (int node = goal; node > 0 && count <= FACTS_PATH_MAX_POINTS; node = search->nodes[node].parent)
		chain[count++] = node;
	while (!code && count--) {
		const struct path_node *node = &search->nodes[chain[count]], *parent = &search->nodes[node->parent];
		struct facts_path_hop hop;

		if (node->edge.move == MOVE_TUNNEL && !node->edge.block) {
			code = path_append_tunnel(question, &parent->edge.to, &node->edge, path);
			continue;
		}
		path_describe(question->graph, search->target, &parent->edge.to, &node->edge, &hop);
		if (node->ways > parent->ways)
			path_add_note(&hop, "%d ways up to %s are as good as this one", node->ways - 1,
				      path_link(question->graph, node->edge.to.link)->name);
		code = path_append(question->graph, path, &node->edge.to, question->depth > 0, &hop);
	}
	return code;
}

int path_append_tunnel(const struct path_question *question, const struct path_state *from,
		       const struct path_edge *edge, struct facts_path *path)
{
	const struct path_graph *graph = question->graph;
	struct path_question below = { .graph = graph,
				       .start = { edge->device, 1, 0 },
				       .target = { .link = edge->detail, .has_address = 1, .direction = -1 },
				       .depth = question->depth + 1,
				       .searches_left = question->searches_left };
	struct facts_path_hop into, out_of;
	int code = 0;

	memcpy(below.target.address, path_link(graph, edge->detail)->address, 6);
	path_describe(graph, &question->target, from, edge, &into);
	into.netns = path_link(graph, from->link)->netns;
	into.ifindex = path_link(graph, from->link)->ifindex;
	if (path_link(graph, edge->device)->netns == path_link(graph, edge->detail)->netns) {
		path_add_note(&into, "both ends are in one namespace");
		return path_append(graph, path, &edge->to, question->depth > 0, &into);
	}
	out_of = into;
	snprintf(out_of.name, sizeof(out_of.name), "%s %s", path_link(graph, edge->to.link)->kind,
		 path_link(graph, edge->to.link)->name);
	snprintf(out_of.note, sizeof(out_of.note), "the other end of VNI %d",
		 path_link(graph, edge->to.link)->vxlan_id);
	out_of.netns = path_link(graph, edge->to.link)->netns;
	out_of.ifindex = path_link(graph, edge->to.link)->ifindex;
	code = path_append(graph, path, &below.start, 1, &into);
	code = code ? code : path_connect(&below, path);
	return code ? code : path_append(graph, path, &edge->to, question->depth > 0, &out_of);
}

/* From the link that a leg ends at to the one that the next starts from, or to the sink. */
static int append_routed(const struct path_question *question, const struct way *way, int index,
			 struct facts_path *path)
{
	const struct path_graph *graph = question->graph;
	int at = way->legs[index - 1].target.link, is_last = index == way->count;
	const char *netns = graph->facts->netns[path_link(graph, at)->netns].name;
	struct path_state next = { question->target.link, question->target.direction == 1, 0 };
	struct facts_path_hop hop = { .kind = FACTS_HOP_STACK, .netns = path_link(graph, at)->netns };

	snprintf(hop.name, sizeof(hop.name), "%s %s", is_last ? "host" : "router", netns[0] ? netns : "here");
	if (is_last && next.is_out) {
		path_add_note(&hop, "leaves by %s what its namespace routes there", path_link(graph, next.link)->name);
	} else if (is_last) {
		path_add_note(&hop, "%s is delivered here, whichever interface it comes in at", way->address);
	} else {
		next = way->legs[index].start;
		path_add_note(&hop, "routed: to %s by %s", way->address, path_link(graph, next.link)->name);
		if (!way->legs[index].may_forward) {
			hop.kind = FACTS_HOP_CUT;
			snprintf(hop.note, sizeof(hop.note),
				 "the namespace does not forward packets: sysctl net.ipv%c.%s=1",
				 strchr(way->address, ':') ? '6' : '4',
				 strchr(way->address, ':') ? "conf.all.forwarding" : "ip_forward");
		}
	}
	return path_append(graph, path, &next, question->depth > 0, &hop);
}

static int append_way(const struct path_question *question, const struct way *way, struct facts_path *path)
{
	int code = 0;

	for (int i = 0; i < way->count && !code; i++) {
		struct path_question part = *question;
		struct path_search search;

		part.start = way->legs[i].start;
		part.target = way->legs[i].target;
		if (i)
			code = append_routed(question, way, i, path);
		if (code)
			break;
		code = search_leg(question, &way->legs[i], &search);
		if (!code && search.goal >= 0)
			code = path_append_search(&part, &search, search.goal, path);
		path_search_free(&search);
	}
	if (!code && way->ends_nearby)
		code = append_routed(question, way, way->count, path);
	return code;
}

/* The search of the whole question as one layer-2 network, and the routed way where that is not good enough. */
static int decide(const struct path_question *question, struct leg *leg, struct path_search *search, struct way *way)
{
	int code;

	*leg = (struct leg){ question->start, question->target, 1 };
	*way = (struct way){ .cost = PATH_COST_NEVER };
	code = search_leg(question, leg, search);
	if (code || search_cost(search) < PATH_COST_GUESS)
		return code;
	return find_way(question, way);
}

int path_connect_cost(const struct path_question *question, uint64_t *cost)
{
	struct path_search search;
	struct leg leg;
	struct way way;
	int code = decide(question, &leg, &search, &way);

	*cost = PATH_COST_NEVER;
	if (!code)
		*cost = search_cost(&search) < way.cost ? search_cost(&search) : way.cost;
	path_search_free(&search);
	return code;
}

int path_connect(const struct path_question *question, struct facts_path *path)
{
	struct path_search search;
	struct leg leg;
	struct way way;
	int code = decide(question, &leg, &search, &way);

	if (!code)
		code = append_start(question, path);
	if (!code && way.cost < search_cost(&search))
		code = append_way(question, &way, path);
	else if (!code && search.goal >= 0)
		code = path_append_search(question, &search, search.goal, path);
	else if (!code)
		code = path_append_dead_end(question, &search, way.why_not, path);
	if (!code && !question->depth)
		path->way_count = way.cost < search_cost(&search) ? 1
				  : search.goal >= 0		  ? search.nodes[search.goal].ways
								  : 0;
	path_search_free(&search);
	return code;
}
