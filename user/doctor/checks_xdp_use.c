// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Checks of how XDP is used now: programs that are attached, modes, and interfaces that nobody should play with. What an
 * interface could do is judged in checks_xdp.c. Called through doctor/tables.c.
 */
#include <string.h>

#include "doctor/lookup.h"
#include "doctor/tables.h"
#include "doctor/xdp_drivers.h"

enum { XDP_MODE_GENERIC = 2 };

static int has_program(const struct check_context *context)
{
	return context->link->xdp_program_id != 0;
}

/* Programs of this project (bpf/): what a run of our own has attached is no finding. */
static int is_ours(const char *name)
{
	static const char *const names[] = { "hop_", "source_", "steer_", "reflect_", "bridge_xdp", "hopcap" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(name, names[i], strlen(names[i])))
			return 1;
	return 0;
}

static void judge_foreign_program(struct check_context *context)
{
	const struct facts_link *link = context->link;

	if (is_ours(link->xdp_program_name))
		return;
	check_report(
		context, FINDING_WARN,
		check_text("XDP program of %s: id %u, %s", link->name, link->xdp_program_id,
			   link->xdp_program_name[0] ? link->xdp_program_name : "without a name"),
		"a program of somebody else sees, drops or redirects frames before the stack and before any probe does",
		check_text("bpftool prog show id %u", link->xdp_program_id));
}

static void judge_generic_mode(struct check_context *context)
{
	const struct facts_link *link = context->link;

	if (link->xdp_mode != XDP_MODE_GENERIC)
		return;
	check_report(
		context, FINDING_WARN,
		check_text("XDP program %u of %s is attached in generic mode", link->xdp_program_id, link->name),
		"generic mode runs after the socket buffer was made and copies many frames: several times the cost of native",
		check_text("%sip link set dev %s xdpdrv …, once hopcap doctor %s tells nothing against it",
			   check_enter(context, link->netns), link->name, check_link_name(context, link)));
}

static void judge_generic_gro(struct check_context *context)
{
	const struct facts_link *link = context->link;

	if (link->xdp_mode != XDP_MODE_GENERIC || facts_feature_of(link, "rx-gro", NULL) != 1)
		return;
	check_report(context, FINDING_WARN,
		     check_text("%s: generic XDP program %u, ethtool -k: rx-gro: on", link->name, link->xdp_program_id),
		     "a generic program may see several merged frames as one, and counts one",
		     check_text("%sethtool -K %s gro off", check_enter(context, link->netns), link->name));
}

static void judge_vlan_stripped(struct check_context *context)
{
	const struct facts_link *link = context->link;

	if (!lookup_is_hardware(link) || facts_feature_of(link, "rx-vlan-hw-parse", NULL) != 1)
		return;
	check_report(
		context, FINDING_INFO,
		check_text("%s: XDP program %u, ethtool -k: rx-vlan-hw-parse: on", link->name, link->xdp_program_id),
		"the adapter takes the VLAN tag off before the program runs: tagged and plain frames look the same to it",
		check_text("%sethtool -K %s rxvlan off", check_enter(context, link->netns), link->name));
}

static void judge_uplink(struct check_context *context)
{
	const struct facts_link *link = context->link;

	if (link->netns != 0 || strcmp(link->name, context->facts->uplink))
		return;
	check_report(context, FINDING_INFO, check_text("default route of this machine: dev %s", link->name),
		     "test frames and programs here can cut the machine off: hopcap refuses without --force-uplink",
		     "measure at another interface");
}

static void judge_ssh(struct check_context *context)
{
	const struct facts_link *link = context->link;

	if (link->netns != 0 || strcmp(link->name, context->facts->ssh_interface))
		return;
	check_report(
		context, FINDING_INFO, check_text("this ssh session comes in by %s", link->name),
		"test frames and programs here can cut off this very session: hopcap refuses without --force-uplink",
		"measure at another interface, or from the console");
}

static void judge_jit(struct check_context *context)
{
	static const char path[] = "/proc/sys/net/core/bpf_jit_enable";

	if (facts_number_at(context->facts, 0, path) != 0)
		return;
	check_report(context, FINDING_WARN, check_file_line(context, 0, path),
		     "BPF programs are interpreted: each instruction costs several times what compiled code does",
		     "sysctl -w net.core.bpf_jit_enable=1");
}

static int has_native(const struct check_context *context)
{
	return xdp_has(context->facts, context->link, XDP_BIT_BASIC) == 1;
}

static void judge_attach_cost(struct check_context *context)
{
	const struct xdp_driver *driver = xdp_driver_find(context->link->driver);

	if (!driver || !driver->attach[0] || !lookup_is_hardware(context->link))
		return;
	check_report(context, FINDING_INFO, check_text("driver of %s: %s", context->link->name, driver->name),
		     check_text("attaching or removing a native program %s", driver->attach),
		     "watch live traffic by tc instead");
}

static void judge_busy_poll(struct check_context *context)
{
	const struct facts_link *link = context->link;

	if (xdp_has(context->facts, link, XDP_BIT_ZERO_COPY) != 1 || link->napi_defer_hard_irqs != 0)
		return;
	check_report(context, FINDING_INFO,
		     check_text("%s: napi_defer_hard_irqs 0, gro_flush_timeout %lld", link->name,
				(long long)link->gro_flush_timeout_ns),
		     "busy polling of AF_XDP sockets gains little while each frame still raises an interrupt",
		     check_text("echo 2 > /sys/class/net/%s/napi_defer_hard_irqs && echo 200000 > "
				"/sys/class/net/%s/gro_flush_timeout",
				link->name, link->name));
}

