// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * AF_XDP receive: batches of descriptors off the receive ring, buffers back onto the fill ring, frames back out of the
 * queue when the reader wants that.
 *
 * Owns: the two receivers (zero-copy and copy), the receiving loop. Leaves to others: memory and socket (xsk_queue.c),
 * which frames come here (xsk_steer.c, bpf/steer_xdp.bpf.c), what they mean (traffic/). Called by traffic/sink.c and
 * reflector.c.
 *
 * Theory (kernel: net/xdp/xsk.c).
 * - A buffer goes round: fill ring → kernel → receive ring → reader → fill ring. All are given to the fill ring when
 *   the queue is opened and each is given back with its batch, so the ring is as full as the reader is quick;
 *   fill_empty in the statistics means that it was not quick enough and a driver found nothing to receive into.
 * - The address of a received frame is that of its data; the chunk starts at the multiple of the chunk's size below.
 * - A frame of several buffers is several descriptors, all but the last marked XDP_PKT_CONTD, and the kernel shows them
 *   all at once. A batch may cut such a frame: its descriptors are then left on the ring for the next batch.
 * - When nothing comes, the reader looks on for SPIN_NS, offering its CPU to others, and then sleeps in poll(): waking
 *   it costs the kernel's side of the path a microsecond or more (in a virtual machine an interrupt between CPUs is an
 *   exit), and under load it would be woken for every few frames: asleep, it slowed down the source that fed it. An
 *   interface that goes away does not wake poll() for good; recvfrom() tells.
 * - A frame sent back keeps its chunk: it goes onto the transmit ring and returns over the completion ring, from where
 *   it goes to the fill ring. Where the way out is blocked the frame is dropped and counted, so that the receiving side
 *   never waits.
 */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/error.h"
#include "port/pacer.h"
#include "port/receiver.h"
#include "port/xsk_queue.h"
#include "port/xsk_steer.h"
#include "sys/rtnl.h"

#define BATCH 64
#define CACHE_LINE_BYTES 64
#define LOOKS 256 /* at an empty ring, before the CPU is offered to others */
#define SPIN_NS 1000000
#define SLEEP_MS 50
#define DRAIN_TRIES 200

struct receiver {
	struct xsk_queue *queue;
	struct xsk_steer *steer;
	int is_steered, sends_back;
	unsigned int sent_out; /* chunks that are being sent back */
	struct xdp_statistics
		before; /* the socket's counts when this receiver was opened: it may have had another one */
	_Atomic uint64_t returned, return_refused; /* read by others while the receiver runs */
	char text[384];
	struct receive_frame frames[BATCH];
	unsigned char send_back[BATCH];
	uint32_t parts[BATCH]; /* descriptors of each frame */
};

static uint64_t chunk_of(const struct xsk_queue *queue, uint64_t address)
{
	return address & ~(uint64_t)(queue->chunk_bytes - 1);
}

/* Moves what came back from sending to the fill ring. */
static void collect_returned(struct receiver *receiver)
{
	struct xsk_queue *queue = receiver->queue;
	uint32_t from, to, count = xsk_ring_cons__peek(&queue->completion, queue->completion.size, &from);

	if (!count)
		return;
	if (xsk_ring_prod__reserve(&queue->fill, count, &to) == count) {
		for (uint32_t i = 0; i < count; i++)
			*xsk_ring_prod__fill_addr(&queue->fill, to + i) =
				chunk_of(queue, *xsk_ring_cons__comp_addr(&queue->completion, from + i));
		xsk_ring_prod__submit(&queue->fill, count);
		receiver->sent_out -= count;
	}
	xsk_ring_cons__release(&queue->completion, count);
}

static int is_gone(int code)
{
	return code == ENXIO || code == ENETDOWN || code == ENODEV || code == EBADF;
}

static int gone(const struct receiver *receiver)
{
	struct rtnl_link link;
	int code = rtnl_link_get_index(receiver->queue->ifindex, &link); /* it goes down before it goes away */

	return error_set(ENETDOWN, "%s: AF_XDP stopped receiving on queue %u: the interface %s",
			 receiver->queue->interface, receiver->queue->queue, code ? "is gone" : "went down");
}

