/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether an interface is still there and up, asked at leisure by who would not notice otherwise: a program that is attached sees no
 * frame any more, and nothing fails. sys/link_watch.h is for a thread that has to be woken up.
 */
#ifndef SYS_LINK_STATE_H
#define SYS_LINK_STATE_H

/* 0, or with error text -ENODEV when the interface is gone from the namespace, -ENETDOWN when it was set down. Enters the namespace
 * itself. */
int link_state_check(const char *interface, const char *netns, int ifindex);

#endif
