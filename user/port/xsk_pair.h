/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One queue of each of two interfaces, in one registered memory: a frame goes from one to the other as a descriptor, its bytes stay
 * where they are.
 *
 * Owns: memory, both sockets and their rings, free chunks, the mode that was got. Leaves to others: what goes where
 * (accel/forward_loop.c), steering frames to the sockets (accel/forward_port.c). Used by one thread.
 *
 * Theory. One registration of memory has one mode, that of the interface that was bound first, so both are zero-copy or both copy. A
 * chunk is always in one place: on a fill ring or with that kernel side, on a receive ring, on a transmit ring or with that side until
 * the completion ring tells, or on the stack of free chunks. Frames are of one chunk: a larger MTU is refused before (xsk_pair_mtu()).
 */
#ifndef PORT_XSK_PAIR_H
#define PORT_XSK_PAIR_H

#include <stdint.h>

#include <xdp/xsk.h>

#include "port/xsk_memory.h"

#define XSK_PAIR_ENTRIES 2048u			/* of each ring */
#define XSK_PAIR_CHUNKS (4u * XSK_PAIR_ENTRIES) /* both fill rings full, and as many on their way out */

struct xsk_pair_place {
	const char *interface, *netns; /* netns: "" or NULL the caller's */
	int ifindex;
	unsigned int mtu_bytes;
};

struct xsk_pair_end {
	struct xsk_socket *socket;
	int fd;
	unsigned int outstanding; /* chunks on the transmit ring or with the kernel */
	unsigned int unfilled;	  /* chunks that the fill ring lacks */
	struct xsk_ring_prod fill, transmit;
	struct xsk_ring_cons completion, receive;
	char interface[16];
};

struct xsk_pair {
	struct xsk_memory memory;
	unsigned char *area; /* address 0 */
	unsigned int chunk_bytes;
	int zero_copy, busy_poll;
	struct xsk_pair_end ends[2];
	unsigned int free_count;
	uint64_t free_chunks[XSK_PAIR_CHUNKS];
};

/* Largest MTU whose frames, with two tags, are of one chunk. */
unsigned int xsk_pair_mtu(void);
/* Binds queue `queue` of both. 0 or -errno with error text. */
int xsk_pair_open(const struct xsk_pair_place places[2], unsigned int queue, int zero_copy, int busy_poll,
		  struct xsk_pair **pair);
void xsk_pair_close(struct xsk_pair *pair); /* NULL is fine */

/* Takes back what was sent, and gives free chunks to the fill rings. */
void xsk_pair_recycle(struct xsk_pair *pair);
/* Makes the kernel send what is on an end's transmit ring. 0; -ENETDOWN with error text: the interface is gone or down. */
int xsk_pair_kick(struct xsk_pair *pair, int end);
/* Wakes the kernel's receive side where it waits for that, or polls the driver. 0 or -ENETDOWN with error text. */
int xsk_pair_wake(struct xsk_pair *pair, int end);
/* The kernel's count of frames that it could not hand over: no chunk, a full ring, too long. */
uint64_t xsk_pair_lost(const struct xsk_pair *pair, int end);

#endif
