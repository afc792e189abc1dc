// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Facts: rows cover the structs, records start unknown, look-ups find, JSON goes both ways.
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
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "model/facts_json.h"
#include "random_facts.h"

static void cover(const struct facts_field *fields, char *covered, size_t at)
{
	for (; fields->name; fields++) {
		size_t bytes = fields->size;

		switch (fields->kind) {
		case FACTS_FIELD_CONSTANT:
			continue;
		case FACTS_FIELD_OBJECT:
			cover(fields->fields, covered, at + fields->offset);
			continue;
		case FACTS_FIELD_ARRAY:
			memset(covered + at + fields->count_offset, 1, sizeof(int));
			bytes = sizeof(void *);
			break;
		case FACTS_FIELD_STRING:
			bytes = sizeof(char *);
			break;
		case FACTS_FIELD_TEXT:
		case FACTS_FIELD_ADDRESS:
			break;
		case FACTS_FIELD_INT64:
		case FACTS_FIELD_UINT64:
			bytes = 8;
			break;
		case FACTS_FIELD_UINT16:
			bytes = 2;
			break;
		default:
			bytes = 4;
			break;
		}
		for (size_t i = 0; i < bytes; i++) {
			assert_int_equal(covered[at + fields->offset + i], 0); /* no two rows for one member */
			covered[at + fields->offset + i] = 1;
		}
	}
}

/* A member was added, and a number here does not hold any more? Give it a row in facts_fields.c; what remains is padding. */
static void test_every_member_has_a_row(void **state)
{
	static const struct {
		const struct facts_field *fields;
		size_t size, padding;
	} structs[] = {
		{ facts_netns_fields, sizeof(struct facts_netns), 4 },
		{ facts_counter_fields, sizeof(struct facts_counter), 0 },
		{ facts_feature_fields, sizeof(struct facts_feature), 0 },
		{ facts_qdisc_fields, sizeof(struct facts_qdisc), 4 },
		{ facts_filter_fields, sizeof(struct facts_filter), 4 },
		{ facts_vf_fields, sizeof(struct facts_vf), 6 },
		{ facts_irq_fields, sizeof(struct facts_irq), 4 },
		{ facts_link_fields, sizeof(struct facts_link), 8 },
		{ facts_fdb_fields, sizeof(struct facts_fdb), 2 },
		{ facts_address_fields, sizeof(struct facts_address), 0 },
		{ facts_route_fields, sizeof(struct facts_route), 0 },
		{ facts_neighbour_fields, sizeof(struct facts_neighbour), 2 },
		{ facts_process_fields, sizeof(struct facts_process), 8 },
		{ facts_tun_fields, sizeof(struct facts_tun_holder), 0 },
		{ facts_thread_fields, sizeof(struct facts_thread), 4 },
		{ facts_file_fields, sizeof(struct facts_file), 8 },
		{ facts_claim_fields, sizeof(struct facts_claim), 4 },
		{ facts_fields, sizeof(struct facts), 8 }, /* links_by_name */
	};

	(void)state;
	if (sizeof(void *) != 8)
		skip();
	for (size_t i = 0; i < sizeof(structs) / sizeof(structs[0]); i++) {
		char covered[4096] = { 0 };
		size_t uncovered = 0;

		assert_true(structs[i].size <= sizeof(covered));
		cover(structs[i].fields, covered, 0);
		for (size_t at = 0; at < structs[i].size; at++)
			uncovered += !covered[at];
		if (uncovered != structs[i].padding)
			fail_msg("struct of row '%s': %zu bytes without a row instead of %zu",
				 structs[i].fields[0].name, uncovered, structs[i].padding);
	}
}

static void test_new_records_are_unknown(void **state)
{
	struct facts *facts = facts_new();
	struct facts_link *link = facts_add_link(facts);
	struct facts_process *process = facts_add_process(facts);
	struct facts_vf *vf = facts_add_vf(link);
	struct facts_claim *claim = facts_add_claim(facts);

	(void)state;
	assert_int_equal(facts->netns_count, 1);
	assert_int_equal(facts->netns[0].could_enter, 1);
	assert_string_equal(facts->netns[0].name, "");
	assert_int_equal(link->operstate, FACTS_UNKNOWN);
	assert_int_equal(link->speed_mbit_per_s, FACTS_UNKNOWN);
	assert_int_equal(link->bridge.nf_call_iptables, FACTS_UNKNOWN);
	assert_int_equal(link->port.state, FACTS_UNKNOWN);
	assert_int_equal(link->vxlan_id, FACTS_UNKNOWN);
	assert_int_equal(link->xdp_features, FACTS_UNKNOWN);
	assert_int_equal(link->tun_flags, FACTS_UNKNOWN);
	assert_int_equal(link->lower_ifindex, 0);
	assert_int_equal(link->xdp_mode, 0);
	assert_int_equal(process->vhost_net, FACTS_UNKNOWN);
	assert_int_equal(process->is_qemu, 0);
	assert_int_equal(vf->max_tx_mbit_per_s, FACTS_UNKNOWN);
	assert_int_equal(vf->vlan, 0);
	assert_string_equal(claim->value, "");
	assert_string_equal(claim->line, "");
	facts_free(facts);
	facts_free(NULL);
}

