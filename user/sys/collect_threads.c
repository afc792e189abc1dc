// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Threads and arguments of one process; see collect_threads.h.
 */
#include "sys/collect_threads.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/facts_fields.h"
#include "sys/proc_cpu.h"

#define MAX_ARGUMENT_BYTES 131072
#define MAX_THREADS 4096

struct facts_tun_holder *collect_tun_add(struct facts_tun_holder **tuns, int *count)
{
	return facts_array_add(tuns, count, sizeof(**tuns), facts_tun_fields);
}

int collect_is_qemu_name(const char *name)
{
	return !strncmp(name, "qemu-system-", 12) || !strcmp(name, "qemu-kvm") || !strcmp(name, "kvm");
}

int collect_is_qemu(const struct facts_process *process)
{
	const char *first = process->argument_count ? process->arguments[0] : "", *slash = strrchr(first, '/');

	return collect_is_qemu_name(process->name) || collect_is_qemu_name(slash ? slash + 1 : first);
}

int collect_arguments(const struct file_tree *tree, struct facts_process *process)
{
	char path[64], *text = malloc(MAX_ARGUMENT_BYTES);
	ssize_t length;
	int result = 0;

	if (!text)
		return -ENOMEM;
	snprintf(path, sizeof(path), "/proc/%d/cmdline", process->pid);
	length = file_tree_read(tree, path, text, MAX_ARGUMENT_BYTES);
	for (ssize_t at = 0; at < length && result == 0; at += (ssize_t)strlen(text + at) + 1)
		result = facts_add_argument(process, text + at);
	free(text);
	return result;
}

/* "Cpus_allowed_list:\t0-3" */
static void read_affinity(const char *status, char *list, size_t size)
{
	const char *line = strstr(status, "\nCpus_allowed_list:");

	list[0] = '\0';
	if (!line)
		return;
	line += strlen("\nCpus_allowed_list:");
	line += strspn(line, " \t");
	snprintf(list, size, "%.*s", (int)strcspn(line, "\n"), line);
}

int collect_thread(const struct file_tree *tree, struct facts_process *process, int pid, int tid)
{
	struct proc_thread times = { .cpu = FACTS_UNKNOWN };
	unsigned long long run_ns, wait_ns;
	struct facts_thread *thread;
	char path[64], text[4096];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	if (file_tree_read(tree, path, text, sizeof(text)) < 0 || proc_thread_parse(text, &times) < 0)
		return 0;
	thread = facts_add_thread(process);
	if (!thread)
		return -ENOMEM;
	thread->tid = tid;
	thread->last_cpu = times.cpu < 0 ? FACTS_UNKNOWN : times.cpu;
	thread->cpu_time_ms = times.run_ns / 1000000;
	snprintf(thread->name, sizeof(thread->name), "%s", times.command);
	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", pid, tid);
	if (file_tree_read(tree, path, text, sizeof(text)) > 0)
		read_affinity(text, thread->cpus_allowed, sizeof(thread->cpus_allowed));
	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", pid, tid);
	if (file_tree_read(tree, path, text, sizeof(text)) > 0 && sscanf(text, "%llu %llu", &run_ns, &wait_ns) == 2) {
		thread->wait_ns = wait_ns;
		if (run_ns)
			thread->cpu_time_ms = run_ns / 1000000;
	}
	return 0;
}

int collect_threads(const struct file_tree *tree, struct facts_process *process)
{
	struct dirent *entry;
	DIR *directory;
	char path[64];
	int result = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", process->pid);
	if (file_tree_directory(tree, path, &directory) < 0)
		return 0;
	while (result == 0 && process->thread_count < MAX_THREADS && (entry = readdir(directory)))
		if (isdigit((unsigned char)entry->d_name[0]) && atoi(entry->d_name) > 0)
			result = collect_thread(tree, process, process->pid, atoi(entry->d_name));
	closedir(directory);
	return result;
}
