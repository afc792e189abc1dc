/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The clone generator behind AF_PACKET: one large frame is sent now and then as a trigger, and bpf/source_tc.bpf.c
 * makes the stream from clones of it at tc egress: some 1 Mpps of 9000 bytes instead of 0.3.
 *
 * Owns: the trigger's socket, the program and its place (attached only while a stream is sent). Called by
 * port/packet.c.
 */
#ifndef PORT_PACKET_CLONES_H
#define PORT_PACKET_CLONES_H

#include "port/port.h"

struct packet_clones;

/* NULL where the kernel has no tcx (before 6.6) or something else is missing: sending is slower then, not wrong. */
struct packet_clones *packet_clones_open(const struct port_config *config);
void packet_clones_close(struct packet_clones *clones);
/* Whether this stream can be made of clones: one template with a test header, a rate instead of a list of times. */
int packet_clones_can(const struct packet_clones *clones, const struct port_stream *stream);
/* As port_ops.send. */
int packet_clones_send(struct packet_clones *clones, const struct port_stream *stream, struct port_sent *sent);
/* Error text for a send that failed with this errno after so many frames of a stream; also for the other ways of
 * AF_PACKET. Returns
 * -code. While an interface is being deleted it first is down, so the two are told as one. */
int packet_cannot_send(const char *interface, int code, uint64_t frames);

#endif
