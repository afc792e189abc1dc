// SPDX-License-Identifier: GPL-2.0-or-later
/* Hand-made netlink messages; see netlink_message.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "netlink_message.h"

struct nl_msg *message_start(int type, const void *header, size_t bytes)
{
	struct nl_msg *building = nlmsg_alloc_simple(type, 0);

	assert_non_null(building);
	assert_int_equal(nlmsg_append(building, (void *)(uintptr_t)header, bytes, NLMSG_ALIGNTO), 0);
	return building;
}

struct nlattr *message_nest(struct nl_msg *building, int type)
{
	struct nlattr *attribute = nla_nest_start(building, type);

	assert_non_null(attribute);
	return attribute;
}

static struct nlmsghdr *copy_of(const struct nlmsghdr *message, uint32_t length)
{
	struct nlmsghdr *copy = malloc(length);

	assert_non_null(copy);
	memcpy(copy, message, length);
	copy->nlmsg_len = length;
	return copy;
}

struct nlmsghdr *message_finish(struct nl_msg *building)
{
	struct nlmsghdr *message = copy_of(nlmsg_hdr(building), nlmsg_hdr(building)->nlmsg_len);

	nlmsg_free(building);
	return message;
}

void message_cut(const struct nlmsghdr *message, message_parser parse, void *context)
{
	for (uint32_t length = NLMSG_HDRLEN; length <= message->nlmsg_len; length++) {
		struct nlmsghdr *cut = copy_of(message, length);

		parse(cut, context);
		free(cut);
	}
}

void message_damage(const struct nlmsghdr *message, int rounds, message_parser parse, void *context)
{
	uint64_t random = 88172645463325252ULL;

	for (int round = 0; round < rounds; round++) {
		struct nlmsghdr *damaged = copy_of(message, message->nlmsg_len);

		for (int i = 0; i < 1 + round % 3; i++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			((unsigned char *)damaged)[NLMSG_HDRLEN + random % (message->nlmsg_len - NLMSG_HDRLEN)] =
				(unsigned char)(random >> 32);
		}
		parse(damaged, context);
		free(damaged);
	}
}
