// SPDX-License-Identifier: GPL-2.0-or-later
/* tc messages to facts: rates, limits and counters of qdiscs and classes, police actions and programs of filters, and hostile
 * bytes. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <linux/gen_stats.h>
#include <linux/pkt_cls.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>

#include "netlink_message.h"
#include "sys/collect_qdisc_parse.h"

/* A qdisc or class whose options the caller adds in the nest; type RTM_NEWQDISC or RTM_NEWTCLASS. */
static struct nl_msg *begin(int type, const char *kind, struct nlattr **options)
{
	const struct tcmsg header = { .tcm_ifindex = 5, .tcm_handle = 0x10001, .tcm_parent = TC_H_ROOT };
	struct nl_msg *building = message_start(type, &header, sizeof(header));

	nla_put_string(building, TCA_KIND, kind);
	*options = message_nest(building, TCA_OPTIONS);
	return building;
}

static struct nlmsghdr *end(struct nl_msg *building, struct nlattr *options)
{
	const struct gnet_stats_basic basic = { .bytes = 1000, .packets = 10 };
	const struct gnet_stats_queue queue = {
		.qlen = 1, .backlog = 1514, .drops = 7, .requeues = 2, .overlimits = 5
	};
	struct nlattr *stats;

	nla_nest_end(building, options);
	stats = message_nest(building, TCA_STATS2);
	nla_put(building, TCA_STATS_BASIC, sizeof(basic), &basic);
	nla_put(building, TCA_STATS_QUEUE, sizeof(queue), &queue);
	nla_nest_end(building, stats);
	return message_finish(building);
}

static struct nlmsghdr *tbf(uint64_t rate64)
{
	const struct tc_tbf_qopt parameters = { .rate = { .rate = 50000000 }, .limit = 30000 };
	struct nlattr *options;
	struct nl_msg *building = begin(RTM_NEWQDISC, "tbf", &options);

	nla_put(building, TCA_TBF_PARMS, sizeof(parameters), &parameters);
	if (rate64)
		nla_put_u64(building, TCA_TBF_RATE64, rate64);
	return end(building, options);
}

static struct nlmsghdr *htb_class(void)
{
	const struct tc_htb_opt parameters = { .rate = { .rate = 1000 }, .ceil = { .rate = 2000 } };
	struct nlattr *options;
	struct nl_msg *building = begin(RTM_NEWTCLASS, "htb", &options);

	nla_put(building, TCA_HTB_PARMS, sizeof(parameters), &parameters);
	return end(building, options);
}

static struct nlmsghdr *hfsc_class(int with_upper_limit)
{
	const struct tc_service_curve fair = { .m2 = 1000 }, upper = { .m1 = 9, .d = 9, .m2 = 3000 };
	struct nlattr *options;
	struct nl_msg *building = begin(RTM_NEWTCLASS, "hfsc", &options);

	nla_put(building, TCA_HFSC_FSC, sizeof(fair), &fair);
	if (with_upper_limit)
		nla_put(building, TCA_HFSC_USC, sizeof(upper), &upper);
	return end(building, options);
}

static struct nlmsghdr *netem(void)
{
	const struct tc_netem_qopt fixed = { .limit = 1000 };
	const struct tc_netem_rate rate = { .rate = 125000 };
	struct nlattr *options;
	struct nl_msg *building = begin(RTM_NEWQDISC, "netem", &options);

	nlmsg_append(building, (void *)(uintptr_t)&fixed, sizeof(fixed), NLMSG_ALIGNTO);
	nla_put(building, TCA_NETEM_RATE, sizeof(rate), &rate);
	return end(building, options);
}

static struct nlmsghdr *plain_fifo(void)
{
	const struct tc_fifo_qopt parameters = { .limit = 77 };
	struct nlattr *options;
	struct nl_msg *building = begin(RTM_NEWQDISC, "pfifo", &options);

	nlmsg_append(building, (void *)(uintptr_t)&parameters, sizeof(parameters), NLMSG_ALIGNTO);
	return end(building, options);
}

static struct nlmsghdr *of_number(const char *kind, int attribute, uint32_t value)
{
	struct nlattr *options;
	struct nl_msg *building = begin(RTM_NEWQDISC, kind, &options);

	nla_put_u32(building, attribute, value);
	return end(building, options);
}

