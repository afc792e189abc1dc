// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Every check with its condition true and with it false: the files of tests/unit/doctor_cases.
 *
 * A file is an array of cases:
 *   check     id of the row
 *   facts     as `hopcap facts` writes them, only what matters ("schema" is added)
 *   earlier   optional: changes that turn these facts into those of some time before
 *   path      optional: points, "NETNS:IFINDEX" each ("-" outside the facts); out and in take turns
 *   hops      optional: {kind, name, note, netns, ifindex} each; "wire" where left out
 *   sizes     optional: what was sent along the path: points (numbers in "path"), limit, steps [bytes, trials, frames at each point],
 *             cut_short, why_not
 *   goal      optional: Gbit/s
 *   targets   optional: "NETNS:IFINDEX" each
 *   yes       severity of the finding that these facts make
 *   evidence, rule, fix, about   optional: what the finding's text must hold
 *   no        changes after which there is none
 *   also      optional: array of {change, yes}: further severities
 * Changes are {"links/0/mtu_bytes": 9000}; a path that begins with "/" starts at the case instead of its facts; null removes.
 */
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/error.h"
#include "doctor/doctor.h"
#include "model/facts_json.h"

#define DIRECTORY "tests/unit/doctor_cases"
#define MAX_CHECKS 512

static const char *seen_yes[MAX_CHECKS], *seen_no[MAX_CHECKS]; /* by number of the check in the tables */

static int number_of(const char *id)
{
	int tables, number = 0;
	const struct check_table *const *table = doctor_tables(&tables);

	for (int i = 0; i < tables; i++)
		for (int j = 0; j < table[i]->count; j++, number++)
			if (!strcmp(table[i]->checks[j].id, id))
				return number;
	return -1;
}

/* --- making a case ------------------------------------------------------------------------------------------------ */

/* Sets what `path` names inside root to value (a borrowed reference). */
static void change(json_t *root, const char *path, json_t *value)
{
	char copy[256], *rest = copy, *part = NULL, *next;

	snprintf(copy, sizeof(copy), "%s", path);
	part = strtok_r(rest, "/", &rest);
	while (part && (next = strtok_r(rest, "/", &rest)) != NULL) {
		root = json_is_array(root) ? json_array_get(root, (size_t)atoi(part)) : json_object_get(root, part);
		if (!root)
			fail_msg("change %s: there is no %s", path, part);
		part = next;
	}
	assert_non_null(part);
	if (json_is_array(root))
		assert_int_equal(json_is_null(value) ? json_array_remove(root, (size_t)atoi(part))
						     : json_array_set(root, (size_t)atoi(part), value),
				 0);
	else
		assert_int_equal(json_is_null(value) ? json_object_del(root, part) : json_object_set(root, part, value),
				 0);
}

static void change_all(json_t *document, json_t *changes)
{
	const char *path;
	json_t *value;

	json_object_foreach(changes, path, value)
		change(path[0] == '/' ? document : json_object_get(document, "facts"), path, value);
}

static struct facts *read_facts(const char *check, json_t *json)
{
	struct facts *facts = NULL;
	char stray[128];

	json_object_set_new(json, "schema", json_string(FACTS_SCHEMA));
	if (!json_object_get(json, "netns"))
		json_object_set_new(json, "netns", json_pack("[{s:s}]", "name", ""));
	if (facts_json_stray(json, stray, sizeof(stray)))
		fail_msg("%s: facts do not know %s", check, stray);
	if (facts_from_json(json, &facts) < 0)
		fail_msg("%s: %s", check, error_text());
	return facts;
}

static struct doctor_target read_target(json_t *json)
{
	struct doctor_target target = { 0, 0 };

	if (strcmp(json_string_value(json), "-"))
		assert_int_equal(sscanf(json_string_value(json), "%d:%d", &target.netns, &target.ifindex), 2);
	return target;
}

static enum facts_hop_kind read_kind(const char *name)
{
	static const char *const kinds[] = { "wire", "bridge", "stack", "guest", "opaque", "cut" };

	for (int i = 0; i < 6; i++)
		if (!strcmp(kinds[i], name))
			return (enum facts_hop_kind)i;
	fail_msg("no hop is a %s", name);
	return FACTS_HOP_CUT;
}

