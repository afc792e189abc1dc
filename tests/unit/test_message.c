// SPDX-License-Identifier: GPL-2.0-or-later
/* The protocol's lines: what is printed reads back the same, for every verb; what is not a message is refused; nothing crashes. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "domain/message.h"

#define MUTATIONS 4000 /* of each verb's lines, each way */

static unsigned int seed = 20261130;

static unsigned int below(unsigned int limit)
{
	return (unsigned int)rand_r(&seed) % limit;
}

static int64_t between(int64_t low, int64_t high)
{
	uint64_t wide = (uint64_t)rand_r(&seed) << 33 ^ (uint64_t)rand_r(&seed) << 11 ^ (uint64_t)rand_r(&seed);
	uint64_t range = (uint64_t)high - (uint64_t)low + 1;

	switch (below(4)) { /* ends are where mistakes are */
	case 0:
		return low;
	case 1:
		return high;
	default:
		return (int64_t)((uint64_t)low + (range ? wide % range : wide));
	}
}

static void fill_rows(const struct verb_row *rows, char *base);

static void fill_integer(const struct verb_row *row, char *member)
{
	int64_t value = between(row->min, row->max);

	if (row->kind == ROW_U8)
		*(uint8_t *)member = (uint8_t)value;
	else if (row->kind == ROW_U16)
		memcpy(member, &(uint16_t){ (uint16_t)value }, 2);
	else if (row->kind == ROW_U64 || row->kind == ROW_S64)
		memcpy(member, &value, 8);
	else
		memcpy(member, &(int){ (int)value }, 4);
}

static void fill_value(const struct verb_row *row, char *base)
{
	char *member = base + row->offset;
	struct histogram *histogram = (struct histogram *)member;
	double number = (double)between(-1000000, 1000000) / 7;

	switch (row->kind) {
	case ROW_NUMBER:
		memcpy(member, &number, sizeof(number));
		break;
	case ROW_TEXT:
		for (size_t i = 0, length = below((unsigned int)row->size); i < length; i++)
			member[i] = (char)(' ' + below(95));
		break;
	case ROW_HEX:
		for (size_t i = 0; i < row->size; i++)
			member[i] = (char)below(256);
		break;
	case ROW_WORDS:
		for (size_t i = 0, count = below((unsigned int)(row->size / 8) + 1); i < count; i++)
			memcpy(member + 8 * i, &(int64_t){ between(0, INT64_MAX) }, 8);
		break;
	case ROW_BUCKETS:
		for (int i = 0, count = (int)below(400); i < count; i++)
			histogram->buckets[below(HOPCAP_HISTOGRAM_BUCKETS)] = (uint64_t)between(0, INT64_MAX);
		break;
	case ROW_ARRAY: {
		int count = (int)below((unsigned int)row->capacity + 1);

		memcpy(base + row->count_offset, &count, sizeof(count));
		for (int i = 0; i < count; i++)
			fill_rows(row->rows, member + (size_t)i * row->size);
		break;
	}
	default:
		fill_integer(row, member);
	}
}

static void fill_rows(const struct verb_row *rows, char *base)
{
	for (; rows->name; rows++)
		fill_value(rows, base);
}

static struct message *read_line(const char *line, size_t length)
{
	struct message *message;

	assert_non_null(line);
	assert_int_equal(line[length - 1], '\n');
	assert_null(memchr(line, '\n', length - 1));
	message = message_read(line, length - 1);
	if (!message)
		fail_msg("%s: %.200s", error_text(), line);
	return message;
}

