// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Checks of frame sizes: what is dropped because it does not fit. Called through doctor/tables.c.
 */
#include <stdio.h>
#include <string.h>

#include "doctor/checks_probe.h"
#include "doctor/lookup.h"
#include "doctor/tables.h"
#include "doctor/xdp_drivers.h"

#define JUMBO_BYTES 9000

static const char *set_mtu(const struct check_context *context, const struct facts_link *link, int mtu_bytes)
{
	return check_text("%sip link set dev %s mtu %d", check_enter(context, link->netns), link->name, mtu_bytes);
}

/* --- the path ----------------------------------------------------------------------------------------------------- */

static const struct facts_link *source_of(const struct check_context *context)
{
	const struct facts_link *source = check_point_link(context, 0);

	return source && source->mtu_bytes > 0 ? source : NULL;
}

/* Commands for this and all later links that are too small, or what to do when a device cannot. */
static const char *raise_all(const struct check_context *context, int mtu_bytes)
{
	char commands[900] = "";
	size_t used = 0;

	for (int i = context->hop; i < context->path->point_count; i++) {
		const struct facts_link *link = check_point_link(context, i);

		if (!link || link->mtu_bytes < 0 || link->mtu_bytes >= mtu_bytes)
			continue;
		if (link->max_mtu_bytes > 0 && link->max_mtu_bytes < mtu_bytes)
			return check_text("%s takes at most %d: lower the sender: %s", check_link_name(context, link),
					  link->max_mtu_bytes,
					  set_mtu(context, source_of(context), link->max_mtu_bytes));
		used += (size_t)snprintf(commands + used, sizeof(commands) - used, "%s%s", used ? " && " : "",
					 set_mtu(context, link, mtu_bytes));
		if (used >= sizeof(commands) - 128)
			break;
	}
	return check_text("%s", commands);
}

static void judge_step(struct check_context *context)
{
	const struct facts_link *source = source_of(context), *link = check_point_link(context, context->hop);

	if (!source || !link || link->mtu_bytes < 0 || link->mtu_bytes >= source->mtu_bytes ||
	    checks_probe_found_step(context, context->hop))
		return;
	for (int i = 1; i < context->hop; i++) { /* said once, where it starts */
		const struct facts_link *before = check_point_link(context, i);

		if (before && before->mtu_bytes >= 0 && before->mtu_bytes < source->mtu_bytes)
			return;
	}
	check_report_about(
		context, link, FINDING_FAIL,
		check_text("mtu of %s is %d, of the sender %s %d", check_link_name(context, link), link->mtu_bytes,
			   check_link_name(context, source), source->mtu_bytes),
		check_text("no hop of a layer-2 path may have a smaller MTU than the sender: frames of %d to "
			   "%d bytes are dropped here without a word",
			   link->mtu_bytes + 15, source->mtu_bytes + 14),
		raise_all(context, source->mtu_bytes));
}

static void judge_hidden_hop(struct check_context *context)
{
	const struct facts_path_hop *hop = &context->path->hops[context->hop - 1];

	if (hop->kind != FACTS_HOP_OPAQUE || checks_probe_knows(context, context->hop))
		return;
	check_report(
		context, FINDING_UNKNOWN,
		check_text("hop %d, %s: %s", context->hop, hop->name, hop->note[0] ? hop->note : "not visible here"),
		"the MTU of a hop that cannot be looked into is known only when frames of each size were sent through it",
		"hopcap doctor --probe with the same --path");
}

static void judge_jumbo_unused(struct check_context *context)
{
	int points = context->path->point_count;

	if (context->hop != 1)
		return;
	for (int i = 0; i < points; i++) {
		const struct facts_link *link = check_point_link(context, i);

		if (!link || link->mtu_bytes < 0 || link->mtu_bytes > 1500 || link->max_mtu_bytes < JUMBO_BYTES)
			return;
	}
	check_report(context, FINDING_INFO,
		     check_text("mtu is 1500 or less at all %d points, and each of them takes %d", points, JUMBO_BYTES),
		     "a hop that costs time per frame carries up to six times the bytes in frames of 9000",
		     "hopcap plan with the same two ends prints the commands");
}

