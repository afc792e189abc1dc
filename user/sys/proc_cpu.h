/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the CPUs did between two moments: by state (/proc/stat) and by thread (/proc/PID/task/TID).
 *
 * Owns: reading and subtracting. Leaves to others: judging who is a hog (measure/).
 */
#ifndef SYS_PROC_CPU_H
#define SYS_PROC_CPU_H

#include <stdint.h>

#include "model/run.h"

struct proc_cpu_times {
	uint64_t user, system, softirq, irq, idle, iowait, steal; /* clock ticks since boot; user includes nice */
	int present;
};

/* Fills times[cpu] for cpu < max. 0 or -errno with error text. */
int proc_cpu_times(struct proc_cpu_times *times, int max);
/* Shares of the time between two readings; returns how many CPUs were written to cpus. */
int proc_cpu_shares(const struct proc_cpu_times *before, const struct proc_cpu_times *after, int max, struct run_cpu *cpus);

struct proc_thread {
	int tid, pid;
	int cpu;		/* it ran on last */
	int is_kernel;		/* kernel thread */
	uint64_t run_ns;	/* CPU time it has used */
	uint64_t wait_ns;	/* time it was ready to run and did not; 0 where the kernel does not keep it */
	char command[20];
};

/* All threads of the machine, sorted by tid; *threads is malloc'ed. Returns their number or -errno. */
int proc_threads(struct proc_thread **threads);
/* One of them, read again. 0 or -ESRCH when it is gone; no error text. */
int proc_thread_read(int pid, int tid, struct proc_thread *thread);
/* Whether it is a kernel thread that polls a network device (threaded NAPI). */
int proc_thread_polls(const struct proc_thread *thread);

#endif
