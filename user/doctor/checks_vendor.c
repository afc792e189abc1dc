// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Checks of guests on other hypervisors: vmxnet3 on ESXi, netvsc on Hyper-V and Azure, netfront and netback on Xen; and of what was
 * pasted about ESXi hosts. Called through doctor/tables.c; claims as doctor/evidence.h says.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/evidence.h"
#include "doctor/lookup.h"
#include "doctor/tables.h"

#define VMXNET3_GOOD_RING 1024
#define VMXNET3_MAX_RING 4096

static const char *quote(const struct facts_claim *claim)
{
	return check_text("%s:%d: %s: %.200s", claim->source, claim->line_number, claim->object, claim->line);
}

/* --- MTU of virtual switches -------------------------------------------------------------------------------------------- */

/* The largest MTU that a guest of these facts sends with; *link: which. */
static int guest_mtu(const struct check_context *context, const struct facts_link **link)
{
	int largest = 0;

	for (int i = 0; i < context->link_count; i++) {
		const struct facts_link *candidate = &context->facts->links[context->links[i]];

		if (lookup_is_one_of(candidate, "vmxnet3 e1000 e1000e") && candidate->mtu_bytes > largest) {
			largest = candidate->mtu_bytes;
			*link = candidate;
		}
	}
	return largest;
}

static int has_uplink(const struct check_context *context, const struct facts_claim *mtu)
{
	const struct facts_claim *uplinks =
		evidence_find(context->facts, "esxcli_vswitch", mtu->source, mtu->object, "uplinks");

	return !uplinks || uplinks->value[0];
}

/* The switch that a VM's port is on, by the host's own list of ports; NULL when it was not pasted. */
static const struct facts_claim *port_switch(const struct check_context *context, const char *source)
{
	const struct facts_claim *claim = NULL;

	while ((claim = evidence_next(context->facts, claim, "esxcli_vm_port", "vswitch")))
		if (!strcmp(claim->source, source))
			return claim;
	return NULL;
}

/* The largest MTU of any switch of this host, to tell a management switch from one that was forgotten. */
static int64_t largest_on(const struct check_context *context, const char *source)
{
	const struct facts_claim *claim = NULL;
	int64_t largest = 0;

	while ((claim = evidence_next(context->facts, claim, "esxcli_vswitch", "mtu")))
		if (!strcmp(claim->source, source) && has_uplink(context, claim) && evidence_number(claim) > largest)
			largest = evidence_number(claim);
	return largest;
}

static int64_t largest_anywhere(const struct check_context *context)
{
	const struct facts_claim *claim = NULL;
	int64_t largest = 0;

	while ((claim = evidence_next(context->facts, claim, "esxcli_vswitch", "mtu")))
		if (has_uplink(context, claim) && evidence_number(claim) > largest)
			largest = evidence_number(claim);
	return largest;
}

static const char *raise_switch(const struct check_context *context, const struct facts_claim *mtu, int64_t wanted)
{
	const struct facts_claim *distributed =
		evidence_find(context->facts, "esxcli_vswitch", mtu->source, mtu->object, "vds_id");

	return distributed ? check_text("in vCenter, settings of the distributed switch %s: MTU %lld", mtu->object,
					(long long)wanted)
			   : check_text("esxcli network vswitch standard set -v %s -m %lld (host of %s)", mtu->object,
					(long long)wanted, mtu->source);
}

/* One switch that is too small: surely in the way when the VM's port is on it or the host has none that is large enough. */
static void judge_switch(struct check_context *context, const struct facts_claim *mtu, int64_t wanted,
			 const char *wanted_by)
{
	const struct facts_claim *port = port_switch(context, mtu->source);
	int is_in_the_way = port ? !strcmp(port->value, mtu->object) : largest_on(context, mtu->source) < wanted;

	if (evidence_number(mtu) <= 0 || evidence_number(mtu) >= wanted || !has_uplink(context, mtu))
		return;
	if (port && !is_in_the_way)
		return;
	check_report_named(
		context, check_text("%s (%s)", mtu->object, mtu->source),
		is_in_the_way ? FINDING_FAIL : FINDING_UNKNOWN,
		port ? check_text("%s; %s; %s", quote(mtu), quote(port), wanted_by)
		     : check_text("%s; %s", quote(mtu), wanted_by),
		is_in_the_way
			? "a virtual switch drops what is larger than its MTU without a word: each switch of both "
			  "hosts must carry what the guests send"
			: "whether the guest's port is on this switch is told by esxcli network vm port list",
		raise_switch(context, mtu, wanted));
}

