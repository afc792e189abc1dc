// SPDX-License-Identifier: GPL-2.0-or-later
/* Two bridges side by side; see bridge_pair.h. */
#include "bridge_pair.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>

#include "base/error.h"
#include "sys/bridge_fdb.h"
#include "test_frames.h"

#define ETHERTYPE_TEST 0x88b6
#define PATIENCE_MS 5000

struct pair pair;

static int control_socket = -1, netlink_socket = -1;

static void command(const char *format, ...)
{
	va_list arguments;
	char line[512];

	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	if (system(line))
		fail_msg("'%s' failed", line);
}

static void pause_us(long us)
{
	const struct timespec pause = { .tv_nsec = us * 1000 };

	nanosleep(&pause, NULL);
}

const char *pair_port_name(int world, int port)
{
	static const char *const names[PAIR_WORLDS][PAIR_PORTS] = { { "a0", "a1", "a2", "a3", "a4" },
								    { "b0", "b1", "b2", "b3", "b4" } };

	return names[world][port];
}

static int write_file(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), written;

	if (fd < 0)
		return -errno;
	written = write(fd, value, strlen(value)) < 0 ? -errno : 0;
	close(fd);
	return written;
}

static int port_state(int world, int port)
{
	char path[96], text[8] = "";
	int fd;

	snprintf(path, sizeof(path), "/sys/class/net/%s/brport/state", pair_port_name(world, port));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(fd);
	return atoi(text);
}

static void wait_for_state(int port, int wanted)
{
	for (int world = 0; world < PAIR_WORLDS; world++) {
		for (int i = 0; i < PATIENCE_MS * 10 && port_state(world, port) != wanted; i++)
			pause_us(100);
		assert_int_equal(port_state(world, port), wanted);
	}
}

static int open_end(const char *name)
{
	struct sockaddr_ll address = { .sll_family = AF_PACKET,
				       .sll_protocol = htons(ETH_P_ALL),
				       .sll_ifindex = (int)if_nametoindex(name) };
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), one = 1, bytes = 4 << 20;

	assert_true(fd >= 0);
	assert_int_equal(setsockopt(fd, SOL_PACKET, PACKET_AUXDATA, &one, sizeof(one)), 0);
	assert_int_equal(setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof(one)), 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes));
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static void make_world(int world)
{
	const char *bridge = world ? "brb" : "bra";

	command("ip link add %s address 02:bb:00:00:00:01 type bridge forward_delay 0 mcast_snooping 0 ageing_time 30000",
		bridge);
	for (int port = 0; port < PAIR_PORTS; port++) {
		const char *name = pair_port_name(world, port);

		command("ip link add %s address 02:aa:00:00:00:0%d numtxqueues 1 numrxqueues 1 type veth peer name %sx "
			"numtxqueues 1 numrxqueues 1 && ip link set %s addrgenmode none master %s up && ip link set %sx "
			"addrgenmode none up",
			name, port, name, name, bridge, name);
		pair.port_ifindex[world][port] = (int)if_nametoindex(name);
	}
	command("ip link set %s addrgenmode none up", bridge);
	pair.bridge_ifindex[world] = (int)if_nametoindex(bridge);
	for (int port = 0; port < PAIR_PORTS; port++) {
		char end[16];

		snprintf(end, sizeof(end), "%sx", pair_port_name(world, port));
		pair.socket[world][port] = open_end(end);
	}
}

