// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which frames a hop program takes for test frames of its run, and what it does with the others.
 *
 * One table of frames, and every truncation of the six kinds of test frame, against hop_xdp and hop_tc.
 */
#include "hop_under_test.h"

#include <string.h>

#include <linux/if_ether.h>
#include <netinet/in.h>

#include "wire_test_frame.h"

struct frame_case {
	const char *name;
	struct test_frame_spec spec;
	int ours;	     /* counted as a test frame */
	int control_run_tag; /* 0: ours, -1: the probe is told 0, else what it is told */
};

static const struct frame_case frame_cases[] = {
	{ "IPv4", { .ip_version = 4 }, .ours = 1 },
	{ "IPv6", { .ip_version = 6 }, .ours = 1 },
	{ "IPv4 of 1514 bytes", { .ip_version = 4, .payload_bytes = 1454 }, .ours = 1 },
	{ "IPv6 of 1514 bytes", { .ip_version = 6, .payload_bytes = 1434 }, .ours = 1 },
	{ "IPv4, checksum filled", { .ip_version = 4, .ipv4_udp_checksum = 1 }, .ours = 1 },
	{ "IPv4, don't fragment", { .ip_version = 4, .ipv4_fragment = 0x4000 }, .ours = 1 },
	{ "802.1Q, IPv4", { .ip_version = 4, .tags = { ETH_P_8021Q } }, .ours = 1 },
	{ "802.1Q, IPv6", { .ip_version = 6, .tags = { ETH_P_8021Q } }, .ours = 1 },
	{ "802.1ad, IPv4", { .ip_version = 4, .tags = { ETH_P_8021AD } }, .ours = 1 },
	{ "802.1ad + 802.1Q, IPv4", { .ip_version = 4, .tags = { ETH_P_8021AD, ETH_P_8021Q } }, .ours = 1 },
	{ "802.1ad + 802.1Q, IPv6", { .ip_version = 6, .tags = { ETH_P_8021AD, ETH_P_8021Q } }, .ours = 1 },
	{ "802.1Q twice, IPv4", { .ip_version = 4, .tags = { ETH_P_8021Q, ETH_P_8021Q } }, .ours = 1 },
	{ "802.1Q thrice, IPv4", { .ip_version = 4, .tags = { ETH_P_8021Q, ETH_P_8021Q, ETH_P_8021Q } }, .ours = 0 },
	{ "802.1ad + 802.1Q twice, IPv6",
	  { .ip_version = 6, .tags = { ETH_P_8021AD, ETH_P_8021Q, ETH_P_8021Q } },
	  .ours = 0 },
	{ "unknown tag protocol", { .ip_version = 4, .tags = { 0x9100 } }, .ours = 0 },
	{ "ARP", { .ip_version = 4, .ether_type = ETH_P_ARP }, .ours = 0 },
	{ "IEEE 802.3 length", { .ip_version = 4, .ether_type = 46 }, .ours = 0 },
	{ "IPv6 under the EtherType of IPv4", { .ip_version = 6, .ether_type = ETH_P_IP }, .ours = 0 },
	{ "IPv4 under the EtherType of IPv6",
	  { .ip_version = 4, .ether_type = ETH_P_IPV6, .payload_bytes = 64 },
	  .ours = 0 },
	{ "IPv4, version field 6", { .ip_version = 4, .version_field = 6 }, .ours = 0 },
	{ "IPv6, version field 4", { .ip_version = 6, .version_field = 4 }, .ours = 0 },
	{ "IPv4, 4 bytes of options", { .ip_version = 4, .ipv4_option_bytes = 4 }, .ours = 0 },
	{ "IPv4, 40 bytes of options", { .ip_version = 4, .ipv4_option_bytes = 40 }, .ours = 0 },
	{ "IPv4, more fragments", { .ip_version = 4, .ipv4_fragment = 0x2000 }, .ours = 0 },
	{ "IPv4, last fragment, offset 8", { .ip_version = 4, .ipv4_fragment = 1 }, .ours = 0 },
	{ "IPv4, highest fragment offset", { .ip_version = 4, .ipv4_fragment = 0x1fff }, .ours = 0 },
	{ "IPv4, offset bit 8 alone", { .ip_version = 4, .ipv4_fragment = 0x0100 }, .ours = 0 },
	{ "IPv4, middle fragment", { .ip_version = 4, .ipv4_fragment = 0x20b9 }, .ours = 0 },
	{ "TCP over IPv4", { .ip_version = 4, .ip_protocol = IPPROTO_TCP }, .ours = 0 },
	{ "TCP over IPv6", { .ip_version = 6, .ip_protocol = IPPROTO_TCP }, .ours = 0 },
	{ "UDP-Lite over IPv4", { .ip_version = 4, .ip_protocol = IPPROTO_UDPLITE }, .ours = 0 },
	{ "IPv6, hop-by-hop options",
	  { .ip_version = 6, .ipv6_extended = 1, .ipv6_extension = IPPROTO_HOPOPTS },
	  .ours = 0 },
	{ "IPv6, fragment header",
	  { .ip_version = 6, .ipv6_extended = 1, .ipv6_extension = IPPROTO_FRAGMENT },
	  .ours = 0 },
	{ "IPv6, destination options",
	  { .ip_version = 6, .ipv6_extended = 1, .ipv6_extension = IPPROTO_DSTOPTS },
	  .ours = 0 },
	{ "UDP port 10", { .ip_version = 4, .udp_port = 10 }, .ours = 0 },
	{ "UDP port 9 with its bytes swapped", { .ip_version = 4, .udp_port = 0x0900 }, .ours = 0 },
	{ "UDP port 10, IPv6", { .ip_version = 6, .udp_port = 10 }, .ours = 0 },
	{ "foreign run tag", { .ip_version = 4, .run_tag_xor = 0x0001 }, .ours = 0 },
	{ "foreign run tag, high byte", { .ip_version = 4, .run_tag_xor = 0x8000 }, .ours = 0 },
	{ "foreign run tag, IPv6", { .ip_version = 6, .run_tag_xor = 0x0100 }, .ours = 0 },
	{ "run tag 0 in the frame", { .ip_version = 4, .run_tag_xor = TEST_RUN_TAG }, .ours = 0 },
	{ "run tag 0 in the probe, ours in the frame", { .ip_version = 4 }, .control_run_tag = -1 },
	{ "run tag 0 in both", { .ip_version = 4, .run_tag_xor = TEST_RUN_TAG }, .control_run_tag = -1 },
	{ "run tag with its bytes swapped", { .ip_version = 4 }, .control_run_tag = 0x5ba5 },
	{ "foreign stream", { .ip_version = 4, .stream_xor = 0x01 }, .ours = 0 },
	{ "foreign stream, high bit", { .ip_version = 6, .stream_xor = 0x80 }, .ours = 0 },
};

