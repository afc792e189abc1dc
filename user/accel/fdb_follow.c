// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Follows a bridge's forwarding table; see fdb_follow.h. Called by accel.c.
 *
 * Messages are taken in order, but the fast path is told only what stands at the end of them: a station that moved twice is
 * never put where it was in between.
 *
 * Refreshing. NTF_USE makes the bridge learn a station at a port, now. It cannot say "if it is still there": when the station moves
 * between our last look at the notifications and the request (some microseconds, once a minute and station), it would be put
 * back to where it was. The bridge tells of every change it makes, ours too, and tells nothing when a refresh changed nothing. So
 * when a refresh is answered by a message, the one before it says what we have undone, and it is done again at once.
 */
#include "accel/fdb_follow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/neighbour.h>
#include <linux/rtnetlink.h>

#include "accel/accel_policy.h"
#include "base/error.h"
#include "sys/bridge_fdb.h"

#define RECEIVE_BYTES 65536
#define SOCKET_BYTES (8 << 20)
#define SCANS_TO_FORGET 2 /* every CPU has adopted a removal by then */

static int join(int fd, int group)
{
	return setsockopt(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof(group));
}

int fdb_follow_open(struct fdb_follow *follow, int bridge_ifindex, struct fast_path *path)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK };
	int code, bytes = SOCKET_BYTES;

	memset(follow, 0, sizeof(*follow));
	follow->bridge_ifindex = bridge_ifindex;
	follow->path = path;
	follow->scan = path->control->scan;
	follow->refresh_s = 60;
	follow->socket = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
	if (follow->socket < 0)
		return error_set(errno, "cannot open a netlink socket: %s", strerror(errno));
	if (setsockopt(follow->socket, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)))
		setsockopt(follow->socket, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
	code = bind(follow->socket, (struct sockaddr *)&address, sizeof(address)) ||
	       join(follow->socket, RTNLGRP_NEIGH) || join(follow->socket, RTNLGRP_LINK) ||
	       join(follow->socket, RTNLGRP_TC);
	code = code ? error_set(errno, "cannot hear of changes of the bridge: %s", strerror(errno))
		    : stations_open(&follow->stations);
	if (code)
		fdb_follow_close(follow);
	return code;
}

void fdb_follow_close(struct fdb_follow *follow)
{
	if (follow->socket >= 0)
		close(follow->socket);
	follow->socket = -1;
	stations_close(&follow->stations);
}

/* What the entry says of the station goes into our copy. */
static int note_entry(struct fdb_follow *follow, const struct bridge_fdb_entry *entry)
{
	int is_allowed = accel_policy_entry(entry, follow->bridge_ifindex);
	struct station *station = stations_find(&follow->stations, entry->address);

	if (!station && !is_allowed)
		return 0;
	if (!station)
		station = stations_get(&follow->stations, entry->address);
	if (!station)
		return error_set(ENOMEM, "out of memory for a station of the bridge");
	station->is_known = (unsigned char)is_allowed;
	station->sweep = follow->stations.sweep;
	if (is_allowed) {
		station->port_ifindex = entry->port_ifindex;
		station->ages = (unsigned char)accel_policy_ages(entry);
		station->learned_scan = follow->scan - (entry->idle_s < follow->scan ? entry->idle_s : follow->scan);
	}
	stations_mark_dirty(&follow->stations, station);
	return 0;
}

/* Messages about the station that is being refreshed: the last two tell whether we have undone something. */
static void note_refreshing(struct fdb_follow *follow, const struct bridge_fdb_entry *entry)
{
	if (!follow->refreshing || memcmp(follow->refreshing->address, entry->address, 6))
		return;
	if (entry->vlan) {
		if (!entry->is_gone && follow->refreshing_vlan_count < 8)
			follow->refreshing_vlans[follow->refreshing_vlan_count++] = entry->vlan;
		return;
	}
	follow->refreshing_was_gone = follow->refreshing_is_at == 0;
	follow->refreshing_was_at = follow->refreshing_is_at;
	follow->refreshing_is_at = entry->is_gone ? 0 : entry->port_ifindex;
	follow->refreshing_heard++;
}

static int take_entry(struct fdb_follow *follow, struct nlmsghdr *message)
{
	struct bridge_fdb_entry entry;

	if (bridge_fdb_parse(message, &entry) != 1 || entry.bridge_ifindex != follow->bridge_ifindex)
		return 0;
	follow->notifications++;
	note_refreshing(follow, &entry);
	if (entry.vlan)
		return 0;
	return note_entry(follow, &entry);
}

