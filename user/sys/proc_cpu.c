// SPDX-License-Identifier: GPL-2.0-or-later
/* CPU and thread accounting from procfs; see proc_cpu.h. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "sys/proc_cpu.h"

#define KERNEL_THREAD_FLAG 0x00200000 /* PF_KTHREAD of include/linux/sched.h */

/* A line of /proc/stat: "cpu" (all of them) or "cpuN". Returns N, -1 for all, -2 when it is another line. */
static int parse_times(const char *line, struct proc_cpu_times *times)
{
	unsigned long long value[8] = { 0 };
	int cpu = -1, used = 3;

	if (strncmp(line, "cpu", 3))
		return -2;
	if (line[3] != ' ' && (sscanf(line, "cpu%d%n", &cpu, &used) < 1 || cpu < 0))
		return -2;
	if (sscanf(line + used, " %llu %llu %llu %llu %llu %llu %llu %llu", &value[0], &value[1], &value[2], &value[3],
		   &value[4], &value[5], &value[6], &value[7]) < 7)
		return -2;
	*times = (struct proc_cpu_times){ .user = value[0] + value[1],
					  .system = value[2],
					  .idle = value[3],
					  .iowait = value[4],
					  .irq = value[5],
					  .softirq = value[6],
					  .steal = value[7],
					  .present = 1 };
	return cpu;
}

int proc_cpu_parse(FILE *file, struct proc_cpu_times *times, int max, struct proc_cpu_times *all)
{
	struct proc_cpu_times one;
	char line[512]; /* longer ones are not about CPUs; their rest is read as lines that are not, either */
	int count = 0;

	memset(times, 0, sizeof(*times) * (size_t)max);
	if (all)
		memset(all, 0, sizeof(*all));
	while (fgets(line, sizeof(line), file)) {
		int cpu = parse_times(line, &one);

		count += cpu >= 0;
		if (cpu >= 0 && cpu < max)
			times[cpu] = one;
		else if (cpu == -1 && all)
			*all = one;
	}
	return count;
}

int proc_cpu_times(struct proc_cpu_times *times, int max)
{
	FILE *file = fopen("/proc/stat", "re");

	if (!file)
		return error_set(errno, "cannot read /proc/stat: %s", strerror(errno));
	proc_cpu_parse(file, times, max, NULL);
	fclose(file);
	return 0;
}

int proc_cpu_shares(const struct proc_cpu_times *before, const struct proc_cpu_times *after, int max,
		    struct run_cpu *cpus)
{
	int count = 0;

	for (int cpu = 0; cpu < max; cpu++) {
		const struct proc_cpu_times *b = &before[cpu], *a = &after[cpu];
		double user = (double)(a->user - b->user), system = (double)(a->system - b->system);
		double softirq = (double)(a->softirq - b->softirq + a->irq - b->irq),
		       steal = (double)(a->steal - b->steal);
		double busy = user + system + softirq + steal;
		double total = busy + (double)(a->idle - b->idle) + (double)(a->iowait - b->iowait);

		if (!a->present || !b->present || total <= 0)
			continue;
		cpus[count++] = (struct run_cpu){ .cpu = cpu,
						  .busy = busy / total,
						  .softirq = softirq / total,
						  .system = system / total,
						  .user = user / total,
						  .steal = steal / total };
	}
	return count;
}

static int read_text(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length;

	if (fd < 0)
		return -errno;
	length = read(fd, text, size - 1);
	close(fd);
	if (length < 0)
		return -EIO;
	text[length] = 0;
	return 0;
}

/* Fields by their numbers in proc(5). The command may hold spaces and parentheses. */
int proc_thread_parse(char *text, struct proc_thread *thread)
{
	char *open = strchr(text, '('), *close = strrchr(text, ')'), *field, *rest = NULL;
	unsigned long long flags = 0, ticks = 0;
	int number = 3;

	if (!open || !close || close < open)
		return -EINVAL;
	*close = 0;
	snprintf(thread->command, sizeof(thread->command), "%s", open + 1);
	for (field = strtok_r(close + 1, " ", &rest); field; field = strtok_r(NULL, " ", &rest), number++) {
		if (number == 9)
			flags = strtoull(field, NULL, 10);
		else if (number == 14 || number == 15)
			ticks += strtoull(field, NULL, 10);
		else if (number == 39)
			thread->cpu = atoi(field);
	}
	if (number < 39)
		return -EINVAL;
	thread->is_kernel = !!(flags & KERNEL_THREAD_FLAG);
	thread->run_ns = ticks * (1000000000ull / (unsigned long long)sysconf(_SC_CLK_TCK));
	return 0;
}

