// SPDX-License-Identifier: GPL-2.0-or-later
/* Stations by address; see stations.h. Called by fdb_follow.c. */
#include "accel/stations.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "map_bridge.h"

#define CHAINS 8192u /* a power of two; the kernel's table holds four times as many */

int stations_open(struct stations *stations)
{
	memset(stations, 0, sizeof(*stations));
	stations->chains = calloc(CHAINS, sizeof(struct station *));
	if (!stations->chains)
		return error_set(ENOMEM, "out of memory for the table of stations");
	stations->chain_count = CHAINS;
	return 0;
}

void stations_close(struct stations *stations)
{
	for (unsigned int i = 0; i < stations->chain_count; i++) {
		while (stations->chains[i]) {
			struct station *next = stations->chains[i]->next;

			free(stations->chains[i]);
			stations->chains[i] = next;
		}
	}
	free(stations->chains);
	memset(stations, 0, sizeof(*stations));
}

/* Addresses of one maker differ in the last bytes; made-up ones anywhere. */
static struct station **chain_of(const struct stations *stations, const unsigned char address[6])
{
	uint32_t hash = 2166136261u;

	for (int i = 0; i < 6; i++)
		hash = (hash ^ address[i]) * 16777619u;
	return &stations->chains[(hash ^ hash >> 15) & (stations->chain_count - 1)];
}

struct station *stations_find(const struct stations *stations, const unsigned char address[6])
{
	struct station *station = *chain_of(stations, address);

	while (station && memcmp(station->address, address, 6))
		station = station->next;
	return station;
}

struct station *stations_get(struct stations *stations, const unsigned char address[6])
{
	struct station *station = stations_find(stations, address), **chain;

	if (station)
		return station;
	station = calloc(1, sizeof(*station));
	if (!station)
		return NULL;
	memcpy(station->address, address, sizeof(station->address));
	station->slot = HOPCAP_BRIDGE_NO_PORT;
	chain = chain_of(stations, address);
	station->next = *chain;
	*chain = station;
	stations->count++;
	return station;
}

void stations_mark_dirty(struct stations *stations, struct station *station)
{
	if (station->is_dirty)
		return;
	station->is_dirty = 1;
	station->next_dirty = stations->dirty;
	stations->dirty = station;
}

struct station *stations_next_dirty(struct stations *stations)
{
	struct station *station = stations->dirty;

	if (!station)
		return NULL;
	stations->dirty = station->next_dirty;
	station->next_dirty = NULL;
	station->is_dirty = 0;
	return station;
}

void stations_remove(struct stations *stations, struct station *station)
{
	struct station **link = chain_of(stations, station->address), **dirty = &stations->dirty;

	while (*link != station)
		link = &(*link)->next;
	*link = station->next;
	if (station->is_dirty) {
		while (*dirty != station)
			dirty = &(*dirty)->next_dirty;
		*dirty = station->next_dirty;
	}
	stations->count--;
	free(station);
}

void stations_each(struct stations *stations, void (*visit)(struct station *station, void *context), void *context)
{
	for (unsigned int i = 0; i < stations->chain_count; i++) {
		struct station *next;

		for (struct station *station = stations->chains[i]; station; station = next) {
			next = station->next;
			visit(station, context);
		}
	}
}

void stations_sweep_begin(struct stations *stations)
{
	stations->sweep++;
}

static void forget_untold(struct station *station, void *context)
{
	struct stations *stations = context;

	if (station->sweep == stations->sweep || !station->is_known)
		return;
	station->is_known = 0;
	stations_mark_dirty(stations, station);
}

void stations_sweep_end(struct stations *stations)
{
	stations_each(stations, forget_untold, stations);
}
