// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The fast path does what the bridge does: the same random frames and changes into a plain bridge and into an accelerated one, and
 * what comes out of every port is compared, byte for byte: no frame at a wrong port, none doubled, none lost, none out of order.
 *
 * SEQUENCES=N (default 200) and SEED=N in the environment. A sequence is some steps: bursts of frames, stations that move, changes of
 * ports and tables; after each the outputs must be the same. Moves of stations are followed by frames to them at once; after a
 * change by the administrator the test waits until the follower has heard of it, as nobody can be faster than a notification.
 */
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <linux/if_ether.h>
#include <linux/neighbour.h>

#include "accel/accel_state.h"
#include "accel/reasons.h"
#include "base/error.h"
#include "base/undo.h"
#include "bridge_pair.h"
#include "skip_because.h"
#include "sys/undo_actions.h"
#include "test_frames.h"

#define STATIONS 6
#define TESTED_PORTS 4
#define STEPS 24

static struct accel *accel;
static int refused;
static uint32_t next_sequence;
static unsigned int place[STATIONS]; /* port of each station */
static unsigned int mtu[TESTED_PORTS];
static uint64_t random_state;
static char trace[8192];
static unsigned long long fast_frames, compared_frames;

static void say(const char *format, ...)
{
	size_t used = strlen(trace);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(trace + used, sizeof(trace) - used, format, arguments);
	va_end(arguments);
}

/* xorshift64*: the same sequences everywhere. */
static unsigned int draw(unsigned int limit)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return (unsigned int)((random_state * 2685821657736338717u) >> 33) % limit;
}

static const unsigned char *station_address(unsigned int station)
{
	static unsigned char addresses[STATIONS][6];

	memcpy(addresses[station], "\x06\0\0\0\0", 5);
	addresses[station][5] = (unsigned char)(station + 1);
	return addresses[station];
}

/* All that the kernel has told so far has been heard: it tells before the change returns. */
static void settle(void)
{
	for (int i = 0; i < 50000; i++) {
		struct pollfd ready = { .fd = accel->follow.socket, .events = POLLIN };
		const struct timespec pause = { .tv_nsec = 20000 };
		int waits;

		pthread_mutex_lock(&accel->lock);
		waits = poll(&ready, 1, 0);
		pthread_mutex_unlock(&accel->lock);
		if (!waits)
			return;
		nanosleep(&pause, NULL);
	}
	fail_msg("the follower does not follow");
}

/* --- frames --- */

enum destination { TO_STATION, TO_BROADCAST, TO_MULTICAST, TO_CONTROL, TO_NOBODY, TO_BRIDGE, TO_PORT };

static void put_destination(unsigned char *at, enum destination destination, unsigned int station)
{
	static const unsigned char fixed[][6] = {
		[TO_BROADCAST] = { 255, 255, 255, 255, 255, 255 },
		[TO_MULTICAST] = { 1, 0, 0x5e, 0, 0, 9 },
		[TO_CONTROL] = { 1, 0x80, 0xc2, 0, 0, 0x0e },
		[TO_NOBODY] = { 6, 0, 0, 1, 0, 1 },
		[TO_BRIDGE] = { 2, 0xbb, 0, 0, 0, 1 },
		[TO_PORT] = { 2, 0xaa, 0, 0, 0, 2 },
	};

	memcpy(at, destination == TO_STATION ? station_address(station) : fixed[destination], 6);
}

static enum destination draw_destination(void)
{
	static const enum destination choices[] = { TO_BROADCAST, TO_MULTICAST, TO_CONTROL,
						    TO_NOBODY,	  TO_BRIDGE,	TO_PORT };

	return draw(100) < 75 ? TO_STATION : choices[draw(6)];
}

/* Sizes around the MTUs that ports may have, with and without room for a tag. */
static unsigned int draw_size(unsigned int tag_bytes)
{
	static const unsigned int edges[] = { 614, 617, 618, 619, 1014, 1018, 1019, 1022, 1023, 1510, 1514 };
	unsigned int size = draw(3) ? 60 + draw(1454) : draw(2) ? 60 : edges[draw(sizeof(edges) / sizeof(edges[0]))];

	return size + (size > 1510 && tag_bytes ? tag_bytes : 0);
}

