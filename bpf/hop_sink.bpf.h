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

static __always_inline ledger_u64 *find_word(__u32 stream, __u64 place)
{
	__u32 key = stream * LEDGER_WORDS + ledger_word(place);

	return bpf_map_lookup_elem(&hop_ledger, &key);
}

/* Before a frame of another word, or of one behind, is counted. */
static __always_inline void mark_pending(const struct hop_control *control, struct ledger_track *track, __u32 stream)
{
	ledger_u64 *word;

	if (ledger_has_pending(track, control->ledger_base)) {
		word = find_word(stream, track->pending_word << 5);
		if (word)
			ledger_mark_pending(track, word);
	}
	track->pending_bits = 0;
}

static __noinline void count_place(struct hop_control *control, struct ledger_track *track, __u32 stream, __u64 place)
{
	ledger_u64 *high = &control->high[stream & (LEDGER_MAX_STREAMS - 1)], *word;
	int is_next = place >= track->next;

	ledger_note_lowest(track, control->ledger_base, place);
	if (!is_next || track->pending_word != place >> 5)
		mark_pending(control, track, stream);
	if (is_next) {
		ledger_pend(track, high, place);
		return;
	}
	word = find_word(stream, place);
	ledger_account(track, high, place, word ? ledger_mark(word, place) : LEDGER_LATE);
}

/* All frames but the next one in order within a word. A function of its own, which the verifier looks at once. */
__noinline int hop_count_sequence(struct hop_control *control, struct ledger_track *track, __u32 stream, __u32 sequence)
{
	__u64 base, reference, place;

	if (!control || !track)
		return 0;
	base = control->ledger_base;
	reference = ledger_reference(track, base, control->high[stream & (LEDGER_MAX_STREAMS - 1)]);
	place = ledger_place(reference, base, sequence);
	if (unlikely(!ledger_is_possible(reference, base, place))) {
		if (!ledger_confirms(track, base, place))
			return 0;
		count_place(control, track, stream, track->suspect);
	}
	count_place(control, track, stream, place);
	return 0;
}

/* The end of a stream. What is pending is marked, for this CPU will hardly see more of it. */
__noinline int hop_count_end(struct hop_control *control, struct ledger_track *track, __u32 stream, __u32 frames)
{
	__u64 base;

	if (!control || !track)
		return 0;
	base = control->ledger_base;
	mark_pending(control, track, stream);
	ledger_announce(track, ledger_reference(track, base, control->high[stream & (LEDGER_MAX_STREAMS - 1)]), base, frames);
	return 0;
}

/*
 * 1 when the test frame is sound and one of the stream. It has been seen to be ours; frames that are corrupted are counted
 * in the track, the others in the ledger.
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
		hop_count_end(control, track, stream, sequence);
		return 0;
	}
	if (unlikely(!ledger_takes_next(track, control->ledger_base, sequence)))
		hop_count_sequence(control, track, stream, sequence);
	return 1;
}

#endif
