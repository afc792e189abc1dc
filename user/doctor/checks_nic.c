// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Checks of an adapter's settings: bus, link, queues, moderation, offloads. What its counters say is in checks_nic_counters.c.
 * Called through doctor/tables.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/lookup.h"
#include "doctor/tables.h"

#define FLAG_UP 0x1
#define PCIE_EFFICIENCY 0.85 /* what packet headers and flow control leave of the coded rate, with 256-byte payloads */

static int is_hardware(const struct check_context *context)
{
	return lookup_is_hardware(context->link);
}

static int is_pci(const struct check_context *context)
{
	return !strcmp(context->link->bus, "pci") && !context->link->physfn_address[0];
}

static const char *with_namespace(const struct check_context *context, const char *command)
{
	return check_text("%s%s", check_enter(context, context->link->netns), command);
}

/* --- PCIe --------------------------------------------------------------------------------------------------------- */

struct pcie_link {
	double speed, max_speed; /* GT/s a lane */
	int width, max_width;
};

static const struct facts_file *pcie_file(const struct check_context *context, const char *address, const char *name)
{
	char path[160];

	snprintf(path, sizeof(path), LOOKUP_PCI "%s", address, name);
	return facts_file_at(context->facts, 0, path);
}

/* 0, or -1 when it is no PCIe port or does not tell. */
static int read_pcie(const struct check_context *context, const char *address, struct pcie_link *pcie)
{
	static const char *const names[] = { "current_link_speed", "max_link_speed", "current_link_width",
					     "max_link_width" };
	double values[4];

	for (int i = 0; i < 4; i++) {
		const struct facts_file *file = pcie_file(context, address, names[i]);

		if (!file || file->error)
			return -1;
		values[i] = strtod(file->text, NULL);
		if (values[i] <= 0 || values[i] > 1024)
			return -1;
	}
	*pcie = (struct pcie_link){ values[0], values[1], (int)values[2], (int)values[3] };
	return pcie->width == 255 ? -1 : 0; /* what a virtual function reads */
}

static double pcie_gbps(double speed, int width)
{
	return speed * width * (speed < 8 ? 0.8 : 128.0 / 130) * PCIE_EFFICIENCY;
}

static void judge_pcie(struct check_context *context)
{
	const struct facts_link *link = context->link;
	char addresses[256], worst[40] = "", *rest = addresses, *address;
	struct pcie_link pcie, least = { 0 };
	double usable, wanted = (double)link->speed_mbit_per_s / 1e3;

	snprintf(addresses, sizeof(addresses), "%s %s", link->bus_address, link->bus_parents);
	while ((address = strtok_r(rest, " ", &rest)) != NULL) {
		if (read_pcie(context, address, &pcie) < 0)
			continue;
		if (worst[0] && pcie_gbps(pcie.speed, pcie.width) >= pcie_gbps(least.speed, least.width))
			continue;
		least = pcie;
		snprintf(worst, sizeof(worst), "%s", address);
	}
	if (!worst[0]) {
		check_report(context, FINDING_UNKNOWN,
			     check_file_line(context, 0,
					     check_text(LOOKUP_PCI "current_link_speed", link->bus_address)),
			     "how fast the adapter's bus runs cannot be read",
			     check_text("lspci -vv -s %s", link->bus_address));
		return;
	}
	usable = pcie_gbps(least.speed, least.width);
	if ((least.speed >= least.max_speed && least.width >= least.max_width && usable >= wanted) ||
	    (wanted <= 0 && least.speed >= least.max_speed && least.width >= least.max_width))
		return;
	check_report_cap(
		context, usable < wanted ? FINDING_FAIL : FINDING_WARN, usable < wanted ? usable : 0,
		check_text(LOOKUP_PCI "current_link_{speed,width}: %.1f GT/s x%d, max %.1f GT/s x%d", worst,
			   least.speed, least.width, least.max_speed, least.max_width),
		check_text("all of the way from %s to the CPU must carry the link's %.0f Gbit/s; about %.1f are usable",
			   link->name, wanted, usable),
		check_text("lspci -vv -s %s; reseat the card or use another slot", worst));
}

