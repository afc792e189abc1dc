/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What frames cost in CPU time, on the whole machine: the struct, and the names of its parts.
 *
 * Owns: meaning and unit of each number. Leaves to others: computing it (measure/cpu_cost.c), showing it
 * (report/cpu_cost_text.c). It stands by itself, and is no part of struct run.
 *
 * All times are seconds of CPU time between two readings, over all CPUs unless said. The same total, in three ways:
 *   by CPU      cpus[]
 *   by context  split + unsampled_s = cpu_s: what the CPU was doing, as its tick found it
 *   by thread   who_s[] + outside_s = cpu_s: whose it was, in the scheduler's nanoseconds
 * How each is known, and how well: measure/cpu_cost.h.
 */
#ifndef MODEL_CPU_COST_H
#define MODEL_CPU_COST_H

#include <stdint.h>

#include "model/run.h"

#define RUN_COST_MAX_THREADS 16

enum run_cost_who {
	RUN_COST_OWN,	    /* this process, threads that have ended included */
	RUN_COST_NAPI,	    /* napi/INTERFACE-N: threaded NAPI */
	RUN_COST_KSOFTIRQD, /* softirqs that were too many to run where they were raised */
	RUN_COST_VHOST,	    /* vhost-PID: the host's half of a guest's interface; from Linux 6.4 on its owner's */
	RUN_COST_KWORKER,
	RUN_COST_KERNEL,    /* all other kernel threads */
	RUN_COST_OTHER,	    /* all other processes */
	RUN_COST_WHO_COUNT
};

/* Where the scheduler's nanoseconds of a thread put a softirq or interrupt that ran on top of it. */
enum run_cost_billing {
	RUN_COST_BILLED_TO_THREAD, /* they are in the thread's time: the kernel does not account interrupts apart */
	RUN_COST_BILLED_APART	   /* they are in no thread's time, and so in outside_s */
};

struct run_cost_split { /* what the CPU was doing when the tick looked */
	double user_s;	  /* includes nice, and guests that run on this machine */
	double system_s;
	double softirq_s; /* on top of a thread, in ksoftirqd, on the idle CPU; but napi/… is system */
	double irq_s;	  /* 0 where the kernel does not account interrupts apart: in what they interrupted */
	double steal_s;	  /* taken by the hypervisor; in no other number here */
};

struct run_cost_cpu {
	int cpu;
	double busy_s; /* neither idle nor stolen */
	struct run_cost_split split;
};

struct run_cost_thread { /* one name: threads that are called the same are summed */
	char name[20];	 /* may hold anything: somebody else chose it */
	enum run_cost_who who;
	double cpu_s;
};

struct run_cpu_cost {
	uint64_t frames;
	double elapsed_s;	  /* wall time between the readings */
	int cpu_total;		  /* CPUs in cpu_s; more than cpu_count only beyond RUN_MAX_CPUS */

	double cpu_s;		  /* the machine: neither idle nor stolen */
	double cpu_error_s;	  /* bound: the kernel shows idle time in whole ticks */
	double per_mframes_s;	  /* cpu_s for a million frames, nothing subtracted; unknown without frames */
	double per_mframes_error_s;

	struct run_cost_split split;
	double unsampled_s;	  /* cpu_s less split (without steal): no tick found it; below 0 within split_error_s */
	double split_error_s;	  /* of the largest part of split, one standard error and rounding */
	int cpu_count;
	struct run_cost_cpu cpus[RUN_MAX_CPUS];

	double who_s[RUN_COST_WHO_COUNT];
	/* cpu_s less who_s: interrupts on idle CPUs (when billed apart: all of them), threads that ended. Below 0 when threads'
	 * times hold what the hypervisor took. */
	double outside_s;
	int thread_count;
	struct run_cost_thread threads[RUN_COST_MAX_THREADS]; /* those with most, falling; not our own */
	enum run_cost_billing billing;

	/* What the machine needs without our traffic: has_idle 0 when it was not measured, and then all unknown. */
	int has_idle;
	double idle_measured_s;	  /* for so long it was watched */
	double idle_s;		  /* CPU time that would have been used in elapsed_s all the same */
	double idle_error_s;
	double above_idle_s;	  /* cpu_s - idle_s; may be slightly negative, within above_idle_error_s */
	double above_idle_error_s;
	double above_idle_per_mframes_s;
	double above_idle_per_mframes_error_s;
};

/* own napi ksoftirqd vhost kworker kernel other; "unknown" past the end. */
const char *run_cost_who_name(enum run_cost_who who);
/* to_thread apart */
const char *run_cost_billing_name(enum run_cost_billing billing);

#endif
