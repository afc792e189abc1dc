// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Qdiscs, classes and filters of one namespace's links, as facts.
 *
 * Owns: what is asked: all qdiscs at once, classes and filters only of links and qdiscs that have some. Leaves to others: the bytes
 * of the answers (collect_qdisc_parse.c). Called by collect_links.c.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>

#include "base/error.h"
#include "sys/collect_dump.h"
#include "sys/collect_qdisc_parse.h"
#include "sys/collect_scope.h"
#include "sys/program_name.h"

#define LIMIT_BYTES (4u << 20)

/* What to look at behind a qdisc. */
static const struct qdisc_kind {
	const char *kind;
	int has_rates; /* its classes have a rate each */
	int chains;    /* of filters: by the numbers of `parents`; 0: one, under the qdisc's own handle */
	uint32_t parents[2];
} qdisc_kinds[] = {
	/* Of u32 the kernel lists all filters of a clsact at ingress and at egress, whichever they stand at. */
	{ "clsact", 0, 2, { TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_INGRESS), TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_EGRESS) } },
	{ "ingress", 0, 1, { TC_H_MAKE(TC_H_INGRESS, 0) } },
	{ "htb", 1, 0, { 0 } },
	{ "hfsc", 1, 0, { 0 } },
	{ "prio", 0, 0, { 0 } },
	{ "drr", 0, 0, { 0 } },
	{ "qfq", 0, 0, { 0 } },
	{ "ets", 0, 0, { 0 } },
	{ "multiq", 0, 0, { 0 } },
	{ "fq_codel", 0, 0, { 0 } },
	{ "sfq", 0, 0, { 0 } },
	{ "cake", 0, 0, { 0 } },
};

static int tc_dump(struct collect_dump *dump, int type, int ifindex, uint32_t parent, char reason[RTNL_REASON_BYTES])
{
	struct tcmsg header = { .tcm_family = AF_UNSPEC, .tcm_ifindex = ifindex, .tcm_parent = parent };
	struct nl_msg *request = rtnl_message_new(type, NLM_F_REQUEST | NLM_F_DUMP, &header, sizeof(header));

	*dump = (struct collect_dump){ 0 };
	return request ? collect_dump(dump, request, LIMIT_BYTES, reason) : -ENOMEM;
}

/* Adds every qdisc or class of a dump to the link it stands at. */
static int add_qdiscs(const struct collect_scope *scope, const struct collect_dump *dump)
{
	struct nlmsghdr *message = NULL;
	struct facts_qdisc qdisc, *added;
	int ifindex;

	while ((message = collect_dump_next(dump, message))) {
		struct facts_link *link;

		if (collect_parse_qdisc(message, &qdisc, &ifindex) != 1)
			continue;
		link = collect_scope_link(scope, ifindex);
		if (!link)
			continue;
		added = facts_add_qdisc(link);
		if (!added)
			return -ENOMEM;
		*added = qdisc;
	}
	return 0;
}

static int add_filters(struct facts_link *link, const struct collect_dump *dump)
{
	struct nlmsghdr *message = NULL;
	struct facts_filter filter, *added;
	uint32_t program_id;

	while ((message = collect_dump_next(dump, message))) {
		if (collect_parse_filter(message, &filter, &program_id) != 1)
			continue;
		added = facts_add_filter(link);
		if (!added)
			return -ENOMEM;
		*added = filter;
		if (program_id) /* TCA_BPF_NAME is the file's name; it stays when the program may not be looked at */
			(void)program_name(program_id, added->name, sizeof(added->name));
	}
	return 0;
}

/* A link that went away meanwhile has nothing more to say. */
static int note_gap(const struct collect_scope *scope, const struct facts_link *link, const char *what, int code,
		    const char *reason)
{
	char label[96];

	if (code == -ENODEV || code == -EINVAL || code == -ENOENT || code == -EOPNOTSUPP)
		return 0;
	return facts_add_gap(scope->facts, "%s of %s%s: %s", what, link->name,
			     collect_scope_label(scope, label, sizeof(label)), reason);
}

static int collect_filters(const struct collect_scope *scope, struct facts_link *link, uint32_t parent)
{
	char reason[RTNL_REASON_BYTES] = "";
	struct collect_dump dump;
	int code = tc_dump(&dump, RTM_GETTFILTER, link->ifindex, parent, reason);

	if (!code)
		code = add_filters(link, &dump);
	else if (code != -ENOMEM)
		code = note_gap(scope, link, "filters", code, reason);
	collect_dump_free(&dump);
	return code;
}

static int collect_classes(const struct collect_scope *scope, struct facts_link *link)
{
	char reason[RTNL_REASON_BYTES] = "";
	struct collect_dump dump;
	int code = tc_dump(&dump, RTM_GETTCLASS, link->ifindex, 0, reason);

	if (!code)
		code = add_qdiscs(scope, &dump);
	else if (code != -ENOMEM)
		code = note_gap(scope, link, "traffic classes", code, reason);
	collect_dump_free(&dump);
	return code;
}

static const struct qdisc_kind *kind_of(const struct facts_qdisc *qdisc)
{
	for (size_t i = 0; i < sizeof(qdisc_kinds) / sizeof(qdisc_kinds[0]); i++)
		if (!strcmp(qdisc_kinds[i].kind, qdisc->kind))
			return &qdisc_kinds[i];
	return NULL;
}

/* Classes are asked for once a link: the answer holds those of all its qdiscs. */
static int collect_behind(const struct collect_scope *scope, struct facts_link *link)
{
	int qdiscs = link->qdisc_count, has_rates = 0, code = 0;

	for (int i = 0; i < qdiscs && !code; i++) {
		const struct facts_qdisc *qdisc = &link->qdiscs[i];
		const struct qdisc_kind *kind = kind_of(qdisc);

		if (!kind)
			continue;
		has_rates |= kind->has_rates;
		for (int chain = 0; chain < kind->chains && !code; chain++)
			code = collect_filters(scope, link, kind->parents[chain]);
		if (!kind->chains && qdisc->handle)
			code = collect_filters(scope, link, qdisc->handle);
	}
	return !code && has_rates ? collect_classes(scope, link) : code;
}

int collect_qdiscs(const struct collect_scope *scope)
{
	char reason[RTNL_REASON_BYTES] = "", label[96];
	struct collect_dump dump;
	int code = tc_dump(&dump, RTM_GETQDISC, 0, 0, reason);

	if (!code)
		code = add_qdiscs(scope, &dump);
	else if (code != -ENOMEM && code != -EOPNOTSUPP)
		code = facts_add_gap(scope->facts, "qdiscs%s: %s", collect_scope_label(scope, label, sizeof(label)),
				     reason);
	collect_dump_free(&dump);
	for (int i = 0; i < scope->link_count && !code; i++)
		code = collect_behind(scope, &scope->facts->links[scope->first_link + i]);
	return code == -ENOMEM ? error_set(ENOMEM, "out of memory for qdiscs") : 0;
}
