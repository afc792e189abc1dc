/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What frames cost in CPU time: subtracting two readings of the whole machine.
 *
 * Owns: the arithmetic, and what it is worth. Pure: readings are taken by sys/proc_cpu.h. Leaves to others: when to
 * take them (around a trial, and once before it with nothing sent), showing the result (report/cpu_cost_text.h).
 *
 *	proc_cpu_read(&a); sleep for as long as the trial will take, at least 1 s; proc_cpu_read(&b);
 *	cpu_cost_compute(&a, &b, 0, &idle);
 *	the trial between proc_cpu_read(&c) and proc_cpu_read(&d);
 *	cpu_cost_compute(&c, &d, frames, &cost); cpu_cost_set_idle(&cost, &idle);
 *
 * Theory.
 *
 * The total. A CPU is busy when it is not idle, does not wait for a disk and is not taken away: busy = wall time -
 * idle - iowait - steal. A kernel that stops the tick of idle CPUs (NO_HZ, every distribution's) measures idle time
 * by the clock at each entry and exit, and an interrupt on an idle CPU ends it: so the total holds softirqs that no
 * thread is charged with, and is not sampled. It is shown in whole ticks (1/CLK_TCK s, 10 ms): a difference of two
 * truncated numbers is off by less than a tick, and at most three numbers are subtracted. cpu_error_s is that bound.
 *
 * By context. user, system, softirq, irq are sampled: each tick of a running CPU charges a whole tick to what it
 * interrupted. Of n ticks, those that find a context of share p are binomial, so a part of t seconds has a standard
 * error of at most sqrt(t * tick); a tick of rounding comes on top. What runs only in step with the tick, or shorter
 * than a tick on a CPU whose tick was stopped, is not found: unsampled_s. (Kernels with IRQ_TIME_ACCOUNTING measure
 * softirq and irq by the clock; the error is then smaller than said.)
 *
 * By thread. The scheduler keeps nanoseconds for each thread. A softirq or interrupt that runs on top of a thread is
 * in its time unless the kernel accounts interrupts apart. Whether it does shows in the irq column of /proc/stat: a
 * kernel that only samples charges irq when a tick interrupts an interrupt, which does not happen, so the column
 * stays 0 since boot. softirq moves on both and says nothing. Kernels that account by the clock but leave threads'
 * times alone (VIRT_CPU_ACCOUNTING_NATIVE, as on POWER) are told by threads that have more than user + system.
 *
 * Idle use is reported beside the total and not taken off it: the plain number flatters nobody, and what others use
 * changes from second to second. above_idle_s is the difference, with the errors of both.
 */
#ifndef MEASURE_CPU_COST_H
#define MEASURE_CPU_COST_H

#include "model/cpu_cost.h"
#include "sys/proc_cpu.h"

/* 0, or -ENOMEM or -EINVAL (the second reading is not later than the first) with error text. With frames 0 what is per
 * million frames is unknown. */
int cpu_cost_compute(const struct proc_cpu_reading *before, const struct proc_cpu_reading *after, uint64_t frames,
		     struct run_cpu_cost *cost);
/* Adds what the machine uses without the traffic, as cpu_cost_compute found it over some other time. */
void cpu_cost_set_idle(struct run_cpu_cost *cost, const struct run_cpu_cost *idle);

#endif
