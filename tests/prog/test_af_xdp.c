// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Frames over AF_XDP copy on a veth pair: every one arrives as it was to be, in order, on its queue; small, mixed and
 * jumbo; one way and there and back.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/if_ether.h>
#include <linux/if_packet.h>

#include "base/error.h"
#include "port/xsk_queue.h"
#include "skip_because.h"
#include "xsk_under_test.h"

#define WINDOW 200 /* less than a veth ring holds */

static struct built_frame frames[4];
static struct port_template templates[4];
static atomic_int stop;

/* A stream of the smallest IPv4 frame. */
static struct port_stream smallest(void)
{
	static const struct test_frame_spec spec = { .ip_version = 4 };

	test_frame_build(&spec, &frames[0]);
	return xsk_stream(&frames[0], &templates[0], &stop);
}

/* Frames of several buffers need Linux 6.6; an older one must say so itself. */
static void needs_multi_buffer(void)
{
	struct port *port;
	char text[256];

	if (!kernel_is_before(6, 6))
		return;
	port = xsk_port(XSK_NEAR, 0, 0);
	snprintf(text, sizeof(text), "%s", port_xsk_copy.describe(port));
	port_xsk_copy.close(port);
	assert_non_null(strstr(text, "single-buffer"));
	SKIP_BECAUSE("frames of several buffers need Linux 6.6: %s", text);
}

static void check_describe(struct port *port, const char *part)
{
	if (!strstr(port_xsk_copy.describe(port), part))
		fail_msg("'%s' is not in '%s'", part, port_xsk_copy.describe(port));
}

static void test_small_frames(void **state)
{
	struct xsk_reader reader = { 0 };
	struct receive_statistics statistics;
	struct port_stream stream;
	struct port *port;
	uint64_t sent;

	(void)state;
	xsk_make_pair(1, 1500);
	stream = smallest();
	xsk_reader_start(&reader, XSK_FAR, 0, 0);
	port = xsk_port(XSK_NEAR, 0, 0);
	check_describe(port, "AF_XDP copy, queue 0 of 1, 2048 chunks of 2048 bytes");
	sent = xsk_send_windows(port, &stream, WINDOW, 50, &reader);
	assert_int_equal(xsk_reader_stop(&reader), 0);
	assert_int_equal(reader.frames, sent);
	assert_int_equal(reader.bytes, sent * HOPCAP_MIN_FRAME_BYTES);
	assert_int_equal(reader.wrong, 0);
	receiver_xsk_copy.statistics(reader.receiver, &statistics);
	assert_int_equal(statistics.dropped + statistics.ring_full + statistics.invalid + statistics.unbound, 0);
	xsk_reader_close(&reader);
	port_xsk_copy.close(port);
}

/* Sequence n is template n mod 4 with flow n mod 7; IPv6 checksums are right; stamps stand in one of 8. */
static int check_mix(void *context, uint32_t sequence, const struct receive_frame *frame)
{
	const struct built_frame *built = &frames[sequence % 4];
	const unsigned char *header = frame->data + built->header_offset;
	int stamped = sequence % 8 == 0;

	(void)context;
	if (frame->bytes != built->length || frame->data_bytes != built->length ||
	    memcmp(frame->data, built->bytes, built->udp_offset) ||
	    memcmp(header + HOPCAP_TEST_HEADER_BYTES, built->bytes + test_frame_header_end(built),
		   built->length - test_frame_header_end(built)))
		return 1;
	if (test_get_be(frame->data + built->udp_offset, 2) != 49152 + sequence % 7 ||
	    test_get_be(header + HOPCAP_OFFSET_RUN_TAG, 2) != TEST_RUN_TAG ||
	    test_get_be(header + HOPCAP_OFFSET_FLAGS, 1) != (stamped ? HOPCAP_FRAME_STAMP : 0) ||
	    (test_get_be(header + HOPCAP_OFFSET_ORIGIN_HIGH16, 6) != 0) != stamped)
		return 1;
	if (built->ip_version == 4)
		return test_get_be(frame->data + built->udp_offset + 6, 2) != 0;
	return !test_frame_udp_checksum_right(built, frame->data);
}

