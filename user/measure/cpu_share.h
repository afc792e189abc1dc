/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much of the path's CPU is the path's, while others want it too.
 *
 * Owns: watching the kernel threads that serve devices (threaded NAPI) during a trial. Leaves to others: what it means
 * (services.c, attribute.c). Softirqs outside of such a thread run on top of whatever the CPU does, so nobody takes of
 * their time; ksoftirqd is neither one nor the other: unknown.
 *
 * Theory. The scheduler counts for each thread how long it ran (R) and how long it was ready and had to wait (W). While
 * more is offered than fits, a serving thread never lacks work; so in the time R + W it had the CPU for R. With several such
 * threads on one CPU a thread waits for the others of the path too: their R is not taken from the path. share = sum of R /
 * (R + W of the one that ran most).
 */
#ifndef MEASURE_CPU_SHARE_H
#define MEASURE_CPU_SHARE_H

struct cpu_share;

/* Finds the threads to watch; NULL when there are none or memory is short: every share is then unknown. */
struct cpu_share *cpu_share_open(void);
void cpu_share_close(struct cpu_share *share);
/* Forgets what was seen: a trial begins. */
void cpu_share_reset(struct cpu_share *share);
/* To be called while frames are sent, again and again; what counts is the time from the first call to the last. A tick of a
 * trial (trial.h). */
void cpu_share_tick(void *share);
/* The path's part of a CPU, 0 to 1; RUN_UNKNOWN when no thread served there for most of the time, or it was seen too briefly. */
double cpu_share_of(const struct cpu_share *share, int cpu);

#endif