static int kick_transmit(struct receiver *receiver)
{
	struct xsk_queue *queue = receiver->queue;

	if (!queue->busy_poll && !xsk_ring_prod__needs_wakeup(&queue->transmit))
		return 0;
	if (sendto(queue->fd, NULL, 0, MSG_DONTWAIT, NULL, 0) < 0) {
		if (is_gone(errno))
			return gone(receiver);
		if (errno != EAGAIN && errno != EBUSY && errno != ENOBUFS && errno != EINTR)
			return xsk_queue_error(queue, XSK_STEP_SEND, errno);
		if (errno == EBUSY && !queue->zero_copy) /* the driver dropped the last one it took */
			atomic_fetch_add_explicit(&receiver->return_refused, 1, memory_order_relaxed);
	}
	return 0;
}

/* Wakes the driver's receive side, or polls it ourselves. */
static int wake_receive(struct receiver *receiver)
{
	struct xsk_queue *queue = receiver->queue;

	if (recvfrom(queue->fd, NULL, 0, MSG_DONTWAIT, NULL, NULL) < 0 && is_gone(errno))
		return gone(receiver);
	return 0;
}

/* The CPU that received a frame wrote it last: fetching it from there takes longer than all that is done with it, so the frames
 * of a batch are fetched side by side. */
static void prefetch_headers(const unsigned char *data, uint32_t bytes)
{
	__builtin_prefetch(data);
	if (bytes > CACHE_LINE_BYTES)
		__builtin_prefetch(data + CACHE_LINE_BYTES);
}

/* Cuts `count` descriptors from `index` on into frames; returns the number of frames, *used that of descriptors in
 * them. A frame of more descriptors than a batch is never made by the kernel; it is taken off the ring as one that
 * cannot be read. */
static unsigned int gather(struct receiver *receiver, uint32_t index, uint32_t count, uint32_t *used)
{
	struct xsk_queue *queue = receiver->queue;
	unsigned int frames = 0;
	uint32_t start = 0, whole = 0;

	*used = 0;
	for (uint32_t i = 0; i < count; i++) {
		const struct xdp_desc *descriptor = xsk_ring_cons__rx_desc(&queue->receive, index + i);

		if (i == start) {
			prefetch_headers(queue->area + descriptor->addr, descriptor->len);
			receiver->frames[frames].data = queue->area + descriptor->addr;
			receiver->frames[frames].data_bytes = descriptor->len;
			whole = 0;
		}
		whole += descriptor->len;
		if (descriptor->options & XDP_PKT_CONTD)
			continue;
		receiver->frames[frames].bytes = whole;
		receiver->parts[frames++] = i + 1 - start;
		start = *used = i + 1;
	}
	return frames;
}

/* Puts the chunks of one frame onto the transmit ring: 1, or 0 when there is no room. */
static int put_back_out(struct receiver *receiver, uint32_t index, uint32_t parts)
{
	struct xsk_queue *queue = receiver->queue;
	uint32_t to;

	if (!receiver->sends_back) {
		receiver->sends_back = xsk_queue_claim_transmit(queue);
		if (!receiver->sends_back)
			return 0;
	}
	if (xsk_ring_prod__reserve(&queue->transmit, parts, &to) != parts)
		return 0;
	for (uint32_t i = 0; i < parts; i++)
		*xsk_ring_prod__tx_desc(&queue->transmit, to + i) = *xsk_ring_cons__rx_desc(&queue->receive, index + i);
	xsk_ring_prod__submit(&queue->transmit, parts);
	receiver->sent_out += parts;
	return 1;
}

/* Gives the chunks of one frame to the fill ring, from `to` on; returns the next place. */
static uint32_t refill(struct xsk_queue *queue, uint32_t index, uint32_t parts, uint32_t to)
{
	for (uint32_t i = 0; i < parts; i++)
		*xsk_ring_prod__fill_addr(&queue->fill, to++) =
			chunk_of(queue, xsk_ring_cons__rx_desc(&queue->receive, index + i)->addr);
	return to;
}

