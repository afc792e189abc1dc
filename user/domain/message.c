// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lines of the protocol; see message.h. Called by remote.c and agent.c.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/error.h"
#include "domain/message.h"

#define MOST_ERRNO 4095

struct message {
	json_t *object;
	uint32_t id;
};

/* --- printing --- */

static json_t *print_rows(const struct verb_row *rows, const void *base, json_t *object);

static int64_t integer_at(const struct verb_row *row, const char *member)
{
	uint64_t large;
	uint16_t u16;
	int value;

	switch (row->kind) {
	case ROW_U8:
		return *(const uint8_t *)member;
	case ROW_U16:
		memcpy(&u16, member, sizeof(u16));
		return u16;
	case ROW_UINT:
		memcpy(&value, member, sizeof(value));
		return (unsigned int)value;
	case ROW_U64:
	case ROW_S64:
		memcpy(&large, member, sizeof(large));
		return (int64_t)large;
	default:
		memcpy(&value, member, sizeof(value));
		return value;
	}
}

static json_t *print_hex(const unsigned char *bytes, size_t size)
{
	char text[64] = "";

	for (size_t i = 0; i < size && i < sizeof(text) / 2; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	return json_string(text);
}

static json_t *print_text(const char *text, size_t size)
{
	json_t *value = json_stringn(text, strnlen(text, size));

	return value ? value : json_string("?"); /* no UTF-8 */
}

static json_t *print_words(const char *member, size_t size)
{
	const size_t count = size / sizeof(uint64_t);
	json_t *array = json_array();
	size_t used = 0;
	uint64_t word;

	for (size_t i = 0; i < count; i++) {
		memcpy(&word, member + i * sizeof(word), sizeof(word));
		if (word)
			used = i + 1;
	}
	for (size_t i = 0; i < used; i++) {
		memcpy(&word, member + i * sizeof(word), sizeof(word));
		json_array_append_new(array, json_integer((json_int_t)(word & INT64_MAX)));
	}
	return array;
}

static json_t *print_buckets(const struct histogram *histogram)
{
	json_t *array = json_array();

	for (unsigned int i = 0; i < HOPCAP_HISTOGRAM_BUCKETS; i++) {
		if (!histogram->buckets[i])
			continue;
		json_array_append_new(array, json_integer(i));
		json_array_append_new(array, json_integer((json_int_t)(histogram->buckets[i] & INT64_MAX)));
	}
	return array;
}

static json_t *print_elements(const struct verb_row *row, const char *base)
{
	json_t *array = json_array();
	int count;

	memcpy(&count, base + row->count_offset, sizeof(count));
	for (int i = 0; i < count && i < row->capacity; i++)
		json_array_append_new(array,
				      print_rows(row->rows, base + row->offset + (size_t)i * row->size, json_object()));
	return array;
}

static json_t *print_value(const struct verb_row *row, const char *base)
{
	const char *member = base + row->offset;
	double number;

	switch (row->kind) {
	case ROW_NUMBER:
		memcpy(&number, member, sizeof(number));
		return isfinite(number) ? json_real(number) : json_null();
	case ROW_TEXT:
		return print_text(member, row->size);
	case ROW_HEX:
		return print_hex((const unsigned char *)member, row->size);
	case ROW_WORDS:
		return print_words(member, row->size);
	case ROW_BUCKETS:
		return print_buckets((const struct histogram *)member);
	case ROW_ARRAY:
		return print_elements(row, base);
	default:
		return json_integer(integer_at(row, member));
	}
}

static json_t *print_rows(const struct verb_row *rows, const void *base, json_t *object)
{
	for (; rows->name; rows++)
		json_object_set_new(object, rows->name, print_value(rows, base));
	return object;
}

/* Takes the object. */
static char *print_line(json_t *object, size_t *length)
{
	size_t size = object ? json_dumpb(object, NULL, 0, JSON_COMPACT) : 0;
	char *line = size && size <= MESSAGE_MAX_BYTES ? malloc(size + 1) : NULL;

	if (line) {
		json_dumpb(object, line, size, JSON_COMPACT);
		line[size] = '\n';
		*length = size + 1;
	} else if (size > MESSAGE_MAX_BYTES) {
		error_set(EMSGSIZE, "a message of %zu bytes is too long for the protocol", size);
	} else {
		error_set(ENOMEM, "out of memory for a message");
	}
	json_decref(object);
	return line;
}

char *message_print_request(uint32_t id, enum verb verb, const void *request, size_t *length)
{
	json_t *object = json_object();

	json_object_set_new(object, "id", json_integer(id));
	json_object_set_new(object, "verb", json_string(verb_forms[verb].name));
	return print_line(print_rows(verb_forms[verb].request, request, object), length);
}

char *message_print_reply(uint32_t id, enum verb verb, const void *reply, size_t *length)
{
	json_t *object = json_object();

	json_object_set_new(object, "id", json_integer(id));
	return print_line(print_rows(verb_forms[verb].reply, reply, object), length);
}

char *message_print_failure(uint32_t id, int code, const char *text, size_t *length)
{
	json_t *object = json_object();

	json_object_set_new(object, "id", json_integer(id));
	json_object_set_new(object, "error", json_integer(code > 0 && code <= MOST_ERRNO ? code : EIO));
	json_object_set_new(object, "text", print_text(text, RUN_TEXT_BYTES - 1));
	return print_line(object, length);
}

/* --- reading --- */

/* Bounds depth and number of values before a parser recurses and allocates. Whether it is JSON is for the parser to say. */
static int check_bounds(const char *line, size_t length)
{
	int depth = 0, values = 1, in_text = 0;

	if (length > MESSAGE_MAX_BYTES)
		return error_set(EBADMSG, "a line of over %d bytes", MESSAGE_MAX_BYTES);
	for (size_t i = 0; i < length; i++) {
		char letter = line[i];

		if (in_text) {
			if (letter == '\\')
				i++;
			else if (letter == '"')
				in_text = 0;
			continue;
		}
		in_text = letter == '"';
		depth += (letter == '{' || letter == '[') - (letter == '}' || letter == ']');
		values += letter == ',';
		if (depth > MESSAGE_MAX_DEPTH)
			return error_set(EBADMSG, "a message is nested deeper than %d", MESSAGE_MAX_DEPTH);
		if (values > MESSAGE_MAX_VALUES)
			return error_set(EBADMSG, "a message of over %d values", MESSAGE_MAX_VALUES);
	}
	return 0;
}

/* What is quoted of a line that is no message. */
static const char *quote(const char *line, size_t length, char buffer[64])
{
	size_t used = length < 60 ? length : 60;

	for (size_t i = 0; i < used; i++)
		buffer[i] = line[i] >= ' ' && line[i] < 127 ? line[i] : '?';
	buffer[used] = 0;
	return buffer;
}

struct message *message_read(const char *line, size_t length)
{
	struct message *message;
	json_error_t error;
	char quoted[64];
	json_t *object, *id;

	if (check_bounds(line, length))
		return NULL;
	object = json_loadb(line, length, JSON_REJECT_DUPLICATES, &error);
	id = json_object_get(object, "id");
	if (!json_is_object(object) || !json_is_integer(id) || json_integer_value(id) < 0 ||
	    json_integer_value(id) > UINT32_MAX) {
		error_set(EBADMSG, "'%s' is no message", quote(line, length, quoted));
		json_decref(object);
		return NULL;
	}
	message = calloc(1, sizeof(*message));
	if (!message) {
		error_set(ENOMEM, "out of memory for a message");
		json_decref(object);
		return NULL;
	}
	message->object = object;
	message->id = (uint32_t)json_integer_value(id);
	return message;
}

void message_free(struct message *message)
{
	if (!message)
		return;
	json_decref(message->object);
	free(message);
}

uint32_t message_id(const struct message *message)
{
	return message->id;
}

int message_verb(const struct message *message)
{
	const char *name = json_string_value(json_object_get(message->object, "verb"));
	int verb = name ? verb_find(name) : -1;
	char quoted[64];

	if (!name)
		error_set(EOPNOTSUPP, "a request without a verb");
	else if (verb < 0)
		error_set(EOPNOTSUPP, "unknown verb '%s': host and agent are of different versions",
			  quote(name, strlen(name), quoted));
	return verb;
}

static int take_rows(const struct verb_row *rows, json_t *object, size_t envelope, void *base);

static int refuse(const struct verb_row *row, const char *why)
{
	return error_set(EBADMSG, "member \"%s\" of a message %s", row->name, why);
}

static int take_integer(const struct verb_row *row, json_t *value, char *member)
{
	json_int_t integer = json_integer_value(value);
	int small = (int)integer;

	if (!json_is_integer(value))
		return refuse(row, "is no whole number");
	if (integer < row->min || integer > row->max)
		return refuse(row, "is out of range");
	if (row->kind == ROW_U8)
		*(uint8_t *)member = (uint8_t)integer;
	else if (row->kind == ROW_U16)
		memcpy(member, &(uint16_t){ (uint16_t)integer }, 2);
	else if (row->kind == ROW_U64 || row->kind == ROW_S64)
		memcpy(member, &(int64_t){ integer }, 8);
	else
		memcpy(member, &small, sizeof(small));
	return 0;
}

static int take_number(const struct verb_row *row, json_t *value, char *member)
{
	double number = json_is_null(value) ? RUN_UNKNOWN : json_number_value(value);

	if (!json_is_number(value) && !json_is_null(value))
		return refuse(row, "is no number");
	memcpy(member, &number, sizeof(number));
	return 0;
}

/* What comes is shown on terminals and used in names: no control characters. */
static int take_text(const struct verb_row *row, json_t *value, char *member)
{
	size_t length = json_string_length(value);

	if (!json_is_string(value))
		return refuse(row, "is no text");
	if (length >= row->size)
		return refuse(row, "is too long");
	memset(member, 0, row->size);
	memcpy(member, json_string_value(value), length);
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)member[i] < ' ' || member[i] == 127)
			member[i] = '?';
	return 0;
}

