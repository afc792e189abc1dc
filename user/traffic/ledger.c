// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The ledger of sinks in user space; see ledger.h, and include/ledger_layout.h for how and why it works. Called by
 * traffic/sink_xsk.c.
 */
#include <stdlib.h>
#include <string.h>

#include "traffic/ledger.h"

struct ledger {
	ledger_u64 *words; /* LEDGER_WORDS */
	ledger_u64 base;
	ledger_u64 high;   /* place that some thread has reached, in steps */
	struct ledger_track own; /* of the one writer, when there is but one */
	struct ledger_counts *counts; /* what ledger_read last made of it */
};

uint64_t ledger_distinct(const struct ledger_counts *counts)
{
	return counts->frames - counts->duplicates;
}

uint64_t ledger_lost(const struct ledger_counts *counts, uint64_t sent)
{
	return ledger_lost_from(counts, 0, sent);
}

uint64_t ledger_lost_from(const struct ledger_counts *counts, uint64_t from, uint64_t sent)
{
	uint64_t known = ledger_distinct(counts) + from;

	if (!sent)
		sent = counts->announced ? counts->announced : counts->next;
	return sent > known ? sent - known : 0;
}

void ledger_merge(struct ledger_counts *into, const struct ledger_counts *from)
{
	into->frames += from->frames;
	into->duplicates += from->duplicates;
	into->reordered += from->reordered;
	into->late += from->late;
	into->corrupted += from->corrupted;
	for (int i = 0; i < LEDGER_EXTENTS; i++)
		into->extent[i] += from->extent[i];
	if (from->next && (!into->next || from->lowest < into->lowest))
		into->lowest = from->lowest;
	if (from->next > into->next)
		into->next = from->next;
	if (from->announced > into->announced)
		into->announced = from->announced;
}

struct ledger *ledger_open(void)
{
	struct ledger *ledger = calloc(1, sizeof(*ledger));

	if (!ledger)
		return NULL;
	ledger->base = LEDGER_FIRST_BASE;
	ledger->words = calloc(LEDGER_WORDS, sizeof(*ledger->words));
	ledger->counts = calloc(1, sizeof(*ledger->counts));
	if (ledger->words && ledger->counts)
		return ledger;
	ledger_close(ledger);
	return NULL;
}

void ledger_close(struct ledger *ledger)
{
	if (!ledger)
		return;
	free(ledger->words);
	free(ledger->counts);
	free(ledger);
}

void ledger_clear(struct ledger *ledger)
{
	ledger_u64 highest = ledger->own.next > ledger->high ? ledger->own.next : ledger->high;

	/* A track's next is above high by less than a step, which the distance of two bases holds. */
	ledger->base = ledger_next_base(highest > ledger->base ? highest : ledger->base);
	memset(&ledger->own, 0, sizeof(ledger->own));
}

uint64_t ledger_base(const struct ledger *ledger)
{
	return ledger->base;
}

static inline void count_place(struct ledger *ledger, struct ledger_track *track, ledger_u64 place)
{
	ledger_note_lowest(track, ledger->base, place);
	ledger_account(track, &ledger->high, place, ledger_mark(&ledger->words[ledger_word(place)], place));
}

void ledger_track_add(struct ledger *ledger, struct ledger_track *track, uint32_t sequence)
{
	ledger_u64 reference = ledger_reference(track, ledger->base, *(volatile ledger_u64 *)&ledger->high);
	ledger_u64 place = ledger_place(reference, ledger->base, sequence);

	if (!ledger_is_possible(reference, ledger->base, place)) {
		if (!ledger_confirms(track, ledger->base, place))
			return;
		count_place(ledger, track, track->suspect);
	}
	count_place(ledger, track, place);
}

void ledger_track_end(const struct ledger *ledger, struct ledger_track *track, uint32_t frames)
{
	ledger_announce(track, ledger_reference(track, ledger->base, ledger->high), ledger->base, frames);
}

void ledger_add(struct ledger *ledger, uint32_t sequence)
{
	ledger_track_add(ledger, &ledger->own, sequence);
}

void ledger_add_corrupted(struct ledger *ledger)
{
	ledger->own.corrupted++;
}

void ledger_add_end(struct ledger *ledger, uint32_t frames)
{
	ledger_track_end(ledger, &ledger->own, frames);
}

const struct ledger_counts *ledger_read(const struct ledger *ledger)
{
	memset(ledger->counts, 0, sizeof(*ledger->counts));
	ledger_counts_add(ledger->counts, &ledger->own, NULL, ledger->base);
	return ledger->counts;
}
