// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The ledger at the end of a real path: frames go through two veth pairs with a program between that drops, doubles, swaps,
 * delays and damages known ones (bad_path.h); a kernel sink's counts are then compared with a model's, each of them, exactly.
 *
 *   packet socket -> a0 ==== b0 -> bad_path_tc -> b1 ==== c0 -> sink
 *
 * All in a network namespace of its own, which ends with the process, and on one CPU, which sends and then serves the path. The source
 * is ahead of the bad path by less than any queue holds, so the path loses none but those it should, however busy the machine is.
 */
#define _GNU_SOURCE

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <net/if.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>

#include "bad_path.h"
#include "bad_path.skel.h"
#include "base/error.h"
#include "base/undo.h"
#include "hop_under_test.h"
#include "probe/hop_probe.h"
#include "skip_because.h"
#include "sys/bpf_attach.h"
#include "sys/rtnl.h"
#include "sys/undo_actions.h"
#include "wire_test_frame.h"

#define FRAMES 5000000u /* for each kind of sink: ten million in all; LEDGER_FRAMES in the environment: fewer */
#define AHEAD 128u
#define BATCH 64u
#define PATIENCE_S 20 /* without any progress */

static char state_dir[] = "/tmp/ledger-path-XXXXXX";
static uint32_t frames_in_all = FRAMES;

static struct {
	int refused; /* errno */
	struct bad_path_bpf *bad_path;
	struct bpf_attachment attachment;
	struct hop_probe *middle; /* counts in front of the bad path */
	int socket;
	unsigned int header_offset;
	struct built_frame frames[BATCH];
	struct mmsghdr messages[BATCH];
	struct iovec parts[BATCH];
} path;

/* What the sink must have counted, from definitions; every place that came is remembered. */
static struct {
	struct ledger_counts counts;
	uint64_t arrived; /* damaged ones included */
	unsigned char seen[FRAMES + 8];
	uint64_t lap[LEDGER_WORDS];
} model;

static void model_take(const struct bad_frame *frame)
{
	uint64_t place = frame->sequence, *lap = &model.lap[place / 32 % LEDGER_WORDS], mine = place / LEDGER_WINDOW + 1;

	model.arrived++;
	if (frame->is_damaged) {
		model.counts.corrupted++;
		return;
	}
	model.counts.frames++;
	if (*lap > mine) {
		model.counts.late++;
	} else if (model.seen[place]) {
		model.counts.duplicates++;
	} else if (place + 1 < model.counts.next) {
		uint64_t extent = model.counts.next - 1 - place;
		int bucket = 0;

		model.counts.reordered++;
		while (extent >> (bucket + 1))
			bucket++;
		model.counts.extent[bucket]++;
	}
	model.seen[place] = 1;
	*lap = mine > *lap ? mine : *lap;
	if (place >= model.counts.next)
		model.counts.next = place + 1;
}

static int attach_bad_path(void)
{
	path.bad_path = bad_path_bpf__open();
	if (!path.bad_path)
		return -errno;
	path.bad_path->rodata->leaves_by = if_nametoindex("b1");
	return bad_path_bpf__load(path.bad_path) ||
	       bpf_attach_tc(bpf_program__fd(path.bad_path->progs.bad_path_tc), "b0", "", (int)if_nametoindex("b0"), 1,
			     &path.attachment);
}

static int open_source(void)
{
	const struct sockaddr_ll address = { .sll_family = AF_PACKET, .sll_ifindex = (int)if_nametoindex("a0"),
					     .sll_protocol = 0 };
	const struct test_frame_spec spec = { .ip_version = 4 };
	int one = 1;

	path.socket = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (path.socket < 0 || bind(path.socket, (const struct sockaddr *)&address, sizeof(address)) ||
	    setsockopt(path.socket, SOL_PACKET, PACKET_QDISC_BYPASS, &one, sizeof(one)))
		return -errno;
	for (unsigned int i = 0; i < BATCH; i++) {
		test_frame_build(&spec, &path.frames[i]);
		path.parts[i] = (struct iovec){ path.frames[i].bytes, path.frames[i].length };
		path.messages[i].msg_hdr = (struct msghdr){ .msg_iov = &path.parts[i], .msg_iovlen = 1 };
	}
	path.header_offset = path.frames[0].header_offset;
	return 0;
}

/*
 * No neighbour discovery: one such frame, sent by a timer on another CPU, makes that CPU poll the link and take some of the
 * test frames with it. Order is told by CPU, so a frame or two of 165 808 then do not count as reordered.
 */
static void keep_quiet(void)
{
	static const char *const files[] = { "/proc/sys/net/ipv6/conf/all/disable_ipv6",
					     "/proc/sys/net/ipv6/conf/default/disable_ipv6" };

	for (int i = 0; i < 2; i++) {
		FILE *file = fopen(files[i], "we");

		if (!file)
			continue; /* a kernel without IPv6 */
		fputs("1", file);
		fclose(file);
	}
}

