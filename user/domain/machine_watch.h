/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the CPUs of this machine did between two moments, and who else used them.
 */
#ifndef DOMAIN_MACHINE_WATCH_H
#define DOMAIN_MACHINE_WATCH_H

#include "domain/verbs.h"

struct machine_watch;

/* NULL with error text when something cannot be read. */
struct machine_watch *machine_watch_begin(void);
/* Since the beginning; frees the watch. CPU numbers are the kernel's. */
void machine_watch_end(struct machine_watch *watch, struct domain_machine *machine);
void machine_watch_cancel(struct machine_watch *watch);

#endif
