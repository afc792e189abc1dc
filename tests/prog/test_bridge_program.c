// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The bridge fast path's program, frame by frame: what it redirects, and for every reason a frame that it leaves to the bridge and
 * counts; stations that move; snapshots.
 */
#include <net/if.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include <bpf/bpf.h>
#include <linux/if_ether.h>

#include "accel/fast_path.h"
#include "accel/reasons.h"
#include "base/error.h"
#include "xsk_under_test.h"

#define MTU_BYTES 600
#define ALL_FLAGS (HOPCAP_BRIDGE_PORT_SOURCE | HOPCAP_BRIDGE_PORT_TARGET | HOPCAP_BRIDGE_PORT_BUFFERS)

static const unsigned char here[6] = { 2, 0, 0, 0, 0, 1 }, there[6] = { 2, 0, 0, 0, 0, 2 },
			   other[6] = { 2, 0, 0, 0, 0, 3 };

static struct fast_path path;
static int own_slot, target_slot;
static unsigned char frame[4096];

/* Both ends of a pair are ports; the target takes no frame, so what is redirected is not followed. */
static void start(void)
{
	xsk_make_pair(1, 1500);
	if (fast_path_open(&path))
		fail_msg("%s", error_text());
	own_slot = fast_path_take_slot(&path, (int)if_nametoindex(XSK_NEAR));
	target_slot = fast_path_take_slot(&path, (int)if_nametoindex(XSK_FAR));
	assert_int_equal(fast_path_load(&path, own_slot), 0);
	assert_int_equal(fast_path_set_target(&path, target_slot, 1), 0);
	fast_path_set_port(&path, own_slot, ALL_FLAGS, MTU_BYTES + 18);
	fast_path_set_port(&path, target_slot, ALL_FLAGS, MTU_BYTES + 18);
	assert_int_equal(fast_path_set_station(&path, here, (uint32_t)own_slot), 0);
	assert_int_equal(fast_path_set_station(&path, there, (uint32_t)target_slot), 0);
	fast_path_commit(&path);
	memset(frame, 0, sizeof(frame));
	memcpy(frame, there, 6);
	memcpy(frame + 6, here, 6);
	test_put_be(frame + 12, ETH_P_IP, 2);
}

/* Three ticks of any kernel's clock: what a CPU that runs no NAPI waits for before it adopts a change. */
static void next_tick(void)
{
	const struct timespec pause = { .tv_nsec = 31000000 };

	nanosleep(&pause, NULL);
}

static int run(unsigned int bytes)
{
	static unsigned char out[8192];
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame, .data_size_in = bytes, .data_out = out,
		    .data_size_out = sizeof(out), .repeat = 1);
	int code;

	next_tick();
	code = bpf_prog_test_run_opts(path.ports[own_slot].program_fd, &options);
	if (code)
		fail_msg("test run of %u bytes: %s", bytes, strerror(-code));
	assert_int_equal(options.data_size_out, bytes);
	assert_memory_equal(out, frame, bytes);
	return (int)options.retval;
}

static struct fast_path_counts counts_before;

static void expect_redirect(unsigned int bytes)
{
	struct fast_path_counts counts;

	fast_path_read(&path, own_slot, &counts_before);
	assert_int_equal(run(bytes), XDP_REDIRECT);
	fast_path_read(&path, own_slot, &counts);
	assert_int_equal(counts.frames, counts_before.frames + 1);
	assert_int_equal(counts.bytes, counts_before.bytes + bytes);
	assert_memory_equal(counts.stack, counts_before.stack, sizeof(counts.stack));
}

static void expect_stack(unsigned int bytes, enum bridge_reason reason)
{
	struct fast_path_counts counts;

	fast_path_read(&path, own_slot, &counts_before);
	assert_int_equal(run(bytes), XDP_PASS);
	fast_path_read(&path, own_slot, &counts);
	assert_int_equal(counts.frames, counts_before.frames);
	for (int i = 0; i < BRIDGE_REASONS; i++)
		if (counts.stack[i] != counts_before.stack[i] + (i == (int)reason))
			fail_msg("counted %s, wanted %s", bridge_reason_name((enum bridge_reason)i),
				 bridge_reason_name(reason));
}

