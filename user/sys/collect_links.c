// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Links of all network namespaces, and what leads from one to the next, as facts: collect_links() of collect.h.
 *
 * Owns: the round through the namespaces, the list of links, and who carries the uplink and the ssh session. What each link has
 * comes from the sources of collect_scope.h; namespaces from collect_netns.c; interrupts from collect_irq.c. Everything is read
 * once, in the order rtnetlink, ethtool, sysfs: the later knows better where two say the same.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <linux/if_link.h>
#include <linux/rtnetlink.h>

#include "base/error.h"
#include "sys/collect.h"
#include "sys/collect_dump.h"
#include "sys/collect_irq.h"
#include "sys/collect_link_parse.h"
#include "sys/collect_netns.h"
#include "sys/collect_scope.h"
#include "sys/uplink.h"

#define LIMIT_BYTES (256u << 20)

static int compare_ifindex(const void *left, const void *right)
{
	const struct facts_link *a = left, *b = right;

	return (a->ifindex > b->ifindex) - (a->ifindex < b->ifindex);
}

struct facts_link *collect_scope_link(const struct collect_scope *scope, int ifindex)
{
	const struct facts_link key = { .ifindex = ifindex };

	if (!scope->link_count)
		return NULL;
	return bsearch(&key, scope->facts->links + scope->first_link, (size_t)scope->link_count, sizeof(key),
		       compare_ifindex);
}

const char *collect_scope_label(const struct collect_scope *scope, char *buffer, size_t size)
{
	const char *name = scope->facts->netns[scope->netns].name;

	snprintf(buffer, size, "%s%s", name[0] ? " in namespace " : "", name);
	return buffer;
}

static int dump_links(struct collect_dump *dump, uint32_t extension, char reason[RTNL_REASON_BYTES])
{
	const struct ifinfomsg header = { .ifi_family = AF_UNSPEC };
	struct nl_msg *request = rtnl_message_new(RTM_GETLINK, NLM_F_REQUEST | NLM_F_DUMP, &header, sizeof(header));

	*dump = (struct collect_dump){ 0 };
	if (!request)
		return -ENOMEM;
	if (nla_put_u32(request, IFLA_EXT_MASK, extension) < 0) {
		nlmsg_free(request);
		return -ENOMEM;
	}
	return collect_dump(dump, request, LIMIT_BYTES, reason);
}

/* A device with very many virtual functions does not fit in a message of some kernels; then without them. */
static int dump_links_and_functions(const struct collect_scope *scope, struct collect_dump *dump,
				    char reason[RTNL_REASON_BYTES])
{
	char label[96];
	int code = dump_links(dump, RTEXT_FILTER_VF, reason);

	if (code != -EMSGSIZE)
		return code;
	collect_dump_free(dump);
	if (facts_add_gap(scope->facts, "virtual functions%s: too many for this kernel's message",
			  collect_scope_label(scope, label, sizeof(label))) < 0)
		return -ENOMEM;
	return dump_links(dump, 0, reason);
}

struct far_links {
	struct collect_far_link *links;
	int count;
};

static int add_far_link(struct far_links *far, int ifindex, int netnsid)
{
	struct collect_far_link *larger;

	if ((far->count & (far->count - 1)) == 0) {
		larger = realloc(far->links, (far->count ? 2 * (size_t)far->count : 1) * sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		far->links = larger;
	}
	far->links[far->count++] = (struct collect_far_link){ ifindex, netnsid };
	return 0;
}

static int add_links(const struct collect_scope *scope, const struct collect_dump *dump, struct far_links *far)
{
	struct nlmsghdr *message = NULL;
	int code = 0, damaged = 0;
	char label[96];

	while (code != -ENOMEM && (message = collect_dump_next(dump, message))) {
		int netnsid, added = collect_parse_link(message, scope->facts, scope->netns, &netnsid);

		damaged += added == -EBADMSG;
		code = added == -ENOMEM ? added : 0;
		if (added == 1 && netnsid >= 0)
			code = add_far_link(far, scope->facts->links[scope->facts->link_count - 1].ifindex, netnsid);
	}
	if (!code && damaged)
		code = facts_add_gap(scope->facts, "links%s: %d of the kernel's messages cannot be understood",
				     collect_scope_label(scope, label, sizeof(label)), damaged);
	return code;
}

/* 0; -ENOMEM; or another -errno, all with error text. */
static int read_links(struct collect_scope *scope, struct far_links *far)
{
	char reason[RTNL_REASON_BYTES] = "", label[96];
	struct collect_dump dump;
	int code = dump_links_and_functions(scope, &dump, reason);

	if (!code)
		code = add_links(scope, &dump, far);
	else if (code != -ENOMEM)
		error_set(-code, "cannot list the links%s: %s", collect_scope_label(scope, label, sizeof(label)),
			  reason);
	if (code == -ENOMEM)
		error_set(ENOMEM, "out of memory for links");
	collect_dump_free(&dump);
	scope->link_count = scope->facts->link_count - scope->first_link;
	if (scope->link_count > 1)
		qsort(scope->facts->links + scope->first_link, (size_t)scope->link_count, sizeof(*scope->facts->links),
		      compare_ifindex);
	return code;
}

static int collect_inside(struct collect_scope *scope, int home_fd)
{
	static int (*const sources[])(const struct collect_scope *scope) = {
		collect_tables, collect_qdiscs, collect_programs, collect_ethtool, collect_devices,
	};
	struct far_links far = { 0 };
	int code = read_links(scope, &far);

	if (!code)
		collect_netns_resolve(scope, home_fd, far.links, far.count);
	free(far.links);
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]) && !code; i++)
		code = sources[i](scope);
	if (!code && scope->netns == 0)
		uplink_ssh_interface(scope->facts->ssh_interface);
	return code;
}

/* A namespace other than the caller's that is closed to us, or gone meanwhile, is no failure. */
static int collect_namespace(struct facts *facts, int index)
{
	struct collect_scope scope = { .facts = facts, .netns = index, .first_link = facts->link_count };
	struct facts_netns *netns = &facts->netns[index];
	struct netns_token token;
	int code;

	if (!netns->could_enter)
		return 0;
	code = collect_enter(netns, &token);
	if (!code) {
		code = collect_inside(&scope, token.home_fd);
		netns_leave(&token);
	}
	if (!code || code == -ENOMEM || index == 0)
		return code;
	netns->could_enter = 0;
	snprintf(netns->why_not, sizeof(netns->why_not), "%s", error_text());
	return 0;
}

/* The best default route's; of several with one metric the first, which is IPv4's. */
static void set_uplink(struct facts *facts)
{
	const struct facts_route *best = NULL;
	const struct facts_link *link;

	for (int i = 0; i < facts->route_count; i++) {
		const struct facts_route *route = &facts->routes[i];

		if (route->netns == 0 && route->prefix_length == 0 && (!best || route->metric < best->metric))
			best = route;
	}
	link = best ? facts_link_at(facts, 0, best->out_ifindex) : NULL;
	if (link)
		snprintf(facts->uplink, sizeof(facts->uplink), "%s", link->name);
}

int collect_links(struct facts *facts)
{
	int code = collect_netns_find(facts);

	for (int i = 0; i < facts->netns_count && !code; i++)
		code = collect_namespace(facts, i);
	if (code)
		return code;
	facts_sort(facts);
	set_uplink(facts);
	return collect_irqs(NULL, facts);
}