static void every_verb_reads_back(void **state)
{
	union verb_request *request = calloc(2, sizeof(*request));
	union verb_reply *reply = calloc(2, sizeof(*reply));

	(void)state;
	for (int round = 0; round < 40; round++)
		for (int verb = 0; verb < VERB_COUNT; verb++) {
			uint32_t id = (uint32_t)between(1, UINT32_MAX);
			struct message *message;
			size_t length;
			char *line;

			memset(request, 0, 2 * sizeof(*request));
			memset(reply, 0, 2 * sizeof(*reply));
			fill_rows(verb_forms[verb].request, (char *)request);
			line = message_print_request(id, (enum verb)verb, request, &length);
			message = read_line(line, length);
			assert_int_equal(message_id(message), id);
			assert_int_equal(message_verb(message), verb);
			assert_int_equal(message_take_request(message, (enum verb)verb, request + 1), 0);
			assert_memory_equal(request, request + 1, sizeof(*request));
			message_free(message);
			free(line);
			fill_rows(verb_forms[verb].reply, (char *)reply);
			line = message_print_reply(id, (enum verb)verb, reply, &length);
			message = read_line(line, length);
			assert_int_equal(message_id(message), id);
			if (message_take_reply(message, (enum verb)verb, reply + 1))
				fail_msg("%s: %s", verb_forms[verb].name, error_text());
			assert_memory_equal(reply, reply + 1, sizeof(*reply));
			message_free(message);
			free(line);
		}
	free(request);
	free(reply);
}

static void failures_read_back(void **state)
{
	struct verb_frames frames;
	struct message *message;
	size_t length;
	char *line;

	(void)state;
	line = message_print_failure(7, ENODEV, "eth0@guest: no such \"interface\"\n\x1b[31m", &length);
	message = read_line(line, length);
	assert_int_equal(message_take_reply(message, VERB_PROBE_COUNT, &frames), -ENODEV);
	assert_string_equal(error_text(), "eth0@guest: no such \"interface\"??[31m");
	message_free(message);
	free(line);
	line = message_print_failure(7, 100000, "\xff\xfe", &length); /* no errno, no UTF-8 */
	message = read_line(line, length);
	assert_int_equal(message_take_reply(message, VERB_PROBE_COUNT, &frames), -EIO);
	message_free(message);
	free(line);
}

static int is_message(const char *line)
{
	struct message *message = message_read(line, strlen(line));

	message_free(message);
	return message != NULL;
}

static void no_message_is_refused(void **state)
{
	static const char *const bad[] = { "",
					   "hello",
					   "{}",
					   "[1]",
					   "{\"id\":-1}",
					   "{\"id\":1.5}",
					   "{\"id\":\"1\"}",
					   "{\"id\":4294967296}",
					   "{\"id\":1,\"id\":2}",
					   "{\"id\":1} {\"id\":2}",
					   "{\"id\":1,\"a\":{\"b\":[[[1]]]}}", /* too deep */
					   "{\"id\":1,\"a\":\"\\ud800\"}" };
	char *wide = malloc(MESSAGE_MAX_BYTES + 100);
	size_t used;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (is_message(bad[i]))
			fail_msg("'%s' was taken for a message", bad[i]);
	used = (size_t)sprintf(wide, "{\"id\":1,\"a\":[0");
	for (int i = 0; i < MESSAGE_MAX_VALUES + 1; i++)
		used += (size_t)sprintf(wide + used, ",0");
	strcpy(wide + used, "]}");
	assert_false(is_message(wide));
	memset(wide, ' ', MESSAGE_MAX_BYTES + 50);
	memcpy(wide, "{\"id\":1", 7);
	strcpy(wide + MESSAGE_MAX_BYTES + 50, "}");
	assert_false(is_message(wide));
	free(wide);
}

/* A request for source-cpu has one member, "number". */
static int take_number(const char *line)
{
	struct message *message = message_read(line, strlen(line));
	struct verb_number number;
	int code;

	assert_non_null(message);
	code = message_verb(message);
	if (code == VERB_SOURCE_CPU)
		code = message_take_request(message, VERB_SOURCE_CPU, &number);
	message_free(message);
	return code;
}

