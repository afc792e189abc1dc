// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * AF_XDP where it cannot be had, or ends while frames are sent: each time the reason is said, and what was sent until
 * then is counted.
 */
#include <errno.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/capability.h>

#include "base/error.h"
#include "hop_xdp.skel.h"
#include "skip_because.h"
#include "sys/bpf_attach.h"
#include "sys/netdev_features.h"
#include "sys/rtnl.h"
#include "xsk_under_test.h"

static struct built_frame frame;
static struct port_template template;
static atomic_int stop;

static struct port_stream smallest(void)
{
	static const struct test_frame_spec spec = { .ip_version = 4 };

	test_frame_build(&spec, &frame);
	return xsk_stream(&frame, &template, &stop);
}

static struct port_config here(const char *interface)
{
	return (struct port_config){ .interface = interface, .ifindex = (int)if_nametoindex(interface) };
}

static void expect_text(const char *part)
{
	if (!strstr(error_text(), part))
		fail_msg("'%s' is not in '%s'", part, error_text());
}

static void test_features_of_veth(void **state)
{
	struct netdev_features features;

	(void)state;
	xsk_make_pair(1, 1500);
	if (netdev_features_get(XSK_NEAR, (int)if_nametoindex(XSK_NEAR), &features) == -EOPNOTSUPP)
		SKIP_BECAUSE("%s", error_text()); /* before Linux 6.3 */
	assert_true(features.xdp & NETDEV_XDP_BASIC);
	assert_true(features.xdp & NETDEV_XDP_REDIRECT);
	assert_false(features.xdp & NETDEV_XDP_ZERO_COPY);
	assert_int_equal(features.zero_copy_segments, 0);
	assert_int_equal(netdev_features_get("nothing", 0x7ffffff, &features), -ENODEV);
	expect_text("nothing: ");
}

static void test_zero_copy_is_not_copy(void **state)
{
	struct receiver *receiver = NULL;
	struct netdev_features features;
	struct port_config config;
	struct rtnl_link link;
	struct port *port = NULL;
	int known;

	(void)state;
	xsk_make_pair(1, 1500);
	config = here(XSK_NEAR);
	known = !netdev_features_get(XSK_NEAR, config.ifindex, &features);
	assert_int_equal(port_xsk_zero_copy.open(&config, &port), -EOPNOTSUPP);
	expect_text(known ? XSK_NEAR ": no AF_XDP zero-copy on queue 0: its driver veth does not declare XSK_ZEROCOPY"
			  : "veth has no zero-copy in this kernel");
	assert_null(port);
	assert_int_equal(receiver_xsk_zero_copy.open(&config, &receiver), -EOPNOTSUPP);
	assert_null(receiver);
	/* Nothing is left behind: no program, and the queue is free. */
	assert_int_equal(rtnl_link_get(XSK_NEAR, &link), 0);
	assert_int_equal(link.xdp_program_id, 0);
	port_xsk_copy.close(xsk_port(XSK_NEAR, 0, 0));
}

static void test_no_such_queue(void **state)
{
	struct receiver *receiver = NULL;
	struct port_config config;
	struct port *port = NULL;

	(void)state;
	xsk_make_pair(2, 1500);
	config = here(XSK_NEAR);
	config.queue = 2;
	assert_int_equal(port_xsk_copy.open(&config, &port), -EINVAL);
	expect_text("there is no queue 2: it has 2 for receiving and 2 for sending");
	assert_int_equal(receiver_xsk_copy.open(&config, &receiver), -EINVAL);
	expect_text("there is no queue 2");
	config.queue = -1;
	assert_int_equal(port_xsk_copy.open(&config, &port), -EINVAL);
	config.queue = 256;
	assert_int_equal(port_xsk_copy.open(&config, &port), -EINVAL);
	config.queue = 0;
	config.ring_entries = 1000;
	assert_int_equal(port_xsk_copy.open(&config, &port), -EINVAL);
	expect_text("a power of two from 64 to 4096");
	config = here(XSK_NEAR);
	config.ifindex = 0x7ffffff;
	assert_int_equal(port_xsk_copy.open(&config, &port), -ENODEV);
}

