// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Checks of what XDP and AF_XDP can do at an interface now, and of what keeps them from it: declared abilities and the driver's
 * conditions together. Called through doctor/tables.c.
 */
#include <stdio.h>
#include <string.h>

#include "doctor/lookup.h"
#include "doctor/tables.h"
#include "doctor/xdp_drivers.h"

enum { /* bits of VIRTIO_NET_F_* and VIRTIO_F_* */
       VIRTIO_GUEST_CSUM = 1,
       VIRTIO_CTRL_GUEST_OFFLOADS = 2,
       VIRTIO_GUEST_TSO4 = 7,
       VIRTIO_GUEST_TSO6 = 8,
       VIRTIO_GUEST_ECN = 9,
       VIRTIO_GUEST_UFO = 10,
       VIRTIO_MRG_RXBUF = 15,
       VIRTIO_ANY_LAYOUT = 27,
       VIRTIO_VERSION_1 = 32,
       VIRTIO_GUEST_USO4 = 54,
       VIRTIO_GUEST_USO6 = 55,
};

static const char *driver_name(const struct facts_link *link)
{
	return link->driver[0] ? link->driver : link->kind[0] ? link->kind : "unknown driver";
}

static const char *bits_text(const struct check_context *context)
{
	if (context->link->xdp_features >= 0)
		return check_text("xdp features of %s (%s): 0x%llx", context->link->name, driver_name(context->link),
				  (long long)context->link->xdp_features);
	return check_text("driver of %s: %s, kernel %s; this kernel does not list xdp features", context->link->name,
			  driver_name(context->link), context->facts->kernel);
}

static int has(const struct check_context *context, int bit)
{
	return xdp_has(context->facts, context->link, bit);
}

static int has_native(const struct check_context *context)
{
	return has(context, XDP_BIT_BASIC) == 1;
}

static int is_virtio(const struct check_context *context)
{
	return !strcmp(context->link->driver, "virtio_net");
}

static int is_veth(const struct check_context *context)
{
	return !strcmp(context->link->kind, "veth");
}

/* --- what the interface can do ------------------------------------------------------------------------------------ */

static const char *instead_of(const struct check_context *context)
{
	const struct facts_link *lower = lookup_lower(context, context->link);

	if (lower && strcmp(context->link->kind, "veth"))
		return check_text("attach to %s below it", check_link_name(context, lower));
	if (!strcmp(context->link->kind, "bridge"))
		return check_text("attach to the bridge's ports");
	if (lookup_is_one_of(context->link, "iavf igbvf"))
		return check_text("use the PF on the host, or tc here");
	return check_text("use tc, or XDP in generic mode");
}

static void judge_native(struct check_context *context)
{
	int known = has(context, XDP_BIT_BASIC);

	if (known < 0)
		check_report(
			context, FINDING_UNKNOWN, bits_text(context),
			"whether the driver runs native XDP is not known: it is not in the table, and kernels before "
			"6.3 do not tell",
			check_text("%sip link set dev %s xdpdrv obj PASS.o (resets some adapters)",
				   check_enter(context, context->link->netns), context->link->name));
	else if (!known)
		check_report(
			context, FINDING_INFO, bits_text(context),
			"the device runs no native XDP program: generic mode works on socket buffers, several times slower",
			instead_of(context));
}

static void judge_no_redirect(struct check_context *context)
{
	if (has(context, XDP_BIT_REDIRECT) != 0)
		return;
	check_report(context, FINDING_INFO, bits_text(context),
		     "a program here cannot redirect: AF_XDP sockets and fast paths get nothing in native mode",
		     "use generic mode for AF_XDP here, or another port of the host");
}

static void judge_target(struct check_context *context)
{
	static const char *const reasons[] = {
		[XDP_TARGET_NEVER] = "its driver takes no frames that other interfaces redirect to it",
		[XDP_TARGET_WITH_PROGRAM] =
			"its driver takes redirected frames only while a program is attached to it, too",
		[XDP_TARGET_WITH_PEER] =
			"a veth end takes redirected frames when its peer has GRO or a program, else it drops "
			"them all and reports success",
		[XDP_TARGET_ALWAYS] = "it does not take redirected frames now",
	};
	const struct facts_link *link = context->link, *peer = lookup_lower(context, link);
	const struct xdp_driver *driver = xdp_driver_find(driver_name(link));
	const char *fix = "";

	if (has(context, XDP_BIT_XMIT) != 0 || !driver)
		return;
	if (driver->target == XDP_TARGET_WITH_PEER && peer)
		fix = check_text("%sethtool -K %s gro on", check_enter(context, peer->netns), peer->name);
	else if (driver->target == XDP_TARGET_WITH_PROGRAM)
		fix = "attach a program that passes everything";
	check_report(context, FINDING_INFO, bits_text(context), reasons[driver->target], fix);
}