static int take_message(struct fdb_follow *follow, struct nlmsghdr *message)
{
	const struct ifinfomsg *link;

	switch (message->nlmsg_type) {
	case RTM_NEWNEIGH:
	case RTM_DELNEIGH:
		return take_entry(follow, message);
	case RTM_DELLINK:
		if (message->nlmsg_len >= NLMSG_LENGTH(sizeof(*link))) {
			link = NLMSG_DATA(message);
			follow->port_gone(follow->context, link->ifi_index);
		}
		follow->links_changed = 1;
		return 0;
	case RTM_NEWLINK:
		follow->links_changed = 1;
		return 0;
	case RTM_NEWQDISC:
	case RTM_DELQDISC:
	case RTM_NEWTFILTER:
	case RTM_DELTFILTER:
		follow->queues_changed = 1;
		return 0;
	}
	return 0;
}

/* 1: something came, 0: nothing is there, or -errno with error text. */
static int receive(struct fdb_follow *follow)
{
	static __thread char buffer[RECEIVE_BYTES] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct sockaddr_nl from = { 0 };
	socklen_t from_bytes = sizeof(from);
	ssize_t length =
		recvfrom(follow->socket, buffer, sizeof(buffer), MSG_TRUNC, (struct sockaddr *)&from, &from_bytes);
	struct nlmsghdr *message = (struct nlmsghdr *)buffer;
	int left, result = 0;

	if (length < 0 && (errno == EAGAIN || errno == EINTR))
		return errno == EINTR;
	if (length < 0 && errno != ENOBUFS)
		return error_set(errno, "cannot hear of changes of the bridge: %s", strerror(errno));
	if (length < 0 || length > (ssize_t)sizeof(buffer)) {
		follow->overflowed = 1;
		return 1;
	}
	if (from.nl_pid) /* not the kernel */
		return 1;
	for (left = (int)length; NLMSG_OK(message, left) && !result; message = NLMSG_NEXT(message, left))
		result = take_message(follow, message);
	return result ? result : 1;
}

static void put_station(struct fdb_follow *follow, struct station *station)
{
	uint32_t slot = station->is_known ? follow->slot_of(follow->context, station->port_ifindex)
					  : HOPCAP_BRIDGE_NO_PORT;

	if (slot == HOPCAP_BRIDGE_NO_PORT && !station->is_in_kernel) {
		station->slot = slot;
		if (!station->is_known)
			stations_remove(&follow->stations, station);
		return;
	}
	if (fast_path_set_station(follow->path, station->address, slot)) {
		follow->table_full++; /* it stays with the bridge */
		return;
	}
	if (slot == HOPCAP_BRIDGE_NO_PORT && station->slot != slot)
		station->removed_scan = follow->scan;
	station->is_in_kernel = 1;
	station->is_void = 0;
	station->slot = slot;
}

static void apply(struct fdb_follow *follow)
{
	struct station *station;

	if (!follow->stations.dirty)
		return;
	while ((station = stations_next_dirty(&follow->stations)))
		put_station(follow, station);
	fast_path_commit(follow->path);
}

int fdb_follow_drain(struct fdb_follow *follow)
{
	int result;

	do
		result = receive(follow);
	while (result > 0);
	apply(follow);
	return result;
}

static int visit_dumped(const struct bridge_fdb_entry *entry, void *context)
{
	return entry->vlan ? 0 : note_entry(context, entry);
}

static void restart_dump(void *context)
{
	struct fdb_follow *follow = context;

	stations_sweep_begin(&follow->stations);
}

int fdb_follow_resync(struct fdb_follow *follow)
{
	int result;

	follow->resyncs++;
	follow->overflowed = 0;
	stations_sweep_begin(&follow->stations);
	result = bridge_fdb_dump(follow->bridge_ifindex, visit_dumped, restart_dump, follow);
	if (result < 0)
		return result;
	stations_sweep_end(&follow->stations);
	return fdb_follow_drain(follow);
}

static void mark_station(struct station *station, void *context)
{
	stations_mark_dirty(context, station);
}

void fdb_follow_ports_changed(struct fdb_follow *follow)
{
	stations_each(&follow->stations, mark_station, &follow->stations);
	apply(follow);
}

