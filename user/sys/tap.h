/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Making taps. Reading them is bridge_links.h; `rtnl_link_delete` removes them.
 */
#ifndef SYS_TAP_H
#define SYS_TAP_H

/* A tap that stays until it is deleted, in the namespace of the calling thread. several_queues: a process may open it several times, a
 * queue each, and must then do so in that mode. 0 or -errno with error text. */
int tap_create(const char *name, int several_queues);

#endif