int proc_thread_read(int pid, int tid, struct proc_thread *thread)
{
	char path[64], text[1024];
	unsigned long long run_ns, wait_ns;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	memset(thread, 0, sizeof(*thread));
	thread->pid = pid;
	thread->tid = tid;
	if (read_text(path, text, sizeof(text)) || proc_thread_parse(text, thread))
		return -ESRCH;
	/* Nanoseconds instead of ticks, where the kernel keeps them. */
	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", pid, tid);
	if (!read_text(path, text, sizeof(text)) && sscanf(text, "%llu %llu", &run_ns, &wait_ns) == 2 && run_ns) {
		thread->run_ns = run_ns;
		thread->wait_ns = wait_ns;
	}
	return 0;
}

int proc_thread_polls(const struct proc_thread *thread)
{
	return thread->is_kernel && !strncmp(thread->command, "napi/", 5);
}

static int compare_tid(const void *left, const void *right)
{
	const struct proc_thread *a = left, *b = right;

	return (a->tid > b->tid) - (a->tid < b->tid);
}

static int add_threads(int pid, struct proc_thread **threads, int *count, int *capacity)
{
	char path[64];
	struct dirent *entry;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	if (!tasks)
		return 0; /* gone meanwhile */
	while ((entry = readdir(tasks))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		if (*count == *capacity) {
			struct proc_thread *more = realloc(*threads, sizeof(**threads) * (size_t)(*capacity * 2 + 256));

			if (!more) {
				closedir(tasks);
				return -ENOMEM;
			}
			*threads = more;
			*capacity = *capacity * 2 + 256;
		}
		if (!proc_thread_read(pid, atoi(entry->d_name), &(*threads)[*count]))
			(*count)++;
	}
	closedir(tasks);
	return 0;
}

int proc_threads(struct proc_thread **threads)
{
	DIR *processes = opendir("/proc");
	int count = 0, capacity = 0, code = 0;
	struct dirent *entry;

	*threads = NULL;
	if (!processes)
		return error_set(errno, "cannot read /proc: %s", strerror(errno));
	while (!code && (entry = readdir(processes)))
		if (isdigit((unsigned char)entry->d_name[0]))
			code = add_threads(atoi(entry->d_name), threads, &count, &capacity);
	closedir(processes);
	if (code) {
		free(*threads);
		*threads = NULL;
		return error_set(-code, "out of memory reading the threads of this machine");
	}
	if (count)
		qsort(*threads, (size_t)count, sizeof(**threads), compare_tid);
	return count;
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now = { 0 };

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int proc_cpu_read(struct proc_cpu_reading *reading)
{
	FILE *file = fopen("/proc/stat", "re");

	memset(reading, 0, sizeof(*reading));
	if (!file)
		return error_set(errno, "cannot read /proc/stat: %s", strerror(errno));
	/* The same order at every reading, so that all differences are over (nearly) the same length of time. */
	reading->when_ns = clock_ns(CLOCK_MONOTONIC);
	reading->cpu_total = proc_cpu_parse(file, reading->cpus, RUN_MAX_CPUS, &reading->all);
	fclose(file);
	if (!reading->all.present || reading->cpu_total == 0)
		return error_set(EPROTO, "/proc/stat says nothing about the CPUs of this machine");
	reading->ticks_per_s = (unsigned int)sysconf(_SC_CLK_TCK);
	reading->own_pid = getpid();
	reading->own_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	reading->thread_count = proc_threads(&reading->threads);
	return reading->thread_count < 0 ? reading->thread_count : 0;
}

void proc_cpu_reading_free(struct proc_cpu_reading *reading)
{
	free(reading->threads);
	reading->threads = NULL;
	reading->thread_count = 0;
}