static void judge_vswitch_mtu(struct check_context *context)
{
	const struct facts_link *link = NULL;
	const struct facts_claim *claim = NULL;
	int guest = guest_mtu(context, &link);
	int64_t wanted = guest > 0 ? guest : largest_anywhere(context);
	char wanted_by[160];

	if (guest > 0)
		snprintf(wanted_by, sizeof(wanted_by), "mtu of %s is %d", check_link_name(context, link), guest);
	else
		snprintf(wanted_by, sizeof(wanted_by), "another switch of the pasted hosts has MTU %lld",
			 (long long)wanted);
	while ((claim = evidence_next(context->facts, claim, "esxcli_vswitch", "mtu")))
		if (evidence_find(context->facts, "esxcli_vswitch", claim->source, claim->object, "mtu") == claim)
			judge_switch(context, claim, wanted, wanted_by);
}

/* An outage is part of the remedy on a distributed switch; said beside the advice, never without it. */
static void judge_outage(struct check_context *context)
{
	const struct facts_link *link = NULL;
	const struct facts_claim *claim = NULL;
	int64_t wanted = guest_mtu(context, &link);

	while ((claim = evidence_next(context->facts, claim, "esxcli_vswitch", "vds_id"))) {
		const struct facts_claim *mtu =
			evidence_find(context->facts, "esxcli_vswitch", claim->source, claim->object, "mtu");

		if (evidence_number(mtu) > 0 && evidence_number(mtu) < (wanted ? wanted : largest_anywhere(context)))
			check_report_named(
				context, check_text("%s (%s)", claim->object, claim->source), FINDING_INFO, quote(mtu),
				"changing the MTU of a distributed switch takes its uplinks down for a moment",
				"do it in a maintenance window");
	}
}

/* --- vmxnet3 ------------------------------------------------------------------------------------------------------------ */

static int is_vmxnet3(const struct check_context *context)
{
	return !strcmp(context->link->driver, "vmxnet3");
}

/* The driver has a set of counters a queue, all with the same names, indented. */
static int64_t sum_of(const struct facts_link *link, const char *name)
{
	int64_t sum = FACTS_UNKNOWN;

	for (int i = 0; i < link->counter_count; i++) {
		const char *own = link->counters[i].name + strspn(link->counters[i].name, " ");

		if (!strcmp(own, name) && link->counters[i].value <= INT64_MAX / 65536)
			sum = (sum < 0 ? 0 : sum) + (int64_t)link->counters[i].value;
	}
	return sum;
}

static int64_t growth_of_sum(const struct check_context *context, const char *name, int *since_boot)
{
	int64_t now = sum_of(context->link, name), then = FACTS_UNKNOWN;
	const struct facts_link *before =
		context->earlier ? facts_link_named(context->earlier, context->link->netns, context->link->name) : NULL;

	if (before)
		then = sum_of(before, name);
	*since_boot = then < 0 || now < then;
	return *since_boot ? now : now - then;
}

