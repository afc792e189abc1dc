// SPDX-License-Identifier: GPL-2.0-or-later
/* Words of the tree of links; see tree_row.h. One function a family of links. */
#include "discover/tree_row.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "discover/path_guest.h"
#include "model/qemu_command.h"

#define IFF_UP_FLAG 1u
#define STATE_FORWARDING 3

static void say(struct facts_tree_row *row, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(struct facts_tree_row *row, const char *format, ...)
{
	size_t used = strlen(row->detail);
	va_list arguments;

	if (used && used + 2 < sizeof(row->detail)) {
		strcpy(row->detail + used, ", ");
		used += 2;
	}
	va_start(arguments, format);
	vsnprintf(row->detail + used, sizeof(row->detail) - used, format, arguments);
	va_end(arguments);
}

static void say_link(struct facts_tree_row *row, const struct path_graph *graph, const char *what, int link)
{
	char name[96];

	path_link_name(graph, link, name, sizeof(name));
	say(row, "%s %s", what, name);
}

static void describe_pair(const struct path_graph *graph, int link, struct facts_tree_row *row)
{
	if (graph->peer[link] >= 0)
		say_link(row, graph, "peer", graph->peer[link]);
	else if (graph->peer[link] == PATH_UNSEEN)
		say(row, "peer in a namespace that is not in these facts");
}

static void describe_stacked(const struct path_graph *graph, int link, int parent, struct facts_tree_row *row)
{
	const struct facts_link *which = path_link(graph, link);

	if (!strcmp(which->kind, "vlan"))
		say(row, "%stag %d", which->vlan_protocol == 0x88a8 ? "802.1ad " : "", which->vlan_id);
	if (which->macvlan_mode[0])
		say(row, "mode %s", which->macvlan_mode);
	if (graph->lower[link] >= 0 && graph->lower[link] != parent)
		say_link(row, graph, "on", graph->lower[link]);
	else if (graph->lower[link] == PATH_UNSEEN)
		say(row, "on a device of a namespace that is not in these facts");
}

static void describe_tunnel(const struct path_graph *graph, int link, struct facts_tree_row *row)
{
	const struct facts_link *which = path_link(graph, link);

	say(row, "VNI %d", which->vxlan_id);
	if (which->vxlan_remote[0])
		say(row, "to %s", which->vxlan_remote);
}

static void describe_group(const struct path_graph *graph, int link, struct facts_tree_row *row)
{
	const struct facts_link *which = path_link(graph, link);
	int ports = graph->ports.first[link + 1] - graph->ports.first[link];
	int is_bridge = graph->family[link] == PATH_BRIDGE;

	say(row, "%d %s%s", ports, graph->family[link] == PATH_AGGREGATE ? "slave" : "port", ports == 1 ? "" : "s");
	if (which->bond_mode[0])
		say(row, "mode %s%s%s", which->bond_mode, which->bond_hash[0] ? " " : "", which->bond_hash);
	if (is_bridge && which->bridge.stp > 0)
		say(row, "STP");
	if (is_bridge && which->bridge.vlan_filtering == 1)
		say(row, "VLAN-aware");
}

static int describe_tap(const struct path_graph *graph, int link, struct facts_tree_row *row)
{
	struct path_guest guest;
	int code = path_guest_find(graph, link, &guest);

	if (code)
		return code;
	if (guest.process < 0) {
		if (graph->family[link] == PATH_TAP)
			say(row, "held by no process that could be seen");
		return 0;
	}
	say(row, "held by %s %d", graph->facts->processes[guest.process].name,
	    graph->facts->processes[guest.process].pid);
	if (!guest.is_qemu)
		return 0;
	say(row, "%s", guest.back_end);
	if (guest.device[0])
		say(row, "guest's %s", guest.device);
	if (guest.has_address)
		say(row, "guest's address %02x:%02x:%02x:%02x:%02x:%02x", guest.address[0], guest.address[1],
		    guest.address[2], guest.address[3], guest.address[4], guest.address[5]);
	return 0;
}

static void describe_device(const struct path_graph *graph, int link, int parent, struct facts_tree_row *row)
{
	const struct facts_link *which = path_link(graph, link);

	if (which->bus_address[0])
		say(row, "%s %s", which->bus, which->bus_address);
	if (which->speed_mbit_per_s > 0)
		say(row, "%g Gbit/s", (double)which->speed_mbit_per_s / 1000);
	if (which->numa_node >= 0)
		say(row, "NUMA node %d", which->numa_node);
	if (which->vf_index >= 0)
		say(row, "VF %d", which->vf_index);
	if (which->vf_index >= 0 && graph->pf[link] >= 0 && graph->pf[link] != parent)
		say_link(row, graph, "of", graph->pf[link]);
	if (which->vf_total > 0)
		say(row, "%d of %d VFs", which->vf_count < 0 ? 0 : which->vf_count, which->vf_total);
	if (which->phys_switch_id[0])
		say(row, "switch %s port %s", which->phys_switch_id,
		    which->phys_port_name[0] ? which->phys_port_name : "?");
	if (which->rx_queues > 0)
		say(row, "%d queue%s", which->rx_queues, which->rx_queues == 1 ? "" : "s");
}

static void describe_port(const struct path_graph *graph, int link, struct facts_tree_row *row)
{
	static const char *const states[] = { "disabled", "listening", "learning", "forwarding", "blocking" };
	const struct facts_link *which = path_link(graph, link);
	int state = which->port.state;

	if (which->bond_is_active >= 0)
		say(row, which->bond_is_active ? "active" : "backup");
	if (graph->master[link] < 0 || graph->family[graph->master[link]] != PATH_BRIDGE || state < 0)
		return;
	if (which->port.pvid > 1)
		say(row, "PVID %d", which->port.pvid);
	if (state == STATE_FORWARDING)
		return;
	say(row, "does not forward (%s)", state < 5 ? states[state] : "unknown state");
	row->is_trouble = 1;
}

static void describe_state(const struct path_graph *graph, int link, struct facts_tree_row *row)
{
	const struct facts_link *which = path_link(graph, link);

	for (int i = 0, shown = 0; i < graph->facts->address_count && shown < 2; i++) {
		const struct facts_address *address = &graph->facts->addresses[i];

		if (address->netns != which->netns || address->ifindex != which->ifindex ||
		    !strncmp(address->address, "fe80:", 5))
			continue;
		say(row, "%s/%d", address->address, address->prefix_length);
		shown++;
	}
	if (which->mtu_bytes > 0 && which->mtu_bytes != 1500 && graph->family[link] != PATH_END)
		say(row, "MTU %d", which->mtu_bytes);
	if (which->xdp_program_id)
		say(row, "XDP program %s", which->xdp_program_name[0] ? which->xdp_program_name : "without a name");
	if (!(which->flags & IFF_UP_FLAG))
		say(row, "down");
	else if (which->carrier == 0)
		say(row, "no carrier");
	row->is_trouble |= graph->family[link] != PATH_END && (!(which->flags & IFF_UP_FLAG) || which->carrier == 0);
}

int tree_describe(const struct path_graph *graph, int link, int parent, struct facts_tree_row *row)
{
	const struct facts_link *which = path_link(graph, link);
	int code = 0;

	snprintf(row->name, sizeof(row->name), "%s", which->name);
	snprintf(row->kind, sizeof(row->kind), "%s",
		 which->kind[0]	    ? which->kind
		 : which->driver[0] ? which->driver
		 : which->flags & 8 ? "loopback"
				    : "device");
	switch (graph->family[link]) {
	case PATH_PAIR:
		describe_pair(graph, link, row);
		break;
	case PATH_STACKED:
	case PATH_MACVLAN:
		describe_stacked(graph, link, parent, row);
		code = describe_tap(graph, link, row);
		break;
	case PATH_TUNNEL:
		describe_tunnel(graph, link, row);
		break;
	case PATH_BRIDGE:
	case PATH_AGGREGATE:
		describe_group(graph, link, row);
		break;
	case PATH_TAP:
		code = describe_tap(graph, link, row);
		break;
	case PATH_DEVICE:
		describe_device(graph, link, parent, row);
		break;
	case PATH_SWITCH:
	case PATH_MIRROR:
	case PATH_END:
	case PATH_OTHER:
		break;
	}
	describe_port(graph, link, row);
	describe_state(graph, link, row);
	return code;
}

static int is_seen_vf(const struct path_graph *graph, int pf, int index)
{
	for (int i = graph->vfs.first[pf]; i < graph->vfs.first[pf + 1]; i++)
		if (path_link(graph, graph->vfs.order[i])->vf_index == index)
			return 1;
	return 0;
}

int tree_add_hidden_vfs(const struct path_graph *graph, int pf, int depth, struct facts_tree *tree)
{
	const struct facts_link *which = path_link(graph, pf);

	for (int i = 0; i < which->vf_info_count; i++) {
		const struct facts_vf *vf = &which->vfs[i];
		struct facts_tree_row *row;

		if (is_seen_vf(graph, pf, vf->index))
			continue;
		row = tree_add_row(tree, depth);
		if (!row)
			return -ENOMEM;
		snprintf(row->name, sizeof(row->name), "VF %d", vf->index);
		snprintf(row->kind, sizeof(row->kind), "vf");
		say(row, "%02x:%02x:%02x:%02x:%02x:%02x", vf->address[0], vf->address[1], vf->address[2],
		    vf->address[3], vf->address[4], vf->address[5]);
		say(row, "no interface here: without a driver, or given to a guest (vfio)");
		if (vf->vlan > 0)
			say(row, "VLAN %d", vf->vlan);
		if (vf->max_tx_mbit_per_s > 0)
			say(row, "at most %lld Mbit/s", (long long)vf->max_tx_mbit_per_s);
	}
	return 0;
}

/* Kinds of back end that need no interface here. */
static int is_hidden(const struct qemu_part *back_end)
{
	static const char *const types[] = { "vhost-user", "vhost-vdpa", "user", "passt",  "socket",
					     "stream",	   "dgram",	 "vde",	 "netmap", "af-xdp" };

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(back_end->type, types[i]))
			return 1;
	return 0;
}