static void members_are_strict(void **state)
{
	(void)state;
	assert_int_equal(take_number("{\"id\":1,\"verb\":\"source-cpu\",\"number\":3}"), 0);
	assert_int_equal(take_number("{\"id\":1,\"verb\":\"source-cpu\"}"), -EBADMSG);
	assert_int_equal(take_number("{\"id\":1,\"verb\":\"source-cpu\",\"number\":\"3\"}"), -EBADMSG);
	assert_int_equal(take_number("{\"id\":1,\"verb\":\"source-cpu\",\"number\":3.0}"), -EBADMSG);
	assert_int_equal(take_number("{\"id\":1,\"verb\":\"source-cpu\",\"number\":null}"), -EBADMSG);
	assert_int_equal(take_number("{\"id\":1,\"verb\":\"source-cpu\",\"number\":4294967296}"), -EBADMSG);
	assert_int_equal(take_number("{\"id\":1,\"verb\":\"source-cpu\",\"number\":3,\"more\":1}"), -EBADMSG);
	assert_int_equal(take_number("{\"id\":1,\"verb\":\"format-disk\",\"number\":3}"), -1);
	assert_non_null(strstr(error_text(), "format-disk"));
	assert_int_equal(take_number("{\"id\":1,\"number\":3}"), -1);
	assert_int_equal(take_number("{\"id\":1,\"verb\":7}"), -1);
}

/* --- fuzzing --- */

/* One to four changes: bytes, cuts, doublings, pieces that mean something. */
static size_t mutate(char *line, size_t length, size_t room)
{
	static const char *const pieces[] = { "{", "}", "[", "]", "\"", ",", ":", "null", "-1", "1e999", "9223372036854775807",
					      "-9223372036854775808", "0.5", "\\u0000", "true", "[[", "{\"id\":" };

	for (unsigned int change = 0, changes = 1 + below(4); change < changes && length > 1; change++) {
		size_t at = below((unsigned int)length), piece_length;
		const char *piece = pieces[below(sizeof(pieces) / sizeof(pieces[0]))];

		switch (below(5)) {
		case 0:
			line[at] = (char)below(256);
			break;
		case 1:
			length = at;
			break;
		case 2: /* takes a part out */
			piece_length = below((unsigned int)(length - at)) % 40;
			memmove(line + at, line + at + piece_length, length - at - piece_length);
			length -= piece_length;
			break;
		default:
			piece_length = strlen(piece);
			if (length + piece_length > room)
				break;
			memmove(line + at + piece_length, line + at, length - at);
			memcpy(line + at, piece, piece_length);
			length += piece_length;
		}
	}
	return length;
}

/* Both ends read whatever comes, as whatever verb. Freed memory of the exact length lets the sanitizer see every step too far. */
static void read_anything(const char *line, size_t length, int verb, union verb_request *request, union verb_reply *reply)
{
	char *exact = malloc(length ? length : 1);
	struct message *message;

	memcpy(exact, line, length);
	message = message_read(exact, length);
	free(exact);
	if (!message)
		return;
	message_take_reply(message, (enum verb)verb, reply);
	verb = message_verb(message);
	if (verb >= 0)
		message_take_request(message, (enum verb)verb, request);
	message_free(message);
}

static void fuzzed_lines_are_survived(void **state)
{
	union verb_request *request = calloc(1, sizeof(*request));
	union verb_reply *reply = calloc(1, sizeof(*reply));
	char *changed = malloc(MESSAGE_MAX_BYTES + 1000);

	(void)state;
	for (int verb = 0; verb < VERB_COUNT; verb++)
		for (int way = 0; way < 2; way++) {
			size_t length, rounds;
			char *line;

			memset(request, 0, sizeof(*request));
			memset(reply, 0, sizeof(*reply));
			fill_rows(verb_forms[verb].request, (char *)request);
			fill_rows(verb_forms[verb].reply, (char *)reply);
			line = way ? message_print_reply(1, (enum verb)verb, reply, &length) :
				     message_print_request(1, (enum verb)verb, request, &length);
			assert_non_null(line);
			rounds = 1 + MUTATIONS * 400ul / (400 + length); /* long lines take long */
			for (size_t i = 0; i < rounds; i++) {
				memcpy(changed, line, length);
				read_anything(changed, mutate(changed, length - 1, MESSAGE_MAX_BYTES + 1000), verb, request, reply);
			}
			free(line);
		}
	free(request);
	free(reply);
	free(changed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_verb_reads_back), cmocka_unit_test(failures_read_back),
		cmocka_unit_test(no_message_is_refused), cmocka_unit_test(members_are_strict),
		cmocka_unit_test(fuzzed_lines_are_survived),
	};

	return cmocka_run_group_tests_name("message", tests, NULL, NULL);
}
