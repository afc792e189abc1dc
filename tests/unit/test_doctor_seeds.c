// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The three field reports that the product answers, as fixtures: the doctor must name each cause first, and find no fail in the
 * same set-ups when they are mended. tests/golden/seeds.sh does it through the command.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/error.h"
#include "doctor/doctor.h"
#include "doctor/evidence.h"
#include "model/facts_json.h"

#define SEEDS "tests/golden/seeds/"

static struct facts *load(const char *path)
{
	struct facts *facts = NULL;

	if (facts_json_load(path, &facts))
		fail_msg("%s: %s", path, error_text());
	return facts;
}

static void paste(struct facts *facts, const char *path)
{
	if (evidence_read(path, facts))
		fail_msg("%s: %s", path, error_text());
}

static struct finding_list examine(const struct facts *facts)
{
	struct doctor_request request = { .facts = facts };
	struct finding_list list = { 0 };

	if (doctor_examine(&request, &list))
		fail_msg("%s", error_text());
	return list;
}

/* The finding at this place has that id and quotes that text. */
static void expect_at(const struct finding_list *list, int place, const char *id, const char *quoted)
{
	const struct finding *finding = &list->findings[place];

	assert_true(place < list->count);
	if (strcmp(finding->id, id) || finding->severity != FINDING_FAIL || !strstr(finding->evidence, quoted))
		fail_msg("finding %d is %s %s: %s", place + 1, finding_severity_name(finding->severity), finding->id,
			 finding->evidence);
}

static void expect_no_fail(const struct finding_list *list)
{
	for (int i = 0; i < list->count; i++)
		if (list->findings[i].severity == FINDING_FAIL)
			fail_msg("%s: %s", list->findings[i].id, list->findings[i].evidence);
}

static void sea(void **state)
{
	struct facts *facts = load(SEEDS "sea.json");
	struct finding_list list;

	(void)state;
	paste(facts, SEEDS "sea_entstat.txt");
	list = examine(facts);
	expect_at(&list, 0, "sea-large-send", "sea_entstat.txt:8: SEA Flags: 00000001, no LARGESEND");
	assert_string_equal(list.findings[1].id, "sea-jumbo");
	finding_list_free(&list);
	paste(facts, SEEDS "sea_lsdev.txt");
	list = examine(facts);
	expect_at(&list, 0, "sea-large-send", "largesend      0");
	finding_list_free(&list);
	facts_free(facts);
}

static void sea_mended(void **state)
{
	struct facts *facts = load(SEEDS "sea.json");
	static const char flags[] = "Statistics for adapters in the Shared Ethernet Adapter ent6\nSEA Flags: 00000007\n"
				    "    < THREAD >\n    < LARGESEND >\n    < JUMBO_FRAMES >\n";
	struct finding_list list;

	(void)state;
	if (evidence_parse("mended", flags, strlen(flags), facts))
		fail_msg("%s", error_text());
	list = examine(facts);
	expect_no_fail(&list);
	for (int i = 0; i < list.count; i++)
		assert_true(strncmp(list.findings[i].id, "sea-", 4));
	finding_list_free(&list);
	facts_free(facts);
}

static void guest_with_a_hub(void **state)
{
	struct facts *facts = load(SEEDS "kvm_bad.json");
	struct finding_list list = examine(facts);

	(void)state;
	expect_at(&list, 0, "qemu-hub", "\"-net nic,model=virtio,macaddr=52:54:00:5d:20:11\"");
	expect_at(&list, 1, "qemu-vnet-header", "\"-net tap,ifname=tap0,script=no,downscript=no\": behind hub 0");
	expect_at(&list, 2, "qemu-vhost", "\"-net tap,ifname=tap0,script=no,downscript=no\": no vhost=on");
	assert_string_equal(list.findings[0].fix,
			    "-netdev tap,id=net0,ifname=tap0,script=no,downscript=no,vhost=on -device "
			    "virtio-net-pci,netdev=net0,mac=52:54:00:5d:20:11");
	finding_list_free(&list);
	facts_free(facts);
}

static void guest_without_a_hub(void **state)
{
	struct facts *facts = load(SEEDS "kvm_good.json");
	struct finding_list list = examine(facts);

	(void)state;
	expect_no_fail(&list);
	finding_list_free(&list);
	facts_free(facts);
}

static void two_hypervisors(void **state)
{
	struct facts *facts = load(SEEDS "esx.json");
	struct finding_list list;

	(void)state;
	paste(facts, SEEDS "esx_a.txt");
	list = examine(facts);
	expect_no_fail(&list); /* this side is right */
	finding_list_free(&list);
	paste(facts, SEEDS "esx_b.txt");
	list = examine(facts);
	expect_at(&list, 0, "vswitch-mtu", "esx_b.txt:esx-south:53: vSwitch1: MTU: 1500");
	assert_non_null(strstr(list.findings[0].fix, "esxcli network vswitch standard set -v vSwitch1 -m 9000"));
	finding_list_free(&list);
	facts_free(facts);
}

/* Each fixture is what facts know: a typing error would be passed over. */
static void fixtures_are_whole(void **state)
{
	static const char *const files[] = { SEEDS "sea.json", SEEDS "kvm_bad.json", SEEDS "kvm_good.json",
					     SEEDS "esx.json" };

	(void)state;
	for (unsigned int i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		json_t *json = json_load_file(files[i], 0, NULL);
		char where[128];

		assert_non_null(json);
		if (facts_json_stray(json, where, sizeof(where)))
			fail_msg("%s: facts do not know %s", files[i], where);
		json_decref(json);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sea),
		cmocka_unit_test(sea_mended),
		cmocka_unit_test(guest_with_a_hub),
		cmocka_unit_test(guest_without_a_hub),
		cmocka_unit_test(two_hypervisors),
		cmocka_unit_test(fixtures_are_whole),
	};

	return cmocka_run_group_tests_name("the three field reports", tests, NULL, NULL);
}
