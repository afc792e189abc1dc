// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * AF_PACKET: frames as the stack would send them, as socket buffers.
 *
 * Three ways. One template at a rate, where the kernel has tcx: clones (packet_clones.c). With config->super_bytes:
 * super-frames that are cut behind the socket (super_frame.c). Else each frame is made here, in batches of sendmmsg:
 * the only port that takes long lists of templates, frames that are not ours and the times of a capture.
 *
 * Owns: the socket, its buffers, the choice. Used for frames that live frames cannot carry (over 3408 bytes) and where
 * nothing faster delivers. Frames enter the path as socket buffers, not as XDP frames, so the first hop costs something
 * else than with live frames: rates of the two ports are not mixed in one fit (measure/cost_model.c).
 *
 * A frame that the device refuses for want of room (a full veth ring says ENOBUFS) was offered all the same: it keeps
 * its sequence and counts as lost in the first hop, as it would with any other port. Offering it again instead would
 * turn the path's limit into the source's.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "base/error.h"
#include "port/numbering.h"
#include "port/pacer.h"
#include "port/packet_clones.h"
#include "port/port.h"
#include "port/super_frame.h"
#include "wire_test_frame.h"

#define BATCH 32
#define SEND_BUFFER_BYTES (16 << 20)
#define HEAD_BYTES \
	96 /* of a frame that are copied and numbered; the rest is sent from the template. Two tags and IPv6 fit */

struct port {
	int socket;
	int ifindex;
	unsigned int super_bytes;
	char interface[16], description[96];
	struct packet_clones *clones; /* NULL: none here */
	struct super_frame *super;    /* NULL: not asked for */
	struct sockaddr_ll address;
	unsigned char heads[BATCH][HEAD_BYTES];
	struct iovec vectors[BATCH][2];
	struct mmsghdr messages[BATCH];
};

static void packet_close(struct port *port)
{
	if (!port)
		return;
	if (port->socket >= 0)
		close(port->socket);
	packet_clones_close(port->clones);
	free(port->super);
	free(port);
}

static int open_socket(struct port *port, const struct port_config *config)
{
	int bypass = !config->qdisc && !config->super_bytes, on = 1, bytes = SEND_BUFFER_BYTES;

	port->socket = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (port->socket < 0)
		return error_set(errno, "%s: cannot open a packet socket: %s; CAP_NET_RAW is needed", port->interface,
				 strerror(errno));
	/* Both are wishes: without them sending is slower, not wrong. */
	setsockopt(port->socket, SOL_PACKET, PACKET_QDISC_BYPASS, &bypass, sizeof(bypass));
	if (setsockopt(port->socket, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes)))
		setsockopt(port->socket, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
	if (config->super_bytes && setsockopt(port->socket, SOL_PACKET, PACKET_VNET_HDR, &on, sizeof(on)))
		return error_set(errno, "%s: cannot send super-frames: %s", port->interface, strerror(errno));
	return 0;
}

static void describe(struct port *port, const struct port_config *config)
{
	if (port->super)
		snprintf(port->description, sizeof(port->description),
			 "AF_PACKET, super-frames of up to %u bytes, cut by the device or in front of it",
			 port->super_bytes);
	else
		snprintf(port->description, sizeof(port->description), "AF_PACKET, %s the queueing discipline%s",
			 config->qdisc ? "through" : "past",
			 port->clones ? "; one kind of frame: clones, through it" : "");
}

static int packet_open(const struct port_config *config, struct port **result)
{
	struct port *port = calloc(1, sizeof(*port));
	int code;

	if (!port)
		return error_set(ENOMEM, "%s: out of memory", config->interface);
	strncpy(port->interface, config->interface, sizeof(port->interface) - 1);
	port->ifindex = config->ifindex;
	port->super_bytes = config->super_bytes < SUPER_FRAME_MAX_BYTES ? config->super_bytes : SUPER_FRAME_MAX_BYTES;
	port->address.sll_family = AF_PACKET;
	port->address.sll_ifindex = config->ifindex;
	port->address.sll_halen = ETH_ALEN;
	code = open_socket(port, config);
	if (!code && config->super_bytes) {
		port->super = malloc(sizeof(*port->super));
		code = port->super ? 0 : error_set(ENOMEM, "%s: out of memory", port->interface);
	}
	if (code) {
		packet_close(port);
		return code;
	}
	if (!port->super && !config->no_clones)
		port->clones = packet_clones_open(config);
	describe(port, config);
	*result = port;
	return 0;
}

