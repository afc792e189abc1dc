/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bridge's forwarding table as we have heard of it: stations by address. Pure memory.
 *
 * Owns: the hash table, what is due. Leaves to others: hearing (fdb_follow.c), the kernel's copy (fast_path.c).
 */
#ifndef ACCEL_STATIONS_H
#define ACCEL_STATIONS_H

#include <stdint.h>

struct station {
	struct station *next;	    /* in its chain */
	struct station *next_dirty; /* in the list of those that changed */
	unsigned char address[6];
	unsigned char is_dirty;
	unsigned char is_known; /* 0: the bridge has no entry that the fast path may use */
	unsigned char ages;
	unsigned char is_void; /* the program made the kernel's copy void; confirmed by one scan */
	int port_ifindex;
	uint32_t slot;	       /* in the kernel's copy; HOPCAP_BRIDGE_NO_PORT: not there, or as one that goes */
	uint32_t removed_scan; /* with slot NO_PORT: scan in which it was told to go */
	uint32_t learned_scan; /* when the bridge last heard of it, as far as we know */
	uint32_t sweep;	       /* of the last dump that told it */
	int is_in_kernel;      /* the kernel's copy has an entry, of whatever content */
};

struct stations {
	struct station **chains;
	unsigned int chain_count, count;
	struct station *dirty;
	uint32_t sweep;
};

int stations_open(struct stations *stations); /* 0 or -ENOMEM with error text */
void stations_close(struct stations *stations);
struct station *stations_find(const struct stations *stations, const unsigned char address[6]);
/* Finds or makes; NULL: out of memory. */
struct station *stations_get(struct stations *stations, const unsigned char address[6]);
void stations_mark_dirty(struct stations *stations, struct station *station);
/* Takes the list of those that changed; each is unmarked. NULL when none is left. */
struct station *stations_next_dirty(struct stations *stations);
void stations_remove(struct stations *stations, struct station *station);
/* A dump begins; at its end, all that it did not tell are unknown and marked. */
void stations_sweep_begin(struct stations *stations);
void stations_sweep_end(struct stations *stations);
/* Calls visit for each; visit may remove the one that it was given. */
void stations_each(struct stations *stations, void (*visit)(struct station *station, void *context), void *context);

#endif
