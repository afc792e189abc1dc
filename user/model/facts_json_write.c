// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Facts to JSON.
 *
 * Owns: building the document from the rows. What is not known is left out, so that a fixture written by hand and one that was
 * saved look alike. Leaves to others: the rows (facts_fields.c), files (facts_json_file.c).
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/facts_fields.h"
#include "model/utf8.h"

static json_t *write_members(const struct facts_field *fields, const void *record);

/* Names and files are bytes to the kernel; what is no text becomes '?'. */
static json_t *write_text(const char *text, size_t length)
{
	char *clean = malloc(length + 1);
	size_t used = 0;
	json_t *value;

	if (!clean)
		return NULL;
	for (size_t at = 0; at < length;) {
		uint32_t character;
		int bytes = utf8_decode(text + at, &character);

		if (bytes == 0 || at + (size_t)bytes > length) {
			clean[used++] = '?';
			at++;
			continue;
		}
		memcpy(clean + used, text + at, (size_t)bytes);
		used += (size_t)bytes;
		at += (size_t)bytes;
	}
	value = json_stringn(clean, used);
	free(clean);
	return value;
}

static json_t *write_number(const struct facts_field *field, const void *record)
{
	uint64_t large;
	char text[24];

	if (field->kind == FACTS_FIELD_UINT64) {
		memcpy(&large, (const char *)record + field->offset, sizeof(large));
		if (large > INT64_MAX) { /* more than a number of JSON holds here */
			snprintf(text, sizeof(text), "%" PRIu64, large);
			return json_string(text);
		}
	}
	if (field->flags & FACTS_FIELD_HEX) {
		snprintf(text, sizeof(text), "0x%" PRIx64, (uint64_t)facts_field_value(field, record));
		return json_string(text);
	}
	return json_integer(facts_field_value(field, record));
}

static json_t *write_address(const uint8_t *address)
{
	char text[18];

	snprintf(text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x", address[0], address[1], address[2], address[3],
		 address[4], address[5]);
	return json_string(text);
}

static json_t *write_array(const struct facts_field *field, const char *elements, int count)
{
	json_t *array = json_array();

	for (int i = 0; array && i < count; i++, elements += field->size) {
		const char *text;
		json_t *value;

		if (field->fields[0].name[0] == '\0') {
			memcpy(&text, elements, sizeof(text));
			value = write_text(text, strlen(text));
		} else {
			value = write_members(field->fields, elements);
		}
		if (json_array_append_new(array, value) < 0) {
			json_decref(array);
			array = NULL;
		}
	}
	return array;
}

/* A netns that differs from the one it is taken for when nothing is said: null when it is not known. */
static json_t *write_lower_netns(const struct facts_link *link, int *left_out)
{
	*left_out = link->lower_ifindex == 0 || link->lower_netns == link->netns;
	if (*left_out)
		return NULL;
	return link->lower_netns < 0 ? json_null() : json_integer(link->lower_netns);
}

/* NULL and *left_out: nothing to say. NULL without it: out of memory. */
static json_t *write_member(const struct facts_field *field, const void *record, int *left_out)
{
	static const uint8_t no_address[6];
	const char *member = (const char *)record + field->offset;
	const char *text = member;
	json_t *value;
	int count;

	*left_out = 0;
	switch (field->kind) {
	case FACTS_FIELD_CONSTANT:
		return json_string(FACTS_SCHEMA);
	case FACTS_FIELD_STRING:
		memcpy(&text, member, sizeof(text));
		*left_out = text[0] == '\0' && !(field->flags & FACTS_FIELD_REQUIRED);
		return *left_out ? NULL : write_text(text, strlen(text));
	case FACTS_FIELD_TEXT:
		*left_out = text[0] == '\0';
		return *left_out ? NULL : write_text(text, strnlen(text, field->size - 1));
	case FACTS_FIELD_ADDRESS:
		*left_out = !memcmp(member, no_address, sizeof(no_address));
		return *left_out ? NULL : write_address((const uint8_t *)member);
	case FACTS_FIELD_OBJECT:
		value = write_members(field->fields, member);
		*left_out = value && json_object_size(value) == 0;
		if (*left_out)
			json_decref(value);
		return *left_out ? NULL : value;
	case FACTS_FIELD_ARRAY:
		memcpy(&count, (const char *)record + field->count_offset, sizeof(count));
		memcpy(&text, member, sizeof(text));
		*left_out = count == 0;
		return *left_out ? NULL : write_array(field, text, count);
	case FACTS_FIELD_FLAG:
		*left_out = facts_field_value(field, record) == field->unknown && !(field->flags & FACTS_FIELD_ALWAYS);
		return *left_out ? NULL : json_boolean(facts_field_value(field, record) > 0);
	default:
		if (field->flags & FACTS_FIELD_SAME_NETNS)
			return write_lower_netns(record, left_out);
		*left_out = facts_field_value(field, record) == field->unknown &&
			    !(field->flags & (FACTS_FIELD_REQUIRED | FACTS_FIELD_ALWAYS));
		return *left_out ? NULL : write_number(field, record);
	}
}

static json_t *write_members(const struct facts_field *fields, const void *record)
{
	json_t *object = json_object();

	for (; object && fields->name; fields++) {
		int left_out;
		json_t *value = write_member(fields, record, &left_out);

		if (!left_out && json_object_set_new(object, fields->name, value) < 0) {
			json_decref(object);
			object = NULL;
		}
	}
	return object;
}

struct json_t *facts_to_json(const struct facts *facts)
{
	return write_members(facts_fields, facts);
}