static void test_queue_is_taken(void **state)
{
	struct receiver *receiver = NULL, *second = NULL;
	struct port *port, *other = NULL;
	struct port_config config;
	int status, gate[2];
	pid_t child;

	(void)state;
	xsk_make_pair(1, 1500);
	config = here(XSK_NEAR);
	port = xsk_port(XSK_NEAR, 0, 0);
	assert_int_equal(port_xsk_copy.open(&config, &other), -EBUSY);
	expect_text("this process sends on queue 0 already");
	assert_int_equal(receiver_xsk_copy.open(&config, &receiver), 0);
	assert_int_equal(receiver_xsk_copy.open(&config, &second), -EBUSY);
	expect_text("this process receives on queue 0 already");
	receiver_xsk_copy.close(receiver);
	port_xsk_copy.close(port);
	/* Another process. */
	assert_int_equal(pipe(gate), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		_exit(!(!port_xsk_copy.open(&config, &port) && write(gate[1], "x", 1) == 1 && pause()));
	}
	assert_int_equal(read(gate[0], &status, 1), 1);
	assert_int_equal(port_xsk_copy.open(&config, &other), -EBUSY);
	expect_text("another AF_XDP socket holds this queue");
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	close(gate[0]);
	close(gate[1]);
}

/* Somebody else's program stays, and the receiver says whose it is. */
static void test_other_program_stays(void **state)
{
	struct hop_xdp_bpf *other = hop_xdp_bpf__open();
	struct bpf_attachment attachment;
	struct receiver *receiver = NULL;
	struct port_config config;
	struct rtnl_link before, after;

	(void)state;
	xsk_make_pair(1, 1500);
	config = here(XSK_FAR);
	assert_non_null(other);
	assert_int_equal(bpf_map__set_max_entries(other->maps.hop_ledger, 64), 0);
	assert_int_equal(hop_xdp_bpf__load(other), 0);
	assert_int_equal(bpf_attach_xdp(bpf_program__fd(other->progs.hop_xdp), XSK_FAR, config.ifindex, 1, &attachment),
			 0);
	assert_int_equal(rtnl_link_get(XSK_FAR, &before), 0);
	assert_int_equal(receiver_xsk_copy.open(&config, &receiver), -EBUSY);
	expect_text("program hop_xdp (id ");
	assert_int_equal(rtnl_link_get(XSK_FAR, &after), 0);
	assert_int_equal(after.xdp_program_id, before.xdp_program_id);
	bpf_detach(&attachment);
	hop_xdp_bpf__destroy(other);
}

/* In a process of its own: without CAP_IPC_LOCK, and little may be locked. */
static int open_with_little_memory(int writer)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];
	struct rlimit limit = { 1 << 20, 1 << 20 };
	struct port_config config = here(XSK_NEAR);
	struct port *port = NULL;
	int code;

	if (syscall(SYS_capget, &header, data))
		return 1;
	data[0].effective &= ~(1u << CAP_IPC_LOCK);
	data[0].permitted &= ~(1u << CAP_IPC_LOCK);
	data[0].inheritable = 0;
	data[1].inheritable = 0;
	if (syscall(SYS_capset, &header, data) || setrlimit(RLIMIT_MEMLOCK, &limit))
		return 2;
	code = port_xsk_copy.open(&config, &port);
	if (code != -ENOBUFS)
		return 3;
	if (write(writer, error_text(), strlen(error_text())) < 0)
		return 4;
	config.ring_entries = 64; /* 192 chunks of 2 KiB: fits */
	return port_xsk_copy.open(&config, &port) ? 5 : 0;
}

static void test_locked_memory(void **state)
{
	char text[512] = "";
	int status, ends[2];
	pid_t child;

	(void)state;
	xsk_make_pair(1, 1500);
	assert_int_equal(pipe(ends), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child)
		_exit(open_with_little_memory(ends[1]));
	close(ends[1]);
	assert_true(read(ends[0], text, sizeof(text) - 1) >= 0);
	close(ends[0]);
	waitpid(child, &status, 0);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	if (!strstr(text, "cannot register 12582912 bytes") || !strstr(text, "`ulimit -l` says 1024") ||
	    !strstr(text, "`ulimit -l 12288`"))
		fail_msg("not enough is said: '%s'", text);
}

struct ending {
	const char *command;
	struct xsk_reader *reader;
};

/* Once frames are on their way. */
static void *end_interface(void *context)
{
	const struct ending *ending = context;

	xsk_wait(&ending->reader->frames, 1000);
	xsk_command("%s", ending->command);
	return NULL;
}

