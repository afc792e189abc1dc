// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Live frames and AF_PACKET over a veth pair in a network namespace of this process alone: every frame that arrives is
 * compared byte by byte with what it must be, and every sequence must arrive once.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>

#include "base/error.h"
#include "port/numbering.h"
#include "port/pacer.h"
#include "port/port.h"
#include "skip_because.h"
#include "sys/link_settings.h"
#include "sys/rtnl.h"
#include "traffic/frame.h"

#define OUT "hc-out"
#define IN "hc-in"
#define MAX_SENT 20000
#define RUN_TAG 0xcafe

static int privileged;

struct arrivals {
	int socket;
	const struct port_stream *stream;
	int checksum_counts; /* 0: the frames were cut from super-frames: the device may still owe the UDP checksum */
	unsigned int frames, others, doubled, wrong, flows;
	unsigned char seen[MAX_SENT], ports[65536];
	char first_wrong[200];
};

static struct arrivals arrivals;

static void wake_up(int number)
{
	(void)number;
}

static int make_pair(void **state)
{
	const struct sigaction action = { .sa_handler = wake_up };

	(void)state;
	sigaction(SIGUSR1, &action, NULL);
	privileged = !unshare(CLONE_NEWNET);
	if (!privileged) {
		printf("skipped: a network namespace needs root\n");
		return 0;
	}
	if (rtnl_veth_create(OUT, IN, "", 9000) || rtnl_link_set_up(OUT) || rtnl_link_set_up(IN) ||
	    link_set_gro(IN, 1) || link_set_segmentation(OUT, 0)) {
		print_error("%s\n", error_text());
		return -1;
	}
	return 0;
}

#define NEEDS_PAIR()             \
	do {                     \
		(void)state;     \
		if (!privileged) \
			SKIP_BECAUSE("a network namespace needs root"); \
	} while (0)

/* --- receiving --- */

static void listen_to(const struct port_stream *stream)
{
	struct sockaddr_ll address = { .sll_family = AF_PACKET,
				       .sll_protocol = htons(ETH_P_ALL),
				       .sll_ifindex = (int)if_nametoindex(IN) };
	struct timeval patience = { .tv_usec = 300000 };
	int bytes = 128 << 20, on = 1;

	memset(&arrivals, 0, sizeof(arrivals));
	arrivals.stream = stream;
	arrivals.checksum_counts = 1;
	arrivals.socket = socket(AF_PACKET, SOCK_RAW, 0);
	assert_true(arrivals.socket >= 0);
	setsockopt(arrivals.socket, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes));
	setsockopt(arrivals.socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	assert_int_equal(setsockopt(arrivals.socket, SOL_PACKET, PACKET_AUXDATA, &on, sizeof(on)), 0);
	assert_int_equal(bind(arrivals.socket, (struct sockaddr *)&address, sizeof(address)), 0);
}

/* One frame as it was on the wire: the kernel takes the outer tag out. Its length; 0 when none comes any more. */
static unsigned int next_arrival(unsigned char *frame, unsigned int size)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(struct tpacket_auxdata))];
	} control;
	struct iovec vector = { frame, size };
	struct msghdr message = {
		.msg_iov = &vector, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)
	};
	ssize_t bytes = recvmsg(arrivals.socket, &message, 0);
	struct tpacket_auxdata aux;
	struct cmsghdr *header;

	if (bytes <= 0)
		return 0;
	header = CMSG_FIRSTHDR(&message);
	assert_non_null(header);
	memcpy(&aux, CMSG_DATA(header), sizeof(aux));
	if (!(aux.tp_status & TP_STATUS_VLAN_VALID))
		return (unsigned int)bytes;
	memmove(frame + 16, frame + 12, (size_t)bytes - 12);
	port_put_be(frame + 12, aux.tp_vlan_tpid, 2);
	port_put_be(frame + 14, aux.tp_vlan_tci, 2);
	return (unsigned int)bytes + 4;
}

/* What frame `sequence` must be, stamped like `frame`. */
static void expect_frame(unsigned char *expected, const unsigned char *frame, uint32_t sequence)
{
	const struct port_stream *stream = arrivals.stream;
	const struct port_template *template = &stream->templates[sequence % stream->template_count];
	struct numbering numbering = numbering_of(template);
	uint64_t origin_ns = 0;

	for (unsigned int i = 0; i < 6; i++)
		origin_ns = origin_ns << 8 | frame[template->header_offset + HOPCAP_OFFSET_ORIGIN_HIGH16 + i];
	memcpy(expected, template->frame, template->frame_bytes);
	numbering_write(expected, &numbering, sequence, sequence % stream->flows,
			stream->stamp_interval && !(sequence & (stream->stamp_interval - 1)) ? origin_ns : 0);
}