/* --- one link ----------------------------------------------------------------------------------------------------- */

static int is_veth(const struct check_context *context)
{
	return !strcmp(context->link->kind, "veth");
}

static int is_bridge(const struct check_context *context)
{
	return !strcmp(context->link->kind, "bridge");
}

static int is_vlan(const struct check_context *context)
{
	return !strcmp(context->link->kind, "vlan");
}

/* Reported once, for the end that drops: a veth end refuses what is longer than its own MTU. */
static void judge_wire_ends(struct check_context *context)
{
	const struct facts_link *link = context->link, *peer = lookup_lower(context, link);

	if (!peer || link->mtu_bytes < 0 || peer->mtu_bytes <= link->mtu_bytes)
		return;
	check_report(
		context, FINDING_FAIL,
		check_text("mtu of %s is %d, of its peer %s %d", link->name, link->mtu_bytes,
			   check_link_name(context, peer), peer->mtu_bytes),
		check_text("both ends of a veth pair take the same sizes: %s drops frames of more than %d bytes that "
			   "its peer sends",
			   link->name, link->mtu_bytes + 18),
		set_mtu(context, link, peer->mtu_bytes));
}

static void port_range(const struct check_context *context, const struct facts_link **least,
		       const struct facts_link **most)
{
	const struct facts_link *port = NULL;

	*least = *most = NULL;
	while ((port = lookup_port(context, context->link, port)) != NULL) {
		if (port->mtu_bytes < 0)
			continue;
		if (!*least || port->mtu_bytes < (*least)->mtu_bytes)
			*least = port;
		if (!*most || port->mtu_bytes > (*most)->mtu_bytes)
			*most = port;
	}
}

static void judge_bridge_ports(struct check_context *context)
{
	const struct facts_link *least, *most;

	port_range(context, &least, &most);
	if (!least || least->mtu_bytes == most->mtu_bytes)
		return;
	check_report(context, FINDING_WARN,
		     check_text("ports of %s: mtu of %s is %d, of %s %d", context->link->name, least->name,
				least->mtu_bytes, most->name, most->mtu_bytes),
		     "a bridge cannot fragment: what comes in at a large port and leaves by a smaller one is dropped",
		     set_mtu(context, least, most->mtu_bytes));
}

static void judge_bridge_lowered(struct check_context *context)
{
	const struct facts_link *link = context->link, *least, *most;

	port_range(context, &least, &most);
	if (!least || link->mtu_bytes < 0 || link->mtu_bytes >= least->mtu_bytes)
		return;
	check_report(context, FINDING_WARN,
		     check_text("mtu of %s is %d, of its smallest port %s %d", link->name, link->mtu_bytes, least->name,
				least->mtu_bytes),
		     "a bridge's own MTU, which its host's traffic and routed frames use, should be that of its ports",
		     set_mtu(context, link, least->mtu_bytes));
}

static int overlay_bytes(const struct facts_link *link, int is_ipv6)
{
	static const struct {
		const char *kind;
		int bytes;
	} overlays[] = {
		{ "vxlan", 50 }, { "geneve", 50 }, { "gretap", 38 }, { "ip6gretap", 58 }, { "erspan", 50 },
		{ "gre", 24 },	 { "ipip", 20 },   { "sit", 20 },    { "wireguard", 60 },
	};

	for (size_t i = 0; i < sizeof(overlays) / sizeof(overlays[0]); i++)
		if (!strcmp(link->kind, overlays[i].kind))
			return overlays[i].bytes + (is_ipv6 ? 20 : 0);
	return 0;
}

static int is_overlay(const struct check_context *context)
{
	return overlay_bytes(context->link, 0) > 0;
}

