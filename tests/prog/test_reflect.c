// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The reflectors in the kernel (reflect_xdp, reflect_tc) and the one in user space (traffic/frame_parse) against each other and
 * against what a turned-round frame must look like: all three must take the same frames and write the same bytes.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <linux/if_ether.h>

#include "hop_under_test.h"
#include "map_reflect.h"
#include "reflect_tc.skel.h"
#include "reflect_xdp.skel.h"
#include "test_frames.h"
#include "traffic/frame_parse.h"
#include "wire_test_frame.h"

#define RANDOM_FRAMES 4000
#define TC_ACT_REDIRECT 7

static struct reflect_xdp_bpf *xdp;
static struct reflect_tc_bpf *tc;
static int refused;
static uint64_t seed;

static uint32_t roll(uint32_t limit)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(seed >> 33) % limit;
}

static int load(void **state)
{
	(void)state;
	xdp = reflect_xdp_bpf__open_and_load();
	if (xdp)
		tc = reflect_tc_bpf__open_and_load();
	refused = xdp && tc ? 0 : errno;
	return !refused || refused == EPERM ? 0 : -1;
}

static int unload(void **state)
{
	(void)state;
	reflect_xdp_bpf__destroy(xdp);
	reflect_tc_bpf__destroy(tc);
	return 0;
}

static void tell(uint16_t run_tag)
{
	const struct reflect_control control = { .ifindex = 1, .run_tag = run_tag };
	__u32 zero = 0;

	if (refused)
		skip_refused("reflectors", refused);
	assert_int_equal(bpf_map_update_elem(bpf_map__fd(xdp->maps.reflect_control), &zero, &control, BPF_ANY), 0);
	assert_int_equal(bpf_map_update_elem(bpf_map__fd(tc->maps.reflect_control), &zero, &control, BPF_ANY), 0);
}

/* 1: reflected, 0: not, -1: the kernel takes no such frame (too short). out holds the frame afterwards. */
static int run(int program_fd, const unsigned char *frame, uint32_t bytes, uint32_t reflected, unsigned char *out)
{
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame, .data_size_in = bytes, .data_out = out,
		    .data_size_out = TEST_FRAME_MAX_BYTES, .repeat = 1);

	int result = bpf_prog_test_run_opts(program_fd, &options);

	if (result == -EINVAL && bytes < HOPCAP_MIN_FRAME_BYTES)
		return -1;
	assert_int_equal(result, 0);
	assert_int_equal(options.data_size_out, bytes);
	return options.retval == reflected;
}

/* What user space makes of it. */
static int turn(unsigned char *frame, uint32_t bytes, uint16_t run_tag)
{
	struct parsed_frame parsed;

	if (!frame_parse(frame, bytes, &parsed) || (run_tag && parsed.run_tag != run_tag) ||
	    (parsed.flags & HOPCAP_FRAME_REFLECTED))
		return 0;
	frame_turn_round(frame, &parsed);
	return 1;
}

static void expect_same(const unsigned char *frame, uint32_t bytes, uint16_t run_tag)
{
	unsigned char wanted[TEST_FRAME_MAX_BYTES], got[TEST_FRAME_MAX_BYTES];
	int reflected, result;

	memcpy(wanted, frame, bytes);
	reflected = turn(wanted, bytes, run_tag);
	result = run(bpf_program__fd(xdp->progs.reflect_xdp), frame, bytes, XDP_TX, got);
	if (result >= 0) {
		assert_int_equal(result, reflected);
		assert_memory_equal(got, wanted, bytes);
	}
	result = run(bpf_program__fd(tc->progs.reflect_tc), frame, bytes, TC_ACT_REDIRECT, got);
	if (result >= 0) {
		assert_int_equal(result, reflected);
		assert_memory_equal(got, wanted, bytes);
	}
}

static const struct test_frame_spec kinds[] = {
	{ .ip_version = 4 },
	{ .ip_version = 6 },
	{ .ip_version = 4, .ipv4_udp_checksum = 1, .payload_bytes = 100 },
	{ .ip_version = 6, .payload_bytes = 1001 },
	{ .ip_version = 4, .tags = { ETH_P_8021Q } },
	{ .ip_version = 6, .tags = { ETH_P_8021AD, ETH_P_8021Q } },
	{ .ip_version = 4, .flags = HOPCAP_FRAME_STAMP, .sequence = 77, .origin_ns = 12345, .last_ns = 99 },
};

/* Sums over all CPUs. */
static void read_counters(struct reflect_counters *sum)
{
	int cpus = libbpf_num_possible_cpus();
	struct reflect_counters each[cpus];
	uint32_t zero = 0;

	memset(sum, 0, sizeof(*sum));
	assert_int_equal(bpf_map_lookup_elem(bpf_map__fd(xdp->maps.reflect_counters), &zero, each), 0);
	for (int cpu = 0; cpu < cpus; cpu++) {
		sum->frames += each[cpu].frames;
		sum->bytes += each[cpu].bytes;
		sum->probes += each[cpu].probes;
		sum->again += each[cpu].again;
	}
}