/* After the reader: each frame goes back out or its chunks to the fill ring. Returns how many frames go out. */
static unsigned int dispose(struct receiver *receiver, uint32_t index, unsigned int frames, uint32_t used)
{
	struct xsk_queue *queue = receiver->queue;
	unsigned int returned = 0, refused = 0;
	uint32_t to, first, kept = 0;

	/* There is always room for all (xsk_queue.h); what is not needed is given up again. */
	if (xsk_ring_prod__reserve(&queue->fill, used, &first) != used)
		return 0;
	to = first;
	for (unsigned int i = 0; i < frames; index += receiver->parts[i++]) {
		if (receiver->send_back[i]) {
			if (put_back_out(receiver, index, receiver->parts[i])) {
				returned++;
				continue;
			}
			refused++;
		}
		to = refill(queue, index, receiver->parts[i], to);
	}
	kept = to - first;
	queue->fill.cached_prod -= used - kept;
	xsk_ring_prod__submit(&queue->fill, kept);
	if (returned)
		atomic_fetch_add_explicit(&receiver->returned, returned, memory_order_relaxed);
	if (refused)
		atomic_fetch_add_explicit(&receiver->return_refused, refused, memory_order_relaxed);
	return returned;
}

/* One batch. Returns the number of descriptors that were on the ring, or -errno with error text. */
static int take_batch(struct receiver *receiver, receive_function take, void *context)
{
	struct xsk_queue *queue = receiver->queue;
	uint32_t index, used, count = xsk_ring_cons__peek(&queue->receive, BATCH, &index);
	unsigned int frames;
	int code = 0;

	if (!count)
		return 0;
	frames = gather(receiver, index, count, &used);
	if (!used && count == BATCH) { /* no end of the frame within a batch: give its buffers back unread */
		receiver->parts[0] = used = count;
		receiver->send_back[0] = 0;
		dispose(receiver, index, 1, used);
	} else if (used) {
		memset(receiver->send_back, 0, frames);
		take(context, receiver->frames, receiver->send_back, frames);
		if (dispose(receiver, index, frames, used))
			code = kick_transmit(receiver);
	}
	if (count > used)
		xsk_ring_cons__cancel(&queue->receive, count - used);
	if (used)
		xsk_ring_cons__release(&queue->receive, used);
	return code ? code : (int)used;
}

/* Nothing came: looks on, offers the CPU, sleeps. *since_ns: when the ring was first found empty, 0 before that. */
static int idle(struct receiver *receiver, unsigned int *looks, uint64_t *since_ns)
{
	struct pollfd wait = { .fd = receiver->queue->fd, .events = POLLIN };
	uint64_t now_ns;
	int code;

	if (receiver->queue->busy_poll || xsk_ring_prod__needs_wakeup(&receiver->queue->fill))
		return wake_receive(receiver);
	if (++*looks % LOOKS)
		return 0;
	now_ns = pacer_now_ns();
	if (!*since_ns)
		*since_ns = now_ns;
	if (now_ns - *since_ns < SPIN_NS) {
		sched_yield();
		return 0;
	}
	code = poll(&wait, 1, SLEEP_MS);
	if (code > 0 && !(wait.revents & (POLLERR | POLLHUP | POLLNVAL)))
		return 0;
	if (code < 0 && errno == EINTR)
		return 0;
	return wake_receive(receiver);
}

/* What was on the ring when the stop came still counts. */
static int take_rest(struct receiver *receiver, receive_function take, void *context)
{
	int code = 1;

	for (unsigned int left = receiver->queue->entries / BATCH + 1; left && code > 0; left--)
		code = take_batch(receiver, take, context);
	return code < 0 ? code : 0;
}

static int xsk_receive(struct receiver *receiver, atomic_int *stop, receive_function take, void *context)
{
	unsigned int looks = 0;
	uint64_t since_ns = 0;
	int code = 0;

	while (!atomic_load_explicit(stop, memory_order_relaxed)) {
		code = take_batch(receiver, take, context);
		if (code < 0)
			break;
		if (receiver->sent_out) {
			collect_returned(receiver);
			/* The kernel takes a part at a time. */
			if (receiver->sent_out && !code)
				code = kick_transmit(receiver);
			if (code < 0)
				break;
		}
		if (code) {
			looks = 0;
			since_ns = 0;
			continue;
		}
		code = idle(receiver, &looks, &since_ns);
		if (code)
			break;
	}
	return code < 0 ? code : take_rest(receiver, take, context);
}

