// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Checks of frame sizes: what is dropped because it does not fit. Called through doctor/tables.c.
 */
#include "doctor/tables.h"

#include <string.h>

static const struct facts_link *lower_of(const struct check_context *context, const struct facts_link *link)
{
	return link->lower_ifindex && link->lower_netns >= 0
		       ? facts_link_at(context->facts, link->lower_netns, link->lower_ifindex)
		       : NULL;
}

static int is_veth(const struct check_context *context)
{
	return !strcmp(context->link->kind, "veth");
}

/* Reported once, for the end that drops: a veth end refuses what is longer than its own MTU. */
static void judge_wire_ends(struct check_context *context)
{
	const struct facts_link *link = context->link, *peer = lower_of(context, link);

	if (!peer || link->mtu_bytes < 0 || peer->mtu_bytes <= link->mtu_bytes)
		return;
	check_report(
		context, FINDING_FAIL,
		check_text("mtu of %s is %d, of its peer %s %d", link->name, link->mtu_bytes,
			   check_link_name(context, peer), peer->mtu_bytes),
		check_text(
			"both ends of a veth pair take the same sizes: %s drops frames of more than %d bytes that its "
			"peer sends",
			link->name, link->mtu_bytes),
		check_text("%sip link set dev %s mtu %d", check_enter(context, link->netns), link->name,
			   peer->mtu_bytes));
}

static const struct check rows[] = {
	{ .id = "mtu-wire-ends",
	  .subject = CHECK_LINK,
	  .applies = is_veth,
	  .judge = judge_wire_ends,
	  .title = "The two ends of a veth pair have different MTUs",
	  .why = "A veth end drops a frame that is longer than its own MTU plus the Ethernet header and one tag, silently and "
		 "without an ICMP message: the sender's stack knows only the MTU of its own end. Small frames pass, so a ping "
		 "works while bulk transfer stands still.",
	  .remedy = "Give both ends the same MTU. The rx_dropped counter of the smaller end stands still afterwards.",
	  .effect = "frames of full size arrive; rx_dropped of the smaller end stands still",
	  .reference = "mtu",
	  .weight = 0.9 },
};

CHECK_TABLE(checks_mtu, rows);
