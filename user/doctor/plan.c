// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The table of alternatives; see plan.h. Each row's maker adds commands and what is missing, or neither: then the alternative does not
 * concern this path.
 */
#include "doctor/plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/lookup.h"
#include "doctor/xdp_drivers.h"
#include "model/shell_quote.h"

#define JUMBO_BYTES 9000

struct planner {
	const struct facts *facts;
	const struct facts_path *path;
	const struct finding_list *findings;
	struct check_context context; /* for look-ups */
	struct plan_alternative *into;
	int error;
};

#define COMMAND(planner, ...) keep(planner, plan_add_line(&(planner)->into->commands, __VA_ARGS__))
#define MISSING(planner, ...) keep(planner, plan_add_line(&(planner)->into->missing, __VA_ARGS__))

static void keep(struct planner *planner, int result)
{
	if (result < 0)
		planner->error = result;
}

static const struct facts_link *point(const struct planner *planner, int index)
{
	return check_point_link(&planner->context, index);
}

static const char *enter(const struct planner *planner, const struct facts_link *link)
{
	return check_enter(&planner->context, link->netns);
}

static const char *name(const struct planner *planner, const struct facts_link *link)
{
	return check_link_name(&planner->context, link);
}

/* What the doctor holds against something, by a list of its checks, about one link (NULL: any). */
static int add_obstacles(struct planner *planner, const struct facts_link *link, const char *const *ids)
{
	int count = 0;

	for (; *ids; ids++)
		for (int i = 0; i < planner->findings->count; i++) {
			const struct finding *finding = &planner->findings->findings[i];

			if (strcmp(finding->id, *ids) ||
			    (link && (finding->netns != link->netns || finding->ifindex != link->ifindex)))
				continue;
			MISSING(planner, "%s%s%s: %s%s%s", finding->id, finding->interface[0] ? " on " : "",
				finding->interface, finding->evidence, finding->fix[0] ? "; " : "", finding->fix);
			count++;
		}
	return count;
}

/* The fixes of some checks, as commands. */
static int add_fixes(struct planner *planner, const char *const *ids)
{
	int count = 0;

	for (; *ids; ids++)
		for (int i = 0; i < planner->findings->count; i++) {
			const struct finding *finding = &planner->findings->findings[i];

			if (strcmp(finding->id, *ids) || finding->severity > FINDING_WARN || !finding->fix[0])
				continue;
			COMMAND(planner, "%s", finding->fix);
			count++;
		}
	return count;
}

/* --- the alternatives --------------------------------------------------------------------------------------------- */

/* From the sink towards the source, so that nobody sends what the next hop does not take. */
static void plan_jumbo(struct planner *planner)
{
	for (int i = planner->path->point_count - 1; i >= 0; i--) {
		const struct facts_link *link = point(planner, i);

		if (!link || link->mtu_bytes < 0 || link->mtu_bytes >= JUMBO_BYTES)
			continue;
		if (link->max_mtu_bytes > 0 && link->max_mtu_bytes < JUMBO_BYTES)
			MISSING(planner, "%s takes at most %d bytes", name(planner, link), link->max_mtu_bytes);
		else
			COMMAND(planner, "%sip link set dev %s mtu %d", enter(planner, link), link->name, JUMBO_BYTES);
	}
	if (!planner->into->commands.count)
		return;
	for (int i = 0; i + 1 < planner->path->point_count; i++)
		if (planner->path->hops[i].kind == FACTS_HOP_OPAQUE)
			COMMAND(planner, "# %s: raise the MTU there, too", planner->path->hops[i].name);
}

static void plan_offloads(struct planner *planner)
{
	static const char *const ids[] = { "nic-offloads-off", "qemu-switched-off", "tap-offloads", "lpar-tso", NULL };

	add_fixes(planner, ids);
}

static void plan_queues(struct planner *planner)
{
	static const char *const ids[] = { "qemu-single-queue", NULL };
	int cpus = planner->facts->cpu_count;

	for (int i = 0; i < planner->path->point_count; i++) {
		const struct facts_link *link = point(planner, i);
		int useful;

		if (!link || !lookup_is_hardware(link) || link->rx_queues <= 0 || cpus < 2 || link->rx_queues >= cpus)
			continue;
		useful = link->rx_queues_max < cpus ? link->rx_queues_max : cpus;
		if (useful > link->rx_queues)
			COMMAND(planner, "%sethtool -L %s combined %d", enter(planner, link), link->name, useful);
		else
			MISSING(planner, "%s has %d of %d queues in use, for %d CPUs", name(planner, link),
				link->rx_queues, link->rx_queues_max, cpus);
	}
	add_fixes(planner, ids);
}

