// SPDX-License-Identifier: GPL-2.0-or-later
/* Resolving a path; see path.h. Called by measure/run.c. */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "measure/path.h"
#include "model/point_syntax.h"

static void choose_hook(struct run_point *point, const struct domain_link *link, int is_source, int is_sink)
{
	/* Native XDP only where a driver owns the frame; on skb devices it would change the path that is measured. */
	int driver_owns_frame = !link->kind[0] && point->driver[0] && strcmp(point->driver, "veth");

	if (!point->mode[0])
		strcpy(point->mode, point->direction == RUN_DIRECTION_IN && driver_owns_frame ? "native" : "tcx");
	point->hook = strcmp(point->mode, "tcx") ? RUN_HOOK_XDP : RUN_HOOK_TC;
	if (is_sink)
		point->hook = RUN_HOOK_SINK;
	if (is_source) {
		point->hook = RUN_HOOK_SOURCE;
		point->mode[0] = 0; /* the port's name, once it is chosen */
	}
}

/* point is a copy: it and the finding lie in the same run. */
static void note_foreign_xdp(struct run *run, const struct run_point point, const struct domain_link *link)
{
	struct run_finding *finding = &run->findings[run->finding_count];

	if (run->finding_count == RUN_MAX_FINDINGS)
		return;
	run->finding_count++;
	snprintf(finding->id, sizeof(finding->id), "xdp-foreign-program");
	snprintf(finding->severity, sizeof(finding->severity), "warn");
	snprintf(finding->interface, sizeof(finding->interface), "%s", point.interface);
	snprintf(finding->evidence, sizeof(finding->evidence), "XDP %s runs on %s", link->xdp, point.name);
	snprintf(finding->rule, sizeof(finding->rule),
		 "a program of somebody else sees each frame before our tc probe; it stays");
	snprintf(finding->fix, sizeof(finding->fix), "ip link set dev %s xdp off", point.interface);
	snprintf(finding->effect, sizeof(finding->effect),
		 "its cost and its drops count for the hop before this point");
}

/* Facts of one interface, asked of its own kernel. */
static int inspect(struct run *run, struct path *path, int index, int last, int force_uplink)
{
	struct run_point *point = &run->points[index];
	struct domain_link *link = &path->links[index];
	int code = domain_link(path->domain[index], point, link);

	if (code == -ENODEV)
		return error_set(ENODEV, "%s: no such interface%s%s; `%s link` lists them", point->name,
				 point->netns[0] ? " in namespace " : "", point->netns, point_ip(point->netns).text);
	if (code)
		return code;
	if (!(link->flags & IFF_UP))
		return error_set(ENETDOWN, "%s: the interface is down; `%s link set %s up` first", point->name,
				 point_ip(point->netns).text, point->interface);
	if (!force_uplink && (index == 0 || index == last) && link->uplink)
		return error_set(link->uplink, "%s", link->uplink_text);
	point->mtu_bytes = link->mtu_bytes;
	snprintf(point->driver, sizeof(point->driver), "%s", link->driver);
	choose_hook(point, link, index == 0, index == last);
	if (link->xdp[0] && index) {
		if (strcmp(point->mode, "tcx") && path->hook_given[index])
			return error_set(
				EBUSY,
				"%s: XDP %s is attached and is not displaced; use :tc at this point, or detach it",
				point->name, link->xdp);
		strcpy(point->mode, "tcx");
		if (point->hook == RUN_HOOK_XDP)
			point->hook = RUN_HOOK_TC;
		note_foreign_xdp(run, *point, link);
	}
	return 0;
}

static int is_driver(const struct domain_link *a, const struct domain_link *b, const char *first, const char *second)
{
	return (!strcmp(a->driver, first) && !strcmp(b->driver, second)) ||
	       (!strcmp(a->driver, second) && !strcmp(b->driver, first));
}

/*
 * What lies between two points: a bridge that both are ports of, a wire when they are each other's peers, else opaque. A virtio NIC here
 * and a tap there are opaque as well, but there is no doubt what to call it.
 */
static void describe_hop(struct run *run, const struct path *path, int hop)
{
	const struct run_point from = run->points[hop - 1],
			       to = run->points[hop]; /* copies: they and the hop lie in one run */
	const struct domain_link *a = &path->links[hop - 1], *b = &path->links[hop];
	struct run_hop *result = &run->hops[hop - 1];
	int same_kernel = domain_is_same_kernel(path->domain[hop - 1], path->domain[hop]);
	int same_netns = same_kernel && a->netns_inode == b->netns_inode;

	if (same_netns && a->master_ifindex && a->master_ifindex == b->master_ifindex && a->master[0]) {
		result->kind = RUN_HOP_BRIDGE;
		snprintf(result->name, sizeof(result->name), "bridge %s", a->master);
	} else if (same_kernel && a->peer_ifindex && a->peer_ifindex == b->ifindex && b->peer_ifindex == a->ifindex &&
		   (a->peer_netnsid < 0) == same_netns) {
		result->kind = RUN_HOP_WIRE;
		snprintf(result->name, sizeof(result->name), "wire %s-%s", from.interface, to.interface);
	} else {
		result->kind = RUN_HOP_OPAQUE;
		snprintf(result->name, sizeof(result->name), "%s%s..%s",
			 !same_kernel && is_driver(a, b, "virtio_net", "tun") ? "virtio " : "", from.interface,
			 to.interface);
	}
}