static void xsk_close(struct receiver *receiver)
{
	if (!receiver)
		return;
	if (receiver->is_steered)
		xsk_steer_release(receiver->steer, receiver->queue->queue);
	for (int i = 0; receiver->sent_out && i < DRAIN_TRIES && !kick_transmit(receiver); i++) {
		collect_returned(receiver);
		if (receiver->sent_out)
			poll(NULL, 0, 1);
	}
	if (receiver->steer)
		xsk_steer_close(receiver->steer);
	if (receiver->queue)
		xsk_queue_close(receiver->queue, XSK_SIDE_RECEIVE);
	free(receiver);
}

static int xsk_open(const struct port_config *config, int zero_copy, struct receiver **result)
{
	struct receiver *receiver = calloc(1, sizeof(*receiver));
	socklen_t length = sizeof(receiver->before);
	int code;

	if (!receiver)
		return error_set(ENOMEM, "%s: out of memory", config->interface);
	code = xsk_steer_open(config, zero_copy, &receiver->steer);
	if (!code)
		code = xsk_queue_open(config, zero_copy, XSK_SIDE_RECEIVE, &receiver->queue);
	if (!code)
		code = xsk_steer_bind(receiver->steer, receiver->queue->socket, receiver->queue->queue);
	if (code) {
		xsk_close(receiver);
		return code;
	}
	receiver->is_steered = 1;
	getsockopt(receiver->queue->fd, SOL_XDP, XDP_STATISTICS, &receiver->before, &length);
	xsk_queue_describe(receiver->queue, XSK_SIDE_RECEIVE, receiver->text, sizeof(receiver->text));
	if (!xsk_steer_is_native(receiver->steer))
		strncat(receiver->text, ", generic XDP", sizeof(receiver->text) - strlen(receiver->text) - 1);
	*result = receiver;
	return 0;
}

static int open_zero_copy(const struct port_config *config, struct receiver **receiver)
{
	return xsk_open(config, 1, receiver);
}

static int open_copy(const struct port_config *config, struct receiver **receiver)
{
	return xsk_open(config, 0, receiver);
}

static const char *xsk_describe(const struct receiver *receiver)
{
	return receiver->text;
}

static void xsk_statistics(struct receiver *receiver, struct receive_statistics *statistics)
{
	const struct xdp_statistics *before = &receiver->before;
	struct xdp_statistics kernel = *before;
	socklen_t length = sizeof(kernel);

	memset(statistics, 0, sizeof(*statistics));
	getsockopt(receiver->queue->fd, SOL_XDP, XDP_STATISTICS, &kernel, &length);
	statistics->dropped = kernel.rx_dropped - before->rx_dropped;
	statistics->ring_full = kernel.rx_ring_full - before->rx_ring_full;
	statistics->fill_empty = kernel.rx_fill_ring_empty_descs - before->rx_fill_ring_empty_descs;
	statistics->invalid = kernel.rx_invalid_descs - before->rx_invalid_descs;
	statistics->returned = atomic_load_explicit(&receiver->returned, memory_order_relaxed);
	statistics->return_refused = atomic_load_explicit(&receiver->return_refused, memory_order_relaxed);
	statistics->unbound = xsk_steer_unbound(receiver->steer);
}

const struct receiver_ops receiver_xsk_zero_copy = {
	.kind = RUN_PORT_AF_XDP_ZC,
	.open = open_zero_copy,
	.receive = xsk_receive,
	.statistics = xsk_statistics,
	.describe = xsk_describe,
	.close = xsk_close,
};

const struct receiver_ops receiver_xsk_copy = {
	.kind = RUN_PORT_AF_XDP_COPY,
	.open = open_copy,
	.receive = xsk_receive,
	.statistics = xsk_statistics,
	.describe = xsk_describe,
	.close = xsk_close,
};
