// SPDX-License-Identifier: GPL-2.0-or-later
/* tc messages to facts; see collect_qdisc_parse.h. One row a kind of qdisc and of filter. */
#include "sys/collect_qdisc_parse.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <linux/pkt_cls.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <netlink/msg.h>

#include "sys/nl_attribute.h"
#include "sys/rtnl_parse.h"

#define MAX_OPTIONS 64 /* attributes of any kind that are looked at have lower numbers */

/* The rate in 64 bits where it does not fit in struct tc_ratespec. */
static uint64_t wide_rate(uint64_t narrow, const struct nlattr *wide)
{
	return wide ? nl_u64(wide) : narrow;
}

static void parse_tbf(struct nlattr **options, struct facts_qdisc *qdisc)
{
	struct tc_tbf_qopt parameters = { 0 };

	nl_struct(&parameters, sizeof(parameters), options[TCA_TBF_PARMS]);
	qdisc->rate_bytes_per_s = rtnl_tbf_rate(options);
	qdisc->limit = parameters.limit;
}

/* A class may borrow up to its ceiling, so that is what caps it. */
static void parse_htb_class(struct nlattr **options, struct facts_qdisc *qdisc)
{
	struct tc_htb_opt parameters = { 0 };

	nl_struct(&parameters, sizeof(parameters), options[TCA_HTB_PARMS]);
	qdisc->rate_bytes_per_s = wide_rate(parameters.ceil.rate, options[TCA_HTB_CEIL64]);
}

/* Of the three curves only the upper limit holds back. */
static void parse_hfsc_class(struct nlattr **options, struct facts_qdisc *qdisc)
{
	struct tc_service_curve upper = { 0 };

	nl_struct(&upper, sizeof(upper), options[TCA_HFSC_USC]);
	qdisc->rate_bytes_per_s = upper.m2;
}

static void parse_cake(struct nlattr **options, struct facts_qdisc *qdisc)
{
	qdisc->rate_bytes_per_s = nl_u64(options[TCA_CAKE_BASE_RATE64]);
	qdisc->limit = nl_u32(options[TCA_CAKE_MEMORY]);
}

static void parse_netem(struct nlattr **options, struct facts_qdisc *qdisc)
{
	struct tc_netem_rate rate = { 0 };

	nl_struct(&rate, sizeof(rate), options[TCA_NETEM_RATE]);
	qdisc->rate_bytes_per_s = wide_rate(rate.rate, options[TCA_NETEM_RATE64]);
}

static void parse_fq_codel(struct nlattr **options, struct facts_qdisc *qdisc)
{
	qdisc->limit = nl_u32(options[TCA_FQ_CODEL_LIMIT]);
}

static void parse_fq(struct nlattr **options, struct facts_qdisc *qdisc)
{
	qdisc->limit = nl_u32(options[TCA_FQ_PLIMIT]);
}

static const struct qdisc_row {
	const char *kind;
	int is_class;
	size_t fixed_bytes; /* of a struct before the attributes */
	void (*parse)(struct nlattr **options, struct facts_qdisc *qdisc);
} qdisc_rows[] = {
	{ "tbf", 0, 0, parse_tbf },
	{ "htb", 1, 0, parse_htb_class },
	{ "hfsc", 1, 0, parse_hfsc_class },
	{ "cake", 0, 0, parse_cake },
	{ "netem", 0, sizeof(struct tc_netem_qopt), parse_netem },
	{ "fq_codel", 0, 0, parse_fq_codel },
	{ "fq", 0, 0, parse_fq },
};

/* Queues whose options are a struct that starts with the limit. */
static int has_plain_limit(const char *kind)
{
	return !strcmp(kind, "pfifo") || !strcmp(kind, "bfifo") || !strcmp(kind, "pfifo_head_drop");
}

static void parse_options(struct nlattr *nest, struct facts_qdisc *qdisc)
{
	struct nlattr *options[MAX_OPTIONS + 1] = { NULL };
	struct tc_netem_qopt netem = { 0 };
	struct tc_fifo_qopt fifo = { 0 };

	if (!nest)
		return;
	if (has_plain_limit(qdisc->kind)) {
		nl_struct(&fifo, sizeof(fifo), nest);
		qdisc->limit = fifo.limit;
		return;
	}
	for (size_t i = 0; i < sizeof(qdisc_rows) / sizeof(qdisc_rows[0]); i++) {
		const struct qdisc_row *row = &qdisc_rows[i];
		int fixed = (int)NLA_ALIGN(row->fixed_bytes);

		if (row->is_class != qdisc->is_class || strcmp(row->kind, qdisc->kind) || nla_len(nest) < fixed)
			continue;
		if (fixed) {
			nl_struct(&netem, sizeof(netem), nest);
			qdisc->limit = netem.limit;
		}
		if (nla_parse(options, MAX_OPTIONS, (struct nlattr *)((char *)nla_data(nest) + fixed),
			      nla_len(nest) - fixed, NULL) >= 0)
			row->parse(options, qdisc);
		return;
	}
}

