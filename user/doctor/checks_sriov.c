// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Checks of virtual functions: the limits that their physical function sets for them. A VF that was given to a guest has no interface
 * here; its PF tells all the same. Called through doctor/tables.c.
 */
#include <stdio.h>
#include <string.h>

#include "doctor/lookup.h"
#include "doctor/tables.h"

#define FLAG_PROMISCUOUS 0x100

static int has_vfs(const struct check_context *context)
{
	return context->link->vf_info_count > 0;
}

static int is_pf(const struct check_context *context)
{
	return context->link->vf_total > 0;
}

static int is_vf(const struct check_context *context)
{
	return context->link->physfn_address[0] != '\0';
}

/* The interface of a VF, when this kernel has it. */
static const struct facts_link *interface_of(const struct check_context *context, const struct facts_vf *vf)
{
	for (int i = 0; i < context->facts->link_count; i++) {
		const struct facts_link *link = &context->facts->links[i];

		if (link->vf_index == vf->index && link->physfn_address[0] &&
		    !strcmp(link->physfn_address, context->link->bus_address))
			return link;
	}
	return NULL;
}

/* The next VF that is examined: those whose interfaces are, or all when none is. */
static const struct facts_vf *next_vf(const struct check_context *context, const struct facts_vf *after)
{
	const struct facts_link *pf = context->link;
	int chosen = 0;

	for (int i = 0; i < pf->vf_info_count; i++) {
		const struct facts_link *link = interface_of(context, &pf->vfs[i]);

		chosen |= link && check_is_examined(context, link);
	}
	for (int i = after ? (int)(after - pf->vfs) + 1 : 0; i < pf->vf_info_count; i++) {
		const struct facts_link *link = interface_of(context, &pf->vfs[i]);

		if (!chosen || (link && check_is_examined(context, link)))
			return &pf->vfs[i];
	}
	return NULL;
}

static const char *vf_text(const struct check_context *context, const struct facts_vf *vf, const char *what)
{
	return check_text("ip link show dev %s: vf %d %s", context->link->name, vf->index, what);
}

static const char *vf_command(const struct check_context *context, const struct facts_vf *vf, const char *setting)
{
	return check_text("%sip link set dev %s vf %d %s", check_enter(context, context->link->netns),
			  context->link->name, vf->index, setting);
}

static void judge_rate(struct check_context *context)
{
	double goal = check_goal_gbps(context);

	for (const struct facts_vf *vf = next_vf(context, NULL); vf; vf = next_vf(context, vf)) {
		double gbps = (double)vf->max_tx_mbit_per_s / 1e3;

		if (vf->max_tx_mbit_per_s <= 0 || (goal > 0 && gbps >= goal))
			continue;
		check_report_cap(context, goal > 0 || context->hop ? FINDING_FAIL : FINDING_WARN, gbps,
				 vf_text(context, vf,
					 check_text("max_tx_rate %lldMbps", (long long)vf->max_tx_mbit_per_s)),
				 "the adapter holds what this VF sends to the rate that its PF set",
				 vf_command(context, vf, "max_tx_rate 0"));
	}
}

static void judge_link_state(struct check_context *context)
{
	for (const struct facts_vf *vf = next_vf(context, NULL); vf; vf = next_vf(context, vf))
		if (vf->link_state == 2)
			check_report(context, FINDING_FAIL, vf_text(context, vf, "link-state disable"),
				     "a VF whose link is disabled neither sends nor receives",
				     vf_command(context, vf, "state auto"));
}

/* Frames of other addresses pass a VF that is a bridge's port, carries macvlans, or listens to all. */
static const char *foreign_addresses(const struct check_context *context, const struct facts_link *vf)
{
	if (vf->master_ifindex)
		return check_text("%s is the port of another device", vf->name);
	if (vf->flags & FLAG_PROMISCUOUS)
		return check_text("%s is promiscuous", vf->name);
	for (int i = 0; i < context->facts->link_count; i++) {
		const struct facts_link *upper = &context->facts->links[i];

		if (!strncmp(upper->kind, "macv", 4) && upper->lower_netns == vf->netns &&
		    upper->lower_ifindex == vf->ifindex)
			return check_text("%s stands upon %s", upper->name, vf->name);
	}
	return NULL;
}

static void judge_spoof_check(struct check_context *context)
{
	for (const struct facts_vf *vf = next_vf(context, NULL); vf; vf = next_vf(context, vf)) {
		const struct facts_link *link = interface_of(context, vf);
		const char *foreign = link ? foreign_addresses(context, link) : NULL;

		if (vf->spoof_check != 1)
			continue;
		check_report(
			context, foreign ? FINDING_FAIL : FINDING_INFO,
			vf_text(context, vf,
				foreign ? check_text("spoof checking on; %s", foreign) : "spoof checking on"),
			"the adapter drops what a VF sends from any address but its own: bridges behind it and generators",
			vf_command(context, vf, "spoofchk off"));
	}
}

static void judge_trust(struct check_context *context)
{
	for (const struct facts_vf *vf = next_vf(context, NULL); vf; vf = next_vf(context, vf)) {
		const struct facts_link *link = interface_of(context, vf);
		const char *foreign = link ? foreign_addresses(context, link) : NULL;

		if (vf->trust != 0 || !foreign)
			continue;
		check_report(context, FINDING_WARN, vf_text(context, vf, check_text("trust off; %s", foreign)),
			     "a VF that is not trusted cannot listen to addresses beside its own",
			     vf_command(context, vf, "trust on"));
	}
}

