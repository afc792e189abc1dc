// SPDX-License-Identifier: GPL-2.0-or-later
/* Streams of clones; see packet_clones.h and bpf/source_tc.bpf.c. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <sys/socket.h>

#include <bpf/libbpf.h>

#include "base/error.h"
#include "histogram_layout.h"
#include "map_source.h"
#include "port/generator.h"
#include "port/packet_clones.h"
#include "source_tc.skel.h"
#include "sys/bpf_attach.h"
#include "sys/rtnl.h"

#define SEND_BUFFER_BYTES (16 << 20)
#define TRIGGER_BYTES 4200 /* over a page: the kernel then keeps the payload out of the linear part */

struct packet_clones {
	char interface[16];
	int socket; /* through tc, marked */
	struct source_tc_bpf *program;
	struct generator generator;
	unsigned int mtu_bytes;
	struct sockaddr_ll address;
	unsigned char trigger[HOPCAP_MAX_FRAME_BYTES];
};

void packet_clones_close(struct packet_clones *clones)
{
	if (!clones)
		return;
	if (clones->socket >= 0)
		close(clones->socket);
	source_tc_bpf__destroy(clones->program);
	free(clones);
}

static int load(struct packet_clones *clones, int ifindex)
{
	struct bpf_attachment attachment;

	clones->program = source_tc_bpf__open_and_load();
	if (!clones->program || !clones->program->bss ||
	    bpf_attach_tcx(bpf_program__fd(clones->program->progs.source_clone), ifindex, 0, &attachment))
		return -ENOTSUP;
	bpf_detach(&attachment); /* it is there only while a stream is sent */
	clones->generator = (struct generator){ .control = &clones->program->bss->source_control,
						.state = &clones->program->bss->source_state,
						.lateness = clones->program->bss->source_lateness,
						.ifindex = ifindex };
	return 0;
}

static int open_socket(struct packet_clones *clones)
{
	int mark = HOPCAP_MARK_TRIGGER, bytes = SEND_BUFFER_BYTES;

	clones->socket = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (clones->socket < 0)
		return -errno;
	setsockopt(clones->socket, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes));
	return setsockopt(clones->socket, SOL_SOCKET, SO_MARK, &mark, sizeof(mark));
}

struct packet_clones *packet_clones_open(const struct port_config *config)
{
	struct packet_clones *clones = calloc(1, sizeof(*clones));
	struct rtnl_link link;

	if (!clones)
		return NULL;
	strncpy(clones->interface, config->interface, sizeof(clones->interface) - 1);
	clones->socket = -1;
	clones->address.sll_family = AF_PACKET;
	clones->address.sll_ifindex = config->ifindex;
	clones->address.sll_halen = ETH_ALEN;
	if (rtnl_link_get_index(config->ifindex, &link) || load(clones, config->ifindex) || open_socket(clones)) {
		packet_clones_close(clones);
		return NULL;
	}
	clones->mtu_bytes = link.mtu_bytes;
	return clones;
}

int packet_clones_can(const struct packet_clones *clones, const struct port_stream *stream)
{
	return clones && stream->template_count == 1 && !generator_check(stream, clones->interface);
}

/* The generator drops each trigger, so sending one ends with ENOBUFS: that is success here. */
int packet_clones_send(struct packet_clones *clones, const struct port_stream *stream, struct port_sent *sent)
{
	unsigned int bytes = stream->templates->frame_bytes;
	struct bpf_attachment attachment;
	int code = bpf_attach_tcx(bpf_program__fd(clones->program->progs.source_clone), clones->address.sll_ifindex, 0,
				  &attachment);

	memset(sent, 0, sizeof(*sent));
	if (code)
		return error_set(-code, "%s: cannot attach the clone generator: %s", clones->interface,
				 strerror(-code));
	memcpy(clones->trigger, stream->templates->frame, bytes);
	if (bytes < TRIGGER_BYTES && clones->mtu_bytes + 14 >= TRIGGER_BYTES)
		bytes = TRIGGER_BYTES;
	generator_start(&clones->generator, stream);
	while (!code && !atomic_load(stream->stop) && generator_frames(&clones->generator) < stream->frames) {
		if (sendto(clones->socket, clones->trigger, bytes, 0, (const struct sockaddr *)&clones->address,
			   sizeof(clones->address)) < 0 &&
		    errno != ENOBUFS && errno != EINTR && errno != EAGAIN)
			code = errno;
		__atomic_store_n(&sent->frames, generator_frames(&clones->generator), __ATOMIC_RELAXED); /* for who watches */
	}
	bpf_detach(&attachment);
	generator_result(&clones->generator, stream, sent);
	if (!code)
		return 0;
	return packet_cannot_send(clones->interface, code, sent->frames);
}

int packet_cannot_send(const char *interface, int code, uint64_t frames)
{
	if (code == ENXIO || code == ENODEV || code == ENETDOWN)
		return error_set(code == ENETDOWN ? ENETDOWN : ENODEV,
				 "%s: the interface went %saway after %llu frames", interface,
				 code == ENETDOWN ? "down or " : "", (unsigned long long)frames);
	if (code == EMSGSIZE)
		return error_set(
			EMSGSIZE,
			"%s: a frame is longer than the interface's MTU allows; raise the MTU or lower the size",
			interface);
	return error_set(code, "%s: cannot send after %llu frames: %s", interface, (unsigned long long)frames,
			 strerror(code));
}
