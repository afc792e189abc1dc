// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * JSON to facts; the document may come from anybody.
 *
 * Owns: strictness: what is there has the right type, is in range and points at what exists. What is missing, or null, is unknown.
 * Names it does not know are passed over, so that older versions read newer files of the same schema; facts_json_stray() finds
 * them in fixtures, where they are typing errors. Leaves to others: the rows (facts_fields.c), files (facts_json_file.c).
 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/facts_fields.h"
#include "model/facts_json.h"
#include "model/model_json_fields.h"

struct reader {
	struct facts *facts;
};

static int read_members(const struct reader *reader, const struct facts_field *fields, const struct json_place *place,
			const json_t *object, void *record);

static int refuse(const struct json_place *place, const char *why)
{
	char where[128];

	return error_set(EINVAL, "facts: %s %s", json_place_print(place, where, sizeof(where)), why);
}

static int refuse_type(const struct json_place *place, const json_t *value, const char *expected)
{
	static const char *const found[] = {
		[JSON_OBJECT] = "an object",   [JSON_ARRAY] = "an array",  [JSON_STRING] = "a text",
		[JSON_INTEGER] = "an integer", [JSON_REAL] = "a fraction", [JSON_TRUE] = "true",
		[JSON_FALSE] = "false",	       [JSON_NULL] = "null",
	};
	char why[96];

	snprintf(why, sizeof(why), "is %s instead of %s", found[json_typeof(value)], expected);
	return refuse(place, why);
}

/* "0x1002" or "4098". 0 or -1. */
static int parse_unsigned(const char *text, uint64_t *number)
{
	int base = !strncmp(text, "0x", 2) ? 16 : 10;
	const char *digits = base == 16 ? text + 2 : text;
	char *end;

	errno = 0;
	*number = strtoull(digits, &end, base);
	return errno || end == digits || *end ||
			       strspn(digits, base == 16 ? "0123456789abcdefABCDEF" : "0123456789") !=
				       (size_t)(end - digits)
		       ? -1
		       : 0;
}

static int read_number(const struct facts_field *field, const struct json_place *place, const json_t *value,
		       uint64_t *number)
{
	int64_t low = 0, high = field->max;

	if (json_is_string(value) && (field->kind == FACTS_FIELD_UINT64 || (field->flags & FACTS_FIELD_HEX))) {
		if (parse_unsigned(json_string_value(value), number) < 0)
			return refuse(place, "is no whole number");
		if (field->kind == FACTS_FIELD_UINT64)
			return 0;
		if (*number > INT64_MAX)
			return refuse(place, "is too large");
	} else if (json_is_integer(value)) {
		*number = (uint64_t)json_integer_value(value);
	} else {
		return refuse_type(place, value, "an integer");
	}
	if (field->kind == FACTS_FIELD_INT || field->kind == FACTS_FIELD_INT64)
		low = field->min;
	else
		high = field->kind == FACTS_FIELD_UINT16   ? UINT16_MAX
		       : field->kind == FACTS_FIELD_UINT32 ? UINT32_MAX
							   : INT64_MAX;
	if ((int64_t)*number < low)
		return refuse(place, (int64_t)*number < 0 ? "is negative" : "is too small");
	if ((int64_t)*number > high)
		return refuse(place, "is too large");
	return 0;
}

static void store_number(const struct facts_field *field, uint64_t number, void *member)
{
	uint16_t small = (uint16_t)number;
	uint32_t word = (uint32_t)number;

	if (field->kind == FACTS_FIELD_INT64 || field->kind == FACTS_FIELD_UINT64)
		memcpy(member, &number, sizeof(number));
	else if (field->kind == FACTS_FIELD_UINT16)
		memcpy(member, &small, sizeof(small));
	else
		memcpy(member, &word, sizeof(word));
}

static int read_flag(const struct json_place *place, const json_t *value, void *member)
{
	int truth = json_is_true(value);

	if (json_is_integer(value) && (json_integer_value(value) == 0 || json_integer_value(value) == 1))
		truth = (int)json_integer_value(value);
	else if (!json_is_boolean(value))
		return refuse_type(place, value, "true or false");
	memcpy(member, &truth, sizeof(truth));
	return 0;
}

