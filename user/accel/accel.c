// SPDX-License-Identifier: GPL-2.0-or-later
/* The bridge fast path as one thing; see accel.h. Called by cmd/accel.c by way of accel_daemon.c, and by whoever measures a bypass. */
#include "accel/accel_state.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/undo.h"
#include "sys/netns.h"
#include "sys/rtnl.h"

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static uint32_t slot_of(void *context, int ifindex)
{
	return accel_ports_slot(&((struct accel *)context)->ports, ifindex);
}

static void port_gone(void *context, int ifindex)
{
	accel_ports_shut_one(&((struct accel *)context)->ports, ifindex);
}

/* Everything is read anew, with the fast path shut until our copy is the bridge's table again. */
static int read_all(struct accel *accel)
{
	int changed, code;

	do {
		accel_ports_shut(&accel->ports);
		code = fdb_follow_resync(&accel->follow);
	} while (!code && accel->follow.overflowed);
	accel->follow.links_changed = accel->follow.queues_changed = 0;
	if (!code)
		code = accel_ports_update(&accel->ports, 1, &changed);
	if (!code)
		fdb_follow_ports_changed(&accel->follow);
	return code;
}

static int update(struct accel *accel, int ask)
{
	int changed, code;

	accel->follow.links_changed = 0;
	if (ask)
		accel->follow.queues_changed = 0;
	code = accel_ports_update(&accel->ports, ask, &changed);
	if (!code && changed)
		fdb_follow_ports_changed(&accel->follow);
	accel->follow.refresh_s =
		accel_policy_refresh_s(accel->ports.bridge.ageing_s, accel->ports.stp, accel->ports.forward_delay_s);
	return code;
}

/* What the messages that are there make necessary. */
static int hear(struct accel *accel)
{
	int code = fdb_follow_drain(&accel->follow);

	if (!code && accel->follow.overflowed)
		code = read_all(accel);
	if (!code && (accel->follow.links_changed || accel->follow.queues_changed))
		code = update(accel, accel->follow.queues_changed);
	if (!code && accel->ports.bridge_refusal == ACCEL_BRIDGE_GONE)
		code = error_set(ENODEV, "%s: the bridge is gone", accel->bridge);
	return code;
}

/* A namespace lives as long as a thread is in it: when its name goes, we must go, too. */
static int check_namespace(const struct accel *accel)
{
	struct stat named, own;
	char path[PATH_MAX];

	if (!accel->netns[0])
		return 0;
	snprintf(path, sizeof(path), "/run/netns/%s", accel->netns);
	if (!stat(path, &named) && !stat("/proc/thread-self/ns/net", &own) && named.st_ino == own.st_ino)
		return 0;
	return error_set(ENODEV, "%s: the namespace %s is gone", accel->bridge, accel->netns);
}

static int tick(struct accel *accel)
{
	int code = check_namespace(accel);

	if (!code)
		code = update(accel, 1);

	return code ? code : fdb_follow_scan(&accel->follow);
}

/* A port that the user named must be usable. */
static int check_named(const struct accel *accel, const struct accel_port *port)
{
	const char *names = accel->request.ports;
	size_t length = strlen(port->name);
	int is_first, needs_source, needs_target;

	if (!port->facts.is_asked || !names)
		return 0;
	is_first = !strncmp(names, port->name, length) && (names[length] == ',' || !names[length]);
	needs_source = !accel->request.one_way || is_first;
	needs_target = !accel->request.one_way || !is_first;
	if (needs_source && port->verdict.source != ACCEL_FINE)
		return error_set(EOPNOTSUPP, "%s: %s%s%s", port->name, accel_policy_text(port->verdict.source),
				 port->why[0] ? ": " : "", port->why);
	if (needs_target && port->verdict.target != ACCEL_FINE)
		return error_set(EOPNOTSUPP, "%s: %s", port->name, accel_policy_text(port->verdict.target));
	return 0;
}

