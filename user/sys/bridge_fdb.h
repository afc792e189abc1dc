/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The forwarding tables of bridges over rtnetlink: reading, hearing of changes, keeping entries alive.
 *
 * Owns: messages and their attributes. Leaves to others: what follows from an entry (accel/). Runs in the namespace of the
 * calling thread.
 */
#ifndef SYS_BRIDGE_FDB_H
#define SYS_BRIDGE_FDB_H

#include <linux/netlink.h>
#include <stdint.h>

struct bridge_fdb_entry {
	int is_gone; /* the message says that it was removed */
	int bridge_ifindex, port_ifindex;
	unsigned char address[6];
	unsigned int vlan;	 /* 0: the table of a bridge without VLAN filtering */
	unsigned int state;	 /* NUD_*: PERMANENT the bridge's own, NOARP static, REACHABLE or STALE learned */
	unsigned int flags;	 /* NTF_* */
	unsigned int more_flags; /* NDA_FLAGS_EXT */
	unsigned int idle_s;	 /* since the bridge last learned it */
};

/* One message: 1 filled, 0 no entry of a bridge, -EBADMSG. Pure. */
int bridge_fdb_parse(struct nlmsghdr *message, struct bridge_fdb_entry *entry);

/* Calls visit for every entry of a bridge; `restart` is called when the kernel says that the table changed meanwhile and all is
 * told again. 0 or -errno with error text; visit's own failure ends it. */
int bridge_fdb_dump(int bridge_ifindex, int (*visit)(const struct bridge_fdb_entry *entry, void *context),
		    void (*restart)(void *context), void *context);
/* What learning would do with a frame from this address at this port now (NTF_USE). 0 or -errno with error text. Where the port has
 * VLANs although the bridge does not filter by them, the kernel adds an entry for each of them, too: delete those. */
int bridge_fdb_use(int port_ifindex, const unsigned char address[6]);
/* Removes an entry of the table of a VLAN (0: of all tables of this port); 0 also when there is none. */
int bridge_fdb_delete(int port_ifindex, const unsigned char address[6], unsigned int vlan);

#endif
