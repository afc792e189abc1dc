/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MEASURE_MEDIAN_H
#define MEASURE_MEDIAN_H

/* Median of count > 0 values; sorts them in place, smallest first. */
double median(double *values, int count);

#endif
