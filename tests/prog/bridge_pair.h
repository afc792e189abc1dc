/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two bridges of the same make, side by side in a network namespace of the test's own: one plain, one to be accelerated.
 *
 * Owns: bridges, ports, the sockets at the ports' other ends, changing both alike, frames in and out. Leaves to others: which frames
 * and changes, and what is compared. Used by test_bridge_equivalence.c.
 */
#ifndef BRIDGE_PAIR_H
#define BRIDGE_PAIR_H

#include <stdint.h>

#define PAIR_PORTS 5 /* the last one is never changed: it hears fences */
#define PAIR_COLLECTOR 4
#define PAIR_MAX_BYTES 1600
#define PAIR_FENCE 0x80000000u /* in a sequence number */

enum { PAIR_PLAIN, PAIR_FAST, PAIR_WORLDS };

/* What came out of a port. */
struct pair_frame {
	uint32_t sequence;
	uint32_t bytes;	      /* with tag */
	uint64_t fingerprint; /* of all bytes, the tag where it was */
	unsigned char flow[12];
};

struct pair_heard {
	struct pair_frame *frames;
	unsigned int count, capacity;
};

struct pair {
	int socket[PAIR_WORLDS][PAIR_PORTS];
	int port_ifindex[PAIR_WORLDS][PAIR_PORTS], bridge_ifindex[PAIR_WORLDS];
	struct pair_heard heard[PAIR_WORLDS][PAIR_PORTS]; /* since pair_forget() */
	int is_up[PAIR_PORTS];
	uint32_t fence;
};

extern struct pair pair;

/* Enters new namespaces and makes all. 0, or the errno for which there are none. */
int pair_make(void);
void pair_unmake(void);

/* Names: ports "a0"…, "b0"…, bridges "bra", "brb". */
const char *pair_port_name(int world, int port);

/* Changes of both bridges. Fail the test when they cannot be made. */
void pair_set_up(int port, int up); /* of the bridge's port; waits until it forwards again */
void pair_set_mtu(int port, unsigned int mtu_bytes);
void pair_set_flag(int port, const char *attribute, int on); /* a file under brport/ */
void pair_flush(void);
/* RTM_NEWNEIGH or DELNEIGH; state NUD_*, flags NTF_*. A refusal must be that of both. */
void pair_set_entry(int port, const unsigned char address[6], int remove, unsigned int state, unsigned int flags);
/* Who is where in the bridge's table: port number, -1 unknown, -2 not at a port of ours. */
int pair_port_of(int world, const unsigned char address[6]);

/* Sends to both bridges' port from outside. */
void pair_send(int port, const void *frame, unsigned int bytes);
/* Sends a broadcast from each port that is up, waits for all of them at the collector: what was sent before has gone through. 0 when
 * one of them got lost. */
int pair_pass_fence(void);
/* Reads what is there. */
void pair_hear(void);
void pair_forget(void);
/* Whether both bridges put out the same number of frames at each port. */
int pair_counts_agree(void);

#endif