/* `ip link del`, and `ip link set down`, while frames are sent and received. */
static void check_end(const char *command, int deleted)
{
	struct xsk_reader reader = { 0 };
	struct ending ending = { command, &reader };
	struct port_stream stream;
	struct port_sent sent;
	struct port *port;
	pthread_t thread;
	int code;

	xsk_make_pair(1, 1500);
	stream = smallest();
	stream.interval_ns = 10000;
	xsk_reader_start(&reader, XSK_FAR, 0, 0);
	port = xsk_port(XSK_NEAR, 0, 0);
	assert_int_equal(pthread_create(&thread, NULL, end_interface, &ending), 0);
	code = port_xsk_copy.send(port, &stream, &sent);
	expect_text(deleted ? XSK_NEAR ": AF_XDP cannot send on queue 0: the interface is gone"
			    : XSK_NEAR ": AF_XDP cannot send on queue 0: the interface went down");
	assert_true(code == -ENETDOWN || (deleted && code == -ENXIO));
	pthread_join(thread, NULL);
	assert_true(sent.frames > 100);
	assert_true(sent.frames < 1000000);
	assert_int_equal(sent.bytes, sent.frames * HOPCAP_MIN_FRAME_BYTES);
	if (deleted) {
		pthread_join(reader.thread, NULL); /* ends by itself */
		assert_int_equal(reader.code, -ENETDOWN);
		assert_non_null(
			strstr(reader.error, XSK_FAR ": AF_XDP stopped receiving on queue 0: the interface is gone"));
	} else {
		assert_int_equal(xsk_reader_stop(&reader), 0);
	}
	assert_true(reader.frames > 0);
	assert_true(reader.frames <= sent.frames);
	xsk_reader_close(&reader);
	port_xsk_copy.close(port);
}

static void test_interface_goes_away(void **state)
{
	(void)state;
	check_end("ip link del " XSK_NEAR, 1);
}

static void test_interface_goes_down(void **state)
{
	(void)state;
	check_end("ip link set " XSK_NEAR " down", 0);
}

/* The device is a bridge, and at its port stands a shaper that lets one frame pass a minute, with room for all: no
 * frame comes back, and the port says so. (A veth end would not do: frames are given back when they cross it.) */
static void test_stuck(void **state)
{
	struct port_stream stream;
	struct port_sent sent;
	struct port *port;

	(void)state;
	xsk_make_pair(1, 1500);
	stream = smallest();
	xsk_command("ip link add span type bridge && ip link set span addrgenmode none up");
	xsk_command("ip link set " XSK_NEAR " master span");
	xsk_command("tc qdisc add dev " XSK_NEAR " root tbf rate 8bit burst 2000 limit 1000000000");
	port = xsk_port("span", 0, 0);
	assert_int_equal(port_xsk_copy.send(port, &stream, &sent), -ETIMEDOUT);
	expect_text("AF_XDP is stuck on queue 0: for 2000 ms the driver took no frame and gave none back");
	assert_true(sent.frames >= 1000);
	assert_true(sent.frames < 100000);
	assert_int_equal(sent.bytes, sent.frames * HOPCAP_MIN_FRAME_BYTES);
	/* The shaper goes, all frames come back, and the port works again. */
	xsk_command("tc qdisc del dev " XSK_NEAR " root");
	stream.frames = 5000;
	if (port_xsk_copy.send(port, &stream, &sent))
		fail_msg("%s", error_text());
	assert_int_equal(sent.frames, 5000);
	port_xsk_copy.close(port);
	xsk_command("ip link del span");
}

static void test_too_large(void **state)
{
	struct port_stream stream;
	struct port_sent sent;
	struct port *port;

	(void)state;
	xsk_make_pair(1, 1500);
	stream = smallest();
	port = xsk_port(XSK_NEAR, 0, 0);
	template.frame_bytes = 40; /* no room for the test header */
	assert_int_equal(port_xsk_copy.send(port, &stream, &sent), -EINVAL);
	assert_int_equal(sent.frames, 0);
	expect_text("its templates are wrong");
	port_xsk_copy.close(port);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_features_of_veth),
		cmocka_unit_test(test_zero_copy_is_not_copy),
		cmocka_unit_test(test_no_such_queue),
		cmocka_unit_test(test_queue_is_taken),
		cmocka_unit_test(test_other_program_stays),
		cmocka_unit_test(test_locked_memory),
		cmocka_unit_test(test_interface_goes_away),
		cmocka_unit_test(test_interface_goes_down),
		cmocka_unit_test(test_stuck),
		cmocka_unit_test(test_too_large),
	};

	return cmocka_run_group_tests(tests, xsk_enter, NULL);
}