/* The state of one stream in the batch way. */
struct batch {
	const struct port_stream *stream;
	struct numbering single; /* of the template when there is just one */
	unsigned int template;	 /* of the next frame */
	uint32_t flow;
};

/* Message `slot` becomes the next frame. */
static void put_frame(struct port *port, struct batch *batch, unsigned int slot, uint64_t sequence, uint64_t now_ns)
{
	const struct port_stream *stream = batch->stream;
	const struct port_template *template = &stream->templates[batch->template];
	struct msghdr *message = &port->messages[slot].msg_hdr;
	struct iovec *vector = port->vectors[slot];

	if (++batch->template == stream->template_count)
		batch->template = 0;
	message->msg_iovlen = 1;
	if (template->header_offset == PORT_NO_HEADER) {
		vector[0] = (struct iovec){ (void *)template->frame, template->frame_bytes };
	} else {
		unsigned int head = template->frame_bytes < HEAD_BYTES ? template->frame_bytes : HEAD_BYTES;
		struct numbering numbering = stream->template_count == 1 ? batch->single : numbering_of(template);
		int stamped = stream->stamp_interval && !(sequence & (stream->stamp_interval - 1));

		memcpy(port->heads[slot], template->frame, head);
		numbering_write(port->heads[slot], &numbering, (uint32_t)sequence, batch->flow, stamped ? now_ns : 0);
		vector[0] = (struct iovec){ port->heads[slot], head };
		vector[1] = (struct iovec){ (void *)(template->frame + head), template->frame_bytes - head };
		message->msg_iovlen = template->frame_bytes > head ? 2 : 1;
	}
	if (++batch->flow >= stream->flows)
		batch->flow = 0;
}

/* Sends the next `count` frames. */
static int send_batch(struct port *port, struct batch *batch, unsigned int count, uint64_t now_ns,
		      struct port_sent *sent)
{
	atomic_int *stop = batch->stream->stop;
	unsigned int done = 0;
	int code = 0;

	for (unsigned int i = 0; i < count; i++)
		put_frame(port, batch, i, sent->frames + i, now_ns);
	while (!code && done < count) {
		int result = sendmmsg(port->socket, port->messages + done, count - done, 0);

		if (result > 0) {
			done += (unsigned int)result;
		} else if (errno == ENOBUFS || errno == EBUSY) {
			sent->refused++;
			done++;
		} else if (errno != EINTR && errno != EAGAIN) {
			code = errno;
		} else if (atomic_load(stop)) {
			break; /* these were due, and never sent */
		}
	}
	sent->frames += done;
	for (unsigned int i = 0; i < done; i++)
		for (unsigned int part = 0; part < port->messages[i].msg_hdr.msg_iovlen; part++)
			sent->bytes += port->vectors[i][part].iov_len;
	return code ? packet_cannot_send(port->interface, code, sent->frames) : 0;
}

static int send_batches(struct port *port, const struct port_stream *stream, struct port_sent *sent)
{
	struct batch batch = { .stream = stream };
	struct pacer pacer;
	int result = 0;

	if (stream->template_count == 1 && stream->templates->header_offset != PORT_NO_HEADER)
		batch.single = numbering_of(stream->templates);
	for (int i = 0; i < BATCH; i++)
		port->messages[i] = (struct mmsghdr){ .msg_hdr = { .msg_name = &port->address,
								   .msg_namelen = sizeof(port->address),
								   .msg_iov = port->vectors[i] } };
	pacer_start(&pacer, stream);
	while (!result && !atomic_load(stream->stop) && sent->frames < stream->frames) {
		uint64_t now_ns = pacer_now_ns(), left = stream->frames - sent->frames;
		unsigned int due = pacer_due(&pacer, now_ns, left < BATCH ? (unsigned int)left : BATCH, sent);

		if (due)
			result = send_batch(port, &batch, due, now_ns, sent);
	}
	return result;
}

