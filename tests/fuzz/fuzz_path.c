// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Any bytes as a network: links of all kinds that point at each other as the bytes say, with FDB, routes and a QEMU; then paths
 * between links, and the tree. Facts need not make sense: masters of themselves, peers that point elsewhere, loops.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "discover/path_follow.h"
#include "discover/tree.h"
#include "targets.h"

#define MAX_LINKS 48
#define MAX_RECORDS 64

struct bytes {
	const uint8_t *at, *end;
};

static int take(struct bytes *bytes, int limit)
{
	return bytes->at < bytes->end ? *bytes->at++ % limit : 0;
}

static void take_address(struct bytes *bytes, uint8_t address[6])
{
	address[0] = 2; /* few, so that they meet */
	address[5] = (uint8_t)take(bytes, 16);
}

static void fill_link(struct bytes *bytes, const struct facts *facts, struct facts_link *link)
{
	static const char *const kinds[] = { "veth", "bridge", "tun",  "macvlan", "macvtap",
					     "vlan", "vxlan",  "bond", "team",	  "openvswitch",
					     "ifb",  "",       "",     "dummy",	  "gretap" };

	link->netns = take(bytes, facts->netns_count);
	link->ifindex = 1 + take(bytes, MAX_LINKS);
	snprintf(link->name, sizeof(link->name), "l%d", take(bytes, MAX_LINKS));
	snprintf(link->kind, sizeof(link->kind), "%s", kinds[take(bytes, sizeof(kinds) / sizeof(kinds[0]))]);
	link->flags = take(bytes, 4) ? 0x1043 : 0x1002;
	link->carrier = take(bytes, 3) - 1;
	link->operstate = take(bytes, 8) - 1;
	link->mtu_bytes = take(bytes, 2) ? 1500 : 9000;
	link->master_ifindex = take(bytes, 3) ? 0 : take(bytes, MAX_LINKS);
	link->lower_netns = take(bytes, facts->netns_count + 1) - 1;
	link->lower_ifindex = take(bytes, 3) ? take(bytes, MAX_LINKS) : 0;
	link->port.state = take(bytes, 6) - 1;
	link->port.unicast_flood = take(bytes, 3) - 1;
	link->port.isolated = take(bytes, 3) - 1;
	link->bridge.vlan_filtering = take(bytes, 3) - 1;
	link->vlan_id = take(bytes, 4);
	link->vxlan_id = take(bytes, 4) - 1;
	link->tun_flags = take(bytes, 3) ? -1 : 0x1002;
	link->bond_is_active = take(bytes, 3) - 1;
	snprintf(link->vxlan_remote, sizeof(link->vxlan_remote), "%s", take(bytes, 2) ? "192.0.2.9" : "");
	snprintf(link->vxlan_local, sizeof(link->vxlan_local), "%s", take(bytes, 2) ? "192.0.2.8" : "");
	snprintf(link->macvlan_mode, sizeof(link->macvlan_mode), "%s", take(bytes, 2) ? "bridge" : "private");
	snprintf(link->bus_address, sizeof(link->bus_address), "%s", take(bytes, 2) ? "0000:03:00.0" : "");
	snprintf(link->physfn_address, sizeof(link->physfn_address), "%s", take(bytes, 4) ? "" : "0000:03:00.0");
	snprintf(link->phys_switch_id, sizeof(link->phys_switch_id), "%s", take(bytes, 4) ? "" : "0a");
	take_address(bytes, link->address);
}

static int is_there(const struct facts *facts, const struct facts_link *link)
{
	for (int i = 0; i < facts->link_count; i++)
		if (&facts->links[i] != link && facts->links[i].netns == link->netns &&
		    (facts->links[i].ifindex == link->ifindex || !strcmp(facts->links[i].name, link->name)))
			return 1;
	return 0;
}

static void add_record(struct bytes *bytes, struct facts *facts)
{
	struct facts_fdb *fdb;
	struct facts_route *route;
	struct facts_address *address;
	struct facts_neighbour *neighbour;
	int netns = take(bytes, facts->netns_count), index = take(bytes, MAX_LINKS);

	switch (take(bytes, 4)) {
	case 0:
		fdb = facts_add_fdb(facts);
		if (!fdb)
			return;
		fdb->netns = netns;
		fdb->port_ifindex = index;
		fdb->bridge_ifindex = take(bytes, MAX_LINKS);
		fdb->vlan = take(bytes, 3);
		fdb->is_local = take(bytes, 2);
		take_address(bytes, fdb->address);
		snprintf(fdb->vxlan_remote, sizeof(fdb->vxlan_remote), "%s", take(bytes, 2) ? "192.0.2.8" : "");
		break;
	case 1:
		route = facts_add_route(facts);
		if (!route)
			return;
		route->netns = netns;
		route->out_ifindex = index;
		route->prefix_length = take(bytes, 34);
		snprintf(route->destination, sizeof(route->destination), "%s", take(bytes, 2) ? "192.0.2.0" : "");
		snprintf(route->gateway, sizeof(route->gateway), "%s", take(bytes, 2) ? "192.0.2.8" : "rubbish");
		break;
	case 2:
		address = facts_add_address(facts);
		if (!address)
			return;
		address->netns = netns;
		address->ifindex = index;
		address->prefix_length = take(bytes, 34);
		snprintf(address->address, sizeof(address->address), "%s", take(bytes, 2) ? "192.0.2.8" : "192.0.2.9");
		break;
	default:
		neighbour = facts_add_neighbour(facts);
		if (!neighbour)
			return;
		neighbour->netns = netns;
		neighbour->ifindex = index;
		take_address(bytes, neighbour->mac);
		strcpy(neighbour->address, "192.0.2.8");
		break;
	}
}

