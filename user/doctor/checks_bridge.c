// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Checks of switching: bridges and what hooks into them, macvlan, bonds, and paths that end. Called through doctor/tables.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <net/if.h>

#include "doctor/lookup.h"
#include "doctor/tables.h"

#define NOTHING_GBPS 1e-9 /* 0 would be "unknown" */

enum { PORT_DISABLED, PORT_LISTENING, PORT_LEARNING, PORT_FORWARDING, PORT_BLOCKING };

static int is_bridge(const struct check_context *context)
{
	return !strcmp(context->link->kind, "bridge");
}

static int is_port(const struct check_context *context)
{
	return context->link->port.state >= 0;
}

static int is_bond(const struct check_context *context)
{
	return !strcmp(context->link->kind, "bond");
}

static int is_macvlan(const struct check_context *context)
{
	return !strcmp(context->link->kind, "macvlan"); /* macvtap: checks_backend_host.c */
}

/* A bridge that lets nothing through is a cut with the bridge's name. */
static int is_bridge_hop(const struct check_context *context)
{
	const struct facts_path_hop *hop = &context->path->hops[context->hop - 1];

	return hop->kind == FACTS_HOP_BRIDGE || (hop->kind == FACTS_HOP_CUT && hop->ifindex);
}

/* --- the path ----------------------------------------------------------------------------------------------------- */

static void judge_cut(struct check_context *context)
{
	const struct facts_path_hop *hop = &context->path->hops[context->hop - 1];

	if (hop->kind != FACTS_HOP_CUT)
		return;
	/* Nothing passes, so there is no limit that is lower. */
	check_report_cap(context, FINDING_FAIL, NOTHING_GBPS,
			 check_text("hop %d, after %s: %s", context->hop, context->path->points[context->hop - 1].text,
				    hop->note[0] ? hop->note : "the path ends here"),
			 "a path must go on to its sink",
			 "mend what the evidence names; hopcap path shows where the path goes then");
}

/* --- bridges ------------------------------------------------------------------------------------------------------ */

static void judge_netfilter(struct check_context *context)
{
	static const char *const names[] = { "iptables", "ip6tables", "arptables" };
	const struct facts_link *link = context->link;
	const int own[] = { link->bridge.nf_call_iptables, link->bridge.nf_call_ip6tables,
			    link->bridge.nf_call_arptables };

	for (int i = 0; i < 3; i++) {
		const char *path = check_text("/proc/sys/net/bridge/bridge-nf-call-%s", names[i]);
		int all = facts_number_at(context->facts, link->netns, path) == 1;

		if (!all && own[i] != 1)
			continue;
		check_report(context, FINDING_WARN,
			     all ? check_file_line(context, link->netns, path)
				 : check_text("nf_call_%s of %s: 1", names[i], link->name),
			     "bridged frames need not pass the IP filter, unless rules for them are wanted",
			     all ? check_text("%ssysctl -w net.bridge.bridge-nf-call-%s=0",
					      check_enter(context, link->netns), names[i])
				 : check_text("%sip link set dev %s type bridge nf_call_%s 0",
					      check_enter(context, link->netns), link->name, names[i]));
		return;
	}
}

/* A port whose link and bridge are up is disabled by hand; spanning tree alone must not be talked into forwarding. */
static const char *state_fix(struct check_context *context)
{
	const struct facts_link *link = context->link, *bridge = lookup_master(context, link);

	if (link->port.state == PORT_BLOCKING)
		return "spanning tree found a loop: use the other way, or mend the loop";
	if (link->port.state != PORT_DISABLED)
		return "wait for twice the forward delay, or shorten it";
	if (!(link->flags & IFF_UP))
		return check_text("%sip link set dev %s up", check_enter(context, link->netns), link->name);
	if (bridge && !(bridge->flags & IFF_UP))
		return check_text("%sip link set dev %s up", check_enter(context, bridge->netns), bridge->name);
	return check_text("%sbridge link set dev %s state %d", check_enter(context, link->netns), link->name,
			  PORT_FORWARDING);
}