static void judge_ring(struct check_context *context)
{
	static const char *const counters[] = { "pkts rx OOB", "rx buf alloc fail" };
	const struct facts_link *link = context->link;

	for (int i = 0; i < 2; i++) {
		int since_boot;
		int64_t growth = growth_of_sum(context, counters[i], &since_boot);

		if (growth <= 0)
			continue;
		check_report(context, check_growth_severity(FINDING_FAIL, since_boot),
			     check_text("ethtool -S %s: %s; ethtool -g: %d of %d", link->name,
					check_growth_text(counters[i], growth, since_boot), link->rx_ring,
					link->rx_ring_max),
			     "the hypervisor found the guest's receive ring full and dropped (esxtop: %DRPRX)",
			     check_text("%sethtool -G %s rx %d rx-jumbo 4096", check_enter(context, link->netns),
					link->name, VMXNET3_MAX_RING));
	}
	if (link->rx_ring > 0 && link->rx_ring < VMXNET3_GOOD_RING && link->rx_ring_max > link->rx_ring)
		check_report(
			context, FINDING_INFO,
			check_text("ethtool -g %s: rx %d of %d", link->name, link->rx_ring, link->rx_ring_max),
			"a short ring overflows whenever the guest is not scheduled for some tenths of a millisecond",
			check_text("%sethtool -G %s rx %d", check_enter(context, link->netns), link->name,
				   VMXNET3_MAX_RING));
}

/* The same as the host counts it, pasted. */
static void judge_pasted_ring(struct check_context *context)
{
	static const struct {
		const char *kind, *key;
	} counters[] = {
		{ "vsish_port", "rx_of_times_the_1st_ring_is_full" },
		{ "vsish_port", "rx_of_times_the_2nd_ring_is_full" },
		{ "esxcli_port", "receive_packets_dropped" },
	};

	for (unsigned int i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
		const struct facts_claim *claim = NULL;

		while ((claim = evidence_next(context->facts, claim, counters[i].kind, counters[i].key)))
			if (evidence_number(claim) > 0)
				check_report_named(
					context, check_text("port %s (%s)", claim->object, claim->source), FINDING_WARN,
					quote(claim),
					"the guest's receive ring was full when the host had a frame for it",
					"in the guest: ethtool -G IF rx 4096 rx-jumbo 4096; look at CPU ready time");
	}
}

static void judge_pasted_link(struct check_context *context)
{
	const struct facts_claim *claim = NULL;

	while ((claim = evidence_next(context->facts, claim, "esxcli_nic", "speed"))) {
		const struct facts_claim *duplex =
			evidence_find(context->facts, "esxcli_nic", claim->source, claim->object, "duplex");

		if (duplex && !strcmp(duplex->value, "Half"))
			check_report_named(context, check_text("%s (%s)", claim->object, claim->source), FINDING_FAIL,
					   quote(duplex), "the link must be full duplex",
					   "negotiate at both ends, or at neither");
	}
	while ((claim = evidence_next(context->facts, claim, "esxcli_nic_stats", NULL)))
		if ((!strcmp(claim->key, "receive_missed_errors") || !strcmp(claim->key, "receive_fifo_errors") ||
		     !strcmp(claim->key, "receive_crc_errors")) &&
		    evidence_number(claim) > 0)
			check_report_named(
				context, check_text("%s (%s)", claim->object, claim->source), FINDING_WARN,
				quote(claim), "the host's adapter lost frames or got damaged ones",
				"crc: cable and transceiver; missed, fifo: more queues or a free CPU at the host");
}

/* --- Hyper-V -------------------------------------------------------------------------------------------------------------- */

static int is_netvsc(const struct check_context *context)
{
	return !strcmp(context->link->driver, "hv_netvsc");
}

/* The VF has the synthetic device's MAC and is its slave. */
static const struct facts_link *vf_of(const struct check_context *context, const struct facts_link *synthetic)
{
	for (int i = 0; i < context->facts->link_count; i++) {
		const struct facts_link *link = &context->facts->links[i];

		if (link != synthetic && link->netns == synthetic->netns && strcmp(link->driver, "hv_netvsc") &&
		    link->bus[0] && !memcmp(link->address, synthetic->address, sizeof(link->address)))
			return link;
	}
	return NULL;
}

