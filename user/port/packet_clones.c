// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Streams of clones; see packet_clones.h and bpf/source_tc.bpf.c.
 *
 * Theory. Each clone gets a head of its own, for which the kernel copies the trigger's linear part; so frames of
 * different sizes cost alike, and can be compared, only when their triggers have the same form: headers in the linear
 * part, payload in pages. An AF_PACKET socket makes that of frames of a page and more; smaller ones it makes linear
 * (packet_alloc_skb), and cutting a larger one at tc does so too (bpf_skb_change_tail linearises). A frame that is sent
 * from a transmit ring has its payload in the ring's pages whatever its size (tpacket_fill_skb), so triggers of less than
 * a page go that way. Where there is no ring they are linear, and their head is dearer: 0.1 to 0.2 us a frame with 1514
 * bytes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <bpf/libbpf.h>

#include "base/error.h"
#include "histogram_layout.h"
#include "map_source.h"
#include "port/generator.h"
#include "port/pacer.h"
#include "port/packet_clones.h"
#include "source_tc.skel.h"
#include "sys/bpf_attach.h"

#define SEND_BUFFER_BYTES (16 << 20)
#define RING_BYTES (4 * (unsigned int)getpagesize()) /* one block of one frame: holds any that is less than a page */

struct packet_clones {
	char interface[16];
	uint32_t mark;	     /* of our triggers */
	int socket;	     /* through tc, marked */
	int ring_socket;     /* likewise, with a transmit ring of one frame; -1: none */
	unsigned char *ring; /* NULL: none */
	struct source_tc_bpf *program;
	struct generator generator;
	struct sockaddr_ll address;
	unsigned char trigger[HOPCAP_MAX_FRAME_BYTES];
};

void packet_clones_close(struct packet_clones *clones)
{
	if (!clones)
		return;
	if (clones->ring)
		munmap(clones->ring, RING_BYTES);
	if (clones->ring_socket >= 0)
		close(clones->ring_socket);
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

/* Other workers and other processes may have a generator on the same interface: theirs must not take our triggers. */
static uint32_t choose_mark(void)
{
	uint16_t own;

	if (getrandom(&own, sizeof(own), 0) != sizeof(own))
		own = (uint16_t)pacer_now_ns();
	return HOPCAP_MARK_TRIGGER | own;
}

/* A socket whose frames are marked as triggers, or -1 with errno. */
static int open_socket(uint32_t mark)
{
	int bytes = SEND_BUFFER_BYTES, fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes));
	if (!setsockopt(fd, SOL_SOCKET, SO_MARK, &mark, sizeof(mark)))
		return fd;
	close(fd);
	return -1;
}

/* That there is no ring is no error. */
static void open_ring(struct packet_clones *clones)
{
	struct tpacket_req request = {
		.tp_block_size = RING_BYTES, .tp_block_nr = 1, .tp_frame_size = RING_BYTES, .tp_frame_nr = 1
	};
	int version = TPACKET_V2;
	void *ring;

	clones->ring_socket = open_socket(clones->mark);
	if (clones->ring_socket < 0 ||
	    setsockopt(clones->ring_socket, SOL_PACKET, PACKET_VERSION, &version, sizeof(version)) ||
	    setsockopt(clones->ring_socket, SOL_PACKET, PACKET_TX_RING, &request, sizeof(request)))
		return;
	ring = mmap(NULL, RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, clones->ring_socket, 0);
	if (ring != MAP_FAILED)
		clones->ring = ring;
}

struct packet_clones *packet_clones_open(const struct port_config *config)
{
	struct packet_clones *clones = calloc(1, sizeof(*clones));

	if (!clones)
		return NULL;
	strncpy(clones->interface, config->interface, sizeof(clones->interface) - 1);
	clones->mark = choose_mark();
	clones->ring_socket = -1;
	clones->socket = open_socket(clones->mark);
	clones->address.sll_family = AF_PACKET;
	clones->address.sll_ifindex = config->ifindex;
	clones->address.sll_halen = ETH_ALEN;
	if (clones->socket < 0 || load(clones, config->ifindex)) {
		packet_clones_close(clones);
		return NULL;
	}
	open_ring(clones);
	return clones;
}

int packet_clones_can(const struct packet_clones *clones, const struct port_stream *stream)
{
	return clones && stream->template_count == 1 && !generator_check(stream, clones->interface);
}

static unsigned char *ring_frame(const struct packet_clones *clones)
{
	return clones->ring + TPACKET2_HDRLEN - sizeof(struct sockaddr_ll);
}

/* 0 or an errno. The generator drops each trigger, so sending one ends with ENOBUFS: that is success here. */
static int send_trigger(struct packet_clones *clones, unsigned int bytes, int from_ring)
{
	struct tpacket2_hdr *header = (struct tpacket2_hdr *)clones->ring;
	ssize_t code;

	if (from_ring) {
		header->tp_len = bytes;
		__atomic_store_n(&header->tp_status, TP_STATUS_SEND_REQUEST, __ATOMIC_RELEASE);
		code = sendto(clones->ring_socket, NULL, 0, MSG_DONTWAIT, (const struct sockaddr *)&clones->address,
			      sizeof(clones->address));
	} else {
		code = sendto(clones->socket, clones->trigger, bytes, 0, (const struct sockaddr *)&clones->address,
			      sizeof(clones->address));
	}
	return code >= 0 || errno == ENOBUFS || errno == EINTR || errno == EAGAIN ? 0 : errno;
}

int packet_clones_send(struct packet_clones *clones, const struct port_stream *stream, struct port_sent *sent)
{
	unsigned int bytes = stream->templates->frame_bytes;
	int from_ring = clones->ring && bytes < (unsigned int)getpagesize();
	struct bpf_attachment attachment;
	int code = bpf_attach_tcx(bpf_program__fd(clones->program->progs.source_clone), clones->address.sll_ifindex, 0,
				  &attachment);

	memset(sent, 0, sizeof(*sent));
	if (code)
		return error_set(-code, "%s: cannot attach the clone generator: %s", clones->interface,
				 strerror(-code));
	memcpy(from_ring ? ring_frame(clones) : clones->trigger, stream->templates->frame, bytes);
	generator_start(&clones->generator, stream, 0);
	clones->generator.control->trigger_mark = clones->mark;
	while (!code && !atomic_load(stream->stop) && generator_frames(&clones->generator) < stream->frames) {
		code = send_trigger(clones, bytes, from_ring);
		__atomic_store_n(&sent->frames, generator_frames(&clones->generator),
				 __ATOMIC_RELAXED); /* for who watches */
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