static void test_look_ups(void **state)
{
	struct facts *facts = facts_new();
	const struct facts_link *link;
	int count;

	(void)state;
	assert_null(facts_link_at(facts, 0, 1));
	assert_null(facts_link_named(facts, 0, "eth0"));
	assert_null(facts_file_at(facts, 0, "/x"));
	assert_null(facts_files_below(facts, 0, "/", &count));
	facts_sort(facts);
	strcpy(facts_add_netns(facts)->name, "lpar");
	for (int i = 0; i < 300; i++) {
		struct facts_link *added = facts_add_link(facts);
		int number = (i * 7) % 300; /* every one once, out of order */

		added->netns = number % 2;
		added->ifindex = number / 2 + 1;
		snprintf(added->name, sizeof(added->name), "port%d", 300 - number);
	}
	/* Also before sorting, and again after one more was added. */
	assert_non_null(facts_link_named(facts, 1, "port299"));
	facts_sort(facts);
	for (int i = 0; i < 300; i++) {
		char name[16];

		snprintf(name, sizeof(name), "port%d", 300 - i);
		link = facts_link_at(facts, i % 2, i / 2 + 1);
		assert_non_null(link);
		assert_string_equal(link->name, name);
		assert_ptr_equal(facts_link_named(facts, i % 2, name), link);
		assert_null(facts_link_named(facts, 1 - i % 2, name));
	}
	assert_null(facts_link_at(facts, 0, 151));
	assert_null(facts_link_at(facts, 2, 1));
	assert_null(facts_link_named(facts, 0, "a name that is longer than any"));
	strcpy(facts_add_link(facts)->name, "late");
	assert_non_null(facts_link_named(facts, 0, "late"));
	assert_int_equal(facts_netns_named(facts, "lpar"), 1);
	assert_int_equal(facts_netns_named(facts, ""), 0);
	assert_int_equal(facts_netns_named(facts, "vios"), -1);
	facts_free(facts);
}

static void test_look_ups_of_files(void **state)
{
	struct facts *facts = facts_new();
	const struct facts_file *files;
	int count;

	(void)state;
	facts_add_netns(facts);
	assert_int_equal(facts_add_file(facts, 0, "/sys/b", "0x1003\n", 0), 0);
	assert_int_equal(facts_add_file(facts, 0, "/sys/a", "", EACCES), 0);
	assert_int_equal(facts_add_file(facts, 1, "/sys/b", "010\n\n", 0), 0);
	assert_int_equal(facts_add_file(facts, 0, "/sys/bc", "-3", 0), 0);
	assert_int_equal(facts_add_file(facts, 0, "/sys/bd", "12 monkeys", 0), 0);
	assert_int_equal(facts_add_file(facts, 0, "/sys/be", "99999999999999999999", 0), 0);
	assert_int_equal(facts_add_file(facts, 0, "/sys/c", NULL, ENOENT), 0);
	facts_sort(facts);
	assert_int_equal(facts_number_at(facts, 0, "/sys/b"), 0x1003);
	assert_int_equal(facts_number_at(facts, 1, "/sys/b"), 10);
	assert_int_equal(facts_number_at(facts, 0, "/sys/bc"), -3);
	assert_int_equal(facts_number_at(facts, 0, "/sys/bd"), FACTS_UNKNOWN);
	assert_int_equal(facts_number_at(facts, 0, "/sys/be"), FACTS_UNKNOWN);
	assert_int_equal(facts_number_at(facts, 0, "/sys/a"), FACTS_UNKNOWN);
	assert_int_equal(facts_number_at(facts, 0, "/sys/nothing"), FACTS_UNKNOWN);
	assert_string_equal(facts_file_at(facts, 1, "/sys/b")->text, "010\n");
	assert_int_equal(facts_file_at(facts, 0, "/sys/c")->error, ENOENT);
	files = facts_files_below(facts, 0, "/sys/b", &count);
	assert_int_equal(count, 4);
	assert_string_equal(files[0].path, "/sys/b");
	assert_string_equal(files[3].path, "/sys/be");
	assert_null(facts_files_below(facts, 0, "/sys/bf", &count));
	assert_int_equal(count, 0);
	facts_free(facts);
}