static void judge_vf(struct check_context *context)
{
	const struct facts_link *link = context->link, *vf = vf_of(context, link);
	int since_boot, vf_since_boot;
	int64_t total = check_counter_growth(context, "tx_packets", &since_boot);
	int64_t by_vf = check_counter_growth(context, "vf_tx_packets", &vf_since_boot);

	if (!vf)
		check_report(context, FINDING_INFO, check_text("no other interface has the MAC of %s", link->name),
			     "without a VF all frames take the synthetic path through the host's switch",
			     "switch accelerated networking (SR-IOV) on for this VM");
	else if (!(vf->flags & 1))
		check_report(context, FINDING_FAIL, check_text("%s, the VF of %s, is down", vf->name, link->name),
			     "while the VF is down all frames take the synthetic path",
			     check_text("%sip link set dev %s up", check_enter(context, vf->netns), vf->name));
	else if (by_vf == 0 && total > 10000)
		check_report(context, check_growth_severity(FINDING_FAIL, since_boot),
			     check_text("ethtool -S %s: %s; %s", link->name,
					check_growth_text("vf_tx_packets", by_vf, vf_since_boot),
					check_growth_text("tx_packets", total, since_boot)),
			     "the VF is there but carries nothing: the data path was not switched to it",
			     check_text("%sip link set dev %s down && %sip link set dev %s up",
					check_enter(context, vf->netns), vf->name, check_enter(context, vf->netns),
					vf->name));
}

static void judge_netvsc_merging(struct check_context *context)
{
	if (facts_feature_of(context->link, "rx-lro", NULL) != 1)
		return;
	check_report(context, FINDING_FAIL, check_text("ethtool -k %s: rx-lro: on", context->link->name),
		     "the driver refuses native XDP while the host's switch merges received frames (RSC)",
		     check_text("%sethtool -K %s lro off", check_enter(context, context->link->netns),
				context->link->name));
}

static void judge_vf_program(struct check_context *context)
{
	const struct facts_link *vf = vf_of(context, context->link);

	if (!vf || !vf->xdp_program_id || context->link->xdp_program_id)
		return;
	check_report_about(
		context, vf, FINDING_WARN,
		check_text("XDP program %u (%s) is on %s itself, none on %s", vf->xdp_program_id, vf->xdp_program_name,
			   vf->name, context->link->name),
		"a program set on the VF alone is lost when the VF comes and goes (live migration, servicing)",
		check_text("attach it to %s: the driver hands it to the VF", context->link->name));
}

/* --- Xen ------------------------------------------------------------------------------------------------------------------ */

static int is_xen(const struct check_context *context)
{
	return lookup_is_one_of(context->link, "xen-netfront vif netfront xen_netfront xen-netback") ||
	       !strcmp(context->link->bus, "xen");
}

static void judge_netback(struct check_context *context)
{
	static const char path[] = "/sys/module/xen_netback/parameters/max_queues";
	int64_t allowed = facts_number_at(context->facts, 0, path);

	if (context->link->rx_queues != 1 || context->facts->cpu_count <= 1)
		return;
	check_report(
		context, FINDING_WARN,
		allowed >= 0 ? check_text("%s: 1 queue, %d CPUs; %s", check_link_name(context, context->link),
					  context->facts->cpu_count, check_file_line(context, 0, path))
			     : check_text("%s: 1 queue, %d CPUs", check_link_name(context, context->link),
					  context->facts->cpu_count),
		"one queue is one netback thread in dom0: its CPU limits all traffic of the guest",
		allowed == 1
			? "xen_netback.max_queues=4 in dom0, then attach the interface again"
			: "more queues in dom0 and in the guest (xen_netback.max_queues, xen_netfront.max_queues)");
}

