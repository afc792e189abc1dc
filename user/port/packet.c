// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * AF_PACKET: frames as the stack would send them, as socket buffers.
 *
 * Two ways. Where the kernel has tcx, a large frame is sent now and then as a trigger, and bpf/source_tc.bpf.c makes the
 * stream from clones of it: some 1 Mpps of 9000 bytes instead of 0.3. Elsewhere each frame is made here, in batches of
 * sendmmsg, past the queueing discipline.
 *
 * Owns: the socket, its buffers, the clone generator. Used for frames that live frames cannot carry (over 3408 bytes) and where nothing faster
 * delivers. Frames enter the path as socket buffers, not as XDP frames, so the first hop costs something else than with
 * live frames: rates of the two ports are not mixed in one fit (measure/cost_model.c).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "base/error.h"
#include "port/generator.h"
#include "port/pacer.h"
#include "port/port.h"
#include "source_tc.skel.h"
#include "sys/bpf_attach.h"
#include "sys/rtnl.h"
#include "wire_test_frame.h"

#define BATCH 32
#define SEND_BUFFER_BYTES (16 << 20)
#define TRIGGER_BYTES 4200 /* over a page: the kernel then keeps the payload out of the linear part */

struct port {
	int socket;
	int trigger_socket; /* through tc, marked; -1: no clone generator */
	struct source_tc_bpf *program;
	struct generator generator;
	unsigned int mtu_bytes;
	unsigned char trigger[HOPCAP_MAX_FRAME_BYTES];
	char interface[16];
	struct sockaddr_ll address;
	unsigned char frames[BATCH][HOPCAP_MAX_FRAME_BYTES];
	struct iovec vectors[BATCH];
	struct mmsghdr messages[BATCH];
};

static void packet_close(struct port *port)
{
	if (!port)
		return;
	if (port->socket >= 0)
		close(port->socket);
	if (port->trigger_socket >= 0)
		close(port->trigger_socket);
	generator_close(&port->generator);
	source_tc_bpf__destroy(port->program);
	free(port);
}

/* What is missing for the clone generator makes this port slower, not wrong. */
static void open_generator(struct port *port, int ifindex)
{
	int mark = HOPCAP_MARK_TRIGGER, bytes = SEND_BUFFER_BYTES;
	struct bpf_attachment attachment;
	struct rtnl_link link;

	if (rtnl_link_get_index(ifindex, &link))
		return;
	port->mtu_bytes = link.mtu_bytes;
	port->program = source_tc_bpf__open_and_load();
	if (!port->program ||
	    bpf_attach_tcx(bpf_program__fd(port->program->progs.source_clone), ifindex, 0, &attachment))
		return;
	bpf_detach(&attachment); /* it is there only while a stream is sent */
	if (generator_open(&port->generator, port->interface, ifindex, port->program->maps.source_control,
			   port->program->maps.source_state))
		return;
	port->trigger_socket = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (port->trigger_socket < 0)
		return;
	setsockopt(port->trigger_socket, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes));
	if (setsockopt(port->trigger_socket, SOL_SOCKET, SO_MARK, &mark, sizeof(mark))) {
		close(port->trigger_socket);
		port->trigger_socket = -1;
	}
}

static int packet_open(const struct port_config *config, struct port **result)
{
	const char *interface = config->interface;
	struct port *port = calloc(1, sizeof(*port));
	int on = 1, bytes = SEND_BUFFER_BYTES;

	if (!port)
		return error_set(ENOMEM, "%s: out of memory", interface);
	strncpy(port->interface, interface, sizeof(port->interface) - 1);
	port->trigger_socket = -1;
	port->socket = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (port->socket < 0) {
		int code = errno;

		packet_close(port);
		return error_set(code, "%s: cannot open a packet socket: %s; CAP_NET_RAW is needed", interface,
				 strerror(code));
	}
	/* Both are wishes: without them sending is slower, not wrong. */
	setsockopt(port->socket, SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof(on));
	if (setsockopt(port->socket, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes)))
		setsockopt(port->socket, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
	port->address.sll_family = AF_PACKET;
	port->address.sll_ifindex = config->ifindex;
	port->address.sll_halen = ETH_ALEN;
	open_generator(port, config->ifindex);
	*result = port;
	return 0;
}