static void burst(void)
{
	static const uint16_t types[] = { 0x88b6, 0x88b6, 0x88b6, ETH_P_IP, ETH_P_IPV6, ETH_P_ARP, 0x8808, 0x0026 };
	static unsigned char frame[PAIR_MAX_BYTES];
	enum destination destination = draw_destination();
	unsigned int source = draw(STATIONS), target = (source + 1 + draw(STATIONS - 1)) % STATIONS,
		     count = 1 + draw(draw(4) ? 3 : 20), tag_bytes = draw(4) ? 0 : 4;
	unsigned int bad_source = !draw(60), port = place[source], size = draw_size(tag_bytes), type = types[draw(8)];

	if (!pair.is_up[port])
		return;
	put_destination(frame, destination, target);
	memcpy(frame + 6, station_address(source), 6);
	if (bad_source)
		frame[6] |= 1;
	if (tag_bytes) {
		test_put_be(frame + 12, draw(3) ? ETH_P_8021Q : ETH_P_8021AD, 2);
		test_put_be(frame + 14, draw(4096), 2);
	}
	test_put_be(frame + 12 + tag_bytes, type, 2);
	say("  %u x %u bytes, type %04x, tag %u, station %u at port %u to %d/%u%s, from %u\n", count, size, type,
	    tag_bytes, source, port, destination, target, bad_source ? " (bad source)" : "", next_sequence);
	for (unsigned int i = 0; i < count; i++) {
		test_put_be(frame + 14 + tag_bytes, next_sequence, 4);
		for (unsigned int at = 18 + tag_bytes; at < size; at++)
			frame[at] = (unsigned char)(next_sequence + at);
		next_sequence++;
		pair_send((int)port, frame, size);
	}
}

/* --- changes --- */

static void move_station(void)
{
	unsigned int station = draw(STATIONS);

	place[station] = draw(TESTED_PORTS);
	say("  station %u moves to port %u\n", station, place[station]);
}

static void toggle_port(void)
{
	int port = (int)draw(TESTED_PORTS);

	say("  port %d %s\n", port, pair.is_up[port] ? "down" : "up");
	pair_set_up(port, !pair.is_up[port]);
	settle();
}

static void change_mtu(void)
{
	static const unsigned int choices[] = { 600, 1000, 1500, 1500 };
	int port = (int)draw(TESTED_PORTS);

	mtu[port] = choices[draw(4)];
	say("  port %d MTU %u\n", port, mtu[port]);
	pair_set_mtu(port, mtu[port]);
	settle();
}

static void change_flag(void)
{
	static const char *const attributes[] = { "isolated", "isolated", "learning", "hairpin_mode", "unicast_flood" };
	const char *attribute = attributes[draw(5)];
	unsigned int ports = 1 + draw((1 << TESTED_PORTS) - 1);
	int on = draw(3) != 0;

	for (int port = 0; port < TESTED_PORTS; port++) {
		if (!(ports >> port & 1))
			continue;
		say("  port %d %s %d\n", port, attribute, on);
		pair_set_flag(port, attribute, on);
	}
	settle();
}

static void change_entry(void)
{
	static const struct {
		const char *name;
		unsigned int state, flags;
	} kinds[] = { { "static", NUD_NOARP, 0 },
		      { "local", NUD_PERMANENT, 0 },
		      { "dynamic", NUD_REACHABLE, 0 },
		      { "sticky", NUD_NOARP, NTF_STICKY } };
	unsigned int kind = draw(4), station = draw(STATIONS), remove = !draw(3);
	int port = (int)draw(TESTED_PORTS);

	say("  entry: station %u %s at port %d%s\n", station, kinds[kind].name, port, remove ? " removed" : "");
	pair_set_entry(port, station_address(station), (int)remove, kinds[kind].state, kinds[kind].flags);
	settle();
}

static void flush(void)
{
	say("  flush\n");
	pair_flush();
	settle();
}