static void read_path(json_t *document, struct facts_path *path)
{
	json_t *points = json_object_get(document, "path"), *hops = json_object_get(document, "hops"), *item;
	size_t index;

	json_array_foreach(points, index, item)
	{
		struct facts_path_point *point = &path->points[path->point_count++];
		struct doctor_target target = read_target(item);

		point->netns = target.netns;
		point->ifindex = target.ifindex;
		point->is_out = index % 2 == 0; /* as a path does: out, in, out … */
		snprintf(point->text, sizeof(point->text), "p%zu", index);
	}
	json_array_foreach(hops, index, item)
	{
		struct facts_path_hop *hop = &path->hops[index];
		const char *kind = "wire", *name = "", *note = "";

		assert_int_equal(json_unpack(item, "{s?s,s?s,s?s,s?i,s?i}", "kind", &kind, "name", &name, "note", &note,
					     "netns", &hop->netns, "ifindex", &hop->ifindex),
				 0);
		hop->kind = read_kind(kind);
		snprintf(hop->name, sizeof(hop->name), "%s", name);
		snprintf(hop->note, sizeof(hop->note), "%s", note);
	}
}

/* What was sent; NULL when the case does not say. */
static const struct path_sizes *read_sizes(json_t *json, struct path_sizes *sizes)
{
	json_t *step, *number;
	size_t index, place;
	int limit = 0;
	const char *why_not = "";

	if (!json)
		return NULL;
	memset(sizes, 0, sizeof(*sizes));
	assert_int_equal(json_unpack(json, "{s?i,s?b,s?s}", "limit", &limit, "cut_short", &sizes->is_cut_short, "why_not", &why_not), 0);
	sizes->limit_bytes = (unsigned int)limit;
	snprintf(sizes->why_not, sizeof(sizes->why_not), "%s", why_not);
	json_array_foreach(json_object_get(json, "points"), index, number)
		sizes->points[sizes->point_count++] = (int)json_integer_value(number);
	json_array_foreach(json_object_get(json, "steps"), index, step)
	{
		struct path_sizes_step *added = &sizes->steps[sizes->step_count++];

		assert_int_equal(json_array_size(step), 2 + sizes->point_count);
		added->frame_bytes = (unsigned int)json_integer_value(json_array_get(step, 0));
		added->trials = (int)json_integer_value(json_array_get(step, 1));
		for (place = 2; place < json_array_size(step); place++)
			added->arrived[place - 2] = (int)json_integer_value(json_array_get(step, place));
	}
	return sizes;
}

/* Findings of one check; the caller frees them. */
static struct finding_list examine(const char *check, json_t *document)
{
	json_t *targets = json_object_get(document, "targets"), *earlier = json_object_get(document, "earlier");
	static struct path_sizes sizes;
	struct facts_path path = { 0 };
	struct doctor_target target[16];
	struct doctor_request request = { .goal_gbps = json_number_value(json_object_get(document, "goal")),
					  .targets = target };
	struct finding_list list = { 0 }, kept = { 0 };
	struct facts *before = NULL, *facts = read_facts(check, json_object_get(document, "facts"));

	if (earlier) {
		/* The facts of before do not change with what is tried: they start from the case as it is written. */
		json_t *copy = json_deep_copy(json_object_get(document, "written"));

		change_all(copy, earlier);
		before = read_facts(check, json_object_get(copy, "facts"));
		json_decref(copy);
	}
	for (size_t i = 0; i < json_array_size(targets); i++, request.target_count++)
		target[i] = read_target(json_array_get(targets, i));
	read_path(document, &path);
	request.facts = facts;
	request.earlier = before;
	request.path = path.point_count ? &path : NULL;
	request.sizes = read_sizes(json_object_get(document, "sizes"), &sizes);
	if (doctor_examine(&request, &list) < 0)
		fail_msg("%s: %s", check, error_text());
	for (int i = 0; i < list.count; i++) {
		if (strcmp(list.findings[i].id, check))
			continue;
		*finding_list_add(&kept) = list.findings[i];
		list.findings[i] = (struct finding){ 0 };
	}
	finding_list_free(&list);
	facts_free(facts);
	facts_free(before);
	return kept;
}

/* --- judging a case ----------------------------------------------------------------------------------------------- */