static void judge_zero_copy(struct check_context *context)
{
	const struct xdp_driver *driver = xdp_driver_find(driver_name(context->link));
	const char *rule = "its driver has no zero-copy: AF_XDP copies each frame";

	if (has(context, XDP_BIT_ZERO_COPY) != 0)
		return;
	if (driver && driver->zero_copy_since)
		rule = check_text(
			"its driver has zero-copy from Linux %d.%d on, but does not declare it here: AF_XDP copies",
			driver->zero_copy_since / 1000, driver->zero_copy_since % 1000);
	check_report(context, FINDING_INFO, bits_text(context), rule,
		     "read XDP_OPTIONS of the socket before calling it zero-copy");
}

static void judge_multi_buffer(struct check_context *context)
{
	const char *rule =
		"a program sees one buffer a frame: what is longer than a page less headroom needs a smaller MTU";

	if (has(context, XDP_BIT_FRAGS) != 0)
		return;
	if (is_virtio(context) && lookup_virtio_bit(context, context->link, VIRTIO_MRG_RXBUF) == 0)
		rule = "virtio_net gives a program long frames only with mergeable buffers (mrg_rxbuf=on)";
	check_report(context, FINDING_INFO, bits_text(context), rule, "");
}

static void judge_rx_timestamps(struct check_context *context)
{
	const struct facts_link *link = context->link;

	if (link->xdp_rx_metadata < 0 || link->xdp_rx_metadata & XDP_RX_TIMESTAMP)
		return;
	check_report(context, FINDING_INFO,
		     check_text("xdp rx metadata of %s (%s): 0x%llx", link->name, driver_name(link),
				(long long)link->xdp_rx_metadata),
		     "programs get no receive time of the adapter here: times are taken in software", "");
}

static void judge_tx_metadata(struct check_context *context)
{
	const struct facts_link *link = context->link;

	if (link->xsk_features < 0 || link->xsk_features & XDP_TX_TIMESTAMP)
		return;
	check_report(context, FINDING_INFO,
		     check_text("xsk features of %s (%s): 0x%llx", link->name, driver_name(link),
				(long long)link->xsk_features),
		     check_text("AF_XDP sockets get no transmit time of the adapter here%s",
				link->xsk_features & XDP_TX_CHECKSUM ? "" : ", and no checksums"),
		     "");
}

/* --- what keeps native XDP away ----------------------------------------------------------------------------------- */

static void judge_virtio_offloads(struct check_context *context)
{
	static const struct {
		int bit;
		const char *name, *option;
	} offloads[] = {
		{ VIRTIO_GUEST_CSUM, "GUEST_CSUM", "guest_csum=off" },
		{ VIRTIO_GUEST_TSO4, "GUEST_TSO4", "guest_tso4=off" },
		{ VIRTIO_GUEST_TSO6, "GUEST_TSO6", "guest_tso6=off" },
		{ VIRTIO_GUEST_ECN, "GUEST_ECN", "guest_ecn=off" },
		{ VIRTIO_GUEST_UFO, "GUEST_UFO", "guest_ufo=off" },
		{ VIRTIO_GUEST_USO4, "GUEST_USO4", "guest_uso4=off" },
		{ VIRTIO_GUEST_USO6, "GUEST_USO6", "guest_uso6=off" },
	};
	const struct facts_link *link = context->link;
	char names[160] = "", options[160] = "", path[128];

	snprintf(path, sizeof(path), LOOKUP_VIRTIO_FEATURES, link->name);
	if (lookup_virtio_bit(context, link, VIRTIO_CTRL_GUEST_OFFLOADS) < 0) {
		check_report(context, FINDING_UNKNOWN, check_file_line(context, link->netns, path),
			     "which offloads host and guest have agreed on decides whether native XDP attaches", "");
		return;
	}
	if (lookup_virtio_bit(context, link, VIRTIO_CTRL_GUEST_OFFLOADS) == 1)
		return;
	for (size_t i = 0; i < sizeof(offloads) / sizeof(offloads[0]); i++) {
		if (lookup_virtio_bit(context, link, offloads[i].bit) != 1)
			continue;
		strncat(names, names[0] ? " " : "", sizeof(names) - strlen(names) - 1);
		strncat(names, offloads[i].name, sizeof(names) - strlen(names) - 1);
		strncat(options, options[0] ? "," : "", sizeof(options) - strlen(options) - 1);
		strncat(options, offloads[i].option, sizeof(options) - strlen(options) - 1);
	}
	if (names[0])
		check_report(
			context, FINDING_WARN, check_text("%s: %s negotiated, CTRL_GUEST_OFFLOADS not", path, names),
			"the host hands over merged frames and partial checksums, and the guest cannot switch that off: "
			"virtio_net refuses native XDP, although its feature bits promise it",
			check_text("on the host: -device virtio-net-pci,…,%s", options));
}