static int hex_digit(char digit)
{
	const char *digits = "0123456789abcdef", *at = digit ? strchr(digits, digit) : NULL;

	return at ? (int)(at - digits) : -1;
}

static int take_hex(const struct verb_row *row, json_t *value, char *member)
{
	const char *text = json_string_value(value);

	if (!text || json_string_length(value) != 2 * row->size)
		return refuse(row, "has not the right length");
	for (size_t i = 0; i < row->size; i++) {
		int high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);

		if (high < 0 || low < 0)
			return refuse(row, "is not hexadecimal");
		member[i] = (char)(high * 16 + low);
	}
	return 0;
}

static int is_count(json_t *value)
{
	return json_is_integer(value) && json_integer_value(value) >= 0;
}

static int take_words(const struct verb_row *row, json_t *value, char *member)
{
	size_t count = json_array_size(value);

	if (!json_is_array(value))
		return refuse(row, "is no array");
	if (count > row->size / sizeof(uint64_t))
		return refuse(row, "has too many elements");
	memset(member, 0, row->size);
	for (size_t i = 0; i < count; i++) {
		json_t *element = json_array_get(value, i);

		if (!is_count(element))
			return refuse(row, "holds what is no count");
		memcpy(member + i * sizeof(uint64_t), &(uint64_t){ (uint64_t)json_integer_value(element) },
		       sizeof(uint64_t));
	}
	return 0;
}

