// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What is not a run: refused with one line that names the place, and no crash, whatever the file holds.
 */
#include <errno.h>
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "model/model_json.h"
#include "random_run.h"

/* Either refused with a line, or a run that can be shown and saved. */
static int try_text(const char *text, size_t length)
{
	struct run *run;
	char *again;

	error_set(1, "%s", "");
	errno = 0;
	run = run_json_parse(text, length, "hostile.json");
	if (!run) {
		assert_int_equal(errno, EINVAL);
		assert_one_line(error_text());
		return 0;
	}
	again = printed(run, 100, 0);
	free(again);
	again = run_json_print(run);
	assert_non_null(again);
	free(again);
	run_free(run);
	return 1;
}

static char *some_run_text(uint64_t from)
{
	struct run *run = random_run(from);
	char *text;

	if (run->service_count > 12)
		run->service_count = 12;
	if (run->pressure.cpu_count > 4)
		run->pressure.cpu_count = 4;
	if (run->trial_count > 3)
		run->trial_count = 3;
	if (run->latency_count > 1)
		run->latency_count = 1;
	if (run->pressure.trial >= run->trial_count)
		run->pressure.trial = run->trial_count - 1;
	text = run_json_print(run);
	assert_non_null(text);
	run_free(run);
	return text;
}

/* Seeded: flipped bytes, cut out and doubled stretches, a cut-off end. */
static void test_mutated_bytes(void **state)
{
	int accepted = 0;

	(void)state;
	for (uint64_t i = 1; i <= 2400; i++) {
		static char *original;
		size_t length;
		char *text;

		if (i % 100 == 1) {
			free(original);
			original = some_run_text(1000 + i);
			seed = i * 104729;
		}
		length = strlen(original);
		text = malloc(2 * length);
		assert_non_null(text);
		memcpy(text, original, length);
		for (int flips = 1 + below(3); flips > 0; flips--)
			text[roll() % length] = (char)(below(4) ? " \"[]{},:-0e.n"[below(13)] : below(256));
		if (below(4) == 0) {
			size_t from = roll() % length, size = roll() % (length - from);

			memmove(text + from, text + from + size, length - from - size);
			length -= size;
		} else if (below(8) == 0) {
			memcpy(text + length, original, length);
			length *= 2;
		}
		accepted += try_text(text, length);
		free(text);
		if (i == 2400)
			free(original);
	}
	assert_in_range(accepted, 1, 2399);
}

static json_t *any_json(void)
{
	switch (below(12)) {
	case 0:
		return json_null();
	case 1:
		return json_true();
	case 2:
		return json_integer(-1);
	case 3:
		return json_integer(INT64_MIN);
	case 4:
		return json_integer(INT64_MAX);
	case 5:
		return json_real(-1e308);
	case 6:
		return json_real(1e308);
	case 7:
		return json_string("\033]0;x\a");
	case 8:
		return json_object();
	case 9:
		return json_array();
	case 10:
		return json_integer(below(20));
	default:
		return json_pack("[[{s:[]}]]", "a");
	}
}

/* Replaces, removes or doubles something at a random depth. */
static void spoil(json_t *value)
{
	size_t at;
	const char *key;
	json_t *inner;

	if (json_array_size(value) > 0) {
		at = roll() % json_array_size(value);
		inner = json_array_get(value, at);
		if ((json_is_array(inner) || json_is_object(inner)) && below(4))
			spoil(inner);
		else if (below(4) == 0)
			json_array_remove(value, at);
		else if (below(3) == 0)
			json_array_insert(value, at, inner);
		else
			json_array_set_new(value, at, any_json());
		return;
	}
	if (json_object_size(value) == 0)
		return;
	at = roll() % json_object_size(value);
	for (void *iter = json_object_iter(value); iter; iter = json_object_iter_next(value, iter)) {
		if (at-- > 0)
			continue;
		key = json_object_iter_key(iter);
		inner = json_object_iter_value(iter);
		if ((json_is_array(inner) || json_is_object(inner)) && below(5))
			spoil(inner);
		else if (below(5) == 0)
			json_object_del(value, key);
		else
			json_object_set_new(value, key, any_json());
		return;
	}
}

/* Well-formed JSON of a wrong shape, which flipped bytes seldom make. */
static void test_mutated_values(void **state)
{
	int accepted = 0;

	(void)state;
	for (uint64_t i = 1; i <= 60; i++) {
		char *original = some_run_text(2000 + i);
		json_t *document = json_loads(original, 0, NULL);

		assert_non_null(document);
		seed = i * 15485863;
		for (int k = 0; k < 20; k++) {
			json_t *copy = json_deep_copy(document);
			char *text;

			spoil(copy);
			text = json_dumps(copy, JSON_COMPACT);
			accepted += try_text(text, strlen(text));
			free(text);
			json_decref(copy);
		}
		json_decref(document);
		free(original);
	}
	assert_in_range(accepted, 1, 1199);
}

