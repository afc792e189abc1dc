// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * JSON text to struct run; the text may come from anybody.
 *
 * Owns: strictness: every name that stays is there, of the right type, in range, arrays fit. Leaves to others: the rows
 * (model_json_fields.c), files (model_json.c). Names it does not know are passed over, so that older versions read
 * newer files of the same schema.
 */
#include "model/model_json.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/json_document.h"
#include "model/model_json_fields.h"

/* A run of RUN_JSON_MAX_TRIALS trials over RUN_MAX_POINTS points stays well below this many values. */
#define MAX_VALUES (2u << 20)

struct reader {
	struct run *run;
	const char *file;
};

static int read_members(struct reader *reader, const struct field *fields, const struct json_place *place,
			const json_t *object, void *base, int position);

static int refuse(const struct reader *reader, const struct json_place *place, const char *why)
{
	char where[128];

	return error_set(EINVAL, "%s: %s %s", reader->file, json_place_print(place, where, sizeof(where)), why);
}

static int refuse_type(const struct reader *reader, const struct json_place *place, const json_t *value,
		       const char *expected)
{
	static const char *const found[] = {
		[JSON_OBJECT] = "an object",   [JSON_ARRAY] = "an array",  [JSON_STRING] = "a text",
		[JSON_INTEGER] = "an integer", [JSON_REAL] = "a fraction", [JSON_TRUE] = "true",
		[JSON_FALSE] = "false",	       [JSON_NULL] = "null",
	};
	char where[128];

	return error_set(EINVAL, "%s: %s is %s instead of %s", reader->file,
			 json_place_print(place, where, sizeof(where)), found[json_typeof(value)], expected);
}

static int read_number(const struct reader *reader, const struct field *field, const struct json_place *place,
		       const json_t *value, void *member)
{
	double number = RUN_UNKNOWN;
	const char *wrong;

	if (!json_is_null(value)) {
		if (!json_is_number(value))
			return refuse_type(reader, place, value, "a number");
		number = json_number_value(value);
		wrong = field_check_number(field, number);
		if (wrong)
			return refuse(reader, place, wrong);
	}
	memcpy(member, &number, sizeof(number));
	return 0;
}

static void store_integer(const struct field *field, int64_t value, void *member)
{
	int small = (int)value;

	if (field->kind == FIELD_COUNT || field->kind == FIELD_UNSIGNED)
		memcpy(member, &value, sizeof(value));
	else
		memcpy(member, &small, sizeof(small));
}

static int read_integer(const struct reader *reader, const struct field *field, const struct json_place *place,
			const json_t *value, void *member)
{
	int nullable = field->kind == FIELD_COUNT || (field->flags & FIELD_NULLABLE);
	const char *wrong;

	if (nullable && json_is_null(value)) {
		store_integer(field, field->kind == FIELD_COUNT ? RUN_UNKNOWN_COUNT : field->unknown, member);
		return 0;
	}
	if (!json_is_integer(value))
		return refuse_type(reader, place, value, nullable ? "an integer or null" : "an integer");
	wrong = field_check_integer(reader->run, field, json_integer_value(value));
	if (wrong)
		return refuse(reader, place, wrong);
	store_integer(field, json_integer_value(value), member);
	return 0;
}

static int read_bool(const struct reader *reader, const struct json_place *place, const json_t *value, void *member)
{
	int truth = json_is_true(value);

	if (!json_is_boolean(value))
		return refuse_type(reader, place, value, "true or false");
	memcpy(member, &truth, sizeof(truth));
	return 0;
}

static int read_enum(const struct reader *reader, const struct field *field, const struct json_place *place,
		     const json_t *value, void *member)
{
	char why[128];

	if (!json_is_string(value))
		return refuse_type(reader, place, value, "a text");
	for (int i = 0; i < field->names->count; i++) {
		if (strcmp(json_string_value(value), field->names->name(i)) != 0)
			continue;
		memcpy(member, &i, sizeof(i));
		return 0;
	}
	snprintf(why, sizeof(why), "is none of %s ... %s", field->names->name(0),
		 field->names->name(field->names->count - 1));
	return refuse(reader, place, why);
}

static int read_text(const struct reader *reader, const struct field *field, const struct json_place *place,
		     const json_t *value, void *member)
{
	size_t length = json_string_length(value);
	char why[64];

	if (!json_is_string(value))
		return refuse_type(reader, place, value, "a text");
	if (length >= field->size) {
		snprintf(why, sizeof(why), "is longer than %zu bytes", field->size - 1);
		return refuse(reader, place, why);
	}
	memcpy(member, json_string_value(value), length);
	memset((char *)member + length, 0, field->size - length);
	return 0;
}

static int read_constant(const struct reader *reader, const struct field *field, const struct json_place *place,
			 const json_t *value)
{
	char why[96];

	if (json_is_string(value) && strcmp(json_string_value(value), field->constant) == 0)
		return 0;
	snprintf(why, sizeof(why), "is not \"%s\": no run of hopcap, or of another version", field->constant);
	return refuse(reader, place, why);
}