static const struct check rows[] = {
	{ .id = "xdp-foreign-program",
	  .subject = CHECK_LINK,
	  .applies = has_program,
	  .judge = judge_foreign_program,
	  .title = "Somebody else's XDP program is attached",
	  .why = "Firewalls, load balancers and container networks attach programs. They may drop, answer or "
		 "redirect frames before anything else sees them, replacing one needs its owner's consent, and a "
		 "second one in the same mode is refused.",
	  .remedy = "Find out whose it is. hopcap leaves it alone: tc points work beside it, XDP points are "
		    "refused.",
	  .effect = "it is known who handles frames first",
	  .reference = "xdp",
	  .weight = 0.3 },
	{ .id = "xdp-generic-mode",
	  .subject = CHECK_LINK,
	  .applies = has_program,
	  .judge = judge_generic_mode,
	  .explains = RUN_CAUSE_CPU,
	  .title = "The XDP program runs in generic mode",
	  .why = "Generic mode runs in the stack: the socket buffer is made first, frames that are shared or "
		 "lack headroom are copied, and merging is off. It costs several times what native mode does, at "
		 "times more than no XDP at all.",
	  .remedy = "See what keeps native mode away (the other findings of this interface), mend that, and attach "
		    "in native mode.",
	  .effect = "several times the frames per CPU",
	  .reference = "xdp",
	  .weight = 0.5 },
	{ .id = "xdp-generic-gro",
	  .subject = CHECK_LINK,
	  .applies = has_program,
	  .judge = judge_generic_gro,
	  .explains = RUN_CAUSE_CPU,
	  .title = "Generic XDP behind GRO counts units, not frames",
	  .why = "Merging before the program runs makes one unit of many frames; rates and sizes that the "
		 "program reports are then those of units.",
	  .remedy = "Switch GRO off for the measurement, or attach in native mode.",
	  .effect = "counts are frames",
	  .reference = "xdp",
	  .weight = 0.2 },
	{ .id = "xdp-vlan-stripped",
	  .subject = CHECK_LINK,
	  .applies = has_program,
	  .judge = judge_vlan_stripped,
	  .title = "VLAN tags are gone before XDP",
	  .why = "With receive VLAN offload the adapter puts the tag beside the frame. A program that filters by "
		 "tag sees untagged frames; only the metadata function for VLANs (from 6.8) tells.",
	  .remedy = "Switch the offload off while the program needs tags.",
	  .effect = "the program sees the tag",
	  .reference = "xdp",
	  .weight = 0.1 },
	{ .id = "xdp-uplink",
	  .subject = CHECK_LINK,
	  .judge = judge_uplink,
	  .title = "This is the machine's uplink",
	  .why = "Load on the default route's interface competes with the machine's own traffic, and attaching a "
		 "program can reset it.",
	  .remedy = "Choose another interface, or say --force-uplink when you know how to get back in.",
	  .effect = "the machine stays reachable",
	  .reference = "safety",
	  .weight = 0.02 },
	{ .id = "xdp-ssh",
	  .subject = CHECK_LINK,
	  .judge = judge_ssh,
	  .title = "Your ssh session comes in here",
	  .why = "What disturbs this interface takes your own session with it.",
	  .remedy = "Choose another interface, or work from the console.",
	  .effect = "the session stays",
	  .reference = "safety",
	  .weight = 0.02 },
	{ .id = "xdp-jit",
	  .subject = CHECK_MACHINE,
	  .judge = judge_jit,
	  .title = "The BPF compiler is off",
	  .why = "Interpreted programs cost several times as much as compiled ones, at each frame and each hook.",
	  .remedy = "Switch it on; programs that are loaded already have to be loaded again.",
	  .effect = "probes cost a few nanoseconds",
	  .reference = "xdp",
	  .weight = 0.6 },
	{ .id = "xdp-attach-cost",
	  .subject = CHECK_LINK,
	  .applies = has_native,
	  .judge = judge_attach_cost,
	  .title = "Attaching XDP disturbs traffic here",
	  .why = "Many adapters rebuild their queues when the first program comes or the last goes: frames are "
		 "lost for a moment, some take the link down and up, and flow-steering rules may be gone "
		 "afterwards.",
	  .remedy = "Attach before the measurement, never into live traffic that matters; tc programs disturb "
		    "nothing.",
	  .effect = "no losses that the measuring caused",
	  .reference = "xdp",
	  .weight = 0.05 },
	{ .id = "xdp-busy-poll",
	  .subject = CHECK_LINK,
	  .applies = has_native,
	  .judge = judge_busy_poll,
	  .title = "Busy polling is not prepared",
	  .why = "Preferred busy polling lets the application's thread drive the queue; it works when interrupts "
		 "are deferred as long as somebody polls.",
	  .remedy = "Set both values, and the socket options SO_PREFER_BUSY_POLL and SO_BUSY_POLL.",
	  .effect = "one core does what two did",
	  .reference = "xdp",
	  .weight = 0.05 },
};

CHECK_TABLE(checks_xdp_use, rows);