/* --- link --------------------------------------------------------------------------------------------------------- */

/* What gives a link its carrier back. */
static const char *carrier_fix(struct check_context *context)
{
	const struct facts_link *link = context->link, *peer = lookup_lower(context, link);

	if (!strcmp(link->kind, "tun"))
		return "start what is to hold it: a tap has a carrier while a process does";
	if (peer && !strcmp(link->kind, "veth") && !(peer->flags & FLAG_UP))
		return check_text("%sip link set dev %s up", check_enter(context, peer->netns), peer->name);
	return "cable, peer or the other end's state";
}

static void judge_down(struct check_context *context)
{
	const struct facts_link *link = context->link;

	if ((link->flags & FLAG_UP) && link->carrier != 0)
		return;
	check_report(context, context->hop ? FINDING_FAIL : FINDING_WARN,
		     check_text("%s: %s", link->name, link->flags & FLAG_UP ? "up, but no carrier" : "down"),
		     "an interface must be up and have a carrier to pass frames",
		     link->flags & FLAG_UP ? carrier_fix(context)
					   : with_namespace(context, check_text("ip link set dev %s up", link->name)));
}

static void judge_speed(struct check_context *context)
{
	const struct facts_link *link = context->link;
	double gbps = (double)link->speed_mbit_per_s / 1e3;

	if (link->speed_mbit_per_s <= 0 || (gbps >= context->goal_gbps && link->speed_mbit_per_s > 100))
		return;
	check_report_cap(context, FINDING_FAIL, gbps,
			 check_text("speed of %s: %lld Mbit/s", link->name, (long long)link->speed_mbit_per_s),
			 context->goal_gbps > gbps
				 ? check_text("%.1f Gbit/s are wanted", context->goal_gbps)
				 : "an adapter of today that runs at 100 Mbit/s or less has lost its negotiation",
			 check_text("ethtool %s; cable, port and autonegotiation of both ends", link->name));
}

static void judge_duplex(struct check_context *context)
{
	if (context->link->duplex != 0)
		return;
	check_report(context, FINDING_FAIL, check_text("duplex of %s: half", context->link->name),
		     "half duplex takes turns and collides: one end negotiates, the other is set by hand",
		     with_namespace(context, check_text("ethtool -s %s autoneg on", context->link->name)));
}

static void judge_flaps(struct check_context *context)
{
	const struct facts_link *link = context->link, *before = NULL;
	int netns;
	const struct facts *earlier = lookup_earlier(context, link->netns, &netns);

	if (earlier)
		before = facts_link_at(earlier, netns, link->ifindex);
	if (before && before->carrier_changes >= 0 && link->carrier_changes > before->carrier_changes)
		check_report(context, FINDING_FAIL,
			     check_text("carrier_changes of %s: %lld, was %lld", link->name,
					(long long)link->carrier_changes, (long long)before->carrier_changes),
			     "the link went away while we looked: frames were lost, and bridges and bonds learn anew",
			     "cable, transceiver, peer's log (attaching XDP does it on some adapters)");
	else if (!before && link->carrier_changes > 20)
		check_report(context, FINDING_INFO,
			     check_text("carrier_changes of %s: %lld since it was made", link->name,
					(long long)link->carrier_changes),
			     "the link comes and goes", "cable, transceiver, peer's log");
}

static void judge_eee(struct check_context *context)
{
	if (context->link->eee != 1)
		return;
	check_report(context, FINDING_WARN, check_text("ethtool --show-eee %s: active", context->link->name),
		     "energy-efficient Ethernet lets the link sleep between frames; waking takes microseconds",
		     with_namespace(context, check_text("ethtool --set-eee %s eee off", context->link->name)));
}

