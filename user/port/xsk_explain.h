/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why AF_XDP could not be had, in one line: what failed, on which interface, why, what to do.
 *
 * Pure: facts that were gathered after the failure go in, text comes out. So drivers that are not at hand can be
 * tested. The kernel answers with a handful of errnos for dozens of reasons; the rules are those of net/xdp/xsk.c,
 * xsk_buff_pool.c and xdp_umem.c, and what drivers document. Called by port/xsk_queue.c.
 */
#ifndef PORT_XSK_EXPLAIN_H
#define PORT_XSK_EXPLAIN_H

#include <stddef.h>
#include <stdint.h>

#include "sys/netdev_features.h"

enum xsk_step {
	XSK_STEP_SOCKET,   /* socket() */
	XSK_STEP_REGISTER, /* memory and its rings */
	XSK_STEP_BIND,	   /* rings of the socket and bind() */
	XSK_STEP_MODE,	   /* all went well, but it is not zero-copy */
	XSK_STEP_SEND,	   /* sendto() while frames are sent */
	XSK_STEP_BUSY_POLL,
};

struct xsk_facts {
	enum xsk_step step;
	int code; /* errno, positive; 0 for XSK_STEP_MODE */
	const char *interface;
	const char *driver; /* "" not known */
	int is_gone;	    /* there is no such interface any more */
	int zero_copy;	    /* asked for */
	int transmit;	    /* frames are to be sent, not only received */
	unsigned int queue, receive_queues, transmit_queues;
	int features_known; /* Linux 6.3 */
	struct netdev_features features;
	int virtio_known;	  /* virtio_features was read */
	uint64_t virtio_features; /* negotiated bits of a virtio device */
	unsigned int mtu_bytes, chunk_bytes;
	uint32_t program_id; /* XDP program on the interface; 0 none */
	int program_is_generic;
	uint64_t bytes;		/* of memory to register */
	uint64_t memlock_bytes; /* RLIMIT_MEMLOCK; UINT64_MAX none */
};

/* Largest MTU whose frames zero-copy holds in one chunk: 256 bytes are the kernel's, the rest is used in units of 128,
 * and Ethernet header, two tags and FCS belong to the frame. */
unsigned int xsk_zero_copy_mtu(unsigned int chunk_bytes);

/* Returns buffer. */
const char *xsk_explain(const struct xsk_facts *facts, char *buffer, size_t size);

#endif
