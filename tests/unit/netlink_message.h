/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hand-made netlink messages for tests of parsers, and what a hostile or broken sender would make of them. */
#ifndef TESTS_UNIT_NETLINK_MESSAGE_H
#define TESTS_UNIT_NETLINK_MESSAGE_H

#include <stddef.h>

#include <netlink/attr.h>
#include <netlink/msg.h>

/* A message of a type with its family header; attributes are added with nla_put_…(). Fails the test when out of memory. */
struct nl_msg *message_start(int type, const void *header, size_t bytes);
struct nlattr *message_nest(struct nl_msg *building, int type);
/* The message in memory of exactly its own size, so that the sanitizer sees a read past its end. To be freed. */
struct nlmsghdr *message_finish(struct nl_msg *building);

typedef void (*message_parser)(struct nlmsghdr *message, void *context);

/* Gives the parser every length that the message can be cut to, each in memory of just that size. */
void message_cut(const struct nlmsghdr *message, message_parser parse, void *context);
/* Gives it `rounds` copies with up to three bytes behind the message's header changed at random, the same ones in every run. */
void message_damage(const struct nlmsghdr *message, int rounds, message_parser parse, void *context);

#endif
