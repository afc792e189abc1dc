// SPDX-License-Identifier: GPL-2.0-or-later
/* The engine: rows that are whole, who is examined, what comes first, how long it takes. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/error.h"
#include "doctor/doctor.h"
#include "doctor/lookup.h"
#include "model/facts_json.h"

/* --- rows --------------------------------------------------------------------------------------------------------- */

static void expect_text(const char *id, const char *what, const char *text, size_t least)
{
	if (!text || strlen(text) < least)
		fail_msg("%s: %s is missing or short", id, what);
}

static void test_rows_are_whole(void **state)
{
	int tables, count = 0;
	const struct check_table *const *table = doctor_tables(&tables);

	(void)state;
	for (int i = 0; i < tables; i++)
		for (int j = 0; j < table[i]->count; j++, count++) {
			const struct check *check = &table[i]->checks[j];

			expect_text(check->id, "id", check->id, 4);
			assert_true(strlen(check->id) < sizeof(((struct finding *)0)->id));
			expect_text(check->id, "title", check->title, 8);
			expect_text(check->id, "why", check->why, 40);
			expect_text(check->id, "remedy", check->remedy, 10);
			expect_text(check->id, "effect", check->effect, 8);
			expect_text(check->id, "reference", check->reference, 2);
			assert_non_null(check->judge);
			assert_true(check->weight > 0 && check->weight <= 1);
			if (doctor_check_find(check->id) != check)
				fail_msg("%s: there are two", check->id);
		}
	assert_true(count >= 80);
	assert_null(doctor_check_find("no-such-check"));
}

/* A verdict of each cause can find its explanation, and what concerns TCP alone explains none. */
static void test_causes_are_explained(void **state)
{
	int tables, rows[RUN_CAUSE_SOURCE + 1] = { 0 };
	const struct check_table *const *table = doctor_tables(&tables);

	(void)state;
	for (int i = 0; i < tables; i++)
		for (int j = 0; j < table[i]->count; j++) {
			const struct check *check = &table[i]->checks[j];

			assert_in_range(check->explains, RUN_CAUSE_UNKNOWN, RUN_CAUSE_MTU);
			if (check->is_tcp_only)
				assert_int_equal(check->explains, RUN_CAUSE_UNKNOWN);
			rows[check->explains]++;
		}
	for (int cause = RUN_CAUSE_CPU; cause <= RUN_CAUSE_MTU; cause++)
		assert_true(rows[cause] >= 3);
}

