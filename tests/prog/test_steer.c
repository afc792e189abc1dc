// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The program that steers test frames to AF_XDP sockets, run frame by frame: which frames it takes, what it does where
 * no socket is, and whose count that is.
 */
#include <errno.h>
#include <net/if.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/if_ether.h>

#include "map_steer.h"
#include "port/xsk_queue.h"
#include "skip_because.h"
#include "steer_xdp.skel.h"
#include "test_frames.h"
#include "xsk_under_test.h"

static struct steer_xdp_bpf *program;
static int refused;

static int load(void **state)
{
	xsk_enter(state);
	program = steer_xdp_bpf__open_and_load();
	if (!program)
		refused = errno;
	return refused && refused != EPERM ? -1 : 0;
}

static int unload(void **state)
{
	(void)state;
	steer_xdp_bpf__destroy(program);
	return 0;
}

static void ready(void)
{
	if (refused)
		SKIP_BECAUSE("steer_xdp: %s", strerror(refused));
}

/* Test runs without a context come in on queue 0 of the loopback device. */
static uint32_t verdict(const unsigned char *bytes, unsigned int length)
{
	unsigned char *data = malloc(length);
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = data, .data_size_in = length, .repeat = 1);
	int code;

	assert_non_null(data);
	memcpy(data, bytes, length);
	code = bpf_prog_test_run_opts(bpf_program__fd(program->progs.steer_xdp), &options);
	free(data);
	if (code)
		fail_msg("steer_xdp: test run of %u bytes: %s", length, strerror(-code));
	return options.retval;
}

static uint64_t unbound(uint32_t queue)
{
	int cpus = libbpf_num_possible_cpus();
	uint64_t *counts = calloc((size_t)cpus, sizeof(*counts)), sum = 0;

	assert_int_equal(bpf_map_lookup_elem(bpf_map__fd(program->maps.steer_unbound), &queue, counts), 0);
	for (int i = 0; i < cpus; i++)
		sum += counts[i];
	free(counts);
	return sum;
}

static const struct test_frame_spec ours[] = {
	{ .ip_version = 4 },
	{ .ip_version = 6 },
	{ .ip_version = 4, .tags = { ETH_P_8021Q } },
	{ .ip_version = 6, .tags = { ETH_P_8021AD, ETH_P_8021Q } },
	{ .ip_version = 4, .ipv4_fragment = 0x4000 }, /* don't fragment */
	{ .ip_version = 4, .run_tag_xor = 0x1234 },   /* of another run: the reader knows its own */
	{ .ip_version = 4, .flags = HOPCAP_FRAME_END },
	{ .ip_version = 4, .payload_bytes = 1000 },
};

static const struct test_frame_spec others[] = {
	{ .ip_version = 4, .udp_port = 53 },
	{ .ip_version = 6, .udp_port = 53 },
	{ .ip_version = 4, .ip_protocol = 6 },
	{ .ip_version = 4, .ether_type = ETH_P_ARP },
	{ .ip_version = 4, .ipv4_option_bytes = 4 },
	{ .ip_version = 4, .ipv4_fragment = 0x2000 },
	{ .ip_version = 4, .ipv4_fragment = 1 },
	{ .ip_version = 6, .ipv6_extended = 1 },
	{ .ip_version = 4, .tags = { ETH_P_8021AD, ETH_P_8021Q, ETH_P_8021Q } },
	{ .ip_version = 4, .run_tag_xor = TEST_RUN_TAG }, /* tag 0 is nobody's */
};

static void test_without_sockets(void **state)
{
	static struct built_frame frame;
	uint64_t before;

	(void)state;
	ready();
	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
		before = unbound(0);
		test_frame_build(&ours[i], &frame);
		assert_int_equal(verdict(frame.bytes, frame.length), XDP_PASS);
		assert_int_equal(unbound(0), before + 1);
	}
	before = unbound(0);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		test_frame_build(&others[i], &frame);
		assert_int_equal(verdict(frame.bytes, frame.length), XDP_PASS);
	}
	assert_int_equal(unbound(0), before);
	assert_int_equal(unbound(1), 0);
}

/* No cut of a frame is taken for one. (The kernel runs nothing shorter than an Ethernet header.) */
static void test_cut_frames(void **state)
{
	static struct built_frame frame;
	uint64_t before;

	(void)state;
	ready();
	before = unbound(0);
	for (size_t i = 0; i < 4; i++) {
		test_frame_build(&ours[i], &frame);
		for (unsigned int length = ETH_HLEN; length < test_frame_header_end(&frame); length++)
			assert_int_equal(verdict(frame.bytes, length), XDP_PASS);
	}
	assert_int_equal(unbound(0), before);
}

/* With a socket on the queue test frames go to it, and no others do; when it leaves, they pass again. */
static void test_with_a_socket(void **state)
{
	static struct built_frame frame;
	struct port_config config = { .interface = XSK_FAR };
	struct xsk_queue *own = NULL;
	uint32_t queue = 0;
	uint64_t before;

	(void)state;
	ready();
	xsk_make_pair(1, 1500);
	config.ifindex = (int)if_nametoindex(XSK_FAR);
	/* Any bound socket will do for the map. */
	assert_int_equal(xsk_queue_open(&config, 0, XSK_SIDE_RECEIVE, &own), 0);
	assert_int_equal(bpf_map_update_elem(bpf_map__fd(program->maps.steer_sockets), &queue, &own->fd, 0), 0);
	before = unbound(0);
	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
		test_frame_build(&ours[i], &frame);
		assert_int_equal(verdict(frame.bytes, frame.length), XDP_REDIRECT);
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		test_frame_build(&others[i], &frame);
		assert_int_equal(verdict(frame.bytes, frame.length), XDP_PASS);
	}
	assert_int_equal(unbound(0), before);
	xsk_queue_close(own, XSK_SIDE_RECEIVE);
	/* A socket that is closed leaves the map by itself. */
	test_frame_build(&ours[0], &frame);
	for (int i = 0; i < 5000 && verdict(frame.bytes, frame.length) != XDP_PASS; i++)
		usleep(1000);
	assert_int_equal(verdict(frame.bytes, frame.length), XDP_PASS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_sockets),
		cmocka_unit_test(test_cut_frames),
		cmocka_unit_test(test_with_a_socket),
	};

	return cmocka_run_group_tests(tests, load, unload);
}
