/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one body of a hop probe; hop_xdp and hop_tc differ only in how they get at the frame.
 *
 * Owns: what is ours, counting. Leaves to others: finding the header (parse.bpf.h), stamps (hop_stamp.bpf.h), what a sink
 * does (hop_sink.bpf.h) and learns (hop_learn.bpf.h), reading the maps (user/probe/hop_probe.c). The program that
 * includes this has defined, of its context type HOP_CONTEXT: hop_data(), hop_data_end(), hop_load_bytes(), hop_queue(), hop_length()
 * in memory, hop_bytes() on the wire, and hop_plain_bytes(), which is the same for an untagged frame in one buffer.
 *
 * Theory.
 * - Every frame is counted, on its CPU, without atomics: a program of one hook is not re-entered on one CPU (XDP and tc
 *   run with bottom halves off).
 * - Conservation: a test frame that is dropped here (action drop) was counted here first; so frames counted at two
 *   neighbouring points differ by just what the hop between them lost. A corrupted frame did arrive.
 * - A probe that is no sink is most of all a few cache lines of code, control and counters: all but the comparisons that
 *   make a frame ours and two additions stands out of line.
 */
#ifndef HOPCAP_HOP_BODY_BPF_H
#define HOPCAP_HOP_BODY_BPF_H

#include <stddef.h>

#include "hop_learn.bpf.h"
#include "hop_sink.bpf.h"
#include "hop_stamp.bpf.h"
#include "map_hop.h"
#include "parse.bpf.h"

#define HOP_NO_QUEUE 0xffffffffu /* what hop_queue() says where the hook does not know it */
#define HOP_OTHER 2u		  /* instead of an action: a frame of somebody else's */

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

static __always_inline int is_ours(const struct hop_control *control, const struct test_frame *frame)
{
	return control->run_tag && header_run_tag(frame->header) == control->run_tag && is_our_stream(control, frame);
}

static __always_inline int finds_test_frame(void *data, void *data_end, struct test_frame *frame)
{
	return likely(parse_plain_test_frame(data, data_end, frame)) || parse_test_frame(data, data_end, frame);
}

static __always_inline void count_queue(struct hop_counters *counters, __u32 queue)
{
	if (queue != HOP_NO_QUEUE)
		counters->queue_frames[queue < HOPCAP_SINK_QUEUES ? queue : HOPCAP_SINK_QUEUES - 1]++;
}

static __noinline void stamp_plain_frame(HOP_CONTEXT *ctx, const struct hop_control *control, struct hop_counters *counters)
{
	struct test_frame frame;

	if (parse_plain_test_frame(hop_data(ctx), hop_data_end(ctx), &frame))
		stamp(control, counters, &frame, 1);
}

#define STAMP_IN_WORD ((__u32)HOPCAP_FRAME_STAMP << 8)
#define PLAIN_HEADER_OFFSET 42 /* of the test header in a frame that parse_plain_test_frame() knows */

/*
 * The short way for most frames of a sink: untagged IPv4 in one buffer, sound, without flags but for a stamp. 1: done, with the same
 * result as hop_sink_frame(); 0: nothing was done.
 */
static __always_inline int takes_plain_frame(HOP_CONTEXT *ctx, struct hop_control *control, struct hop_counters *counters)
{
	void *data = hop_data(ctx), *data_end = hop_data_end(ctx);
	__u32 word, stream, sequence;
	struct ledger_track *track;
	struct test_frame frame;

	if (data + HOPCAP_MIN_FRAME_BYTES > data_end || !control->run_tag || control->verify)
		return 0;
	word = bpf_ntohl(*(__be32 *)(data + PLAIN_HEADER_OFFSET)); /* run tag, flags, stream, if it is one of ours */
	stream = (word & ~STAMP_IN_WORD) - (control->run_tag << 16) - control->stream;
	if (stream >= control->stream_count)
		return 0;
	track = bpf_map_lookup_elem(&hop_tracks, &stream);
	if (!track)
		return 0;
	if (unlikely(!headers_as_before(track->sound, data, data_end))) {
		if (!parse_plain_test_frame(data, data_end, &frame) || !plain_headers_right(data, data_end))
			return 0;
		remember_headers(track->sound, data, data_end);
	}
	count_test(counters, hop_plain_bytes(ctx));
	count_queue(counters, hop_queue(ctx));
	sequence = header_sequence(data + PLAIN_HEADER_OFFSET);
	if (!ledger_takes_next(track, control->ledger_base, sequence))
		hop_count_sequence(control, track, stream, sequence);
	if (unlikely(word & STAMP_IN_WORD))
		stamp_plain_frame(ctx, control, counters);
	return 1;
}