/* The kernels of the path; those that hold no point are not of the run. */
static void list_domains(struct run *run, const struct path *path)
{
	for (int d = 0; d < path->domains->count; d++) {
		const struct domain *domain = path->domains->list[d];
		struct run_domain *listed = &run->domains[run->domain_count];
		int points = 0;

		for (int i = 0; i < run->point_count; i++)
			points += path->domain[i] == domain;
		if (!points || (domain_is_local(domain) && points == run->point_count))
			continue;
		run->domain_count++;
		*listed = (struct run_domain){ .first_cpu = domain->first_cpu,
					       .cpu_count = domain->cpus,
					       .clock_offset_ns = RUN_UNKNOWN,
					       .clock_bound_ns = RUN_UNKNOWN,
					       .clock_linear_ns = RUN_UNKNOWN,
					       .clock_spread_ns = RUN_UNKNOWN,
					       .clock_drift_ppm = RUN_UNKNOWN,
					       .round_trip_ns = RUN_UNKNOWN,
					       .crossing_half_min_ns = RUN_UNKNOWN,
					       .crossing_half_ns = RUN_UNKNOWN,
					       .crossing_bound_ns = RUN_UNKNOWN };
		memcpy(listed->name, domain->name, sizeof(listed->name));
		memcpy(listed->kernel, domain->kernel, sizeof(listed->kernel));
		memcpy(listed->machine, domain->machine, sizeof(listed->machine));
	}
}

static int resolve(struct run *run, struct path *path, int force_uplink)
{
	int last = run->point_count - 1;

	for (int i = 0; i <= last; i++) {
		int code = inspect(run, path, i, last, force_uplink);

		if (code)
			return code;
	}
	/* After all of them: an interface that is down takes the carrier of its peer, and is the one to name. */
	for (int i = 0; i <= last; i++)
		if (!(path->links[i].flags & IFF_RUNNING))
			return error_set(ENETDOWN, "%s: the interface has no carrier; is its other end up?",
					 run->points[i].name);
	for (int hop = 1; hop <= last; hop++)
		describe_hop(run, path, hop);
	list_domains(run, path);
	return 0;
}

static int check_repeated(const struct run *run)
{
	for (int i = 0; i < run->point_count; i++)
		for (int k = 0; k < i; k++)
			if (!strcmp(run->points[i].interface, run->points[k].interface) &&
			    !strcmp(run->points[i].netns, run->points[k].netns) &&
			    !strcmp(run->points[i].domain, run->points[k].domain))
				return error_set(EINVAL, "point %s stands in the path twice", run->points[i].name);
	return 0;
}

int path_from_texts(struct run *run, struct path *path, const struct domains *domains, char *const *texts, int count,
		    int force_uplink)
{
	enum run_direction direction = RUN_DIRECTION_OUT;
	int code;

	memset(path, 0, sizeof(*path));
	path->domains = domains;
	if (count < 2)
		return error_set(EINVAL, "a path needs at least two points, source and sink");
	if (count > RUN_MAX_POINTS)
		return error_set(EINVAL, "a path has at most %d points", RUN_MAX_POINTS);
	for (int i = 0; i < count; i++) {
		struct run_point *point = &run->points[i];
		struct point_text text;

		code = point_parse_in_domains(texts[i], &text);
		if (code)
			return code;
		if (i == 0 && (text.hook_given || (text.direction_given && text.direction == RUN_DIRECTION_IN)))
			return error_set(EINVAL, "point '%s' is the source: it sends out and has no hook", texts[i]);
		if (text.direction_given)
			direction = text.direction;
		else if (i == count - 1)
			direction = RUN_DIRECTION_IN;
		code = point_print(&text, point->name, sizeof(point->name));
		if (code)
			return code;
		path->domain[i] = domains_find(domains, text.domain[0] ? text.domain : "local");
		if (!path->domain[i])
			return -EINVAL;
		strcpy(point->interface, text.interface);
		strcpy(point->netns, text.netns);
		strcpy(point->domain, path->domain[i]->name);
		strcpy(point->mode, text.mode);
		path->hook_given[i] = text.hook_given;
		point->direction = direction;
		direction = direction == RUN_DIRECTION_OUT ? RUN_DIRECTION_IN : RUN_DIRECTION_OUT;
	}
	run->point_count = count;
	code = check_repeated(run);
	return code ? code : resolve(run, path, force_uplink);
}

int path_from_lab(struct run *run, struct path *path, const struct domains *domains, const struct lab *lab)
{
	memset(path, 0, sizeof(*path));
	path->domains = domains;
	for (int i = 0; i < lab->point_count; i++) {
		struct run_point *point = &run->points[i];

		snprintf(point->name, sizeof(point->name), "%s", lab->points[i].name);
		snprintf(point->interface, sizeof(point->interface), "%s", lab->points[i].interface);
		snprintf(point->netns, sizeof(point->netns), "%s", lab->points[i].netns);
		path->domain[i] = domains->list[0];
		strcpy(point->domain, "local");
		point->direction = lab->points[i].direction;
	}
	run->point_count = lab->point_count;
	snprintf(run->lab, sizeof(run->lab), "%s", lab->scenario);
	return resolve(run, path, 0);
}
