// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * struct run to JSON text.
 *
 * Owns: building the document from the rows. Leaves to others: the rows (model_json_fields.c), the looks of the text and files
 * (json_document.c).
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
#include "model/utf8.h"

struct writer {
	const struct run *run;
	int failed; /* error text is set */
};

static json_t *write_members(struct writer *writer, const struct field *fields, const struct json_place *place,
			     const void *base, int position);

static json_t *refuse(struct writer *writer, const struct json_place *place, const char *why)
{
	char where[128];

	error_set(EFAULT, "internal error: %s of the run %s, so it cannot be saved",
		  json_place_print(place, where, sizeof(where)), why);
	writer->failed = 1;
	return NULL;
}

static json_t *write_text(const char *member, size_t size)
{
	char clean[2 * RUN_TEXT_BYTES];
	size_t used = 0;

	if (size > sizeof(clean))
		size = sizeof(clean);
	for (size_t at = 0; at + 1 < size && member[at];) {
		uint32_t character;
		int length = utf8_decode(member + at, &character);

		if (length == 0 || at + (size_t)length >= size) {
			clean[used++] = '?';
			at++;
			continue;
		}
		memcpy(clean + used, member + at, (size_t)length);
		used += (size_t)length;
		at += (size_t)length;
	}
	return json_stringn(clean, used);
}

static json_t *write_number(struct writer *writer, const struct field *field, const struct json_place *place,
			    const void *member)
{
	const char *wrong;
	double value;

	memcpy(&value, member, sizeof(value));
	if (!isfinite(value))
		return json_null();
	wrong = field_check_number(field, value);
	return wrong ? refuse(writer, place, wrong) : json_real(value);
}

static json_t *write_integer(struct writer *writer, const struct field *field, const struct json_place *place,
			     const void *member)
{
	const char *wrong;
	uint64_t large;
	int64_t value;
	int small;

	if (field->kind == FIELD_COUNT || field->kind == FIELD_UNSIGNED) {
		memcpy(&large, member, sizeof(large));
		value = (int64_t)large;
		if (field->kind == FIELD_COUNT && value == RUN_UNKNOWN_COUNT)
			return json_null();
	} else {
		memcpy(&small, member, sizeof(small));
		value = small;
		if ((field->flags & FIELD_NULLABLE) && small == field->unknown)
			return json_null();
	}
	wrong = field_check_integer(writer->run, field, value);
	return wrong ? refuse(writer, place, wrong) : json_integer(value);
}

static json_t *write_name(struct writer *writer, const struct field *field, const struct json_place *place,
			  const void *member)
{
	int value;

	memcpy(&value, member, sizeof(value));
	if (field->kind == FIELD_BOOL)
		return json_boolean(value);
	if (value < 0 || value >= field->names->count)
		return refuse(writer, place, "has no name");
	return json_string(field->names->name(value));
}

static json_t *write_array(struct writer *writer, const struct field *field, const struct json_place *place,
			   const void *base)
{
	int count = field_array_count(writer->run, field, base);
	const char *element = field_array_elements(field, base);
	json_t *array;

	if (count < 0 || (field->length == LENGTH_MEMBER && count > field->capacity))
		return refuse(writer, place, "has an impossible length");
	if ((field->flags & FIELD_ALL_HOPS) && count != 0 && count != writer->run->point_count - 1)
		return refuse(writer, place, "has not one element for each hop");
	array = json_array();
	for (int i = 0; array && i < count; i++, element += field->size) {
		struct json_place inner = { place, NULL, i };
		json_t *value;

		if (field->fields[0].name[0] != '\0')
			value = write_members(writer, field->fields, &inner, element, i);
		else if (field->fields[0].kind == FIELD_COUNT || field->fields[0].kind == FIELD_INT)
			value = write_integer(writer, &field->fields[0], &inner, element);
		else
			value = refuse(writer, &inner, "has no known kind");
		if (json_array_append_new(array, value) < 0) {
			json_decref(array);
			array = NULL;
		}
	}
	return array;
}

static json_t *write_value(struct writer *writer, const struct field *field, const struct json_place *place,
			   const void *base, int position)
{
	const char *member = (const char *)base + field->offset;
	int present;

	switch (field->kind) {
	case FIELD_NUMBER:
		return write_number(writer, field, place, member);
	case FIELD_COUNT:
	case FIELD_UNSIGNED:
	case FIELD_INT:
	case FIELD_UINT:
		return write_integer(writer, field, place, member);
	case FIELD_BOOL:
	case FIELD_ENUM:
		return write_name(writer, field, place, member);
	case FIELD_TEXT:
		return write_text(member, field->size);
	case FIELD_POSITION:
		return json_integer(position + field->min);
	case FIELD_CONSTANT:
		return json_string(field->constant);
	case FIELD_OBJECT:
		if (field->flags & FIELD_NULLABLE) {
			memcpy(&present, (const char *)base + field->present_offset, sizeof(present));
			if (!present)
				return json_null();
		}
		return write_members(writer, field->fields, place, member, 0);
	case FIELD_ARRAY:
		return write_array(writer, field, place, base);
	}
	return refuse(writer, place, "has no known kind");
}

static json_t *write_members(struct writer *writer, const struct field *fields, const struct json_place *place,
			     const void *base, int position)
{
	json_t *object = json_object();

	for (; object && fields->name; fields++) {
		struct json_place inner = { place, fields->name, 0 };
		json_t *value = write_value(writer, fields, &inner, base, position);

		if (json_object_set_new(object, fields->name, value) < 0) {
			json_decref(object);
			object = NULL;
		}
	}
	return object;
}

char *run_json_print(const struct run *run)
{
	struct writer writer = { .run = run };
	json_t *document = NULL;
	char *text = NULL;
	size_t length;
	FILE *stream;
	int result;

	if (run->point_count < 2 || run->point_count > RUN_MAX_POINTS) {
		error_set(EFAULT, "internal error: a run over %d points cannot be saved", run->point_count);
		return NULL;
	}
	document = write_members(&writer, run_json_fields, NULL, run, 0);
	if (writer.failed) {
		json_decref(document);
		return NULL;
	}
	stream = document ? open_memstream(&text, &length) : NULL;
	if (stream) {
		result = json_document_print(document, stream);
		if (fclose(stream) == 0 && result == 0) {
			json_decref(document);
			return text;
		}
		free(text);
	}
	json_decref(document);
	error_set(ENOMEM, "not enough memory to turn the run into JSON");
	return NULL;
}
