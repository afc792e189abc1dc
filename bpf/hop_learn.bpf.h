/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a sink learns of runs and streams that it was not told of: a run tag, that a stream begins, streams without a ledger.
 *
 * Leaves to others: what becomes of the frames (hop_body.bpf.h), what is sound (hop_verify.bpf.h).
 */
#ifndef HOPCAP_HOP_LEARN_BPF_H
#define HOPCAP_HOP_LEARN_BPF_H

#include "hop_verify.bpf.h"
#include "map_hop.h"
#include "parse.bpf.h"

static __always_inline int is_our_stream(const struct hop_control *control, const struct test_frame *frame)
{
	return (__u8)(header_stream(frame->header) - control->stream) < control->stream_count;
}

/* Takes the run tag of a frame when none is known yet; 1 when the frame is ours then. Others use UDP port 9, too (wake-on-LAN),
 * so it has to be sound, and an end of a stream starts nothing. */
static __always_inline int learns(struct hop_control *control, void *data, void *data_end, const struct test_frame *frame,
				  __u32 length)
{
	struct payload payload;
	__u32 tag = header_run_tag(frame->header);

	if (!control->learn || control->run_tag || !tag || tag == HOPCAP_PROBE_TAG || !is_our_stream(control, frame) ||
	    header_flags(frame->header) & HOPCAP_FRAME_END || !check_headers(data, data_end, frame, length, &payload))
		return 0;
	__sync_val_compare_and_swap(&control->run_tag, 0, tag); /* another CPU may be first */
	return *(volatile __u32 *)&control->run_tag == tag;
}

/*
 * 1 when a source announces with this frame that one of our streams begins, of our run or of one that may become ours. The run
 * tag is not learnt from it: a source that then fails must not make the sink deaf to the next one.
 */
static __noinline int announces_begin(struct hop_control *control, void *data, void *data_end, const struct test_frame *frame,
				      __u32 length)
{
	__u8 stream = header_stream(frame->header) - control->stream;
	__u32 tag = header_run_tag(frame->header);
	struct payload payload;

	if (!(header_flags(frame->header) & HOPCAP_FRAME_END) || header_sequence(frame->header) || !tag || tag == HOPCAP_PROBE_TAG ||
	    (control->run_tag ? control->run_tag != tag : !control->learn) || !is_our_stream(control, frame) ||
	    !check_headers(data, data_end, frame, length, &payload))
		return 0;
	if (control->begun_tag != tag)
		control->begun_streams = 0;
	control->begun_tag = tag;
	control->begun_streams |= 1 << (stream & (LEDGER_MAX_STREAMS - 1));
	return 1;
}

/* A stream of our run that has no ledger here. */
static __always_inline void count_beyond(const struct hop_control *control, struct hop_counters *counters,
					 const struct test_frame *frame)
{
	__u8 stream = header_stream(frame->header) - control->stream;

	if (control->run_tag && header_run_tag(frame->header) == control->run_tag && stream >= control->stream_count &&
	    !(header_flags(frame->header) & HOPCAP_FRAME_END))
		counters->beyond_frames[stream & (LEDGER_MAX_STREAMS - 1)]++;
}

#endif
