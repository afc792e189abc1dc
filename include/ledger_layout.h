/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sequence ledger: what became of every frame of a stream, exactly, without a lock and without ever being cleared.
 *
 * Owns: its bytes and its rules, one text for sinks in the kernel (bpf/hop_sink.bpf.h) and in user space
 * (user/traffic/ledger.c). Leaves to others: finding the word in its map or array, summing up, showing.
 *
 * Theory.
 * - Place. The 32-bit sequence of a frame is extended to a place of 64 bits, the one nearest to the highest seen; so it is
 *   right as long as frames are less than 2^31 apart. A trial counts its places from a base, a multiple of 2^32 above all
 *   places of the trials before; place = base + sequence, counted on through wraps.
 * - Window. A stream has LEDGER_WORDS words of 64 bits: a generation of 32 bits and a bitmap of 32 places. The word of a
 *   place is (place / 32) mod LEDGER_WORDS, its generation place / LEDGER_WINDOW. Generations only grow, over all
 *   trials: what an earlier trial or lap left in a word is older and is replaced, not cleared. They last for 2^54
 *   places: at 100 million a second for 5.7 years, or 2 million trials.
 * - Mark. Same generation: the bit is set, and was it set before, the frame is a duplicate. Older: the word is replaced.
 *   Newer: the window has passed this place, the frame is late. It is one compare-and-exchange, so any number of CPUs may
 *   serve one stream, and of two equal frames just one is the duplicate. An exchange fails when another CPU has set one
 *   of the other 31 bits or has replaced the word: LEDGER_ATTEMPTS are more than that, and should a frame ever meet more,
 *   it is counted as late (not judged) rather than wrongly.
 * - Pending. A CPU of the kernel keeps the frames that come to it in order within a word in its track, and marks them with
 *   one exchange when it leaves the word. To that CPU they are new; that another one had them, too, shows when they are
 *   marked, or when a reader settles them. So the sums are exact once frames have stopped, whenever they are read.
 * - Late is never said of a place within LEDGER_WINDOW - 31 of the highest, and is always right: a word is replaced by a
 *   frame that came, not by the clock. So duplicates are found at any distance up to that, often beyond it.
 * - Reordered (RFC 4737, 3.3): new, and below the highest place seen before on the CPU that serves it; the extent is how
 *   far below (4.2.2). With one CPU this is the RFC's definition. With several, order is judged among the frames that one
 *   CPU served, which with RSS is the order within flows; between CPUs there is no order of arrival that could be
 *   measured. So several CPUs may miss reordering, never invent it.
 * - Every frame is one of: in order, reordered, duplicate, late; and distinct = frames - duplicates.
 * - Impossible. A place below the base was never sent. One that is LEDGER_WINDOW or more ahead is either a path that was
 *   interrupted or a sequence that was damaged, and believing the latter would make all that follows late. So such a
 *   frame is counted as corrupted and kept in mind; when the next frame is up to LEDGER_CONFIRM ahead of it, the jump was
 *   real, and it is counted as what it was (RFC 3550, A.1, does the same with two packets in sequence). A sink that comes
 *   late to a stream finds its place so. Damage that moves a sequence by less than a window cannot be told from loss.
 * - Lowest. What came before a sink listened is not lost, and what was lost before its first frame it cannot see. So the lowest
 *   place seen is kept, and who knows better (the sink was there before the source began, or has heard it announce that it
 *   begins) counts from 0 instead.
 * - Cost: 8 bytes of memory for 32 places, 1 MiB a stream; one new cache line each 256 frames, one exchange each 32; no
 *   clock, and of other CPUs' lines only the word and `high`, which is written each 65536 places.
 */
#ifndef HOPCAP_LEDGER_LAYOUT_H
#define HOPCAP_LEDGER_LAYOUT_H

#ifdef __bpf__
#include <linux/types.h>
typedef __u32 ledger_u32;
typedef __s32 ledger_s32;
typedef __u64 ledger_u64;
#else
#include <stdint.h>
typedef uint32_t ledger_u32;
typedef int32_t ledger_s32;
typedef uint64_t ledger_u64;
#endif

#include "histogram_layout.h"

