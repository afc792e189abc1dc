/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one body of a hop probe; hop_xdp and hop_tc differ only in how they get at the frame.
 *
 * Owns: what is ours, counting, learning a run tag. Leaves to others: finding the header (parse.bpf.h), stamps
 * (hop_stamp.bpf.h), what a sink does (hop_sink.bpf.h), reading the maps (user/probe/hop_probe.c). The program that
 * includes this has defined HOP_CONTEXT, hop_data(), hop_data_end(), hop_load_bytes() and hop_queue().
 *
 * Theory.
 * - Every frame is counted, on its CPU, without atomics: a program of one hook is not re-entered on one CPU (XDP and tc
 *   run with bottom halves off).
 * - Conservation: a test frame that is dropped here (action drop) was counted here first; so frames counted at two
 *   neighbouring points differ by just what the hop between them lost. A corrupted frame did arrive.
 * - A probe that is no sink is most of all a few cache lines of code, control and counters: all but the comparisons that
 *   make a frame ours and two additions stands out of line, in functions that find the header once more: nothing that
 *   only they need is then kept in registers.
 */
#ifndef HOPCAP_HOP_BODY_BPF_H
#define HOPCAP_HOP_BODY_BPF_H

#include <stddef.h>

#include "hop_sink.bpf.h"
#include "hop_stamp.bpf.h"
#include "map_hop.h"
#include "parse.bpf.h"

#define HOP_NO_QUEUE 0xffffffffu /* what hop_queue() says where the hook does not know it */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct hop_control);
} hop_control SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct hop_counters);
} hop_counters SEC(".maps");

static __always_inline void count_other(struct hop_counters *counters, __u32 bytes, __u32 segments)
{
	static const __u32 bounds[HOPCAP_SIZE_BUCKETS] = HOPCAP_SIZE_BOUNDS;
	__u32 bucket = 0;

	counters->other_frames++;
	counters->other_bytes += bytes;
	counters->other_segments += segments;
#pragma unroll
	for (int i = 0; i < HOPCAP_SIZE_BUCKETS - 1; i++)
		bucket += bytes > bounds[i];
	counters->other_sizes.frames[bucket & (HOPCAP_SIZE_BUCKETS - 1)]++;
}

static __always_inline void count_test(struct hop_counters *counters, __u32 bytes)
{
	counters->test_frames++;
	counters->test_bytes += bytes;
}

static __always_inline int is_our_stream(const struct hop_control *control, const struct test_frame *frame)
{
	return (__u8)(header_stream(frame->header) - control->stream) < control->stream_count;
}

static __always_inline int is_ours(const struct hop_control *control, const struct test_frame *frame)
{
	return control->run_tag && header_run_tag(frame->header) == control->run_tag && is_our_stream(control, frame);
}

static __always_inline int finds_test_frame(void *data, void *data_end, struct test_frame *frame)
{
	return likely(parse_plain_test_frame(data, data_end, frame)) || parse_test_frame(data, data_end, frame);
}

/* Takes the run tag of a frame when none is known yet; 1 when the frame is ours then. Others use UDP port 9, too (wake-on-LAN), so
 * it has to be sound, and an end of a stream starts nothing. */
__noinline int hop_learns(HOP_CONTEXT *ctx, struct hop_control *control, __u32 length)
{
	void *data = hop_data(ctx), *data_end = hop_data_end(ctx);
	struct payload payload;
	struct test_frame frame;
	__u32 tag;

	if (!control || control->run_tag || !finds_test_frame(data, data_end, &frame) || !is_our_stream(control, &frame))
		return 0;
	tag = header_run_tag(frame.header);
	if (!tag || header_flags(frame.header) & HOPCAP_FRAME_END ||
	    !check_headers(data, data_end, &frame, length, &payload))
		return 0;
	__sync_val_compare_and_swap(&control->run_tag, 0, tag); /* another CPU may be first */
	return *(volatile __u32 *)&control->run_tag == tag;
}

/* A test frame of ours that needs more than counting: it carries flags, or this is a sink. */
__noinline int hop_special_frame(HOP_CONTEXT *ctx, struct hop_control *control, struct hop_counters *counters, __u32 bytes,
				 __u32 length)
{
	void *data = hop_data(ctx), *data_end = hop_data_end(ctx);
	struct test_frame frame;
	__u8 flags;

	if (!control || !counters || !finds_test_frame(data, data_end, &frame))
		return HOPCAP_HOP_PASS; /* it did a moment ago, which the verifier does not know */
	flags = header_flags(frame.header);
	if (likely(!(flags & HOPCAP_FRAME_END))) {
		__u32 queue = hop_queue(ctx);

		count_test(counters, bytes);
		if (control->sink && queue != HOP_NO_QUEUE)
			counters->queue_frames[queue < HOPCAP_SINK_QUEUES ? queue : HOPCAP_SINK_QUEUES - 1]++;
	}
	if (control->sink && !sink_frame(ctx, control, data, data_end, &frame, length))
		return control->action;
	if ((flags & (HOPCAP_FRAME_STAMP | HOPCAP_FRAME_END)) == HOPCAP_FRAME_STAMP)
		stamp(counters, &frame, control->sink);
	return control->action;
}

/*
 * Counts a test frame of `bytes` on the wire and `length` in memory, of which data…data_end can be read, and stamps it when it is
 * flagged. Returns HOPCAP_HOP_PASS or HOPCAP_HOP_DROP. A frame of somebody else's is not counted yet: *other is set, and the
 * caller passes it to count_other() with what its hook knows of the frame.
 */
static __always_inline __u32 hop_frame(HOP_CONTEXT *ctx, void *data, void *data_end, __u32 bytes, __u32 length,
				       struct hop_counters **other)
{
	struct hop_counters *counters;
	struct hop_control *control;
	struct test_frame frame;
	__u32 zero = 0;

	*other = NULL;
	control = bpf_map_lookup_elem(&hop_control, &zero);
	counters = bpf_map_lookup_elem(&hop_counters, &zero);
	if (!counters || !control)
		return HOPCAP_HOP_PASS;
	if (unlikely(!finds_test_frame(data, data_end, &frame) ||
		     (!is_ours(control, &frame) && !(control->learn && hop_learns(ctx, control, length))))) {
		*other = counters;
		return HOPCAP_HOP_PASS;
	}
	if (unlikely((header_flags(frame.header) & (HOPCAP_FRAME_STAMP | HOPCAP_FRAME_END)) | control->sink))
		return hop_special_frame(ctx, control, counters, bytes, length);
	count_test(counters, bytes);
	return control->action;
}

#endif
