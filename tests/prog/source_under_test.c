// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The live-frame generator, run one frame at a time: see source_under_test.h. Used by test_source_*.c.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "hop_under_test.h"
#include "source_under_test.h"
#include "source_xdp.skel.h"

struct source_control *live_control;
struct source_state *live_state;

static struct source_xdp_bpf *skeleton;
static int refused;

static void *map_memory(const struct bpf_map *map, size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);

	return memory == MAP_FAILED ? NULL : memory;
}

int source_load(void **state)
{
	(void)state;
	skeleton = source_xdp_bpf__open_and_load();
	if (!skeleton) {
		refused = errno;
		if (refused == EPERM)
			return 0;
		print_error("source_xdp: cannot load: %s\n", strerror(refused));
		return -1;
	}
	live_control = map_memory(skeleton->maps.source_control, sizeof(*live_control));
	live_state = map_memory(skeleton->maps.source_state, sizeof(*live_state));
	return live_control && live_state ? 0 : -1;
}

int source_unload(void **state)
{
	(void)state;
	if (live_control)
		munmap(live_control, sizeof(*live_control));
	if (live_state)
		munmap(live_state, sizeof(*live_state));
	source_xdp_bpf__destroy(skeleton);
	return 0;
}

void source_use_template(const struct built_frame *frame)
{
	uint32_t bytes = frame->length < HOPCAP_TEMPLATE_BYTES ? frame->length : HOPCAP_TEMPLATE_BYTES;

	memset(live_control->template_bytes, 0, HOPCAP_TEMPLATE_BYTES);
	memcpy(live_control->template_bytes, frame->bytes, bytes);
	live_control->header_offset = frame->header_offset;
}

void source_ready(struct built_frame *frame)
{
	static const struct test_frame_spec smallest = { .ip_version = 4 };

	if (refused)
		skip_refused("source_xdp", refused);
	memset(live_control, 0, sizeof(*live_control));
	memset(live_state, 0, sizeof(*live_state));
	live_control->frames = UINT64_MAX;
	live_control->ifindex = 1;
	live_control->stamp_mask = 0x7fffffff;
	test_frame_build(&smallest, frame);
	source_use_template(frame);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void source_run(const unsigned char *page, uint32_t bytes, uint32_t repeat, struct source_result *result)
{
	unsigned char copy[SOURCE_FRAME_BYTES];
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = copy, .data_size_in = bytes, .data_out = result->frame,
		    .data_size_out = sizeof(result->frame), .repeat = (int)repeat);
	int code;

	assert_true(bytes <= sizeof(copy));
	memcpy(copy, page, bytes); /* page may be result->frame */
	result->before_ns = now_ns();
	code = bpf_prog_test_run_opts(bpf_program__fd(skeleton->progs.source_live), &options);
	result->after_ns = now_ns();
	if (code)
		fail_msg("source_live: test run of %u bytes: %s", bytes, strerror(-code));
	result->verdict = options.retval;
	result->bytes = options.data_size_out;
	assert_int_equal(result->bytes, bytes);
}