static int check_length(const struct reader *reader, const struct field *field, const struct json_place *place,
			const json_t *array, const void *base)
{
	size_t size = json_array_size(array);
	size_t hops = reader->run->point_count > 0 ? (size_t)reader->run->point_count - 1 : 0;
	char why[96];

	if (field->length != LENGTH_MEMBER) {
		int expected = field_array_count(reader->run, field, base);

		if (size == (size_t)expected)
			return 0;
		snprintf(why, sizeof(why), "has %zu elements where the path has %d", size, expected);
		return refuse(reader, place, why);
	}
	if (size > (size_t)field->capacity) {
		snprintf(why, sizeof(why), "has %zu elements, %d at most are allowed", size, field->capacity);
		return refuse(reader, place, why);
	}
	if ((field->flags & FIELD_ALL_HOPS) && size != 0 && size != hops)
		return refuse(reader, place, "has not one element for each hop");
	return 0;
}

static int read_array(struct reader *reader, const struct field *field, const struct json_place *place,
		      const json_t *array, void *base)
{
	char *element = field->grow ? NULL : field_array_elements(field, base);
	int count = (int)json_array_size(array);
	int result;

	if (!json_is_array(array))
		return refuse_type(reader, place, array, "an array");
	result = check_length(reader, field, place, array, base);
	for (int i = 0; i < count && result == 0; i++) {
		struct json_place inner = { place, NULL, i };
		const json_t *value = json_array_get(array, (size_t)i);

		if (field->grow) {
			element = field->grow(reader->run);
			if (!element)
				return error_set(ENOMEM, "%s: not enough memory for its trials", reader->file);
		}
		if (field->fields[0].name[0] != '\0')
			result = read_members(reader, field->fields, &inner, value, element, i);
		else
			result = read_integer(reader, &field->fields[0], &inner, value, element);
		element += field->size;
	}
	if (result == 0 && field->length == LENGTH_MEMBER && !field->grow)
		memcpy((char *)base + field->count_offset, &count, sizeof(count));
	return result;
}

static int read_object(struct reader *reader, const struct field *field, const struct json_place *place,
		       const json_t *value, void *base)
{
	int present = !json_is_null(value);

	if (field->flags & FIELD_NULLABLE) {
		memcpy((char *)base + field->present_offset, &present, sizeof(present));
		if (!present)
			return 0;
	}
	return read_members(reader, field->fields, place, value, (char *)base + field->offset, 0);
}

static int read_value(struct reader *reader, const struct field *field, const struct json_place *place,
		      const json_t *value, void *base, int position)
{
	char *member = (char *)base + field->offset;

	switch (field->kind) {
	case FIELD_NUMBER:
		return read_number(reader, field, place, value, member);
	case FIELD_COUNT:
	case FIELD_UNSIGNED:
	case FIELD_INT:
	case FIELD_UINT:
		return read_integer(reader, field, place, value, member);
	case FIELD_BOOL:
		return read_bool(reader, place, value, member);
	case FIELD_ENUM:
		return read_enum(reader, field, place, value, member);
	case FIELD_TEXT:
		return read_text(reader, field, place, value, member);
	case FIELD_POSITION:
		if (json_is_integer(value) && json_integer_value(value) == position + field->min)
			return 0;
		return refuse(reader, place, "is not in order");
	case FIELD_CONSTANT:
		return read_constant(reader, field, place, value);
	case FIELD_OBJECT:
		return read_object(reader, field, place, value, base);
	case FIELD_ARRAY:
		return read_array(reader, field, place, value, base);
	}
	return refuse(reader, place, "has no known kind");
}

/* A member that may be absent, and is: not known. Objects and arrays stay as run_new() made them. */
static void set_unknown(const struct field *field, void *base)
{
	char *member = (char *)base + field->offset;
	const double unknown = RUN_UNKNOWN;

	switch (field->kind) {
	case FIELD_NUMBER:
		memcpy(member, &unknown, sizeof(unknown));
		break;
	case FIELD_COUNT:
		store_integer(field, RUN_UNKNOWN_COUNT, member);
		break;
	case FIELD_INT:
	case FIELD_UINT:
	case FIELD_BOOL:
		store_integer(field, (field->flags & FIELD_NULLABLE) ? field->unknown : 0, member);
		break;
	case FIELD_TEXT:
		memset(member, 0, field->size);
		break;
	default:
		break;
	}
}

static int read_members(struct reader *reader, const struct field *fields, const struct json_place *place,
			const json_t *object, void *base, int position)
{
	if (!json_is_object(object))
		return refuse_type(reader, place, object, "an object");
	for (; fields->name; fields++) {
		struct json_place inner = { place, fields->name, 0 };
		const json_t *value = json_object_get(object, fields->name);
		int result;

		if (!value) {
			if (!(fields->flags & FIELD_OPTIONAL))
				return refuse(reader, &inner, "is missing");
			set_unknown(fields, base);
			continue;
		}
		result = read_value(reader, fields, &inner, value, base, position);
		if (result < 0)
			return result;
	}
	return 0;
}

struct run *run_json_parse(const char *text, size_t length, const char *name)
{
	struct reader reader = { .file = name };
	json_t *document;
	int result = json_document_parse(text, length, name, MAX_VALUES, &document);

	if (result < 0)
		goto failed;
	reader.run = run_new();
	if (!reader.run)
		result = error_set(ENOMEM, "%s: not enough memory for a run", name);
	else if (!json_is_object(document))
		result = error_set(EINVAL, "%s is JSON, but not an object: no run of hopcap", name);
	else
		result = read_members(&reader, run_json_fields, NULL, document, reader.run, 0);
	if (result == 0 && reader.run->point_count < 2)
		result = error_set(EINVAL, "%s: path.points has %d elements, a path has at least 2", name,
				   reader.run->point_count);
	json_decref(document);
	if (result == 0)
		return reader.run;
failed:
	run_free(reader.run);
	errno = -result;
	return NULL;
}