static void test_mixed_frames(void **state)
{
	static const struct test_frame_spec four = { .ip_version = 4 }, six = { .ip_version = 6 };
	static const struct test_frame_spec tagged = { .ip_version = 6, .tags = { ETH_P_8021AD, ETH_P_8021Q } };
	struct xsk_reader reader = { .check = check_mix };
	struct port_stream stream;
	struct port *port;
	uint64_t sent;

	(void)state;
	xsk_make_pair(1, 1500);
	test_frame_build(&six, &frames[0]);
	test_frame_build_length(&four, 590, &frames[1]);
	test_frame_build_length(&six, 1514, &frames[2]);
	test_frame_build_length(&tagged, 333, &frames[3]);
	for (int i = 0; i < 4; i++)
		stream = xsk_stream(&frames[i], &templates[i], &stop);
	stream.templates = templates;
	stream.template_count = 4;
	stream.flows = 7;
	stream.stamp_interval = 8;
	xsk_reader_start(&reader, XSK_FAR, 0, 0);
	port = xsk_port(XSK_NEAR, 0, 0);
	sent = xsk_send_windows(port, &stream, WINDOW, 20, &reader);
	assert_int_equal(xsk_reader_stop(&reader), 0);
	assert_int_equal(reader.bytes, sent / 4 * (frames[0].length + 590 + 1514 + 333));
	assert_int_equal(reader.wrong, 0);
	xsk_reader_close(&reader);
	port_xsk_copy.close(port);
}

/* What leaves as several buffers arrives as one frame: read whole from a packet socket, where no XDP program is in the
 * way. */
static void test_jumbo_leaves_whole(void **state)
{
	static const struct test_frame_spec spec = { .ip_version = 6 };
	struct sockaddr_ll address = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL) };
	const struct timeval limit = { .tv_sec = 5 };
	unsigned char *got = malloc(10000);
	struct port_stream stream;
	struct port_sent sent;
	struct port *port;
	int fd, bytes = 8 << 20;

	(void)state;
	xsk_make_pair(1, 9000);
	needs_multi_buffer();
	address.sll_ifindex = (int)if_nametoindex(XSK_FAR);
	fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_ALL));
	assert_true(fd >= 0);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)), 0);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)), 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	test_frame_build_length(&spec, 9014, &frames[0]);
	stream = xsk_stream(&frames[0], &templates[0], &stop);
	stream.flows = 3;
	port = xsk_port(XSK_NEAR, 0, 0);
	check_describe(port, "multi-buffer");
	for (uint32_t n = 0; n < 50; n++) {
		struct built_frame *built = &frames[0];

		stream.frames = n + 1; /* the last one of each stream is looked at */
		assert_int_equal(port_xsk_copy.send(port, &stream, &sent), 0);
		assert_int_equal(sent.frames, n + 1);
		assert_int_equal(sent.bytes, (n + 1) * 9014);
		for (uint32_t i = 0; i <= n; i++)
			assert_int_equal(recv(fd, got, 10000, 0), 9014);
		assert_int_equal(test_get_be(got + built->header_offset + HOPCAP_OFFSET_SEQUENCE, 4), n);
		assert_int_equal(test_get_be(got + built->udp_offset, 2), 49152 + n % 3);
		assert_true(test_frame_udp_checksum_right(built, got));
		assert_memory_equal(got + test_frame_header_end(built), built->bytes + test_frame_header_end(built),
				    9014 - test_frame_header_end(built));
	}
	close(fd);
	port_xsk_copy.close(port);
	free(got);
}

/* And comes in as several buffers, the first of which says how long the whole is. */
static int check_jumbo(void *context, uint32_t sequence, const struct receive_frame *frame)
{
	(void)context;
	(void)sequence;
	return frame->bytes != 9014 || frame->data_bytes >= frame->bytes || frame->data_bytes < 1000 ||
	       memcmp(frame->data + test_frame_header_end(&frames[0]),
		      frames[0].bytes + test_frame_header_end(&frames[0]),
		      frame->data_bytes - test_frame_header_end(&frames[0]));
}

