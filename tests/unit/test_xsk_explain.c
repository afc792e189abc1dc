// SPDX-License-Identifier: GPL-2.0-or-later
/* Why AF_XDP could not be had: each reason from facts of a driver that need not be here. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "port/xsk_explain.h"

#define ZC_BITS (NETDEV_XDP_BASIC | NETDEV_XDP_REDIRECT | NETDEV_XDP_ZERO_COPY)

static char text[512];

static struct xsk_facts facts_of(const char *driver, int code)
{
	return (struct xsk_facts){
		.step = XSK_STEP_BIND,
		.code = code,
		.interface = "nic0",
		.driver = driver,
		.zero_copy = 1,
		.transmit = 1,
		.receive_queues = 4,
		.transmit_queues = 4,
		.features_known = 1,
		.features = { .xdp = ZC_BITS, .zero_copy_segments = 1 },
		.mtu_bytes = 1500,
		.chunk_bytes = 4096,
		.memlock_bytes = 8 << 20,
		.bytes = 24 << 20,
	};
}

static void expect(const struct xsk_facts *facts, const char *part)
{
	xsk_explain(facts, text, sizeof(text));
	if (!strstr(text, part))
		fail_msg("'%s' is not in '%s'", part, text);
	if (strncmp(text, "nic0: ", 6))
		fail_msg("does not say which interface: '%s'", text);
}

static void test_largest_mtu(void **state)
{
	(void)state;
	assert_int_equal(xsk_zero_copy_mtu(4096), 3814);
	assert_int_equal(xsk_zero_copy_mtu(2048), 1766);
	assert_int_equal(xsk_zero_copy_mtu(256), 0);
	assert_int_equal(xsk_zero_copy_mtu(0), 0);
}

static void test_feature_bit_is_missing(void **state)
{
	struct xsk_facts facts = facts_of("veth", EOPNOTSUPP);

	(void)state;
	facts.features.xdp = NETDEV_XDP_BASIC | NETDEV_XDP_REDIRECT | NETDEV_XDP_RX_SG;
	expect(&facts, "veth does not declare XSK_ZEROCOPY (it has: BASIC REDIRECT RX_SG)");
	facts.features.xdp = 0;
	expect(&facts, "does not declare BASIC REDIRECT XSK_ZEROCOPY (it has: none)");
	facts.features_known = 0;
	expect(&facts, "veth has no zero-copy in this kernel");
}

static void test_mtu(void **state)
{
	struct xsk_facts facts = facts_of("ice", EINVAL);

	(void)state;
	facts.mtu_bytes = 9000;
	expect(&facts, "its MTU of 9000 is too large for a chunk: one of 4096 bytes holds frames of MTU 3814");
	facts.features.zero_copy_segments = 8; /* then it is not the MTU */
	expect(&facts, "ice needs its DDP package");
	facts.features.zero_copy_segments = 1;
	facts.mtu_bytes = 3814;
	expect(&facts, "ice needs its DDP package");
}

static void test_driver(void **state)
{
	struct xsk_facts facts = facts_of("virtio_net", EOPNOTSUPP);

	(void)state;
	expect(&facts, "guest_csum");
	facts.code = ENOENT;
	expect(&facts, "no page pool");
	facts.virtio_known = 1; /* and neither bit */
	expect(&facts, "queue_reset=on");
	facts.code = EINVAL;
	expect(&facts, "iommu_platform=on");
	facts.virtio_features = 1ull << 40 | 1ull << 33; /* VIRTIO_F_RING_RESET, VIRTIO_F_ACCESS_PLATFORM */
	expect(&facts, "guest_csum");
	facts.code = ENOENT;
	expect(&facts, "no page pool");
	facts.code = EINVAL;
	facts.driver = "novel";
	expect(&facts, "novel declares it, but refuses now: Invalid argument");
}

static void test_program(void **state)
{
	struct xsk_facts facts = facts_of("i40e", EINVAL);

	(void)state;
	facts.program_id = 17;
	facts.program_is_generic = 1;
	expect(&facts, "generic XDP program (id 17)");
	facts = facts_of("i40e", EINVAL);
	facts.step = XSK_STEP_SEND;
	expect(&facts, "no XDP program is attached");
	facts.program_id = 17;
	expect(&facts, "Invalid argument");
	facts = facts_of("veth", ENXIO);
	facts.step = XSK_STEP_SEND;
	facts.zero_copy = 0;
	expect(&facts, "the interface is gone");
	facts.code = ENETDOWN;
	expect(&facts, "the interface went down");
	facts.is_gone = 1;
	expect(&facts, "the interface is gone");
}

static void test_queue(void **state)
{
	struct xsk_facts facts = facts_of("veth", EINVAL);

	(void)state;
	facts.zero_copy = 0;
	facts.queue = 4;
	expect(&facts, "there is no queue 4: it has 4 for receiving and 4 for sending");
	facts.receive_queues = 8; /* it exists, but not for sending */
	expect(&facts, "there is no queue 4");
	facts.transmit = 0;
	expect(&facts, "no AF_XDP copy on queue 4: Invalid argument");
	facts.code = EBUSY;
	expect(&facts, "another AF_XDP socket holds this queue");
	facts.code = ENODEV;
	expect(&facts, "the interface is gone");
	facts.code = EINVAL;
	facts.is_gone = 1;
	facts.queue = 40;
	expect(&facts, "the interface is gone");
}

static void test_memory(void **state)
{
	struct xsk_facts facts = facts_of("veth", ENOBUFS);

	(void)state;
	facts.step = XSK_STEP_REGISTER;
	expect(&facts, "cannot register 25165824 bytes");
	expect(&facts, "only 8388608 may be locked (`ulimit -l` says 8192)");
	expect(&facts, "`ulimit -l 24576`");
	facts.memlock_bytes = UINT64_MAX;
	expect(&facts, "the kernel has no room");
	facts.code = EINVAL;
	expect(&facts, "Invalid argument");
}

static void test_other_steps(void **state)
{
	struct xsk_facts facts = facts_of("veth", EAFNOSUPPORT);

	(void)state;
	facts.step = XSK_STEP_SOCKET;
	expect(&facts, "CONFIG_XDP_SOCKETS");
	facts.code = EPERM;
	expect(&facts, "CAP_NET_RAW");
	facts.step = XSK_STEP_BUSY_POLL;
	expect(&facts, "CAP_NET_ADMIN");
	facts.step = XSK_STEP_MODE;
	facts.code = 0;
	expect(&facts, "bound without zero-copy although it was asked for");
}

static void test_small_buffer(void **state)
{
	struct xsk_facts facts = facts_of("veth", EOPNOTSUPP);
	char small[24];

	(void)state;
	facts.features.xdp = 0;
	memset(small, 'x', sizeof(small));
	xsk_explain(&facts, small, sizeof(small) - 4);
	assert_int_equal(strlen(small), sizeof(small) - 5);
	assert_int_equal(small[sizeof(small) - 4], 'x');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_largest_mtu),  cmocka_unit_test(test_feature_bit_is_missing),
		cmocka_unit_test(test_mtu),	     cmocka_unit_test(test_driver),
		cmocka_unit_test(test_program),	     cmocka_unit_test(test_queue),
		cmocka_unit_test(test_memory),	     cmocka_unit_test(test_other_steps),
		cmocka_unit_test(test_small_buffer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