/* What a first release must know, by the causes that are seen most. */
static void test_first_release(void **state)
{
	static const char *const ids[] = {
		"mtu-step",
		"mtu-hidden-hop",
		"mtu-umem-chunk",
		"nic-emulated",
		"qemu-emulated-nic",
		"qemu-hub",
		"qemu-vnet-header",
		"qemu-vhost",
		"nic-single-queue",
		"xdp-virtio-queues",
		"xdp-virtio-offloads",
		"tap-overflow",
		"vhost-placement",
		"vhost-saturated",
		"vhost-waiting",
		"cpu-steal",
		"irq-node",
		"numa-guest",
		"nic-pcie",
		"nic-speed",
		"nic-duplex",
		"nic-pause",
		"nic-ring",
		"nic-missed",
		"nic-queue-spread",
		"irq-pile",
		"softnet-drops",
		"softnet-squeezes",
		"cpu-governor",
		"cpu-idle-states",
		"iommu-strict",
		"nic-lro-forwarding",
		"nic-offloads-off",
		"xdp-generic-mode",
		"xdp-target",
		"xdp-zero-copy",
		"clock-guest",
		"cpu-program-full",
		"vf-rate",
		"vf-spoof-check",
		"bridge-netfilter",
		"bridge-port-state",
		"bridge-pvid-none",
		"bridge-pvid-differs",
		"conntrack",
		"qdisc-drops",
		"bond-mode",
		"lpar-tso",
		"lpar-large-unused",
		"lpar-no-buffer",
		"lpar-one-tx-queue",
		"vmxnet3-ring",
		"vswitch-mtu",
		"netvsc-vf",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		if (!doctor_check_find(ids[i]))
			fail_msg("there is no check %s", ids[i]);
}

/* --- the engine --------------------------------------------------------------------------------------------------- */

static struct facts *facts_of(const char *text)
{
	struct facts *facts = NULL;

	if (facts_json_parse(text, strlen(text), "test", &facts) < 0)
		fail_msg("%s", error_text());
	return facts;
}

static const struct finding *find(const struct finding_list *list, const char *id, const char *interface)
{
	for (int i = 0; i < list->count; i++)
		if (!strcmp(list->findings[i].id, id) &&
		    (!interface || !strcmp(list->findings[i].interface, interface)))
			return &list->findings[i];
	return NULL;
}

#define THREE_LINKS                                                                                                              \
	"{\"schema\": \"hopcap.facts/1\", \"netns\": [{\"name\": \"\"}, {\"name\": \"far\"}], \"links\": ["                      \
	"{\"ifindex\": 1, \"name\": \"lo\", \"flags\": \"0x9\", \"mtu_bytes\": 65536},"                                          \
	"{\"ifindex\": 2, \"name\": \"a0\", \"flags\": \"0x1\", \"mtu_bytes\": 9000, \"eee\": true, \"bus\": \"pci\"},"          \
	"{\"ifindex\": 3, \"name\": \"b0\", \"flags\": \"0x1\", \"mtu_bytes\": 1500, \"qdiscs\": ["                              \
	"  {\"kind\": \"tbf\", \"handle\": \"0x10000\", \"parent\": \"0xffffffff\", \"rate_bytes_per_s\": 12500000}]},"          \
	"{\"ifindex\": 4, \"name\": \"side0\", \"flags\": \"0x1\", \"mtu_bytes\": 1500, \"eee\": true, \"bus\": \"pci\","        \
	"  \"qdiscs\": [{\"kind\": \"tbf\", \"handle\": \"0x10000\", \"parent\": \"0xffffffff\", \"rate_bytes_per_s\": 1000}]}," \
	"{\"ifindex\": 5, \"name\": \"down0\", \"flags\": \"0x0\", \"mtu_bytes\": 1500},"                                        \
	"{\"netns\": 1, \"ifindex\": 2, \"name\": \"a0\", \"flags\": \"0x1\", \"mtu_bytes\": 1500, \"eee\": true, \"bus\": \"pci\"}]}"

static const struct facts_path two_points = {
	.point_count = 2,
	.points = { { .netns = 0, .ifindex = 2, .is_out = 1 }, { .netns = 0, .ifindex = 3, .is_out = 1 } },
};

static void test_who_is_examined(void **state)
{
	struct facts *facts = facts_of(THREE_LINKS);
	struct doctor_target target = { 0, 4 };
	struct doctor_request request = { .facts = facts };
	struct finding_list list = { 0 };

	(void)state;
	assert_int_equal(doctor_examine(&request, &list), 0);
	assert_non_null(find(&list, "nic-eee", "a0"));
	assert_non_null(find(&list, "nic-eee", "side0"));
	assert_non_null(find(&list, "nic-eee", "a0@ns:far"));
	assert_null(find(&list, "nic-down", "down0")); /* who is down was not asked about */
	finding_list_free(&list);

	request.targets = &target;
	request.target_count = 1;
	assert_int_equal(doctor_examine(&request, &list), 0);
	assert_null(find(&list, "nic-eee", "a0"));
	assert_non_null(find(&list, "nic-eee", "side0"));
	finding_list_free(&list);

	target.ifindex = 5;
	assert_int_equal(doctor_examine(&request, &list), 0);
	assert_non_null(find(&list, "nic-down", "down0"));
	finding_list_free(&list);

	target.ifindex = 77;
	assert_int_equal(doctor_examine(&request, &list), -ENOENT);
	assert_int_equal(list.count, 0);
	facts_free(facts);
}

/* MTU and shaper of the path come before anything beside it, and before what only costs. */
static void test_order(void **state)
{
	struct facts *facts = facts_of(THREE_LINKS);
	struct doctor_target target = { 0, 4 };
	struct doctor_request request = {
		.facts = facts, .path = &two_points, .targets = &target, .target_count = 1, .goal_gbps = 10
	};
	struct finding_list list = { 0 };
	const struct finding *beside;

	(void)state;
	assert_int_equal(doctor_examine(&request, &list), 0);
	assert_true(list.count > 3);
	for (int i = 1; i < list.count; i++)
		assert_true(list.findings[i - 1].rank >= list.findings[i].rank);
	assert_string_equal(list.findings[0].id, "rate-shaper");
	assert_string_equal(list.findings[0].interface, "b0");
	assert_int_equal(list.findings[0].hop, 1);
	assert_true(list.findings[0].cap_gbps > 0.09 && list.findings[0].cap_gbps < 0.11);
	assert_string_equal(list.findings[1].id, "mtu-step");
	assert_int_equal(list.findings[1].hop, 1);
	beside = find(&list, "rate-shaper", "side0");
	assert_non_null(beside);
	assert_int_equal(beside->hop, 0);
	assert_true(beside->rank < find(&list, "mtu-step", NULL)->rank);
	assert_true(find(&list, "nic-eee", "a0")->rank > find(&list, "nic-eee", "side0")->rank);
	finding_list_free(&list);
	facts_free(facts);
}

/* The same twice is said once, and the same facts give the same order. */
static void test_repeatable(void **state)
{
	struct facts *facts = facts_of(THREE_LINKS);
	struct doctor_target targets[] = { { 0, 2 }, { 0, 2 }, { 1, 2 } };
	struct doctor_request request = { .facts = facts, .targets = targets, .target_count = 3 };
	struct finding_list list = { 0 }, again = { 0 };
	json_t *one, *two;

	(void)state;
	assert_int_equal(doctor_examine(&request, &list), 0);
	assert_int_equal(doctor_examine(&request, &again), 0);
	one = finding_list_to_json(&list);
	two = finding_list_to_json(&again);
	assert_non_null(one);
	assert_true(json_equal(one, two));
	for (int i = 1; i < list.count; i++)
		assert_false(!strcmp(list.findings[i].id, list.findings[i - 1].id) &&
			     !strcmp(list.findings[i].interface, list.findings[i - 1].interface) &&
			     !strcmp(list.findings[i].evidence, list.findings[i - 1].evidence));
	json_decref(one);
	json_decref(two);
	finding_list_free(&list);
	finding_list_free(&again);
	facts_free(facts);
}

/* An interface that was made again, or a driver that counts anew, is not compared with what was before. */
static void test_counters_anew(void **state)
{
	static const char now[] =
		"{\"schema\": \"hopcap.facts/1\", \"netns\": [{\"name\": \"\"}], \"links\": [{\"ifindex\": 2, \"name\": "
		"\"e0\", \"flags\": \"0x1\", \"counters\": [{\"name\": \"rx_missed_errors\", \"value\": 5}]}]}";
	static const char before[] =
		"{\"schema\": \"hopcap.facts/1\", \"netns\": [{\"name\": \"\"}], \"links\": [{\"ifindex\": 2, \"name\": \"%s\", "
		"\"flags\": \"0x1\", \"counters\": [{\"name\": \"rx_missed_errors\", \"value\": %d}]}]}";
	static const struct {
		const char *name;
		int value;
		enum finding_severity severity;
	} cases[] = { { "e0", 3, FINDING_FAIL }, { "e0", 9, FINDING_INFO }, { "e9", 3, FINDING_INFO } };
	struct facts *facts = facts_of(now);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct doctor_request request = { .facts = facts };
		struct finding_list list = { 0 };
		struct facts *earlier;
		char text[512];

		snprintf(text, sizeof(text), before, cases[i].name, cases[i].value);
		earlier = facts_of(text);
		request.earlier = earlier;
		assert_int_equal(doctor_examine(&request, &list), 0);
		assert_non_null(find(&list, "nic-missed", NULL));
		assert_int_equal(find(&list, "nic-missed", NULL)->severity, cases[i].severity);
		finding_list_free(&list);
		facts_free(earlier);
	}
	facts_free(facts);
}

