// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Facts as a graph; see path_graph.h. Everything is made once, by sorting and binary search: n links take n log n steps.
 */
#include "discover/path_graph.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static const struct {
	const char *kind;
	enum path_family family;
} families[] = {
	{ "", PATH_DEVICE },	     { "veth", PATH_PAIR },	     { "netkit", PATH_PAIR },
	{ "vxcan", PATH_PAIR },	     { "vlan", PATH_STACKED },	     { "macsec", PATH_STACKED },
	{ "ipvlan", PATH_STACKED },  { "ipvtap", PATH_STACKED },     { "dsa", PATH_STACKED },
	{ "macvlan", PATH_MACVLAN }, { "macvtap", PATH_MACVLAN },    { "vxlan", PATH_TUNNEL },
	{ "bridge", PATH_BRIDGE },   { "bond", PATH_AGGREGATE },     { "team", PATH_AGGREGATE },
	{ "failover", PATH_DEVICE }, { "openvswitch", PATH_SWITCH }, { "tun", PATH_TAP },
	{ "ifb", PATH_MIRROR },	     { "dummy", PATH_END },
};

static enum path_family family_of(const struct facts_link *link)
{
	if (link->flags & 8) /* IFF_LOOPBACK */
		return PATH_END;
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		if (!strcmp(families[i].kind, link->kind))
			return families[i].family;
	return PATH_OTHER;
}

const struct facts_link *path_link(const struct path_graph *graph, int link)
{
	return &graph->facts->links[link];
}

void path_link_name(const struct path_graph *graph, int link, char *name, size_t size)
{
	const struct facts_link *which = path_link(graph, link);
	const char *netns = graph->facts->netns[which->netns].name;

	snprintf(name, size, "%s%s%s", which->name, netns[0] ? "@ns:" : "", netns);
}

int path_underlay_netns(const struct path_graph *graph, int tunnel)
{
	const struct facts_link *link = path_link(graph, tunnel);

	return link->lower_ifindex && link->lower_netns >= 0 ? link->lower_netns : link->netns;
}

static int index_at(const struct path_graph *graph, int netns, int ifindex)
{
	const struct facts_link *link = ifindex > 0 && netns >= 0 ? facts_link_at(graph->facts, netns, ifindex) : NULL;

	return link ? (int)(link - graph->facts->links) : PATH_NONE;
}

/* What IFLA_LINK says: the other end of a pair, the device below. */
static int linked_to(const struct path_graph *graph, const struct facts_link *link)
{
	int found;

	if (!link->lower_ifindex)
		return PATH_NONE;
	found = index_at(graph, link->lower_netns, link->lower_ifindex);
	return found == PATH_NONE ? PATH_UNSEEN : found;
}

static int *count_of_links(const struct path_graph *graph)
{
	int *values = malloc(((size_t)graph->link_count + 1) * sizeof(int));

	for (int i = 0; values && i <= graph->link_count; i++)
		values[i] = PATH_NONE;
	return values;
}

/* The end that cannot tell where its peer is may be told of by the peer. */
static void match_pairs(struct path_graph *graph)
{
	for (int i = 0; i < graph->link_count; i++) {
		int peer = graph->peer[i];

		if (graph->family[i] == PATH_PAIR && peer >= 0 && graph->family[peer] == PATH_PAIR &&
		    graph->peer[peer] < 0)
			graph->peer[peer] = i;
	}
}

static void relate(struct path_graph *graph)
{
	for (int i = 0; i < graph->link_count; i++) {
		const struct facts_link *link = path_link(graph, i);
		int linked = linked_to(graph, link);

		graph->family[i] = family_of(link);
		graph->master[i] = index_at(graph, link->netns, link->master_ifindex);
		if (graph->master[i] == i)
			graph->master[i] = PATH_NONE;
		if (graph->family[i] == PATH_PAIR)
			graph->peer[i] = linked == i ? PATH_NONE : linked;
		else if (graph->family[i] == PATH_STACKED || graph->family[i] == PATH_MACVLAN)
			graph->lower[i] = linked == i ? PATH_NONE : linked;
	}
	match_pairs(graph);
}

/* Counting sort. */
int path_groups_make(int count, const int *group, struct path_groups *groups)
{
	int total = 0;

	groups->first = calloc((size_t)count + 2, sizeof(int));
	groups->order = calloc((size_t)count + 1, sizeof(int));
	if (!groups->first || !groups->order)
		return -ENOMEM;
	for (int i = 0; i < count; i++)
		if (group[i] >= 0)
			groups->first[group[i] + 2]++;
	for (int i = 0; i <= count; i++) {
		total += groups->first[i + 1];
		groups->first[i + 1] = total;
	}
	for (int i = 0; i < count; i++)
		if (group[i] >= 0)
			groups->order[groups->first[group[i] + 1]++] = i;
	return 0;
}

void path_groups_free(struct path_groups *groups)
{
	free(groups->order);
	free(groups->first);
	*groups = (struct path_groups){ 0 };
}

struct addressed {
	const char *address;
	int link;
};

static int compare_addressed(const void *left, const void *right)
{
	const struct addressed *a = left, *b = right;
	int order = strcmp(a->address, b->address);

	return order ? order : a->link - b->link;
}