static void judge_vlan(struct check_context *context)
{
	for (const struct facts_vf *vf = next_vf(context, NULL); vf; vf = next_vf(context, vf))
		if (vf->vlan > 0)
			check_report(context, FINDING_WARN,
				     vf_text(context, vf, check_text("vlan %d, qos %d", vf->vlan, vf->qos)),
				     "the adapter tags what this VF sends, and gives it only frames of that VLAN",
				     vf_command(context, vf, "vlan 0"));
}

static void judge_queues(struct check_context *context)
{
	const struct facts_link *link = context->link;

	if (link->rx_queues != 1 || link->rx_queues_max > 1 || context->facts->cpu_count < 2)
		return;
	check_report(context, FINDING_WARN,
		     check_text("ethtool -l %s (%s): 1 queue, no more possible", link->name, link->driver),
		     "a VF with a single queue is one CPU's work in each direction",
		     "set the PF's driver to fewer VFs or more queues a VF");
}

static void judge_unused(struct check_context *context)
{
	const struct facts_link *link = context->link;

	if (link->vf_count != 0)
		return;
	check_report(context, FINDING_INFO,
		     check_text("/sys/class/net/%s/device/sriov_numvfs: 0 of %d", link->name, link->vf_total),
		     "the adapter can give guests functions of its own, past the host's switch",
		     check_text("hopcap plan; echo N > /sys/class/net/%s/device/sriov_numvfs", link->name));
}

static const struct check rows[] = {
	{ .id = "vf-rate",
	  .subject = CHECK_LINK,
	  .applies = has_vfs,
	  .judge = judge_rate,
	  .explains = RUN_CAUSE_RATE_LIMIT,
	  .title = "A VF's rate is limited by its PF",
	  .why = "The physical function can hold each VF's transmissions to a rate. The guest sees neither the "
		 "limit nor a counter, only a throughput that stops at a round number.",
	  .remedy = "Remove the limit at the host, if that is yours to decide.",
	  .effect = "the VF sends at the link's rate",
	  .reference = "sriov",
	  .weight = 1.0 },
	{ .id = "vf-link-state",
	  .subject = CHECK_LINK,
	  .applies = has_vfs,
	  .judge = judge_link_state,
	  .title = "A VF's link is disabled",
	  .why = "The PF can switch a VF's link off or on regardless of the wire.",
	  .remedy = "Set it to auto or enable.",
	  .effect = "the VF has a carrier",
	  .reference = "sriov",
	  .weight = 1.0 },
	{ .id = "vf-spoof-check",
	  .subject = CHECK_LINK,
	  .applies = has_vfs,
	  .judge = judge_spoof_check,
	  .title = "Spoof checking at a VF",
	  .why = "With spoof checking the adapter drops frames whose source is not the VF's own address. Guests "
		 "that bridge or nest, and generators with addresses of their own, send nothing then: 2.2 "
		 "million frames in two seconds were dropped so in one report, seen only in the host's log.",
	  .remedy = "Send from the VF's address, or switch checking off for this VF.",
	  .effect = "frames of other sources leave",
	  .reference = "sriov",
	  .weight = 0.6 },
	{ .id = "vf-trust",
	  .subject = CHECK_LINK,
	  .applies = has_vfs,
	  .judge = judge_trust,
	  .title = "A VF that is to hear other addresses is not trusted",
	  .why = "Promiscuous mode, further unicast addresses and VLAN changes are granted to trusted VFs only; "
		 "the request is accepted and nothing arrives.",
	  .remedy = "Trust the VF, if its guest is trusted.",
	  .effect = "frames to other addresses arrive",
	  .reference = "sriov",
	  .weight = 0.4 },
	{ .id = "vf-vlan",
	  .subject = CHECK_LINK,
	  .applies = has_vfs,
	  .judge = judge_vlan,
	  .title = "The PF puts a VF into a VLAN",
	  .why = "The tag is added and taken off by the adapter, unseen by the guest: both ends of a path have "
		 "to be in the same VLAN.",
	  .remedy = "Clear it, or put the other end into the same VLAN.",
	  .effect = "both ends hear each other",
	  .reference = "sriov",
	  .weight = 0.4 },
	{ .id = "vf-queues",
	  .subject = CHECK_LINK,
	  .applies = is_vf,
	  .judge = judge_queues,
	  .title = "A VF with a single queue",
	  .why = "Some physical functions give a VF one queue pair, at times depending on the number of VFs. One "
		 "CPU receives everything then.",
	  .remedy = "Change the PF's mode or the number of VFs.",
	  .effect = "several CPUs can receive",
	  .reference = "sriov",
	  .weight = 0.4 },
	{ .id = "sriov-unused",
	  .subject = CHECK_LINK,
	  .applies = is_pf,
	  .judge = judge_unused,
	  .title = "The adapter could have virtual functions",
	  .why = "A VF in the guest leaves out tap, vhost and bridge: 9.4 Gbit/s for the price of native, where "
		 "a well-made virtio path costs host CPUs.",
	  .remedy = "See hopcap plan for the commands and what they need.",
	  .effect = "guests reach the wire without the host's switch",
	  .reference = "sriov",
	  .weight = 0.05 },
};

CHECK_TABLE(checks_sriov, rows);
