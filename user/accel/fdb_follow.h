/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Follows a bridge's forwarding table: the kernel's notifications into the fast path's table of stations, and back what keeps used
 * entries alive in the bridge.
 *
 * Owns: the notification socket, our copy of the table (stations.h), refreshing. Leaves to others: what ports may do
 * (accel_ports.c), which entries are allowed (accel_policy.c). Runs in the bridge's namespace, in one thread.
 */
#ifndef ACCEL_FDB_FOLLOW_H
#define ACCEL_FDB_FOLLOW_H

#include <stdint.h>

#include "accel/fast_path.h"
#include "accel/stations.h"

struct fdb_follow {
	int socket;
	int bridge_ifindex;
	struct fast_path *path;
	struct stations stations;
	double refresh_s;
	uint32_t scan, urgent_seen;
	/* What was heard and is for others; they set it back. */
	int links_changed;  /* a link came, changed or went */
	int queues_changed; /* queueing disciplines or filters changed */
	int overflowed;	    /* messages were lost: read everything anew */
	/* While a station is refreshed: what was heard of it. */
	struct station *refreshing;
	int refreshing_heard, refreshing_was_gone, refreshing_was_at, refreshing_is_at;
	unsigned int refreshing_vlans[8], refreshing_vlan_count;
	/* Slot of a port, HOPCAP_BRIDGE_NO_PORT for others. */
	uint32_t (*slot_of)(void *context, int ifindex);
	/* A port went: it is to be shut at once. */
	void (*port_gone)(void *context, int ifindex);
	void *context;
	/* for status */
	uint64_t notifications, refreshes, reverts, resyncs, table_full;
};

/* Opens the socket; hears from now on. 0 or -errno with error text. */
int fdb_follow_open(struct fdb_follow *follow, int bridge_ifindex, struct fast_path *path);
void fdb_follow_close(struct fdb_follow *follow);
/* Takes all messages that are there, then brings the fast path's table up to date. 0 or -errno with error text. */
int fdb_follow_drain(struct fdb_follow *follow);
/* Reads the whole table of the bridge; the fast path must be shut while this runs, and until the socket has been drained. */
int fdb_follow_resync(struct fdb_follow *follow);
/* All stations behind this port, or all, are put where slot_of() says now. */
void fdb_follow_ports_changed(struct fdb_follow *follow);
/* Once a second: refreshes what is in use, forgets what went, repairs what was made void for nothing. */
int fdb_follow_scan(struct fdb_follow *follow);
/* Stations that the fast path knows now. */
unsigned int fdb_follow_count(struct fdb_follow *follow);

#endif
