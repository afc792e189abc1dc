/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The program that gives test frames to AF_XDP sockets (bpf/steer_xdp.bpf.c), one an interface, shared by all receivers
 * and zero-copy ports of this process.
 *
 * Owns: loading, attaching, the map of sockets, the counts of queues that have none. Somebody else's program is never
 * displaced. Open and close take a lock and run in the namespace of the interface.
 */
#ifndef PORT_XSK_STEER_H
#define PORT_XSK_STEER_H

#include <stdint.h>

#include <xdp/xsk.h>

#include "port/port.h"

struct xsk_steer;

/* native: the driver must run it (zero-copy); else generic XDP will do where the driver cannot. 0 or -errno with error
 * text: -EBUSY when another program is attached. */
int xsk_steer_open(const struct port_config *config, int native, struct xsk_steer **steer);
void xsk_steer_close(struct xsk_steer *steer);
/* Frames of a queue go to this socket from now on; 0 or -errno with error text. */
int xsk_steer_bind(struct xsk_steer *steer, struct xsk_socket *socket, unsigned int queue);
void xsk_steer_release(struct xsk_steer *steer, unsigned int queue);
int xsk_steer_is_native(const struct xsk_steer *steer);
/* Test frames that came on queues without a socket. */
uint64_t xsk_steer_unbound(const struct xsk_steer *steer);

#endif
