/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * AF_XDP on a veth pair: a namespace of the test's own, a reader in a thread, a sender that waits for what it sent.
 *
 * Owns: the namespace (it goes with the process), the pair, counting what arrives. Used by test_af_xdp*.c.
 */
#ifndef XSK_UNDER_TEST_H
#define XSK_UNDER_TEST_H

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "port/port.h"
#include "port/receiver.h"
#include "test_frames.h"

#define XSK_NEAR "near"
#define XSK_FAR "far"

/* Group set-up: enters a new namespace; skips all when the kernel does not allow that. */
int xsk_enter(void **state);
/* To be called first in each test: skips it when the namespace could not be had. Makes the pair anew, both ends up. */
void xsk_make_pair(unsigned int queues, unsigned int mtu_bytes);
/* Runs a command and fails the test when it fails. */
void xsk_command(const char *format, ...) __attribute__((format(printf, 1, 2)));

struct xsk_reader {
	const struct receiver_ops *ops;
	struct receiver *receiver;
	atomic_int stop, code;
	pthread_t thread;
	int reflect;
	_Atomic uint64_t frames, bytes,
		wrong; /* wrong: not the next sequence of this stream, or not what check() wants */
	uint32_t next;
	/* May be NULL. 0: the frame is right. */
	int (*check)(void *context, uint32_t sequence, const struct receive_frame *frame);
	void *context;
	char error[512];
};

void xsk_reader_start(struct xsk_reader *reader, const char *interface, unsigned int queue, unsigned int queues);
/* Stops it and returns what receive() returned. */
int xsk_reader_stop(struct xsk_reader *reader);
void xsk_reader_close(struct xsk_reader *reader);
/* Waits until `frames` have arrived: 1, or 0 after some seconds. */
int xsk_wait(const _Atomic uint64_t *count, uint64_t frames);

struct port *xsk_port(const char *interface, unsigned int queue, unsigned int queues);
/* Sends in windows that no queue on the way overflows: the next one when the last has arrived at the reader. The
 * sequence starts anew with each, and the reader is told. Returns frames sent. */
uint64_t xsk_send_windows(struct port *port, struct port_stream *stream, unsigned int window, unsigned int windows,
			  struct xsk_reader *reader);
/* Stream of frames without end that only `stop` ends; fills *template from a built frame. */
struct port_stream xsk_stream(const struct built_frame *frame, struct port_template *template, atomic_int *stop);

#endif
