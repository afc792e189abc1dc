/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sequence ledger: what became of every frame of a stream, exactly, without a lock and without ever being cleared.
 *
 * Owns: its bytes and its rules, one text for sinks in the kernel (bpf/hop_sink.bpf.h) and in user space
 * (user/traffic/ledger.c). Leaves to others: finding the word in its map or array, summing up, showing.
 *
 * Theory.
 * - Place. The 32-bit sequence of a frame is extended to a place of 64 bits, the one nearest to the highest that was seen;
 *   so it is right as long as frames are less than 2^31 apart. A trial counts its places from a base, a multiple of
 *   2^32 above all places of the trials before; place = base + sequence, counted on through wraps.
 * - Window. A stream has LEDGER_WORDS words of 64 bits: a generation of 32 bits and a bitmap of 32 places. The word of a place
 *   is (place / 32) mod LEDGER_WORDS, its generation place / LEDGER_WINDOW. Generations only grow, over all trials:
 *   what an earlier trial or lap left in a word is older and is replaced, not cleared. They last for 2^54 places: at 100
 *   million a second for 5.7 years, or 4 million trials.
 * - Mark. Same generation: the bit is set, and was it set before, the frame is a duplicate. Older: the word is replaced. Newer:
 *   the window has passed this place, the frame is late. It is one compare-and-exchange, so any number of CPUs may serve one
 *   stream, and of two equal frames just one is the duplicate. A failed exchange means that another CPU has set another
 *   bit of the 32, or has replaced the word: there are fewer reasons to fail than LEDGER_ATTEMPTS, and a frame that
 *   met more is counted as late (not judged) rather than wrongly.
 * - Late is never said of a place within LEDGER_WINDOW - 31 of the highest, and is always right: a word is replaced by
 *   a frame that came, not by the clock. So a duplicate is found at any distance up to that, often beyond it.
 * - Reordered (RFC 4737, 3.3): new, and below the highest place seen before on the CPU that serves it; the extent is how far below
 *   (4.2.2). With one CPU this is the RFC's definition. With several, order is judged among the frames that one CPU served,
 *   which with RSS is the order within flows; between CPUs there is no order of arrival to be measured. So several CPUs may
 *   miss, never invent.
 * - Every frame is one of: in order, reordered, duplicate, late; and distinct = frames - duplicates.
 * - Impossible. A place below the base was never sent. One that is LEDGER_WINDOW or more ahead is either a path that was
 *   interrupted or a sequence that was damaged, and believing the latter would make all that follows late. So such a frame is
 *   counted as corrupted and kept in mind; when the next frame is up to LEDGER_CONFIRM ahead of it, the jump was real, and it
 *   is counted as what it was (RFC 3550, A.1, does the same with two packets in sequence).
 * - Cost: 8 bytes of memory for 32 places, 1 MiB a stream; one new cache line each 256 frames; no clock, no other CPU's
 *   cache lines but the word itself (and `high`, written each 65536 places).
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
 * What one CPU (or thread) knows of a stream; written by it alone. Counts only grow; places below the base of the trial that runs
 * are left from earlier ones and mean "none".
 */
struct ledger_track {
	ledger_u64 next;      /* highest place seen + 1 */
	ledger_u64 frames;    /* arrived, but for corrupted ones */
	ledger_u64 duplicates;
	ledger_u64 reordered;
	ledger_u64 late;
	ledger_u64 corrupted;
	ledger_u64 suspect;   /* place of the last frame that jumped ahead */
	ledger_u64 announced; /* place behind the last frame, as the source said at its end */
	ledger_u64 extent[LEDGER_EXTENTS];
};

_Static_assert(sizeof(struct ledger_track) == 320, "ledger_track");

enum ledger_mark { LEDGER_NEW, LEDGER_DUPLICATE, LEDGER_LATE, LEDGER_AGAIN };

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

/* 0 when a frame cannot have this place, or not without confirmation. The first comparison is that of nearly all frames. */
LEDGER_INLINE int ledger_is_possible(ledger_u64 reference, ledger_u64 base, ledger_u64 place)
{
	return place - reference < LEDGER_WINDOW || (place < reference && place >= base);
}

/* Of a frame that is not possible: 1 when it confirms the one that is kept in mind, track->suspect; both are then to be counted.
 * Otherwise it is counted as corrupted here. */
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

/* LEDGER_AGAIN: another CPU was faster. */
LEDGER_INLINE enum ledger_mark ledger_mark_once(ledger_u64 *word, ledger_u64 place)
{
	ledger_u64 generation = place >> LEDGER_WINDOW_LOG2, bit = 1ull << (place & 31);
	ledger_u64 before = *(volatile ledger_u64 *)word, after = before | bit;

	if (before >> 32 != generation) {
		if (before >> 32 > generation)
			return LEDGER_LATE;
		after = generation << 32 | bit;
	} else if (before & bit) {
		return LEDGER_DUPLICATE;
	}
	return __sync_val_compare_and_swap(word, before, after) == before ? LEDGER_NEW : LEDGER_AGAIN;
}

LEDGER_INLINE enum ledger_mark ledger_mark(ledger_u64 *word, ledger_u64 place)
{
	enum ledger_mark mark;

#ifdef __clang__
#pragma clang loop unroll(disable)
#endif
	for (int i = 0; i < LEDGER_ATTEMPTS; i++) {
		mark = ledger_mark_once(word, place);
		if (mark != LEDGER_AGAIN)
			return mark;
	}
	return LEDGER_LATE;
}

/* Counts a frame. *high is shared by all CPUs; that a slower one writes a little less now and then does no harm. */
LEDGER_INLINE void ledger_account(struct ledger_track *track, volatile ledger_u64 *high, ledger_u64 place,
				  enum ledger_mark mark)
{
	ledger_u64 next = track->next;

	track->frames++;
	if (mark == LEDGER_DUPLICATE) {
		track->duplicates++;
	} else if (mark == LEDGER_LATE) {
		track->late++;
	} else if (place + 1 < next) {
		track->reordered++;
		track->extent[hopcap_log2_u32((ledger_u32)(next - 1 - place)) & (LEDGER_EXTENTS - 1)]++;
	}
	if (place < next)
		return;
	track->next = place + 1;
	if ((place + 1) >> LEDGER_HIGH_LOG2 != next >> LEDGER_HIGH_LOG2 && place >= *high)
		*high = place + 1;
}

/* The source's last word: how many frames there were, modulo 2^32. */
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
	uint64_t reordered;  /* of these: new, below the highest sequence seen on the same CPU (RFC 4737); late ones not included */
	uint64_t late;	     /* of these: so far below the highest that the window has passed them; they are counted as arrived, and
				whether as duplicates nobody can tell any more */
	uint64_t corrupted;  /* carried our tag, but not what we sent: not counted in frames */
	uint64_t next;	     /* highest sequence seen + 1, counted on through wraps of the 32-bit sequence; 0: none */
	uint64_t extent[LEDGER_EXTENTS]; /* of reordered frames: highest seen - own sequence (RFC 4737, 4.2.2) */
	uint64_t announced;  /* how many frames the source said at its end that it sent; 0: not heard */
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
	if (track->next > base && track->next - base > counts->next)
		counts->next = track->next - base;
	if (track->announced > base && track->announced - base > counts->announced)
		counts->announced = track->announced - base;
}
#endif

#endif