/* One super-frame of `count` frames. The answer of the device is that of all of them. */
static int send_super(struct port *port, const struct port_stream *stream, unsigned int bytes, unsigned int count,
		      struct port_sent *sent)
{
	for (;;) {
		ssize_t result = sendto(port->socket, port->super, sizeof(port->super->offload) + bytes, 0,
					(const struct sockaddr *)&port->address, sizeof(port->address));

		if (result >= 0)
			break;
		if (errno == ENOBUFS || errno == EBUSY) {
			sent->refused += count;
			break;
		}
		if (errno == EINVAL)
			return error_set(EINVAL,
					 "%s: the kernel does not take super-frames of %u UDP frames; 6.2 or newer is needed",
					 port->interface, count);
		if (errno != EINTR && errno != EAGAIN)
			return packet_cannot_send(port->interface, errno, sent->frames);
		if (atomic_load(stream->stop))
			return 0;
	}
	sent->frames += count;
	sent->bytes += (uint64_t)count * stream->templates->frame_bytes;
	return 0;
}

static int send_supers(struct port *port, const struct port_stream *stream, unsigned int capacity,
		       struct port_sent *sent)
{
	const struct port_template *template = stream->templates;
	unsigned int bytes = super_frame_build(port->super, template, capacity), built = capacity;
	struct port_stream bursts = *stream; /* all frames of a super-frame leave at once */
	struct pacer pacer;
	uint32_t flow = 0;
	int result = 0;

	bursts.burst = stream->burst > capacity ? stream->burst / capacity * capacity : capacity;
	pacer_start(&pacer, &bursts);
	while (!result && !atomic_load(stream->stop) && sent->frames < stream->frames) {
		uint64_t now_ns = pacer_now_ns(), left = stream->frames - sent->frames;
		unsigned int due = pacer_due(&pacer, now_ns, left < capacity ? (unsigned int)left : capacity, sent);

		if (!due)
			continue;
		if (due != built)
			bytes = super_frame_build(port->super, template, due);
		built = due;
		super_frame_number(port->super, template, due, sent->frames, flow, stream->stamp_interval, now_ns);
		result = send_super(port, stream, bytes, due, sent);
		if (result == -EINVAL && !sent->frames && capacity > SUPER_FRAME_SURE_FRAMES)
			return send_supers(port, stream, SUPER_FRAME_SURE_FRAMES, sent);
		if (++flow >= stream->flows)
			flow = 0;
	}
	return result;
}

/* What could make this port read or write outside of a frame. */
static int check(const struct port *port, const struct port_stream *stream)
{
	if (!stream->template_count || stream->template_count > PORT_MAX_REPLAY)
		return error_set(EINVAL, "%s: %u frames in the list; 1 to %u can be sent", port->interface,
				 stream->template_count, PORT_MAX_REPLAY);
	for (unsigned int i = 0; i < stream->template_count; i++) {
		const struct port_template *template = &stream->templates[i];
		unsigned int offset = template->header_offset;

		if (offset != PORT_NO_HEADER &&
		    (offset < NUMBERING_PORT_BEHIND || offset > HEAD_BYTES - HOPCAP_TEST_HEADER_BYTES ||
		     template->frame_bytes < offset + HOPCAP_TEST_HEADER_BYTES))
			return error_set(EINVAL, "%s: a test header at byte %u of a frame of %u bytes does not fit",
					 port->interface, offset, template->frame_bytes);
	}
	return 0;
}

static int packet_send(struct port *port, const struct port_stream *stream, struct port_sent *sent)
{
	unsigned int capacity;
	int code = check(port, stream);

	memset(sent, 0, sizeof(*sent));
	if (code)
		return code;
	if (!port->super)
		return packet_clones_can(port->clones, stream) ? packet_clones_send(port->clones, stream, sent)
							       : send_batches(port, stream, sent);
	if (stream->template_count > 1 || stream->departures_ns)
		return error_set(EINVAL, "%s: a super-frame is cut into frames of one size, at a rate: no list of sizes and no capture",
				 port->interface);
	capacity = super_frame_capacity(stream->templates, port->super_bytes);
	if (!capacity)
		return error_set(EINVAL, "%s: super-frames of %u bytes do not hold one test frame of %u bytes; make them longer or frames shorter",
				 port->interface, port->super_bytes, stream->templates->frame_bytes);
	return send_supers(port, stream, capacity, sent);
}

static const char *packet_describe(const struct port *port)
{
	return port->description;
}

const struct port_ops port_packet = {
	.kind = RUN_PORT_PACKET,
	.max_frame_bytes = HOPCAP_MAX_FRAME_BYTES,
	.open = packet_open,
	.send = packet_send,
	.close = packet_close,
	.describe = packet_describe,
};
