/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MEASURE_ROUNDS_H
#define MEASURE_ROUNDS_H

#define ROUNDS_MAX 8

/*
 * Chooses the rounds of a measurement that were made while the machine ran at one speed. speed[0…count-1]: of each round, in
 * any unit in which equal differences matter alike (logarithms of rates). Fills kept[0…result-1] with round numbers, the
 * fastest first; result is count/2, rounded up. 1 <= count <= ROUNDS_MAX.
 */
int rounds_choose(const double *speed, int count, int *kept);

#endif
