// SPDX-License-Identifier: GPL-2.0-or-later
/* Facts of made-up networks; see network_facts.h. */
#include "network_facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *sure(void *pointer)
{
	if (!pointer)
		abort();
	return pointer;
}

int net_netns(struct facts *facts, const char *name)
{
	struct facts_netns *netns;

	for (int i = 0; i < facts->netns_count; i++)
		if (!strcmp(facts->netns[i].name, name))
			return i;
	netns = sure(facts_add_netns(facts));
	snprintf(netns->name, sizeof(netns->name), "%s", name);
	return facts->netns_count - 1;
}

static int split(struct facts *facts, const char *where, char name[16])
{
	const char *at = strchr(where, '@');

	snprintf(name, 16, "%.*s", (int)(at ? at - where : (long)strlen(where)), where);
	return net_netns(facts, at ? at + 1 : "");
}

static struct facts_link *find(struct facts *facts, const char *where)
{
	char name[16];
	int netns = split(facts, where, name);

	for (int i = 0; i < facts->link_count; i++)
		if (facts->links[i].netns == netns && !strcmp(facts->links[i].name, name))
			return &facts->links[i];
	return NULL;
}

struct facts_link *net_at(struct facts *facts, const char *where)
{
	return sure(find(facts, where));
}

struct facts_link *net_link(struct facts *facts, const char *where, const char *kind)
{
	char name[16];
	int netns = split(facts, where, name), count = 0;
	struct facts_link *link;

	for (int i = 0; i < facts->link_count; i++)
		count += facts->links[i].netns == netns;
	link = sure(facts_add_link(facts));
	link->netns = netns;
	link->ifindex = count + 2;
	snprintf(link->name, sizeof(link->name), "%s", name);
	snprintf(link->kind, sizeof(link->kind), "%s", kind);
	link->flags = 1 | 0x40;
	link->carrier = 1;
	link->address[0] = 2;
	link->address[2] = (uint8_t)(netns >> 8);
	link->address[3] = (uint8_t)netns;
	link->address[4] = (uint8_t)(link->ifindex >> 8);
	link->address[5] = (uint8_t)link->ifindex;
	return link;
}

static void join(struct facts *facts, const char *upper, const char *lower)
{
	struct facts_link *a = net_at(facts, upper), *b = net_at(facts, lower);

	a->lower_netns = b->netns;
	a->lower_ifindex = b->ifindex;
}

void net_pair(struct facts *facts, const char *a, const char *b)
{
	net_link(facts, a, "veth");
	net_link(facts, b, "veth");
	join(facts, a, b);
	join(facts, b, a);
}

struct facts_link *net_above(struct facts *facts, const char *where, const char *kind, const char *lower)
{
	net_link(facts, where, kind);
	join(facts, where, lower);
	return net_at(facts, where);
}

void net_enslave(struct facts *facts, const char *where, const char *master)
{
	char path[64];
	struct facts_link *port = net_at(facts, where), *over;

	snprintf(path, sizeof(path), "%s%s", master, strchr(where, '@') ? strchr(where, '@') : "");
	over = net_at(facts, path);
	port->master_ifindex = over->ifindex;
	if (!strcmp(over->kind, "bridge"))
		port->port.state = 3;
}

void net_learn(struct facts *facts, const char *port, const char *station, int vlan)
{
	const struct facts_link *at = net_at(facts, port), *who = net_at(facts, station);
	struct facts_fdb *entry = sure(facts_add_fdb(facts));

	entry->netns = at->netns;
	entry->bridge_ifindex = at->master_ifindex;
	entry->port_ifindex = at->ifindex;
	entry->vlan = vlan;
	memcpy(entry->address, who->address, 6);
}

void net_address(struct facts *facts, const char *where, const char *text, int prefix_length)
{
	const struct facts_link *link = net_at(facts, where);
	struct facts_address *address = sure(facts_add_address(facts));

	address->netns = link->netns;
	address->ifindex = link->ifindex;
	address->prefix_length = prefix_length;
	snprintf(address->address, sizeof(address->address), "%s", text);
}

void net_route(struct facts *facts, const char *out, const char *destination, int prefix_length, const char *gateway)
{
	const struct facts_link *link = net_at(facts, out);
	struct facts_route *route = sure(facts_add_route(facts));

	route->netns = link->netns;
	route->out_ifindex = link->ifindex;
	route->prefix_length = prefix_length;
	snprintf(route->destination, sizeof(route->destination), "%s", destination);
	snprintf(route->gateway, sizeof(route->gateway), "%s", gateway);
}

void net_qemu(struct facts *facts, int pid, const char *tap, int vhost, const char *const *arguments)
{
	struct facts_process *process = sure(facts_add_process(facts));
	struct facts_tun_holder *holder;
	char name[16];

	process->pid = pid;
	strcpy(process->name, "qemu");
	process->is_qemu = 1;
	process->vhost_net = vhost;
	for (; arguments && *arguments; arguments++)
		if (facts_add_argument(process, *arguments) < 0)
			abort();
	if (!tap)
		return;
	holder = sure(facts_add_tun(process));
	holder->netns = split(facts, tap, name);
	holder->descriptors = 1;
	snprintf(holder->interface, sizeof(holder->interface), "%s", name);
}
