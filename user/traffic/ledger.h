/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sequence ledger of a sink: what became of every frame of a stream, exactly.
 *
 * Owns: the counts as the rest of the program sees them, and the ledger of sinks in user space (AF_XDP). The ledger of sinks
 * in the kernel is bpf/hop_body.bpf.h; both keep the layout and the rules of include/ledger_layout.h. Pure.
 */
#ifndef TRAFFIC_LEDGER_H
#define TRAFFIC_LEDGER_H

#include <stdint.h>

#define LEDGER_MAX_STREAMS 8
#define LEDGER_EXTENTS 32 /* bucket b: reordered by 2^b … 2^(b+1)-1 places */

struct ledger_counts {
	uint64_t frames;     /* arrived, duplicates and late ones included */
	uint64_t duplicates; /* of these: sequence seen before */
	uint64_t reordered;  /* of these: below the highest sequence seen (RFC 4737), duplicates not included */
	uint64_t late;	     /* of these: so far below the highest that the window has passed them; they are counted as arrived, and
				whether as duplicates nobody can tell any more */
	uint64_t corrupted;  /* carried our tag, but not what we sent: not counted in frames */
	uint64_t next;	     /* highest sequence seen + 1, counted on through wraps of the 32-bit sequence; 0: none */
	uint64_t extent[LEDGER_EXTENTS]; /* of reordered frames: highest seen - own sequence (RFC 4737, 4.2.2) */
	uint64_t announced;  /* how many frames the source said at its end that it sent; 0: not heard */
};

/* Distinct frames that arrived. */
uint64_t ledger_distinct(const struct ledger_counts *counts);
/* Lost of `sent` frames; of the announced ones, or those up to the highest seen, when sent is 0. Never below 0. */
uint64_t ledger_lost(const struct ledger_counts *counts, uint64_t sent);
void ledger_merge(struct ledger_counts *into, const struct ledger_counts *from);

struct ledger;

/* NULL when out of memory. One ledger a stream; one writer at a time. */
struct ledger *ledger_open(void);
void ledger_close(struct ledger *ledger);
void ledger_clear(struct ledger *ledger);
void ledger_add(struct ledger *ledger, uint32_t sequence);
const struct ledger_counts *ledger_read(const struct ledger *ledger);

#endif