static void test_look_ups_of_link(void **state)
{
	struct facts *facts = facts_new();
	int fixed;

	(void)state;
	assert_non_null(facts_add_link(facts));
	strcpy(facts_add_counter(&facts->links[0])->name, "rx_dropped");
	facts->links[0].counters[0].value = UINT64_MAX;
	strcpy(facts_add_feature(&facts->links[0])->name, "rx-gro");
	facts->links[0].features[0].on = facts->links[0].features[0].fixed = 1;
	assert_true(facts_counter_of(&facts->links[0], "rx_dropped") == INT64_MAX);
	assert_int_equal(facts_counter_of(&facts->links[0], "tx_dropped"), FACTS_UNKNOWN);
	assert_int_equal(facts_feature_of(&facts->links[0], "rx-gro", &fixed), 1);
	assert_int_equal(fixed, 1);
	assert_int_equal(facts_feature_of(&facts->links[0], "rx-lro", NULL), FACTS_UNKNOWN);
	facts_free(facts);
}

static struct facts *through_text(const struct facts *facts)
{
	json_t *document = facts_to_json(facts);
	char *text = json_dumps(document, JSON_COMPACT), where[64];
	struct facts *again;

	assert_non_null(text);
	assert_int_equal(facts_json_stray(document, where, sizeof(where)), 0);
	if (facts_json_parse(text, strlen(text), "round.json", &again) < 0)
		fail_msg("%s", error_text());
	free(text);
	json_decref(document);
	return again;
}

static void test_round_trip(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct facts *facts = random_facts(seed), *again = through_text(facts);
		const char *difference = facts_difference(facts_fields, facts, again);

		if (difference)
			fail_msg("seed %d: %s changed", (int)seed, difference);
		facts_free(again);
		facts_free(facts);
	}
}

static void test_file(void **state)
{
	char path[] = "/tmp/hopcap-facts-XXXXXX";
	struct facts *facts = random_facts(7), *again;
	int file = mkstemp(path);

	(void)state;
	assert_true(file >= 0);
	close(file);
	assert_int_equal(facts_json_save(facts, path), 0);
	assert_int_equal(facts_json_load(path, &again), 0);
	assert_null(facts_difference(facts_fields, facts, again));
	facts_free(again);
	unlink(path);
	assert_int_equal(facts_json_load(path, &again), -ENOENT);
	assert_null(again);
	assert_int_equal(facts_json_save(facts, "/nonexistent/facts.json"), -ENOENT);
	facts_free(facts);
}

/* Bytes that are no text are marked, not passed on: the result is JSON. */
static void test_no_text(void **state)
{
	struct facts *facts = facts_new(), *again;

	(void)state;
	strcpy(facts_add_link(facts)->name, "a\xff"
					    "b\xe2\x82");
	facts->links[0].ifindex = 1;
	assert_int_equal(facts_add_file(facts, 0, "/proc/x", "\xc0\x80", 0), 0);
	assert_int_equal(facts_add_gap(facts, "%s of %d", "features", 3), 0);
	facts_sort(facts);
	again = through_text(facts);
	assert_string_equal(again->links[0].name, "a?b??");
	assert_string_equal(again->files[0].text, "??");
	assert_string_equal(again->gaps[0].text, "features of 3");
	facts_free(again);
	facts_free(facts);
}

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Thousands of interfaces: what grows as the square of their number would take minutes. CPU time, and ten times what it takes, since
 * others work on the machine, too. */
static void test_many_links(void **state)
{
	struct facts *facts = facts_new(), *again;
	double begin = cpu_seconds();

	(void)state;
	for (int i = 0; i < 4096; i++) {
		struct facts_link *link = facts_add_link(facts);

		link->ifindex = 4096 - i;
		snprintf(link->name, sizeof(link->name), "vnet%d", i);
		link->master_ifindex = 1 + i % 10;
		for (int k = 0; k < 20; k++) {
			snprintf(facts_add_feature(link)->name, 48, "tx-feature-%d", k);
			snprintf(facts_add_counter(link)->name, 48, "rx_counter_%d", k);
			facts_add_fdb(facts)->port_ifindex = link->ifindex;
		}
	}
	facts_sort(facts);
	for (int round = 0; round < 20; round++)
		for (int i = 0; i < 4096; i++) {
			assert_ptr_equal(facts_link_at(facts, 0, facts->links[i].master_ifindex),
					 &facts->links[facts->links[i].master_ifindex - 1]);
			assert_ptr_equal(facts_link_named(facts, 0, facts->links[i].name), &facts->links[i]);
		}
	again = through_text(facts);
	assert_null(facts_difference(facts_fields, facts, again));
	print_message("4096 links: %.2f s of CPU time\n", cpu_seconds() - begin);
	assert_true(cpu_seconds() - begin < 15);
	facts_free(again);
	facts_free(facts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_member_has_a_row),
		cmocka_unit_test(test_new_records_are_unknown),
		cmocka_unit_test(test_look_ups),
		cmocka_unit_test(test_look_ups_of_files),
		cmocka_unit_test(test_look_ups_of_link),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_no_text),
		cmocka_unit_test(test_many_links),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