static void judge_port_state(struct check_context *context)
{
	static const char *const names[] = { "disabled", "listening", "learning", "forwarding", "blocking" };
	const struct facts_link *link = context->link;
	int state = link->port.state;

	if (state == PORT_FORWARDING || state > PORT_BLOCKING)
		return;
	/* Without a carrier a port is always disabled: that is nic-down's to say. */
	if (state == PORT_DISABLED && link->flags & IFF_UP && link->carrier == 0)
		return;
	check_report(context, context->hop || state != PORT_BLOCKING ? FINDING_FAIL : FINDING_WARN,
		     check_text("/sys/class/net/%s/brport/state: %d (%s)", link->name, state, names[state]),
		     "a bridge passes frames between ports that are forwarding", state_fix(context));
}

static void judge_stp(struct check_context *context)
{
	const struct facts_link *link = context->link;

	if (link->bridge.stp <= 0)
		return;
	check_report(context, FINDING_INFO,
		     check_text("stp_state of %s: %d, forward delay %lld ms", link->name, link->bridge.stp,
				(long long)link->bridge.forward_delay_ms),
		     "with spanning tree a port passes nothing for two forward delays after it came up",
		     check_text("%sip link set dev %s type bridge stp_state 0 (only where no loop can be)",
				check_enter(context, link->netns), link->name));
}

static int filters_vlans(const struct check_context *context, const struct facts_link *port)
{
	const struct facts_link *bridge = lookup_master(context, port);

	return bridge && bridge->bridge.vlan_filtering == 1;
}

static void judge_no_pvid(struct check_context *context)
{
	const struct facts_link *link = context->link;

	if (!filters_vlans(context, link) || link->port.pvid != 0)
		return;
	check_report(context, FINDING_WARN,
		     check_text("%s: port of %s, which filters VLANs, without a PVID", link->name,
				lookup_master(context, link)->name),
		     "a port without a PVID drops every untagged frame that comes in",
		     check_text("%sbridge vlan add dev %s vid N pvid untagged", check_enter(context, link->netns),
				link->name));
}

static const struct facts_link *port_of_hop(const struct check_context *context, int index)
{
	const struct facts_link *port = check_point_link(context, index);

	return port && port->port.state >= 0 ? port : NULL;
}

static void judge_pvid_differs(struct check_context *context)
{
	const struct facts_link *in = port_of_hop(context, context->hop - 1), *out = port_of_hop(context, context->hop);

	if (!in || !out || !filters_vlans(context, in) || in->port.pvid <= 0 || out->port.pvid <= 0 ||
	    in->port.pvid == out->port.pvid ||
	    out->port.vlans[0]) /* with the list of its VLANs bridge-vlan-member knows better */
		return;
	check_report_about(context, out, FINDING_FAIL,
			   check_text("PVID of %s is %d, of %s %d", in->name, in->port.pvid, out->name, out->port.pvid),
			   "untagged frames of one port leave by another only in the same VLAN",
			   check_text("%sbridge vlan add dev %s vid %d pvid untagged", check_enter(context, out->netns),
				      out->name, in->port.pvid));
}

/* "1,10-20", "none": a list of numbers below 4096, as lists of CPUs are. */
static int is_vlan_in(const char *list, int vlan)
{
	struct lookup_cpus numbers;

	return lookup_cpu_list(list, &numbers) == 0 && lookup_cpu_is_in(&numbers, vlan);
}

static void judge_vlan_member(struct check_context *context)
{
	const struct facts_link *in = port_of_hop(context, context->hop - 1), *out = port_of_hop(context, context->hop);

	if (!in || !out || !filters_vlans(context, in) || in->port.pvid <= 0 || !out->port.vlans[0])
		return;
	if (!is_vlan_in(out->port.vlans, in->port.pvid))
		check_report_about(
			context, out, FINDING_FAIL,
			check_text("PVID of %s is %d; VLANs of %s: %s", in->name, in->port.pvid, out->name,
				   out->port.vlans),
			"untagged frames belong to the PVID of the port they come in by, and leave only by ports of that VLAN",
			check_text("%sbridge vlan add dev %s vid %d untagged", check_enter(context, out->netns),
				   out->name, in->port.pvid));
	else if (out->port.untagged[0] && !is_vlan_in(out->port.untagged, in->port.pvid))
		check_report_about(
			context, out, FINDING_INFO,
			check_text("PVID of %s is %d; VLANs that leave %s without a tag: %s", in->name, in->port.pvid,
				   out->name, out->port.untagged),
			check_text(
				"frames that came in untagged leave here with tag %d: who receives them must expect it",
				in->port.pvid),
			check_text("%sbridge vlan add dev %s vid %d untagged", check_enter(context, out->netns),
				   out->name, in->port.pvid));
}

