// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What is not facts: refused with one line that names the member, and no crash, whatever the file holds. And how short a fixture may be.
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
#include "model/facts_json.h"
#include "random_facts.h"

/* Either refused with one line, or facts that can be written and read again. */
static int try_text(const char *text, size_t length)
{
	struct facts *facts, *again;
	json_t *document;
	char *written;
	int result;

	error_set(1, "%s", "");
	result = facts_json_parse(text, length, "hostile.json", &facts);
	if (result < 0) {
		assert_int_equal(result, -EINVAL);
		assert_null(facts);
		assert_true(strncmp(error_text(), "hostile.json", 12) == 0);
		assert_null(strchr(error_text(), '\n'));
		return 0;
	}
	document = facts_to_json(facts);
	written = json_dumps(document, JSON_COMPACT);
	assert_non_null(written);
	assert_int_equal(facts_json_parse(written, strlen(written), "again.json", &again), 0);
	assert_null(facts_difference(facts_fields, facts, again));
	free(written);
	json_decref(document);
	facts_free(again);
	facts_free(facts);
	return 1;
}

#define HEAD "{\"schema\": \"hopcap.facts/1\""

static void test_refusals(void **state)
{
	static const struct {
		const char *text, *says;
	} rows[] = {
		{ "", "is not JSON" },
		{ "[]", "no object" },
		{ "{}", "schema is missing" },
		{ "{\"schema\": \"hopcap.facts/2\"}", "schema is not \"hopcap.facts/1\"" },
		{ "{\"schema\": null}", "schema is not" },
		{ HEAD ", \"links\": {}}", "links is an object instead of an array" },
		{ HEAD ", \"links\": [7]}", "links[0] is an integer instead of an object" },
		{ HEAD ", \"links\": [{\"name\": \"a\"}]}", "links[0].ifindex is missing" },
		{ HEAD ", \"links\": [{\"ifindex\": 0}]}", "links[0].ifindex is too small" },
		{ HEAD ", \"links\": [{\"ifindex\": 2147483648}]}", "links[0].ifindex is too large" },
		{ HEAD ", \"links\": [{\"ifindex\": null}]}", "links[0].ifindex is null instead of an integer" },
		{ HEAD ", \"links\": [{\"ifindex\": 1.5}]}", "links[0].ifindex is a fraction" },
		{ HEAD ", \"links\": [{\"ifindex\": 1, \"name\": \"sixteen bytes...\"}]}",
		  "links[0].name is longer than 15 bytes" },
		{ HEAD ", \"links\": [{\"ifindex\": 1, \"name\": 3}]}",
		  "links[0].name is an integer instead of a text" },
		{ HEAD ", \"links\": [{\"ifindex\": 1, \"netns\": 1}]}",
		  "links[0].netns is not the number of a namespace" },
		{ HEAD ", \"links\": [{\"ifindex\": 1, \"netns\": -1}]}", "links[0].netns is not the number" },
		{ HEAD ", \"links\": [{\"ifindex\": 1, \"lower_netns\": 1}]}",
		  "links[0].lower_netns is not the number" },
		{ HEAD ", \"links\": [{\"ifindex\": 1}, {\"ifindex\": 1}]}", "links has two with ifindex 1" },
		{ HEAD ", \"links\": [{\"ifindex\": 1, \"mtu_bytes\": -2}]}", "links[0].mtu_bytes is negative" },
		{ HEAD ", \"links\": [{\"ifindex\": 1, \"mtu_bytes\": \"1500\"}]}", "links[0].mtu_bytes is a text" },
		{ HEAD ", \"links\": [{\"ifindex\": 1, \"flags\": \"0x\"}]}", "links[0].flags is no whole number" },
		{ HEAD ", \"links\": [{\"ifindex\": 1, \"flags\": \"-1\"}]}", "links[0].flags is no whole number" },
		{ HEAD ", \"links\": [{\"ifindex\": 1, \"flags\": \"0x1ffffffff\"}]}", "links[0].flags is too large" },
		{ HEAD ", \"links\": [{\"ifindex\": 1, \"flags\": \"0xffffffffffffffff\"}]}",
		  "links[0].flags is too large" },
		{ HEAD ", \"links\": [{\"ifindex\": 1, \"pci_vendor\": 65536}]}", "links[0].pci_vendor is too large" },
		{ HEAD ", \"links\": [{\"ifindex\": 1, \"carrier\": 2}]}",
		  "links[0].carrier is an integer instead of true" },
		{ HEAD ", \"links\": [{\"ifindex\": 1, \"address\": \"52:54:00:12:34\"}]}",
		  "links[0].address is no MAC address" },
		{ HEAD ", \"links\": [{\"ifindex\": 1, \"address\": \"52:54:00:12:34:56:78\"}]}",
		  "links[0].address is no MAC" },
		{ HEAD ", \"links\": [{\"ifindex\": 1, \"address\": \"52:54:00:12:34:g6\"}]}",
		  "links[0].address is no MAC" },
		{ HEAD ", \"links\": [{\"ifindex\": 1, \"address\": \"\"}]}", "links[0].address is no MAC" },
		{ HEAD ", \"links\": [{\"ifindex\": 1, \"bridge\": []}]}",
		  "links[0].bridge is an array instead of an object" },
		{ HEAD ", \"links\": [{\"ifindex\": 1, \"bridge\": {\"vlan_default_pvid\": 4096}}]}",
		  "links[0].bridge.vlan_default_pvid is too large" },
		{ HEAD ", \"links\": [{\"ifindex\": 1, \"counters\": [{\"value\": \"18446744073709551616\"}]}]}",
		  "counters[0].value is no whole number" },
		{ HEAD ", \"links\": [{\"ifindex\": 1, \"counters\": [{\"value\": -1}]}]}",
		  "counters[0].value is negative" },
		{ HEAD ", \"files\": [{\"text\": \"1\"}]}", "files[0].path is missing" },
		{ HEAD ", \"files\": [{\"path\": \"a\\u0000b\"}]}", "is not JSON" },
		{ HEAD ", \"files\": [{\"path\": \"/a\"}, {\"path\": \"/a\"}]}",
		  "files[1] and another have the same path" },
		{ HEAD ", \"processes\": [{\"arguments\": [1]}]}",
		  "processes[0].arguments[0] is an integer instead of a text" },
		{ HEAD ", \"gaps\": [{}]}", "gaps[0] is an object instead of a text" },
		{ HEAD ", \"cpu_count\": 1, \"cpu_count\": 2}", "is not JSON" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (try_text(rows[i].text, strlen(rows[i].text)))
			fail_msg("accepted: %s", rows[i].text);
		if (!strstr(error_text(), rows[i].says))
			fail_msg("%s: '%s' instead of '%s'", rows[i].text, error_text(), rows[i].says);
	}
}

static void test_short_fixture(void **state)
{
	static const char text[] = HEAD
		", \"netns\": [{}, {\"name\": \"vios\"}], \"newer\": {\"a\": [1]},"
		"\"links\": [{\"ifindex\": 9, \"name\": \"eth0.5\", \"lower_ifindex\": 2, \"netns\": 1, \"carrier\": 1},"
		"{\"ifindex\": 2, \"pci_vendor\": \"0x8086\", \"flags\": 4099, \"mtu_bytes\": null, \"carrier\": true,"
		"\"lower_ifindex\": 7, \"lower_netns\": null, \"address\": \"52:54:00:AB:cd:ef\"}]}";
	struct facts *facts;
	json_t *document;
	char where[64];

	(void)state;
	assert_int_equal(facts_json_parse(text, strlen(text), "short.json", &facts), 0);
	assert_int_equal(facts->netns_count, 2);
	assert_string_equal(facts->netns[1].name, "vios");
	assert_int_equal(facts->links[0].ifindex, 2);
	assert_int_equal(facts->links[0].pci_vendor, 0x8086);
	assert_int_equal(facts->links[0].flags, 4099);
	assert_int_equal(facts->links[0].mtu_bytes, FACTS_UNKNOWN);
	assert_int_equal(facts->links[0].address[3], 0xab);
	assert_int_equal(facts->links[0].lower_netns, FACTS_UNKNOWN);
	assert_int_equal(facts->links[1].lower_netns, 1); /* missing: the link's own */
	assert_int_equal(facts->links[1].carrier, 1);
	facts_free(facts);
	document = json_loads(text, 0, NULL);
	assert_int_equal(facts_json_stray(document, where, sizeof(where)), 1);
	assert_string_equal(where, "newer");
	json_decref(document);
	document = json_loads(HEAD ", \"links\": [{\"ifindex\": 1}, {\"port\": {\"sate\": 3}}]}", 0, NULL);
	assert_int_equal(facts_json_stray(document, where, sizeof(where)), 1);
	assert_string_equal(where, "links[1].port.sate");
	json_decref(document);
}

static char *repeated(const char *before, const char *element, size_t count, const char *after)
{
	char *text = malloc(strlen(before) + count * strlen(element) + strlen(after) + 1), *at = text;

	assert_non_null(text);
	at = stpcpy(at, before);
	for (size_t i = 0; i < count; i++)
		at = stpcpy(at, element);
	stpcpy(at, after);
	return text;
}

static void test_excess(void **state)
{
	char *text = repeated(HEAD ", \"links\": [", "1,", 65536, "1]}");

	(void)state;
	assert_int_equal(try_text(text, strlen(text)), 0);
	assert_non_null(strstr(error_text(), "links has 65537 elements, 65536 at most are allowed"));
	free(text);
	text = repeated(HEAD ", \"files\": [{\"path\": \"/a\", \"text\": \"", "x", 65536, "\"}]}");
	assert_int_equal(try_text(text, strlen(text)), 1);
	free(text);
	text = repeated(HEAD ", \"files\": [{\"path\": \"/a\", \"text\": \"", "x", 65537, "\"}]}");
	assert_int_equal(try_text(text, strlen(text)), 0);
	free(text);
	text = repeated("", "[", 100000, "");
	assert_int_equal(try_text(text, strlen(text)), 0);
	free(text);
	text = repeated(HEAD ", \"links\": [", "{},", 9 << 20, "{}]}");
	assert_int_equal(try_text(text, strlen(text)), 0);
	assert_non_null(strstr(error_text(), "at most are allowed"));
	free(text);
}

static void test_mutated_bytes(void **state)
{
	static const char bytes[] = "{}[]\",:0129-e.tfn\\\x00\xff ";
	int refused = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct facts *facts = random_facts(seed);
		json_t *document = facts_to_json(facts);
		char *text = json_dumps(document, JSON_COMPACT);
		size_t length = strlen(text);

		for (int round = 0; round < 20; round++) {
			char *copy = malloc(length);

			memcpy(copy, text, length);
			for (int k = 1 + facts_below(3); k > 0; k--)
				copy[facts_roll() % length] = bytes[facts_below((int)sizeof(bytes) - 1)];
			refused += !try_text(copy, facts_below(4) ? length : facts_roll() % length);
			free(copy);
		}
		free(text);
		json_decref(document);
		facts_free(facts);
	}
	assert_true(refused > 100);
}