#define LEDGER_MAX_STREAMS 8
#define LEDGER_EXTENTS 32 /* bucket b: reordered by 2^b … 2^(b+1)-1 places */

#define LEDGER_WORDS_LOG2 17
#define LEDGER_WORDS (1u << LEDGER_WORDS_LOG2) /* a stream */
#define LEDGER_WINDOW_LOG2 (LEDGER_WORDS_LOG2 + 5)
#define LEDGER_WINDOW (1ull << LEDGER_WINDOW_LOG2) /* places */
#define LEDGER_FIRST_BASE (1ull << 32)
#define LEDGER_CONFIRM 1024u
#define LEDGER_ATTEMPTS 34
#define LEDGER_HIGH_LOG2 16 /* `high` lags behind by at most so many places */

/*
 * What one CPU (or thread) knows of a stream; written by it alone. Counts only grow; places below the base of the trial
 * that runs are left from earlier ones and mean "none".
 */
struct ledger_track {
	ledger_u64 next;      /* highest place seen + 1 */
	ledger_u64 frames;    /* arrived, but for corrupted ones */
	ledger_u64 pending_word; /* place / 32 of the frames that are not yet marked; that of next - 1 */
	ledger_u64 pending_bits; /* 0: all are marked */
	ledger_u64 sound[4];	 /* headers of a frame that were found right, for those who check them (hop_verify.bpf.h) */
	ledger_u64 duplicates;
	ledger_u64 reordered;
	ledger_u64 late;
	ledger_u64 corrupted;
	ledger_u64 suspect;   /* place of the last frame that jumped ahead */
	ledger_u64 announced; /* place behind the last frame, as the source said at its end */
	ledger_u64 extent[LEDGER_EXTENTS];
	ledger_u64 lowest;    /* lowest place seen */
};

_Static_assert(sizeof(struct ledger_track) == 376, "ledger_track");

enum ledger_mark { LEDGER_NEW, LEDGER_DUPLICATE, LEDGER_LATE };

#define LEDGER_INLINE static inline __attribute__((always_inline))

/* The place near which the next frame is expected: the highest that this CPU has seen, or, when others are far ahead,
 * near the highest that any has. The base when nothing came. */
LEDGER_INLINE ledger_u64 ledger_reference(const struct ledger_track *track, ledger_u64 base, ledger_u64 high)
{
	ledger_u64 reference = track->next > high ? track->next : high;

	return reference > base ? reference : base;
}

/* Place of a sequence. The first frame of a sink that comes late may lie anywhere; its base has no bits below 2^32. */
LEDGER_INLINE ledger_u64 ledger_place(ledger_u64 reference, ledger_u64 base, ledger_u32 sequence)
{
	ledger_u32 ahead = sequence - (ledger_u32)reference;

	return reference == base ? base + sequence : reference + (ledger_u64)(ledger_s32)ahead;
}

/* 0 when a frame cannot have this place, or not without confirmation. The first comparison lets nearly all frames by. */
LEDGER_INLINE int ledger_is_possible(ledger_u64 reference, ledger_u64 base, ledger_u64 place)
{
	return place - reference < LEDGER_WINDOW || (place < reference && place >= base);
}

/* Of a frame that is not possible: 1 when it confirms the one that is kept in mind, track->suspect; both are then to be
 * counted. Otherwise it is counted as corrupted here. */
LEDGER_INLINE int ledger_confirms(struct ledger_track *track, ledger_u64 base, ledger_u64 place)
{
	if (place >= base && track->suspect >= base && place - track->suspect - 1 < LEDGER_CONFIRM) {
		track->corrupted--;
		return 1;
	}
	track->corrupted++;
	if (place >= base)
		track->suspect = place;
	return 0;
}

/* Index of a place's word among those of its stream. */
LEDGER_INLINE ledger_u32 ledger_word(ledger_u64 place)
{
	return (ledger_u32)(place >> 5) & (LEDGER_WORDS - 1);
}

LEDGER_INLINE ledger_u32 ledger_count_bits(ledger_u32 bits)
{
	bits -= bits >> 1 & 0x55555555;
	bits = (bits & 0x33333333) + (bits >> 2 & 0x33333333);
	return ((bits + (bits >> 4)) & 0x0f0f0f0f) * 0x01010101 >> 24;
}

