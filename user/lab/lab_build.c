// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Building a lab from a scenario's layout. See lab.h.
 *
 * Owns: the order of steps, the choice of id and CPUs, waiting until frames would pass. Leaves to others: keeping a
 * lab beyond the process (lab_record.c). Only the namespaces are registered for undoing: all else lives in them and
 * goes with them.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include <linux/if.h>

#include "base/error.h"
#include "base/undo.h"
#include "lab/lab.h"
#include "lab/lab_guest.h"
#include "lab/lab_names.h"
#include "lab/scenario.h"
#include "sys/link_settings.h"
#include "sys/netns.h"
#include "sys/rtnl.h"
#include "sys/tap.h"

#define READY_DEADLINE_S 10
#define READY_POLL_NS 2000000
#define ID_ATTEMPTS 32

struct build {
	const struct scenario_layout *layout;
	struct lab *lab;
};

/* Enters the namespace of a role. */
static int enter(const struct lab *lab, const char *role, struct netns_token *token)
{
	char name[RUN_NAME_BYTES];

	return netns_enter(lab_netns_name(lab->id, role, name), token);
}

/* A setting under /proc/sys/net of the namespace this thread is in; one that this kernel does not have needs no
 * setting. */
static int write_setting(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), result = 0;

	if (fd < 0)
		return errno == ENOENT ? 0 : error_set(errno, "cannot open %s: %s", path, strerror(errno));
	if (write(fd, value, strlen(value)) < 0)
		result = error_set(errno, "cannot write %s to %s: %s", value, path, strerror(errno));
	close(fd);
	return result;
}

/* No traffic but ours: IPv6 would send neighbour discovery. No packet filter on bridged frames: br_netfilter costs a
 * lot. */
static int quieten_namespace(void)
{
	static const struct {
		const char *path, *value;
	} settings[] = {
		{ "/proc/sys/net/ipv6/conf/all/disable_ipv6", "1" },
		{ "/proc/sys/net/ipv6/conf/default/disable_ipv6", "1" },
		{ "/proc/sys/net/bridge/bridge-nf-call-iptables", "0" },
		{ "/proc/sys/net/bridge/bridge-nf-call-ip6tables", "0" },
		{ "/proc/sys/net/bridge/bridge-nf-call-arptables", "0" },
	};
	int result = 0;

	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]) && !result; i++)
		result = write_setting(settings[i].path, settings[i].value);
	return result;
}

static int make_namespace(const struct lab *lab, const char *role)
{
	struct netns_token token;
	char name[RUN_NAME_BYTES];
	int mark = undo_mark(), result;

	lab_netns_name(lab->id, role, name);
	result = undo_push("netns-delete", name, NULL);
	if (result < 0)
		return result;
	result = netns_create(name);
	if (result == -EEXIST) /* somebody took the name since the id was chosen: it is not ours to undo */
		undo_forget_to(mark);
	if (result < 0)
		return result;
	result = netns_enter(name, &token);
	if (result < 0)
		return result;
	result = quieten_namespace();
	if (!result)
		result = rtnl_link_set_up("lo");
	netns_leave(&token);
	return result;
}

static int make_namespaces(const struct build *build)
{
	int result = 0;

	for (int i = 0; build->layout->roles[i] && !result; i++)
		result = undo_interrupted() ? error_set(EINTR, "interrupted")
					    : make_namespace(build->lab, build->layout->roles[i]);
	return result;
}

static int make_wire(const struct lab *lab, const struct scenario_wire *wire)
{
	const struct scenario_place *near = &wire->ends[0], *far = &wire->ends[1];
	char far_netns[RUN_NAME_BYTES];
	struct netns_token token;
	int result = enter(lab, near->role, &token);

	if (result < 0)
		return result;
	lab_netns_name(lab->id, far->role, far_netns);
	result = rtnl_veth_create(near->interface, far->interface, far_netns, lab->options.mtu_bytes);
	netns_leave(&token);
	return result;
}

static int make_wires(const struct build *build)
{
	int result = 0;

	for (const struct scenario_wire *wire = build->layout->wires; wire->ends[0].interface && !result; wire++)
		result = make_wire(build->lab, wire);
	return result;
}

static int make_taps(const struct build *build)
{
	int result = 0;

	for (const struct scenario_tap *tap = build->layout->taps; tap->place.interface && !result; tap++) {
		struct netns_token token;

		result = enter(build->lab, tap->place.role, &token);
		if (result < 0)
			break;
		result = tap_create(tap->place.interface, tap->several_queues);
		netns_leave(&token);
	}
	return result;
}

static int make_bridge(const struct lab *lab, const struct scenario_bridge *bridge)
{
	struct netns_token token;
	int result = enter(lab, bridge->place.role, &token);

	if (result < 0)
		return result;
	result = rtnl_bridge_create(bridge->place.interface, lab->options.mtu_bytes);
	for (int i = 0; bridge->ports[i] && !result; i++)
		result = rtnl_link_set_master(bridge->ports[i], bridge->place.interface);
	if (!result)
		result = rtnl_link_set_up(bridge->place.interface);
	netns_leave(&token);
	return result;
}

