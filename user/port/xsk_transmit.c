// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * AF_XDP transmit: frames in shared memory, descriptors in a ring, one kick a batch.
 *
 * Owns: the two ports (zero-copy and copy), the sending loop, knowing when the kernel does not go on. Leaves to others:
 * memory and socket (xsk_queue.c), the bytes of frames (xsk_frames.c), when to send (pacer.c). Called by traffic/.
 *
 * Theory (kernel: net/xdp/xsk.c).
 * - A frame belongs to the kernel from submit until all its chunks come back on the completion ring. Frames sent =
 *   frames that the kernel took off the transmit ring. When it goes on after it was given up on, those that it had not
 *   taken leave late, as stragglers of their stream, before the next one starts.
 * - In copy mode sendto() makes a socket buffer of each frame and gives it to the driver. It says EAGAIN when it did
 *   some and there is more (32 a call, or the transmit budget), when the socket's send buffer or the completion ring is
 *   full, or when the driver had no room: none of these is a failure, and what tells is the ring. EBUSY: the last frame
 *   that was taken was dropped by the driver: it was offered and refused, and is not offered again.
 * - In zero-copy sendto() wakes the driver, which fetches from the ring itself. Some drivers send from XDP's own rings,
 *   which exist while an XDP program is attached (i40e, ixgbe, igb …): where there is none, steer_xdp is attached,
 *   which lets everything pass as long as there is no receiver. A program that is there already will do.
 * - Stuck: descriptors are outstanding, we want to send and cannot, and for STUCK_NS nothing was taken and nothing came
 *   back. Not a slow path: a path of one frame a second moves once a second.
 * - Metadata of sent frames (checksum by the device, time of departure; Linux 6.8) is not asked for, even where the
 *   driver offers it: the checksum costs two additions here, less than the 16 bytes that ask for it; and the time comes
 *   in the NIC's clock (in copy mode: TAI, when the socket buffer is freed), which cannot be compared with the clock
 *   that points stamp with. Its room in front of every frame would also have to be registered with the memory, which
 *   libxdp 1.3.1 cannot.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/error.h"
#include "port/pacer.h"
#include "port/port.h"
#include "port/xsk_queue.h"
#include "port/xsk_steer.h"
#include "wire_test_frame.h"

#define BATCH 64
#define STUCK_NS 2000000000ull
#define DRAIN_NS 200000000ull

struct port {
	struct xsk_queue *queue;
	struct xsk_steer *steer; /* zero-copy: so that there is a program; NULL: there was one, or none is needed */
	char text[384];
};

/* One call of send(). */
struct sending {
	struct xsk_queue *queue;
	const struct port_stream *stream;
	struct port_sent *sent;
	uint64_t submitted; /* frames */
	uint64_t bytes;
	int stamps;
	uint32_t stamp_mask;
	uint32_t last_consumer; /* when the kernel was last seen to go on */
	unsigned int last_outstanding;
	uint64_t last_progress_ns;
};

static void xsk_close(struct port *port)
{
	if (!port)
		return;
	if (port->steer)
		xsk_steer_close(port->steer);
	if (port->queue)
		xsk_queue_close(port->queue, XSK_SIDE_TRANSMIT);
	free(port);
}

static int xsk_open(const struct port_config *config, int zero_copy, struct port **result)
{
	struct port *port = calloc(1, sizeof(*port));
	int code;

	if (!port)
		return error_set(ENOMEM, "%s: out of memory", config->interface);
	if (zero_copy) {
		code = xsk_steer_open(config, 1, &port->steer);
		if (code && code != -EBUSY) {
			xsk_close(port);
			return code;
		}
	}
	code = xsk_queue_open(config, zero_copy, XSK_SIDE_TRANSMIT, &port->queue);
	if (code) {
		xsk_close(port);
		return code;
	}
	xsk_queue_describe(port->queue, XSK_SIDE_TRANSMIT, port->text, sizeof(port->text));
	*result = port;
	return 0;
}

static int open_zero_copy(const struct port_config *config, struct port **port)
{
	return xsk_open(config, 1, port);
}

static int open_copy(const struct port_config *config, struct port **port)
{
	return xsk_open(config, 0, port);
}

static const char *xsk_describe(const struct port *port)
{
	return port->text;
}

