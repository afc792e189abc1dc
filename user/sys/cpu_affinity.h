/* SPDX-License-Identifier: GPL-2.0-or-later */
/* On which CPU a thread runs. */
#ifndef SYS_CPU_AFFINITY_H
#define SYS_CPU_AFFINITY_H

/* Pins the calling thread; -1: leaves it. That it cannot be had makes numbers noisier, not wrong, and is no error. */
void cpu_pin_thread(int cpu);

#endif
