// SPDX-License-Identifier: GPL-2.0-or-later
/* Plans: which alternatives a path has, their commands, and what is missing. */
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
#include "doctor/plan.h"
#include "model/facts_json.h"
#include "report/plan_text.h"

/* A guest's tap, a bridge, and an adapter that could have VFs. */
static const char host[] =
	"{\"schema\": \"hopcap.facts/1\", \"kernel\": \"6.12.1\", \"cpu_count\": 8, \"netns\": [{\"name\": \"\"}], \"links\": ["
	"{\"ifindex\": 1, \"name\": \"tap0\", \"kind\": \"tun\", \"driver\": \"tun\", \"flags\": \"0x1\", \"mtu_bytes\": 1500, \"max_mtu_bytes\": 65521,"
	" \"tun_flags\": \"0x1002\", \"master_ifindex\": 9, \"port\": {\"state\": 3}, \"xdp_features\": 7},"
	"{\"ifindex\": 2, \"name\": \"eth0\", \"driver\": \"ixgbe\", \"bus\": \"pci\", \"bus_address\": \"0000:03:00.0\", \"flags\": \"0x1\","
	" \"mtu_bytes\": 1500, \"max_mtu_bytes\": 9710, \"rx_queues\": 1, \"tx_queues\": 1, \"rx_queues_max\": 63, \"vf_count\": 0, \"vf_total\": 63,"
	" \"master_ifindex\": 9, \"port\": {\"state\": 3}, \"xdp_features\": 11, \"xdp_mode\": 2, \"xdp_program_id\": 4,"
	" \"features\": [{\"name\": \"rx-lro\", \"on\": true}]},"
	"{\"ifindex\": 9, \"name\": \"br0\", \"kind\": \"bridge\", \"flags\": \"0x1\", \"mtu_bytes\": 1500}],"
	"\"processes\": [{\"pid\": 7, \"name\": \"qemu\", \"is_qemu\": true, \"kvm\": 1, \"vhost_net\": 0,"
	" \"arguments\": [\"qemu-system-x86_64\", \"-enable-kvm\", \"-net\", \"nic,model=virtio\", \"-net\", \"tap,ifname=tap0\"],"
	" \"tuns\": [{\"netns\": 0, \"interface\": \"tap0\", \"descriptors\": 1}]}],"
	"\"files\": [{\"path\": \"/sys/bus/pci/devices/0000:03:00.0/iommu_group/type\", \"text\": \"DMA-FQ\"},"
	" {\"path\": \"/proc/sys/net/bridge/bridge-nf-call-iptables\", \"text\": \"1\"}]}";

static const struct facts_path path = {
	.point_count = 2,
	.points = { { .netns = 0, .ifindex = 1 }, { .netns = 0, .ifindex = 2 } },
	.hops = { { .kind = FACTS_HOP_BRIDGE, .name = "bridge br0", .netns = 0, .ifindex = 9 } },
};

static struct facts *facts_of(const char *text)
{
	struct facts *facts = NULL;

	if (facts_json_parse(text, strlen(text), "test", &facts) < 0)
		fail_msg("%s", error_text());
	return facts;
}

static struct plan make(const struct facts *facts)
{
	struct doctor_request request = { .facts = facts, .path = &path };
	struct finding_list findings = { 0 };
	struct plan plan = { 0 };

	assert_int_equal(doctor_examine(&request, &findings), 0);
	assert_int_equal(plan_make(&request, &findings, &plan), 0);
	finding_list_free(&findings);
	return plan;
}

static const struct plan_alternative *alternative(const struct plan *plan, const char *id)
{
	for (int i = 0; i < plan->count; i++)
		if (!strcmp(plan->alternatives[i].id, id))
			return &plan->alternatives[i];
	fail_msg("there is no alternative %s", id);
	return NULL;
}

static int has_line(const struct plan_lines *lines, const char *text)
{
	for (int i = 0; i < lines->count; i++)
		if (strstr(lines->lines[i], text))
			return 1;
	return 0;
}

static void test_host(void **state)
{
	struct facts *facts = facts_of(host);
	struct plan plan = make(facts);
	const struct plan_alternative *one;

	(void)state;
	one = alternative(&plan, "jumbo");
	assert_int_equal(one->commands.count, 2);
	assert_string_equal(one->commands.lines[0], "ip link set dev eth0 mtu 9000"); /* the sink first */
	assert_int_equal(one->missing.count, 0);
	one = alternative(&plan, "vhost");
	assert_true(has_line(&one->commands, "vhost=on"));
	one = alternative(&plan, "passthrough");
	assert_true(has_line(&one->commands, "echo 1 > /sys/class/net/eth0/device/sriov_numvfs"));
	assert_true(has_line(&one->commands, "-device vfio-pci,host=$VF"));
	assert_int_equal(one->missing.count, 0);
	one = alternative(&plan, "queues");
	assert_true(has_line(&one->commands, "ethtool -L eth0 combined 8"));
	one = alternative(&plan, "lean-bridge");
	assert_true(has_line(&one->commands, "bridge-nf-call-iptables=0"));
	one = alternative(&plan, "native-xdp");
	assert_true(has_line(&one->missing, "rx-lro: on"));
	one = alternative(&plan, "xdp-bypass");
	assert_true(has_line(&one->commands, "hopcap accel start br0"));
	for (int i = 1; i < plan.count; i++) /* what can be done comes first */
		assert_true((plan.alternatives[i - 1].missing.count > 0) <= (plan.alternatives[i].missing.count > 0));
	plan_free(&plan);
	facts_free(facts);
}

static void test_what_is_missing(void **state)
{
	struct facts *facts = facts_of(host);
	struct plan plan;
	const struct plan_alternative *one;

	(void)state;
	facts->links[0].max_mtu_bytes = 1500;
	facts->links[1].vf_total = facts->links[1].vf_count = -1;
	snprintf(facts->hypervisor, sizeof(facts->hypervisor), "kvm");
	plan = make(facts);
	assert_true(has_line(&alternative(&plan, "jumbo")->missing, "tap0 takes at most 1500 bytes"));
	one = alternative(&plan, "passthrough");
	assert_int_equal(one->commands.count, 0);
	assert_true(has_line(&one->missing, "SR-IOV"));
	plan_free(&plan);

	facts->links[1].vf_total = 8;
	facts->links[1].vf_count = 0;
	plan = make(facts);
	assert_true(has_line(&alternative(&plan, "passthrough")->missing, "itself a guest of kvm"));
	plan_free(&plan);
	facts_free(facts);
}

static void test_output(void **state)
{
	struct facts *facts = facts_of(host);
	struct plan plan = make(facts), none = { 0 };
	struct report_style style = { 0 };
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);
	json_t *json = plan_to_json(&plan);

	(void)state;
	assert_int_equal(plan_text(&plan, stream, &style), 0);
	fclose(stream);
	assert_non_null(strstr(text, "none of the commands was executed"));
	assert_non_null(strstr(text, "  set up    ip link set dev eth0 mtu 9000\n"));
	free(text);
	assert_int_equal(json_array_size(json_object_get(json, "alternatives")), plan.count);
	json_decref(json);
	stream = open_memstream(&text, &size);
	assert_int_equal(plan_text(&none, stream, &style), 0);
	fclose(stream);
	assert_string_equal(text, "no other way is known for this path\n");
	free(text);
	plan_free(&plan);
	facts_free(facts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_host),
		cmocka_unit_test(test_what_is_missing),
		cmocka_unit_test(test_output),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