/* The device that carries an overlay: named, or the one that has its local address. */
static const struct facts_link *underlay_of(const struct check_context *context)
{
	const struct facts_link *link = context->link, *lower = lookup_lower(context, link);

	for (int i = 0; !lower && link->vxlan_local[0] && i < context->facts->address_count; i++) {
		const struct facts_address *address = &context->facts->addresses[i];

		if (address->netns == link->netns && !strcmp(address->address, link->vxlan_local))
			lower = facts_link_at(context->facts, address->netns, address->ifindex);
	}
	return lower;
}

static void judge_overlay(struct check_context *context)
{
	const struct facts_link *link = context->link, *lower = underlay_of(context);
	int extra = overlay_bytes(link, strchr(link->vxlan_remote, ':') || strchr(link->vxlan_local, ':'));

	if (link->mtu_bytes < 0)
		return;
	if (!lower || lower->mtu_bytes < 0) {
		check_report(
			context, FINDING_UNKNOWN,
			check_text("%s is a %s without a device or local address among the facts", link->name,
				   link->kind),
			check_text("the interface that carries an overlay needs an MTU %d bytes above the overlay's",
				   extra),
			check_text("%sip -d link show dev %s", check_enter(context, link->netns), link->name));
		return;
	}
	if (link->mtu_bytes + extra <= lower->mtu_bytes)
		return;
	check_report(context, FINDING_FAIL,
		     check_text("mtu of %s is %d; with %d bytes of %s headers that is %d, and %s has mtu %d",
				link->name, link->mtu_bytes, extra, link->kind, link->mtu_bytes + extra,
				check_link_name(context, lower), lower->mtu_bytes),
		     "inner MTU plus the overlay's headers must not exceed the underlay's MTU",
		     lower->max_mtu_bytes >= link->mtu_bytes + extra
			     ? set_mtu(context, lower, link->mtu_bytes + extra)
			     : set_mtu(context, link, lower->mtu_bytes - extra));
}

static void judge_vlan_room(struct check_context *context)
{
	const struct facts_link *link = context->link, *lower = lookup_lower(context, link);

	if (!lower || link->mtu_bytes < 0 || lower->mtu_bytes < 0 || link->mtu_bytes + 4 <= lower->mtu_bytes)
		return;
	if (!lower->physfn_address[0] && strcmp(lower->kind, "vlan") && !lookup_is_one_of(lower, "ibmveth"))
		return;
	check_report(
		context, FINDING_WARN,
		check_text("mtu of %s is %d, of %s (%s) below it %d", link->name, link->mtu_bytes, lower->name,
			   lower->driver[0] ? lower->driver : lower->kind, lower->mtu_bytes),
		"the tag's 4 bytes need room: VFs, virtual adapters and devices that are themselves tagged may leave none",
		lower->max_mtu_bytes >= link->mtu_bytes + 4 ? set_mtu(context, lower, link->mtu_bytes + 4)
							    : set_mtu(context, link, lower->mtu_bytes - 4));
}

static void judge_vf_over_pf(struct check_context *context)
{
	const struct facts_link *link = context->link, *pf = lookup_physical_function(context, link);

	if (!pf || pf->mtu_bytes < 0 || link->mtu_bytes <= pf->mtu_bytes)
		return;
	check_report(context, FINDING_FAIL,
		     check_text("mtu of VF %s is %d, of its PF %s %d", link->name, link->mtu_bytes,
				check_link_name(context, pf), pf->mtu_bytes),
		     "a PF limits what its VFs receive: its MTU must be at least theirs",
		     set_mtu(context, pf, link->mtu_bytes));
}

