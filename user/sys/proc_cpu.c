// SPDX-License-Identifier: GPL-2.0-or-later
/* CPU and thread accounting from procfs; see proc_cpu.h. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "sys/proc_cpu.h"

#define KERNEL_THREAD_FLAG 0x00200000 /* PF_KTHREAD of include/linux/sched.h */

int proc_cpu_times(struct proc_cpu_times *times, int max)
{
	FILE *file = fopen("/proc/stat", "re");
	char line[512];

	if (!file)
		return error_set(errno, "cannot read /proc/stat: %s", strerror(errno));
	memset(times, 0, sizeof(*times) * (size_t)max);
	while (fgets(line, sizeof(line), file)) {
		unsigned long long value[8] = { 0 };
		int cpu;

		if (sscanf(line, "cpu%d %llu %llu %llu %llu %llu %llu %llu %llu", &cpu, &value[0], &value[1], &value[2],
			   &value[3], &value[4], &value[5], &value[6], &value[7]) < 8 ||
		    cpu < 0 || cpu >= max)
			continue;
		times[cpu] = (struct proc_cpu_times){ .user = value[0] + value[1],
						      .system = value[2],
						      .idle = value[3],
						      .iowait = value[4],
						      .irq = value[5],
						      .softirq = value[6],
						      .steal = value[7],
						      .present = 1 };
	}
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

/* Fields of /proc/PID/task/TID/stat by their numbers in proc(5). The command may hold spaces and parentheses. */
static int parse_stat(char *text, struct proc_thread *thread)
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
	if (read_text(path, text, sizeof(text)) || parse_stat(text, thread))
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