static int read_netns(const struct reader *reader, const struct facts_field *field, const struct json_place *place,
		      const json_t *value, void *member)
{
	int index;

	if (!json_is_integer(value))
		return refuse_type(place, value, "an integer");
	if (json_integer_value(value) < field->min || json_integer_value(value) >= reader->facts->netns_count)
		return refuse(place, "is not the number of a namespace in netns");
	index = (int)json_integer_value(value);
	memcpy(member, &index, sizeof(index));
	return 0;
}

static int read_text(const struct facts_field *field, const struct json_place *place, const json_t *value, void *member)
{
	const char *text = json_string_value(value);
	char why[64], *copy;

	if (!json_is_string(value))
		return refuse_type(place, value, "a text");
	if (strlen(text) != json_string_length(value))
		return refuse(place, "has a NUL in it");
	if (json_string_length(value) >= field->size) {
		snprintf(why, sizeof(why), "is longer than %zu bytes", field->size - 1);
		return refuse(place, why);
	}
	if (field->kind == FACTS_FIELD_TEXT) {
		memset(member, 0, field->size);
		memcpy(member, text, json_string_length(value));
		return 0;
	}
	memcpy(&copy, member, sizeof(copy));
	if (facts_set_text(&copy, text) < 0)
		return error_set(ENOMEM, "facts: out of memory");
	memcpy(member, &copy, sizeof(copy));
	return 0;
}

static int read_address(const struct json_place *place, const json_t *value, uint8_t *address)
{
	const char *text = json_string_value(value);

	if (!json_is_string(value))
		return refuse_type(place, value, "a text");
	for (int i = 0; i < 6; i++, text += 3) {
		uint64_t byte;
		char digits[5] = { '0', 'x', text[0], text[0] ? text[1] : '\0', '\0' };

		if (!digits[3] || parse_unsigned(digits, &byte) < 0 || text[2] != (i < 5 ? ':' : '\0'))
			return refuse(place, "is no MAC address like 52:54:00:12:34:56");
		address[i] = (uint8_t)byte;
	}
	return 0;
}

/* Elements that are there already are filled first: facts have a namespace from the start. */
static int read_array(const struct reader *reader, const struct facts_field *field, const struct json_place *place,
		      const json_t *array, void *record)
{
	char *member = (char *)record + field->offset, *elements, why[64];
	int total = (int)json_array_size(array), count, result = 0;

	if (!json_is_array(array))
		return refuse_type(place, array, "an array");
	if (json_array_size(array) > (size_t)field->max_count) {
		snprintf(why, sizeof(why), "has %zu elements, %d at most are allowed", json_array_size(array),
			 field->max_count);
		return refuse(place, why);
	}
	for (int i = 0; i < total && result == 0; i++) {
		struct json_place inner = { place, NULL, i };
		const json_t *value = json_array_get(array, (size_t)i);

		memcpy(&count, (char *)record + field->count_offset, sizeof(count));
		if (i >= count && !facts_array_add(member, &count, field->size, field->fields))
			return error_set(ENOMEM, "facts: out of memory");
		memcpy((char *)record + field->count_offset, &count, sizeof(count));
		memcpy(&elements, member, sizeof(elements));
		elements += (size_t)i * field->size;
		result = field->fields[0].name[0] == '\0'
				 ? read_text(&field->fields[0], &inner, value, elements + field->fields[0].offset)
				 : read_members(reader, field->fields, &inner, value, elements);
	}
	return result;
}

static int read_value(const struct reader *reader, const struct facts_field *field, const struct json_place *place,
		      const json_t *value, void *record)
{
	void *member = (char *)record + field->offset;
	uint64_t number;
	int result;

	switch (field->kind) {
	case FACTS_FIELD_CONSTANT:
		if (json_is_string(value) && !strcmp(json_string_value(value), FACTS_SCHEMA))
			return 0;
		return refuse(place, "is not \"" FACTS_SCHEMA "\": no facts of hopcap, or of another version");
	case FACTS_FIELD_FLAG:
		return read_flag(place, value, member);
	case FACTS_FIELD_NETNS:
		return read_netns(reader, field, place, value, member);
	case FACTS_FIELD_TEXT:
	case FACTS_FIELD_STRING:
		return read_text(field, place, value, member);
	case FACTS_FIELD_ADDRESS:
		return read_address(place, value, member);
	case FACTS_FIELD_OBJECT:
		return read_members(reader, field->fields, place, value, member);
	case FACTS_FIELD_ARRAY:
		return read_array(reader, field, place, value, record);
	default:
		result = read_number(field, place, value, &number);
		if (result == 0)
			store_number(field, number, member);
		return result;
	}
}

