/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From rtnetlink's tc messages to facts: qdiscs, classes, filters. Pure; nothing in the bytes is trusted.
 *
 * Owns: which qdisc holds back at which rate, and in which attribute of which filter a police action or a program stands.
 * Leaves to others: asking, and names of programs by number (collect_qdisc.c).
 */
#ifndef SYS_COLLECT_QDISC_PARSE_H
#define SYS_COLLECT_QDISC_PARSE_H

#include <linux/netlink.h>

#include "model/facts.h"

/* Each fills the whole record. 1; 0: a message of another kind; -EBADMSG: damaged. No error text. */

/* A qdisc, or a class (is_class 1). */
int collect_parse_qdisc(struct nlmsghdr *message, struct facts_qdisc *qdisc, int *ifindex);
/* A filter; `ingress` by its parent. *program_id: number of its BPF program, 0 none or not told. Messages that stand for the
 * list of filters or a hash table of u32 give 0. */
int collect_parse_filter(struct nlmsghdr *message, struct facts_filter *filter, uint32_t *program_id);

#endif