static void collect_completions(struct xsk_queue *queue)
{
	uint32_t index, count = xsk_ring_cons__peek(&queue->completion, queue->completion.size, &index);

	for (uint32_t i = 0; i < count; i++)
		xsk_frames_give_back(&queue->frames, *xsk_ring_cons__comp_addr(&queue->completion, index + i));
	if (count)
		xsk_ring_cons__release(&queue->completion, count);
}

static uint32_t consumer(const struct xsk_queue *queue)
{
	return __atomic_load_n(queue->transmit.consumer, __ATOMIC_ACQUIRE);
}

static uint32_t untaken(const struct xsk_queue *queue)
{
	return *queue->transmit.producer - consumer(queue);
}

static int kick(struct xsk_queue *queue, struct port_sent *sent)
{
	if (!queue->busy_poll && !xsk_ring_prod__needs_wakeup(&queue->transmit))
		return 0;
	if (!queue->zero_copy && !untaken(queue))
		return 0;
	if (sendto(queue->fd, NULL, 0, MSG_DONTWAIT, NULL, 0) >= 0)
		return 0;
	switch (errno) {
	case EBUSY:
		sent->refused += !queue->zero_copy;
		return 0;
	case EAGAIN:
	case ENOBUFS:
	case EINTR:
		return 0;
	}
	return xsk_queue_error(queue, XSK_STEP_SEND, errno);
}

/* Writes the descriptors of one frame; its chunks lie one behind the other. */
static void describe_frame(struct xsk_queue *queue, uint32_t index, const struct xsk_frame *frame, unsigned int parts,
			   unsigned int bytes)
{
	uint64_t address = frame->offset;

	for (unsigned int part = 0; part < parts; part++, address += queue->chunk_bytes) {
		struct xdp_desc *descriptor = xsk_ring_prod__tx_desc(&queue->transmit, index + part);
		int is_last = part + 1 == parts;

		descriptor->addr = address;
		descriptor->len = is_last ? bytes : queue->chunk_bytes;
		descriptor->options = is_last ? 0 : XDP_PKT_CONTD;
		bytes -= descriptor->len;
	}
}

/* Puts up to `count` frames on the ring; returns how many. */
static unsigned int submit(struct sending *sending, unsigned int count, uint64_t now_ns)
{
	struct xsk_queue *queue = sending->queue;
	struct xsk_frames *frames = &queue->frames;
	unsigned int done = 0, descriptors = 0;

	for (; done < count; done++) {
		unsigned int parts = xsk_frames_next_parts(frames),
			     bytes = frames->templates[frames->next_template].frame_bytes;
		uint32_t sequence = (uint32_t)(sending->submitted + done), index;
		const struct xsk_frame *frame;

		if (!parts || xsk_ring_prod__reserve(&queue->transmit, parts, &index) != parts)
			break;
		frame = xsk_frames_take(frames, sequence,
					sending->stamps && !(sequence & sending->stamp_mask) ? now_ns : 0);
		describe_frame(queue, index, frame, parts, bytes);
		descriptors += parts;
		sending->bytes += bytes;
	}
	if (descriptors)
		xsk_ring_prod__submit(&queue->transmit, descriptors);
	sending->submitted += done;
	return done;
}

/* Whether the kernel took or gave back anything since it last did; -ETIMEDOUT with error text when not for limit_ns. */
static int check_progress(struct sending *sending, uint64_t limit_ns)
{
	const struct xsk_queue *queue = sending->queue;
	unsigned int outstanding = queue->frames.outstanding;
	uint64_t now_ns = pacer_now_ns();

	if (consumer(queue) != sending->last_consumer || outstanding != sending->last_outstanding) {
		sending->last_consumer = consumer(queue);
		sending->last_outstanding = outstanding;
		sending->last_progress_ns = now_ns;
	}
	if (now_ns - sending->last_progress_ns < limit_ns)
		return 0;
	return error_set(
		ETIMEDOUT,
		"%s: AF_XDP is stuck on queue %u: for %llu ms the driver took no frame and gave none back, %u are on the "
		"ring and %u with the driver; is the link up, and is an XDP program attached?",
		queue->interface, queue->queue, (unsigned long long)limit_ns / 1000000, untaken(queue),
		outstanding - untaken(queue));
}

/* Waits until the kernel has taken all descriptors; then, not as long, until it has given their frames back: those that
 * it keeps it may keep, until the next stream. */
