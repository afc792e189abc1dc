// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * AF_XDP transmit: frames in shared memory, descriptors in a ring, one kick a batch.
 *
 * Owns: UMEM, rings and socket of queue 0, transmit side, copy mode. Leaves to others: receive (traffic is counted in the
 * kernel), zero-copy. Rules of the interface that bite, and what is done here (kernel: net/xdp/xsk.c):
 * - A frame belongs to the kernel from submit until its address comes back on the completion ring; a free list holds the
 *   rest. Frames sent = descriptors that the kernel took off the ring.
 * - In copy mode one sendto() sends at most 32 descriptors (more with XDP_MAX_TX_SKB_BUDGET, kernel 6.17) and then says
 *   EAGAIN although it made progress: EAGAIN, EBUSY and ENOBUFS are no errors, ring progress decides.
 * - The completion ring must be drained, or the kernel stops taking descriptors.
 * - A default bind does not fail for lack of zero-copy; copy mode is asked for by name here.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <xdp/xsk.h>

#include "base/error.h"
#include "port/pacer.h"
#include "port/port.h"

#ifndef SOL_XDP
#define SOL_XDP 283
#endif
#ifndef XDP_MAX_TX_SKB_BUDGET
#define XDP_MAX_TX_SKB_BUDGET 9 /* kernel 6.17; older ones answer ENOPROTOOPT and keep 32 */
#endif

#define CHUNK_BYTES 4096
#define CHUNKS 2048
#define RING_ENTRIES 1024
#define BATCH 64
#define DRAIN_NS 200000000ull

struct port {
	char interface[16];
	void *memory;
	struct xsk_umem *umem;
	struct xsk_socket *socket;
	struct xsk_ring_prod fill, transmit;
	struct xsk_ring_cons completion;
	uint64_t free_chunks[CHUNKS];
	unsigned int free_count;
};

static void xsk_close(struct port *port)
{
	if (!port)
		return;
	if (port->socket)
		xsk_socket__delete(port->socket);
	if (port->umem)
		xsk_umem__delete(port->umem);
	if (port->memory)
		munmap(port->memory, (size_t)CHUNK_BYTES * CHUNKS);
	free(port);
}

