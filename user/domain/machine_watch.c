// SPDX-License-Identifier: GPL-2.0-or-later
/* CPUs and threads between two moments; see machine_watch.h. Called by local.c. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "domain/machine_watch.h"
#include "port/pacer.h"
#include "sys/proc_cpu.h"

#define HOG_SHARE 0.05 /* of a CPU: less is the noise of any machine */

struct machine_watch {
	uint64_t begin_ns;
	struct proc_cpu_times cpus[RUN_MAX_CPUS];
	struct proc_thread *threads;
	int thread_count;
};

struct machine_watch *machine_watch_begin(void)
{
	struct machine_watch *watch = calloc(1, sizeof(*watch));

	if (!watch) {
		error_set(ENOMEM, "out of memory");
		return NULL;
	}
	watch->thread_count = proc_threads(&watch->threads);
	if (watch->thread_count < 0 || proc_cpu_times(watch->cpus, RUN_MAX_CPUS)) {
		machine_watch_cancel(watch);
		return NULL;
	}
	watch->begin_ns = pacer_now_ns();
	return watch;
}

void machine_watch_cancel(struct machine_watch *watch)
{
	if (!watch)
		return;
	free(watch->threads);
	free(watch);
}

/* Threads of the path itself: the kernel's packet threads. Ours are known by their process. */
static int is_path_thread(const struct proc_thread *thread)
{
	return thread->pid == getpid() || proc_thread_polls(thread) ||
	       (thread->is_kernel && !strncmp(thread->command, "ksoftirqd/", 10));
}

static void add_hog(struct domain_machine *machine, const struct proc_thread *thread, double share)
{
	struct run_hog *hog = &machine->hogs[machine->hog_count < RUN_MAX_HOGS ? machine->hog_count : RUN_MAX_HOGS - 1];

	if (machine->hog_count == RUN_MAX_HOGS && hog->share >= share)
		return;
	*hog = (struct run_hog){ .cpu = thread->cpu, .pid = thread->tid, .share = share > 1 ? 1 : share };
	memcpy(hog->command, thread->command, sizeof(hog->command));
	if (machine->hog_count < RUN_MAX_HOGS)
		machine->hog_count++;
	for (int i = machine->hog_count - 1; i > 0 && machine->hogs[i].share > machine->hogs[i - 1].share; i--) {
		struct run_hog swap = machine->hogs[i];

		machine->hogs[i] = machine->hogs[i - 1];
		machine->hogs[i - 1] = swap;
	}
}

static void find_hogs(const struct machine_watch *watch, double elapsed_ns, struct domain_machine *machine)
{
	struct proc_thread *now;
	int count = proc_threads(&now), earlier = 0;

	for (int i = 0; i < count; i++) {
		uint64_t before_ns = 0;
		double share;

		while (earlier < watch->thread_count && watch->threads[earlier].tid < now[i].tid)
			earlier++;
		if (earlier < watch->thread_count && watch->threads[earlier].tid == now[i].tid)
			before_ns = watch->threads[earlier].run_ns;
		share = now[i].run_ns > before_ns ? (double)(now[i].run_ns - before_ns) / elapsed_ns : 0;
		if (share >= HOG_SHARE && !is_path_thread(&now[i]))
			add_hog(machine, &now[i], share);
	}
	if (count > 0)
		free(now);
}

void machine_watch_end(struct machine_watch *watch, struct domain_machine *machine)
{
	double elapsed_ns = (double)(pacer_now_ns() - watch->begin_ns);
	struct proc_cpu_times now[RUN_MAX_CPUS];

	memset(machine, 0, sizeof(*machine));
	find_hogs(watch, elapsed_ns, machine);
	if (!proc_cpu_times(now, RUN_MAX_CPUS))
		machine->cpu_count = proc_cpu_shares(watch->cpus, now, RUN_MAX_CPUS, machine->cpus);
	machine_watch_cancel(watch);
}