static void judge_isolated(struct check_context *context)
{
	const struct facts_link *in = port_of_hop(context, context->hop - 1), *out = port_of_hop(context, context->hop);

	if (!in || !out || in->port.isolated != 1 || out->port.isolated != 1)
		return;
	check_report_about(context, out, FINDING_FAIL, check_text("%s and %s: isolated on", in->name, out->name),
			   "isolated ports do not pass frames to each other",
			   check_text("%sbridge link set dev %s isolated off", check_enter(context, out->netns),
				      out->name));
}

static int knows(const struct facts *facts, const struct facts_path_hop *hop, const uint8_t *address)
{
	for (int i = 0; i < facts->fdb_count; i++) {
		const struct facts_fdb *entry = &facts->fdb[i];

		if (entry->netns == hop->netns && entry->bridge_ifindex == hop->ifindex &&
		    !memcmp(entry->address, address, 6))
			return 1;
	}
	return 0;
}

static void judge_fdb_miss(struct check_context *context)
{
	static const uint8_t none[6];
	const struct facts_path_hop *hop = &context->path->hops[context->hop - 1];
	const struct facts_link *sink = check_point_link(context, context->path->point_count - 1);
	const struct facts_link *out = port_of_hop(context, context->hop);
	const struct facts_link *bridge = hop->ifindex ? facts_link_at(context->facts, hop->netns, hop->ifindex) : NULL;

	/* In a tunnel frames go to the tunnel's end; a device that is no bridge (macvlan) has no such table. */
	if (!bridge || strcmp(bridge->kind, "bridge") || context->path->points[context->hop - 1].is_inside_tunnel)
		return;
	if (!sink || !memcmp(sink->address, none, 6) || knows(context->facts, hop, sink->address))
		return;
	check_report_about(
		context, bridge, out && out->port.unicast_flood == 0 ? FINDING_FAIL : FINDING_WARN,
		check_text("no entry of %s for %02x:%02x:%02x:%02x:%02x:%02x (%s)", bridge->name, sink->address[0],
			   sink->address[1], sink->address[2], sink->address[3], sink->address[4], sink->address[5],
			   check_link_name(context, sink)),
		out && out->port.unicast_flood == 0
			? "frames to an unknown address leave by no port that has flooding off"
			: "frames to an unknown address are copied to every port, until the sink has sent something itself",
		out ? check_text("%sbridge fdb add %02x:%02x:%02x:%02x:%02x:%02x dev %s master static",
				 check_enter(context, out->netns), sink->address[0], sink->address[1], sink->address[2],
				 sink->address[3], sink->address[4], sink->address[5], out->name)
		    : "let the sink send a frame");
}

static void judge_learning(struct check_context *context)
{
	const struct facts_link *link = context->link;

	if (link->port.learning != 0)
		return;
	check_report(
		context, FINDING_WARN, check_text("/sys/class/net/%s/brport/learning: 0", link->name),
		"a bridge floods what goes to a port whose addresses it does not learn, unless they are entered by hand",
		check_text("%sbridge link set dev %s learning on", check_enter(context, link->netns), link->name));
}

static void judge_multicast(struct check_context *context)
{
	const struct facts_link *link = context->link;

	if (link->bridge.multicast_snooping != 1 || link->bridge.multicast_querier != 0)
		return;
	check_report(context, FINDING_INFO, check_text("%s: multicast_snooping 1, multicast_querier 0", link->name),
		     "without a querier in the network memberships run out, and multicast stops or is flooded",
		     check_text("%sip link set dev %s type bridge mcast_querier 1", check_enter(context, link->netns),
				link->name));
}

static void judge_open_vswitch(struct check_context *context)
{
	if (strcmp(context->link->kind, "openvswitch"))
		return;
	check_report(
		context, FINDING_UNKNOWN, check_text("%s: kind openvswitch", context->link->name),
		"frames that miss the kernel's flow cache go through a daemon, and are lost when its queue is full: the kernel "
		"does not show it here",
		"ovs-appctl dpctl/show (lost must stay 0)");
}

/* --- connection tracking ------------------------------------------------------------------------------------------ */

