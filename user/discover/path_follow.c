// SPDX-License-Identifier: GPL-2.0-or-later
/* From SOURCE to SINK; see path_follow.h. */
#include "discover/path_follow.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "discover/path_connect.h"
#include "discover/path_describe.h"
#include "discover/path_guest.h"
#include "discover/path_loop.h"
#include "model/point_syntax.h"

struct end {
	int link;
	int is_given, is_out; /* direction that the user wrote */
	struct path_guest guest;
};

static int find_end(const struct path_graph *graph, const char *text, struct end *end)
{
	const struct facts *facts = graph->facts;
	const struct facts_link *link;
	struct point_text point;
	int code = point_parse(text, &point), netns;

	if (code)
		return code;
	netns = point.netns[0] ? facts_netns_named(facts, point.netns) : 0;
	if (netns < 0)
		return error_set(
			ENODEV,
			"%s: these facts have no network namespace '%s'; hopcap path --tree shows those that are", text,
			point.netns);
	link = facts_link_named(facts, netns, point.interface);
	if (!link)
		return error_set(ENODEV, "%s: no such interface%s%s%s%s; hopcap path --tree shows those that are", text,
				 point.netns[0] ? " in namespace " : "", point.netns,
				 facts->netns[netns].could_enter ? "" : ", which could not be looked into: ",
				 facts->netns[netns].could_enter ? "" : facts->netns[netns].why_not);
	*end = (struct end){ .link = (int)(link - facts->links),
			     .is_given = point.direction_given,
			     .is_out = point.direction == RUN_DIRECTION_OUT };
	return path_guest_find(graph, end->link, &end->guest);
}

static int is_set(const uint8_t address[6])
{
	static const uint8_t none[6];

	return memcmp(address, none, 6) != 0;
}

/* Behind a tap it is the guest's address that frames go to. */
static struct path_target choose_target(const struct path_graph *graph, const struct end *sink)
{
	struct path_target target = { .link = sink->link, .direction = sink->is_given ? sink->is_out : -1 };

	if (sink->guest.has_address) {
		target.has_address = 1;
		memcpy(target.address, sink->guest.address, 6);
	} else if (graph->family[sink->link] == PATH_TAP) {
		target.has_address = path_fdb_only_station(graph, sink->link, target.address);
	} else {
		target.has_address = is_set(path_link(graph, sink->link)->address);
		memcpy(target.address, path_link(graph, sink->link)->address, 6);
	}
	return target;
}

/* Which way frames of this source go: out of it, unless it is held by a process, whose frames come in; where out leads only over a
 * guess or a cut and in does not, in. */
static int choose_start(struct path_question *question, const struct end *source)
{
	const struct path_graph *graph = question->graph;
	uint64_t out, in;
	int code;

	question->start = (struct path_state){ source->link, 1, 0 };
	if (source->is_given) {
		question->start.is_out = source->is_out;
		question->start.tags = source->is_out ? 0 : PATH_ANY_TAG;
		return 0;
	}
	if (graph->family[source->link] == PATH_TAP && graph->holder[source->link] >= 0) {
		question->start.is_out = 0;
		question->start.tags = PATH_ANY_TAG;
		return 0;
	}
	code = path_connect_cost(question, &out);
	if (code || out < PATH_COST_GUESS)
		return code;
	question->start = (struct path_state){ source->link, 0, PATH_ANY_TAG };
	code = path_connect_cost(question, &in);
	if (in >= out || in >= PATH_COST_CUT)
		question->start = (struct path_state){ source->link, 1, 0 };
	return code;
}

/* The guest's device and the hop to it. */
static void describe_guest(const struct path_graph *graph, const struct end *end, struct facts_path_point *point,
			   struct facts_path_hop *hop)
{
	const struct facts_process *process = &graph->facts->processes[end->guest.process];
	const struct path_guest *guest = &end->guest;

	*point = (struct facts_path_point){ 0 };
	*hop = (struct facts_path_hop){ .kind = guest->is_qemu ? FACTS_HOP_GUEST : FACTS_HOP_OPAQUE };
	if (!guest->is_qemu) {
		snprintf(point->text, sizeof(point->text), "%s %d", process->name, process->pid);
		snprintf(hop->name, sizeof(hop->name), "process %s %d", process->name, process->pid);
		path_add_note(hop, "holds %s; what it does with frames cannot be seen from outside",
			      path_link(graph, end->link)->name);
		return;
	}
	snprintf(point->text, sizeof(point->text), "%s of qemu %d", guest->device[0] ? guest->device : "network device",
		 process->pid);
	snprintf(hop->name, sizeof(hop->name), "%s of qemu %d", guest->back_end, process->pid);
	path_add_note(hop, "%s", guest->device[0] ? guest->device : "a device that the command line does not name");
	if (guest->has_address)
		path_add_note(hop, "%02x:%02x:%02x:%02x:%02x:%02x", guest->address[0], guest->address[1],
			      guest->address[2], guest->address[3], guest->address[4], guest->address[5]);
	if (guest->queues > 0)
		path_add_note(hop, "%d queue%s", guest->queues, guest->queues == 1 ? "" : "s");
}