static int holds(const char *check, const char *what, const char *text, json_t *wanted)
{
	if (!wanted || strstr(text, json_string_value(wanted)))
		return 1;
	print_error("%s: %s is \"%s\", without \"%s\"\n", check, what, text, json_string_value(wanted));
	return 0;
}

static int expect_yes(const char *check, json_t *document, const char *severity, json_t *texts)
{
	struct finding_list list = examine(check, document);
	int good = 0;

	for (int i = 0; i < list.count && !good; i++)
		good = !strcmp(finding_severity_name(list.findings[i].severity), severity);
	if (!good)
		print_error("%s: %d findings, none is %s (first: %s)\n", check, list.count, severity,
			    list.count ? list.findings[0].evidence : "");
	else if (texts)
		good = holds(check, "evidence", list.findings[0].evidence, json_object_get(texts, "evidence")) &&
		       holds(check, "rule", list.findings[0].rule, json_object_get(texts, "rule")) &&
		       holds(check, "fix", list.findings[0].fix, json_object_get(texts, "fix")) &&
		       holds(check, "interface", list.findings[0].interface, json_object_get(texts, "about"));
	for (int i = 0; i < list.count; i++)
		if (!list.findings[i].evidence[0] || !list.findings[i].rule[0] || !list.findings[i].effect[0]) {
			print_error("%s: a finding lacks a text\n", check);
			good = 0;
		}
	finding_list_free(&list);
	return good;
}

static int expect_no(const char *check, json_t *document)
{
	struct finding_list list = examine(check, document);
	int good = list.count == 0;

	if (!good)
		print_error("%s: still %s: %s\n", check, finding_severity_name(list.findings[0].severity),
			    list.findings[0].evidence);
	finding_list_free(&list);
	return good;
}

static json_t *changed(json_t *original, json_t *changes)
{
	json_t *copy = json_deep_copy(original);

	json_object_set(copy, "written", original);
	change_all(copy, changes);
	return copy;
}

static int try_case(json_t *one)
{
	const char *check = json_string_value(json_object_get(one, "check"));
	json_t *also = json_object_get(one, "also"), *item, *document = changed(one, NULL);
	size_t index;
	int good, number = check ? number_of(check) : -1;

	if (number < 0) {
		print_error("there is no check %s\n", check ? check : "without a name");
		return 0;
	}
	good = expect_yes(check, document, json_string_value(json_object_get(one, "yes")), one);
	json_decref(document);
	seen_yes[number] = check;
	if (json_object_get(one, "no")) {
		document = changed(one, json_object_get(one, "no"));
		good &= expect_no(check, document);
		json_decref(document);
		seen_no[number] = check;
	}
	json_array_foreach(also, index, item)
	{
		document = changed(one, json_object_get(item, "change"));
		good &= expect_yes(check, document, json_string_value(json_object_get(item, "yes")), item);
		json_decref(document);
	}
	return good;
}

static void test_cases(void **state)
{
	DIR *directory = opendir(DIRECTORY);
	struct dirent *entry;
	int bad = 0, count = 0;

	(void)state;
	assert_non_null(directory);
	while ((entry = readdir(directory)) != NULL) {
		char path[320];
		json_error_t error;
		json_t *cases, *one;
		size_t index;

		if (!strstr(entry->d_name, ".json"))
			continue;
		snprintf(path, sizeof(path), "%s/%s", DIRECTORY, entry->d_name);
		cases = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
		if (!cases)
			fail_msg("%s:%d: %s", path, error.line, error.text);
		json_array_foreach(cases, index, one)
		{
			count++;
			bad += !try_case(one);
		}
		/* seen_… point into the tables only by number; the names go with the document. */
		json_decref(cases);
	}
	closedir(directory);
	assert_true(count > 0);
	assert_int_equal(bad, 0);
}

/* Runs after the cases. */
static void test_every_check_has_both(void **state)
{
	int tables, number = 0, missing = 0;
	const struct check_table *const *table = doctor_tables(&tables);

	(void)state;
	for (int i = 0; i < tables; i++)
		for (int j = 0; j < table[i]->count; j++, number++) {
			if (!seen_yes[number] || !seen_no[number]) {
				print_error("%s has no case in which it is %s\n", table[i]->checks[j].id,
					    seen_yes[number] ? "false" : "true");
				missing++;
			}
		}
	assert_int_equal(missing, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_every_check_has_both),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
