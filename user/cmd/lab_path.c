// SPDX-License-Identifier: GPL-2.0-or-later
/* The path through a lab; see lab_path.h. Called by cmd/run.c and cmd/compare.c. */
#include <stdio.h>

#include "cmd/lab_path.h"

/* Labs with guests: their agents are domains, and the path is said as a user would say it. */
static int path_through_guests(struct run *run, struct path *path, struct domains *domains, const struct lab *lab)
{
	char texts[LAB_MAX_POINTS][2 * RUN_NAME_BYTES], domain[LAB_DOMAIN_BYTES], *points[LAB_MAX_POINTS];
	int code = 0;

	for (int i = 0; !code && i < lab->guest_count; i++)
		code = domains_add(domains, lab_guest_domain(lab, i, domain));
	for (int i = 0; i < lab->point_count; i++) {
		const struct lab_point *point = &lab->points[i];

		if (point->guest[0])
			snprintf(texts[i], sizeof(texts[i]), "%s@%s", point->interface, point->guest);
		else
			snprintf(texts[i], sizeof(texts[i]), "%s@ns:%s", point->interface, point->netns);
		points[i] = texts[i];
	}
	if (!code)
		code = path_from_texts(run, path, domains, points, lab->point_count, 0);
	snprintf(run->lab, sizeof(run->lab), "%s", lab->scenario);
	return code;
}

int lab_path(struct run *run, struct path *path, struct domains *domains, const struct lab *lab)
{
	return lab->guest_count ? path_through_guests(run, path, domains, lab) : path_from_lab(run, path, domains, lab);
}
