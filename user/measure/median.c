// SPDX-License-Identifier: GPL-2.0-or-later
/* Median of measured values. Pure. Called by the measuring steps. */
#include <stdlib.h>

#include "measure/median.h"

static int compare(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

double median(double *values, int count)
{
	qsort(values, (size_t)count, sizeof(*values), compare);
	return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}