static void check_arrival(unsigned char *frame, unsigned int bytes)
{
	static unsigned char expected[HOPCAP_MAX_FRAME_BYTES];
	const struct port_template *template = arrivals.stream->templates;
	uint32_t sequence, port;

	/* All templates of one test have their header at the same place, or are told apart by their length. */
	for (unsigned int i = 0; i < arrivals.stream->template_count; i++)
		if (arrivals.stream->templates[i].frame_bytes == bytes)
			template = &arrivals.stream->templates[i];
	if (bytes < template->header_offset + 18 || port_get16(frame + template->header_offset) != RUN_TAG) {
		arrivals.others++;
		return;
	}
	arrivals.frames++;
	sequence = (uint32_t)port_get16(frame + template->header_offset + HOPCAP_OFFSET_SEQUENCE) << 16 |
		   port_get16(frame + template->header_offset + HOPCAP_OFFSET_SEQUENCE + 2);
	port = port_get16(frame + template->udp_offset);
	arrivals.flows += !arrivals.ports[port];
	arrivals.ports[port] = 1;
	if (sequence < MAX_SENT)
		arrivals.doubled += arrivals.seen[sequence]++;
	template = &arrivals.stream->templates[sequence % arrivals.stream->template_count];
	expect_frame(expected, frame, sequence);
	if (!arrivals.checksum_counts) {
		memcpy(expected + template->udp_offset, frame + template->udp_offset, 2); /* flows go by super-frame */
		memcpy(expected + template->udp_offset + 6, frame + template->udp_offset + 6, 2);
		if (port_get16(frame + 12) == ETH_P_IP) {
			assert_int_equal(frame_checksum(frame + 14, 20), 0);
			memcpy(expected + 18, frame + 18, 2); /* identifications count up */
			memcpy(expected + 24, frame + 24, 2);
		}
	}
	if (sequence < MAX_SENT && bytes == template->frame_bytes && !memcmp(frame, expected, bytes))
		return;
	if (!arrivals.wrong++) {
		unsigned int at = 0;

		while (at < bytes && at < template->frame_bytes && frame[at] == expected[at])
			at++;
		snprintf(arrivals.first_wrong, sizeof(arrivals.first_wrong),
			 "sequence %u, %u bytes: byte %u is %02x, not %02x", sequence, bytes, at, frame[at],
			 expected[at]);
	}
}

static void receive_all(void)
{
	static unsigned char frame[70000];
	unsigned int bytes;

	while ((bytes = next_arrival(frame, sizeof(frame) - 4)))
		check_arrival(frame, bytes);
	close(arrivals.socket);
}

/* --- sending --- */

static void open_port(const struct port_ops *ops, struct port_config config, struct port **port)
{
	config.interface = OUT;
	config.ifindex = (int)if_nametoindex(OUT);
	if (ops->open(&config, port))
		fail_msg("%s", error_text());
}

/* Sends the stream, and expects each of its frames just once. */
static void send_and_compare(const struct port_ops *ops, const struct port_config *config, struct port_stream *stream,
			     int super_frames)
{
	static struct port_sent sent;
	atomic_int stop = 0;
	struct port *port;
	int code;

	open_port(ops, *config, &port);
	listen_to(stream);
	arrivals.checksum_counts = !super_frames;
	stream->stop = &stop;
	code = ops->send(port, stream, &sent);
	if (code)
		fail_msg("%s: %s", run_port_name(ops->kind), error_text());
	receive_all();
	ops->close(port);
	assert_int_equal(sent.frames, stream->frames);
	assert_int_equal(sent.refused, 0);
	assert_int_equal(sent.bytes, numbering_stream_bytes(stream, stream->frames));
	if (arrivals.wrong)
		fail_msg("%s: %u wrong frames; %s", run_port_name(ops->kind), arrivals.wrong, arrivals.first_wrong);
	assert_int_equal(arrivals.doubled, 0);
	assert_int_equal(arrivals.frames, stream->frames);
	if (stream->interval_ns > 0) {
		assert_int_equal(histogram_count(&sent.lateness_ns), stream->frames);
		assert_true(sent.last_ns > sent.first_ns);
	}
}