static void plan_vhost(struct planner *planner)
{
	static const char *const ids[] = { "qemu-hub",	    "qemu-vnet-header",	 "qemu-vhost",
					   "qemu-user-net", "qemu-emulated-nic", NULL };
	static const char *const obstacles[] = { "vhost-device", NULL };

	if (add_fixes(planner, ids))
		add_obstacles(planner, NULL, obstacles);
}

/* A tap, a guest hop or a bridge at one of the ends: then a VF could take its place. */
static int has_guest(const struct planner *planner)
{
	for (int i = 0; i < planner->path->point_count; i++) {
		const struct facts_link *link = point(planner, i);

		if ((link && (!strcmp(link->kind, "tun") || !strcmp(link->kind, "macvtap"))) ||
		    (i + 1 < planner->path->point_count && planner->path->hops[i].kind == FACTS_HOP_GUEST))
			return 1;
	}
	return 0;
}

/* The adapter of the path that could have VFs, else any. */
static const struct facts_link *physical_function(const struct planner *planner)
{
	for (int i = 0; i < planner->path->point_count; i++) {
		const struct facts_link *link = point(planner, i);

		if (link && link->vf_total > 0)
			return link;
	}
	for (int i = 0; i < planner->facts->link_count; i++)
		if (planner->facts->links[i].vf_total > 0)
			return &planner->facts->links[i];
	return NULL;
}

static const struct facts_link *virtual_function(const struct planner *planner, const struct facts_link *pf)
{
	for (int i = 0; i < planner->facts->link_count; i++) {
		const struct facts_link *link = &planner->facts->links[i];

		if (link->physfn_address[0] && !strcmp(link->physfn_address, pf->bus_address) && !link->master_ifindex)
			return link;
	}
	return NULL;
}

static void add_vf_commands(struct planner *planner, const struct facts_link *pf)
{
	const struct facts_link *vf = virtual_function(planner, pf);
	int index = vf ? vf->vf_index : 0;
	char address[48];

	snprintf(address, sizeof(address), "%s", vf ? vf->bus_address : "$VF");
	if (!vf) {
		COMMAND(planner, "echo 1 > /sys/class/net/%s/device/sriov_numvfs", pf->name);
		COMMAND(planner, "VF=$(basename \"$(readlink -f /sys/class/net/%s/device/virtfn0)\")", pf->name);
	}
	COMMAND(planner, "%sip link set dev %s vf %d mac GUEST-ADDRESS spoofchk on trust off state auto",
		enter(planner, pf), pf->name, index < 0 ? 0 : index);
	COMMAND(planner, "modprobe vfio-pci");
	COMMAND(planner, "echo vfio-pci > /sys/bus/pci/devices/%s/driver_override", address);
	COMMAND(planner, "echo %s > /sys/bus/pci/devices/%s/driver/unbind", address, address);
	COMMAND(planner, "echo %s > /sys/bus/pci/drivers_probe", address);
	COMMAND(planner,
		"# start the guest with -device vfio-pci,host=%s instead of its virtio NIC (no live migration then)",
		address);
}

static void plan_passthrough(struct planner *planner)
{
	const struct facts_link *pf = physical_function(planner);
	const struct facts_file *group;

	if (!has_guest(planner))
		return;
	if (!pf) {
		MISSING(planner, "no adapter of this machine has virtual functions (SR-IOV)");
		return;
	}
	add_vf_commands(planner, pf);
	group = facts_file_at(planner->facts, 0, check_text(LOOKUP_PCI "iommu_group/type", pf->bus_address));
	if (!group || group->error)
		MISSING(planner,
			"no IOMMU group for %s: switch the IOMMU on (BIOS, intel_iommu=on or amd_iommu=on, iommu=pt)",
			pf->name);
	if (planner->facts->hypervisor[0])
		MISSING(planner, "this machine is itself a guest of %s: it passes devices on only with a virtual IOMMU",
			planner->facts->hypervisor);
}

static const char *const native_obstacles[] = {
	"xdp-native",	"xdp-virtio-offloads", "xdp-virtio-layout", "xdp-merging", "xdp-vfs",
	"xdp-channels", "xdp-veth-queues",     "mtu-xdp-limit",	    NULL
};

static void plan_native(struct planner *planner)
{
	for (int i = 0; i < planner->path->point_count; i++) {
		const struct facts_link *link = point(planner, i);

		if (!link || link->xdp_mode != 2)
			continue;
		COMMAND(planner, "%sip link set dev %s xdpgeneric off", enter(planner, link), link->name);
		COMMAND(planner, "%sip link set dev %s xdpdrv obj PROGRAM.o sec xdp", enter(planner, link), link->name);
		add_obstacles(planner, link, native_obstacles);
	}
}

