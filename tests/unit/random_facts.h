/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts for tests of what reads and writes them: random ones in which every member is set, by the rows; and comparing two of them,
 * member by member. Static, since a test program is one file.
 */
#ifndef TESTS_UNIT_RANDOM_FACTS_H
#define TESTS_UNIT_RANDOM_FACTS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/facts_fields.h"

static uint64_t facts_seed;

static uint64_t facts_roll(void)
{
	facts_seed ^= facts_seed << 13;
	facts_seed ^= facts_seed >> 7;
	facts_seed ^= facts_seed << 17;
	return facts_seed;
}

static int facts_below(int limit)
{
	return (int)(facts_roll() % (uint64_t)limit);
}

/* Text of up to size - 1 bytes: letters, escapes, control characters, characters of two to four bytes. */
static void facts_random_text(char *text, size_t size)
{
	static const char *const pieces[] = {
		"a", "Z", "0", " ", "\"", "\\", "\n", "\x01", "/", "é", "€", "𝄞", "{", ":"
	};
	size_t length = 0, wanted = facts_below(3) ? (size_t)facts_below((int)size) : 0;

	memset(text, 0, size);
	while (length < wanted) {
		const char *piece = pieces[facts_below((int)(sizeof(pieces) / sizeof(pieces[0])))];

		if (length + strlen(piece) >= size)
			return;
		memcpy(text + length, piece, strlen(piece));
		length += strlen(piece);
	}
}

static int64_t facts_random_number(const struct facts_field *field, int netns_count)
{
	uint64_t any = facts_below(2) ? facts_roll() : (uint64_t)facts_below(1000);

	switch (field->kind) {
	case FACTS_FIELD_FLAG:
		return facts_below(3) ? facts_below(2) : field->unknown;
	case FACTS_FIELD_NETNS:
		return field->min + (int64_t)(any % (uint64_t)(netns_count - field->min));
	case FACTS_FIELD_UINT64:
		return (int64_t)any;
	case FACTS_FIELD_UINT32:
		return (uint32_t)any;
	case FACTS_FIELD_UINT16:
		return (uint16_t)any;
	case FACTS_FIELD_INT64:
		return facts_below(4) ? (int64_t)(any >> 1) : field->unknown;
	default:
		return facts_below(4) ? field->min + (int64_t)(any % (uint64_t)(field->max - field->min + 1))
				      : field->unknown;
	}
}

static void facts_store(const struct facts_field *field, int64_t value, void *member)
{
	uint16_t small = (uint16_t)value;
	uint32_t word = (uint32_t)value;

	if (field->kind == FACTS_FIELD_INT64 || field->kind == FACTS_FIELD_UINT64)
		memcpy(member, &value, sizeof(value));
	else if (field->kind == FACTS_FIELD_UINT16)
		memcpy(member, &small, sizeof(small));
	else
		memcpy(member, &word, sizeof(word));
}

static void facts_randomise(const struct facts_field *fields, void *record, int netns_count);

static void facts_random_member(const struct facts_field *field, void *record, int netns_count)
{
	char *member = (char *)record + field->offset, text[64], *string;
	int count;

	switch (field->kind) {
	case FACTS_FIELD_CONSTANT:
		break;
	case FACTS_FIELD_TEXT:
		facts_random_text(member, field->size);
		break;
	case FACTS_FIELD_STRING:
		facts_random_text(text, sizeof(text));
		memcpy(&string, member, sizeof(string));
		if (facts_set_text(&string, text) < 0)
			abort();
		memcpy(member, &string, sizeof(string));
		break;
	case FACTS_FIELD_ADDRESS:
		for (int i = 0; i < 6; i++)
			member[i] = (char)facts_roll();
		break;
	case FACTS_FIELD_OBJECT:
		facts_randomise(field->fields, member, netns_count);
		break;
	case FACTS_FIELD_ARRAY:
		memcpy(&count, (char *)record + field->count_offset, sizeof(count));
		for (int i = facts_below(6); i > 0; i--) {
			void *element = facts_array_add(member, &count, field->size, field->fields);

			if (!element)
				abort();
			facts_randomise(field->fields, element, netns_count);
		}
		memcpy((char *)record + field->count_offset, &count, sizeof(count));
		break;
	default:
		facts_store(field, facts_random_number(field, netns_count), member);
		break;
	}
}

static void facts_randomise(const struct facts_field *fields, void *record, int netns_count)
{
	for (; fields->name; fields++)
		facts_random_member(fields, record, netns_count);
}

/* Everything set at random, what the reader insists on set right. */
static inline struct facts *random_facts(uint64_t from)
{
	struct facts *facts = facts_new();

	facts_seed = from * 0x9e3779b97f4a7c15u + 1;
	if (!facts)
		abort();
	/* Indices need a count before there are namespaces; `netns` comes before the links in the rows and has one from the start. */
	facts_randomise(facts_fields, facts, 1);
	for (int i = 0; i < facts->link_count; i++) {
		struct facts_link *link = &facts->links[i];

		link->ifindex = 1000 * (i + 1);
		link->netns = facts_below(facts->netns_count);
		link->lower_netns = facts_below(facts->netns_count + 1) - 1;
		if (link->lower_ifindex <= 0) {
			link->lower_ifindex = 0;
			link->lower_netns = FACTS_UNKNOWN;
		}
	}
	for (int i = 0; i < facts->file_count; i++) {
		char path[32];

		snprintf(path, sizeof(path), "/proc/%d", i);
		if (facts_set_text(&facts->files[i].path, path) < 0)
			abort();
		facts->files[i].netns = facts_below(facts->netns_count);
	}
	facts_sort(facts);
	return facts;
}

/* The first member that differs, or NULL. */
static inline const char *facts_difference(const struct facts_field *fields, const void *left, const void *right)
{
	for (; fields->name; fields++) {
		const char *a = (const char *)left + fields->offset, *b = (const char *)right + fields->offset;
		const char *found = NULL, *first, *second;
		int count, other;

		switch (fields->kind) {
		case FACTS_FIELD_CONSTANT:
			break;
		case FACTS_FIELD_TEXT:
			found = strcmp(a, b) ? fields->name : NULL;
			break;
		case FACTS_FIELD_STRING:
			memcpy(&first, a, sizeof(first));
			memcpy(&second, b, sizeof(second));
			found = strcmp(first, second) ? (fields->name[0] ? fields->name : "element") : NULL;
			break;
		case FACTS_FIELD_OBJECT:
			found = facts_difference(fields->fields, a, b);
			break;
		case FACTS_FIELD_ARRAY:
			memcpy(&count, (const char *)left + fields->count_offset, sizeof(count));
			memcpy(&other, (const char *)right + fields->count_offset, sizeof(other));
			memcpy(&first, a, sizeof(first));
			memcpy(&second, b, sizeof(second));
			if (count != other)
				return fields->name;
			for (int i = 0; i < count && !found; i++)
				found = facts_difference(fields->fields, first + (size_t)i * fields->size,
							 second + (size_t)i * fields->size);
			break;
		case FACTS_FIELD_ADDRESS:
			found = memcmp(a, b, 6) ? fields->name : NULL;
			break;
		default:
			if (fields->kind == FACTS_FIELD_UINT64)
				found = memcmp(a, b, sizeof(uint64_t)) ? fields->name : NULL;
			else
				found = facts_field_value(fields, left) != facts_field_value(fields, right)
						? fields->name
						: NULL;
			break;
		}
		if (found)
			return found;
	}
	return NULL;
}

#endif