static void test_jumbo_there_and_back(void **state)
{
	static const struct test_frame_spec spec = { .ip_version = 4 };
	struct xsk_reader mirror = { .check = check_jumbo, .reflect = 1 }, home = { .check = check_jumbo };
	struct receive_statistics statistics;
	struct port_stream stream;
	struct port *port;
	uint64_t sent;

	(void)state;
	xsk_make_pair(1, 9000);
	needs_multi_buffer();
	test_frame_build_length(&spec, 9014, &frames[0]);
	stream = xsk_stream(&frames[0], &templates[0], &stop);
	xsk_reader_start(&mirror, XSK_FAR, 0, 0);
	xsk_reader_start(&home, XSK_NEAR, 0, 0);
	port = xsk_port(XSK_NEAR, 0, 0);			  /* the same queue, and the same socket */
	sent = xsk_send_windows(port, &stream, 40, 200, &mirror); /* all chunks go round several times */
	assert_true(xsk_wait(&home.frames, sent));
	assert_int_equal(xsk_reader_stop(&mirror), 0);
	assert_int_equal(xsk_reader_stop(&home), 0);
	assert_int_equal(mirror.wrong, 0);
	assert_int_equal(home.frames, sent);
	assert_int_equal(home.bytes, sent * 9014);
	receiver_xsk_copy.statistics(mirror.receiver, &statistics);
	assert_int_equal(statistics.returned, sent);
	assert_int_equal(statistics.return_refused, 0);
	xsk_reader_close(&mirror);
	xsk_reader_close(&home);
	port_xsk_copy.close(port);
}

/* A receiver on a queue that a port sends on cannot send back: it says so, and loses nothing else. */
static void test_no_way_back(void **state)
{
	struct xsk_reader reader = { .reflect = 1 };
	struct receive_statistics statistics;
	struct port_stream stream;
	struct port *port, *taken;
	uint64_t sent;

	(void)state;
	xsk_make_pair(1, 1500);
	stream = smallest();
	xsk_reader_start(&reader, XSK_FAR, 0, 0);
	taken = xsk_port(XSK_FAR, 0, 0);
	port = xsk_port(XSK_NEAR, 0, 0);
	sent = xsk_send_windows(port, &stream, WINDOW, 30, &reader); /* more than there are chunks */
	assert_int_equal(xsk_reader_stop(&reader), 0);
	receiver_xsk_copy.statistics(reader.receiver, &statistics);
	assert_int_equal(statistics.returned, 0);
	assert_int_equal(statistics.return_refused, sent);
	xsk_reader_close(&reader);
	port_xsk_copy.close(taken);
	port_xsk_copy.close(port);
}

/* Several queues: one steering program, one registration of memory, each queue hears its own frames. */
static void check_queues(unsigned int shared)
{
	struct xsk_reader readers[4] = { 0 };
	struct port *ports[4];
	struct port_stream stream;
	struct receive_statistics statistics;

	xsk_make_pair(4, 1500);
	stream = smallest();
	for (unsigned int i = 0; i < 4; i++) {
		xsk_reader_start(&readers[i], XSK_FAR, i, shared);
		ports[i] = xsk_port(XSK_NEAR, 3 - i, shared);
	}
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(xsk_send_windows(ports[i], &stream, WINDOW, 5 + i, &readers[3 - i]), WINDOW * (5 + i));
	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(xsk_reader_stop(&readers[i]), 0);
		assert_int_equal(readers[i].frames, WINDOW * (5 + 3 - i));
		assert_int_equal(readers[i].wrong, 0);
		receiver_xsk_copy.statistics(readers[i].receiver, &statistics);
		assert_int_equal(statistics.unbound, 0);
		xsk_reader_close(&readers[i]);
		port_xsk_copy.close(ports[i]);
	}
}

static void test_queues_on_their_own(void **state)
{
	(void)state;
	check_queues(0);
}

static void test_queues_that_share_memory(void **state)
{
	(void)state;
	check_queues(4);
}

static void open_queue(unsigned int queue, unsigned int shared, enum xsk_side side, struct xsk_queue **result)
{
	const struct port_config config = {
		.interface = XSK_NEAR, .ifindex = (int)if_nametoindex(XSK_NEAR), .queue = (int)queue, .queues = shared
	};

	if (xsk_queue_open(&config, 0, side, result))
		fail_msg("%s", error_text());
}