static void prepare(struct port *port, const struct port_stream *stream)
{
	for (int i = 0; i < BATCH; i++) {
		memcpy(port->frames[i], stream->templates->frame, stream->templates->frame_bytes);
		port->vectors[i] = (struct iovec){ port->frames[i], stream->templates->frame_bytes };
		port->messages[i] = (struct mmsghdr){ .msg_hdr = { .msg_name = &port->address,
								   .msg_namelen = sizeof(port->address),
								   .msg_iov = &port->vectors[i],
								   .msg_iovlen = 1 } };
	}
}

/*
 * Numbers and sends `count` frames. One that the device refuses for want of room (a full veth ring says ENOBUFS) was offered
 * all the same: it keeps its sequence and counts as lost in the first hop, as it would with any other port. Offering it
 * again instead would turn the path's limit into the source's.
 */
static int send_batch(struct port *port, const struct port_stream *stream, unsigned int count, uint64_t now_ns,
		      struct port_sent *sent)
{
	unsigned int done = 0;

	for (unsigned int i = 0; i < count; i++) {
		uint64_t sequence = sent->frames + i;
		int stamped = stream->stamp_interval && !(sequence & (stream->stamp_interval - 1));

		port_number_frame(port->frames[i] + stream->templates->header_offset, (uint32_t)sequence, stamped ? now_ns : 0);
	}
	while (done < count && !atomic_load(stream->stop)) {
		int result = sendmmsg(port->socket, port->messages + done, count - done, 0);

		if (result > 0)
			done += (unsigned int)result;
		else if (errno == ENOBUFS || errno == EBUSY)
			done++;
		else if (errno != EINTR && errno != EAGAIN)
			break;
	}
	sent->frames += done;
	if (done < count && !atomic_load(stream->stop))
		return error_set(errno, "%s: cannot send: %s", port->interface, strerror(errno));
	return 0;
}

/* The generator drops each trigger, so sending one ends with ENOBUFS: that is success here. */
static int send_clones(struct port *port, const struct port_stream *stream, struct port_sent *sent)
{
	struct bpf_attachment attachment;
	int code = bpf_attach_tcx(bpf_program__fd(port->program->progs.source_clone), port->address.sll_ifindex, 0,
				  &attachment);

	unsigned int bytes = stream->templates->frame_bytes;

	memset(sent, 0, sizeof(*sent));
	memcpy(port->trigger, stream->templates->frame, stream->templates->frame_bytes);
	if (bytes < TRIGGER_BYTES && port->mtu_bytes + 14 >= TRIGGER_BYTES)
		bytes = TRIGGER_BYTES;
	if (code)
		return error_set(-code, "%s: cannot attach the clone generator: %s", port->interface, strerror(-code));
	generator_start(&port->generator, stream);
	while (!code && !atomic_load(stream->stop) && generator_frames(&port->generator) < stream->frames)
		if (sendto(port->trigger_socket, port->trigger, bytes, 0, (const struct sockaddr *)&port->address,
			   sizeof(port->address)) < 0 &&
		    errno != ENOBUFS && errno != EINTR && errno != EAGAIN)
			code = error_set(errno, "%s: cannot send: %s", port->interface, strerror(errno));
	bpf_detach(&attachment);
	generator_result(&port->generator, sent);
	return code;
}

static int packet_send(struct port *port, const struct port_stream *stream, struct port_sent *sent)
{
	struct pacer pacer;
	int result = 0;

	if (port->trigger_socket >= 0)
		return send_clones(port, stream, sent);
	memset(sent, 0, sizeof(*sent));
	prepare(port, stream);
	pacer_start(&pacer, stream->interval_ns);
	while (!result && !atomic_load(stream->stop) && sent->frames < stream->frames) {
		uint64_t now_ns = pacer_now_ns(), left = stream->frames - sent->frames;
		unsigned int due = pacer_due(&pacer, now_ns, left < BATCH ? (unsigned int)left : BATCH, sent);

		if (due)
			result = send_batch(port, stream, due, now_ns, sent);
	}
	return result;
}

const struct port_ops port_packet = {
	.kind = RUN_PORT_PACKET,
	.max_frame_bytes = HOPCAP_MAX_FRAME_BYTES,
	.open = packet_open,
	.send = packet_send,
	.close = packet_close,
};