static void judge_virtio_queues(struct check_context *context)
{
	const struct facts_link *link = context->link;
	int cpus = context->facts->cpu_count;

	if (link->rx_queues <= 0 || link->rx_queues_max <= 0 || cpus <= 0 ||
	    link->rx_queues_max >= link->rx_queues + cpus)
		return;
	check_report(
		context, FINDING_WARN,
		check_text("ethtool -l %s: %d queue pairs of %d; %d CPUs", link->name, link->rx_queues,
			   link->rx_queues_max, cpus),
		check_text(
			"XDP_TX and XDP_REDIRECT want a transmit queue for each CPU beside those in use: %d pairs; with "
			"fewer all CPUs share one under a lock (before Linux 5.13: attaching fails)",
			link->rx_queues + cpus),
		check_text("on the host: queues=%d (-netdev) and mq=on (-device)", 2 * cpus));
}

static void judge_virtio_layout(struct check_context *context)
{
	const struct facts_link *link = context->link;

	if (lookup_virtio_bit(context, link, VIRTIO_MRG_RXBUF) != 1 ||
	    lookup_virtio_bit(context, link, VIRTIO_ANY_LAYOUT) != 0 ||
	    lookup_virtio_bit(context, link, VIRTIO_VERSION_1) == 1)
		return;
	check_report(context, FINDING_WARN,
		     check_text("virtio features of %s: MRG_RXBUF without ANY_LAYOUT and VERSION_1", link->name),
		     "a legacy device keeps its header apart from the frame: virtio_net refuses native XDP",
		     "on the host: a newer -machine type, or disable-legacy=on");
}

static void judge_merging(struct check_context *context)
{
	const struct facts_link *link = context->link;
	const struct xdp_driver *driver = xdp_driver_find(driver_name(link));
	const char *name = NULL;

	if (driver && driver->refuses & XDP_REFUSES_LRO && facts_feature_of(link, "rx-lro", NULL) == 1)
		name = "rx-lro";
	else if (driver && driver->refuses & XDP_REFUSES_HW_GRO && facts_feature_of(link, "rx-gro-hw", NULL) == 1)
		name = "rx-gro-hw";
	if (!name)
		return;
	check_report(context, FINDING_WARN, check_text("ethtool -k %s: %s: on", link->name, name),
		     check_text("%s refuses a native program while the adapter merges frames%s", driver->name,
				driver->is_silent ? ", and gives no reason but EINVAL or a line in the kernel log"
						  : ""),
		     check_text("%sethtool -K %s %s off", check_enter(context, link->netns), link->name, name));
}

static void judge_vfs(struct check_context *context)
{
	const struct facts_link *link = context->link;
	const struct xdp_driver *driver = xdp_driver_find(driver_name(link));

	if (!driver || !(driver->refuses & XDP_REFUSES_VFS) || link->vf_count <= 0)
		return;
	check_report(context, FINDING_WARN,
		     check_text("sriov_numvfs of %s (%s): %d", link->name, driver->name, link->vf_count),
		     check_text("%s refuses a native program while it has VFs, by a bare EINVAL", driver->name),
		     check_text("echo 0 > /sys/class/net/%s/device/sriov_numvfs (removes the VFs), or use generic mode",
				link->name));
}

