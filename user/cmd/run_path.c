// SPDX-License-Identifier: GPL-2.0-or-later
/* A run's path as facts call it; see run_path.h. */
#include "cmd/run_path.h"

#include <stdio.h>
#include <string.h>

static enum facts_hop_kind hop_kind(enum run_hop_kind kind)
{
	return kind == RUN_HOP_WIRE ? FACTS_HOP_WIRE : kind == RUN_HOP_BRIDGE ? FACTS_HOP_BRIDGE : FACTS_HOP_OPAQUE;
}

void run_path_describe(const struct run *run, const struct path *path, const struct facts *facts,
		       struct facts_path *described)
{
	memset(described, 0, sizeof(*described));
	for (int i = 0; i < run->point_count; i++) {
		struct facts_path_point *point = &described->points[i];
		int is_here = domain_is_local(path->domain[i]);

		/* Of other kernels there are no facts; their points are like the far ends of opaque hops. */
		point->netns = is_here ? facts_netns_named(facts, run->points[i].netns) : 0;
		point->ifindex = is_here && point->netns >= 0 ? path->links[i].ifindex : 0;
		point->is_out = run->points[i].direction == RUN_DIRECTION_OUT;
		snprintf(point->text, sizeof(point->text), "%s", run->points[i].name);
	}
	for (int i = 0; i + 1 < run->point_count; i++) {
		struct facts_path_hop *hop = &described->hops[i];
		const struct facts_path_point *from = &described->points[i];
		const struct facts_link *link = facts_link_at(facts, from->netns, from->ifindex);

		hop->kind = hop_kind(run->hops[i].kind);
		snprintf(hop->name, sizeof(hop->name), "%s", run->hops[i].name);
		if (hop->kind == FACTS_HOP_BRIDGE && link) {
			hop->netns = from->netns;
			hop->ifindex = link->master_ifindex;
		}
	}
	described->point_count = run->point_count;
	described->is_complete = 1;
}