static const struct check rows[] = {
	{ .id = "vswitch-mtu",
	  .subject = CHECK_CLAIMS,
	  .judge = judge_vswitch_mtu,
	  .explains = RUN_CAUSE_MTU,
	  .title = "A virtual switch has a smaller MTU than the guests",
	  .why = "Between two guests on two hosts stand two virtual switches and a physical one. When one of them stays at 1500, "
		 "connections are made (small frames pass) and then hang: throughput is near nothing, and no counter of the guest "
		 "tells. It cost the author of one comparison an evening.",
	  .remedy =
		  "Set the MTU at each standard and distributed switch, on every host, and on the physical switch. Check with "
		  "vmkping -d -s 8972, or hopcap doctor --probe.",
	  .effect = "from kilobytes to gigabits a second",
	  .reference = "vmware",
	  .weight = 1.0 },
	{ .id = "vswitch-mtu-outage",
	  .subject = CHECK_CLAIMS,
	  .judge = judge_outage,
	  .title = "Changing the MTU interrupts traffic",
	  .why = "A distributed switch takes its uplinks down and up when its MTU changes.",
	  .remedy = "A maintenance window.",
	  .effect = "no surprise",
	  .reference = "vmware",
	  .weight = 0.1 },
	{ .id = "vmxnet3-ring",
	  .subject = CHECK_LINK,
	  .applies = is_vmxnet3,
	  .judge = judge_ring,
	  .explains = RUN_CAUSE_QUEUE,
	  .title = "The receive ring of a vmxnet3 adapter overflows",
	  .why = "The hypervisor copies into the guest's ring; when the guest is not scheduled or its queue's CPU is busy, the ring "
		 "fills and frames are dropped in the host. Ring 1 takes ordinary frames, ring 2 pieces of large ones.",
	  .remedy = "Rings of 4096, more queues (RSS), and a look at CPU ready time.",
	  .effect = "%DRPRX in esxtop goes to 0",
	  .reference = "vmware",
	  .weight = 0.7 },
	{ .id = "vmxnet3-ring-host",
	  .subject = CHECK_CLAIMS,
	  .judge = judge_pasted_ring,
	  .title = "The host dropped frames for a guest",
	  .why = "The host counts how often it found the guest's ring full.",
	  .remedy = "As for the guest's own counters.",
	  .effect = "the counter stands still",
	  .reference = "vmware",
	  .weight = 0.6 },
	{ .id = "esxi-adapter",
	  .subject = CHECK_CLAIMS,
	  .judge = judge_pasted_link,
	  .title = "A physical adapter of the ESXi host",
	  .why = "Half duplex and damaged or missed frames at the host hit all its guests.",
	  .remedy = "Cable, transceiver, switch port; queues of the adapter.",
	  .effect = "no loss in front of the guests",
	  .reference = "vmware",
	  .weight = 0.7 },
	{ .id = "netvsc-vf",
	  .subject = CHECK_LINK,
	  .applies = is_netvsc,
	  .judge = judge_vf,
	  .title = "Frames take the synthetic path instead of the VF",
	  .why = "With accelerated networking a VF with the same MAC stands beside the synthetic adapter and the driver switches to it "
		 "when it is up. Otherwise each frame is copied through the host's switch.",
	  .remedy = "The VF must be there and up; vf_tx_packets then grows with tx_packets.",
	  .effect = "another class of rate and latency",
	  .reference = "hyperv",
	  .weight = 0.9 },
	{ .id = "netvsc-merging",
	  .subject = CHECK_LINK,
	  .applies = is_netvsc,
	  .judge = judge_netvsc_merging,
	  .title = "Receive merging keeps native XDP off",
	  .why = "RSC in the host's switch is on by default since Server 2019.",
	  .remedy = "Switch LRO off in the guest before attaching.",
	  .effect = "native XDP attaches",
	  .reference = "hyperv",
	  .weight = 0.5 },
	{ .id = "netvsc-vf-program",
	  .subject = CHECK_LINK,
	  .applies = is_netvsc,
	  .judge = judge_vf_program,
	  .title = "An XDP program sits on the VF itself",
	  .why = "The synthetic device hands its program on to each VF that comes; one on the VF goes with it.",
	  .remedy = "Attach to the synthetic device.",
	  .effect = "the program survives a change of the VF",
	  .reference = "hyperv",
	  .weight = 0.3 },
	{ .id = "xen-single-queue",
	  .subject = CHECK_LINK,
	  .applies = is_xen,
	  .judge = judge_netback,
	  .title = "One netback queue for a guest of several CPUs",
	  .why = "Netback copies by grant tables, a thread a queue, in dom0. Older releases had four threads for all guests.",
	  .remedy = "More queues, and CPUs of dom0 that are free for them.",
	  .effect = "more than three times the aggregate in one release that changed this",
	  .reference = "xen",
	  .weight = 0.6 },
};

CHECK_TABLE(checks_vendor, rows);