/* --- many links --------------------------------------------------------------------------------------------------- */

static struct facts *many_links(int count)
{
	struct facts *facts = facts_new();

	snprintf(facts->kernel, sizeof(facts->kernel), "6.12.1");
	facts->cpu_count = 64;
	for (int i = 0; i < count; i++) {
		struct facts_link *link = facts_add_link(facts);
		int is_bridge = i % 64 == 0;

		snprintf(link->name, sizeof(link->name), "l%d", i);
		snprintf(link->kind, sizeof(link->kind), "%s", is_bridge ? "bridge" : "veth");
		link->ifindex = i + 1;
		link->flags = 1;
		link->mtu_bytes = i % 3 ? 1500 : 9000;
		link->rx_queues = link->tx_queues = 4;
		link->master_ifindex = is_bridge ? 0 : i / 64 * 64 + 1;
		link->port.state = is_bridge ? -1 : 3;
		link->lower_netns = 0;
		link->lower_ifindex = is_bridge ? 0 : (i ^ 1) + 1;
		link->xdp_features = 35;
		for (int j = 0; j < 24; j++) {
			struct facts_counter *counter = facts_add_counter(link);

			snprintf(counter->name, sizeof(counter->name), "rx_queue_%d_packets", j);
			counter->value = (uint64_t)j * 1000;
		}
		for (int j = 0; j < 4; j++) {
			struct facts_fdb *entry = facts_add_fdb(facts);

			entry->bridge_ifindex = i / 64 * 64 + 1;
			entry->port_ifindex = link->ifindex;
			entry->address[5] = (uint8_t)i;
			entry->address[4] = (uint8_t)j;
		}
	}
	facts_sort(facts);
	return facts;
}

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void test_many_links(void **state)
{
	struct facts *facts = many_links(4096);
	struct doctor_request request = { .facts = facts, .earlier = facts };
	struct finding_list list = { 0 };
	double start = cpu_seconds();

	(void)state;
	assert_int_equal(doctor_examine(&request, &list), 0);
	start = cpu_seconds() - start;
	print_message("4096 interfaces, %d findings: %.2f s\n", list.count, start);
	assert_true(list.count > 1000);
	assert_true(start <= 2);
	finding_list_free(&list);
	facts_free(facts);
}