int pair_make(void)
{
	static const char *const settings[] = { "iptables", "ip6tables", "arptables" };
	struct sockaddr_nl address = { .nl_family = AF_NETLINK };
	char path[96];

	if (unshare(CLONE_NEWNET | CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("sysfs", "/sys", "sysfs", 0, NULL))
		return errno;
	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "/proc/sys/net/bridge/bridge-nf-call-%s", settings[i]);
		write_file(path, "0"); /* a kernel without br_netfilter has none */
	}
	/* No frames of the stack between ours. */
	write_file("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1");
	write_file("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
	control_socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	netlink_socket = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	assert_int_equal(bind(netlink_socket, (struct sockaddr *)&address, sizeof(address)), 0);
	for (int world = 0; world < PAIR_WORLDS; world++)
		make_world(world);
	for (int port = 0; port < PAIR_PORTS; port++) {
		pair.is_up[port] = 1;
		wait_for_state(port, 3);
	}
	return 0;
}

void pair_unmake(void)
{
	for (int world = 0; world < PAIR_WORLDS; world++)
		for (int port = 0; port < PAIR_PORTS; port++) {
			close(pair.socket[world][port]);
			free(pair.heard[world][port].frames);
		}
	close(control_socket);
	close(netlink_socket);
}

/* --- changes --- */

static void call_ioctl(int world, int port, unsigned long request, struct ifreq *argument)
{
	snprintf(argument->ifr_name, sizeof(argument->ifr_name), "%s", pair_port_name(world, port));
	assert_int_equal(ioctl(control_socket, request, argument), 0);
}

void pair_set_mtu(int port, unsigned int mtu_bytes)
{
	for (int world = 0; world < PAIR_WORLDS; world++) {
		struct ifreq request = { .ifr_mtu = (int)mtu_bytes };

		call_ioctl(world, port, SIOCSIFMTU, &request);
	}
}

void pair_set_flag(int port, const char *attribute, int on)
{
	for (int world = 0; world < PAIR_WORLDS; world++) {
		char path[128];

		snprintf(path, sizeof(path), "/sys/class/net/%s/brport/%s", pair_port_name(world, port), attribute);
		assert_int_equal(write_file(path, on ? "1" : "0"), 0);
	}
}

void pair_flush(void)
{
	assert_int_equal(write_file("/sys/class/net/bra/bridge/flush", "1"), 0);
	assert_int_equal(write_file("/sys/class/net/brb/bridge/flush", "1"), 0);
}

/* Returns the kernel's answer. */
static int set_entry(int world, int port, const unsigned char address[6], int remove, unsigned int state,
		     unsigned int flags)
{
	struct {
		struct nlmsghdr header;
		struct ndmsg entry;
		struct nlattr attribute;
		unsigned char address[8];
	} request = { .header = { .nlmsg_len = sizeof(request) - 2,
				  .nlmsg_type = remove ? RTM_DELNEIGH : RTM_NEWNEIGH,
				  .nlmsg_flags = (uint16_t)(NLM_F_REQUEST | NLM_F_ACK |
							    (remove ? 0 : NLM_F_CREATE | NLM_F_REPLACE)) },
		      .entry = { .ndm_family = AF_BRIDGE,
				 .ndm_ifindex = pair.port_ifindex[world][port],
				 .ndm_state = (uint16_t)state,
				 .ndm_flags = (uint8_t)(NTF_MASTER | flags) },
		      .attribute = { .nla_len = NLA_HDRLEN + 6, .nla_type = NDA_LLADDR } };
	char answer[1024] __attribute__((aligned(4)));

	memcpy(request.address, address, 6);
	assert_int_equal(send(netlink_socket, &request, request.header.nlmsg_len, 0), request.header.nlmsg_len);
	assert_true(recv(netlink_socket, answer, sizeof(answer), 0) >= (ssize_t)NLMSG_LENGTH(sizeof(int)));
	return *(int *)NLMSG_DATA((struct nlmsghdr *)answer);
}

void pair_set_entry(int port, const unsigned char address[6], int remove, unsigned int state, unsigned int flags)
{
	int plain = set_entry(PAIR_PLAIN, port, address, remove, state, flags);

	assert_int_equal(set_entry(PAIR_FAST, port, address, remove, state, flags), plain);
}

struct search {
	int world, port;
	const unsigned char *address;
};