#define CASES (sizeof(frame_cases) / sizeof(frame_cases[0]))

static void expect_counters(const char *name, int ours, uint64_t frames, uint64_t bytes)
{
	struct hop_counters counters;
	struct hop_seen seen;
	uint64_t sized = 0;

	hop_read_counters(&counters);
	for (int i = 0; i < HOPCAP_SIZE_BUCKETS; i++)
		sized += counters.other_sizes.frames[i];
	if (counters.test_frames != (ours ? frames : 0) || counters.test_bytes != (ours ? bytes : 0) ||
	    counters.other_frames != (ours ? 0 : frames) || counters.other_bytes != (ours ? 0 : bytes) ||
	    counters.other_segments != (ours ? 0 : frames) || sized != (ours ? 0 : frames))
		fail_msg("%s, %s: %llu test frames of %llu bytes, %llu others of %llu bytes, %llu segments, %llu sized",
			 hop->name, name, counters.test_frames, counters.test_bytes, counters.other_frames,
			 counters.other_bytes, counters.other_segments, (unsigned long long)sized);
	if (ours)
		return;
	hop_read_seen(&seen);
	assert_int_equal(counters.stamped + counters.stamp_errors, 0);
	assert_int_equal(seen.first_ns | seen.last_ns, 0);
}

static void expect_no_histogram(void)
{
	struct hop_histograms histograms;

	hop_read_histograms(&histograms);
	assert_int_equal(hop_only_bucket(histograms.hop_ns), -1);
	assert_int_equal(hop_only_bucket(histograms.path_ns), -1);
}

/* All four of pass and drop, unstamped and stamped. */
static void frame_is_told_apart(void **state)
{
	const struct frame_case *row = *state;

	for (int variant = 0; variant < 4; variant++) {
		struct test_frame_spec spec = row->spec;
		struct hop_result result;
		struct built_frame frame;
		int drop = variant & 1;

		hop_ready();
		if (row->control_run_tag)
			hop->control->run_tag = row->control_run_tag < 0 ? 0 : (uint16_t)row->control_run_tag;
		hop->control->action = drop ? HOPCAP_HOP_DROP : HOPCAP_HOP_PASS;
		spec.flags = variant & 2 ? HOPCAP_FRAME_STAMP : 0;
		test_frame_build(&spec, &frame);
		if (hop_run_frame(frame.bytes, frame.length, &result))
			fail_msg("%s: the kernel takes no frame of %u bytes", row->name, frame.length);
		expect_counters(row->name, row->ours, 1, frame.length);
		assert_int_equal(result.verdict, drop && row->ours ? hop->drop : hop->pass);
		assert_int_equal(result.bytes, frame.length);
		if (row->ours && spec.flags)
			continue;
		assert_memory_equal(result.frame, frame.bytes, frame.length);
		expect_no_histogram();
	}
}

