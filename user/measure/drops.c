// SPDX-License-Identifier: GPL-2.0-or-later
/* Drops; see drops.h. Called by latency.c and pressure.c. */
#include <stdio.h>

#include "measure/drops.h"

void drops_add(struct run_trial *trial, const struct run_drop *drop)
{
	int at = trial->drop_count < RUN_MAX_DROPS ? trial->drop_count : RUN_MAX_DROPS - 1;

	if (trial->drop_count == RUN_MAX_DROPS && trial->drops[at].count >= drop->count)
		return;
	for (; at > 0 && trial->drops[at - 1].count < drop->count; at--)
		trial->drops[at] = trial->drops[at - 1];
	trial->drops[at] = *drop;
	if (trial->drop_count < RUN_MAX_DROPS)
		trial->drop_count++;
}

static int find_point(const struct run *run, const struct path *path, const struct domain *domain,
		      const struct drop_count *count)
{
	for (int i = 0; i < run->point_count; i++)
		if (domain_is_same_kernel(path->domain[i], domain) &&
		    (unsigned int)path->links[i].ifindex == count->ifindex &&
		    path->links[i].netns_inode == count->netns_inode)
			return i;
	return -1;
}

void drops_record(struct run_trial *trial, const struct run *run, const struct path *path, const struct domain *domain,
		  const struct drop_count *counts, int count)
{
	for (int i = 0; i < count; i++) {
		int point = find_point(run, path, domain, &counts[i]);
		struct run_drop drop = { .count = counts[i].count };

		/* Our own sink takes frames off the path there, too; conservation says how many were lost before it. */
		if (point > 0 && point == trial->sink_point && drop.count > (uint64_t)trial->lost[point - 1])
			drop.count = (uint64_t)trial->lost[point - 1];
		if (!drop.count)
			continue;
		snprintf(drop.reason, sizeof(drop.reason), "%s", counts[i].reason);
		if (point >= 0)
			snprintf(drop.interface, sizeof(drop.interface), "%s", run->points[point].interface);
		else if (counts[i].ifindex)
			snprintf(drop.interface, sizeof(drop.interface), "dev %u", counts[i].ifindex);
		drops_add(trial, &drop);
	}
}