static int build_path(void **state)
{
	const struct run_point middle = { .name = "b0", .interface = "b0", .mode = "tcx", .direction = RUN_DIRECTION_IN };
	static const char *const names[] = { "a0", "b0", "b1", "c0" };
	int code;

	(void)state;
	undo_set_handlers(undo_action_handlers); /* before Linux 6.6 there is a clsact to remove */
	if (!mkdtemp(state_dir) || setenv("HOPCAP_STATE_DIR", state_dir, 1))
		return -errno;
	if (unshare(CLONE_NEWNET)) {
		path.refused = errno;
		return 0;
	}
	keep_quiet();
	code = rtnl_veth_create("a0", "b0", "", 1500);
	if (!code)
		code = rtnl_veth_create("b1", "c0", "", 1500);
	for (int i = 0; !code && i < 4; i++)
		code = rtnl_link_set_up(names[i]);
	/* The probe comes first: at tcx who is attached first, at clsact (before Linux 6.6) who is attached last. */
	if (!code && kernel_is_before(6, 6))
		code = attach_bad_path();
	if (!code)
		code = hop_probe_open(&middle, &path.middle);
	if (!code)
		code = hop_probe_attach(path.middle, NULL);
	if (!code && !kernel_is_before(6, 6))
		code = attach_bad_path();
	if (!code)
		code = open_source();
	if (code)
		print_error("cannot build the path: %s (%d)\n", error_text(), code);
	return code;
}