static int add_guest_row(const struct facts_process *process, const struct qemu_command *command,
			 const struct qemu_part *part, struct facts_tree *tree)
{
	const struct qemu_part *nic = part->kind == QEMU_BACKEND ? qemu_nic_of(command, part) : NULL;
	struct facts_tree_row *row = tree_add_row(tree, 1);

	if (!row)
		return -ENOMEM;
	snprintf(row->name, sizeof(row->name), "%s %d", process->name, process->pid);
	snprintf(row->kind, sizeof(row->kind), "%s", part->type);
	if (nic)
		say(row, "guest's %s%s%s", nic->type[0] ? nic->type : "device", qemu_mac(command, nic)[0] ? " " : "",
		    qemu_mac(command, nic));
	say(row, "%s", part->token);
	return 0;
}

static int add_guests_of(const struct facts_process *process, struct facts_tree *tree)
{
	const struct qemu_part *part = NULL;
	struct qemu_command *command;
	int code = qemu_command_parse(process->argument_count, process->arguments, &command);

	if (code)
		return code == -ENOMEM ? code : 0;
	while (!code && (part = qemu_next(command, part, QEMU_BACKEND)))
		if (is_hidden(part))
			code = add_guest_row(process, command, part, tree);
	part = NULL;
	while (!code && (part = qemu_next(command, part, QEMU_PASSTHROUGH)))
		code = add_guest_row(process, command, part, tree);
	qemu_command_free(command);
	return code;
}

int tree_add_guests(const struct path_graph *graph, struct facts_tree *tree)
{
	int heading = tree->count, code = 0;
	struct facts_tree_row *row = tree_add_row(tree, 0);

	if (!row)
		return -ENOMEM;
	snprintf(row->name, sizeof(row->name), "guests without an interface in this kernel");
	for (int i = 0; i < graph->facts->process_count && !code; i++)
		if (graph->facts->processes[i].is_qemu)
			code = add_guests_of(&graph->facts->processes[i], tree);
	if (tree->count == heading + 1)
		tree->count = heading;
	return code;
}
