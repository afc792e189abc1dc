/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading netlink attributes whose length nobody vouches for. Pure; NULL (an attribute that is missing) is always allowed.
 *
 * Owns: taking a number, a text, a struct or a table out of an attribute without reading past its end. Leaves to others: what
 * the attributes mean. Used by rtnl_parse.c and the collect_*_parse.c files.
 */
#ifndef SYS_NL_ATTRIBUTE_H
#define SYS_NL_ATTRIBUTE_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <netlink/attr.h>

static inline uint32_t nl_u32(const struct nlattr *attribute)
{
	return attribute && nla_len(attribute) >= 4 ? nla_get_u32(attribute) : 0;
}

static inline uint64_t nl_u64(const struct nlattr *attribute)
{
	return attribute && nla_len(attribute) >= 8 ? nla_get_u64(attribute) : 0;
}

static inline unsigned int nl_u16(const struct nlattr *attribute)
{
	return attribute && nla_len(attribute) >= 2 ? nla_get_u16(attribute) : 0;
}

static inline unsigned int nl_u8(const struct nlattr *attribute)
{
	return attribute && nla_len(attribute) >= 1 ? nla_get_u8(attribute) : 0;
}

/* An unsigned number in as many bytes as the kernel took for it (1, 2, 4 or 8); -1 when missing, of another size, or beyond
 * int64_t. */
static inline int64_t nl_number(const struct nlattr *attribute)
{
	uint64_t wide;

	switch (attribute ? nla_len(attribute) : 0) {
	case 1:
		return nla_get_u8(attribute);
	case 2:
		return nla_get_u16(attribute);
	case 4:
		return nla_get_u32(attribute);
	case 8:
		wide = nla_get_u64(attribute);
		return wide <= INT64_MAX ? (int64_t)wide : -1;
	}
	return -1;
}

/* The same as an int; -1 also for what does not fit in one. */
static inline int nl_int(const struct nlattr *attribute)
{
	int64_t number = nl_number(attribute);

	return number <= INT32_MAX ? (int)number : -1;
}

/* Number of an interface: 0 when missing, or nonsense. */
static inline int nl_ifindex(const struct nlattr *attribute)
{
	uint32_t number = nl_u32(attribute);

	return number <= INT32_MAX ? (int)number : 0;
}

/* A number as an int that is never below 0; the largest one stands for those above. */
static inline int nl_count(const struct nlattr *attribute)
{
	uint32_t number = nl_u32(attribute);

	return number <= INT32_MAX ? (int)number : INT32_MAX;
}

/* Text that need not end in a zero. A missing attribute leaves `into` as it is. */
static inline void nl_text(char *into, size_t size, const struct nlattr *attribute)
{
	if (attribute)
		snprintf(into, size, "%.*s", nla_len(attribute), (const char *)nla_data(attribute));
}

/* As much of a struct as this kernel sends; what it does not know stays as it was. */
static inline void nl_struct(void *into, size_t size, const struct nlattr *attribute)
{
	if (attribute)
		memcpy(into, nla_data(attribute),
		       (size_t)nla_len(attribute) < size ? (size_t)nla_len(attribute) : size);
}

/* The attributes in a nest by their type, 0…max; all NULL and a negative number when there is no nest. */
static inline int nl_nest(struct nlattr **table, int max, struct nlattr *nest)
{
	memset(table, 0, ((size_t)max + 1) * sizeof(*table));
	return nest ? nla_parse_nested(table, max, nest, NULL) : -ENOENT;
}

#endif