/* One bridge of the path past which frames could go from driver to driver. */
static void plan_bypass(struct planner *planner)
{
	for (int i = 0; i + 1 < planner->path->point_count; i++) {
		const struct facts_path_hop *hop = &planner->path->hops[i];
		const struct facts_link *in = point(planner, i), *out = point(planner, i + 1);
		const struct facts_link *bridge = hop->ifindex ? facts_link_at(planner->facts, hop->netns, hop->ifindex)
							       : NULL;

		if (hop->kind != FACTS_HOP_BRIDGE || !bridge || !in || !out || strcmp(bridge->kind, "bridge"))
			continue;
		COMMAND(planner, "hopcap accel start %s", name(planner, bridge));
		if (xdp_has(planner->facts, in, XDP_BIT_REDIRECT) == 0)
			MISSING(planner, "%s cannot redirect frames by XDP", name(planner, in));
		if (xdp_has(planner->facts, out, XDP_BIT_REDIRECT) == 0 ||
		    xdp_has(planner->facts, out, XDP_BIT_BASIC) == 0)
			MISSING(planner, "%s takes no program, and so no redirected frames", name(planner, out));
		add_obstacles(planner, in, native_obstacles + 1);
	}
}

static void plan_unlimited(struct planner *planner)
{
	static const char *const ids[] = { "rate-shaper", "rate-police", "vf-rate", NULL };

	add_fixes(planner, ids);
}

static void plan_lean_bridge(struct planner *planner)
{
	static const char *const ids[] = { "bridge-netfilter", "bridge-fdb-miss", NULL };

	add_fixes(planner, ids);
}

static const struct {
	const char *id, *title, *effect;
	void (*make)(struct planner *planner);
} rows[] = {
	{ "unlimited", "Without the rate limits on the path", "the next limit of the path shows", plan_unlimited },
	{ "vhost", "virtio as it should be: -netdev and -device, vnet header, vhost",
	  "from 3.6 to 9.4 Gbit/s in a published comparison: offloads come back, and frames are copied in the kernel",
	  plan_vhost },
	{ "offloads", "Segmentation and merging on at the ends",
	  "two to three times the TCP throughput; raw frames do not change", plan_offloads },
	{ "jumbo", "MTU 9000 from end to end",
	  "up to six times the Gbit/s where the cost is per frame; hopcap run tells before", plan_jumbo },
	{ "lean-bridge", "A bridge without IP filter and flooding", "about half the cost a frame at the bridge",
	  plan_lean_bridge },
	{ "queues", "A queue for each CPU", "several flows use several CPUs; one flow gains nothing", plan_queues },
	{ "xdp-bypass", "Known stations past the bridge, by XDP redirect",
	  "the bridge's cost a frame falls to that of a redirect; "
	  "hopcap run --bypass measures it",
	  plan_bypass },
	{ "native-xdp", "Programs in native instead of generic mode", "several times the frames per CPU", plan_native },
	{ "passthrough", "A virtual function of the adapter in the guest (VFIO)",
	  "the wire's rate at the host's cost of none: tap, vhost and bridge are left out", plan_passthrough },
};

static int quote_names(const struct facts *facts, struct plan_lines *commands)
{
	for (int i = 0; i < commands->count; i++) {
		char *quoted = shell_quote_names(facts, commands->lines[i]);

		if (!quoted)
			return -ENOMEM;
		free(commands->lines[i]);
		commands->lines[i] = quoted;
	}
	return 0;
}

int plan_make(const struct doctor_request *request, const struct finding_list *findings, struct plan *plan)
{
	struct planner planner = { .facts = request->facts, .path = request->path, .findings = findings };
	int possible = 0;

	planner.context = (struct check_context){ .facts = request->facts, .path = request->path };
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && !planner.error; i++) {
		planner.into = plan_add(plan);
		if (!planner.into)
			return -ENOMEM;
		planner.into->id = rows[i].id;
		planner.into->title = rows[i].title;
		planner.into->effect = rows[i].effect;
		rows[i].make(&planner);
		if (!planner.into->commands.count && !planner.into->missing.count)
			plan->count--;
	}
	for (int i = 0; i < plan->count && !planner.error; i++)
		planner.error = quote_names(request->facts, &plan->alternatives[i].commands);
	/* Those that can be done come first; within, the order of the rows stands. */
	for (int i = 0; i < plan->count; i++) {
		struct plan_alternative one = plan->alternatives[i];

		if (one.missing.count)
			continue;
		memmove(&plan->alternatives[possible + 1], &plan->alternatives[possible],
			(size_t)(i - possible) * sizeof(one));
		plan->alternatives[possible++] = one;
	}
	return planner.error;
}