/* Twice turned round, but for the mark, is the frame itself; once, its checksum is right and its addresses are swapped. */
static void test_turned_round(void **state)
{
	(void)state;
	tell(0);
	for (unsigned int i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		unsigned char out[TEST_FRAME_MAX_BYTES];
		struct built_frame frame;
		unsigned int header;

		test_frame_build(&kinds[i], &frame);
		header = frame.header_offset;
		assert_true(run(bpf_program__fd(xdp->progs.reflect_xdp), frame.bytes, frame.length, XDP_TX, out));
		assert_memory_equal(out, frame.bytes + 6, 6);
		assert_memory_equal(out + 6, frame.bytes, 6);
		if (frame.ip_version == 4) {
			assert_memory_equal(out + frame.ip_offset + 12, frame.bytes + frame.ip_offset + 16, 4);
			assert_memory_equal(out + frame.ip_offset + 16, frame.bytes + frame.ip_offset + 12, 4);
		} else {
			assert_memory_equal(out + frame.ip_offset + 8, frame.bytes + frame.ip_offset + 24, 16);
			assert_memory_equal(out + frame.ip_offset + 24, frame.bytes + frame.ip_offset + 8, 16);
		}
		assert_int_equal(out[header + HOPCAP_OFFSET_FLAGS],
				 frame.bytes[header + HOPCAP_OFFSET_FLAGS] | HOPCAP_FRAME_REFLECTED);
		assert_memory_equal(out + header + 3, frame.bytes + header + 3, frame.length - header - 3);
		if (frame.ip_version == 6 || kinds[i].ipv4_udp_checksum)
			assert_true(test_frame_udp_checksum_right(&frame, out));
		/* with the mark it passes, untouched */
		expect_same(out, frame.length, 0);
		assert_false(run(bpf_program__fd(xdp->progs.reflect_xdp), out, frame.length, XDP_TX, frame.bytes));
	}
}

/* Good frames with a byte or two changed, and cut off anywhere: kernel and user space agree on each. */
static void test_agree(void **state)
{
	(void)state;
	tell(0);
	seed = 20261130;
	for (int i = 0; i < RANDOM_FRAMES; i++) {
		struct built_frame frame;
		uint32_t bytes;

		test_frame_build(&kinds[roll(sizeof(kinds) / sizeof(kinds[0]))], &frame);
		bytes = frame.length;
		for (uint32_t changes = roll(3); changes > 0; changes--)
			frame.bytes[12 + roll(test_frame_header_end(&frame) - 12)] = (unsigned char)roll(256);
		if (!roll(3))
			bytes = ETH_HLEN + roll(bytes - ETH_HLEN + 1);
		expect_same(frame.bytes, bytes, 0);
	}
}

static void test_other_run(void **state)
{
	struct built_frame frame;
	unsigned char out[TEST_FRAME_MAX_BYTES];

	(void)state;
	test_frame_build(&kinds[0], &frame);
	tell(TEST_RUN_TAG);
	assert_true(run(bpf_program__fd(xdp->progs.reflect_xdp), frame.bytes, frame.length, XDP_TX, out));
	tell(TEST_RUN_TAG ^ 1);
	assert_false(run(bpf_program__fd(xdp->progs.reflect_xdp), frame.bytes, frame.length, XDP_TX, out));
	expect_same(frame.bytes, frame.length, TEST_RUN_TAG ^ 1);
}

/* Probes and announcements go back as well, and are counted apart. */
static void test_counted_apart(void **state)
{
	static const struct test_frame_spec specs[] = {
		{ .ip_version = 4 },
		{ .ip_version = 4, .flags = HOPCAP_FRAME_END },
		{ .ip_version = 6, .run_tag_xor = TEST_RUN_TAG ^ HOPCAP_PROBE_TAG },
	};
	struct reflect_counters before, after;
	unsigned char out[TEST_FRAME_MAX_BYTES];
	struct built_frame frame;

	(void)state;
	tell(0);
	read_counters(&before);
	for (unsigned int i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		test_frame_build(&specs[i], &frame);
		assert_true(run(bpf_program__fd(xdp->progs.reflect_xdp), frame.bytes, frame.length, XDP_TX, out));
		assert_false(run(bpf_program__fd(xdp->progs.reflect_xdp), out, frame.length, XDP_TX, frame.bytes));
	}
	read_counters(&after);
	assert_int_equal(after.frames - before.frames, 1);
	assert_int_equal(after.bytes - before.bytes, HOPCAP_MIN_FRAME_BYTES);
	assert_int_equal(after.probes - before.probes, 2);
	assert_int_equal(after.again - before.again, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_turned_round),
		cmocka_unit_test(test_agree),
		cmocka_unit_test(test_other_run),
		cmocka_unit_test(test_counted_apart),
	};

	return cmocka_run_group_tests(tests, load, unload);
}
