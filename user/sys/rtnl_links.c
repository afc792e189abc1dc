// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reading links, the default route and bridges' forwarding tables over rtnetlink. See rtnl.h.
 *
 * Owns: what is asked for and how the answers are gathered. Leaves to others: the bytes of the answers
 * (rtnl_parse.c), changing anything (rtnl_change.c).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>

#include "base/error.h"
#include "sys/rtnl.h"
#include "sys/rtnl_message.h"
#include "sys/rtnl_parse.h"

static int visit_one_link(struct nlmsghdr *message, void *context)
{
	int result;

	if (!message)
		return 0;
	result = rtnl_parse_link(message, context);
	return result < 0 ? result : 0;
}

/* `label` is what messages call the interface. */
static int link_get(struct nl_msg *request, const char *label, struct rtnl_link *link)
{
	char reason[RTNL_REASON_BYTES];
	int result;

	memset(link, 0, sizeof(*link));
	result = rtnl_message_exchange(request, visit_one_link, link, reason);
	if (!result && link->ifindex <= 0)
		result = -EBADMSG;
	if (result == -ENODEV)
		return error_set(ENODEV, "there is no interface %s here; 'ip link' lists those that are", label);
	if (result < 0)
		return error_set(-result, "cannot read the interface %s: %s", label,
				 result == -EBADMSG ? "the kernel's answer cannot be understood" : reason);
	return 0;
}

int rtnl_link_get(const char *name, struct rtnl_link *link)
{
	struct ifinfomsg header = { .ifi_family = AF_UNSPEC };
	struct nl_msg *request;
	char label[24];

	if (!*name || strlen(name) >= sizeof(link->name))
		return error_set(EINVAL, "'%s' is no interface name: it has 1 to %zu characters", name,
				 sizeof(link->name) - 1);
	request = rtnl_message_new(RTM_GETLINK, NLM_F_REQUEST, &header, sizeof(header));
	if (!request)
		return -ENOMEM;
	if (nla_put_string(request, IFLA_IFNAME, name) < 0) {
		nlmsg_free(request);
		return error_set(ENOMEM, "%s: out of memory for a netlink message", name);
	}
	snprintf(label, sizeof(label), "'%s'", name);
	return link_get(request, label, link);
}

int rtnl_link_get_index(int ifindex, struct rtnl_link *link)
{
	struct ifinfomsg header = { .ifi_family = AF_UNSPEC, .ifi_index = ifindex };
	struct nl_msg *request;
	char label[24];

	if (ifindex <= 0)
		return error_set(EINVAL, "%d is no interface index: they start at 1", ifindex);
	request = rtnl_message_new(RTM_GETLINK, NLM_F_REQUEST, &header, sizeof(header));
	if (!request)
		return -ENOMEM;
	snprintf(label, sizeof(label), "number %d", ifindex);
	return link_get(request, label, link);
}

struct element_list {
	size_t element_bytes;
	int (*parse)(struct nlmsghdr *message, void *element);
	char *elements;
	int count, capacity;
};

static int visit_link_of_list(struct nlmsghdr *message, void *context)
{
	struct element_list *list = context;
	int result;

	if (!message) {
		list->count = 0;
		return 0;
	}
	if (list->count == list->capacity) {
		int capacity = list->capacity ? 2 * list->capacity : 16;
		char *larger = realloc(list->elements, (size_t)capacity * list->element_bytes);

		if (!larger)
			return -ENOMEM;
		list->elements = larger;
		list->capacity = capacity;
	}
	result = list->parse(message, list->elements + (size_t)list->count * list->element_bytes);
	if (result == 1)
		list->count++;
	return result < 0 ? result : 0;
}

