/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory that is registered for AF_XDP, and the queues that live in it. Used by xsk_queue.c, which has the theory and
 * the lock, and by xsk_pair.c, which needs none: none of these functions takes it.
 */
#ifndef PORT_XSK_MEMORY_H
#define PORT_XSK_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include <xdp/xsk.h>

struct xsk_memory {
	void *area;
	size_t bytes;	     /* registered */
	size_t mapped_bytes; /* a multiple of the huge page's size when those are used */
	int huge_pages;
	struct xsk_umem *umem;		  /* NULL: not registered */
	struct xsk_ring_prod *first_fill; /* of the queue that it was registered through */
	struct xsk_ring_cons *first_completion;
	int has_rings; /* 1: those two are still ours to unmap; 0: a bound socket took them over */
};

/* Huge pages when there are any, else normal ones. 0 or -ENOMEM, without error text. */
int xsk_memory_map(struct xsk_memory *memory, size_t bytes);
/* Registers it; fill and completion belong to the first queue. 0 or -errno, without error text. */
int xsk_memory_register(struct xsk_memory *memory, unsigned int chunk_bytes, unsigned int entries,
			struct xsk_ring_prod *fill, struct xsk_ring_cons *completion);
/* Ends the registration; no socket may be left. */
void xsk_memory_unregister(struct xsk_memory *memory);
void xsk_memory_unmap(struct xsk_memory *memory);

#endif