/* A sequence begins with all ports up and plain, nothing known but what random left of it. */
static void restore(void)
{
	for (int port = 0; port < TESTED_PORTS; port++) {
		if (!pair.is_up[port])
			pair_set_up(port, 1);
		if (mtu[port] != 1500)
			pair_set_mtu(port, mtu[port] = 1500);
		pair_set_flag(port, "isolated", 0);
		pair_set_flag(port, "learning", 1);
		pair_set_flag(port, "hairpin_mode", 0);
		pair_set_flag(port, "unicast_flood", 1);
	}
	for (unsigned int station = 0; station < STATIONS; station++) {
		for (int port = 0; port < TESTED_PORTS; port++)
			pair_set_entry(port, station_address(station), 1, NUD_REACHABLE, 0);
		place[station] = draw(TESTED_PORTS);
	}
	pair_flush();
	settle();
}

/* Every station is heard of once, in most sequences. */
static void announce(void)
{
	unsigned char frame[60] = { 255, 255, 255, 255, 255, 255 };

	for (unsigned int station = 0; station < STATIONS; station++) {
		memcpy(frame + 6, station_address(station), 6);
		test_put_be(frame + 12, 0x88b6, 2);
		test_put_be(frame + 14, next_sequence++, 4);
		pair_send((int)place[station], frame, sizeof(frame));
	}
}

/* --- comparing --- */

static int by_sequence(const void *left, const void *right)
{
	const struct pair_frame *a = left, *b = right;

	return a->sequence < b->sequence ? -1 : a->sequence > b->sequence;
}

/* Within a flow, as it came out, sequences grow. */
static void check_order(const struct pair_heard *heard, const char *port, uint64_t seed)
{
	for (unsigned int i = 1; i < heard->count; i++)
		for (unsigned int k = i; k-- > 0;) {
			if (memcmp(heard->frames[i].flow, heard->frames[k].flow, sizeof(heard->frames[i].flow)))
				continue;
			if (heard->frames[i].sequence <= heard->frames[k].sequence)
				fail_msg("seed %llu: port %s: frame %u came after frame %u\n%s",
					 (unsigned long long)seed, port, heard->frames[i].sequence,
					 heard->frames[k].sequence, trace);
			break;
		}
}

static void check_port(int port, uint64_t seed)
{
	struct pair_heard *plain = &pair.heard[PAIR_PLAIN][port], *fast = &pair.heard[PAIR_FAST][port];

	check_order(fast, pair_port_name(PAIR_FAST, port), seed);
	if (plain->count)
		qsort(plain->frames, plain->count, sizeof(*plain->frames), by_sequence);
	if (fast->count)
		qsort(fast->frames, fast->count, sizeof(*fast->frames), by_sequence);
	for (unsigned int i = 0; i < plain->count && i < fast->count; i++) {
		const struct pair_frame *a = &plain->frames[i], *b = &fast->frames[i];

		if (a->sequence != b->sequence || a->bytes != b->bytes || a->fingerprint != b->fingerprint)
			fail_msg(
				"seed %llu: port %d: the bridge put out frame %u (%u bytes), the fast path frame %u (%u bytes)\n%s",
				(unsigned long long)seed, port, a->sequence, a->bytes, b->sequence, b->bytes, trace);
	}
	if (plain->count != fast->count)
		fail_msg("seed %llu: port %d: the bridge put out %u frames, the fast path %u\n%s",
			 (unsigned long long)seed, port, plain->count, fast->count, trace);
	compared_frames += plain->count;
}

/* tables: whether both bridges have learned the same is looked at, too. */
static void compare(uint64_t seed, int tables)
{
	if (!pair_pass_fence())
		fail_msg("seed %llu: a fence was lost\n%s", (unsigned long long)seed, trace);
	for (int i = 0; i < 3000 && !pair_counts_agree(); i++) {
		const struct timespec pause = { .tv_nsec = 100000 };

		nanosleep(&pause, NULL);
		pair_hear();
	}
	for (int port = 0; port < PAIR_PORTS; port++)
		check_port(port, seed);
	for (unsigned int station = 0; tables && station < STATIONS; station++) {
		int plain = pair_port_of(PAIR_PLAIN, station_address(station)),
		    fast = pair_port_of(PAIR_FAST, station_address(station));

		if (plain != fast)
			fail_msg("seed %llu: station %u is at port %d of the bridge, at port %d of the other\n%s",
				 (unsigned long long)seed, station, plain, fast, trace);
	}
	pair_forget();
}