/* Refreshes one station, and does again what that may have undone. */
static int refresh(struct fdb_follow *follow, struct station *station)
{
	int port = station->port_ifindex, result;
	unsigned char address[6];

	memcpy(address, station->address, sizeof(address));
	follow->refreshing = station;
	follow->refreshing_heard = 0;
	follow->refreshing_vlan_count = 0;
	follow->refreshing_is_at = port;
	result = bridge_fdb_use(port, address);
	follow->refreshes++;
	station->learned_scan = follow->scan;
	/* Not apply(): it may remove the station. */
	while (receive(follow) > 0)
		;
	follow->refreshing = NULL;
	for (unsigned int i = 0; i < follow->refreshing_vlan_count; i++)
		bridge_fdb_delete(port, address, follow->refreshing_vlans[i]);
	if (follow->refreshing_heard >= 2 && follow->refreshing_is_at == port && follow->refreshing_was_at != port) {
		follow->reverts++;
		if (follow->refreshing_was_gone)
			bridge_fdb_delete(port, address, 0);
		else
			bridge_fdb_use(follow->refreshing_was_at, address);
	}
	apply(follow);
	return result == -ENODEV || result == -EINVAL ? 0 : result; /* the port went, or is no port any more */
}

struct due_list {
	struct fdb_follow *follow;
	unsigned char (*addresses)[6];
	unsigned int count, capacity;
	int check_void;
};

static void add_due(struct due_list *due, const struct station *station)
{
	if (due->count == due->capacity) {
		unsigned int capacity = due->capacity ? 2 * due->capacity : 64;
		void *larger = realloc(due->addresses, capacity * sizeof(*due->addresses));

		if (!larger) /* next time */
			return;
		due->addresses = larger;
		due->capacity = capacity;
	}
	memcpy(due->addresses[due->count++], station->address, 6);
}

/* A program made an entry void, and the bridge has said nothing: a sticky entry, or the frame was dropped on its way. */
static void check_void(struct fdb_follow *follow, struct station *station, const struct bridge_station *copy)
{
	if (copy->slot == station->slot) {
		station->is_void = 0;
	} else if (!station->is_void) {
		station->is_void = 1;
		follow->urgent_seen--; /* look again */
	} else {
		stations_mark_dirty(&follow->stations, station);
	}
}

static void scan_station(struct station *station, void *context)
{
	struct due_list *due = context;
	struct fdb_follow *follow = due->follow;
	uint32_t age = follow->scan - station->learned_scan;
	struct bridge_station copy;

	if (!station->is_known && station->slot == HOPCAP_BRIDGE_NO_PORT) {
		if (follow->scan - station->removed_scan < SCANS_TO_FORGET)
			return;
		if (station->is_in_kernel)
			fast_path_remove_station(follow->path, station->address);
		stations_remove(&follow->stations, station);
		return;
	}
	if (station->slot == HOPCAP_BRIDGE_NO_PORT ||
	    (!due->check_void && (!station->ages || age < follow->refresh_s)) ||
	    fast_path_get_station(follow->path, station->address, &copy))
		return;
	if (due->check_void)
		check_void(follow, station, &copy);
	/* Seen since it was learned: the bridge would have learned it from that frame. */
	if (station->ages && age >= follow->refresh_s && copy.slot == station->slot &&
	    (int32_t)(copy.seen - station->learned_scan) > 0)
		add_due(due, station);
}

int fdb_follow_scan(struct fdb_follow *follow)
{
	uint32_t urgent = __atomic_load_n(&follow->path->control->urgent, __ATOMIC_ACQUIRE);
	struct due_list due = { .follow = follow, .check_void = urgent != follow->urgent_seen };
	int result = 0;

	follow->urgent_seen = urgent;
	stations_each(&follow->stations, scan_station, &due);
	apply(follow);
	for (unsigned int i = 0; i < due.count && !result; i++) {
		struct station *station;

		result = fdb_follow_drain(follow);
		station = stations_find(&follow->stations, due.addresses[i]);
		if (!result && station && station->is_known && station->slot != HOPCAP_BRIDGE_NO_PORT)
			result = refresh(follow, station);
	}
	free(due.addresses);
	follow->scan = fast_path_next_scan(follow->path);
	return result;
}

static void count_known(struct station *station, void *context)
{
	*(unsigned int *)context += station->is_known && station->slot != HOPCAP_BRIDGE_NO_PORT;
}

unsigned int fdb_follow_count(struct fdb_follow *follow)
{
	unsigned int count = 0;

	stations_each(&follow->stations, count_known, &count);
	return count;
}
