// SPDX-License-Identifier: GPL-2.0-or-later
/* Words for edges; see path_describe.h. One row a kind of move: what sort of hop it is, and a function for its name and note. */
#include "discover/path_describe.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/point_syntax.h"
#include "model/shell_quote.h"

struct telling {
	const struct path_graph *graph;
	const struct path_target *target;
	const struct path_state *from;
	const struct path_edge *edge;
	struct facts_path_hop *hop;
	const struct facts_link *a, *b, *device; /* of both states; device may be NULL */
};

void path_add_note(struct facts_path_hop *hop, const char *format, ...)
{
	size_t used = strlen(hop->note);
	va_list arguments;

	if (used && used + 2 < sizeof(hop->note)) {
		strcpy(hop->note + used, "; ");
		used += 2;
	}
	va_start(arguments, format);
	vsnprintf(hop->note + used, sizeof(hop->note) - used, format, arguments);
	va_end(arguments);
}

static void name(const struct telling *telling, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void name(const struct telling *telling, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(telling->hop->name, sizeof(telling->hop->name), format, arguments);
	va_end(arguments);
}

static const char *device_name(const struct telling *telling)
{
	return telling->device ? telling->device->name : "?";
}

static void print_address(const uint8_t address[6], char text[18])
{
	snprintf(text, 18, "%02x:%02x:%02x:%02x:%02x:%02x", address[0], address[1], address[2], address[3], address[4],
		 address[5]);
}

static void tell_wire(const struct telling *telling)
{
	name(telling, "wire %s-%s", telling->a->name, telling->b->name);
}

static void tell_known(const struct telling *telling)
{
	char address[18];

	print_address(telling->target->address, address);
	name(telling, "bridge %s", device_name(telling));
	path_add_note(telling->hop, "its FDB knows %s at %s", address, telling->b->name);
}

static void tell_flood(const struct telling *telling)
{
	char address[18];

	print_address(telling->target->address, address);
	name(telling, "bridge %s", device_name(telling));
	if (telling->target->has_address)
		path_add_note(telling->hop, "%s is not in its FDB: flooded to %d ports until the sink has sent",
			      address, telling->edge->detail);
	else
		path_add_note(
			telling->hop,
			"which station is meant is not known, so the FDB was not asked; of %d ports this one leads there",
			telling->edge->detail);
}

static void tell_local(const struct telling *telling)
{
	name(telling, "bridge %s", device_name(telling));
	path_add_note(telling->hop,
		      telling->from->is_out ? "sent by the bridge's own device" : "for the bridge's own device");
}

static void tell_as_port(const struct telling *telling)
{
	name(telling, "bridge %s", device_name(telling));
	path_add_note(telling->hop,
		      "frames to the address of %s itself end in the bridge; this is the way to stations behind it",
		      telling->b->name);
}

static void tell_stack(const struct telling *telling)
{
	const struct facts_link *upper = telling->edge->move == MOVE_DOWN_STACK ? telling->a : telling->b;

	name(telling, "%s %s", upper->kind[0] ? upper->kind : "upper device", upper->name);
	if (!strcmp(upper->kind, "vlan"))
		path_add_note(telling->hop, telling->from->is_out ? "adds tag %d" : "takes tag %d off", upper->vlan_id);
	if (upper->macvlan_mode[0])
		path_add_note(telling->hop, "mode %s", upper->macvlan_mode);
}

static void tell_sibling(const struct telling *telling)
{
	name(telling, "%s on %s", telling->a->kind, device_name(telling));
	path_add_note(telling->hop, "handed to its sibling by mode bridge; %s itself does not see it",
		      device_name(telling));
}

static void tell_to_slave(const struct telling *telling)
{
	const struct path_groups *ports = &telling->graph->ports;
	int slaves = ports->first[telling->from->link + 1] - ports->first[telling->from->link];

	name(telling, "%s %s", telling->a->kind, telling->a->name);
	if (telling->b->bond_is_active == 1)
		path_add_note(telling->hop, "%s is the active slave", telling->b->name);
	else if (slaves > 1)
		path_add_note(telling->hop, "one of %d slaves: mode %s, hash %s decides for each flow", slaves,
			      telling->a->bond_mode[0] ? telling->a->bond_mode : "unknown",
			      telling->a->bond_hash[0] ? telling->a->bond_hash : "policy");
}

static void tell_from_slave(const struct telling *telling)
{
	name(telling, "%s %s", telling->b->kind, telling->b->name);
}

static void tell_vf_slave(const struct telling *telling)
{
	int is_down = telling->edge->move == MOVE_TO_VF_SLAVE;

	name(telling, "data path of %s", is_down ? telling->a->name : telling->b->name);
	path_add_note(telling->hop, "%s goes through its VF %s while that is up",
		      is_down ? telling->a->name : telling->b->name, is_down ? telling->b->name : telling->a->name);
}

static void tell_tunnel(const struct telling *telling)
{
	name(telling, "%s %s", telling->a->kind, telling->a->name);
	path_add_note(telling->hop, "VNI %d to %s", telling->a->vxlan_id,
		      telling->edge->remote ? telling->edge->remote : "?");
	if (telling->edge->move == MOVE_ENCAPSULATE)
		path_add_note(telling->hop, "whose end is not in these facts");
}

static void tell_representor(const struct telling *telling)
{
	const struct facts_link *vf = telling->a->vf_index >= 0 ? telling->a : telling->b;

	name(telling, "VF %d of %s", vf->vf_index, device_name(telling));
	path_add_note(telling->hop, "flows that the card took over pass the representor by");
}

static void tell_embedded_switch(const struct telling *telling)
{
	name(telling, "switch of %s", device_name(telling));
	path_add_note(telling->hop, "inside the card: no kernel sees it; ethtool -S %s counts it",
		      device_name(telling));
}

static void tell_datapath(const struct telling *telling)
{
	name(telling, "datapath %s", telling->device ? telling->device->name : "of Open vSwitch");
	path_add_note(telling->hop,
		      "the kernel shows its ports, not its flows: ovs-appctl dpctl/dump-flows shows them");
}

static void tell_outside(const struct telling *telling)
{
	name(telling, "network between %s and %s", telling->a->name, telling->b->name);
	path_add_note(telling->hop, "a guess: no kernel here can say what %s's wire leads to", telling->a->name);
}

static void tell_unseen(const struct telling *telling)
{
	name(telling, "%s..%s", telling->a->name, telling->b->name);
	path_add_note(telling->hop,
		      "a guess: both lead to namespaces that are not in these facts; run as root, or on the host");
}

static void tell_holder(const struct telling *telling)
{
	const struct facts_process *process = &telling->graph->facts->processes[telling->edge->detail];

	name(telling, "%s %d", process->is_qemu ? "guest of qemu" : process->name, process->pid);
	path_add_note(telling->hop,
		      "a guess: this process holds both taps; whether it forwards cannot be seen from here");
}

static const struct {
	enum facts_hop_kind kind;
	void (*tell)(const struct telling *telling);
} tellings[] = {
	[MOVE_NONE] = { FACTS_HOP_OPAQUE, tell_wire },
	[MOVE_WIRE] = { FACTS_HOP_WIRE, tell_wire },
	[MOVE_BRIDGE_KNOWN] = { FACTS_HOP_BRIDGE, tell_known },
	[MOVE_BRIDGE_FLOOD] = { FACTS_HOP_BRIDGE, tell_flood },
	[MOVE_BRIDGE_LOCAL] = { FACTS_HOP_BRIDGE, tell_local },
	[MOVE_BRIDGE_AS_PORT] = { FACTS_HOP_BRIDGE, tell_as_port },
	[MOVE_DOWN_STACK] = { FACTS_HOP_STACK, tell_stack },
	[MOVE_UP_STACK] = { FACTS_HOP_STACK, tell_stack },
	[MOVE_SIBLING] = { FACTS_HOP_STACK, tell_sibling },
	[MOVE_TO_SLAVE] = { FACTS_HOP_STACK, tell_to_slave },
	[MOVE_FROM_SLAVE] = { FACTS_HOP_STACK, tell_from_slave },
	[MOVE_TO_VF_SLAVE] = { FACTS_HOP_STACK, tell_vf_slave },
	[MOVE_FROM_VF_SLAVE] = { FACTS_HOP_STACK, tell_vf_slave },
	[MOVE_TUNNEL] = { FACTS_HOP_STACK, tell_tunnel },
	[MOVE_ENCAPSULATE] = { FACTS_HOP_STACK, tell_tunnel },
	[MOVE_REPRESENTOR] = { FACTS_HOP_WIRE, tell_representor },
	[MOVE_EMBEDDED_SWITCH] = { FACTS_HOP_OPAQUE, tell_embedded_switch },
	[MOVE_DATAPATH] = { FACTS_HOP_OPAQUE, tell_datapath },
	[MOVE_OUTSIDE_WIRE] = { FACTS_HOP_OPAQUE, tell_outside },
	[MOVE_UNSEEN_NETNS] = { FACTS_HOP_OPAQUE, tell_unseen },
	[MOVE_THROUGH_HOLDER] = { FACTS_HOP_OPAQUE, tell_holder },
};

static const char *state_name(int state)
{
	static const char *const names[] = { "disabled", "listening", "learning", "forwarding", "blocking" };

	return state >= 0 && state < 5 ? names[state] : "unknown";
}

/* Reasons in which the culprit's name stands once; the rest of path_describe_block needs more. */
static const char *const reasons[] = {
	[BLOCK_NO_CARRIER] = "%s has no carrier: nothing is at its other end",
	[BLOCK_FDB_SAME_PORT] =
		"the FDB says that the sink's address is behind %s, where the frame came from: it is dropped",
	[BLOCK_FDB_HERE] =
		"the FDB says that the sink's address is the bridge's own: %s takes the frame up instead of passing it on",
	[BLOCK_NOT_LOCAL] = "%s's own device does not take frames to the sink's address",
	[BLOCK_NO_FLOOD] = "the sink's address is not in the FDB, and flooding is off at %s",
	[BLOCK_ISOLATED] = "isolated ports do not exchange frames, and %s is one like the port before",
	[BLOCK_NO_VLAN] = "%s has no PVID, so that the bridge drops untagged frames",
	[BLOCK_ADDRESS] = "%s takes frames to its own address only, and the sink has another",
	[BLOCK_BACKUP_SLAVE] = "%s is a backup slave, and another is active",
	[BLOCK_NO_UNDERLAY] = "the underlay of %s does not lead to the other end",
	[BLOCK_DEPTH] = "the underlay of %s was not followed: too many tunnels in tunnels",
};

void path_describe_block(const struct path_graph *graph, const struct path_edge *edge, char *note, size_t size)
{
	const struct facts_link *culprit = edge->culprit >= 0 ? path_link(graph, edge->culprit) : NULL;
	const char *netns = culprit ? graph->facts->netns[culprit->netns].name : "";
	char place[96] = "a port that is not in these facts", *quoted;

	if (culprit)
		path_link_name(graph, edge->culprit, place, sizeof(place));
	switch (edge->block) {
	case BLOCK_NONE:
		note[0] = 0;
		return;
	case BLOCK_DOWN:
		snprintf(note, size, "%s is down; %s link set %s up", place, point_ip(netns).text,
			 culprit ? culprit->name : "?");
		quoted = shell_quote_names(graph->facts, note);
		snprintf(note, size, "%s", quoted ? quoted : "out of memory");
		free(quoted);
		return;
	case BLOCK_FDB_ELSEWHERE:
		snprintf(note, size, "the FDB says that the sink's address is behind %s, not here", place);
		return;
	case BLOCK_PORT_STATE:
		snprintf(note, size, "%s does not forward: its state as a bridge port is %s", place,
			 state_name(culprit ? culprit->port.state : -1));
		return;
	case BLOCK_TAG:
		snprintf(note, size, "%s takes frames with tag %d, and these have another or none", place,
			 culprit ? culprit->vlan_id : 0);
		return;
	case BLOCK_MACVLAN_MODE:
		snprintf(note, size, "%s is in mode %s, which does not pass frames to siblings", place,
			 culprit ? culprit->macvlan_mode : "?");
		return;
	default:
		snprintf(note, size, reasons[edge->block], place);
	}
}

void path_describe(const struct path_graph *graph, const struct path_target *target, const struct path_state *from,
		   const struct path_edge *edge, struct facts_path_hop *hop)
{
	struct telling telling = {
		graph, target, from, edge, hop, path_link(graph, from->link), path_link(graph, edge->to.link), NULL
	};

	memset(hop, 0, sizeof(*hop));
	if (edge->device >= 0)
		telling.device = path_link(graph, edge->device);
	hop->kind = tellings[edge->move].kind;
	if (telling.device && edge->move != MOVE_TUNNEL) {
		hop->netns = telling.device->netns;
		hop->ifindex = telling.device->ifindex;
	}
	tellings[edge->move].tell(&telling);
	if (!edge->block)
		return;
	hop->kind = FACTS_HOP_CUT;
	path_describe_block(graph, edge, hop->note, sizeof(hop->note));
}