static int drain(struct sending *sending)
{
	struct xsk_queue *queue = sending->queue;
	int code = 0;

	sending->last_progress_ns = pacer_now_ns();
	while (!code && queue->frames.outstanding) {
		int is_taken = !untaken(queue);

		code = kick(queue, sending->sent);
		collect_completions(queue);
		if (code)
			break;
		code = check_progress(sending, is_taken ? DRAIN_NS : STUCK_NS);
		if (code && is_taken)
			return 0;
	}
	return code;
}

/* Lays the stream out, which needs the frames of the one before. */
static int prepare(struct sending *sending)
{
	struct xsk_queue *queue = sending->queue;
	const char *interface = queue->interface;
	int code = 0;

	sending->last_progress_ns = pacer_now_ns();
	while (!code && queue->frames.outstanding) {
		code = kick(queue, sending->sent);
		collect_completions(queue);
		if (!code)
			code = check_progress(sending, STUCK_NS);
	}
	sending->sent->refused = 0;
	if (code)
		return code;
	code = xsk_frames_prepare(&queue->frames, sending->stream, queue->max_parts);
	if (code == -EMSGSIZE)
		return error_set(
			EMSGSIZE,
			"%s: these frames do not fit AF_XDP memory: at most %u chunks of %u bytes a frame%s, %u in all",
			interface, queue->max_parts, queue->chunk_bytes,
			queue->multi_buffer ? ""
					    : " (multi-buffer needs Linux 6.6, and a driver that has it in zero-copy)",
			queue->entries);
	if (code)
		return error_set(-code, "%s: AF_XDP cannot send this stream: its templates are wrong", interface);
	return 0;
}

static int send_loop(struct sending *sending)
{
	const struct port_stream *stream = sending->stream;
	struct xsk_queue *queue = sending->queue;
	struct pacer pacer;
	int code = 0;

	pacer_start(&pacer, stream);
	while (!code && !atomic_load_explicit(stream->stop, memory_order_relaxed) &&
	       sending->submitted < stream->frames) {
		uint64_t now_ns = pacer_now_ns(), left = stream->frames - sending->submitted;
		unsigned int due = pacer_due(&pacer, now_ns, left < BATCH ? (unsigned int)left : BATCH, sending->sent);

		while (due && !code) { /* what was planned is sent, unless there is no room and the stream is stopped */
			unsigned int done = submit(sending, due, now_ns);

			due -= done;
			code = kick(queue, sending->sent);
			collect_completions(queue);
			__atomic_store_n(&sending->sent->frames, sending->submitted, __ATOMIC_RELAXED); /* for who watches */
			if (done)
				sending->last_progress_ns = now_ns;
			else if (atomic_load_explicit(stream->stop, memory_order_relaxed))
				break;
			else if (!code)
				code = check_progress(sending, STUCK_NS);
		}
	}
	return code;
}

/* Frames that the kernel did not take off the ring were not sent: takes them out of the counts. */
static void subtract_untaken(struct sending *sending)
{
	struct xsk_queue *queue = sending->queue;
	uint32_t producer = *queue->transmit.producer;

	for (uint32_t index = consumer(queue); index != producer; index++) {
		const struct xdp_desc *descriptor = xsk_ring_prod__tx_desc(&queue->transmit, index);

		sending->submitted -= !(descriptor->options & XDP_PKT_CONTD);
		sending->bytes -= descriptor->len;
	}
}

static int xsk_send(struct port *port, const struct port_stream *stream, struct port_sent *sent)
{
	struct sending sending = { .queue = port->queue, .stream = stream, .sent = sent };
	int code, drained;

	memset(sent, 0, sizeof(*sent));
	sending.stamps = stream->stamp_interval != 0;
	sending.stamp_mask = stream->stamp_interval - 1;
	code = prepare(&sending);
	if (code)
		return code;
	code = send_loop(&sending);
	if (!code) {
		drained = drain(&sending);
		code = drained;
	}
	subtract_untaken(&sending);
	sent->frames = sending.submitted;
	sent->bytes = sending.bytes;
	return code;
}

const struct port_ops port_xsk_zero_copy = {
	.kind = RUN_PORT_AF_XDP_ZC,
	.max_frame_bytes = HOPCAP_MAX_FRAME_BYTES,
	.open = open_zero_copy,
	.send = xsk_send,
	.close = xsk_close,
	.describe = xsk_describe,
};

const struct port_ops port_xsk_copy = {
	.kind = RUN_PORT_AF_XDP_COPY,
	.max_frame_bytes = HOPCAP_MAX_FRAME_BYTES,
	.open = open_copy,
	.send = xsk_send,
	.close = xsk_close,
	.describe = xsk_describe,
};