static int take_buckets(const struct verb_row *row, json_t *value, char *member)
{
	struct histogram *histogram = (struct histogram *)member;
	size_t count = json_array_size(value);

	if (!json_is_array(value))
		return refuse(row, "is no array");
	if (count % 2 || count > 2 * HOPCAP_HISTOGRAM_BUCKETS)
		return refuse(row, "has not the right number of elements");
	memset(histogram, 0, sizeof(*histogram));
	for (size_t i = 0; i < count; i += 2) {
		json_t *bucket = json_array_get(value, i), *frames = json_array_get(value, i + 1);

		if (!is_count(bucket) || json_integer_value(bucket) >= HOPCAP_HISTOGRAM_BUCKETS || !is_count(frames))
			return refuse(row, "holds what is no bucket");
		histogram->buckets[json_integer_value(bucket)] = (uint64_t)json_integer_value(frames);
	}
	return 0;
}

static int take_elements(const struct verb_row *row, json_t *value, char *base)
{
	size_t count = json_array_size(value);
	int code = 0;

	if (!json_is_array(value))
		return refuse(row, "is no array");
	if (count > (size_t)row->capacity)
		return refuse(row, "has too many elements");
	for (size_t i = 0; !code && i < count; i++)
		code = take_rows(row->rows, json_array_get(value, i), 0, base + row->offset + i * row->size);
	memcpy(base + row->count_offset, &(int){ (int)count }, sizeof(int));
	return code;
}

static int take_value(const struct verb_row *row, json_t *value, char *base)
{
	char *member = base + row->offset;

	switch (row->kind) {
	case ROW_NUMBER:
		return take_number(row, value, member);
	case ROW_TEXT:
		return take_text(row, value, member);
	case ROW_HEX:
		return take_hex(row, value, member);
	case ROW_WORDS:
		return take_words(row, value, member);
	case ROW_BUCKETS:
		return take_buckets(row, value, member);
	case ROW_ARRAY:
		return take_elements(row, value, base);
	default:
		return take_integer(row, value, member);
	}
}

/* envelope: members that are not of the rows. */
static int take_rows(const struct verb_row *rows, json_t *object, size_t envelope, void *base)
{
	size_t count = 0;

	if (!json_is_object(object))
		return error_set(EBADMSG, "an element of a message is no object");
	for (; rows->name; rows++, count++) {
		json_t *value = json_object_get(object, rows->name);
		int code = value ? take_value(rows, value, base) : refuse(rows, "is missing");

		if (code)
			return code;
	}
	if (json_object_size(object) != count + envelope)
		return error_set(EBADMSG,
				 "a message with members that are unknown: host and agent are of different versions");
	return 0;
}

int message_take_request(const struct message *message, enum verb verb, void *request)
{
	return take_rows(verb_forms[verb].request, message->object, 2, request);
}

int message_take_reply(const struct message *message, enum verb verb, void *reply)
{
	static const struct verb_row text_row = { "text", ROW_TEXT, 0, RUN_TEXT_BYTES, 0, 0, NULL, 0, 0 };
	json_t *error = json_object_get(message->object, "error"), *text = json_object_get(message->object, "text");
	char what[RUN_TEXT_BYTES];

	if (!error)
		return take_rows(verb_forms[verb].reply, message->object, 1, reply);
	if (!json_is_integer(error) || json_integer_value(error) < 1 || json_integer_value(error) > MOST_ERRNO ||
	    !text || json_object_size(message->object) != 3 || take_text(&text_row, text, what))
		return error_set(EBADMSG, "a failure that is no message");
	return error_set((int)json_integer_value(error), "%s", what);
}