/* Refuses what cannot work at all; what works in part is told by status. */
static int check_use(struct accel *accel)
{
	const struct accel_ports *ports = &accel->ports;
	int sources = 0, targets = 0, both = 0, code;
	const struct accel_port *example = NULL;

	if (ports->bridge_refusal != ACCEL_FINE && ports->bridge_refusal != ACCEL_BRIDGE_DOWN)
		return error_set(EOPNOTSUPP, "%s: %s", accel->bridge, accel_policy_text(ports->bridge_refusal));
	for (int i = 0; i < ports->count; i++) {
		const struct accel_port *port = &ports->list[i];
		int is_source = port->verdict.source == ACCEL_FINE, is_target = port->verdict.target == ACCEL_FINE;

		sources += is_source;
		targets += is_target;
		both += is_source && is_target;
		code = check_named(accel, port);
		if (code)
			return code;
		if (port->facts.is_asked && !example && (!is_source || !is_target))
			example = port;
	}
	if (sources && targets && (targets > 1 || sources > 1 || !both))
		return 0;
	if (!example)
		return error_set(
			EOPNOTSUPP,
			"%s: has no two ports that could exchange frames (the uplink of this machine is not used "
			"without --force-uplink)",
			accel->bridge);
	return error_set(EOPNOTSUPP, "%s: no two ports can exchange frames past it; %s: %s%s%s", accel->bridge,
			 example->name,
			 accel_policy_text(example->verdict.source != ACCEL_FINE ? example->verdict.source
										 : example->verdict.target),
			 example->why[0] ? ": " : "", example->why);
}

/* Names that the user gave must be ports. */
static int check_names(const struct accel *accel, int bridge_ifindex)
{
	char list[sizeof(accel->ports_text)], *rest, *name;
	struct rtnl_link link;

	snprintf(list, sizeof(list), "%s", accel->ports_text);
	for (name = strtok_r(list, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
		int code = rtnl_link_get(name, &link);

		if (code)
			return code;
		if (link.master_ifindex != bridge_ifindex)
			return error_set(EINVAL, "%s: it %s", name, accel_policy_text(ACCEL_NO_PORT));
	}
	return 0;
}

static int find_bridge(struct accel *accel)
{
	struct rtnl_link link;
	int code = rtnl_link_get(accel->bridge, &link);

	if (code)
		return code;
	if (strcmp(link.kind, "bridge"))
		return error_set(EINVAL, "%s: is no bridge", accel->bridge);
	accel->ports.bridge_ifindex = link.ifindex;
	return check_names(accel, link.ifindex);
}

static int set_up(struct accel *accel)
{
	int code = find_bridge(accel);

	if (!code)
		code = fast_path_open(&accel->path);
	if (!code)
		code = fdb_follow_open(&accel->follow, accel->ports.bridge_ifindex, &accel->path);
	if (code)
		return code;
	accel->follow.slot_of = slot_of;
	accel->follow.port_gone = port_gone;
	accel->follow.context = accel;
	if (accel->request.set_offloads)
		code = accel_ports_set_offloads(&accel->ports);
	if (!code)
		code = read_all(accel);
	if (!code)
		code = update(accel, 1); /* once more: attaching a program changes what a driver can */
	return code ? code : check_use(accel);
}

static void take_down(struct accel *accel)
{
	if (accel->path.control)
		accel_ports_close(&accel->ports);
	if (accel->follow.socket >= 0)
		fdb_follow_close(&accel->follow);
	if (accel->path.tables)
		fast_path_close(&accel->path);
}

int accel_close(struct accel *accel)
{
	struct netns_token token;
	char why[512] = "";
	int code;

	if (!accel)
		return 0;
	snprintf(why, sizeof(why), "%s", error_text());
	if (!netns_enter(accel->netns, &token)) {
		take_down(accel);
		netns_leave(&token);
	} else {
		take_down(accel); /* the namespace has lost its name: what is left is ours alone */
	}
	code = undo_run_to(accel->undo_mark);
	pthread_mutex_destroy(&accel->lock);
	free(accel);
	if (!code)
		error_set(0, "%s", why);
	return code;
}

int accel_open(const struct accel_request *request, struct accel **result)
{
	struct accel *accel = calloc(1, sizeof(*accel));
	struct netns_token token;
	int code;

	if (!accel)
		return error_set(ENOMEM, "out of memory");
	pthread_mutex_init(&accel->lock, NULL);
	accel->undo_mark = undo_mark();
	accel->follow.socket = accel->stop_fd = -1;
	accel->path.poll_link_fd = -1;
	accel->begin_s = now_s();
	snprintf(accel->bridge, sizeof(accel->bridge), "%s", request->bridge);
	snprintf(accel->netns, sizeof(accel->netns), "%s", request->netns ? request->netns : "");
	accel->request = *request;
	if (request->ports && *request->ports) {
		snprintf(accel->ports_text, sizeof(accel->ports_text), "%s", request->ports);
		accel->request.ports = accel->ports_text;
	} else {
		accel->request.ports = NULL;
	}
	accel->ports.request = &accel->request;
	accel->ports.path = &accel->path;
	code = netns_enter(accel->netns, &token);
	if (!code) {
		accel->ports.place = (struct port_place){ accel->netns, token.home_fd };
		code = set_up(accel);
		netns_leave(&token);
	}
	if (code) {
		accel_close(accel);
		return code;
	}
	*result = accel;
	return 0;
}

static int open_clock(void)
{
	const struct itimerspec every_second = { .it_interval.tv_sec = 1, .it_value.tv_sec = 1 };
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);

	if (fd >= 0)
		timerfd_settime(fd, 0, &every_second, NULL);
	return fd;
}