/* The lower device of a link whose namespace is not named lives in the link's own; without a lower device there is none. */
static void settle_lower_netns(struct facts_link *link, int is_named)
{
	if (link->lower_ifindex == 0)
		link->lower_netns = FACTS_UNKNOWN;
	else if (!is_named)
		link->lower_netns = link->netns;
}

static int read_members(const struct reader *reader, const struct facts_field *fields, const struct json_place *place,
			const json_t *object, void *record)
{
	const int fields_are_of_link = fields == facts_link_fields;

	if (!json_is_object(object))
		return refuse_type(place, object, "an object");
	for (; fields->name; fields++) {
		struct json_place inner = { place, fields->name, 0 };
		const json_t *value = json_object_get(object, fields->name);
		int result;

		if (fields->flags & FACTS_FIELD_REQUIRED) {
			if (!value)
				return refuse(&inner, "is missing");
		} else if (!value || json_is_null(value)) {
			continue; /* facts_record_init() has made it unknown */
		}
		result = read_value(reader, fields, &inner, value, record);
		if (result < 0)
			return result;
	}
	if (fields_are_of_link)
		settle_lower_netns(record, json_object_get(object, "lower_netns") != NULL);
	return 0;
}

/* After sorting: what would make two answers of a look-up. */
static int check_unique(const struct facts *facts)
{
	for (int i = 1; i < facts->link_count; i++) {
		const struct facts_link *link = &facts->links[i];

		if (link->netns == link[-1].netns && link->ifindex == link[-1].ifindex)
			return error_set(EINVAL, "facts: links has two with ifindex %d in namespace %d", link->ifindex,
					 link->netns);
	}
	for (int i = 1; i < facts->file_count; i++) {
		const struct facts_file *file = &facts->files[i];

		if (file->netns == file[-1].netns && !strcmp(file->path, file[-1].path))
			return error_set(EINVAL, "facts: files[%d] and another have the same path", i);
	}
	return 0;
}

int facts_from_json(const struct json_t *json, struct facts **facts)
{
	struct reader reader = { .facts = facts_new() };
	int result;

	*facts = NULL;
	if (!reader.facts)
		return error_set(ENOMEM, "facts: out of memory");
	if (!json_is_object(json))
		result = error_set(EINVAL, "facts: the document is no object");
	else
		result = read_members(&reader, facts_fields, NULL, json, reader.facts);
	if (result == 0) {
		facts_sort(reader.facts);
		result = check_unique(reader.facts);
	}
	if (result < 0) {
		facts_free(reader.facts);
		return result;
	}
	*facts = reader.facts;
	return 0;
}

static const struct facts_field *row_of(const struct facts_field *fields, const char *name)
{
	for (; fields->name; fields++)
		if (!strcmp(fields->name, name))
			return fields;
	return NULL;
}

static int find_stray(const struct facts_field *fields, const struct json_place *place, json_t *object, char *where,
		      size_t size)
{
	for (void *member = json_object_iter(object); member; member = json_object_iter_next(object, member)) {
		struct json_place inner = { place, json_object_iter_key(member), 0 };
		const struct facts_field *row = row_of(fields, inner.name);
		json_t *value = json_object_iter_value(member);

		if (!row) {
			json_place_print(&inner, where, size);
			return 1;
		}
		if (row->kind == FACTS_FIELD_OBJECT && find_stray(row->fields, &inner, value, where, size))
			return 1;
		for (size_t i = 0; row->kind == FACTS_FIELD_ARRAY && i < json_array_size(value); i++) {
			struct json_place element = { &inner, NULL, (int)i };

			if (find_stray(row->fields, &element, json_array_get(value, i), where, size))
				return 1;
		}
	}
	return 0;
}

int facts_json_stray(struct json_t *json, char *where, size_t size)
{
	return find_stray(facts_fields, NULL, json, where, size);
}