static void put_addresses(const unsigned char *destination, const unsigned char *source)
{
	memcpy(frame, destination, 6);
	memcpy(frame + 6, source, 6);
}

static void test_addresses(void **state)
{
	static const unsigned char broadcast[6] = { 255, 255, 255, 255, 255, 255 },
				   multicast[6] = { 1, 0, 0x5e, 0, 0, 1 }, bpdu[6] = { 1, 0x80, 0xc2, 0, 0, 0 },
				   zero[6] = { 0 };

	(void)state;
	start();
	expect_redirect(60);
	expect_redirect(60); /* from memory */
	put_addresses(broadcast, here);
	expect_stack(60, BRIDGE_REASON_MULTICAST);
	put_addresses(multicast, here);
	expect_stack(60, BRIDGE_REASON_MULTICAST);
	put_addresses(bpdu, here);
	expect_stack(60, BRIDGE_REASON_CONTROL);
	put_addresses(there, multicast);
	expect_stack(60, BRIDGE_REASON_BAD_SOURCE);
	put_addresses(there, zero);
	expect_stack(60, BRIDGE_REASON_BAD_SOURCE);
	put_addresses(there, other);
	expect_stack(60, BRIDGE_REASON_SOURCE_UNKNOWN);
	put_addresses(other, here);
	expect_stack(60, BRIDGE_REASON_UNKNOWN);
	put_addresses(here, here);
	expect_stack(60, BRIDGE_REASON_SAME_PORT);
	put_addresses(there, here);
	expect_redirect(14); /* the shortest that the kernel runs a program on: BRIDGE_REASON_SHORT is for drivers */
	fast_path_close(&path);
}

static void test_protocols_and_lengths(void **state)
{
	static const unsigned int control[] = { ETH_P_ARP, 0x8035, 0x8808, 0x88e5, 0x88e3, 0x8902 };
	static const unsigned int others[] = { ETH_P_IP, ETH_P_IPV6, ETH_P_8021Q, ETH_P_8021AD, 0x88b5, 0x0026 };

	(void)state;
	start();
	for (int again = 0; again < 2; again++) { /* with and without memory of the two */
		for (size_t i = 0; i < sizeof(control) / sizeof(control[0]); i++) {
			test_put_be(frame + 12, control[i], 2);
			expect_stack(60, BRIDGE_REASON_CONTROL);
		}
		for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
			test_put_be(frame + 12, others[i], 2);
			expect_redirect(60 + (unsigned int)i);
		}
	}
	expect_redirect(MTU_BYTES + 18);
	expect_stack(MTU_BYTES + 19, BRIDGE_REASON_TOO_LONG);
	/* Of several buffers: the kernel's test run makes them of what does not fit a page. */
	fast_path_set_port(&path, target_slot, ALL_FLAGS, 9018);
	expect_redirect(4000);
	fast_path_set_port(&path, target_slot, ALL_FLAGS & ~HOPCAP_BRIDGE_PORT_BUFFERS, 9018);
	expect_stack(4000, BRIDGE_REASON_BUFFERS);
	fast_path_close(&path);
}

