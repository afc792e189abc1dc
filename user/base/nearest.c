// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Optimal string alignment distance over three rows. Used for hints on mistyped commands and options.
 */
#include <stddef.h>
#include <string.h>

#include "base/nearest.h"

#define MAX_LETTERS 40

static int smallest(int a, int b, int c)
{
	int least = a < b ? a : b;

	return least < c ? least : c;
}

static int edit_distance(const char *a, const char *b)
{
	int rows[3][MAX_LETTERS + 1];
	int *before = rows[0], *above = rows[1], *row = rows[2], *free_row;
	int a_length = (int)strlen(a), b_length = (int)strlen(b);

	if (a_length > MAX_LETTERS || b_length > MAX_LETTERS)
		return MAX_LETTERS;
	for (int j = 0; j <= b_length; j++)
		above[j] = j;
	for (int i = 1; i <= a_length; i++) {
		row[0] = i;
		for (int j = 1; j <= b_length; j++) {
			row[j] = smallest(above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    before[j - 2] + 1 < row[j])
				row[j] = before[j - 2] + 1;
		}
		free_row = before;
		before = above;
		above = row;
		row = free_row;
	}
	return above[b_length];
}

const char *nearest_name(const char *typed, const char *const *names, int count)
{
	const char *nearest = NULL;
	int least = 1 + (int)strlen(typed) / 3;

	for (int i = 0; i < count; i++) {
		int distance = edit_distance(typed, names[i]);

		if (distance < least || (distance == least && !nearest)) {
			least = distance;
			nearest = names[i];
		}
	}
	return nearest;
}
