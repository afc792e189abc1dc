// SPDX-License-Identifier: GPL-2.0-or-later
/* A table of the kernel as messages; see collect_dump.h. Called by collect_links.c, collect_tables.c, collect_qdisc.c. */
#include "sys/collect_dump.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 65536

static int keep_message(struct nlmsghdr *message, void *context)
{
	struct collect_dump *dump = context;
	size_t length, room;

	if (!message) {
		dump->size = 0;
		return 0;
	}
	length = NLMSG_ALIGN((size_t)message->nlmsg_len);
	if (dump->size + length > dump->limit)
		return -E2BIG;
	for (room = dump->room ? dump->room : FIRST_ROOM; room < dump->size + length; room *= 2)
		;
	if (room != dump->room) {
		unsigned char *larger = realloc(dump->bytes, room);

		if (!larger)
			return -ENOMEM;
		dump->bytes = larger;
		dump->room = room;
	}
	memset(dump->bytes + dump->size, 0, length);
	memcpy(dump->bytes + dump->size, message, message->nlmsg_len);
	dump->size += length;
	return 0;
}

int collect_dump(struct collect_dump *dump, struct nl_msg *request, size_t limit, char reason[RTNL_REASON_BYTES])
{
	int code;

	*dump = (struct collect_dump){ .limit = limit };
	code = rtnl_message_exchange(request, keep_message, dump, reason);
	if (code != -E2BIG)
		return code;
	dump->is_cut = 1;
	return 0;
}

void collect_dump_free(struct collect_dump *dump)
{
	free(dump->bytes);
	*dump = (struct collect_dump){ 0 };
}

struct nlmsghdr *collect_dump_next(const struct collect_dump *dump, struct nlmsghdr *previous)
{
	size_t offset =
		previous ? (size_t)((unsigned char *)previous - dump->bytes) + NLMSG_ALIGN((size_t)previous->nlmsg_len)
			 : 0;

	return offset < dump->size ? (struct nlmsghdr *)(void *)(dump->bytes + offset) : NULL;
}