static int find_pfs(struct path_graph *graph)
{
	struct addressed *list = calloc((size_t)graph->link_count + 1, sizeof(*list));
	int count = 0;

	if (!list)
		return -ENOMEM;
	for (int i = 0; i < graph->link_count; i++)
		if (path_link(graph, i)->bus_address[0] && !path_link(graph, i)->physfn_address[0] &&
		    graph->family[i] == PATH_DEVICE)
			list[count++] = (struct addressed){ path_link(graph, i)->bus_address, i };
	qsort(list, (size_t)count, sizeof(*list), compare_addressed);
	for (int i = 0; i < graph->link_count; i++) {
		const char *wanted = path_link(graph, i)->physfn_address;
		int low = 0, high = count;

		while (wanted[0] && low < high) { /* the first of them: representors share the address of their PF */
			int middle = low + (high - low) / 2;

			if (strcmp(list[middle].address, wanted) < 0)
				low = middle + 1;
			else
				high = middle;
		}
		if (wanted[0] && low < count && !strcmp(list[low].address, wanted))
			graph->pf[i] = list[low].link;
	}
	free(list);
	return 0;
}

static int compare_fdb(const struct facts_fdb *a, int netns, int bridge, const uint8_t address[6])
{
	if (a->netns != netns)
		return a->netns < netns ? -1 : 1;
	if (a->bridge_ifindex != bridge)
		return a->bridge_ifindex < bridge ? -1 : 1;
	return memcmp(a->address, address, 6);
}

static int compare_entries(const void *left, const void *right, void *context)
{
	const struct facts_fdb *entries = context, *a = &entries[*(const int *)left],
			       *b = &entries[*(const int *)right];
	int order = compare_fdb(a, b->netns, b->bridge_ifindex, b->address);

	if (!order)
		order = a->vlan - b->vlan;
	return order ? order : *(const int *)left - *(const int *)right;
}

static int index_fdb(struct path_graph *graph)
{
	int count = graph->facts->fdb_count;

	graph->fdb = malloc(((size_t)count + 1) * sizeof(int));
	if (!graph->fdb)
		return -ENOMEM;
	for (int i = 0; i < count; i++)
		graph->fdb[i] = i;
	qsort_r(graph->fdb, (size_t)count, sizeof(int), compare_entries, graph->facts->fdb);
	return 0;
}

/* A process that says nothing of the namespace is believed when the name is there just once. */
static void find_holders(struct path_graph *graph)
{
	const struct facts *facts = graph->facts;

	for (int i = 0; i < facts->process_count; i++) {
		for (int k = 0; k < facts->processes[i].tun_count; k++) {
			const struct facts_tun_holder *tun = &facts->processes[i].tuns[k];
			const struct facts_link *link = NULL;

			for (int netns = 0; netns < facts->netns_count; netns++) {
				const struct facts_link *found =
					tun->netns < 0 || tun->netns == netns
						? facts_link_named(facts, netns, tun->interface)
						: NULL;

				if (found && link)
					link = NULL, netns = facts->netns_count;
				else if (found)
					link = found;
			}
			if (link && graph->holder[link - facts->links] < 0)
				graph->holder[link - facts->links] = i;
		}
	}
}

int path_graph_build(struct path_graph *graph, const struct facts *facts)
{
	int code = 0;

	memset(graph, 0, sizeof(*graph));
	graph->facts = facts;
	graph->link_count = facts->link_count;
	graph->family = calloc((size_t)facts->link_count + 1, sizeof(*graph->family));
	graph->peer = count_of_links(graph);
	graph->lower = count_of_links(graph);
	graph->master = count_of_links(graph);
	graph->pf = count_of_links(graph);
	graph->holder = count_of_links(graph);
	if (!graph->family || !graph->peer || !graph->lower || !graph->master || !graph->pf || !graph->holder)
		return error_set(ENOMEM, "no memory for a graph of %d links", facts->link_count);
	relate(graph);
	find_holders(graph);
	code = find_pfs(graph);
	code = code ? code : index_fdb(graph);
	code = code ? code : path_groups_make(graph->link_count, graph->master, &graph->ports);
	code = code ? code : path_groups_make(graph->link_count, graph->lower, &graph->uppers);
	code = code ? code : path_groups_make(graph->link_count, graph->pf, &graph->vfs);
	return code ? error_set(ENOMEM, "no memory for a graph of %d links", facts->link_count) : 0;
}

void path_graph_free(struct path_graph *graph)
{
	void *const blocks[] = { graph->family, graph->peer,   graph->lower, graph->master,
				 graph->pf,	graph->holder, graph->fdb };

	for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++)
		free(blocks[i]);
	path_groups_free(&graph->ports);
	path_groups_free(&graph->uppers);
	path_groups_free(&graph->vfs);
	memset(graph, 0, sizeof(*graph));
}

const struct facts_fdb *path_fdb_entry(const struct path_graph *graph, int position)
{
	return &graph->facts->fdb[graph->fdb[position]];
}

int path_fdb_find(const struct path_graph *graph, int bridge, const uint8_t address[6], int *first)
{
	const struct facts_link *link = path_link(graph, bridge);
	int ifindex = graph->family[bridge] == PATH_BRIDGE ? link->ifindex : 0;
	int low = 0, high = graph->facts->fdb_count, count = 0;

	while (low < high) {
		int middle = low + (high - low) / 2;

		if (compare_fdb(path_fdb_entry(graph, middle), link->netns, ifindex, address) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	*first = low;
	while (low + count < graph->facts->fdb_count &&
	       !compare_fdb(path_fdb_entry(graph, low + count), link->netns, ifindex, address))
		count++;
	return count;
}

int path_fdb_only_station(const struct path_graph *graph, int port, uint8_t address[6])
{
	const struct facts_link *link = path_link(graph, port);
	int found = 0;

	for (int i = 0; i < graph->facts->fdb_count; i++) {
		const struct facts_fdb *entry = &graph->facts->fdb[i];

		if (entry->netns != link->netns || entry->port_ifindex != link->ifindex || entry->is_local ||
		    !entry->bridge_ifindex || entry->address[0] & 1)
			continue;
		if (found && memcmp(address, entry->address, 6))
			return 0;
		memcpy(address, entry->address, 6);
		found = 1;
	}
	return found;
}
