// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which rounds of a measurement to keep. Pure. Called by services.c.
 *
 * Theory. The machine's speed stays within a few per cent for a while, then changes by up to a factor of two. Rounds of one
 * such spell have speeds close together; a round during which the speed changed lies somewhere between. So of the n rounds
 * in order of speed, the n/2 neighbours (rounded up) with the smallest range are kept. When there is nothing to choose between,
 * the faster ones are: disturbances only slow down. If one spell holds at least half of the rounds, all that are kept
 * are of one spell.
 */
#include "measure/rounds.h"

int rounds_choose(const double *speed, int count, int *kept)
{
	int order[ROUNDS_MAX], half = (count + 1) / 2, first = 0;

	for (int round = 0; round < count; round++) {
		int at = round;

		for (; at > 0 && speed[order[at - 1]] < speed[round]; at--)
			order[at] = order[at - 1];
		order[at] = round;
	}
	for (int start = 1; start + half <= count; start++)
		if (speed[order[start]] - speed[order[start + half - 1]] <
		    speed[order[first]] - speed[order[first + half - 1]])
			first = start;
	for (int k = 0; k < half; k++)
		kept[k] = order[first + k];
	return half;
}