static void judge_channels(struct check_context *context)
{
	const struct facts_link *link = context->link;
	const struct xdp_driver *driver = xdp_driver_find(driver_name(link));

	if (!driver || !(driver->refuses & XDP_REFUSES_MOST_QUEUES) || link->rx_queues_max <= 0 ||
	    2 * link->rx_queues <= link->rx_queues_max)
		return;
	check_report(context, FINDING_WARN,
		     check_text("ethtool -l %s: %d of %d channels", link->name, link->rx_queues, link->rx_queues_max),
		     check_text("%s needs a second transmit queue for each channel: at most half of them may be in use",
				driver->name),
		     check_text("%sethtool -L %s combined %d", check_enter(context, link->netns), link->name,
				link->rx_queues_max / 2));
}

static void judge_veth_queues(struct check_context *context)
{
	const struct facts_link *link = context->link, *peer = lookup_lower(context, link);

	if (!peer || link->rx_queues <= 0 || peer->tx_queues <= link->rx_queues)
		return;
	check_report(
		context, FINDING_WARN,
		check_text("%s has %d receive queues, its peer %s %d transmit queues", link->name, link->rx_queues,
			   check_link_name(context, peer), peer->tx_queues),
		"a veth end takes a native program only with a receive queue for each transmit queue of its peer (ENOSPC)",
		check_text("%sethtool -L %s rx %d", check_enter(context, link->netns), link->name, peer->tx_queues));
}

static int is_bond(const struct check_context *context)
{
	return !strcmp(context->link->kind, "bond");
}

static void judge_bond(struct check_context *context)
{
	const struct facts_link *link = context->link, *slave = NULL;

	if (link->bond_mode[0] && !strstr("balance-rr active-backup 802.3ad balance-xor", link->bond_mode)) {
		check_report(context, FINDING_INFO, check_text("mode of %s: %s", link->name, link->bond_mode),
			     "a bond runs native XDP in the modes balance-rr, active-backup, balance-xor and 802.3ad",
			     "");
		return;
	}
	while ((slave = lookup_port(context, link, slave)) != NULL) {
		if (xdp_has(context->facts, slave, XDP_BIT_BASIC) != 0 && !slave->xdp_program_id)
			continue;
		check_report(context, FINDING_INFO,
			     slave->xdp_program_id
				     ? check_text("%s has XDP program %u", slave->name, slave->xdp_program_id)
				     : check_text("driver of %s: %s", slave->name, driver_name(slave)),
			     "a bond runs native XDP when all its slaves can and none has a program of its own", "");
	}
}

#define MODULES_OF_VENDORS "ixgbe ixgbevf i40e iavf ice igb igc mlx5_core ena bnxt_en"

static void judge_out_of_tree(struct check_context *context)
{
	const struct facts_link *link = context->link;
	const char *kernel = context->facts->kernel + strcspn(context->facts->kernel, "0123456789");
	size_t width = strcspn(link->driver_version, "-+ ");

	if (!lookup_is_one_of(link, MODULES_OF_VENDORS) || !width || !*kernel ||
	    !strncmp(kernel, link->driver_version, width))
		return;
	check_report(
		context, FINDING_INFO,
		check_text("ethtool -i %s: version %s; kernel %s", link->name, link->driver_version,
			   context->facts->kernel),
		check_text(
			"this %s does not come with the kernel: what its XDP can do is the vendor's choice, and tables "
			"do not hold",
			link->driver),
		check_text("modinfo %s", link->driver));
}