static int make_bridges(const struct build *build)
{
	int result = 0;

	for (const struct scenario_bridge *bridge = build->layout->bridges; bridge->place.interface && !result;
	     bridge++)
		result = make_bridge(build->lab, bridge);
	return result;
}

static int act_at(const struct lab *lab, const struct scenario_place *place,
		  int (*act)(const struct lab *lab, const char *interface))
{
	struct netns_token token;
	int result = enter(lab, place->role, &token);

	if (result < 0)
		return result;
	result = act(lab, place->interface);
	netns_leave(&token);
	return result;
}

/* Calls act() for both ends of all wires and for taps, each in its namespace. */
static int for_each_end(const struct build *build, int (*act)(const struct lab *lab, const char *interface))
{
	int result = 0;

	for (const struct scenario_wire *wire = build->layout->wires; wire->ends[0].interface && !result; wire++) {
		result = act_at(build->lab, &wire->ends[0], act);
		if (!result)
			result = act_at(build->lab, &wire->ends[1], act);
	}
	for (const struct scenario_tap *tap = build->layout->taps; tap->place.interface && !result; tap++)
		result = act_at(build->lab, &tap->place, act);
	return result;
}

static int prepare_end(const struct lab *lab, const char *interface)
{
	return lab->options.segmentation_off ? link_set_segmentation(interface, 0) : 0;
}

static int set_offloads(const struct build *build)
{
	int result = for_each_end(build, prepare_end);

	for (const struct scenario_place *place = build->layout->receivers; place->interface && !result; place++) {
		struct netns_token token;

		result = enter(build->lab, place->role, &token);
		if (result < 0)
			break;
		result = link_set_gro(place->interface, 1);
		netns_leave(&token);
	}
	return result;
}

static int set_end_up(const struct lab *lab, const char *interface)
{
	(void)lab;
	return rtnl_link_set_up(interface);
}

static int set_ends_up(const struct build *build)
{
	return for_each_end(build, set_end_up);
}

/* Taps carry frames when QEMU holds them. */
static int start_guests(const struct build *build)
{
	struct lab *lab = build->lab;
	int result = 0;

	for (const struct scenario_guest *guest = build->layout->guests; guest->name && !result; guest++) {
		snprintf(lab->guests[lab->guest_count], sizeof(lab->guests[0]), "%s", guest->name);
		lab->guest_count++;
		result = lab_guest_start(lab, guest);
	}
	return result;
}

static int is_ready(const struct rtnl_link *link)
{
	return link->operstate == IF_OPER_UP && (link->flags & IFF_LOWER_UP) &&
	       (!link->bridge_port_state[0] || !strcmp(link->bridge_port_state, "forwarding"));
}

/* The kernel brings carrier and bridge port states up from a work queue, so shortly after the last end was set up. */
static int wait_for_end(const struct lab *lab, const char *interface)
{
	const struct timespec pause = { .tv_nsec = READY_POLL_NS };
	struct timespec now, start;
	struct rtnl_link link;

	clock_gettime(CLOCK_MONOTONIC, &start);
	for (;;) {
		int result = rtnl_link_get(interface, &link);

		if (result < 0)
			return result;
		if (is_ready(&link))
			return 0;
		if (undo_interrupted())
			return error_set(EINTR, "interrupted");
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (now.tv_sec - start.tv_sec >= READY_DEADLINE_S)
			return error_set(ETIMEDOUT,
					 "lab %s: %s carries no frames %d s after it was set up (%s, port state '%s')",
					 lab->id, interface, READY_DEADLINE_S,
					 link.flags & IFF_LOWER_UP ? "carrier" : "no carrier", link.bridge_port_state);
		nanosleep(&pause, NULL);
	}
}

static int wait_for_ends(const struct build *build)
{
	return for_each_end(build, wait_for_end);
}

/* Where the path runs: on the last CPU that this process may use, the source on the first. On one CPU there is no
 * choice. */
static int choose_cpus(struct lab *lab)
{
	int first = -1, last = -1, cpus = 1024;

	lab->path_cpu = lab->source_cpu = -1;
	for (;; cpus *= 2) {
		cpu_set_t *allowed = CPU_ALLOC((size_t)cpus);
		size_t size = CPU_ALLOC_SIZE((size_t)cpus);

		if (!allowed)
			return error_set(ENOMEM, "out of memory for a set of CPUs");
		if (sched_getaffinity(0, size, allowed) == 0) {
			for (int cpu = 0; cpu < cpus; cpu++) {
				if (!CPU_ISSET_S((size_t)cpu, size, allowed))
					continue;
				first = first < 0 ? cpu : first;
				last = cpu;
			}
			CPU_FREE(allowed);
			break;
		}
		CPU_FREE(allowed);
		if (errno != EINVAL || cpus > 1 << 20)
			return error_set(errno, "cannot read on which CPUs to run: %s", strerror(errno));
	}
	if (first != last) {
		lab->path_cpu = last;
		lab->source_cpu = first;
	}
	return 0;
}