static int serve(struct accel *accel, struct pollfd *wait, void (*on_control)(struct accel *accel, int control_fd))
{
	uint64_t ticks;
	int code = 0;

	pthread_mutex_lock(&accel->lock);
	if (wait[0].revents)
		code = hear(accel);
	if (!code && wait[1].revents && read(wait[1].fd, &ticks, sizeof(ticks)) > 0)
		code = tick(accel);
	pthread_mutex_unlock(&accel->lock);
	if (!code && wait[3].revents)
		on_control(accel, wait[3].fd);
	return code;
}

static int follow(struct accel *accel, int stop_fd, int control_fd,
		  void (*on_control)(struct accel *accel, int control_fd))
{
	struct pollfd wait[] = { { .fd = accel->follow.socket, .events = POLLIN },
				 { .fd = open_clock(), .events = POLLIN },
				 { .fd = stop_fd, .events = POLLIN },
				 { .fd = control_fd, .events = POLLIN } };
	int code = 0;

	if (wait[1].fd < 0)
		return error_set(errno, "cannot make a timer: %s", strerror(errno));
	while (!code && !wait[2].revents && !undo_interrupted()) {
		int ready = poll(wait, 4, -1);

		if (ready < 0 && errno != EINTR)
			code = error_set(errno, "cannot wait for events: %s", strerror(errno));
		else if (ready > 0)
			code = serve(accel, wait, on_control);
	}
	close(wait[1].fd);
	accel_ports_shut(&accel->ports); /* what is not followed must not forward */
	return code;
}

int accel_follow(struct accel *accel, int stop_fd, int control_fd,
		 void (*on_control)(struct accel *accel, int control_fd))
{
	struct netns_token token;
	int code = netns_enter(accel->netns, &token);

	if (code)
		return code;
	accel->ports.place.home_fd = token.home_fd;
	code = follow(accel, stop_fd, control_fd, on_control);
	netns_leave(&token);
	return code;
}

static void *follow_thread(void *argument)
{
	struct accel *accel = argument;

	accel->result = accel_follow(accel, accel->stop_fd, -1, NULL);
	snprintf(accel->why, sizeof(accel->why), "%s", error_text());
	return NULL;
}

int accel_start(const struct accel_request *request, struct accel **result)
{
	struct accel *accel = NULL;
	int code = accel_open(request, &accel);

	if (code)
		return code;
	accel->stop_fd = eventfd(0, EFD_CLOEXEC);
	code = accel->stop_fd < 0 ? errno : pthread_create(&accel->thread, NULL, follow_thread, accel);
	if (code) {
		error_set(code, "%s: cannot start a thread: %s", accel->bridge, strerror(code));
		if (accel->stop_fd >= 0)
			close(accel->stop_fd);
		accel_close(accel);
		return -code;
	}
	*result = accel;
	return 0;
}

int accel_stop(struct accel *accel)
{
	const uint64_t one = 1;
	char why[512];
	int result, code;

	if (!accel)
		return 0;
	if (write(accel->stop_fd, &one, sizeof(one)) != sizeof(one))
		pthread_cancel(accel->thread);
	pthread_join(accel->thread, NULL);
	close(accel->stop_fd);
	result = accel->result;
	memcpy(why, accel->why, sizeof(why));
	code = accel_close(accel);
	return code ? code : result ? error_set(-result, "%s", why) : 0;
}