static int remove_path(void **state)
{
	(void)state;
	bpf_detach(&path.attachment);
	hop_probe_close(path.middle);
	bad_path_bpf__destroy(path.bad_path);
	if (path.socket > 0)
		close(path.socket);
	undo_run_all();
	rmdir(state_dir);
	return 0;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* What the device refuses is offered again: here no frame may be lost in front of the path. */
static void send_batch(unsigned int count)
{
	for (unsigned int sent = 0; sent < count;) {
		int now = sendmmsg(path.socket, path.messages + sent, count - sent, 0);

		if (now < 0 && errno != ENOBUFS && errno != EAGAIN && errno != EINTR)
			fail_msg("packet socket: %s", strerror(errno));
		sent += now > 0 ? (unsigned int)now : 0;
	}
}

static void number_frame(unsigned int index, uint32_t sequence, uint8_t flags)
{
	unsigned char *header = path.frames[index].bytes + path.header_offset;

	test_put_be(header + HOPCAP_OFFSET_FLAGS, flags, 1);
	test_put_be(header + HOPCAP_OFFSET_SEQUENCE, sequence, 4);
	test_put_be(header + HOPCAP_OFFSET_ORIGIN_HIGH16, flags & HOPCAP_FRAME_STAMP ? now_ns() : 0, 6);
}

static uint64_t taken(void)
{
	return __atomic_load_n(&path.bad_path->bss->taken, __ATOMIC_RELAXED);
}

static void wait_until_taken(uint64_t frames)
{
	time_t give_up = time(NULL) + PATIENCE_S;
	uint64_t before = 0, now;

	while ((now = taken()) < frames) {
		if (now != before)
			give_up = time(NULL) + PATIENCE_S;
		else if (time(NULL) >= give_up)
			fail_msg("the bad path saw %llu frames, not %llu: some were lost in front of it", (unsigned long long)now,
				 (unsigned long long)frames);
		before = now;
		usleep(20);
	}
}

static void send_through(void)
{
	const uint64_t before = taken();
	struct bad_frame out[BAD_PATH_MOST];

	for (uint32_t sent = 0; sent < frames_in_all;) {
		unsigned int batch = frames_in_all - sent < BATCH ? frames_in_all - sent : BATCH;

		for (unsigned int i = 0; i < batch; i++)
			number_frame(i, sent + i, i ? 0 : HOPCAP_FRAME_STAMP);
		send_batch(batch);
		for (unsigned int i = 0; i < batch; i++, sent++) {
			uint32_t frames = bad_path(sent, out);

			for (uint32_t k = 0; k < frames; k++)
				model_take(&out[k]);
		}
		wait_until_taken(before + sent - (AHEAD - BATCH));
	}
}

/* All that the model expects, then the source's last word, which is counted nowhere. */
static void wait_for_end(const struct hop_probe *sink)
{
	time_t give_up = time(NULL) + PATIENCE_S;
	struct hop_reading reading;

	while (hop_probe_count(sink) < model.arrived && time(NULL) < give_up)
		usleep(1000);
	for (unsigned int i = 0; i < 3; i++)
		number_frame(i, frames_in_all, HOPCAP_FRAME_END);
	send_batch(3);
	do
		assert_int_equal(hop_probe_read(sink, &reading), 0);
	while (!reading.streams[0].announced && time(NULL) < give_up);
	assert_int_equal(reading.streams[0].announced, frames_in_all);
}

static void expect_counts(const char *sink, const struct hop_reading *reading)
{
	const struct ledger_counts *got = &reading->streams[0], *wanted = &model.counts;

	print_message("%s sink: %llu frames, %llu duplicates, %llu reordered, %llu late, %llu corrupted\n", sink,
		      (unsigned long long)got->frames, (unsigned long long)got->duplicates, (unsigned long long)got->reordered,
		      (unsigned long long)got->late, (unsigned long long)got->corrupted);
	assert_int_equal(reading->total.test_frames, model.arrived);
	assert_int_equal(got->frames, wanted->frames);
	assert_int_equal(got->duplicates, wanted->duplicates);
	assert_int_equal(got->reordered, wanted->reordered);
	assert_int_equal(got->late, wanted->late);
	assert_int_equal(got->corrupted, wanted->corrupted);
	assert_int_equal(got->next, wanted->next);
	assert_memory_equal(got->extent, wanted->extent, sizeof(got->extent));
	assert_true(wanted->duplicates && wanted->reordered && wanted->late && wanted->corrupted);
	assert_true(reading->total.stamped > 0);
	assert_int_equal(reading->total.stamp_errors, 0);
}

static void stay_on_one_cpu(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
}

static void ten_million_frames(void **state)
{
	const struct run_point *point = *state;
	struct hop_probe *sink;
	struct hop_reading reading;
	uint64_t distinct = 0;

	if (path.refused)
		skip_refused("network namespace", path.refused);
	memset(&model, 0, sizeof(model));
	assert_int_equal(hop_probe_open(point, &sink), 0);
	assert_int_equal(hop_probe_arm(sink, TEST_RUN_TAG, TEST_STREAM, 1), 0);
	assert_int_equal(hop_probe_arm(path.middle, TEST_RUN_TAG, TEST_STREAM, 0), 0);
	if (hop_probe_attach(sink, NULL))
		fail_msg("%s", error_text());
	stay_on_one_cpu();
	send_through();
	wait_for_end(sink);
	assert_int_equal(hop_probe_count(path.middle), frames_in_all);
	assert_int_equal(path.bad_path->bss->refused, 0);
	assert_int_equal(hop_probe_read(sink, &reading), 0);
	expect_counts(point->mode, &reading);
	for (uint64_t place = 0; place < frames_in_all; place++)
		distinct += model.seen[place];
	/* Late ones were seen before; the ledger cannot know, and says so. */
	assert_int_equal(reading.streams[0].frames - reading.streams[0].duplicates - reading.streams[0].late, distinct);
	hop_probe_close(sink);
}

/* An interface that goes away takes the attachment with it; what was counted until then can be read. */
static void interface_goes_away(void **state)
{
	static const char *const modes[] = { "native", "generic", "tcx" };

	(void)state;
	if (path.refused)
		skip_refused("network namespace", path.refused);
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		struct run_point point = { .name = "d0", .interface = "d0", .direction = RUN_DIRECTION_IN };
		struct hop_reading reading;
		struct hop_probe *sink;

		strcpy(point.mode, modes[i]);
		assert_int_equal(rtnl_veth_create("d0", "d1", "", 1500), 0);
		assert_int_equal(hop_probe_open_streams(&point, LEDGER_MAX_STREAMS, &sink), 0);
		assert_int_equal(hop_probe_arm(sink, TEST_RUN_TAG, TEST_STREAM, 1), 0);
		assert_int_equal(hop_probe_attach(sink, NULL), 0);
		assert_int_equal(hop_probe_alive(sink), -ENETDOWN); /* it was not set up yet */
		assert_int_equal(rtnl_link_set_up("d0"), 0);
		assert_int_equal(hop_probe_alive(sink), 0);
		assert_int_equal(rtnl_link_delete("d0"), 0);
		assert_int_equal(hop_probe_alive(sink), -ENODEV);
		assert_int_equal(hop_probe_read(sink, &reading), 0);
		assert_int_equal(reading.run_tag, TEST_RUN_TAG);
		hop_probe_close(sink);
		assert_int_equal(hop_probe_open(&point, &sink), -ENODEV);
	}
}

int main(void)
{
	static struct run_point xdp = { .name = "c0", .interface = "c0", .mode = "native", .direction = RUN_DIRECTION_IN },
				tc = { .name = "c0", .interface = "c0", .mode = "tcx", .direction = RUN_DIRECTION_IN };
	const struct CMUnitTest tests[] = {
		{ "XDP sink behind a bad path", ten_million_frames, NULL, NULL, &xdp },
		{ "tc sink behind a bad path", ten_million_frames, NULL, NULL, &tc },
		cmocka_unit_test(interface_goes_away),
	};
	const char *fewer = getenv("LEDGER_FRAMES");

	if (fewer && atoi(fewer) > 0 && atoi(fewer) <= (int)FRAMES)
		frames_in_all = (uint32_t)atoi(fewer);
	return cmocka_run_group_tests_name("ledger at the end of a path", tests, build_path, remove_path);
}