static void test_refusals(void **state)
{
	static const struct {
		const char *from, *to, *message;
	} cases[] = {
		{ "\"hopcap.run/1\"", "\"hopcap.run/2\"", "f: schema is not \"hopcap.run/1\"" },
		{ "\"hopcap.run/1\"", "7", "f: schema is not \"hopcap.run/1\"" },
		{ "\"primary_bytes\": 1514", "\"primary_bytes\": -1", "f: primary_bytes is negative" },
		{ "\"primary_bytes\": 1514", "\"primary_bytes\": 1e3",
		  "f: primary_bytes is a fraction instead of an integer" },
		{ "\"primary_bytes\": 1514", "\"primary_bytes\": 5000000000", "f: primary_bytes is too large" },
		{ "\"primary_bytes\": 1514", "\"prime\": 1514", "f: primary_bytes is missing" },
		{ "\"name\": \"eth1\"", "\"name\": 1", "f: path.points[1].name is an integer instead of a text" },
		{ "\"name\": \"eth1\"", "\"name\": \"e\\u0000\"", "f is not JSON: line" },
		{ "\"hook\": \"source\"", "\"hook\": \"kprobe\"", "f: path.points[0].hook is none of source ... sink" },
		{ "\"index\": 2", "\"index\": 3", "f: path.hops[1].index is not in order" },
		{ "\"point\": 2", "\"point\": 3", "f: cuts[0].point lies beyond the end of the path" },
		{ "\"point\": 2", "\"point\": 0", "f: cuts[0].point is too small" },
		{ "\"sent\": 5", "\"sent\": -1", "f: trials[0].sent is negative" },
		{ "\"sent\": 5", "\"sent\": 9223372036854775808", "f is not JSON: line" },
		{ "\"sent\": 5", "\"sent\": 5, \"sent\": 5", "f is not JSON: line" },
		{ "\"lost\": [null, null]", "\"lost\": [null]",
		  "f: trials[0].lost has 1 elements where the path has 2" },
		{ "\"lost\": [null, null]", "\"lost\": [null, 0.5]",
		  "f: trials[0].lost[1] is a fraction instead of an integer or null" },
		{ "\"shares\": []", "\"shares\": [{}]", "f: shares has not one element for each hop" },
		{ "\"findings\": []", "\"findings\": {}", "f: findings is an object instead of an array" },
		{ "\"findings\": []", "\"findings\": [1]", "f: findings[0] is an integer instead of an object" },
		{ "\"latency\": []", "\"latency\": [0,0,0,0,0]", "f: latency has 5 elements, 4 at most are allowed" },
	};
	struct run *run = small_run();
	char *text = run_json_print(run);

	(void)state;
	assert_non_null(text);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *at = strstr(text, cases[i].from), *changed;

		assert_non_null(at);
		assert_true(asprintf(&changed, "%.*s%s%s", (int)(at - text), text, cases[i].to,
				     at + strlen(cases[i].from)) > 0);
		assert_null(run_json_parse(changed, strlen(changed), "f"));
		if (strncmp(error_text(), cases[i].message, strlen(cases[i].message)) != 0)
			fail_msg("\"%s\" instead of \"%s\"", error_text(), cases[i].message);
		assert_one_line(error_text());
		free(changed);
	}
	free(text);
	run_free(run);
}

/* Names that a later version may add are passed over; names beyond the contract may be absent: not known. */
static void test_other_versions(void **state)
{
	struct run *run = small_run(), *back;
	char *text = run_json_print(run), *changed;
	json_t *document = json_loads(text, 0, NULL), *point;

	(void)state;
	json_object_set_new(document, "future", json_pack("{s:[i]}", "x", 1));
	json_object_del(document, "services");
	json_object_del(document, "pressure");
	json_object_del(document, "kernel");
	json_object_del(json_object_get(document, "source"), "cpu");
	json_object_del(json_array_get(json_object_get(document, "trials"), 0), "received");
	point = json_array_get(json_object_get(json_object_get(document, "path"), "points"), 1);
	json_object_del(point, "mtu_bytes");
	changed = json_dumps(document, 0);
	back = run_json_parse(changed, strlen(changed), "f");
	assert_non_null(back);
	assert_int_equal(back->source.cpu, -1);
	assert_int_equal(back->trials[0].received, -1);
	assert_int_equal(back->pressure.trial, -1);
	free(changed);
	free(text);
	json_decref(document);
	run_free(back);
	run_free(run);
}

/* Memory stays bounded whatever the file holds. */
static void test_excess(void **state)
{
	size_t size = 5 << 20;
	char *text = malloc(size);

	(void)state;
	assert_non_null(text);
	memset(text, '[', size);
	assert_int_equal(try_text(text, size), 0);
	assert_int_equal(try_text(text, 3000), 0);
	for (size_t i = 0; i + 3 <= size; i += 3)
		memcpy(text + i, "{},", 3);
	text[0] = '[';
	assert_int_equal(try_text(text, size), 0);
	assert_non_null(strstr(error_text(), "values, "));
	memset(text, 0, 100);
	assert_int_equal(try_text(text, 100), 0);
	assert_int_equal(try_text(text, 0), 0);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mutated_bytes), cmocka_unit_test(test_mutated_values),
		cmocka_unit_test(test_refusals),      cmocka_unit_test(test_other_versions),
		cmocka_unit_test(test_excess),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