static struct port_template *build(const struct frame_spec *specs, unsigned int count)
{
	static struct port_template templates[PORT_MAX_TEMPLATES];
	static unsigned char frames[PORT_MAX_TEMPLATES][HOPCAP_MAX_FRAME_BYTES];

	for (unsigned int i = 0; i < count; i++) {
		struct frame_spec spec = specs[i];

		spec.run_tag = RUN_TAG;
		assert_int_equal(frame_check(&spec), 0);
		templates[i] = frame_template(&spec, frames[i]);
	}
	return templates;
}

static const struct frame_spec kinds[] = {
	{ .frame_bytes = 60 },
	{ .frame_bytes = 1514 },
	{ .frame_bytes = 80, .ipv6 = 1 },
	{ .frame_bytes = 1301, .ipv6 = 1 },
	{ .frame_bytes = 64, .tag_count = 1, .tags = { { 0x8100, 100 } } },
	{ .frame_bytes = 88, .ipv6 = 1, .tag_count = 2, .tags = { { 0x88a8, 100 }, { 0x8100, 0xe007 } } },
	{ .frame_bytes = 1000, .ipv6 = 1, .tag_count = 2, .tags = { { 0x88a8, 100 }, { 0x8100, 0xe007 } } },
	{ .frame_bytes = 513, .tag_count = 2, .tags = { { 0x88a8, 100 }, { 0x8100, 0xe007 } } },
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static const struct port_config plain_config;
static const struct port_ops *const both[] = { &port_live, &port_packet };

/* Each kind of frame alone: the plain and the general live program, clones. */
static void every_kind_of_frame(void **state)
{
	NEEDS_PAIR();
	for (size_t i = 0; i < 2 * KINDS; i++) {
		struct port_stream stream = { .templates = build(&kinds[i / 2], 1),
					      .template_count = 1,
					      .flows = 1,
					      .interval_ns = 20000,
					      .frames = 300,
					      .stamp_interval = 4 };

		send_and_compare(both[i % 2], &plain_config, &stream, 0);
		stream.flows = 5;
		send_and_compare(both[i % 2], &plain_config, &stream, 0);
		assert_int_equal(arrivals.flows, 5);
	}
}

/* All kinds in turn, over many flows, in bursts and with a ramp; live frames are cut from one page, AF_PACKET sends
 * lists. */
static void mixes_and_flows(void **state)
{
	NEEDS_PAIR();
	for (size_t i = 0; i < 2; i++) {
		struct port_stream stream = { .templates = build(kinds, KINDS),
					      .template_count = KINDS,
					      .flows = 1009,
					      .interval_ns = 20000,
					      .frames = 4000,
					      .stamp_interval = 1,
					      .burst = 20,
					      .ramp_s = 0.02 };

		send_and_compare(both[i], &plain_config, &stream, 0);
		assert_int_equal(arrivals.flows, 1009);
	}
}

static void large_frames(void **state)
{
	static const struct frame_spec large = { .frame_bytes = 9014 }, large6 = { .frame_bytes = 9014, .ipv6 = 1 };
	struct port_stream stream = { .templates = build(&large, 1),
				      .template_count = 1,
				      .flows = 3,
				      .interval_ns = 20000,
				      .frames = 1000,
				      .stamp_interval = 2 };
	static const struct port_config qdisc = { .qdisc = 1 };

	NEEDS_PAIR();
	send_and_compare(&port_packet, &plain_config, &stream, 0);
	stream.templates = build(&large6, 1);
	send_and_compare(&port_packet, &qdisc, &stream, 0);
	assert_int_equal(arrivals.flows, 3);
}

/* UDP super-frames from AF_PACKET need Linux 6.2; an older kernel's answer becomes a reason. */
static void needs_super_frames(void)
{
	static const struct frame_spec spec = { .frame_bytes = 1000 };
	atomic_int stop = 0;
	struct port_stream stream = { .templates = build(&spec, 1), .template_count = 1, .flows = 1, .frames = 10, .stop = &stop };
	static struct port_sent sent;
	struct port *port;

	if (!kernel_is_before(6, 2))
		return;
	open_port(&port_packet, (struct port_config){ .super_bytes = 65535 }, &port);
	assert_true(port_packet.send(port, &stream, &sent) < 0);
	port_packet.close(port);
	assert_non_null(strstr(error_text(), "6.2 or newer is needed"));
	SKIP_BECAUSE("%s", error_text());
}

/* Cut by the kernel in front of the device, since its segmentation is off. The last super-frame is a shorter one. */
static void super_frames(void **state)
{
	static const struct port_config super = { .super_bytes = 65535 };
	struct port_stream stream = {
		.template_count = 1, .flows = 4, .interval_ns = 20000, .frames = 1000, .stamp_interval = 8
	};

	NEEDS_PAIR();
	needs_super_frames();
	for (size_t kind = 0; kind < 4; kind++) {
		struct frame_spec spec = kinds[kind];

		if (spec.frame_bytes < 1000) /* one super-frame of these would not fit the veth ring */
			spec.frame_bytes = 1000;
		stream.templates = build(&spec, 1);
		send_and_compare(&port_packet, &super, &stream, 1);
		assert_int_equal(arrivals.flows, 4);
	}
}

/* Frames that are not ours leave as they are, at their own times, pass after pass. */
static void foreign_frames(void **state)
{
	static unsigned char bytes[3][200], frame[300];
	static const uint64_t departures_ns[] = { 0, 1000000, 1500000 };
	struct port_template templates[3];
	atomic_int stop = 0;
	struct port_stream stream = { .templates = templates,
				      .template_count = 3,
				      .flows = 1,
				      .frames = 30,
				      .stop = &stop,
				      .departures_ns = departures_ns,
				      .pass_ns = 2000000 };
	static struct port_sent sent;
	unsigned int next = 0, length;
	struct port *port;

	NEEDS_PAIR();
	for (unsigned int i = 0; i < 3; i++) {
		memset(bytes[i], 0x10 + (int)i, sizeof(bytes[i]));
		port_put_be(bytes[i] + 12, 0x88b5, 2); /* local experiments */
		templates[i] = (struct port_template){ .frame = bytes[i],
						       .frame_bytes = 100 + i,
						       .header_offset = PORT_NO_HEADER };
	}
	open_port(&port_packet, plain_config, &port);
	listen_to(&stream);
	assert_int_equal(port_packet.send(port, &stream, &sent), 0);
	while ((length = next_arrival(frame, sizeof(frame) - 4))) {
		if (port_get16(frame + 12) != 0x88b5)
			continue;
		assert_int_equal(length, 100 + next % 3);
		assert_memory_equal(frame, bytes[next % 3], length);
		next++;
	}
	close(arrivals.socket);
	assert_int_equal(next, 30);
	assert_int_equal(sent.frames, 30);
	assert_int_equal(sent.bytes, 10 * (100 + 101 + 102));
	/* Slips aside, the last frame leaves 9 passes and 1.5 ms after the first one. */
	assert_true(sent.last_ns - sent.first_ns >= 19500000);
	assert_true(sent.last_ns - sent.first_ns <= 19500000 + sent.slipped_ns + sent.late_max_ns);
	port_packet.close(port);
}

/* --- together, and without --- */

struct sender {
	const struct port_ops *ops;
	struct port *port;
	struct port_stream stream;
	struct port_sent sent;
	atomic_int stop;
	int code;
	char error[256];
};

static void *send_one(void *argument)
{
	struct sender *sender = argument;

	sender->stream.stop = &sender->stop;
	sender->code = sender->ops->send(sender->port, &sender->stream, &sender->sent);
	snprintf(sender->error, sizeof(sender->error), "%s", error_text());
	return NULL;
}

static uint64_t received_frames(void)
{
	struct rtnl_link link;

	assert_int_equal(rtnl_link_get(IN, &link), 0);
	return link.rx_frames;
}

/* Two ports of one interface at once: each sends all of its own stream, and nothing is lost at this rate. */
static void two_ports_at_once(void **state)
{
	static struct sender senders[2];
	pthread_t threads[2];
	uint64_t before;

	NEEDS_PAIR();
	before = received_frames();
	for (unsigned int i = 0; i < 2; i++) {
		senders[i].ops = &port_live;
		senders[i].stream = (struct port_stream){ .templates = build(kinds, KINDS),
							  .template_count = KINDS,
							  .flows = 16,
							  .interval_ns = 50000,
							  .frames = 4000,
							  .stamp_interval = 64 };
		open_port(&port_live, plain_config, &senders[i].port);
	}
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, send_one, &senders[i]), 0);
	for (unsigned int i = 0; i < 2; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(senders[i].code, 0);
		assert_int_equal(senders[i].sent.frames, 4000);
		port_live.close(senders[i].port);
	}
	assert_true(received_frames() - before >= 8000);
}

