// SPDX-License-Identifier: GPL-2.0-or-later
/* Captures as streams, from files written here byte by byte: what is kept, and what is refused with which words. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "traffic/pcap_replay.h"

static const struct frame_spec ours = { .source_mac = { 2, 0, 0, 0, 0, 1 },
					.destination_mac = { 2, 0, 0, 0, 0, 2 },
					.run_tag = 77 };
static char file[64];
static FILE *writing;
static struct pcap_replay replay;

static void put32(uint32_t value)
{
	assert_int_equal(fwrite(&value, sizeof(value), 1, writing), 1);
}

static void begin(void)
{
	int fd;

	strcpy(file, "/tmp/hopcap-test-XXXXXX");
	fd = mkstemp(file);
	assert_true(fd >= 0);
	writing = fdopen(fd, "w");
	assert_non_null(writing);
}

/* Header of a pcap file with times in microseconds, in this machine's byte order. */
static void begin_pcap(uint32_t link_type)
{
	begin();
	put32(0xa1b2c3d4);
	put32(4 << 16 | 2);
	put32(0);
	put32(0);
	put32(262144);
	put32(link_type);
}

static void put_bytes(uint32_t bytes, unsigned int seed)
{
	for (uint32_t i = 0; i < bytes; i++)
		fputc((int)((i * 7 + seed) & 0xff), writing);
}

static void put_frame(uint32_t seconds, uint32_t microseconds, uint32_t captured, uint32_t bytes)
{
	put32(seconds);
	put32(microseconds);
	put32(captured);
	put32(bytes);
	put_bytes(captured, bytes);
}

/* Closes, reads and removes the file. */
static int read_back(enum replay_use use)
{
	int code;

	assert_int_equal(fclose(writing), 0);
	code = pcap_replay_read(file, use, &ours, &replay);
	unlink(file);
	return code;
}

static void expect_refusal(enum replay_use use, const char *said)
{
	int code = read_back(use);

	pcap_replay_free(&replay);
	assert_true(code < 0);
	if (!strstr(error_text(), said) || !strstr(error_text(), file))
		fail_msg("\"%s\" says nothing of %s and \"%s\"", error_text(), file, said);
}

static void put_four_frames(void)
{
	put_frame(1000, 999990, 100, 100);
	put_frame(1001, 0, 40, 40);
	put_frame(1000, 999999, 1514, 1514); /* stepped back */
	put_frame(1001, 20, 100, 100);
}

static void expect_times(void)
{
	assert_int_equal(replay.count, 4);
	assert_int_equal(replay.departures_ns[0], 0);
	assert_int_equal(replay.departures_ns[1], 10000);
	assert_int_equal(replay.departures_ns[2], 10000);
	assert_int_equal(replay.departures_ns[3], 30000);
	assert_int_equal(replay.pass_ns, 40000);
	assert_int_equal(replay.backwards, 1);
}

static void frames_as_they_are(void **state)
{
	static const unsigned int bytes[] = { 100, 40, 1514, 100 };
	char text[300];

	(void)state;
	begin_pcap(1);
	put_four_frames();
	assert_int_equal(read_back(REPLAY_FRAMES), 0);
	expect_times();
	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(replay.templates[i].frame_bytes, bytes[i]);
		assert_int_equal(replay.templates[i].header_offset, PORT_NO_HEADER);
		for (unsigned int at = 0; at < bytes[i]; at++)
			assert_int_equal(replay.templates[i].frame[at], (at * 7 + bytes[i]) & 0xff);
	}
	pcap_replay_describe(&replay, text, sizeof(text));
	assert_non_null(strstr(text, "4 frames, mean 438.5 bytes (442.5 with FCS) over 3e-05 s"));
	assert_non_null(strstr(text, "1 stepped back in time"));
	pcap_replay_free(&replay);
}

static void sizes_with_our_headers(void **state)
{
	static const unsigned int bytes[] = { 100, 60, 1514, 100 };
	unsigned char expected[1514];
	char text[300];

	(void)state;
	begin_pcap(1);
	put_four_frames();
	assert_int_equal(read_back(REPLAY_SIZES), 0);
	expect_times();
	assert_int_equal(replay.raised, 1);
	assert_ptr_equal(replay.templates[0].frame, replay.templates[3].frame);
	for (unsigned int i = 0; i < 4; i++) {
		struct frame_spec spec = ours;

		spec.frame_bytes = bytes[i];
		assert_int_equal(frame_build(&spec, expected), replay.templates[i].header_offset);
		assert_int_equal(replay.templates[i].udp_offset, 34);
		assert_int_equal(replay.templates[i].frame_bytes, bytes[i]);
		assert_memory_equal(replay.templates[i].frame, expected, bytes[i]);
	}
	assert_non_null(strstr(pcap_replay_describe(&replay, text, sizeof(text)), "1 were smaller than a test frame"));
	pcap_replay_free(&replay);
}

/* What was captured in part has its size still. */
static void cut_frames_keep_their_size(void **state)
{
	(void)state;
	begin_pcap(1);
	put_frame(5, 0, 64, 1514);
	assert_int_equal(read_back(REPLAY_SIZES), 0);
	assert_int_equal(replay.templates[0].frame_bytes, 1514);
	assert_int_equal(replay.pass_ns, 0);
	pcap_replay_free(&replay);
	begin_pcap(1);
	put_frame(5, 0, 64, 64);
	put_frame(5, 0, 64, 1514);
	expect_refusal(REPLAY_FRAMES, "frame 2, at byte 104: only 64 of its 1514 bytes");
}