/* Who shares what: xsk_queue.h says. */
static void test_sharing(void **state)
{
	struct xsk_queue *first, *second, *receiving, *third, *again;

	(void)state;
	xsk_make_pair(4, 1500);
	open_queue(0, 2, XSK_SIDE_TRANSMIT, &first);
	open_queue(1, 2, XSK_SIDE_TRANSMIT, &second);
	open_queue(2, 2, XSK_SIDE_TRANSMIT, &third); /* no place left: memory of its own */
	open_queue(1, 2, XSK_SIDE_RECEIVE, &receiving);
	assert_ptr_equal(first->area, second->area);
	assert_ptr_not_equal(first->area, third->area);
	assert_ptr_equal(second, receiving);
	assert_true(second->receive_address > second->frames.first_address);
	assert_true(second->frames.first_address >=
		    first->receive_address + first->receive_chunks * first->chunk_bytes);
	assert_int_not_equal(first->fd, second->fd);
	/* The socket that the memory was registered through is closed and opened again while the other one lives. */
	xsk_queue_close(first, XSK_SIDE_TRANSMIT);
	open_queue(0, 2, XSK_SIDE_TRANSMIT, &again);
	assert_ptr_equal(again, first);
	xsk_queue_close(again, XSK_SIDE_TRANSMIT);
	xsk_queue_close(second, XSK_SIDE_TRANSMIT);
	xsk_queue_close(receiving, XSK_SIDE_RECEIVE);
	xsk_queue_close(third, XSK_SIDE_TRANSMIT);
}

/* The kernel lets a queue go a little after it was closed: opening it again at once must work all the same. */
static void test_open_again(void **state)
{
	struct port_stream stream;
	struct port_sent sent;

	(void)state;
	xsk_make_pair(1, 1500);
	stream = smallest();
	stream.frames = 100;
	for (int i = 0; i < 20; i++) {
		struct port *port = xsk_port(XSK_NEAR, 0, 0);

		assert_int_equal(port_xsk_copy.send(port, &stream, &sent), 0);
		assert_int_equal(sent.frames, 100);
		port_xsk_copy.close(port);
	}
}

/* A receiver on one queue of two: frames of the other one are counted, and go on to the stack. */
static void test_unbound_queue(void **state)
{
	struct xsk_reader reader = { 0 };
	struct receive_statistics statistics;
	struct port_stream stream;
	struct port *bound, *unbound;
	struct port_sent sent;

	(void)state;
	xsk_make_pair(2, 1500);
	stream = smallest();
	xsk_reader_start(&reader, XSK_FAR, 0, 0);
	bound = xsk_port(XSK_NEAR, 0, 0);
	unbound = xsk_port(XSK_NEAR, 1, 0);
	stream.frames = 150;
	assert_int_equal(port_xsk_copy.send(unbound, &stream, &sent), 0);
	assert_int_equal(sent.frames, 150);
	xsk_send_windows(bound, &stream, WINDOW, 3, &reader);
	for (int i = 0; i < 5000; i++) {
		receiver_xsk_copy.statistics(reader.receiver, &statistics);
		if (statistics.unbound >= 150)
			break;
		usleep(1000);
	}
	assert_int_equal(statistics.unbound, 150);
	assert_int_equal(xsk_reader_stop(&reader), 0);
	assert_int_equal(reader.frames, 3 * WINDOW);
	xsk_reader_close(&reader);
	port_xsk_copy.close(bound);
	port_xsk_copy.close(unbound);
}

static void test_busy_poll(void **state)
{
	const struct port_config config = { .interface = XSK_NEAR, .busy_poll = 1 };
	struct port_config here = config;
	struct xsk_reader reader = { 0 };
	struct port_stream stream;
	struct port *port = NULL;

	(void)state;
	xsk_make_pair(1, 1500);
	here.ifindex = (int)if_nametoindex(XSK_NEAR);
	stream = smallest();
	xsk_reader_start(&reader, XSK_FAR, 0, 0);
	assert_int_equal(port_xsk_copy.open(&here, &port), 0);
	check_describe(port, "preferred busy polling");
	xsk_send_windows(port, &stream, WINDOW, 10, &reader);
	assert_int_equal(xsk_reader_stop(&reader), 0);
	assert_int_equal(reader.wrong, 0);
	xsk_reader_close(&reader);
	port_xsk_copy.close(port);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small_frames),
		cmocka_unit_test(test_mixed_frames),
		cmocka_unit_test(test_jumbo_leaves_whole),
		cmocka_unit_test(test_jumbo_there_and_back),
		cmocka_unit_test(test_no_way_back),
		cmocka_unit_test(test_queues_on_their_own),
		cmocka_unit_test(test_queues_that_share_memory),
		cmocka_unit_test(test_sharing),
		cmocka_unit_test(test_open_again),
		cmocka_unit_test(test_unbound_queue),
		cmocka_unit_test(test_busy_poll),
	};

	return cmocka_run_group_tests(tests, xsk_enter, NULL);
}