/* Marks places of one word at once, the bits of `bits`. Returns which of them had been marked before; *is_late: the word
 * is newer and nothing was marked. */
LEDGER_INLINE ledger_u32 ledger_mark_bits(ledger_u64 *word, ledger_u64 generation, ledger_u32 bits, int *is_late)
{
#ifdef __clang__
#pragma clang loop unroll(disable)
#endif
	for (int i = 0; i < LEDGER_ATTEMPTS; i++) {
		ledger_u64 before = *(volatile ledger_u64 *)word;
		ledger_u64 kept = before >> 32 == generation ? before : generation << 32;

		if (before >> 32 > generation)
			break;
		*is_late = 0;
		if ((kept & bits) == bits || __sync_val_compare_and_swap(word, before, kept | bits) == before)
			return (ledger_u32)kept & bits;
	}
	*is_late = 1;
	return 0;
}

LEDGER_INLINE enum ledger_mark ledger_mark(ledger_u64 *word, ledger_u64 place)
{
	int is_late;
	ledger_u32 before = ledger_mark_bits(word, place >> LEDGER_WINDOW_LOG2, 1u << (place & 31), &is_late);

	return is_late ? LEDGER_LATE : before ? LEDGER_DUPLICATE : LEDGER_NEW;
}

/* Takes the frame that is next in order within the word that is pending, nearly all of them; 0: nothing was done. */
LEDGER_INLINE int ledger_takes_next(struct ledger_track *track, ledger_u64 base, ledger_u32 sequence)
{
	ledger_u64 next = track->next;

	if (sequence != (ledger_u32)next || !(next & 31) || !track->pending_bits || next <= base)
		return 0;
	track->pending_bits |= 1ull << (next & 31);
	track->next = next + 1;
	track->frames++;
	return 1;
}

/* What is pending of an earlier trial is of no interest any more. */
LEDGER_INLINE int ledger_has_pending(const struct ledger_track *track, ledger_u64 base)
{
	return track->pending_bits && track->pending_word << 5 >= base;
}

/*
 * When the window has meanwhile passed the word (another CPU serves the stream since), there is nothing left to mark. The
 * frames were in order when they came, so they are neither late nor duplicates; only a double of one of them that came by
 * another CPU while they were pending goes unnoticed then, of at most 32 frames each time a stream changes its CPU for good.
 */
LEDGER_INLINE void ledger_mark_pending(struct ledger_track *track, ledger_u64 *word)
{
	ledger_u32 bits = (ledger_u32)track->pending_bits, before;
	int is_late;

	before = ledger_mark_bits(word, track->pending_word >> LEDGER_WORDS_LOG2, bits, &is_late);
	if (!is_late)
		track->duplicates += ledger_count_bits(before);
	track->pending_bits = 0;
}

/* The highest place moves up. *high is shared by all CPUs; that a slower one may write a little less does no harm. */
LEDGER_INLINE void ledger_advance(struct ledger_track *track, volatile ledger_u64 *high, ledger_u64 place)
{
	ledger_u64 before = track->next;

	track->next = place + 1;
	if ((place + 1) >> LEDGER_HIGH_LOG2 != before >> LEDGER_HIGH_LOG2 && place >= *high)
		*high = place + 1;
}

/* Of every frame that is counted but those that ledger_takes_next() took, which are above one that was. */
LEDGER_INLINE void ledger_note_lowest(struct ledger_track *track, ledger_u64 base, ledger_u64 place)
{
	if (place < track->lowest || track->lowest < base)
		track->lowest = place;
}

/* Counts a frame that was marked. */
LEDGER_INLINE void ledger_account(struct ledger_track *track, volatile ledger_u64 *high, ledger_u64 place,
				  enum ledger_mark mark)
{
	track->frames++;
	if (mark == LEDGER_DUPLICATE) {
		track->duplicates++;
	} else if (mark == LEDGER_LATE) {
		track->late++;
	} else if (place + 1 < track->next) {
		track->reordered++;
		track->extent[hopcap_log2_u32((ledger_u32)(track->next - 1 - place)) & (LEDGER_EXTENTS - 1)]++;
	}
	if (place >= track->next)
		ledger_advance(track, high, place);
}