/* --- look-ups ----------------------------------------------------------------------------------------------------- */

static void test_cpu_sets(void **state)
{
	struct lookup_cpus cpus;

	(void)state;
	assert_int_equal(lookup_cpu_list("0-3,8\n", &cpus), 0);
	assert_int_equal(lookup_cpu_count(&cpus), 5);
	assert_true(lookup_cpu_is_in(&cpus, 8) && !lookup_cpu_is_in(&cpus, 4) && !lookup_cpu_is_in(&cpus, -1) &&
		    !lookup_cpu_is_in(&cpus, 1 << 20));
	assert_int_equal(lookup_cpu_list("", &cpus), -1);
	assert_int_equal(lookup_cpu_list("all", &cpus), -1);
	assert_int_equal(lookup_cpu_list("0-", &cpus), -1);
	assert_int_equal(lookup_cpu_list("1;2", &cpus), -1);
	assert_int_equal(lookup_cpu_list("0-99999999999", &cpus), 0);
	assert_int_equal(lookup_cpu_count(&cpus), LOOKUP_MAX_CPUS);
	assert_int_equal(lookup_cpu_mask("00000001,0000000c", &cpus), 0);
	assert_int_equal(lookup_cpu_count(&cpus), 3);
	assert_true(lookup_cpu_is_in(&cpus, 32) && lookup_cpu_is_in(&cpus, 3));
	assert_int_equal(lookup_cpu_mask("xyz", &cpus), -1);
	assert_int_equal(lookup_cpu_mask("", &cpus), -1);
}

static void test_kernels(void **state)
{
	static const struct {
		const char *text;
		int kernel;
	} cases[] = { { "6.1.0-18-amd64", 6001 }, { "Linux 6.18.44", 6018 },
		      { "5.14.0-362.el9", 5014 }, { "", 0 },
		      { "unknown", 0 },		  { "6", 0 },
		      { "6.1000.1", 0 },	  { "99999999999.1", 0 } };
	struct facts *facts = facts_new();

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(facts->kernel, sizeof(facts->kernel), "%s", cases[i].text);
		assert_int_equal(lookup_kernel(facts), cases[i].kernel);
	}
	facts_free(facts);
}

/* The arguments of a text may themselves be texts that are about to be overwritten. */
static void test_rotating_texts(void **state)
{
	const char *text = check_text("start");

	(void)state;
	for (int i = 0; i < 100; i++)
		text = check_text("%s.", i % 50 ? text : "start");
	assert_int_equal(strlen(text), strlen("start") + 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_are_whole), cmocka_unit_test(test_causes_are_explained),
		cmocka_unit_test(test_first_release),  cmocka_unit_test(test_who_is_examined),
		cmocka_unit_test(test_order),	       cmocka_unit_test(test_repeatable),
		cmocka_unit_test(test_counters_anew),  cmocka_unit_test(test_many_links),
		cmocka_unit_test(test_cpu_sets),       cmocka_unit_test(test_kernels),
		cmocka_unit_test(test_rotating_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
