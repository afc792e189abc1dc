/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hop probes that stay: `hopcap load`, `stat`, `unload` on the kernel at hand.
 *
 * Owns: the directory of each probe under /sys/fs/bpf/hopcap/probes, and its name, which says what is loaded where:
 * NETNS,INTERFACE,in|out,MODE, with "%XX" for other characters than letters, digits and '-'. Leaves to others: what is in there
 * (probe/hop_probe.h). A program and its maps live as long as these files do: unloading is removing them.
 */
#ifndef DOMAIN_PINNED_H
#define DOMAIN_PINNED_H

#include "domain/verbs.h"

/* 0 or -errno with error text: EEXIST when it is loaded there already, ENOTSUP when there is no bpffs (and what to do). */
int pinned_load(const struct verb_load *load);
/* All that are loaded; 0 or -errno with error text. */
int pinned_stat(struct verb_stat_reply *reply);
/* Those of one interface, or all when `interface` is "". Their number, or -errno with error text. */
int pinned_unload(const char *interface, const char *netns);
/* Those whose interface is gone. Their number, or -errno with error text. */
int pinned_unload_gone(void);

#endif