static void run_sequence(uint64_t seed)
{
	random_state = seed * 0x9e3779b97f4a7c15u + 1;
	trace[0] = '\0';
	restore();
	if (draw(5)) {
		announce();
		compare(seed, !draw(16));
		settle();
	}
	for (int step = 0; step < STEPS; step++) {
		unsigned int kind = draw(100);

		if (kind < 78)
			burst();
		else if (kind < 88)
			move_station();
		else if (kind < 90)
			toggle_port();
		else if (kind < 92)
			change_mtu();
		else if (kind < 96)
			change_flag();
		else if (kind < 99)
			change_entry();
		else
			flush();
		compare(seed, !draw(16));
		if (draw(2)) /* what was learned may be used from here on, or not yet */
			settle();
	}
}

static unsigned long long setting(const char *name, unsigned long long otherwise)
{
	const char *text = getenv(name);

	return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

static void count_reasons(uint64_t stack[BRIDGE_REASONS])
{
	for (int i = 0; i < accel->ports.count; i++) {
		struct fast_path_counts counts;

		fast_path_read(&accel->path, accel->ports.list[i].slot, &counts);
		fast_frames += counts.frames;
		for (int reason = 0; reason < BRIDGE_REASONS; reason++)
			stack[reason] += counts.stack[reason];
	}
}

static void test_same_as_the_bridge(void **state)
{
	static const enum bridge_reason wanted[] = { BRIDGE_REASON_MULTICAST,	 BRIDGE_REASON_CONTROL,
						     BRIDGE_REASON_BAD_SOURCE,	 BRIDGE_REASON_SOURCE_UNKNOWN,
						     BRIDGE_REASON_SOURCE_MOVED, BRIDGE_REASON_UNKNOWN,
						     BRIDGE_REASON_SAME_PORT,	 BRIDGE_REASON_SOURCE_PORT,
						     BRIDGE_REASON_ISOLATED,	 BRIDGE_REASON_TOO_LONG };
	uint64_t seed = setting("SEED", (unsigned long long)time(NULL) * 1000), count = setting("SEQUENCES", 200);
	uint64_t stack[BRIDGE_REASONS] = { 0 };

	(void)state;
	if (refused)
		SKIP_BECAUSE("no network namespace: %s", strerror(refused));
	print_message("seeds %llu to %llu\n", (unsigned long long)seed, (unsigned long long)(seed + count - 1));
	for (uint64_t i = 0; i < count; i++)
		run_sequence(seed + i);
	count_reasons(stack);
	print_message("%llu frames compared, %llu by the fast path\n", compared_frames, fast_frames);
	for (int reason = 0; reason < BRIDGE_REASONS; reason++)
		print_message("  %s %llu\n", bridge_reason_name((enum bridge_reason)reason),
			      (unsigned long long)stack[reason]);
	/* The test tests something. */
	assert_true(fast_frames > count * 5);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]) && count >= 100; i++)
		if (!stack[wanted[i]])
			fail_msg("no frame went to the bridge because of %s", bridge_reason_name(wanted[i]));
}

static char state_dir[] = "/tmp/bridge-equivalence-XXXXXX";

static int set_up(void **state)
{
	struct accel_request request = { .bridge = "brb", .netns = "", .set_offloads = 1 };

	(void)state;
	undo_set_handlers(undo_action_handlers);
	if (!mkdtemp(state_dir))
		return -1;
	setenv("HOPCAP_STATE_DIR", state_dir, 1);
	refused = pair_make();
	if (refused)
		return 0;
	for (int port = 0; port < TESTED_PORTS; port++)
		mtu[port] = 1500;
	if (accel_start(&request, &accel)) {
		print_message("%s\n", error_text());
		return -1;
	}
	return 0;
}

static int tear_down(void **state)
{
	int code = 0;

	(void)state;
	if (!refused) {
		code = accel_stop(accel);
		if (code)
			print_message("%s\n", error_text());
		pair_unmake();
	}
	rmdir(state_dir);
	return code;
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_same_as_the_bridge) };

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
