/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the CPUs did between two moments: by state (/proc/stat) and by thread (/proc/PID/task/TID).
 *
 * Owns: reading and subtracting. Leaves to others: judging who is a hog (measure/).
 */
#ifndef SYS_PROC_CPU_H
#define SYS_PROC_CPU_H

#include <stdint.h>
#include <stdio.h>

#include "model/run.h"

struct proc_cpu_times {
	uint64_t user, system, softirq, irq, idle, iowait, steal; /* clock ticks since boot; user includes nice */
	int present;
};

/* Fills times[cpu] for cpu < max. 0 or -errno with error text. */
int proc_cpu_times(struct proc_cpu_times *times, int max);
/* Shares of the time between two readings; returns how many CPUs were written to cpus. */
int proc_cpu_shares(const struct proc_cpu_times *before, const struct proc_cpu_times *after, int max, struct run_cpu *cpus);

/* proc_cpu_times from an open /proc/stat, with the kernel's sum over all CPUs (may be NULL). Returns how many CPUs
 * there are, those beyond max too. */
int proc_cpu_parse(FILE *file, struct proc_cpu_times *times, int max, struct proc_cpu_times *all);

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
/* The text of /proc/PID/task/TID/stat, which is changed: command, cpu, is_kernel and run_ns, in whole clock ticks. 0 or -EINVAL. */
int proc_thread_parse(char *text, struct proc_thread *thread);
/* Whether it is a kernel thread that polls a network device (threaded NAPI). */
int proc_thread_polls(const struct proc_thread *thread);

/* Everything about CPU time at one moment. Two of them are what measure/cpu_cost.h subtracts. */
struct proc_cpu_reading {
	uint64_t when_ns;	   /* CLOCK_MONOTONIC at the reading of all and cpus */
	unsigned int ticks_per_s;  /* unit of all and cpus */
	int cpu_total;		   /* CPUs online, those beyond RUN_MAX_CPUS too */
	struct proc_cpu_times all; /* sums of the kernel, rounded once */
	struct proc_cpu_times cpus[RUN_MAX_CPUS];
	int own_pid;
	uint64_t own_ns;	   /* CPU time of this process, threads that have ended included */
	int thread_count;
	struct proc_thread *threads; /* all of the machine (of this PID namespace), sorted by tid */
};

/* Takes some 20 us a thread of the machine, of this process. 0 or -errno with error text; to be freed when 0. */
int proc_cpu_read(struct proc_cpu_reading *reading);
void proc_cpu_reading_free(struct proc_cpu_reading *reading);

#endif