/* The interface is deleted in mid-stream: the call ends by itself, with an error that says so and the count until
 * then. */
static void interface_goes_away(const struct port_ops *ops, unsigned int template_count, double interval_ns)
{
	static struct sender sender;
	uint64_t begin_ns, gone_ns;
	pthread_t thread;

	memset(&sender, 0, sizeof(sender));
	sender.ops = ops;
	sender.stream = (struct port_stream){ .templates = build(kinds, template_count),
					      .template_count = template_count,
					      .flows = 2,
					      .interval_ns = interval_ns,
					      .frames = UINT32_MAX,
					      .stamp_interval = 64 };
	open_port(ops, plain_config, &sender.port);
	begin_ns = pacer_now_ns();
	assert_int_equal(pthread_create(&thread, NULL, send_one, &sender), 0);
	while ((ops->progress ? ops->progress(sender.port) : __atomic_load_n(&sender.sent.frames, __ATOMIC_RELAXED)) == 0 &&
	       pacer_now_ns() - begin_ns < 5000000000ull)
		usleep(1000);
	gone_ns = pacer_now_ns();
	assert_int_equal(rtnl_link_delete(OUT), 0);
	pthread_join(thread, NULL);
	assert_true(pacer_now_ns() - gone_ns < 5000000000ull);
	if (sender.code != -ENODEV && sender.code != -ENETDOWN)
		fail_msg("%s: %d %s", run_port_name(ops->kind), sender.code, sender.error);
	assert_non_null(strstr(sender.error, OUT ": the interface went "));
	assert_true(sender.sent.frames > 0 && sender.sent.bytes >= 60 * sender.sent.frames);
	if (interval_ns > 0) /* no more than were due when it went */
		assert_true((double)sender.sent.frames <= (double)(pacer_now_ns() - begin_ns) / interval_ns + 1);
	ops->close(sender.port);
	assert_int_equal(make_pair(NULL), 0); /* in a namespace of its own again */
}

