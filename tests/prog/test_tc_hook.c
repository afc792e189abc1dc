// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hop_tc at a real hook, for what BPF_PROG_TEST_RUN cannot show: frames whose headers lie partly outside the linear
 * part of the skb, tags that the kernel has taken out of the frame, frames cut inside the IP header.
 *
 * Works on the loopback interface of a network namespace of its own, which ends with the process. Frames come from a
 * packet socket: its virtio header says how many bytes become the linear part, if the frame is longer than a page.
 */
#define _GNU_SOURCE

#include "hop_under_test.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/if.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>

#define LOOPBACK_IFINDEX 1
#define NON_LINEAR_BYTES 6000 /* more than a page, so that the linear part is as asked */

static int packet_socket = -1;
static int refused_namespace; /* errno */

static const struct test_frame_spec kinds[] = {
	{ .ip_version = 4, .flags = 1 },
	{ .ip_version = 6, .flags = 1 },
	{ .ip_version = 4, .tags = { ETH_P_8021Q }, .flags = 1 },
	{ .ip_version = 6, .tags = { ETH_P_8021Q }, .flags = 1 },
	{ .ip_version = 4, .tags = { ETH_P_8021AD, ETH_P_8021Q }, .flags = 1 },
	{ .ip_version = 6, .tags = { ETH_P_8021AD, ETH_P_8021Q }, .flags = 1 },
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* A namespace of its own, loopback up, a packet socket on it. 0 or an errno. */
static int open_namespace(void)
{
	struct sockaddr_ll address = { .sll_family = AF_PACKET, .sll_ifindex = LOOPBACK_IFINDEX };
	struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int one = 1;

	if (unshare(CLONE_NEWNET))
		return errno;
	packet_socket = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (packet_socket < 0)
		return errno;
	if (ioctl(packet_socket, SIOCSIFFLAGS, &request) ||
	    setsockopt(packet_socket, SOL_PACKET, PACKET_VNET_HDR, &one, sizeof(one)) ||
	    bind(packet_socket, (struct sockaddr *)&address, sizeof(address)))
		return errno;
	return 0;
}

static void hook_ready(enum bpf_tc_attach_point point)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = LOOPBACK_IFINDEX, .attach_point = point);
	LIBBPF_OPTS(bpf_tc_opts, options, .prog_fd = hop->program_fd);

	if (refused_namespace == EPERM)
		skip_refused("network namespace", refused_namespace);
	assert_int_equal(refused_namespace, 0);
	hop_ready();
	assert_int_equal(bpf_tc_hook_create(&hook), 0);
	assert_int_equal(bpf_tc_attach(&hook, &options), 0);
}

static int remove_hook(void **state)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = LOOPBACK_IFINDEX, .attach_point = BPF_TC_INGRESS | BPF_TC_EGRESS);

	(void)state;
	if (!refused_namespace)
		bpf_tc_hook_destroy(&hook); /* fails when the test was skipped before it made one */
	return 0;
}

/* 1 when the frame passed the hook of the way out, 0 when it was dropped there: the packet socket is told. */
static int send_frame(const struct virtio_net_hdr *header, const unsigned char *frame, size_t bytes)
{
	struct iovec parts[] = {
		{ (void *)header, sizeof(*header) },
		{ (void *)frame, bytes },
	};
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };
	ssize_t sent;

	do {
		sent = sendmsg(packet_socket, &message, 0);
	} while (sent < 0 && errno == EINTR);
	if (sent < 0 && errno != ENOBUFS)
		fail_msg("frame of %zu bytes: %s", bytes, strerror(errno));
	return sent >= 0;
}

/* Waits until the hook has seen one frame more; egress has when send returns, ingress soon after. */
static void wait_counted(uint64_t frames, struct hop_counters *counters)
{
	time_t give_up = time(NULL) + 10;

	do {
		hop_read_counters(counters);
	} while (counters->test_frames + counters->other_frames < frames && time(NULL) < give_up);
	assert_int_equal(counters->test_frames + counters->other_frames, frames);
}

