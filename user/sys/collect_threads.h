/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads and arguments of one process, as facts. Used by collect_processes.c.
 */
#ifndef SYS_COLLECT_THREADS_H
#define SYS_COLLECT_THREADS_H

#include "model/facts.h"
#include "sys/file_tree.h"

/* 0 or -ENOMEM; what has ended meanwhile adds nothing. process->pid is set. */
int collect_arguments(const struct file_tree *tree, struct facts_process *process); /* up to 128 KB */
int collect_threads(const struct file_tree *tree, struct facts_process *process);   /* up to 4096 */
/* One thread of any process (a kernel thread that works for this one). */
int collect_thread(const struct file_tree *tree, struct facts_process *process, int pid, int tid);

/* By the name of the thread: qemu-system-x86, qemu-kvm; "kvm" on Proxmox. The first argument decides for a process, too. */
int collect_is_qemu_name(const char *name);
int collect_is_qemu(const struct facts_process *process);

/* Another element of a list of tap holders that later becomes that of a process; NULL: out of memory. */
struct facts_tun_holder *collect_tun_add(struct facts_tun_holder **tuns, int *count);

#endif