static int visit_entry(const struct bridge_fdb_entry *entry, void *context)
{
	struct search *search = context;

	if (memcmp(entry->address, search->address, 6) || entry->vlan)
		return 0;
	search->port = -2;
	for (int port = 0; port < PAIR_PORTS; port++)
		if (entry->port_ifindex == pair.port_ifindex[search->world][port])
			search->port = port;
	return 0;
}

static void restart(void *context)
{
	((struct search *)context)->port = -1;
}

int pair_port_of(int world, const unsigned char address[6])
{
	struct search search = { world, -1, address };

	assert_int_equal(bridge_fdb_dump(pair.bridge_ifindex[world], visit_entry, restart, &search), 0);
	return search.port;
}

/* --- frames --- */

void pair_send(int port, const void *frame, unsigned int bytes)
{
	ssize_t plain = send(pair.socket[PAIR_PLAIN][port], frame, bytes, 0);
	int plain_errno = plain < 0 ? errno : 0;
	ssize_t fast = send(pair.socket[PAIR_FAST][port], frame, bytes, 0);

	assert_int_equal(fast, plain);
	assert_int_equal(fast < 0 ? errno : 0, plain_errno);
}

/* FNV-1a, over the frame as it was on the wire. */
static uint64_t fingerprint(uint64_t hash, const unsigned char *bytes, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		hash = (hash ^ bytes[i]) * 1099511628211u;
	return hash;
}

static void note(struct pair_heard *heard, const unsigned char *frame, unsigned int bytes,
		 const struct tpacket_auxdata *auxiliary)
{
	unsigned char tag[4];
	unsigned int tag_bytes = 0, offset = 12;
	struct pair_frame *entry;

	if (auxiliary && auxiliary->tp_status & TP_STATUS_VLAN_VALID) {
		test_put_be(tag,
			    auxiliary->tp_status & TP_STATUS_VLAN_TPID_VALID ? auxiliary->tp_vlan_tpid : ETH_P_8021Q,
			    2);
		test_put_be(tag + 2, auxiliary->tp_vlan_tci, 2);
		tag_bytes = 4;
	}
	while (offset + 8 <= bytes &&
	       (test_get_be(frame + offset, 2) == ETH_P_8021Q || test_get_be(frame + offset, 2) == ETH_P_8021AD))
		offset += 4;
	if (bytes < offset + 6)
		return;
	if (heard->count == heard->capacity) {
		heard->capacity = heard->capacity ? 2 * heard->capacity : 256;
		heard->frames = realloc(heard->frames, heard->capacity * sizeof(*heard->frames));
		assert_non_null(heard->frames);
	}
	entry = &heard->frames[heard->count++];
	entry->sequence = (uint32_t)test_get_be(frame + offset + 2, 4);
	entry->bytes = bytes + tag_bytes;
	entry->fingerprint = fingerprint(14695981039346656037u, frame, 12);
	entry->fingerprint = fingerprint(entry->fingerprint, tag, tag_bytes);
	entry->fingerprint = fingerprint(entry->fingerprint, frame + 12, bytes - 12);
	memcpy(entry->flow, frame, 12);
}

static int hear_one(int world, int port)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(struct tpacket_auxdata))];
	} control;
	static unsigned char frame[2 * PAIR_MAX_BYTES];
	struct iovec vector = { frame, sizeof(frame) };
	struct msghdr message = {
		.msg_iov = &vector, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)
	};
	ssize_t bytes = recvmsg(pair.socket[world][port], &message, MSG_TRUNC);
	struct tpacket_auxdata *auxiliary = NULL;

	if (bytes < 0)
		return 0;
	for (struct cmsghdr *at = CMSG_FIRSTHDR(&message); at; at = CMSG_NXTHDR(&message, at))
		if (at->cmsg_level == SOL_PACKET && at->cmsg_type == PACKET_AUXDATA)
			auxiliary = (struct tpacket_auxdata *)CMSG_DATA(at);
	note(&pair.heard[world][port], frame, (unsigned int)bytes, auxiliary);
	return 1;
}