/* A section, an Ethernet interface with times in nanoseconds, two packets. */
static void pcapng(void **state)
{
	(void)state;
	begin();
	put32(0x0a0d0d0a), put32(28), put32(0x1a2b3c4d), put32(1), put32(~0u), put32(~0u), put32(28);
	put32(1), put32(32), put32(1), put32(0), put32(1 << 16 | 9), put32(9), put32(0), put32(32);
	for (uint32_t i = 0; i < 2; i++) {
		put32(6), put32(32 + 64), put32(0), put32(0x17), put32(0xfffffff0 - 5 + i * 5), put32(64), put32(64);
		put_bytes(64, 0);
		put32(32 + 64);
	}
	assert_int_equal(read_back(REPLAY_FRAMES), 0);
	assert_int_equal(replay.count, 2);
	assert_int_equal(replay.departures_ns[1], 5);
	assert_int_equal(replay.pass_ns, 10);
	pcap_replay_free(&replay);
}

static void truncated_files(void **state)
{
	(void)state;
	begin_pcap(1);
	put_frame(1, 0, 100, 100);
	put32(1), put32(2), put32(100); /* of a record's 16 bytes, 12 */
	expect_refusal(REPLAY_SIZES, "frame 2, at byte 140: truncated");
	begin_pcap(1);
	put_frame(1, 0, 100, 100);
	put32(1), put32(2), put32(100), put32(100);
	put_bytes(99, 0);
	expect_refusal(REPLAY_FRAMES, "frame 2, at byte 140: truncated");
	begin();
	put32(0xa1b2c3d4), put32(4 << 16 | 2);
	expect_refusal(REPLAY_FRAMES, "cannot be read");
}

static void foreign_files(void **state)
{
	(void)state;
	begin();
	expect_refusal(REPLAY_FRAMES, "the file is empty");
	begin();
	fputs("root:x:0:0:root:/root:/bin/bash\nand more of the same kind\n", writing);
	expect_refusal(REPLAY_FRAMES, "cannot be read as pcap or pcapng");
	begin_pcap(1);
	expect_refusal(REPLAY_SIZES, "no frame");
	begin_pcap(113); /* Linux "cooked" */
	put_frame(1, 0, 100, 100);
	expect_refusal(REPLAY_SIZES, "LINUX_SLL; only Ethernet");
	begin_pcap(1);
	put_frame(1, 0, 9019, 9019);
	expect_refusal(REPLAY_SIZES, "frame 1, at byte 24: 9019 bytes");
	begin_pcap(1);
	put_frame(1, 0, 13, 13);
	expect_refusal(REPLAY_FRAMES, "less than an Ethernet header");
	begin_pcap(1);
	put_frame(1, 0, 100, 60);
	expect_refusal(REPLAY_FRAMES, "damaged");
	assert_int_equal(pcap_replay_read("/does/not/exist", REPLAY_FRAMES, NULL, &replay), -ENOENT);
	assert_int_equal(pcap_replay_read("/dev/zero", REPLAY_FRAMES, NULL, &replay), -EINVAL);
}

static void headers_that_cannot_be(void **state)
{
	static const struct frame_spec three_tags = { .tag_count = 3 };

	(void)state;
	begin_pcap(1);
	put_frame(1, 0, 100, 100);
	assert_int_equal(fclose(writing), 0);
	assert_int_equal(pcap_replay_read(file, REPLAY_SIZES, &three_tags, &replay), -EINVAL);
	pcap_replay_free(&replay);
	unlink(file);
}

/* Cut or changed anywhere, a file is read or refused, and nothing else. */
static void damaged_anywhere(void **state)
{
	unsigned char bytes[4000];
	size_t length;
	FILE *from;

	(void)state;
	begin_pcap(1);
	put_four_frames();
	assert_int_equal(fclose(writing), 0);
	from = fopen(file, "r");
	assert_non_null(from);
	length = fread(bytes, 1, sizeof(bytes), from);
	fclose(from);
	unlink(file);
	for (size_t at = 0; at < 1800; at++) {
		for (int change = 0; change < 3; change++) {
			unsigned char before = bytes[at];
			int code;

			begin();
			bytes[at] = change == 1 ? 0xff : change == 2 ? (unsigned char)(before ^ 0x80) : before;
			fwrite(bytes, 1, change ? length : at, writing);
			bytes[at] = before;
			code = read_back(at % 2 ? REPLAY_SIZES : REPLAY_FRAMES);
			assert_true(code <= 0);
			if (!code)
				for (unsigned int i = 1; i < replay.count; i++)
					assert_true(replay.departures_ns[i] >= replay.departures_ns[i - 1]);
			pcap_replay_free(&replay);
			if (at > 200 && at % 16)
				break;
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_as_they_are),
		cmocka_unit_test(sizes_with_our_headers),
		cmocka_unit_test(cut_frames_keep_their_size),
		cmocka_unit_test(pcapng),
		cmocka_unit_test(truncated_files),
		cmocka_unit_test(foreign_files),
		cmocka_unit_test(headers_that_cannot_be),
		cmocka_unit_test(damaged_anywhere),
	};

	return cmocka_run_group_tests_name("captures", tests, NULL, NULL);
}
