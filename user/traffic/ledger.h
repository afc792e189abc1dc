/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sequence ledger of a sink: what became of every frame of a stream, exactly.
 *
 * Owns: the ledger of sinks in user space (AF_XDP), and what follows from counts. The ledger of sinks in the kernel is
 * bpf/hop_sink.bpf.h; both keep the layout and the rules of include/ledger_layout.h, which has struct ledger_counts and
 * the theory. Pure.
 */
#ifndef TRAFFIC_LEDGER_H
#define TRAFFIC_LEDGER_H

#include <stdint.h>

#include "ledger_layout.h"

/* Distinct frames that arrived. */
uint64_t ledger_distinct(const struct ledger_counts *counts);
/* Lost of `sent` frames; of the announced ones, or those up to the highest seen, when sent is 0. Never below 0. */
uint64_t ledger_lost(const struct ledger_counts *counts, uint64_t sent);
/* The same of the sequences from `from` on, at most counts->lowest. */
uint64_t ledger_lost_from(const struct ledger_counts *counts, uint64_t from, uint64_t sent);
/* Sums counts, of streams or of CPUs; `next` and `announced`, of which each stream has its own, become the highest, `lowest` the
 * lowest. */
void ledger_merge(struct ledger_counts *into, const struct ledger_counts *from);

struct ledger;

/* NULL when out of memory. One ledger a stream: LEDGER_WORDS * 8 bytes, 1 MiB. */
struct ledger *ledger_open(void);
void ledger_close(struct ledger *ledger);
/* Starts anew; costs nothing. No thread may be adding meanwhile. */
void ledger_clear(struct ledger *ledger);

/* For one writer. */
void ledger_add(struct ledger *ledger, uint32_t sequence);
void ledger_add_corrupted(struct ledger *ledger);
/* The end of the stream was heard (HOPCAP_FRAME_END), with so many frames modulo 2^32. */
void ledger_add_end(struct ledger *ledger, uint32_t frames);
/* Valid until the next call; another thread may be adding meanwhile. */
const struct ledger_counts *ledger_read(const struct ledger *ledger);

/* For several writers of one stream, one thread and one track each (zeroed at first, then left alone by others).
 * Duplicates are found between threads at once, reordering within each. Sum: ledger_counts_add(&counts, track, NULL,
 * ledger_base(ledger)). */
void ledger_track_add(struct ledger *ledger, struct ledger_track *track, uint32_t sequence);
void ledger_track_end(const struct ledger *ledger, struct ledger_track *track, uint32_t frames);
uint64_t ledger_base(const struct ledger *ledger);

#endif