static void test_ports(void **state)
{
	(void)state;
	start();
	expect_redirect(60);
	fast_path_set_port(&path, own_slot, ALL_FLAGS & ~HOPCAP_BRIDGE_PORT_SOURCE, 618);
	expect_stack(60, BRIDGE_REASON_SOURCE_PORT);
	fast_path_set_port(&path, own_slot, ALL_FLAGS | HOPCAP_BRIDGE_PORT_ISOLATED, 618);
	expect_redirect(60);
	fast_path_set_port(&path, target_slot, ALL_FLAGS | HOPCAP_BRIDGE_PORT_ISOLATED, 618);
	expect_stack(60, BRIDGE_REASON_ISOLATED);
	fast_path_set_port(&path, own_slot, ALL_FLAGS, 618);
	expect_redirect(60);
	fast_path_set_port(&path, target_slot, HOPCAP_BRIDGE_PORT_SOURCE, 618);
	expect_stack(60, BRIDGE_REASON_TARGET_PORT);
	fast_path_set_port(&path, target_slot, ALL_FLAGS, 618);
	expect_redirect(60);
	xsk_command("ip link del " XSK_FAR); /* the kernel empties its slot */
	expect_stack(60, BRIDGE_REASON_TARGET_PORT);
	fast_path_close(&path);
}

/* The sender shows up at another port, by whatever frame: frames to it go to the bridge at once, and until it is put anew. */
static void test_moving(void **state)
{
	static const unsigned char broadcast[6] = { 255, 255, 255, 255, 255, 255 };
	struct bridge_station station;

	(void)state;
	for (int kind = 0; kind < 3; kind++) {
		start();
		fast_path_set_station(&path, other, (uint32_t)target_slot);
		fast_path_commit(&path);
		put_addresses(other, here);
		expect_redirect(60);
		put_addresses(kind == 1 ? broadcast : there, other);
		test_put_be(frame + 12, kind == 2 ? ETH_P_ARP : ETH_P_IP, 2);
		expect_stack(60, kind == 0   ? BRIDGE_REASON_SOURCE_MOVED
				 : kind == 1 ? BRIDGE_REASON_MULTICAST
					     : BRIDGE_REASON_CONTROL);
		assert_int_equal(fast_path_get_station(&path, other, &station), 0);
		assert_int_equal(station.slot, HOPCAP_BRIDGE_NO_PORT);
		put_addresses(other, here);
		test_put_be(frame + 12, ETH_P_IP, 2);
		expect_stack(60, BRIDGE_REASON_UNKNOWN);
		fast_path_set_station(&path, other, (uint32_t)target_slot);
		fast_path_commit(&path);
		expect_redirect(60);
		fast_path_close(&path);
	}
}

/* What is not committed is not seen; what is removed stays until then; what is in use is marked. */
static void test_snapshots(void **state)
{
	struct bridge_station station;
	uint32_t scan;

	(void)state;
	start();
	expect_redirect(60);
	fast_path_set_station(&path, there, HOPCAP_BRIDGE_NO_PORT);
	expect_redirect(60);
	fast_path_commit(&path);
	expect_stack(60, BRIDGE_REASON_UNKNOWN);
	fast_path_set_station(&path, there, (uint32_t)target_slot);
	expect_stack(60, BRIDGE_REASON_UNKNOWN);
	fast_path_commit(&path);
	expect_redirect(60);
	scan = fast_path_next_scan(&path);
	assert_int_equal(fast_path_get_station(&path, here, &station), 0);
	assert_int_not_equal(station.seen, scan);
	expect_redirect(60);
	assert_int_equal(fast_path_get_station(&path, here, &station), 0);
	assert_int_equal(station.seen, scan);
	fast_path_remove_station(&path, here);
	fast_path_commit(&path);
	expect_stack(60, BRIDGE_REASON_SOURCE_UNKNOWN);
	/* A slot that was given back is not given out at once, and counts from 0. */
	fast_path_free_slot(&path, target_slot);
	assert_int_not_equal(fast_path_take_slot(&path, 1), target_slot);
	fast_path_close(&path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_addresses), cmocka_unit_test(test_protocols_and_lengths),
		cmocka_unit_test(test_ports),	  cmocka_unit_test(test_moving),
		cmocka_unit_test(test_snapshots),
	};

	return cmocka_run_group_tests(tests, xsk_enter, NULL);
}