static int create(struct port *port)
{
	const struct xsk_umem_config umem = { .fill_size = RING_ENTRIES,
					      .comp_size = RING_ENTRIES,
					      .frame_size = CHUNK_BYTES };
	const struct xsk_socket_config socket = { .tx_size = RING_ENTRIES,
						  .libxdp_flags = XSK_LIBXDP_FLAGS__INHIBIT_PROG_LOAD,
						  .bind_flags = XDP_COPY | XDP_USE_NEED_WAKEUP };
	int result, budget = RING_ENTRIES;

	port->memory =
		mmap(NULL, (size_t)CHUNK_BYTES * CHUNKS, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (port->memory == MAP_FAILED) {
		port->memory = NULL;
		return error_set(ENOMEM, "%s: no memory for AF_XDP frames", port->interface);
	}
	result = xsk_umem__create(&port->umem, port->memory, (uint64_t)CHUNK_BYTES * CHUNKS, &port->fill,
				  &port->completion, &umem);
	if (result)
		return error_set(-result, "%s: cannot register AF_XDP memory: %s%s", port->interface, strerror(-result),
				 result == -ENOBUFS ? "; raise `ulimit -l`" : "");
	result = xsk_socket__create(&port->socket, port->interface, 0, port->umem, NULL, &port->transmit, &socket);
	if (result)
		return error_set(-result, "%s: cannot bind AF_XDP to queue 0: %s%s", port->interface, strerror(-result),
				 result == -EBUSY ? "; another program holds it" : "");
	setsockopt(xsk_socket__fd(port->socket), SOL_XDP, XDP_MAX_TX_SKB_BUDGET, &budget, sizeof(budget));
	return 0;
}

static int xsk_open(const struct port_config *config, struct port **result)
{
	const char *interface = config->interface;
	struct port *port = calloc(1, sizeof(*port));
	int code;

	if (!port)
		return error_set(ENOMEM, "%s: out of memory", interface);
	strncpy(port->interface, interface, sizeof(port->interface) - 1);
	code = create(port);
	if (code) {
		xsk_close(port);
		return code;
	}
	for (unsigned int i = 0; i < CHUNKS; i++)
		port->free_chunks[i] = (uint64_t)i * CHUNK_BYTES;
	port->free_count = CHUNKS;
	*result = port;
	return 0;
}

static void collect_completions(struct port *port)
{
	uint32_t index, count = xsk_ring_cons__peek(&port->completion, RING_ENTRIES, &index);

	for (uint32_t i = 0; i < count; i++)
		port->free_chunks[port->free_count++] = *xsk_ring_cons__comp_addr(&port->completion, index + i);
	if (count)
		xsk_ring_cons__release(&port->completion, count);
}

static int kick(struct port *port)
{
	if (!xsk_ring_prod__needs_wakeup(&port->transmit))
		return 0;
	if (sendto(xsk_socket__fd(port->socket), NULL, 0, MSG_DONTWAIT, NULL, 0) >= 0 || errno == EAGAIN ||
	    errno == EBUSY || errno == ENOBUFS || errno == EINTR)
		return 0;
	return error_set(errno, "%s: AF_XDP cannot send: %s", port->interface, strerror(errno));
}

/* Puts up to `count` frames on the ring; returns how many. */
static unsigned int submit(struct port *port, const struct port_stream *stream, unsigned int count, uint64_t now_ns,
			   uint64_t first_sequence)
{
	uint32_t index;

	if (count > port->free_count)
		count = port->free_count;
	if (!count || xsk_ring_prod__reserve(&port->transmit, count, &index) != count)
		return 0;
	for (unsigned int i = 0; i < count; i++) {
		struct xdp_desc *descriptor = xsk_ring_prod__tx_desc(&port->transmit, index + i);
		uint64_t sequence = first_sequence + i, chunk = port->free_chunks[--port->free_count];
		int stamped = stream->stamp_interval && !(sequence & (stream->stamp_interval - 1));
		unsigned char *frame = xsk_umem__get_data(port->memory, chunk);

		port_number_frame(frame + stream->templates->header_offset, (uint32_t)sequence, stamped ? now_ns : 0);
		descriptor->addr = chunk;
		descriptor->len = stream->templates->frame_bytes;
		descriptor->options = 0;
	}
	xsk_ring_prod__submit(&port->transmit, count);
	return count;
}

static uint32_t untaken(const struct port *port)
{
	return *port->transmit.producer - __atomic_load_n(port->transmit.consumer, __ATOMIC_ACQUIRE);
}

/* Waits until the kernel has taken all descriptors and given their frames back. */
static int drain(struct port *port)
{
	uint64_t deadline_ns = pacer_now_ns() + DRAIN_NS;
	int result = 0;

	while (!result && port->free_count < CHUNKS && pacer_now_ns() < deadline_ns) {
		if (untaken(port))
			result = kick(port);
		collect_completions(port);
	}
	return result;
}

static int xsk_send(struct port *port, const struct port_stream *stream, struct port_sent *sent)
{
	uint64_t submitted = 0;
	struct pacer pacer;
	int result = 0, drained;

	memset(sent, 0, sizeof(*sent));
	for (unsigned int i = 0; i < CHUNKS; i++)
		memcpy(xsk_umem__get_data(port->memory, (uint64_t)i * CHUNK_BYTES), stream->templates->frame, stream->templates->frame_bytes);
	pacer_start(&pacer, stream);
	while (!result && !atomic_load(stream->stop) && submitted < stream->frames) {
		uint64_t now_ns = pacer_now_ns(), left = stream->frames - submitted;
		unsigned int due = pacer_due(&pacer, now_ns, left < BATCH ? (unsigned int)left : BATCH, sent);

		while (due && !result && !atomic_load(stream->stop)) {
			unsigned int done = submit(port, stream, due, now_ns, submitted);

			submitted += done;
			due -= done;
			result = kick(port);
			collect_completions(port);
		}
	}
	drained = drain(port);
	sent->frames = submitted - untaken(port);
	return result ? result : drained;
}

const struct port_ops port_xsk = {
	.kind = RUN_PORT_AF_XDP_COPY,
	.max_frame_bytes = 3840, /* chunk less the room that the kernel keeps */
	.open = xsk_open,
	.send = xsk_send,
	.close = xsk_close,
};