/* Sum over CPUs of a named column of /proc/net/stat/nf_conntrack; -1 unknown. */
static int64_t conntrack_column(const struct facts *facts, int netns, const char *name)
{
	const struct facts_file *file = facts_file_at(facts, netns, "/proc/net/stat/nf_conntrack");
	const char *line = file && !file->error ? file->text : "", *rows = strchr(line, '\n');
	int column = 0, found = 0;
	int64_t sum = 0;

	if (!rows)
		return FACTS_UNKNOWN;
	for (const char *word = line; word < rows && !found; column++) {
		size_t width = strcspn(word, " \n");

		found = width == strlen(name) && !strncmp(word, name, width);
		word += width + strspn(word + width, " ");
	}
	for (const char *row = rows + 1; found && *row;) {
		const char *word = row, *next = strchr(row, '\n');

		for (int i = 1; i < column; i++) {
			word += strcspn(word, " \n");
			word += strspn(word, " ");
		}
		sum += (int64_t)strtoull(word, NULL, 16);
		row = next ? next + 1 : "";
	}
	return found ? sum : FACTS_UNKNOWN;
}

static void judge_conntrack_of(struct check_context *context, int netns)
{
	static const char path[] = "/proc/sys/net/netfilter/nf_conntrack_count";
	static const char *const lost[] = { "insert_failed", "drop", "early_drop" };
	int64_t count = facts_number_at(context->facts, netns, path);
	int64_t most = facts_number_at(context->facts, netns, "/proc/sys/net/netfilter/nf_conntrack_max");
	const char *name = context->facts->netns[netns].name, *enter = check_enter(context, netns);
	int earlier_netns;
	const struct facts *earlier = lookup_earlier(context, netns, &earlier_netns);

	for (int i = 0; i < 3; i++) {
		int64_t now = conntrack_column(context->facts, netns, lost[i]), then = -1;

		if (earlier)
			then = conntrack_column(earlier, earlier_netns, lost[i]);
		if (now <= 0 || (then >= 0 && now <= then))
			continue;
		check_report_named(context, name, check_growth_severity(FINDING_FAIL, then < 0),
				   check_text("/proc/net/stat/nf_conntrack: %s",
					      check_growth_text(lost[i], then < 0 ? now : now - then, then < 0)),
				   "frames are dropped because their connection cannot be entered",
				   check_text("%ssysctl -w net.netfilter.nf_conntrack_max=%lld", enter,
					      (long long)most * 2));
	}
	if (most > 0 && count * 10 >= most * 9)
		check_report_named(context, name, FINDING_FAIL,
				   check_text("%s: %lld of %lld", path, (long long)count, (long long)most),
				   "a full table drops the first frame of each new connection",
				   check_text("%ssysctl -w net.netfilter.nf_conntrack_max=%lld", enter,
					      (long long)most * 2));
	else if (count > 0)
		check_report_named(context, name, FINDING_INFO, check_text("%s: %lld", path, (long long)count),
				   "each forwarded frame is looked up in the connection table",
				   check_text("%snft add rule … notrack, for the path's traffic", enter));
}

static void judge_conntrack(struct check_context *context)
{
	for (int netns = 0; netns < context->facts->netns_count; netns++)
		if (lookup_netns_is_examined(context, netns))
			judge_conntrack_of(context, netns);
}

/* --- macvlan and bonds -------------------------------------------------------------------------------------------- */

static void judge_macvlan_mode(struct check_context *context)
{
	const struct facts_link *link = context->link;

	if (strcmp(link->macvlan_mode, "vepa") && strcmp(link->macvlan_mode, "private"))
		return;
	check_report(context, FINDING_WARN, check_text("mode of %s: %s", link->name, link->macvlan_mode),
		     !strcmp(link->macvlan_mode, "vepa")
			     ? "in mode vepa traffic between guests of this host goes out to the switch and back"
			     : "in mode private guests of this host cannot reach each other",
		     check_text("%sip link set dev %s type %s mode bridge", check_enter(context, link->netns),
				link->name, link->kind));
}

static void judge_bond_mode(struct check_context *context)
{
	const struct facts_link *link = context->link;
	const char *enter = check_enter(context, link->netns);

	if (!strcmp(link->bond_mode, "active-backup"))
		check_report(context, FINDING_INFO, check_text("mode of %s: active-backup", link->name),
			     "one leg carries everything, the others wait",
			     check_text("%sip link set dev %s type bond mode 802.3ad (and at the switch)", enter,
					link->name));
	else if (!strncmp(link->bond_hash, "layer2", 6) && !strchr(link->bond_hash, '+'))
		check_report(
			context, FINDING_WARN,
			check_text("mode of %s: %s, hash %s", link->name, link->bond_mode, link->bond_hash),
			"a hash of hardware addresses puts all traffic to a router or between two hosts on one leg",
			check_text("%sip link set dev %s type bond xmit_hash_policy layer3+4", enter, link->name));
}