void pair_hear(void)
{
	for (int world = 0; world < PAIR_WORLDS; world++)
		for (int port = 0; port < PAIR_PORTS; port++)
			while (hear_one(world, port))
				;
}

void pair_forget(void)
{
	for (int world = 0; world < PAIR_WORLDS; world++)
		for (int port = 0; port < PAIR_PORTS; port++)
			pair.heard[world][port].count = 0;
}

/* Fences of this number that the collector has heard. */
static unsigned int fences_heard(int world, uint32_t sequence)
{
	const struct pair_heard *heard = &pair.heard[world][PAIR_COLLECTOR];
	unsigned int count = 0;

	for (unsigned int i = 0; i < heard->count; i++)
		count += heard->frames[i].sequence == sequence;
	return count;
}

static void make_fence(unsigned char frame[60], int port, uint32_t sequence)
{
	static const unsigned char head[14] = {
		255, 255, 255, 255, 255, 255, 6, 255, 0, 0, 0, 0, ETHERTYPE_TEST >> 8, ETHERTYPE_TEST & 255
	};

	memset(frame, 0, 60);
	memcpy(frame, head, sizeof(head));
	frame[11] = (unsigned char)port;
	test_put_be(frame + 14, sequence, 4);
}

int pair_pass_fence(void)
{
	unsigned char frame[60];
	uint32_t sequence = PAIR_FENCE | pair.fence++;
	unsigned int sent = 0;

	for (int port = 0; port < PAIR_COLLECTOR; port++) {
		if (!pair.is_up[port])
			continue;
		make_fence(frame, port, sequence);
		pair_send(port, frame, sizeof(frame));
		sent++;
	}
	for (int i = 0; i < PATIENCE_MS * 10; i++) {
		pair_hear();
		if (fences_heard(PAIR_PLAIN, sequence) == sent && fences_heard(PAIR_FAST, sequence) == sent)
			return 1;
		pause_us(i < 20 ? 10 : 100);
	}
	print_message("of %u fences %u came through the plain bridge, %u through the other\n", sent,
		      fences_heard(PAIR_PLAIN, sequence), fences_heard(PAIR_FAST, sequence));
	return 0;
}

int pair_counts_agree(void)
{
	for (int port = 0; port < PAIR_PORTS; port++)
		if (pair.heard[PAIR_PLAIN][port].count != pair.heard[PAIR_FAST][port].count)
			return 0;
	return 1;
}

static void wait_for_way(int world, int port)
{
	unsigned char frame[60];
	uint32_t sequence = PAIR_FENCE | pair.fence++;

	make_fence(frame, port, sequence);
	for (int i = 0; i < PATIENCE_MS && !fences_heard(world, sequence); i++) {
		if (send(pair.socket[world][port], frame, sizeof(frame), 0) < 0)
			assert_int_equal(errno, ENETDOWN);
		pause_us(1000);
		pair_hear();
	}
	assert_true(fences_heard(world, sequence) > 0);
}

void pair_set_up(int port, int up)
{
	for (int world = 0; world < PAIR_WORLDS; world++) {
		struct ifreq request = { 0 };

		call_ioctl(world, port, SIOCGIFFLAGS, &request);
		request.ifr_flags = (short)(up ? request.ifr_flags | IFF_UP : request.ifr_flags & ~IFF_UP);
		call_ioctl(world, port, SIOCSIFFLAGS, &request);
	}
	pair.is_up[port] = up;
	wait_for_state(port, up ? 3 : 0);
	if (!up)
		return;
	/* The other end hears of it, and may send, a moment later. */
	for (int world = 0; world < PAIR_WORLDS; world++)
		wait_for_way(world, port);
	pair_pass_fence();
	pair_forget();
}