static void add_process(struct bytes *bytes, struct facts *facts)
{
	static char *const lines[] = { "tap,id=n,ifname=l1,vhost=on", "virtio-net-pci,netdev=n,mac=02:00:00:00:00:03" };
	struct facts_process *process = facts_add_process(facts);
	struct facts_tun_holder *tun = process ? facts_add_tun(process) : NULL;

	if (!tun)
		return;
	process->pid = 10 + take(bytes, 4);
	process->is_qemu = take(bytes, 2);
	process->vhost_net = take(bytes, 3) - 1;
	tun->netns = take(bytes, facts->netns_count + 1) - 1;
	snprintf(tun->interface, sizeof(tun->interface), "l%d", take(bytes, MAX_LINKS));
	if (facts_add_argument(process, "qemu-system-x86_64") || facts_add_argument(process, "-netdev") ||
	    facts_add_argument(process, lines[0]) || facts_add_argument(process, "-device") ||
	    facts_add_argument(process, lines[1]))
		return;
}

static void make_facts(struct bytes *bytes, struct facts *facts)
{
	int netns = take(bytes, 4), links = take(bytes, MAX_LINKS), records = take(bytes, MAX_RECORDS),
	    guests = take(bytes, 3);

	for (int i = 0; i < netns; i++) {
		struct facts_netns *made = facts_add_netns(facts);

		if (made)
			snprintf(made->name, sizeof(made->name), "n%d", i);
	}
	for (int i = 0; i < links; i++) {
		struct facts_link *link = facts_add_link(facts);

		if (!link)
			return;
		fill_link(bytes, facts, link);
		if (is_there(facts, link)) { /* what a kernel cannot have: two links with one number */
			link->ifindex = MAX_LINKS + 1 + i;
			snprintf(link->name, sizeof(link->name), "m%d", i);
		}
	}
	for (int i = 0; i < records; i++)
		add_record(bytes, facts);
	for (int i = 0; i < guests; i++)
		add_process(bytes, facts);
	facts_sort(facts);
}

static const char *point_of(char *text, size_t size, struct bytes *bytes, const struct facts *facts)
{
	static const char *const directions[] = { "", "", ":in", ":out" };
	const struct facts_link *link = &facts->links[take(bytes, facts->link_count)];
	const char *netns = facts->netns[link->netns].name;

	snprintf(text, size, "%s%s%s%s", link->name, *netns ? "@ns:" : "", netns, directions[take(bytes, 4)]);
	return text;
}

static void check_path(const struct facts *facts, const struct facts_path *path)
{
	FUZZ_PROMISE(path->point_count >= 0 && path->point_count <= FACTS_PATH_MAX_POINTS);
	FUZZ_PROMISE(path->is_complete == (path->why_incomplete[0] == 0));
	FUZZ_PROMISE(memchr(path->why_incomplete, 0, sizeof(path->why_incomplete)));
	for (int i = 0; i < path->point_count; i++) {
		const struct facts_path_point *point = &path->points[i];

		FUZZ_PROMISE(memchr(point->text, 0, sizeof(point->text)));
		FUZZ_PROMISE(!point->ifindex || facts_link_at(facts, point->netns, point->ifindex));
	}
	for (int i = 0; i + 1 < path->point_count; i++) {
		FUZZ_PROMISE(path->hops[i].name[0] && path->hops[i].kind <= FACTS_HOP_CUT);
		FUZZ_PROMISE(!path->is_complete || path->hops[i].kind != FACTS_HOP_CUT);
	}
}

int fuzz_path(const uint8_t *data, size_t size)
{
	struct bytes bytes = { data, data + size };
	struct facts *facts = facts_new();
	static struct facts_path path;
	struct facts_tree tree = { 0 };
	char source[96], sink[96];

	if (!facts)
		return 0;
	make_facts(&bytes, facts);
	for (int i = 0; facts->link_count && i < 3; i++) {
		int result = path_follow(facts, point_of(source, sizeof(source), &bytes, facts),
					 point_of(sink, sizeof(sink), &bytes, facts), &path);

		FUZZ_PROMISE(result == 0 ||
			     ((result == -EINVAL || result == -ENODEV || result == -ENOMEM) && error_text()[0]));
		if (!result)
			check_path(facts, &path);
	}
	FUZZ_PROMISE(tree_build(facts, &tree) == 0);
	for (int i = 0; i < tree.count; i++)
		FUZZ_PROMISE(tree.rows[i].depth >= 0 && tree.rows[i].name[0]);
	tree_free(&tree);
	fuzz_examine(facts);
	facts_free(facts);
	return 0;
}