int rtnl_links_dump(size_t element_bytes, int (*parse)(struct nlmsghdr *message, void *element), void **elements)
{
	struct element_list list = { .element_bytes = element_bytes, .parse = parse };
	struct ifinfomsg header = { .ifi_family = AF_UNSPEC };
	char reason[RTNL_REASON_BYTES];
	struct nl_msg *request;
	int result;

	*elements = NULL;
	request = rtnl_message_new(RTM_GETLINK, NLM_F_REQUEST | NLM_F_DUMP, &header, sizeof(header));
	if (!request)
		return -ENOMEM;
	result = rtnl_message_exchange(request, visit_link_of_list, &list, reason);
	if (result < 0) {
		free(list.elements);
		return error_set(-result, "cannot list the interfaces: %s", reason);
	}
	*elements = list.elements;
	return list.count;
}

static int parse_link(struct nlmsghdr *message, void *element)
{
	return rtnl_parse_link(message, element);
}

int rtnl_link_list(struct rtnl_link **links)
{
	void *elements;
	int count = rtnl_links_dump(sizeof(**links), parse_link, &elements);

	*links = elements;
	return count;
}

struct default_route_search {
	int ifindex;
	int found;
};

static int visit_route(struct nlmsghdr *message, void *context)
{
	struct default_route_search *search = context;
	struct rtnl_default route;
	int result;

	if (!message) {
		search->found = 0;
		return 0;
	}
	result = rtnl_parse_default_route(message, &route);
	search->found |= result == 1 && route.ifindex == search->ifindex;
	return result < 0 ? result : 0;
}

/* 1, 0 or -errno. */
static int default_route_of_family(unsigned char family, struct default_route_search *search)
{
	struct rtmsg header = { .rtm_family = family };
	char reason[RTNL_REASON_BYTES];
	struct nl_msg *request;
	int result;

	search->found = 0;
	request = rtnl_message_new(RTM_GETROUTE, NLM_F_REQUEST | NLM_F_DUMP, &header, sizeof(header));
	if (!request)
		return -ENOMEM;
	result = rtnl_message_exchange(request, visit_route, search, reason);
	/* A kernel without this family has no routes in it. */
	if (result == -EOPNOTSUPP || result == -EAFNOSUPPORT)
		return 0;
	if (result < 0)
		return error_set(-result, "cannot read the %s routes: %s", family == AF_INET ? "IPv4" : "IPv6", reason);
	return search->found;
}

int rtnl_carries_default_route(int ifindex)
{
	struct default_route_search search = { .ifindex = ifindex };
	int result = default_route_of_family(AF_INET, &search);

	return result ? result : default_route_of_family(AF_INET6, &search);
}

struct fdb_search {
	int bridge_ifindex;
	const unsigned char *address;
	int port_ifindex;
};

static int visit_fdb_entry(struct nlmsghdr *message, void *context)
{
	struct fdb_search *search = context;
	struct rtnl_fdb_entry entry;
	int result;

	if (!message) {
		search->port_ifindex = 0;
		return 0;
	}
	result = rtnl_parse_fdb_entry(message, &entry);
	if (result == 1 && entry.bridge_ifindex == search->bridge_ifindex &&
	    !memcmp(entry.address, search->address, sizeof(entry.address)))
		search->port_ifindex = entry.port_ifindex;
	return result < 0 ? result : 0;
}

int rtnl_fdb_lookup(int bridge_ifindex, const unsigned char address[6], int *port_ifindex)
{
	struct fdb_search search = { .bridge_ifindex = bridge_ifindex, .address = address };
	struct ndmsg header = { .ndm_family = AF_BRIDGE };
	char reason[RTNL_REASON_BYTES];
	struct nl_msg *request;
	int result;

	*port_ifindex = 0;
	request = rtnl_message_new(RTM_GETNEIGH, NLM_F_REQUEST | NLM_F_DUMP, &header, sizeof(header));
	if (!request)
		return -ENOMEM;
	result = rtnl_message_exchange(request, visit_fdb_entry, &search, reason);
	if (result == -EOPNOTSUPP)
		return 0;
	if (result < 0)
		return error_set(-result, "bridge number %d: cannot read its forwarding table: %s", bridge_ifindex,
				 reason);
	*port_ifindex = search.port_ifindex;
	return 0;
}
