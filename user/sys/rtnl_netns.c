// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The numbers by which a network namespace knows others. See rtnl_message.h.
 *
 * A link whose other end is elsewhere tells where by a number of this namespace's own; RTM_GETNSID turns a descriptor of a
 * namespace into that number. Called by veth_peer.c and collect_netns.c.
 */
#include <linux/net_namespace.h>
#include <linux/rtnetlink.h>

#include "sys/nl_attribute.h"
#include "sys/rtnl_message.h"

static int visit_number(struct nlmsghdr *message, void *context)
{
	struct nlattr *table[NETNSA_MAX + 1];
	int *number = context;

	if (message && message->nlmsg_type == RTM_NEWNSID &&
	    nlmsg_parse(message, sizeof(struct rtgenmsg), table, NETNSA_MAX, NULL) >= 0 && table[NETNSA_NSID])
		*number = (int)nl_u32(table[NETNSA_NSID]);
	return 0;
}

int rtnl_netns_number(int fd)
{
	const struct rtgenmsg header = { .rtgen_family = AF_UNSPEC };
	struct nl_msg *request = rtnl_message_new(RTM_GETNSID, NLM_F_REQUEST, &header, sizeof(header));
	char reason[RTNL_REASON_BYTES];
	int number = -1;

	if (!request)
		return -1;
	if (nla_put_u32(request, NETNSA_FD, (uint32_t)fd) < 0) {
		nlmsg_free(request);
		return -1;
	}
	return rtnl_message_exchange(request, visit_number, &number, reason) < 0 ? -1 : number;
}
