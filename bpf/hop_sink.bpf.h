/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a sink does with a test frame: checks it, keeps the ledger, knows the queue it came from.
 *
 * Owns: the maps of the ledger. Leaves to others: the ledger's rules (ledger_layout.h), what is checked (hop_verify.bpf.h).
 */
#ifndef HOPCAP_HOP_SINK_BPF_H
#define HOPCAP_HOP_SINK_BPF_H

#include "hop_verify.bpf.h"
#include "map_hop.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1); /* user space makes it as many as there are streams */
	__type(key, __u32);
	__type(value, struct ledger_track);
} hop_tracks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* user space makes it LEDGER_WORDS for each stream */
	__type(key, __u32);
	__type(value, ledger_u64);
} hop_ledger SEC(".maps");

/* A word that other CPUs want, too. A function of its own, so that the verifier walks through its loop but once. */
__noinline int hop_mark(__u32 key, __u64 place)
{
	ledger_u64 *word = bpf_map_lookup_elem(&hop_ledger, &key);

	return word ? ledger_mark(word, place) : LEDGER_LATE;
}

static __always_inline void count_place(struct hop_control *control, struct ledger_track *track, __u32 stream, __u64 place)
{
	__u32 key = stream * LEDGER_WORDS + ledger_word(place);
	ledger_u64 *word = bpf_map_lookup_elem(&hop_ledger, &key);
	enum ledger_mark mark = word ? ledger_mark_once(word, place) : LEDGER_LATE;

	if (unlikely(mark == LEDGER_AGAIN))
		mark = hop_mark(key, place);
	ledger_account(track, &control->high[stream & (LEDGER_MAX_STREAMS - 1)], place, mark);
}

/* The frame that jumped ahead, once the next one has confirmed it; out of line since it hardly ever happens. */
static __noinline void count_suspect(struct hop_control *control, struct ledger_track *track, __u32 stream)
{
	count_place(control, track, stream, track->suspect);
}

static __always_inline void count_sequence(struct hop_control *control, struct ledger_track *track, __u32 stream,
					   __u32 sequence)
{
	__u64 base = control->ledger_base;
	__u64 reference = ledger_reference(track, base, control->high[stream & (LEDGER_MAX_STREAMS - 1)]);
	__u64 place = ledger_place(reference, base, sequence);

	if (unlikely(!ledger_is_possible(reference, base, place))) {
		if (!ledger_confirms(track, base, place))
			return;
		count_suspect(control, track, stream);
	}
	count_place(control, track, stream, place);
}

static __always_inline void count_end(struct hop_control *control, struct ledger_track *track, __u32 stream, __u32 frames)
{
	__u64 base = control->ledger_base;

	ledger_announce(track, ledger_reference(track, base, control->high[stream & (LEDGER_MAX_STREAMS - 1)]), base, frames);
}

/*
 * 1 when the test frame is sound and one of the stream. It has been seen to be ours; frames that are corrupted are counted in the
 * track, the others in the ledger.
 */
static __always_inline int sink_frame(HOP_CONTEXT *ctx, struct hop_control *control, void *data, void *data_end,
				      const struct test_frame *frame, __u32 length)
{
	__u32 stream = (__u8)(header_stream(frame->header) - control->stream);
	__u32 sequence = header_sequence(frame->header);
	__u8 flags = header_flags(frame->header);
	struct ledger_track *track = bpf_map_lookup_elem(&hop_tracks, &stream);
	struct payload payload;

	if (!track)
		return 0;
	if (unlikely(!check_headers(data, data_end, frame, length, &payload) ||
		     (control->verify && !hop_payload_right(ctx, payload.offset, payload.bytes)))) {
		track->corrupted++;
		return 0;
	}
	if (unlikely(flags & HOPCAP_FRAME_END)) {
		count_end(control, track, stream, sequence);
		return 0;
	}
	count_sequence(control, track, stream, sequence);
	return 1;
}

#endif