static void judge_xdp_limit(struct check_context *context)
{
	const struct facts_link *link = context->link;
	const struct xdp_driver *driver = xdp_driver_find(link->driver[0] ? link->driver : link->kind);
	int frags;

	if (!driver || !driver->mtu_max_bytes || link->mtu_bytes <= driver->mtu_max_bytes ||
	    xdp_has(context->facts, link, XDP_BIT_BASIC) != 1)
		return;
	frags = xdp_has(context->facts, link, XDP_BIT_FRAGS) == 1;
	check_report(context, frags ? FINDING_INFO : FINDING_WARN,
		     check_text("mtu of %s (%s) is %d", link->name, driver->name, link->mtu_bytes),
		     check_text("%s takes a native XDP program without frags up to mtu %d%s", driver->name,
				driver->mtu_max_bytes,
				frags ? "; one in section xdp.frags is taken above that" : ", and none with frags"),
		     frags ? "load a program of section \"xdp.frags\"" : set_mtu(context, link, driver->mtu_max_bytes));
}

static void judge_virtio_silent(struct check_context *context)
{
	const struct facts_link *link = context->link;
	int kernel = lookup_kernel(context->facts);

	if (strcmp(link->driver, "virtio_net") || !kernel || kernel >= 6003 || link->mtu_bytes <= 3506 ||
	    link->mtu_bytes > 4080)
		return;
	check_report(
		context, link->xdp_program_id ? FINDING_FAIL : FINDING_WARN,
		check_text("mtu of %s is %d, kernel %s", link->name, link->mtu_bytes, context->facts->kernel),
		"before 6.3 virtio_net accepts a native program up to mtu 4080, but drops what does not fit a page (3506)",
		set_mtu(context, link, 3506));
}

static void judge_umem_chunk(struct check_context *context)
{
	const struct facts_link *link = context->link;

	if (xdp_has(context->facts, link, XDP_BIT_ZERO_COPY) != 1 || link->mtu_bytes <= 3814 ||
	    link->xdp_zc_max_segments > 1)
		return;
	check_report(
		context, FINDING_WARN,
		check_text("mtu of %s is %d; zero-copy takes %d segment a frame", link->name, link->mtu_bytes,
			   link->xdp_zc_max_segments > 0 ? link->xdp_zc_max_segments : 1),
		"a frame must fit one UMEM chunk: 4096 bytes hold mtu 3814, 2048 bytes 1766; above that newer kernels "
		"silently copy instead",
		set_mtu(context, link, 3814));
}

static void judge_route(struct check_context *context)
{
	const struct facts_link *link = context->link;

	for (int i = 0; i < context->facts->route_count; i++) {
		const struct facts_route *route = &context->facts->routes[i];

		if (route->netns != link->netns || route->out_ifindex != link->ifindex || route->mtu_bytes <= 0 ||
		    route->mtu_bytes >= link->mtu_bytes)
			continue;
		check_report(context, FINDING_WARN,
			     check_text("route %s/%d dev %s mtu %d; the interface has %d",
					route->destination[0] ? route->destination : "default", route->prefix_length,
					link->name, route->mtu_bytes, link->mtu_bytes),
			     "a route's own MTU makes senders use smaller frames than the interface takes",
			     check_text("%sip route show dev %s", check_enter(context, link->netns), link->name));
	}
}

/* --- the stack ---------------------------------------------------------------------------------------------------- */

static void judge_counters(struct check_context *context, const char *path, const char *group, const char *const *names,
			   const char *rule, const char *fix)
{
	for (int netns = 0; netns < context->facts->netns_count; netns++) {
		if (!lookup_netns_is_examined(context, netns))
			continue;
		for (int i = 0; names[i]; i++) {
			int since_boot;
			int64_t growth = lookup_protocol_growth(context, netns, path, group, names[i], &since_boot);

			if (growth <= 0)
				continue;
			check_report_named(context, context->facts->netns[netns].name,
					   check_growth_severity(FINDING_WARN, since_boot),
					   check_text("%s: %s", path, check_growth_text(names[i], growth, since_boot)),
					   rule, check_text("%s%s", check_enter(context, netns), fix));
		}
	}
}