static const struct check rows[] = {
	{ .id = "path-cut",
	  .subject = CHECK_HOP,
	  .judge = judge_cut,
	  .title = "The path ends before its sink",
	  .why = "A port that does not forward, an interface that is down, a loop or a missing route: frames of "
		 "this path do not get further.",
	  .remedy = "Mend what the note says, and ask for the path again.",
	  .effect = "the path reaches its sink",
	  .reference = "path",
	  .weight = 1.0 },
	{ .id = "bridge-netfilter",
	  .subject = CHECK_LINK,
	  .applies = is_bridge,
	  .judge = judge_netfilter,
	  .explains = RUN_CAUSE_CPU,
	  .title = "Bridged frames pass the IP filter",
	  .why = "With br_netfilter each bridged frame is checked as an IP packet, enters the filter's hooks and "
		 "perhaps connection tracking, and is put together again. In our lab it doubled a bridge's cost "
		 "(0.62 against 0.29 us a frame); a report says more than 15 % of throughput.",
	  .remedy = "Switch it off unless rules for bridged traffic are wanted (container networks often need it).",
	  .effect = "the bridge costs half as much a frame",
	  .reference = "bridge",
	  .weight = 0.5 },
	{ .id = "bridge-port-state",
	  .subject = CHECK_LINK,
	  .applies = is_port,
	  .judge = judge_port_state,
	  .title = "A bridge port does not forward",
	  .why = "A port that is down, that spanning tree has just started or has blocked passes nothing, while "
		 "its interface looks well.",
	  .remedy = "Wait, set it up, or remove the loop that it was blocked for.",
	  .effect = "frames pass the port",
	  .reference = "bridge",
	  .weight = 1.0 },
	{ .id = "bridge-stp",
	  .subject = CHECK_LINK,
	  .applies = is_bridge,
	  .judge = judge_stp,
	  .title = "Spanning tree is on",
	  .why = "After a port comes up it listens and learns, usually 15 s each, before it forwards: a "
		 "measurement in the first half minute finds nothing.",
	  .remedy = "Wait, or switch it off where no loop is possible.",
	  .effect = "ports forward at once",
	  .reference = "bridge",
	  .weight = 0.05 },
	{ .id = "bridge-pvid-none",
	  .subject = CHECK_LINK,
	  .applies = is_port,
	  .judge = judge_no_pvid,
	  .title = "A port without a VLAN for untagged frames",
	  .why = "On a bridge that filters VLANs an untagged frame belongs to the port's PVID; without one it is "
		 "dropped on arrival, and no error tells.",
	  .remedy = "Give the port a PVID, or send tagged frames of a VLAN that is allowed there.",
	  .effect = "untagged frames pass",
	  .reference = "bridge",
	  .weight = 0.7 },
	{ .id = "bridge-pvid-differs",
	  .subject = CHECK_HOP,
	  .applies = is_bridge_hop,
	  .judge = judge_pvid_differs,
	  .title = "The two ports of a hop are in different VLANs",
	  .why = "A frame is put into the VLAN of the port that it comes in by, and leaves only by ports of that "
		 "VLAN.",
	  .remedy = "Put both ports into one VLAN, or let the sender tag.",
	  .effect = "frames leave by the port",
	  .reference = "bridge",
	  .weight = 0.9 },
	{ .id = "bridge-vlan-member",
	  .subject = CHECK_HOP,
	  .applies = is_bridge_hop,
	  .judge = judge_vlan_member,
	  .title = "The port out is not in the VLAN of the port in",
	  .why = "A bridge that filters VLANs gives an untagged frame the PVID of the port that it comes in by. It drops it "
		 "silently where that VLAN is not among those of the port out; where it is but not as untagged, the frame leaves "
		 "with a tag.",
	  .remedy =
		  "Add the VLAN at the port out, untagged where the receiver expects no tag; bridge vlan show lists them.",
	  .effect = "frames leave by the port, in the form that the receiver expects",
	  .reference = "bridge",
	  .weight = 0.9 },
	{ .id = "bridge-isolated",
	  .subject = CHECK_HOP,
	  .applies = is_bridge_hop,
	  .judge = judge_isolated,
	  .title = "Both ports of a hop are isolated",
	  .why = "Isolation keeps ports from each other: they reach only ports that are not isolated, usually "
		 "the uplink.",
	  .remedy = "Take one of the two out of isolation, or send by the uplink.",
	  .effect = "frames pass between the two ports",
	  .reference = "bridge",
	  .weight = 0.9 },
	{ .id = "bridge-fdb-miss",
	  .subject = CHECK_HOP,
	  .applies = is_bridge_hop,
	  .judge = judge_fdb_miss,
	  .explains = RUN_CAUSE_CPU,
	  .title = "A bridge does not know the sink",
	  .why = "One-way traffic teaches a bridge nothing about its receiver. Frames to an unknown address are "
		 "copied to all ports: the copies cost the bridge several times as much and load every other "
		 "guest; with flooding off they vanish. One host's kernel thread was full of copies to 300 "
		 "ports.",
	  .remedy = "Let the sink send now and then (hopcap run does), or enter its address.",
	  .effect = "one copy of each frame",
	  .reference = "bridge",
	  .weight = 0.4 },
	{ .id = "bridge-learning",
	  .subject = CHECK_LINK,
	  .applies = is_port,
	  .judge = judge_learning,
	  .title = "A port does not learn addresses",
	  .why = "Without learning every frame to an address behind that port is flooded, unless an entry was "
		 "made by hand or by an agent.",
	  .remedy = "Switch learning on, or enter the addresses.",
	  .effect = "one copy of each frame",
	  .reference = "bridge",
	  .weight = 0.3 },
	{ .id = "bridge-multicast",
	  .subject = CHECK_LINK,
	  .applies = is_bridge,
	  .judge = judge_multicast,
	  .title = "Multicast snooping without a querier here",
	  .why = "Snooping keeps multicast to ports that asked. Who asks is reminded by a querier; when there is "
		 "none anywhere, the memberships time out.",
	  .remedy = "See that one device of the network is a querier, or switch snooping off.",
	  .effect = "multicast keeps arriving",
	  .reference = "bridge",
	  .weight = 0.05 },
	{ .id = "bridge-open-vswitch",
	  .subject = CHECK_LINK,
	  .judge = judge_open_vswitch,
	  .title = "Open vSwitch: misses and losses are not visible here",
	  .why = "The kernel part answers from a cache of flows; what misses it goes to the daemon and back, "
		 "thousands of times as dear, and is dropped when the queue between is full.",
	  .remedy = "Ask ovs-appctl dpctl/show for hit, missed and lost while the load runs.",
	  .effect = "lost stays at 0",
	  .reference = "bridge",
	  .weight = 0.3 },
	{ .id = "conntrack",
	  .subject = CHECK_MACHINE,
	  .judge = judge_conntrack,
	  .explains = RUN_CAUSE_CPU,
	  .title = "Connection tracking on the way",
	  .why = "Each frame that is forwarded is looked up in a table: one core's raw drop rate was 4.8 Mpps "
		 "without and 1.8 with connection tracking. A table that is full drops new connections.",
	  .remedy = "Enlarge the table; exempt the path's traffic by notrack.",
	  .effect = "no connections lost; more than twice the frames a core",
	  .reference = "bridge",
	  .weight = 0.4 },
	{ .id = "macvlan-mode",
	  .subject = CHECK_LINK,
	  .applies = is_macvlan,
	  .judge = judge_macvlan_mode,
	  .title = "A macvlan mode that keeps guests apart",
	  .why = "In mode vepa the switch outside must send frames back on the same port; in private mode guests "
		 "of one host do not hear each other at all.",
	  .remedy = "Use mode bridge for traffic within the host.",
	  .effect = "traffic within the host stays there",
	  .reference = "bridge",
	  .weight = 0.5 },
	{ .id = "bond-mode",
	  .subject = CHECK_LINK,
	  .applies = is_bond,
	  .judge = judge_bond_mode,
	  .title = "A bond that uses one leg",
	  .why = "A bond spreads flows, not frames: by a hash of what its policy looks at. Hardware addresses "
		 "are the same for all traffic through a router. One flow never uses more than one leg.",
	  .remedy = "Use 802.3ad with layer3+4 on both sides where several flows are to share the legs.",
	  .effect = "several flows use several legs",
	  .reference = "bond",
	  .weight = 0.4 },
};

CHECK_TABLE(checks_bridge, rows);
