/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One of the two interfaces of the user-space forwarder: judged, its offloads changed where that was asked for, its frames steered to
 * sockets.
 *
 * Owns: facts, the program that steers (bpf/forward_xdp.bpf.c). Leaves to others: what may be taken (accel_policy.c), sockets
 * (port/xsk_pair.h). Used by forward.c only.
 */
#ifndef ACCEL_FORWARD_PORT_H
#define ACCEL_FORWARD_PORT_H

#include <stdint.h>

#include "accel/port_facts.h"
#include "map_forward.h"
#include "sys/bpf_attach.h"

struct xsk_socket;
struct forward_xdp_bpf;

struct forward_port {
	char interface[16], netns[64];
	struct bridge_link link;
	char bridge[16];			  /* that it is a port of; "" none */
	int bridge_ports;			  /* how many that one has */
	unsigned char own[HOPCAP_FORWARD_OWN][6]; /* addresses of this machine; zeros: none */
	unsigned int receive_queues, transmit_queues;
	int zero_copy; /* the driver says that it can */
	struct forward_xdp_bpf *program;
	struct bpf_attachment attachment;
};

/* All but attaching. interface and netns are set. Changes are on the undo stack. 0 or -errno with error text (one reason). */
int forward_port_open(struct forward_port *port, int set_offloads, int force_uplink);
/* Attaches the program; frames still go to the stack. */
int forward_port_attach(struct forward_port *port);
/* Frames of a queue go to this socket from now on. */
int forward_port_steer(struct forward_port *port, struct xsk_socket *socket, unsigned int queue);
void forward_port_close(struct forward_port *port);
/* Frames that went on to the stack, by enum forward_passed. */
void forward_port_passed(const struct forward_port *port, uint64_t counts[FORWARD_PASSED_COUNT]);
/* Reads its link again. 0; -ENETDOWN or -ENODEV with error text. *max_bytes: the longest frame that may leave there. */
int forward_port_check(const struct forward_port *port, unsigned int *max_bytes);

#endif