static void test_rates_and_limits(void **state)
{
	const struct {
		struct nlmsghdr *message;
		const char *kind;
		int is_class;
		uint64_t rate_bytes_per_s, limit;
	} cases[] = {
		{ tbf(0), "tbf", 0, 50000000, 30000 },
		{ tbf(10000000000ULL), "tbf", 0, 10000000000ULL, 30000 },
		{ htb_class(), "htb", 1, 2000, 0 },
		{ hfsc_class(1), "hfsc", 1, 3000, 0 },
		{ hfsc_class(0), "hfsc", 1, 0, 0 },
		{ netem(), "netem", 0, 125000, 1000 },
		{ plain_fifo(), "pfifo", 0, 0, 77 },
		{ of_number("fq_codel", TCA_FQ_CODEL_LIMIT, 10240), "fq_codel", 0, 0, 10240 },
		{ of_number("fq", TCA_FQ_PLIMIT, 10000), "fq", 0, 0, 10000 },
		{ of_number("mystery", 3, 5), "mystery", 0, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct facts_qdisc qdisc;
		int ifindex = 0;

		assert_int_equal(collect_parse_qdisc(cases[i].message, &qdisc, &ifindex), 1);
		assert_int_equal(ifindex, 5);
		assert_string_equal(qdisc.kind, cases[i].kind);
		assert_int_equal(qdisc.is_class, cases[i].is_class);
		assert_true(qdisc.rate_bytes_per_s == cases[i].rate_bytes_per_s);
		assert_true(qdisc.limit == cases[i].limit);
		assert_int_equal(qdisc.handle, 0x10001);
		assert_int_equal(qdisc.parent, TC_H_ROOT);
		assert_int_equal(qdisc.frames, 10);
		assert_int_equal(qdisc.bytes, 1000);
		assert_int_equal(qdisc.drops, 7);
		assert_int_equal(qdisc.overlimits, 5);
		assert_int_equal(qdisc.requeues, 2);
		assert_int_equal(qdisc.backlog_bytes, 1514);
		assert_int_equal(qdisc.backlog_frames, 1);
		free(cases[i].message);
	}
}

static void test_no_qdisc(void **state)
{
	const struct tcmsg header = { .tcm_ifindex = 5 };
	struct nlmsghdr *message = message_finish(message_start(RTM_NEWQDISC, &header, sizeof(header)));
	struct facts_qdisc qdisc;
	int ifindex;

	(void)state;
	assert_int_equal(collect_parse_qdisc(message, &qdisc, &ifindex), -EBADMSG);
	message->nlmsg_type = RTM_NEWTFILTER;
	assert_int_equal(collect_parse_qdisc(message, &qdisc, &ifindex), 0);
	free(message);
}

static struct nl_msg *begin_filter(const char *kind, uint32_t handle, uint32_t parent, struct nlattr **options)
{
	const struct tcmsg header = { .tcm_ifindex = 5, .tcm_handle = handle, .tcm_parent = parent };
	struct nl_msg *building = message_start(RTM_NEWTFILTER, &header, sizeof(header));

	nla_put_string(building, TCA_KIND, kind);
	*options = message_nest(building, TCA_OPTIONS);
	return building;
}

static struct nlmsghdr *end_filter(struct nl_msg *building, struct nlattr *options)
{
	nla_nest_end(building, options);
	return message_finish(building);
}

static void put_police(struct nl_msg *building, uint32_t rate)
{
	const struct tc_police parameters = { .rate = { .rate = rate } };

	nla_put(building, TCA_POLICE_TBF, sizeof(parameters), &parameters);
}

static void add_action(struct nl_msg *building, int index, const char *kind, uint32_t rate)
{
	struct nlattr *action = message_nest(building, index), *options;

	nla_put_string(building, TCA_ACT_KIND, kind);
	options = message_nest(building, TCA_ACT_OPTIONS);
	put_police(building, rate);
	nla_nest_end(building, options);
	nla_nest_end(building, action);
}

/* mirred, then police twice: the lower rate holds. */
static struct nlmsghdr *matchall(uint32_t parent)
{
	struct nlattr *options, *actions;
	struct nl_msg *building = begin_filter("matchall", 1, parent, &options);

	actions = message_nest(building, TCA_MATCHALL_ACT);
	add_action(building, 1, "mirred", 5);
	add_action(building, 2, "police", 4000);
	add_action(building, 3, "police", 3000);
	nla_nest_end(building, actions);
	return end_filter(building, options);
}

static void test_police(void **state)
{
	static const struct {
		uint32_t parent;
		int ingress;
	} cases[] = {
		{ TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_INGRESS), 1 },
		{ TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_EGRESS), 0 },
		{ TC_H_MAKE(TC_H_INGRESS, 0), 1 },
		{ 0x10000, 0 },
	};
	struct facts_filter filter;
	uint32_t program_id;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct nlmsghdr *message = matchall(cases[i].parent);

		assert_int_equal(collect_parse_filter(message, &filter, &program_id), 1);
		assert_string_equal(filter.kind, "matchall");
		assert_int_equal(filter.ingress, cases[i].ingress);
		assert_int_equal(filter.police_bytes_per_s, 3000);
		assert_int_equal(program_id, 0);
		free(message);
	}
}