int collect_parse_qdisc(struct nlmsghdr *message, struct facts_qdisc *qdisc, int *ifindex)
{
	struct rtnl_qdisc queue;
	struct nlattr *options;
	int result = rtnl_parse_queue(message, &queue, &options);

	memset(qdisc, 0, sizeof(*qdisc));
	if (result != 1)
		return result;
	*ifindex = queue.ifindex;
	*qdisc = (struct facts_qdisc){ .handle = queue.handle,
				       .parent = queue.parent,
				       .is_class = message->nlmsg_type == RTM_NEWTCLASS,
				       .bytes = queue.bytes,
				       .frames = queue.frames,
				       .drops = queue.drops,
				       .overlimits = queue.overlimits,
				       .requeues = queue.requeues,
				       .backlog_bytes = queue.backlog_bytes,
				       .backlog_frames = queue.backlog_frames };
	snprintf(qdisc->kind, sizeof(qdisc->kind), "%s", queue.kind);
	parse_options(options, qdisc);
	return 1;
}

/* Where a kind of filter keeps its actions, an action of the old kind, and its program. 0: it has no such thing. */
static const struct filter_row {
	const char *kind;
	int actions, police, name, program_id;
	int must_have; /* without it the message is no filter but a table of them */
} filter_rows[] = {
	{ "bpf", TCA_BPF_ACT, TCA_BPF_POLICE, TCA_BPF_NAME, TCA_BPF_ID, 0 },
	{ "u32", TCA_U32_ACT, TCA_U32_POLICE, 0, 0, TCA_U32_SEL },
	{ "matchall", TCA_MATCHALL_ACT, 0, 0, 0, 0 },
	{ "flower", TCA_FLOWER_ACT, 0, 0, 0, 0 },
	{ "basic", TCA_BASIC_ACT, TCA_BASIC_POLICE, 0, 0, 0 },
	{ "fw", TCA_FW_ACT, TCA_FW_POLICE, 0, 0, 0 },
	{ "flow", TCA_FLOW_ACT, TCA_FLOW_POLICE, 0, 0, 0 },
	{ "route", TCA_ROUTE4_ACT, TCA_ROUTE4_POLICE, 0, 0, 0 },
	{ "cgroup", TCA_CGROUP_ACT, TCA_CGROUP_POLICE, 0, 0, 0 },
};

static uint64_t police_rate(struct nlattr *nest)
{
	struct nlattr *table[TCA_POLICE_MAX + 1];
	struct tc_police parameters = { 0 };

	if (nl_nest(table, TCA_POLICE_MAX, nest) < 0)
		return 0;
	nl_struct(&parameters, sizeof(parameters), table[TCA_POLICE_TBF]);
	return wide_rate(parameters.rate.rate, table[TCA_POLICE_RATE64]);
}

/* The lowest rate among the actions: all of them are passed. */
static uint64_t lowest_police_rate(struct nlattr *actions)
{
	struct nlattr *entry, *table[TCA_ACT_MAX + 1];
	uint64_t lowest = 0;
	int rest;

	nla_for_each_nested(entry, actions, rest)
	{
		char kind[16] = "";
		uint64_t rate;

		if (nl_nest(table, TCA_ACT_MAX, entry) < 0)
			continue;
		nl_text(kind, sizeof(kind), table[TCA_ACT_KIND]);
		rate = strcmp(kind, "police") ? 0 : police_rate(table[TCA_ACT_OPTIONS]);
		if (rate && (!lowest || rate < lowest))
			lowest = rate;
	}
	return lowest;
}

/* 1, or 0 when the message is no filter. */
static int parse_filter_options(struct nlattr *nest, struct facts_filter *filter, uint32_t *program_id)
{
	struct nlattr *options[MAX_OPTIONS + 1] = { NULL };

	for (size_t i = 0; i < sizeof(filter_rows) / sizeof(filter_rows[0]); i++) {
		const struct filter_row *row = &filter_rows[i];

		if (strcmp(row->kind, filter->kind))
			continue;
		if (nl_nest(options, MAX_OPTIONS, nest) < 0 || (row->must_have && !options[row->must_have]))
			return !row->must_have;
		if (options[row->actions])
			filter->police_bytes_per_s = lowest_police_rate(options[row->actions]);
		if (row->police && options[row->police])
			filter->police_bytes_per_s = police_rate(options[row->police]);
		if (row->name)
			nl_text(filter->name, sizeof(filter->name), options[row->name]);
		if (row->program_id)
			*program_id = nl_u32(options[row->program_id]);
		return 1;
	}
	return 1;
}

int collect_parse_filter(struct nlmsghdr *message, struct facts_filter *filter, uint32_t *program_id)
{
	struct nlattr *table[TCA_MAX + 1];
	struct tcmsg *header;

	memset(filter, 0, sizeof(*filter));
	*program_id = 0;
	if (message->nlmsg_type != RTM_NEWTFILTER)
		return 0;
	if (nlmsg_parse(message, sizeof(*header), table, TCA_MAX, NULL) < 0 || !table[TCA_KIND])
		return -EBADMSG;
	header = nlmsg_data(message);
	if (!header->tcm_handle || !table[TCA_OPTIONS])
		return 0;
	nl_text(filter->kind, sizeof(filter->kind), table[TCA_KIND]);
	/* The ingress qdisc has the handle of clsact, and one chain. */
	filter->ingress = header->tcm_parent == TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_INGRESS) ||
			  header->tcm_parent == TC_H_MAKE(TC_H_INGRESS, 0);
	return parse_filter_options(table[TCA_OPTIONS], filter, program_id);
}