/* One value of the document, somewhere, becomes one of another type or range. */
static json_t *odd_value(void)
{
	switch (facts_below(9)) {
	case 0:
		return json_null();
	case 1:
		return json_integer(-1);
	case 2:
		return json_integer((json_int_t)facts_roll());
	case 3:
		return json_real(1e300);
	case 4:
		return json_string("0xffffffffffffffff");
	case 5:
		return json_true();
	case 6:
		return json_array();
	case 7:
		return json_pack("[{}]");
	default:
		return json_object();
	}
}

static void replace_one(json_t *value)
{
	for (int depth = 0; depth < 8; depth++) {
		size_t size = json_is_array(value) ? json_array_size(value) : json_object_size(value);
		size_t which = size ? facts_roll() % size : 0;
		void *member;
		json_t *inner;

		if (size == 0)
			return;
		if (json_is_array(value)) {
			inner = json_array_get(value, which);
			if ((!json_is_object(inner) && !json_is_array(inner)) || !facts_below(4)) {
				json_array_set_new(value, which, odd_value());
				return;
			}
		} else {
			member = json_object_iter(value);
			while (which-- > 0)
				member = json_object_iter_next(value, member);
			inner = json_object_iter_value(member);
			if ((!json_is_object(inner) && !json_is_array(inner)) || !facts_below(4)) {
				json_object_iter_set_new(value, member, odd_value());
				return;
			}
		}
		value = inner;
	}
}

static void test_mutated_values(void **state)
{
	int accepted = 0, refused = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 400; seed++) {
		struct facts *facts = random_facts(seed);
		json_t *document = facts_to_json(facts);
		char *text;

		replace_one(document);
		text = json_dumps(document, JSON_COMPACT);
		if (try_text(text, strlen(text)))
			accepted++;
		else
			refused++;
		free(text);
		json_decref(document);
		facts_free(facts);
	}
	assert_true(accepted > 20 && refused > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refusals),       cmocka_unit_test(test_short_fixture),
		cmocka_unit_test(test_excess),	       cmocka_unit_test(test_mutated_bytes),
		cmocka_unit_test(test_mutated_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