static struct nlmsghdr *bpf(void)
{
	struct nlattr *options;
	struct nl_msg *building = begin_filter("bpf", 1, TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_EGRESS), &options);

	nla_put_string(building, TCA_BPF_NAME, "prog.o:[tc]");
	nla_put_u32(building, TCA_BPF_ID, 42);
	return end_filter(building, options);
}

/* A key, or a hash table that is listed among them. An action of the old kind. */
static struct nlmsghdr *u32(int is_table)
{
	const struct tc_u32_sel selector = { .nkeys = 0 };
	struct nlattr *options, *police;
	struct nl_msg *building = begin_filter("u32", 0x80000800, 0x10000, &options);

	if (is_table) {
		nla_put_u32(building, TCA_U32_DIVISOR, 1);
	} else {
		nla_put(building, TCA_U32_SEL, sizeof(selector), &selector);
		police = message_nest(building, TCA_U32_POLICE);
		put_police(building, 999);
		nla_nest_end(building, police);
	}
	return end_filter(building, options);
}

static void test_programs_and_tables(void **state)
{
	struct nlmsghdr *message = bpf();
	struct facts_filter filter;
	struct nlattr *options;
	struct nl_msg *head;
	uint32_t program_id;

	(void)state;
	assert_int_equal(collect_parse_filter(message, &filter, &program_id), 1);
	assert_string_equal(filter.name, "prog.o:[tc]");
	assert_int_equal(program_id, 42);
	assert_int_equal(filter.police_bytes_per_s, 0);
	free(message);
	message = u32(0);
	assert_int_equal(collect_parse_filter(message, &filter, &program_id), 1);
	assert_int_equal(filter.police_bytes_per_s, 999);
	free(message);
	message = u32(1);
	assert_int_equal(collect_parse_filter(message, &filter, &program_id), 0);
	free(message);
	head = begin_filter("bpf", 0, 0x10000, &options); /* the head of a list of filters */
	message = end_filter(head, options);
	assert_int_equal(collect_parse_filter(message, &filter, &program_id), 0);
	free(message);
}

static void parse_hostile(struct nlmsghdr *message, void *context)
{
	struct facts_filter filter;
	struct facts_qdisc qdisc;
	uint32_t program_id;
	int ifindex;

	(void)context;
	collect_parse_qdisc(message, &qdisc, &ifindex);
	collect_parse_filter(message, &filter, &program_id);
	assert_non_null(memchr(qdisc.kind, 0, sizeof(qdisc.kind)));
	assert_non_null(memchr(filter.kind, 0, sizeof(filter.kind)));
	assert_non_null(memchr(filter.name, 0, sizeof(filter.name)));
}

static void test_cut_and_damaged_messages(void **state)
{
	struct nlmsghdr *messages[] = { tbf(1),	      htb_class(),	 hfsc_class(1), netem(),
					plain_fifo(), matchall(0x10000), bpf(),		u32(0) };

	(void)state;
	for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); i++) {
		message_cut(messages[i], parse_hostile, NULL);
		message_damage(messages[i], 10000, parse_hostile, NULL);
		free(messages[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rates_and_limits),
		cmocka_unit_test(test_no_qdisc),
		cmocka_unit_test(test_police),
		cmocka_unit_test(test_programs_and_tables),
		cmocka_unit_test(test_cut_and_damaged_messages),
	};

	return cmocka_run_group_tests_name("collect_qdisc_parse", tests, NULL, NULL);
}