/*
 * All of hop_frame() at a sink: HOPCAP_HOP_PASS, HOPCAP_HOP_DROP, or HOP_OTHER for a frame of somebody else's. Functions that stand
 * alone are looked at once by the verifier, and do not make registers scarce where most frames go.
 */
__noinline int hop_sink_frame(HOP_CONTEXT *ctx, struct hop_control *control, struct hop_counters *counters)
{
	void *data = hop_data(ctx), *data_end = hop_data_end(ctx);
	__u32 length = hop_length(ctx);
	struct test_frame frame;
	__u8 flags;

	if (!control || !counters || unlikely(!finds_test_frame(data, data_end, &frame)))
		return HOP_OTHER;
	flags = header_flags(frame.header);
	if (unlikely(flags & HOPCAP_FRAME_END) && announces_begin(control, data, data_end, &frame, length))
		return control->action;
	if (unlikely(!is_ours(control, &frame)) && !learns(control, data, data_end, &frame, length)) {
		count_beyond(control, counters, &frame);
		return HOP_OTHER;
	}
	if (!(flags & HOPCAP_FRAME_END)) {
		count_test(counters, hop_bytes(ctx));
		count_queue(counters, hop_queue(ctx));
	}
	if (sink_frame(ctx, control, data, data_end, &frame, length) && flags & HOPCAP_FRAME_STAMP)
		stamp(control, counters, &frame, 1);
	return control->action;
}

/* A flagged frame of ours where no sink is: its header is found once more. */
__noinline int hop_flagged_frame(HOP_CONTEXT *ctx, struct hop_control *control, struct hop_counters *counters)
{
	void *data = hop_data(ctx), *data_end = hop_data_end(ctx);
	struct test_frame frame;

	if (!control || !counters || !finds_test_frame(data, data_end, &frame))
		return HOPCAP_HOP_PASS;
	if (!(header_flags(frame.header) & HOPCAP_FRAME_END)) {
		count_test(counters, hop_bytes(ctx));
		stamp(control, counters, &frame, 0);
	}
	return control->action;
}

/* A sound test frame of any run, at a probe that stays: 1 when it was one. */
__noinline int hop_any_frame(HOP_CONTEXT *ctx, struct hop_control *control, struct hop_counters *counters)
{
	void *data = hop_data(ctx), *data_end = hop_data_end(ctx);
	struct payload payload;
	struct test_frame frame;
	__u32 tag;

	if (!control || !counters || !finds_test_frame(data, data_end, &frame))
		return 0;
	tag = header_run_tag(frame.header);
	if (!tag || tag == HOPCAP_PROBE_TAG || header_flags(frame.header) & HOPCAP_FRAME_END ||
	    !check_headers(data, data_end, &frame, hop_length(ctx), &payload))
		return 0;
	count_test(counters, hop_bytes(ctx));
	if (header_flags(frame.header) & HOPCAP_FRAME_STAMP)
		stamp(control, counters, &frame, 0);
	return 1;
}

/*
 * Counts a test frame, of which data…data_end can be read, and stamps it when it is flagged. Returns HOPCAP_HOP_PASS or
 * HOPCAP_HOP_DROP. A frame of somebody else's is not counted yet: *other is set, and the caller passes it to count_other() with what its
 * hook knows of the frame.
 */
static __always_inline __u32 hop_frame(HOP_CONTEXT *ctx, void *data, void *data_end, struct hop_counters **other)
{
	struct hop_counters *counters;
	struct hop_control *control;
	struct test_frame frame;
	__u32 zero = 0, action;

	*other = NULL;
	control = bpf_map_lookup_elem(&hop_control, &zero);
	counters = bpf_map_lookup_elem(&hop_counters, &zero);
	if (!counters || !control)
		return HOPCAP_HOP_PASS;
	if (unlikely(control->sink)) {
		if (likely(takes_plain_frame(ctx, control, counters)))
			return control->action;
		action = hop_sink_frame(ctx, control, counters);
		if (likely(action != HOP_OTHER))
			return action;
		*other = counters;
		return HOPCAP_HOP_PASS;
	}
	if (unlikely(!finds_test_frame(data, data_end, &frame) || !is_ours(control, &frame))) {
		if (unlikely(control->any) && hop_any_frame(ctx, control, counters))
			return HOPCAP_HOP_PASS;
		*other = counters;
		return HOPCAP_HOP_PASS;
	}
	if (unlikely(header_flags(frame.header) & (HOPCAP_FRAME_STAMP | HOPCAP_FRAME_END)))
		return hop_flagged_frame(ctx, control, counters);
	count_test(counters, hop_bytes(ctx));
	return control->action;
}

#endif
