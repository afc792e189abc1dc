/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a ledger must count, written a second time from the definitions: every place that ever came is remembered. And streams that a
 * path has mistreated, from a seed. For test_ledger.c here and test_hop_ledger.c of tests/prog.
 *
 * The model is told true places of 64 bits, the ledger under test the 32 bits that a frame carries.
 */
#ifndef LEDGER_MODEL_H
#define LEDGER_MODEL_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ledger_layout.h"

#define MODEL_SLOTS (1u << 21) /* twice as many as places that a test sends */

struct ledger_model {
	struct ledger_counts counts;
	uint64_t *seen; /* open addressing; place + 1, 0: empty */
	uint64_t *lap;  /* by word: highest place / LEDGER_WINDOW that came there, + 1 */
};

static inline int model_open(struct ledger_model *model)
{
	memset(model, 0, sizeof(*model));
	model->seen = calloc(MODEL_SLOTS, sizeof(*model->seen));
	model->lap = calloc(LEDGER_WORDS, sizeof(*model->lap));
	return model->seen && model->lap;
}

static inline void model_close(struct ledger_model *model)
{
	free(model->seen);
	free(model->lap);
}

/* 1 when it was there before. */
static inline int model_remember(struct ledger_model *model, uint64_t place)
{
	uint64_t slot = place * 0x9e3779b97f4a7c15ull >> 43;

	while (model->seen[slot]) {
		if (model->seen[slot] == place + 1)
			return 1;
		slot = (slot + 1) % MODEL_SLOTS;
	}
	model->seen[slot] = place + 1;
	return 0;
}

static inline void model_add(struct ledger_model *model, uint64_t place)
{
	uint64_t *lap = &model->lap[place / 32 % LEDGER_WORDS];
	int was_seen = model_remember(model, place);

	model->counts.frames++;
	if (*lap > place / LEDGER_WINDOW + 1) {
		model->counts.late++;
	} else if (was_seen) {
		model->counts.duplicates++;
	} else if (place + 1 < model->counts.next) {
		uint64_t extent = model->counts.next - 1 - place;
		int bucket = 0;

		model->counts.reordered++;
		while (extent >> (bucket + 1))
			bucket++;
		model->counts.extent[bucket]++;
	}
	if (*lap < place / LEDGER_WINDOW + 1)
		*lap = place / LEDGER_WINDOW + 1;
	if (!model->counts.next || place < model->counts.lowest)
		model->counts.lowest = place;
	if (place >= model->counts.next)
		model->counts.next = place + 1;
}

/* A stream on its way through a bad path. */
struct bad_path {
	uint64_t random;
	uint64_t cursor; /* next place in order */
	uint64_t held[64]; /* taken out to come later */
	unsigned int held_count;
	int after_jump;	 /* the frame behind a jump comes next, else nobody could tell it from damage */
	uint64_t long_loss_in; /* frames until a loss of more than a window; 0: none */
};

static inline uint32_t bad_path_random(struct bad_path *path)
{
	path->random = path->random * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(path->random >> 33);
}

/* The place of the next frame that comes out. */
static inline uint64_t bad_path_next(struct bad_path *path)
{
	uint32_t kind = bad_path_random(path) % 1000, amount = bad_path_random(path);

	if (path->after_jump) {
		path->after_jump = 0;
		return path->cursor++;
	}
	if (path->long_loss_in && !--path->long_loss_in) {
		path->cursor += LEDGER_WINDOW + amount % LEDGER_WINDOW;
		path->after_jump = 1;
		return path->cursor++;
	}
	if (kind < 50) /* loss: of a few, of hundreds, of a part of the window */
		path->cursor += kind < 40 ? amount % 8 : kind < 49 ? amount % 1000 : amount % (LEDGER_WINDOW / 16);
	else if (kind < 90 && path->held_count < 64) /* overtaken by those behind it */
		path->held[path->held_count++] = path->cursor++;
	else if (kind < 140 && path->held_count) {
		uint64_t place = path->held[amount % path->held_count];

		path->held[amount % path->held_count] = path->held[path->held_count - 1];
		path->held_count--;
		return place;
	} else if (kind < 180 && path->cursor > 200) /* again, soon or later */
		return path->cursor - 1 - amount % (kind < 170 ? 4 : 200);
	else if (kind < 183 && path->cursor > 3 * LEDGER_WINDOW) /* from within, around and beyond the window */
		return path->cursor - LEDGER_WINDOW / 2 - amount % (2 * LEDGER_WINDOW);
	return path->cursor++;
}

#endif