/* Returns how many points it added. */
static int add_guest_in_front(const struct path_graph *graph, const struct end *source, struct facts_path *path)
{
	int count = path->point_count;

	if (source->guest.process < 0 || count == FACTS_PATH_MAX_POINTS ||
	    path->points[0].is_out != (graph->family[source->link] != PATH_TAP))
		return 0;
	memmove(&path->points[1], &path->points[0], (size_t)count * sizeof(path->points[0]));
	memmove(&path->hops[1], &path->hops[0], (size_t)(count - 1) * sizeof(path->hops[0]));
	path->point_count++;
	describe_guest(graph, source, &path->points[0], &path->hops[0]);
	path->points[0].is_out = 1;
	return 1;
}

static void add_guest_behind(const struct path_graph *graph, const struct end *sink, struct facts_path *path)
{
	int count = path->point_count;

	if (sink->guest.process < 0 || count == FACTS_PATH_MAX_POINTS ||
	    path->points[count - 1].is_out != (graph->family[sink->link] == PATH_TAP))
		return;
	describe_guest(graph, sink, &path->points[count], &path->hops[count - 1]);
	path->point_count++;
}

static void be_incomplete(struct facts_path *path, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void be_incomplete(struct facts_path *path, const char *format, ...)
{
	size_t used = strlen(path->why_incomplete);
	va_list arguments;

	path->is_complete = 0;
	if (used && used + 2 < sizeof(path->why_incomplete)) {
		strcpy(path->why_incomplete + used, "; ");
		used += 2;
	}
	va_start(arguments, format);
	vsnprintf(path->why_incomplete + used, sizeof(path->why_incomplete) - used, format, arguments);
	va_end(arguments);
}

/* A path through a bridge of a loop cannot be relied on: that hop is a cut. */
static int mark_loop(const struct path_graph *graph, const struct path_state *start, struct facts_path *path)
{
	char text[240];
	int *bridges, count = path_find_loop(graph, start, &bridges);

	if (count <= 0)
		return count;
	path_tell_loop(graph, bridges, count, text, sizeof(text));
	for (int i = 0; i + 1 < path->point_count; i++) {
		struct facts_path_hop *hop = &path->hops[i];
		int is_in_it = 0;

		for (int k = 0; k < count; k++)
			is_in_it |= hop->kind == FACTS_HOP_BRIDGE &&
				    hop->ifindex == path_link(graph, bridges[k])->ifindex &&
				    hop->netns == path_link(graph, bridges[k])->netns;
		if (!is_in_it)
			continue;
		hop->kind = FACTS_HOP_CUT;
		snprintf(hop->note, sizeof(hop->note), "%s", text);
		free(bridges);
		return 0;
	}
	free(bridges);
	be_incomplete(path, "%s", text); /* not on the path, but its frames come here, too */
	return 0;
}

static int is_routed(const struct facts_path_hop *hop)
{
	return hop->kind == FACTS_HOP_STACK && (!strncmp(hop->name, "router ", 7) || !strncmp(hop->name, "host ", 5));
}

/* Of the points first…last; what lies outside of them is more than was asked. */
static void judge(struct facts_path *path, int first, int last)
{
	for (int i = first; i < last; i++) {
		const struct facts_path_hop *hop = &path->hops[i];

		if (hop->kind == FACTS_HOP_CUT)
			be_incomplete(path, "cut at hop %d (%s): %s", i + 1, hop->name, hop->note);
		else if (hop->kind == FACTS_HOP_OPAQUE)
			be_incomplete(path, "hop %d (%s) is opaque: %s", i + 1, hop->name, hop->note);
		else if (is_routed(hop))
			be_incomplete(
				path,
				"hop %d (%s) routes: run sends to the sink's MAC address, so give it the points up to there",
				i + 1, hop->name);
	}
	if (!path->points[first].is_out)
		be_incomplete(path,
			      "frames come in at %.*s, and run sends out of its source: take what is at its other end",
			      (int)strlen(path->points[first].text) - 3, path->points[first].text); /* without ":in" */
}

static int follow(const struct path_graph *graph, const struct end *source, const struct end *sink,
		  struct facts_path *path)
{
	int searches_left = PATH_MAX_SEARCHES, code, first, last;
	struct path_question question = { .graph = graph,
					  .target = choose_target(graph, sink),
					  .searches_left = &searches_left };

	code = choose_start(&question, source);
	if (code)
		return code;
	code = path_connect(&question, path);
	if (code == -ENOSPC) {
		be_incomplete(path, "the way is longer than %d points", FACTS_PATH_MAX_POINTS);
		code = 0;
	}
	if (!code)
		code = mark_loop(graph, &question.start, path);
	if (code)
		return code;
	facts_path_add_directions(path);
	first = add_guest_in_front(graph, source, path);
	last = path->point_count - 1;
	add_guest_behind(graph, sink, path);
	judge(path, first, last);
	return 0;
}

int path_follow(const struct facts *facts, const char *source, const char *sink, struct facts_path *path)
{
	struct path_graph graph;
	struct end ends[2];
	int code;

	memset(path, 0, sizeof(*path));
	path->is_complete = 1;
	code = path_graph_build(&graph, facts);
	if (!code)
		code = find_end(&graph, source, &ends[0]);
	if (!code)
		code = find_end(&graph, sink, &ends[1]);
	if (!code && ends[0].link == ends[1].link)
		code = error_set(EINVAL, "source and sink are one interface: %s", source);
	if (!code)
		code = follow(&graph, &ends[0], &ends[1], path);
	path_graph_free(&graph);
	return code;
}