static const struct check rows[] = {
	{ .id = "xdp-native",
	  .subject = CHECK_LINK,
	  .judge = judge_native,
	  .title = "No native XDP",
	  .why = "A native program runs in the driver before a socket buffer is made: a core drops 24 Mpps that "
		 "way and about 5 Mpps in the stack's raw table. Stacked devices (vlan, macvlan, bridge) and "
		 "many virtual adapters and VFs have no native mode; there a program runs in generic mode, after "
		 "the buffer was made.",
	  .remedy = "Attach to the device below, which sees the same frames, or watch by tc, which costs less than "
		    "generic XDP.",
	  .effect = "probes and fast paths run in the driver",
	  .reference = "xdp",
	  .weight = 0.2 },
	{ .id = "xdp-no-redirect",
	  .subject = CHECK_LINK,
	  .applies = has_native,
	  .judge = judge_no_redirect,
	  .title = "XDP programs here cannot redirect",
	  .why = "Some drivers run programs but know only drop, pass and transmit. AF_XDP receives by a "
		 "redirect, so it has no native mode there either; ixgbevf is the usual surprise.",
	  .remedy = "Bind AF_XDP in generic mode here, or put the fast path on the host's port.",
	  .effect = "frames reach AF_XDP sockets",
	  .reference = "xdp",
	  .weight = 0.2 },
	{ .id = "xdp-target",
	  .subject = CHECK_LINK,
	  .applies = has_native,
	  .judge = judge_target,
	  .title = "Frames redirected to this interface are dropped",
	  .why = "XDP_REDIRECT says yes as soon as a frame is queued; whether the target takes it shows only in "
		 "a tracepoint. Intel's and virtio's drivers set up the rings for it when a program is attached "
		 "to the target itself; a veth end needs GRO or a program at its peer. Two million frames a test "
		 "were lost that way without any counter.",
	  .remedy = "Turn GRO on at a veth's peer, or attach a program that passes everything to the target.",
	  .effect = "redirected frames arrive; xdp:xdp_redirect_err stays silent",
	  .reference = "xdp",
	  .weight = 0.3 },
	{ .id = "xdp-zero-copy",
	  .subject = CHECK_LINK,
	  .applies = has_native,
	  .judge = judge_zero_copy,
	  .title = "AF_XDP without zero-copy",
	  .why = "Without zero-copy each frame is copied between a socket buffer and the UMEM, and transmits go "
		 "out 32 at a time through the stack: in one report 1.7 against 16.5 Mpps a core. A default bind "
		 "succeeds all the same; only the socket's options tell.",
	  .remedy = "Use an adapter and kernel with zero-copy where the rate matters; never call a socket zero-copy "
		    "before XDP_OPTIONS says so.",
	  .effect = "two to ten times the frames per CPU",
	  .reference = "xdp",
	  .weight = 0.2 },
	{ .id = "xdp-multi-buffer",
	  .subject = CHECK_LINK,
	  .applies = has_native,
	  .judge = judge_multi_buffer,
	  .title = "No multi-buffer XDP",
	  .why = "A driver without frags gives a program one buffer of a page at most, so jumbo frames and "
		 "merged units are not to be had with XDP.",
	  .remedy = "Keep the MTU below the driver's limit while programs are attached.",
	  .effect = "programs see frames of all sizes",
	  .reference = "xdp",
	  .weight = 0.1 },
	{ .id = "xdp-rx-timestamps",
	  .subject = CHECK_LINK,
	  .applies = has_native,
	  .judge = judge_rx_timestamps,
	  .title = "No receive times of the adapter",
	  .why = "A few drivers (veth, mlx5, ice, igc, stmmac and others) hand a program the time at which the "
		 "adapter saw the frame. Elsewhere the clock is read when the program runs, after interrupt "
		 "moderation and queueing.",
	  .remedy = "Read one-way times at this point as \"from the driver on\".",
	  .effect = "wire-to-driver delay could be told apart",
	  .reference = "clocks",
	  .weight = 0.05 },
	{ .id = "xdp-tx-metadata",
	  .subject = CHECK_LINK,
	  .applies = has_native,
	  .judge = judge_tx_metadata,
	  .title = "No transmit times for AF_XDP",
	  .why = "Transmit metadata of AF_XDP (from 6.8) lets an adapter report when a frame left, and fill in "
		 "its checksum. Where it is missing a source knows only when it queued the frame.",
	  .remedy = "Take departure times at the next point of the path instead.",
	  .effect = "departure could be told from queueing",
	  .reference = "clocks",
	  .weight = 0.05 },
	{ .id = "xdp-virtio-offloads",
	  .subject = CHECK_LINK,
	  .applies = is_virtio,
	  .judge = judge_virtio_offloads,
	  .title = "The host's offloads keep native XDP away",
	  .why = "When host and guest have agreed on receive offloads (checksum, TSO, UFO), the host hands over "
		 "units larger than a frame with unfinished checksums. A native program cannot take them; the "
		 "driver would switch them off, but may only with CTRL_GUEST_OFFLOADS. Without that it refuses "
		 "(\"host is implementing GRO_HW/CSUM\"), while its feature bits still promise native XDP.",
	  .remedy = "Switch the guest offloads off in the host's command line (it costs TCP throughput), or use tc "
		    "or generic mode.",
	  .effect = "native mode instead of generic",
	  .reference = "xdp",
	  .weight = 0.5 },
	{ .id = "xdp-virtio-queues",
	  .subject = CHECK_LINK,
	  .applies = is_virtio,
	  .judge = judge_virtio_queues,
	  .title = "Too few virtio queues for lock-free XDP",
	  .why = "virtio_net gives each CPU a transmit queue of its own for XDP_TX and XDP_REDIRECT, on top of "
		 "those in use. When the device has too few, all CPUs take turns at one under a lock, and the "
		 "kernel log says \"slower locked tx mode\" once.",
	  .remedy = "Give the device twice as many queue pairs as the guest has CPUs.",
	  .effect = "redirects scale with CPUs",
	  .reference = "xdp",
	  .weight = 0.3 },
	{ .id = "xdp-virtio-layout",
	  .subject = CHECK_LINK,
	  .applies = is_virtio,
	  .judge = judge_virtio_layout,
	  .title = "A legacy virtio device keeps native XDP away",
	  .why = "An old machine type negotiates neither VERSION_1 nor ANY_LAYOUT; the header then lies in a "
		 "buffer of its own, and mergeable buffers cannot be turned into XDP frames.",
	  .remedy = "Start the guest with a current machine type.",
	  .effect = "native programs attach",
	  .reference = "xdp",
	  .weight = 0.3 },
	{ .id = "xdp-merging",
	  .subject = CHECK_LINK,
	  .judge = judge_merging,
	  .title = "LRO or hardware GRO keeps native XDP away",
	  .why = "An adapter that merges frames hands over units that do not fit a program's buffer. Several "
		 "drivers refuse the program then, ixgbe with a bare EINVAL, mlx5 with a line in the kernel log; "
		 "vmxnet3 switches merging off by itself.",
	  .remedy = "Switch merging off before attaching.",
	  .effect = "the native program attaches",
	  .reference = "xdp",
	  .weight = 0.4 },
	{ .id = "xdp-vfs",
	  .subject = CHECK_LINK,
	  .judge = judge_vfs,
	  .title = "VFs keep native XDP away from the PF",
	  .why = "ixgbe runs either virtual functions or XDP's transmit queues, as both need the same queues.",
	  .remedy = "Remove the VFs, use generic mode on the PF, or another port.",
	  .effect = "the native program attaches",
	  .reference = "xdp",
	  .weight = 0.4 },
	{ .id = "xdp-channels",
	  .subject = CHECK_LINK,
	  .judge = judge_channels,
	  .title = "Too many channels in use for native XDP",
	  .why = "ena needs a transmit queue for XDP beside that of each channel; with more than half of the "
		 "channels in use it refuses (EINVAL).",
	  .remedy = "Lower the number of channels to half of the maximum.",
	  .effect = "the native program attaches",
	  .reference = "xdp",
	  .weight = 0.4 },
	{ .id = "xdp-veth-queues",
	  .subject = CHECK_LINK,
	  .applies = is_veth,
	  .judge = judge_veth_queues,
	  .title = "A veth end has fewer receive queues than its peer sends on",
	  .why = "Each transmit queue of the peer is served by the receive queue of the same number; a native "
		 "program is refused when some would have none.",
	  .remedy = "Raise the receive queues of this end, or lower the peer's transmit queues.",
	  .effect = "the native program attaches",
	  .reference = "xdp",
	  .weight = 0.3 },
	{ .id = "xdp-bond",
	  .subject = CHECK_LINK,
	  .applies = is_bond,
	  .judge = judge_bond,
	  .title = "What keeps native XDP away from a bond",
	  .why = "A bond passes its program on to its slaves: all of them must run native XDP and take "
		 "redirects, none may have a program, and only four modes are supported. Frames for AF_XDP carry "
		 "the slave's queue, so sockets are bound to slaves.",
	  .remedy = "Attach to the slaves one by one, or change the mode.",
	  .effect = "programs run at every leg",
	  .reference = "xdp",
	  .weight = 0.2 },
	{ .id = "xdp-out-of-tree",
	  .subject = CHECK_LINK,
	  .judge = judge_out_of_tree,
	  .title = "The driver does not come with this kernel",
	  .why = "Vendors ship drivers whose XDP and AF_XDP differ from the kernel's own in both directions: an "
		 "i40e without XDP at all, an ena with zero-copy. Bugs and limits in lists do not apply either "
		 "way.",
	  .remedy = "Compare with the kernel's own driver when something is strange.",
	  .effect = "what the documentation says is what runs",
	  .reference = "xdp",
	  .weight = 0.1 },
};

CHECK_TABLE(checks_xdp, rows);
