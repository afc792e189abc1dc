// SPDX-License-Identifier: GPL-2.0-or-later
/* Routing tables; see path_route.h. Policy rules and other tables than main are not in the facts. */
#include "discover/path_route.h"

#include <arpa/inet.h>
#include <string.h>

struct parsed {
	int family;
	uint8_t bytes[16];
};

static int parse(const char *text, struct parsed *address)
{
	char copy[48];
	size_t length = strcspn(text, "/%");

	memset(address, 0, sizeof(*address));
	if (!length || length >= sizeof(copy))
		return 0;
	memcpy(copy, text, length);
	copy[length] = 0;
	address->family = strchr(copy, ':') ? AF_INET6 : AF_INET;
	return inet_pton(address->family, copy, address->bytes) == 1;
}

static int is_in_prefix(const struct parsed *address, const struct parsed *prefix, int length)
{
	int most = prefix->family == AF_INET ? 32 : 128, whole;

	if (address->family != prefix->family || length < 0 || length > most)
		return 0;
	whole = length / 8;
	if (memcmp(address->bytes, prefix->bytes, (size_t)whole))
		return 0;
	return length % 8 == 0 || (address->bytes[whole] ^ prefix->bytes[whole]) >> (8 - length % 8) == 0;
}

/* A default route says no family of its own; its gateway does. Without one it is taken to serve both. */
static int covers(const struct facts_route *route, const struct parsed *address)
{
	struct parsed other;

	if (route->destination[0])
		return parse(route->destination, &other) && is_in_prefix(address, &other, route->prefix_length);
	return !route->gateway[0] || (parse(route->gateway, &other) && other.family == address->family);
}

const struct facts_route *path_route_find(const struct facts *facts, int netns, const char *address)
{
	const struct facts_route *best = NULL;
	struct parsed parsed;

	if (!parse(address, &parsed))
		return NULL;
	for (int i = 0; i < facts->route_count; i++) {
		const struct facts_route *route = &facts->routes[i];
		int length = route->destination[0] ? route->prefix_length : 0;
		int best_length = best && best->destination[0] ? best->prefix_length : 0;

		if (route->netns != netns || !covers(route, &parsed))
			continue;
		if (!best || length > best_length || (length == best_length && route->metric < best->metric))
			best = route;
	}
	return best;
}

int path_is_same_address(const char *a, const char *b)
{
	struct parsed one, other;

	return parse(a, &one) && parse(b, &other) && one.family == other.family && !memcmp(one.bytes, other.bytes, 16);
}

int path_links_with_address(const struct path_graph *graph, const char *address, int *links, int room)
{
	const struct facts *facts = graph->facts;
	int count = 0;

	for (int i = 0; i < facts->address_count && count < room; i++) {
		const struct facts_link *link;

		if (!path_is_same_address(facts->addresses[i].address, address))
			continue;
		link = facts_link_at(facts, facts->addresses[i].netns, facts->addresses[i].ifindex);
		if (link)
			links[count++] = (int)(link - facts->links);
	}
	return count;
}

int path_may_forward(const struct facts *facts, int netns, const char *address)
{
	const char *path = strchr(address, ':') ? "/proc/sys/net/ipv6/conf/all/forwarding"
						: "/proc/sys/net/ipv4/ip_forward";

	return facts_number_at(facts, netns, path) != 0;
}
