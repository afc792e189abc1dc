// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The live-frame generator, run one frame at a time: see source_under_test.h. Used by test_source_*.c.
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "hop_under_test.h"
#include "source_under_test.h"
#include "histogram_layout.h"
#include "source_xdp.skel.h"

struct source_control *live_control;
struct source_state *live_state;
__u64 *live_lateness;

#define LOOPBACK 1

static struct source_xdp_bpf *skeleton;
static int refused;

static int set_device(uint32_t ifindex)
{
	uint32_t zero = 0;

	return bpf_map__update_elem(skeleton->maps.source_device, &zero, sizeof(zero), &ifindex, sizeof(ifindex),
				    BPF_ANY);
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
	if (!skeleton->bss)
		return -1;
	live_control = &skeleton->bss->source_control;
	live_state = &skeleton->bss->source_state;
	live_lateness = skeleton->bss->source_lateness;
	return set_device(LOOPBACK) ? -1 : 0;
}

int source_unload(void **state)
{
	(void)state;
	source_xdp_bpf__destroy(skeleton);
	return 0;
}

void source_use_template(const struct built_frame *frame)
{
	source_use_templates(frame, 1);
}

/* With the checksum that the standards want: a template's is that of a frame with nothing in it. */
static void set_template(struct source_template *template, const struct built_frame *frame)
{
	uint32_t bytes = frame->length < HOPCAP_TEMPLATE_BYTES ? frame->length : HOPCAP_TEMPLATE_BYTES;
	uint32_t checksum = (uint32_t)test_get_be(frame->bytes + frame->udp_offset + 6, 2);

	memset(template, 0, sizeof(*template));
	memcpy(template->bytes, frame->bytes, bytes);
	template->header_offset = frame->header_offset;
	template->frame_bytes = frame->length;
	template->checksum_base = checksum ? (uint16_t)~checksum : 0;
	template->source_port = (uint32_t)test_get_be(frame->bytes + frame->udp_offset, 2);
}

void source_use_templates(const struct built_frame *frames, uint32_t count)
{
	live_control->template_count = count;
	for (uint32_t i = 0; i < count; i++)
		set_template(&live_control->templates[i], &frames[i]);
}

void source_ready(struct built_frame *frame)
{
	static const struct test_frame_spec smallest = { .ip_version = 4 };

	if (refused)
		skip_refused("source_xdp", refused);
	memset(live_control, 0, sizeof(*live_control));
	memset(live_state, 0, sizeof(*live_state));
	memset(live_lateness, 0, sizeof(*live_lateness) * HOPCAP_HISTOGRAM_BUCKETS);
	live_control->frames = UINT64_MAX;
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

static void run(const struct bpf_program *program, const unsigned char *page, uint32_t bytes, uint32_t repeat,
		struct source_result *result)
{
	unsigned char copy[SOURCE_FRAME_BYTES];
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = copy, .data_size_in = bytes, .data_out = result->frame,
		    .data_size_out = sizeof(result->frame), .repeat = (int)repeat);
	int code;

	assert_true(bytes <= sizeof(copy));
	memcpy(copy, page, bytes); /* page may be result->frame */
	result->before_ns = now_ns();
	code = bpf_prog_test_run_opts(bpf_program__fd(program), &options);
	result->after_ns = now_ns();
	if (code)
		fail_msg("%s: test run of %u bytes: %s", bpf_program__name(program), bytes, strerror(-code));
	result->verdict = options.retval;
	result->bytes = options.data_size_out;
}

void source_run(const unsigned char *page, uint32_t bytes, uint32_t repeat, struct source_result *result)
{
	run(skeleton->progs.source_live, page, bytes, repeat, result);
}

void source_run_plain(const unsigned char *page, uint32_t bytes, uint32_t repeat, struct source_result *result)
{
	run(skeleton->progs.source_live_plain, page, bytes, repeat, result);
	assert_int_equal(result->bytes, bytes);
}

void source_device_gone(int gone)
{
	uint32_t zero = 0;

	if (gone)
		assert_int_equal(bpf_map__delete_elem(skeleton->maps.source_device, &zero, sizeof(zero), 0), 0);
	else
		assert_int_equal(set_device(LOOPBACK), 0);
}