static void expect_one(int ours, uint32_t bytes)
{
	struct hop_counters counters;

	wait_counted(1, &counters);
	assert_int_equal(counters.test_frames, ours);
	assert_int_equal(counters.test_bytes, ours ? bytes : 0);
	assert_int_equal(counters.other_frames, !ours);
	assert_int_equal(counters.other_bytes, ours ? 0 : bytes);
	assert_int_equal(counters.other_segments, !ours);
	assert_int_equal(counters.stamped + counters.stamp_errors, ours);
}

/* Wherever the linear part ends, in front of, in or behind the headers, a test frame is one. */
static void header_outside_of_linear_part(void **state)
{
	(void)state;
	hook_ready(BPF_TC_EGRESS);
	for (size_t kind = 0; kind < KINDS; kind++) {
		struct built_frame frame;

		test_frame_build_length(&kinds[kind], NON_LINEAR_BYTES, &frame);
		for (unsigned int linear = TEST_ETHERNET_BYTES; linear < test_frame_header_end(&frame) + 2; linear++) {
			struct virtio_net_hdr header = { .hdr_len = (uint16_t)linear };
			struct hop_counters counters;

			hop_ready();
			send_frame(&header, frame.bytes, frame.length);
			hop_read_counters(&counters);
			if (counters.test_frames != 1)
				fail_msg("IPv%u, headers of %u bytes, %u of them linear: not counted", frame.ip_version,
					 test_frame_header_end(&frame), linear);
			expect_one(1, frame.length);
		}
	}
}

static void truncated_at_every_byte(void **state)
{
	static const struct virtio_net_hdr header;

	(void)state;
	hook_ready(BPF_TC_EGRESS);
	for (size_t kind = 0; kind < KINDS; kind++) {
		struct built_frame frame;

		test_frame_build(&kinds[kind], &frame);
		for (unsigned int bytes = TEST_ETHERNET_BYTES; bytes <= frame.length; bytes++) {
			hop_ready();
			send_frame(&header, frame.bytes, bytes);
			expect_one(bytes == frame.length, bytes);
		}
	}
}

/* The kernel takes the outer tag out of a frame before tc sees it; on the wire it was there. */
static void bytes_of_a_tag_count(void **state)
{
	static const struct virtio_net_hdr header;

	(void)state;
	hook_ready(BPF_TC_INGRESS);
	for (size_t kind = 0; kind < KINDS; kind++) {
		struct built_frame frame;

		hop_ready();
		test_frame_build(&kinds[kind], &frame);
		send_frame(&header, frame.bytes, frame.length);
		expect_one(1, frame.length);
	}
}

static void sink_drops_ours_only(void **state)
{
	static const struct test_frame_spec foreign = { .ip_version = 4, .run_tag_xor = 1 };
	static const struct virtio_net_hdr header;
	struct hop_counters counters;
	struct built_frame frame;

	(void)state;
	hook_ready(BPF_TC_EGRESS);
	test_frame_build(&kinds[0], &frame);
	assert_int_equal(send_frame(&header, frame.bytes, frame.length), 1);
	hop->control->action = HOPCAP_HOP_DROP;
	assert_int_equal(send_frame(&header, frame.bytes, frame.length), 0);
	test_frame_build(&foreign, &frame);
	assert_int_equal(send_frame(&header, frame.bytes, frame.length), 1);
	wait_counted(3, &counters);
	assert_int_equal(counters.test_frames, 2);
	assert_int_equal(counters.other_frames, 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(header_outside_of_linear_part, remove_hook),
		cmocka_unit_test_teardown(truncated_at_every_byte, remove_hook),
		cmocka_unit_test_teardown(bytes_of_a_tag_count, remove_hook),
		cmocka_unit_test_teardown(sink_drops_ours_only, remove_hook),
	};

	refused_namespace = open_namespace();
	return hop_run_tc_group("at a real hook", tests, sizeof(tests) / sizeof(tests[0]));
}
