/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A table of the kernel, read whole over rtnetlink and kept as the messages that it came in: a dump that was interrupted is
 * started again, and facts that were already added could not be taken back.
 */
#ifndef SYS_COLLECT_DUMP_H
#define SYS_COLLECT_DUMP_H

#include <stddef.h>

#include "sys/rtnl_message.h"

struct collect_dump {
	unsigned char *bytes; /* messages, each at a multiple of NLMSG_ALIGNTO */
	size_t size, room;
	size_t limit; /* bytes that are kept, at most */
	int is_cut;   /* there was more */
};

/* Asks and keeps the answer; frees the request. *dump is to be freed with collect_dump_free() in any case. 0 or -errno without
 * error text; why stands in reason. */
int collect_dump(struct collect_dump *dump, struct nl_msg *request, size_t limit, char reason[RTNL_REASON_BYTES]);
void collect_dump_free(struct collect_dump *dump);
/* The message behind `previous` (NULL: the first); NULL at the end. */
struct nlmsghdr *collect_dump_next(const struct collect_dump *dump, struct nlmsghdr *previous);

#endif