static int give_path_its_cpu(const struct build *build)
{
	const struct scenario_place *place = &build->layout->threaded;
	struct netns_token token;
	int result = place->interface ? choose_cpus(build->lab) : 0;

	if (!place->interface)
		build->lab->path_cpu = build->lab->source_cpu = -1;
	if (result < 0 || build->lab->path_cpu < 0)
		return result;
	result = enter(build->lab, place->role, &token);
	if (result < 0)
		return result;
	result = link_set_threaded_napi(place->interface, 1);
	if (!result)
		result = link_pin_napi_threads(place->interface, build->lab->path_cpu);
	netns_leave(&token);
	return result < 0 ? result : 0;
}

static void fill_place(const struct build *build, const struct scenario_place *place, struct lab_point *to)
{
	const struct scenario_guest *guest = build->layout->guests;
	const char *role = place->role;

	while (guest->name && strcmp(guest->name, role))
		guest++;
	if (guest->name) {
		snprintf(to->guest, sizeof(to->guest), "%s", guest->name);
		snprintf(to->name, sizeof(to->name), "%s@%s", place->interface, guest->name);
		role = guest->role;
	} else {
		snprintf(to->name, sizeof(to->name), "%s@ns:%s", place->interface, role);
	}
	snprintf(to->interface, sizeof(to->interface), "%s", place->interface);
	lab_netns_name(build->lab->id, role, to->netns);
}

static int fill_points(const struct build *build)
{
	struct lab *lab = build->lab;

	for (const struct scenario_point *point = build->layout->points; point->place.interface; point++) {
		struct lab_point *to = &lab->points[lab->point_count++];

		fill_place(build, &point->place, to);
		to->direction = point->direction;
	}
	return 0;
}

/* An id that no namespace and no record uses. After some collisions it gets longer. */
static int choose_id(struct lab *lab)
{
	for (int attempt = 0; attempt < ID_ATTEMPTS; attempt++) {
		unsigned int number;
		char **names;
		int count;

		while (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
			if (errno != EINTR)
				return error_set(errno, "cannot draw a random number: %s", strerror(errno));
		if (attempt < ID_ATTEMPTS / 2)
			snprintf(lab->id, sizeof(lab->id), "%04x", number & 0xffff);
		else
			snprintf(lab->id, sizeof(lab->id), "%06x", number & 0xffffff);
		count = lab_netns_list(lab->id, &names);
		if (count < 0)
			return count;
		netns_list_free(names, count);
		if (count == 0 && !lab_is_recorded(lab->id))
			return 0;
	}
	return error_set(EEXIST, "no free id for a lab was found; remove old ones: hopcap lab down --all");
}

static int check_request(const char *name, const struct lab_options *options, const struct scenario **scenario)
{
	*scenario = scenario_find(name);
	if (!*scenario)
		return -EINVAL;
	if (options->mtu_bytes < LAB_MIN_MTU_BYTES || options->mtu_bytes > LAB_MAX_MTU_BYTES)
		return error_set(EINVAL, "a lab has an MTU from %d to %d bytes, not %u", LAB_MIN_MTU_BYTES,
				 LAB_MAX_MTU_BYTES, options->mtu_bytes);
	if (options->dedicated && !(*scenario)->dedicated)
		return error_set(EINVAL, "lab %s has no --dedicated form", name);
	if (options->mtu_bytes != LAB_MIN_MTU_BYTES && (*scenario)->layout->guests[0].name)
		return error_set(EINVAL, "labs with guests have an MTU of %d bytes", LAB_MIN_MTU_BYTES);
	if (options->kernel[0] && !(*scenario)->layout->guests[0].name)
		return error_set(EINVAL, "lab %s has no guest that a kernel could be chosen for", name);
	if (geteuid() != 0)
		return error_set(EPERM, "a lab is made of network namespaces, which needs root: call hopcap with sudo");
	return (*scenario)->layout->guests[0].name ? lab_guest_check(options) : 0;
}

int lab_build(const char *name, const struct lab_options *options, struct lab *lab)
{
	static int (*const steps[])(const struct build *build) = {
		make_namespaces, make_wires,   make_taps,     make_bridges,	 set_offloads,
		set_ends_up,	 start_guests, wait_for_ends, give_path_its_cpu, fill_points,
	};
	const struct scenario *scenario;
	struct build build = { .lab = lab };
	int result = check_request(name, options, &scenario);

	if (result < 0)
		return result;
	memset(lab, 0, sizeof(*lab));
	snprintf(lab->scenario, sizeof(lab->scenario), "%s", scenario->name);
	lab->options = *options;
	lab->undo_mark = undo_mark();
	build.layout = options->dedicated ? scenario->dedicated : scenario->layout;
	result = choose_id(lab);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && !result; i++)
		result = undo_interrupted() ? error_set(EINTR, "interrupted") : steps[i](&build);
	if (result < 0)
		undo_run_to(lab->undo_mark);
	return result;
}