static void judge_moderation(struct check_context *context)
{
	const struct facts_link *link = context->link;

	if (link->adaptive_rx != 1 && link->rx_usecs <= 0)
		return;
	check_report(context, FINDING_INFO,
		     check_text("ethtool -c %s: adaptive-rx %s, rx-usecs %d", link->name,
				link->adaptive_rx == 1 ? "on" : "off", link->rx_usecs),
		     link->adaptive_rx == 1
			     ? "adaptive moderation changes its delay with load: latency has two humps"
			     : check_text("a frame waits up to %d us for its interrupt: no latency below that",
					  link->rx_usecs),
		     with_namespace(context, check_text("ethtool -C %s adaptive-rx off rx-usecs 0", link->name)));
}

/* --- queues ------------------------------------------------------------------------------------------------------- */

static void judge_single_queue(struct check_context *context)
{
	const struct facts_link *link = context->link;
	int cpus = context->facts->cpu_count, useful;

	if (link->rx_queues <= 0 || link->rx_queues_max <= link->rx_queues || cpus <= link->rx_queues)
		return;
	useful = link->rx_queues_max < cpus ? link->rx_queues_max : cpus;
	check_report(context, link->rx_queues == 1 ? FINDING_WARN : FINDING_INFO,
		     check_text("ethtool -l %s: %d of %d queues; %d CPUs", link->name, link->rx_queues,
				link->rx_queues_max, cpus),
		     "a queue is served by one CPU: many flows need as many queues as CPUs are to work for them",
		     with_namespace(context, check_text("ethtool -L %s combined %d", link->name, useful)));
}

static void judge_udp_hash(struct check_context *context)
{
	if (context->link->udp4_hash_ports != 0 || context->link->rx_queues <= 1)
		return;
	check_report(context, FINDING_WARN,
		     check_text("ethtool -n %s rx-flow-hash udp4: addresses only; %d queues", context->link->name,
				context->link->rx_queues),
		     "without ports in the hash all UDP between two hosts falls on one queue",
		     with_namespace(context, check_text("ethtool -N %s rx-flow-hash udp4 sdfn", context->link->name)));
}

/* --- offloads ----------------------------------------------------------------------------------------------------- */

static void judge_lro_forwarding(struct check_context *context)
{
	static const char *const names[] = { "rx-lro", "rx-gro-hw" };
	const struct facts_link *link = context->link;

	if (!lookup_forwards(context, link))
		return;
	for (int i = 0; i < 2; i++) {
		if (facts_feature_of(link, names[i], NULL) != 1)
			continue;
		/* Hardware GRO keeps what is needed to cut the unit again; only LRO does not. */
		check_report(
			context, i == 0 ? FINDING_FAIL : FINDING_INFO,
			check_text("ethtool -k %s: %s: on; it forwards (%s)", link->name, names[i],
				   link->master_ifindex ? "port of a bridge" : "ip_forward is 1"),
			"merged frames are longer than the next hop's MTU: where they cannot be cut again they are dropped",
			with_namespace(context,
				       check_text("ethtool -K %s %s off", link->name, i ? "rx-gro-hw" : "lro")));
	}
}

static int is_endpoint(const struct check_context *context)
{
	if (context->path)
		return context->link == check_point_link(context, 0) ||
		       context->link == check_point_link(context, context->path->point_count - 1);
	return lookup_is_hardware(context->link) || !strcmp(context->link->kind, "veth");
}

static void judge_offloads_off(struct check_context *context)
{
	static const struct {
		const char *name, *option, *what;
	} offloads[] = {
		{ "tx-tcp-segmentation", "tso", "TCP is cut into frames by the CPU" },
		{ "tx-generic-segmentation", "gso",
		  "units are cut before the whole stack below TCP instead of after it" },
		{ "rx-gro", "gro", "each received frame passes the whole stack by itself" },
	};
	const struct facts_link *link = context->link;

	for (size_t i = 0; i < sizeof(offloads) / sizeof(offloads[0]); i++) {
		int fixed = 0;

		/* A veth end has no GRO of its own accord: its peer's units arrive whole. Of an LPAR's adapter lpar-tso says more. */
		if (facts_feature_of(link, offloads[i].name, &fixed) != 0 || (i == 2 && !strcmp(link->kind, "veth")) ||
		    (i == 0 && !strcmp(link->driver, "ibmveth")))
			continue;
		check_report(context, fixed ? FINDING_INFO : FINDING_WARN,
			     check_text("ethtool -k %s: %s: off%s", link->name, offloads[i].name,
					fixed ? " [fixed]" : ""),
			     offloads[i].what,
			     fixed ? ""
				   : with_namespace(context,
						    check_text("ethtool -K %s %s on", link->name, offloads[i].option)));
	}
}