/* Counts a frame that is not below the highest and whose word is that of the pending ones, if there are any. */
LEDGER_INLINE void ledger_pend(struct ledger_track *track, volatile ledger_u64 *high, ledger_u64 place)
{
	track->frames++;
	track->pending_word = place >> 5;
	track->pending_bits |= 1ull << (place & 31);
	ledger_advance(track, high, place);
}

/* The source's last word: how many frames there were, modulo 2^32. (0 of them is its first word: it begins.) */
LEDGER_INLINE void ledger_announce(struct ledger_track *track, ledger_u64 reference, ledger_u64 base, ledger_u32 frames)
{
	ledger_u64 place = ledger_place(reference, base, frames);

	if (place > base)
		track->announced = place;
}

/* Base of the next trial: above all places that were marked so far. */
LEDGER_INLINE ledger_u64 ledger_next_base(ledger_u64 highest_next)
{
	return ((highest_next >> 32) + 2) << 32;
}

#ifndef __bpf__
/* What became of the frames of a stream, as the program sees it: tracks of all CPUs together, places from 0. */
struct ledger_counts {
	uint64_t frames;     /* arrived, duplicates and late ones included */
	uint64_t duplicates; /* of these: sequence seen before */
	uint64_t reordered;  /* of these: new, below the highest sequence seen on the same CPU (RFC 4737); without late ones */
	uint64_t late;	     /* of these: so far below the highest that the window has passed them; they are counted as
				arrived, and whether they are duplicates nobody can tell any more */
	uint64_t corrupted;  /* carried our tag, but not what we sent: not counted in frames */
	uint64_t next;	     /* highest sequence seen + 1, counted on through wraps of the 32-bit sequence; 0: none */
	uint64_t extent[LEDGER_EXTENTS]; /* of reordered frames: highest seen - own sequence (RFC 4737, 4.2.2) */
	uint64_t announced;  /* how many frames the source said at its end that it sent; 0: not heard */
	uint64_t lowest;     /* lowest sequence seen; means nothing while next is 0 */
};

/* Adds what one CPU has counted since `armed` was its track (NULL: since ever) in a trial with this base. */
static inline void ledger_counts_add(struct ledger_counts *counts, const struct ledger_track *track,
				     const struct ledger_track *armed, uint64_t base)
{
	static const struct ledger_track none;

	armed = armed ? armed : &none;
	counts->frames += track->frames - armed->frames;
	counts->duplicates += track->duplicates - armed->duplicates;
	counts->reordered += track->reordered - armed->reordered;
	counts->late += track->late - armed->late;
	counts->corrupted += track->corrupted - armed->corrupted;
	for (int i = 0; i < LEDGER_EXTENTS; i++)
		counts->extent[i] += track->extent[i] - armed->extent[i];
	if (track->next > base && (!counts->next || track->lowest - base < counts->lowest))
		counts->lowest = track->lowest - base;
	if (track->next > base && track->next - base > counts->next)
		counts->next = track->next - base;
	if (track->announced > base && track->announced - base > counts->announced)
		counts->announced = track->announced - base;
}

/*
 * Adds what the pending frames of all CPUs turn out to be once they are marked, without marking them: words of the ledger
 * are asked for by index. Changes nothing when one CPU serves the stream.
 */
static inline void ledger_counts_settle(struct ledger_counts *counts, const struct ledger_track *tracks, int cpus, uint64_t base,
					uint64_t (*word_at)(void *context, uint32_t index), void *context)
{
	for (int cpu = 0; cpu < cpus; cpu++) {
		const struct ledger_track *track = &tracks[cpu];
		ledger_u64 word;
		struct ledger_track tried;

		if (!ledger_has_pending(track, base))
			continue;
		word = word_at(context, ledger_word(track->pending_word << 5));
		for (int other = 0; other < cpu; other++) { /* those of CPUs before this one come first */
			tried = tracks[other];
			if (ledger_has_pending(&tried, base) &&
			    ledger_word(tried.pending_word << 5) == ledger_word(track->pending_word << 5))
				ledger_mark_pending(&tried, &word);
		}
		tried = *track;
		ledger_mark_pending(&tried, &word);
		counts->duplicates += tried.duplicates - track->duplicates;
	}
}
#endif

#endif