static void judge_fragments(struct check_context *context)
{
	static const char *const names[] = { "FragCreates", "ReasmReqds", NULL };

	judge_counters(context, LOOKUP_SNMP, "Ip", names,
		       "datagrams are cut and put together again: somebody sends more than an MTU of the way",
		       "nstat -az IpFragCreates IpReasmReqds");
}

static void judge_black_hole(struct check_context *context)
{
	static const char *const names[] = { "TCPMTUPFail", "TCPMTUPSuccess", NULL };

	judge_counters(
		context, LOOKUP_NETSTAT, "TcpExt", names,
		"TCP found out by itself that its segments do not arrive: a hop drops them without an ICMP message",
		"sysctl -w net.ipv4.tcp_mtu_probing=1");
}

static const struct check rows[] = {
	{ .id = "mtu-step",
	  .subject = CHECK_HOP,
	  .judge = judge_step,
	  .explains = RUN_CAUSE_MTU,
	  .title = "A smaller MTU in the middle of the path",
	  .why = "Bridges, wires and virtual switches cannot fragment. A frame that is longer than the next "
		 "hop's MTU is dropped there without an ICMP message, so small frames pass, a ping answers, and "
		 "bulk transfer stands still or crawls. In a published comparison of two hypervisors the first "
		 "results with MTU 9000 were useless until one virtual switch was found at 1500.",
	  .remedy = "Raise the MTU of every named hop to the sender's, beginning at the sink, or lower the sender's "
		    "to the smallest. The drop counter of the hop stands still, and frames of full size arrive.",
	  .effect = "frames of full size arrive: from KB/s to Gbit/s where it was a jumbo path",
	  .reference = "mtu",
	  .weight = 1.0 },
	{ .id = "mtu-wire-ends",
	  .subject = CHECK_LINK,
	  .applies = is_veth,
	  .judge = judge_wire_ends,
	  .explains = RUN_CAUSE_MTU,
	  .title = "The two ends of a veth pair have different MTUs",
	  .why = "A veth end drops a frame that is longer than its own MTU plus the Ethernet header and one tag, "
		 "silently and without an ICMP message: the sender's stack knows only the MTU of its own end. "
		 "Small frames pass, so a ping works while bulk transfer stands still.",
	  .remedy = "Give both ends the same MTU. The rx_dropped counter of the smaller end stands still "
		    "afterwards.",
	  .effect = "frames of full size arrive; rx_dropped of the smaller end stands still",
	  .reference = "mtu",
	  .weight = 0.9 },
	{ .id = "mtu-bridge-ports",
	  .subject = CHECK_LINK,
	  .applies = is_bridge,
	  .judge = judge_bridge_ports,
	  .explains = RUN_CAUSE_MTU,
	  .title = "Ports of one bridge have different MTUs",
	  .why = "A bridge forwards by address, not by size: a frame that is too long for the port it leaves by "
		 "is dropped and counted nowhere near its sender. Whether it hurts depends on which two ports "
		 "the traffic uses.",
	  .remedy = "Give all ports the same MTU, then the bridge itself. Where one port cannot follow, its peers "
		    "have to use the smaller one.",
	  .effect = "no drops between the ports, whichever two are used",
	  .reference = "mtu",
	  .weight = 0.6 },
	{ .id = "mtu-bridge-lowered",
	  .subject = CHECK_LINK,
	  .applies = is_bridge,
	  .judge = judge_bridge_lowered,
	  .title = "A bridge's own MTU is below that of its ports",
	  .why = "A bridge follows its smallest port until its MTU was set by hand, and then stays. Bridged "
		 "frames do not mind, but what its host sends or routes through it is cut or refused at the "
		 "smaller size.",
	  .remedy = "Set the bridge's MTU to that of its ports, after the ports.",
	  .effect = "the host's own and routed traffic uses the ports' full size",
	  .reference = "mtu",
	  .weight = 0.4 },
	{ .id = "mtu-overlay",
	  .subject = CHECK_LINK,
	  .applies = is_overlay,
	  .judge = judge_overlay,
	  .explains = RUN_CAUSE_MTU,
	  .title = "An overlay's frames do not fit the network below",
	  .why = "An overlay puts its own headers in front of each frame: 50 bytes for VXLAN and Geneve over "
		 "IPv4, 70 over IPv6, 38 for GRE with Ethernet. When inner frame and headers exceed the "
		 "underlay's MTU, every full-sized frame becomes two fragments or is dropped. In the field: an "
		 "inner MTU of 1488 made 1538-byte frames that a switch counted as giants.",
	  .remedy = "Raise the underlay's MTU by the overhead on the whole way to the other tunnel end, or lower "
		    "the inner one.",
	  .effect = "full-sized inner frames arrive, unfragmented",
	  .reference = "mtu",
	  .weight = 0.9 },
	{ .id = "mtu-vlan-room",
	  .subject = CHECK_LINK,
	  .applies = is_vlan,
	  .judge = judge_vlan_room,
	  .explains = RUN_CAUSE_MTU,
	  .title = "No room for a VLAN tag below",
	  .why = "A tagged frame is 4 bytes longer than the MTU of its interface says. Ordinary adapters allow "
		 "for one tag; some VFs accept exactly 1518 bytes, and a tag upon a tag needs 4 bytes that "
		 "nobody reserved. Only frames of full size are lost.",
	  .remedy = "Raise the device below by 4 bytes (on a VF: its PF first), or lower the tagged interface by 4.",
	  .effect = "the last four bytes of room: full-sized tagged frames arrive",
	  .reference = "mtu",
	  .weight = 0.4 },
	{ .id = "mtu-vf-over-pf",
	  .subject = CHECK_LINK,
	  .judge = judge_vf_over_pf,
	  .explains = RUN_CAUSE_MTU,
	  .title = "A VF's MTU exceeds that of its physical function",
	  .why = "The adapter filters received frames by the physical function's maximum. A VF that is set "
		 "higher sends large frames but does not get any.",
	  .remedy = "Raise the PF first, then the VF.",
	  .effect = "large frames reach the VF",
	  .reference = "mtu",
	  .weight = 0.8 },
	{ .id = "mtu-route",
	  .subject = CHECK_LINK,
	  .judge = judge_route,
	  .title = "A route lowers the MTU",
	  .why = "An MTU in a route, or one learned for it, caps the segments that the stack makes, whatever the "
		 "interfaces take. It stays behind after a jumbo roll-out and is not seen in any list of "
		 "interfaces.",
	  .remedy = "Change the route without the MTU, or correct it.",
	  .effect = "senders use frames of the interface's size",
	  .reference = "mtu",
	  .weight = 0.4 },
	{ .id = "mtu-hidden-hop",
	  .subject = CHECK_HOP,
	  .judge = judge_hidden_hop,
	  .title = "A hop whose MTU cannot be read",
	  .why = "Switches, a hypervisor's virtual switch, a shared Ethernet adapter and user-space switches "
		 "have MTUs of their own that no interface of this machine shows. A hop at 1500 in the middle of "
		 "a jumbo path is the classic one.",
	  .remedy = "Send a ladder of frame sizes through it and see which is the largest that arrives, or read it "
		    "at the device and paste it with --evidence.",
	  .effect = "the largest size that really passes is known",
	  .reference = "mtu",
	  .weight = 0.5 },
	{ .id = "mtu-jumbo-unused",
	  .subject = CHECK_HOP,
	  .judge = judge_jumbo_unused,
	  .title = "The whole path could carry jumbo frames but does not",
	  .why = "What a software hop costs is mostly per frame. With six times the bytes in each, a hop that is "
		 "bound by frames carries up to six times as much; one that is bound by bytes gains nothing. A "
		 "shared Ethernet adapter went from 2.2 to 6.6 Gbit/s by MTU 9000 alone.",
	  .remedy = "Set MTU 9000 at all points, from the sink towards the source, and the hidden hops between. "
		    "hopcap run measures the gain before and after.",
	  .effect = "up to six times the Gbit/s at the same frame rate",
	  .reference = "mtu",
	  .weight = 0.3 },
	{ .id = "mtu-xdp-limit",
	  .subject = CHECK_LINK,
	  .judge = judge_xdp_limit,
	  .explains = RUN_CAUSE_MTU,
	  .title = "The MTU is too large for a plain XDP program",
	  .why = "A native program without frags sees a frame in one buffer: a page less headroom and "
		 "bookkeeping, between 1500 and 3566 bytes by driver. At a larger MTU attaching fails, with some "
		 "drivers by a bare EINVAL.",
	  .remedy = "Use a program in section xdp.frags where the driver takes it, or lower the MTU. Kernels before "
		    "5.18 know no frags.",
	  .effect = "the program attaches in native mode",
	  .reference = "xdp",
	  .weight = 0.3 },
	{ .id = "mtu-virtio-silent",
	  .subject = CHECK_LINK,
	  .judge = judge_virtio_silent,
	  .explains = RUN_CAUSE_MTU,
	  .title = "virtio_net accepts an XDP program at an MTU that it then drops",
	  .why = "Before Linux 6.3 the driver compares the MTU with about 4080 when a program is attached, but a "
		 "frame must fit one page with its headroom when it comes: frames between 3507 and 4080 bytes "
		 "vanish at run time.",
	  .remedy = "Lower the MTU to 3506 while a program is attached, or use a kernel from 6.3 on.",
	  .effect = "no receive drops of large frames while XDP is attached",
	  .reference = "xdp",
	  .weight = 0.8 },
	{ .id = "mtu-umem-chunk",
	  .subject = CHECK_LINK,
	  .judge = judge_umem_chunk,
	  .explains = RUN_CAUSE_MTU,
	  .title = "A frame does not fit one AF_XDP chunk",
	  .why = "Zero-copy hands the adapter UMEM chunks; 256 bytes of each are headroom, and the room is "
		 "rounded to 128 bytes. With one segment a frame, mtu 3814 is the most that 4096-byte chunks "
		 "take. Newer kernels refuse a forced zero-copy bind above it (EINVAL), and otherwise fall back "
		 "to copying without a word.",
	  .remedy = "Lower the MTU, or use multi-buffer sockets (XDP_USE_SG, from 6.6) where the driver takes "
		    "several segments.",
	  .effect = "the socket is bound with zero-copy, and says so",
	  .reference = "xdp",
	  .weight = 0.4 },
	{ .id = "mtu-fragments",
	  .subject = CHECK_MACHINE,
	  .judge = judge_fragments,
	  .title = "IP datagrams are fragmented",
	  .why = "Each fragment costs as much as a frame, a lost one costs the datagram, and receive-side "
		 "scaling cannot spread fragments by port. UDP senders with datagrams above the MTU, and "
		 "overlays without room, make them.",
	  .remedy = "Raise the MTU of the way or send smaller datagrams; look for an overlay first.",
	  .effect = "fewer frames for the same bytes; FragCreates and ReasmReqds stand still",
	  .reference = "mtu",
	  .weight = 0.5 },
	{ .id = "mtu-black-hole",
	  .subject = CHECK_MACHINE,
	  .judge = judge_black_hole,
	  .title = "TCP detected a path-MTU black hole",
	  .why = "When large segments vanish and no ICMP message says why, TCP with MTU probing lowers its "
		 "segment size by trial after several timeouts. Each connection pays for that anew.",
	  .remedy = "Find the hop that drops (hopcap doctor --path with --probe); until then let TCP probe.",
	  .effect = "connections start at once with a size that passes",
	  .reference = "mtu",
	  .weight = 0.6 },
};

CHECK_TABLE(checks_mtu, rows);