static void judge_emulated(struct check_context *context)
{
	const struct facts_link *link = context->link;

	if (!context->facts->hypervisor[0] || !lookup_is_one_of(link, "e1000 e1000e 8139cp 8139too pcnet32 ne2k-pci"))
		return;
	check_report(context, FINDING_FAIL,
		     check_text("driver of %s: %s, in a guest of %s", link->name, link->driver,
				context->facts->hypervisor),
		     "each register access of an emulated adapter leaves the guest: use a paravirtual one",
		     !strcmp(context->facts->hypervisor, "vmware") ? "change the adapter's type to vmxnet3"
								   : "change the device to virtio-net");
}

static const struct check rows[] = {
	{ .id = "nic-pcie",
	  .subject = CHECK_LINK,
	  .applies = is_pci,
	  .judge = judge_pcie,
	  .explains = RUN_CAUSE_RATE_LIMIT,
	  .title = "The PCIe link is slower than it could be",
	  .why = "A card in a narrow slot, one contact that failed in training, or a bridge above that runs "
		 "slower caps the adapter below its line rate: 5 GT/s with 4 lanes are 16 Gbit/s after coding "
		 "and about 13.6 in payloads. Counters show only missed frames.",
	  .remedy = "Compare width and speed of the card and of every bridge above it with their maxima; reseat, "
		    "change the slot, look at the BIOS.",
	  .effect = "the bus carries more than the link",
	  .reference = "nic",
	  .weight = 0.8 },
	{ .id = "nic-down",
	  .subject = CHECK_LINK,
	  .judge = judge_down,
	  .title = "The interface is down or has no carrier",
	  .why = "Nothing passes. A bridge port or bond leg that is down leaves the others working, so that only "
		 "some traffic is missed.",
	  .remedy = "Set it up; without a carrier look at the other end.",
	  .effect = "frames pass",
	  .reference = "nic",
	  .weight = 1.0 },
	{ .id = "nic-speed",
	  .subject = CHECK_LINK,
	  .applies = is_hardware,
	  .judge = judge_speed,
	  .explains = RUN_CAUSE_RATE_LIMIT,
	  .title = "The link runs below what is wanted",
	  .why = "Autonegotiation falls back on a bad cable or a transceiver of the wrong kind, and everything "
		 "works, ten times slower.",
	  .remedy = "Look at what both ends advertise; change cable or transceiver.",
	  .effect = "the link's full rate",
	  .reference = "nic",
	  .weight = 0.9 },
	{ .id = "nic-duplex",
	  .subject = CHECK_LINK,
	  .applies = is_hardware,
	  .judge = judge_duplex,
	  .explains = RUN_CAUSE_RATE_LIMIT,
	  .title = "Half duplex",
	  .why = "One end set by hand and the other negotiating ends in half duplex at one end: late collisions "
		 "and loss under load.",
	  .remedy = "Negotiate at both ends.",
	  .effect = "no collisions, no loss under load",
	  .reference = "nic",
	  .weight = 0.9 },
	{ .id = "nic-flaps",
	  .subject = CHECK_LINK,
	  .applies = is_hardware,
	  .judge = judge_flaps,
	  .title = "The carrier comes and goes",
	  .why = "Each loss of carrier drops what is on the way and starts spanning tree, bonding and address "
		 "learning again. Some drivers do it when an XDP program is attached.",
	  .remedy = "Mend cable or transceiver; look for agents that attach programs or change rings.",
	  .effect = "carrier_changes stands still",
	  .reference = "nic",
	  .weight = 0.7 },
	{ .id = "nic-eee",
	  .subject = CHECK_LINK,
	  .applies = is_hardware,
	  .judge = judge_eee,
	  .title = "Energy-efficient Ethernet is active",
	  .why = "The transmitter sleeps between frames and needs microseconds to wake: latency at low rate "
		 "grows and varies; throughput hardly suffers.",
	  .remedy = "Switch it off for latency work.",
	  .effect = "lower and steadier latency at low rates",
	  .reference = "latency",
	  .weight = 0.1 },
	{ .id = "nic-moderation",
	  .subject = CHECK_LINK,
	  .applies = is_hardware,
	  .judge = judge_moderation,
	  .title = "Interrupt moderation sets the floor of latency",
	  .why = "The adapter waits a while for more frames before it interrupts. That saves CPU at load and "
		 "adds its whole delay to a lone frame; adaptive moderation switches between two such delays.",
	  .remedy = "For latency runs set a fixed small value; for throughput leave it.",
	  .effect = "a floor that is lower by the delay",
	  .reference = "latency",
	  .weight = 0.05 },
	{ .id = "nic-single-queue",
	  .subject = CHECK_LINK,
	  .applies = is_hardware,
	  .judge = judge_single_queue,
	  .explains = RUN_CAUSE_CPU,
	  .title = "Fewer queues in use than there could be",
	  .why = "One queue is one CPU's work. A guest with 16 streams went from 9.2 to 13.4 Gbit/s with more "
		 "queues and vhost; a single flow gains nothing.",
	  .remedy = "Raise the number of channels, and see that interrupts spread over CPUs.",
	  .effect = "more flows, more CPUs at work",
	  .reference = "queues",
	  .weight = 0.6 },
	{ .id = "nic-udp-hash",
	  .subject = CHECK_LINK,
	  .applies = is_hardware,
	  .judge = judge_udp_hash,
	  .title = "UDP is spread by addresses only",
	  .why = "Adapters leave ports out of the UDP hash by default, because fragments do not carry them: all "
		 "traffic of a tunnel or a generator between two hosts is one queue's.",
	  .remedy = "Add the ports, unless the traffic is fragmented.",
	  .effect = "UDP flows spread over queues",
	  .reference = "queues",
	  .weight = 0.4 },
	{ .id = "nic-lro-forwarding",
	  .subject = CHECK_LINK,
	  .judge = judge_lro_forwarding,
	  .title = "Frames are merged by the adapter and then forwarded",
	  .why = "LRO makes one long frame of several and cannot undo it. A bridge or router that sends it on "
		 "finds it longer than the MTU and drops it. A router guest forwarded at a five-hundredth of its "
		 "speed until LRO was off.",
	  .remedy = "Switch LRO off at every interface that forwards. Software GRO may stay: it can be undone.",
	  .effect = "forwarded TCP runs at full speed",
	  .reference = "offloads",
	  .weight = 0.9 },
	{ .id = "nic-offloads-off",
	  .subject = CHECK_LINK,
	  .applies = is_endpoint,
	  .judge = judge_offloads_off,
	  .is_tcp_only = 1,
	  .title = "Segmentation or merging is off at an end of the path",
	  .why = "With TSO, GSO and GRO the stack handles about 43 frames at once; without, each passes it "
		 "alone, and on virtual links it is cut before the hypervisor's copy instead of after the wire. "
		 "TCP loses half to two thirds.",
	  .remedy = "Switch them on, unless they are off to measure frames.",
	  .effect = "two to three times the TCP throughput for the same CPU",
	  .reference = "offloads",
	  .weight = 0.5 },
	{ .id = "nic-emulated",
	  .subject = CHECK_LINK,
	  .judge = judge_emulated,
	  .explains = RUN_CAUSE_CPU,
	  .title = "An emulated adapter",
	  .why = "A fully emulated adapter makes the guest leave to the hypervisor at each register access, "
		 "several times a frame. On one host a guest went from 1.4 to more than 10 Gbit/s by changing "
		 "the adapter's type.",
	  .remedy = "Give the guest a paravirtual adapter: virtio-net, vmxnet3, netvsc.",
	  .effect = "from one Gbit/s to ten",
	  .reference = "virtio",
	  .weight = 0.9 },
};

CHECK_TABLE(checks_nic, rows);