static void interface_that_goes_away(void **state)
{
	NEEDS_PAIR();
	interface_goes_away(&port_live, 1, 0);
	interface_goes_away(&port_live, KINDS, 10000);
	interface_goes_away(&port_packet, 1, 10000);
	interface_goes_away(&port_packet, KINDS, 0);
}

/* What a port cannot send it refuses with a reason, and sends none of it. */
static void impossible_streams(void **state)
{
	static struct port_sent sent;
	atomic_int stop = 0;
	struct port_template odd[2];
	struct port_stream stream = { .templates = odd, .flows = 1, .frames = 10, .stop = &stop };
	static unsigned char other[1514];
	struct port *live, *packet;

	NEEDS_PAIR();
	open_port(&port_live, plain_config, &live);
	open_port(&port_packet, plain_config, &packet);
	memcpy(odd, build(kinds, 2), sizeof(odd));
	assert_int_equal(port_live.send(live, &stream, &sent), -EINVAL); /* no template */
	assert_int_equal(port_packet.send(packet, &stream, &sent), -EINVAL);
	stream.template_count = PORT_MAX_REPLAY + 1;
	assert_int_equal(port_packet.send(packet, &stream, &sent), -EINVAL);
	stream.template_count = 2;
	memcpy(other, odd[1].frame, sizeof(other));
	other[700] ^= 1;
	odd[0] = odd[1];
	odd[0].frame = other;
	assert_int_equal(port_live.send(live, &stream, &sent), -EINVAL);
	assert_non_null(strstr(error_text(), "one payload"));
	odd[0].header_offset = 79;
	assert_int_equal(port_live.send(live, &stream, &sent), -EINVAL);
	assert_int_equal(port_packet.send(packet, &stream, &sent), -EINVAL);
	assert_int_equal(sent.frames, 0);
	port_live.close(live);
	port_packet.close(packet);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_of_frame),
		cmocka_unit_test(mixes_and_flows),
		cmocka_unit_test(large_frames),
		cmocka_unit_test(super_frames),
		cmocka_unit_test(foreign_frames),
		cmocka_unit_test(two_ports_at_once),
		cmocka_unit_test(interface_that_goes_away),
		cmocka_unit_test(impossible_streams),
	};

	return cmocka_run_group_tests_name("ports over a veth pair", tests, make_pair, NULL);
}
