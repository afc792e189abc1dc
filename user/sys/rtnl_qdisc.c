// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Queueing disciplines over rtnetlink: reading their counters, and clsact, which carries tc programs. See rtnl.h.
 */
#include <errno.h>
#include <string.h>

#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>

#include "base/error.h"
#include "sys/rtnl.h"
#include "sys/rtnl_message.h"
#include "sys/rtnl_parse.h"

struct qdisc_list {
	int ifindex;
	struct rtnl_qdisc *qdiscs;
	int count, max;
};

/* The kernel lists the qdiscs of every interface; each interface's come root first, ingress last. */
static int visit_qdisc(struct nlmsghdr *message, void *context)
{
	struct qdisc_list *list = context;
	struct rtnl_qdisc qdisc;
	int result;

	if (!message) {
		list->count = 0;
		return 0;
	}
	result = rtnl_parse_qdisc(message, &qdisc);
	if (result == 1 && qdisc.ifindex == list->ifindex && list->count < list->max)
		list->qdiscs[list->count++] = qdisc;
	return result < 0 ? result : 0;
}

int rtnl_qdisc_list(int ifindex, struct rtnl_qdisc *qdiscs, int max)
{
	struct qdisc_list list = { .ifindex = ifindex, .qdiscs = qdiscs, .max = max };
	struct tcmsg header = { .tcm_family = AF_UNSPEC };
	char reason[RTNL_REASON_BYTES];
	struct nl_msg *request;
	int result;

	request = rtnl_message_new(RTM_GETQDISC, NLM_F_REQUEST | NLM_F_DUMP, &header, sizeof(header));
	if (!request)
		return -ENOMEM;
	result = rtnl_message_exchange(request, visit_qdisc, &list, reason);
	if (result < 0)
		return error_set(-result, "interface number %d: cannot read its queueing disciplines: %s", ifindex,
				 reason);
	return list.count;
}

static struct nl_msg *clsact_message(int type, int flags, int ifindex)
{
	struct tcmsg header = {
		.tcm_family = AF_UNSPEC,
		.tcm_ifindex = ifindex,
		.tcm_handle = TC_H_MAKE(TC_H_CLSACT, 0),
		.tcm_parent = TC_H_CLSACT,
	};
	struct nl_msg *request = rtnl_message_new(type, NLM_F_REQUEST | flags, &header, sizeof(header));

	/* The kind makes the kernel refuse to delete an ingress qdisc, which has the same handle. */
	if (request && nla_put_string(request, TCA_KIND, "clsact") < 0) {
		nlmsg_free(request);
		error_set(ENOMEM, "out of memory for a netlink message");
		return NULL;
	}
	return request;
}

static int clsact_change(const char *name, int ifindex, int type, int flags, const char *verb)
{
	struct nl_msg *request = clsact_message(type, flags, ifindex);
	char reason[RTNL_REASON_BYTES];
	int result;

	if (!request)
		return -ENOMEM;
	result = rtnl_message_exchange(request, NULL, NULL, reason);
	if (result == -EPERM)
		return error_set(EPERM, "%s: cannot %s a clsact qdisc: call hopcap as root (CAP_NET_ADMIN)", name,
				 verb);
	if (result < 0)
		return error_set(-result, "%s: cannot %s a clsact qdisc: %s", name, verb, reason);
	return 0;
}

struct ingress_search {
	int ifindex;
	char kind[16]; /* of the qdisc at the ingress hook: clsact or ingress; "" none */
};

static int visit_ingress(struct nlmsghdr *message, void *context)
{
	struct ingress_search *search = context;
	struct rtnl_qdisc qdisc;
	int result;

	if (!message) {
		search->kind[0] = '\0';
		return 0;
	}
	result = rtnl_parse_qdisc(message, &qdisc);
	if (result == 1 && qdisc.ifindex == search->ifindex && qdisc.parent == TC_H_CLSACT)
		memcpy(search->kind, qdisc.kind, sizeof(search->kind));
	return result < 0 ? result : 0;
}

static int ingress_find(const char *name, struct ingress_search *search)
{
	struct tcmsg header = { .tcm_family = AF_UNSPEC };
	char reason[RTNL_REASON_BYTES];
	struct nl_msg *request;
	int result;

	search->kind[0] = '\0';
	request = rtnl_message_new(RTM_GETQDISC, NLM_F_REQUEST | NLM_F_DUMP, &header, sizeof(header));
	if (!request)
		return -ENOMEM;
	result = rtnl_message_exchange(request, visit_ingress, search, reason);
	if (result < 0)
		return error_set(-result, "%s: cannot read its queueing disciplines: %s", name, reason);
	return 0;
}

static int visit_filter(struct nlmsghdr *message, void *context)
{
	int *count = context;

	if (!message)
		*count = 0;
	else if (message->nlmsg_type == RTM_NEWTFILTER)
		++*count;
	return 0;
}

int rtnl_clsact_filters(int ifindex, int ingress)
{
	struct tcmsg header = {
		.tcm_family = AF_UNSPEC,
		.tcm_ifindex = ifindex,
		.tcm_parent = TC_H_MAKE(TC_H_CLSACT, ingress ? TC_H_MIN_INGRESS : TC_H_MIN_EGRESS),
	};
	struct nl_msg *request = rtnl_message_new(RTM_GETTFILTER, NLM_F_REQUEST | NLM_F_DUMP, &header, sizeof(header));
	char reason[RTNL_REASON_BYTES];
	int count = 0, result;

	if (!request)
		return -ENOMEM;
	result = rtnl_message_exchange(request, visit_filter, &count, reason);
	return result < 0 ? error_set(-result, "cannot read the filters of interface %d: %s", ifindex, reason) : count;
}

int rtnl_clsact_add(const char *name)
{
	struct ingress_search search;
	struct rtnl_link link;
	int result = rtnl_link_get(name, &link);

	if (result < 0)
		return result;
	search.ifindex = link.ifindex;
	result = ingress_find(name, &search);
	if (result < 0)
		return result;
	if (!strcmp(search.kind, "clsact"))
		return error_set(EEXIST, "%s: there is a clsact qdisc already", name);
	if (search.kind[0])
		return error_set(
			EBUSY,
			"%s: an %s qdisc of somebody else holds the tc hook; remove it: tc qdisc del dev %s ingress",
			name, search.kind, name);
	return clsact_change(name, link.ifindex, RTM_NEWQDISC, NLM_F_CREATE | NLM_F_EXCL, "add");
}

int rtnl_clsact_delete(const char *name)
{
	struct ingress_search search;
	struct rtnl_link link;
	int result = rtnl_link_get(name, &link);

	if (result < 0)
		return result == -ENODEV ? 0 : result;
	search.ifindex = link.ifindex;
	result = ingress_find(name, &search);
	if (result < 0 || strcmp(search.kind, "clsact"))
		return result;
	result = clsact_change(name, link.ifindex, RTM_DELQDISC, 0, "delete");
	/* Somebody may have been faster: what counts is that none is left. */
	if (result < 0 && ingress_find(name, &search) == 0 && strcmp(search.kind, "clsact"))
		return 0;
	return result;
}
