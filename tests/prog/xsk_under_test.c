// SPDX-License-Identifier: GPL-2.0-or-later
/* See xsk_under_test.h. */
#include <errno.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <linux/if_ether.h>

#include "base/error.h"
#include "skip_because.h"
#include "wire_test_frame.h"
#include "xsk_under_test.h"

#define PATIENCE_MS 10000

static int refused;

void xsk_command(const char *format, ...)
{
	va_list arguments;
	char line[256];

	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	if (system(line))
		fail_msg("'%s' failed", line);
}

int xsk_enter(void **state)
{
	(void)state;
	if (unshare(CLONE_NEWNET))
		refused = errno;
	return 0;
}

void xsk_make_pair(unsigned int queues, unsigned int mtu_bytes)
{
	if (refused)
		SKIP_BECAUSE("no network namespace: %s", strerror(refused));
	if (if_nametoindex(XSK_NEAR))
		xsk_command("ip link del " XSK_NEAR);
	xsk_command("ip link add " XSK_NEAR " mtu %u numtxqueues %u numrxqueues %u type veth peer name " XSK_FAR
		    " mtu %u numtxqueues %u numrxqueues %u",
		    mtu_bytes, queues, queues, mtu_bytes, queues, queues);
	/* No frames of the stack between ours. */
	xsk_command("ip link set " XSK_NEAR " addrgenmode none up && ip link set " XSK_FAR " addrgenmode none up");
}

static void pause_ms(void)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	nanosleep(&pause, NULL);
}

int xsk_wait(const _Atomic uint64_t *count, uint64_t frames)
{
	for (int i = 0; i < PATIENCE_MS && atomic_load(count) < frames; i++)
		pause_ms();
	return atomic_load(count) >= frames;
}

/* Where the test header of a frame stands: Ethernet, tags, IPv4 or IPv6, UDP. */
static unsigned int header_offset(const unsigned char *frame)
{
	unsigned int offset = 12;

	while (test_get_be(frame + offset, 2) == ETH_P_8021Q || test_get_be(frame + offset, 2) == ETH_P_8021AD)
		offset += TEST_TAG_BYTES;
	return offset + 2 + (test_get_be(frame + offset, 2) == ETH_P_IPV6 ? TEST_IPV6_BYTES : TEST_IPV4_BYTES) +
	       TEST_UDP_BYTES;
}

static void take(void *context, const struct receive_frame *frames, unsigned char *send_back, unsigned int count)
{
	struct xsk_reader *reader = context;

	for (unsigned int i = 0; i < count; i++) {
		const unsigned char *header = frames[i].data + header_offset(frames[i].data);
		uint32_t sequence = (uint32_t)test_get_be(header + HOPCAP_OFFSET_SEQUENCE, 4);
		int is_wrong = sequence != reader->next ||
			       (reader->check && reader->check(reader->context, sequence, &frames[i]));

		reader->next = sequence + 1;
		if (is_wrong)
			atomic_fetch_add(&reader->wrong, 1);
		atomic_fetch_add(&reader->bytes, frames[i].bytes);
		atomic_fetch_add(&reader->frames, 1);
		send_back[i] = (unsigned char)reader->reflect;
	}
}

static void *read_thread(void *argument)
{
	struct xsk_reader *reader = argument;
	int code = reader->ops->receive(reader->receiver, &reader->stop, take, reader);

	if (code)
		strncpy(reader->error, error_text(), sizeof(reader->error) - 1);
	atomic_store(&reader->code, code);
	return NULL;
}

void xsk_reader_start(struct xsk_reader *reader, const char *interface, unsigned int queue, unsigned int queues)
{
	const struct port_config config = {
		.interface = interface, .ifindex = (int)if_nametoindex(interface), .queue = (int)queue, .queues = queues
	};

	reader->ops = &receiver_xsk_copy;
	if (reader->ops->open(&config, &reader->receiver))
		fail_msg("%s", error_text());
	assert_int_equal(pthread_create(&reader->thread, NULL, read_thread, reader), 0);
}

int xsk_reader_stop(struct xsk_reader *reader)
{
	atomic_store(&reader->stop, 1);
	pthread_join(reader->thread, NULL);
	return atomic_load(&reader->code);
}

void xsk_reader_close(struct xsk_reader *reader)
{
	reader->ops->close(reader->receiver);
}

struct port *xsk_port(const char *interface, unsigned int queue, unsigned int queues)
{
	const struct port_config config = {
		.interface = interface, .ifindex = (int)if_nametoindex(interface), .queue = (int)queue, .queues = queues
	};
	struct port *port = NULL;

	if (port_xsk_copy.open(&config, &port))
		fail_msg("%s", error_text());
	return port;
}

uint64_t xsk_send_windows(struct port *port, struct port_stream *stream, unsigned int window, unsigned int windows,
			  struct xsk_reader *reader)
{
	struct port_sent sent;
	uint64_t total = 0;

	stream->frames = window;
	for (unsigned int i = 0; i < windows; i++) {
		reader->next = 0; /* nothing is on the way */
		if (port_xsk_copy.send(port, stream, &sent))
			fail_msg("%s", error_text());
		assert_int_equal(sent.frames, window);
		assert_int_equal(sent.refused, 0);
		total += window;
		if (!xsk_wait(&reader->frames, total))
			fail_msg("%llu of %llu frames arrived", (unsigned long long)atomic_load(&reader->frames),
				 (unsigned long long)total);
	}
	return total;
}

struct port_stream xsk_stream(const struct built_frame *frame, struct port_template *template, atomic_int *stop)
{
	*template = (struct port_template){ .frame = frame->bytes,
					    .frame_bytes = frame->length,
					    .header_offset = frame->header_offset,
					    .udp_offset = frame->udp_offset };
	return (struct port_stream){
		.templates = template, .template_count = 1, .flows = 1, .frames = UINT64_MAX, .stop = stop
	};
}