static const struct test_frame_spec whole_frames[] = {
	{ .ip_version = 4, .flags = HOPCAP_FRAME_STAMP },
	{ .ip_version = 6, .flags = HOPCAP_FRAME_STAMP },
	{ .ip_version = 4, .tags = { ETH_P_8021Q }, .flags = HOPCAP_FRAME_STAMP },
	{ .ip_version = 6, .tags = { ETH_P_8021Q }, .flags = HOPCAP_FRAME_STAMP },
	{ .ip_version = 4, .tags = { ETH_P_8021AD, ETH_P_8021Q }, .flags = HOPCAP_FRAME_STAMP },
	{ .ip_version = 6, .tags = { ETH_P_8021AD, ETH_P_8021Q }, .flags = HOPCAP_FRAME_STAMP },
};

/* What follows the end of a truncated frame in memory must not decide: each run is preceded by one of a whole frame. */
static void truncated_frame_is_never_ours(void **state)
{
	(void)state;
	for (size_t kind = 0; kind < sizeof(whole_frames) / sizeof(whole_frames[0]); kind++) {
		struct ledger_counts ledger;
		struct hop_result result;
		struct built_frame frame;

		test_frame_build(&whole_frames[kind], &frame);
		for (unsigned int bytes = TEST_ETHERNET_BYTES; bytes < test_frame_header_end(&frame); bytes++) {
			hop_ready();
			hop->control->action = HOPCAP_HOP_DROP;
			hop->control->sink = 1;
			assert_int_equal(hop_run_frame(frame.bytes, frame.length, &result), 0);
			hop_ready();
			hop->control->action = HOPCAP_HOP_DROP;
			hop->control->sink = 1;
			if (hop_run_frame(frame.bytes, bytes, &result)) {
				/* The kernel itself wants a whole IP header when the EtherType announces one. */
				assert_true(hop->has_segments && bytes < frame.udp_offset);
				continue;
			}
			expect_counters("truncated", 0, 1, bytes);
			assert_int_equal(result.verdict, hop->pass);
			assert_int_equal(result.bytes, bytes);
			assert_memory_equal(result.frame, frame.bytes, bytes);
			expect_no_histogram();
			hop_read_stream(0, &ledger);
			assert_int_equal(ledger.frames | ledger.corrupted | ledger.next, 0);
		}
	}
}

/* The other side of the bound: the shortest frame with a whole header is ours. */
static void whole_header_suffices(void **state)
{
	(void)state;
	for (size_t kind = 0; kind < sizeof(whole_frames) / sizeof(whole_frames[0]); kind++) {
		struct hop_result result;
		struct built_frame frame;

		hop_ready();
		hop->control->action = HOPCAP_HOP_DROP;
		test_frame_build(&whole_frames[kind], &frame);
		assert_int_equal(frame.length, test_frame_header_end(&frame));
		assert_int_equal(hop_run_frame(frame.bytes, frame.length, &result), 0);
		expect_counters("whole", 1, 1, frame.length);
		assert_int_equal(result.verdict, hop->drop);
	}
}

/* An action that user space never sets is no reason to lose frames. */
static void unknown_action_passes(void **state)
{
	const struct test_frame_spec spec = { .ip_version = 4 };
	struct hop_result result;
	struct built_frame frame;

	(void)state;
	hop_ready();
	hop->control->action = 7;
	test_frame_build(&spec, &frame);
	assert_int_equal(hop_run_frame(frame.bytes, frame.length, &result), 0);
	assert_int_equal(result.verdict, hop->pass);
	expect_counters("unknown action", 1, 1, frame.length);
}

int main(void)
{
	static const struct CMUnitTest others[] = {
		cmocka_unit_test(truncated_frame_is_never_ours),
		cmocka_unit_test(whole_header_suffices),
		cmocka_unit_test(unknown_action_passes),
	};
	struct CMUnitTest tests[CASES + sizeof(others) / sizeof(others[0])];

	memcpy(tests + CASES, others, sizeof(others));
	for (size_t i = 0; i < CASES; i++)
		tests[i] = (struct CMUnitTest){ frame_cases[i].name, frame_is_told_apart, NULL, NULL,
						(void *)&frame_cases[i] };
	return hop_run_groups("frames", tests, sizeof(tests) / sizeof(tests[0]), 1);
}
