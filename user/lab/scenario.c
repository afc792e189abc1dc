// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Scenarios as data; scenario.h says what a row means. No system calls.
 */
#include "lab/scenario.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/nearest.h"
#include "lab/lab.h"

/*
 *   lpar          phyp                     vios                     ext
 *   ent0 ------ lpar0 [vswitch] vios0 ---- trunk0 [sea0] phys0 ---- nic0
 *
 * GRO at the receiving ends, since a veth without it (and without an XDP program) accepts redirected XDP frames and
 * delivers none, silently. NAPI is threaded at the first of them only: what it forwards is received further down in
 * softirq on the same CPU, whereas several threads on one CPU starve each other.
 */
static const struct scenario_layout sea_layout = {
	.roles = { "lpar", "phyp", "vios", "ext" },
	.wires = {
		{ { { "ent0", "lpar" }, { "lpar0", "phyp" } } },
		{ { { "vios0", "phyp" }, { "trunk0", "vios" } } },
		{ { { "phys0", "vios" }, { "nic0", "ext" } } },
	},
	.bridges = {
		{ { "vswitch", "phyp" }, { "lpar0", "vios0" } },
		{ { "sea0", "vios" }, { "trunk0", "phys0" } },
	},
	.points = {
		{ { "ent0", "lpar" }, RUN_DIRECTION_OUT }, { { "lpar0", "phyp" }, RUN_DIRECTION_IN },
		{ { "vios0", "phyp" }, RUN_DIRECTION_OUT }, { { "trunk0", "vios" }, RUN_DIRECTION_IN },
		{ { "phys0", "vios" }, RUN_DIRECTION_OUT }, { { "nic0", "ext" }, RUN_DIRECTION_IN },
	},
	.receivers = { { "lpar0", "phyp" }, { "trunk0", "vios" }, { "nic0", "ext" } },
	.threaded = { "lpar0", "phyp" },
};

static const struct scenario_layout sea_dedicated_layout = {
	.roles = { "lpar", "ext" },
	.wires = { { { { "ent0", "lpar" }, { "nic0", "ext" } } } },
	.points = { { { "ent0", "lpar" }, RUN_DIRECTION_OUT }, { { "nic0", "ext" }, RUN_DIRECTION_IN } },
	.receivers = { { "nic0", "ext" } },
	.threaded = { "nic0", "ext" },
};

/*
 *   guest                host                          far
 *   eth0 ~~ QEMU ~~ tap0 [br0] vh -------------------- vp
 *
 * The good one has what native XDP and zero-copy need: two queue pairs a CPU, offloads that the guest may switch off, an IOMMU's addresses
 * (iommu_platform), and rings that can be reset one by one (the default from QEMU 7.2 on).
 */
#define BEHIND_TAP(...)                                                                           \
	.roles = { "host", "far" }, .wires = { { { { "vh", "host" }, { "vp", "far" } } } },       \
	.bridges = { { { "br0", "host" }, { "tap0", "vh" } } }, .receivers = { { "vp", "far" } }, \
	.points = { { { __VA_ARGS__, "guest" }, RUN_DIRECTION_OUT },                              \
		    { { "tap0", "host" }, RUN_DIRECTION_IN },                                     \
		    { { "vh", "host" }, RUN_DIRECTION_OUT },                                      \
		    { { "vp", "far" }, RUN_DIRECTION_IN } }

#define TAP(ID, NAME, REST) "-netdev", "tap,id=" ID ",ifname=" NAME ",script=no,downscript=no" REST

static const struct scenario_layout virtio_layout = {
	BEHIND_TAP("eth0"),
	.taps = { { { "tap0", "host" }, 1 } },
	.guests = { { "guest",
		      "host",
		      NULL,
		      { TAP("n0", "tap0", ",queues=4"), "-device",
			"virtio-net-pci,netdev=n0,mq=on,vectors=10,iommu_platform=on,disable-legacy=on" } } },
};

static const struct scenario_layout virtio_poor_layout = {
	BEHIND_TAP("eth0"),
	.taps = { { { "tap0", "host" }, 0 } },
	.guests = { { "guest",
		      "host",
		      NULL,
		      { TAP("n0", "tap0", ",vnet_hdr=off"), "-netdev", "hubport,id=h0,hubid=0,netdev=n0", "-netdev",
			"hubport,id=h1,hubid=0", "-device", "virtio-net-pci,netdev=h1" } } },
};

static const struct scenario_layout igb_layout = {
	BEHIND_TAP("eth0"),
	.taps = { { { "tap0", "host" }, 0 } },
	.guests = { { "guest",
		      "host",
		      NULL,
		      { "-device", "pcie-root-port,id=rp0,bus=pcie.0", TAP("n0", "tap0", ""), "-device",
			"igb,netdev=n0,bus=rp0" } } },
};

/* The function stays with the guest that makes it: one kernel has both, as a host does before it passes one through. */
static const struct scenario_layout vf_layout = {
	BEHIND_TAP("vf0"),
	.taps = { { { "tap0", "host" }, 0 } },
	.guests = { { "guest",
		      "host",
		      "echo 1 >/sys/class/net/eth0/device/sriov_numvfs; ip link set eth0 vf 0 trust on spoofchk off; "
		      "v=$(ls /sys/class/net/eth0/device/virtfn0/net); ip link set $v down; ip link set $v name vf0; ip link set vf0 up",
		      { "-device", "pcie-root-port,id=rp0,bus=pcie.0", TAP("n0", "tap0", ""), "-device",
			"igb,netdev=n0,bus=rp0" } } },
};

static const struct scenario_layout two_guests_layout = {
	.roles = { "host" },
	.taps = { { { "tap0", "host" }, 0 }, { { "tap1", "host" }, 0 } },
	.bridges = { { { "br0", "host" }, { "tap0", "tap1" } } },
	.points = { { { "eth0", "left" }, RUN_DIRECTION_OUT },
		    { { "tap0", "host" }, RUN_DIRECTION_IN },
		    { { "tap1", "host" }, RUN_DIRECTION_OUT },
		    { { "eth0", "right" }, RUN_DIRECTION_IN } },
	.guests = { { "left",
		      "host",
		      NULL,
		      { TAP("n0", "tap0", ""), "-device",
			"virtio-net-pci,netdev=n0,mac=52:54:00:00:00:01,iommu_platform=on,disable-legacy=on" } },
		    { "right",
		      "host",
		      NULL,
		      { TAP("n0", "tap1", ""), "-device",
			"virtio-net-pci,netdev=n0,mac=52:54:00:00:00:02,iommu_platform=on,disable-legacy=on" } } },
};

const struct scenario scenarios[] = {
	{ "sea", SCENARIO_SEA_SUMMARY, &sea_layout, &sea_dedicated_layout },
	{ "virtio", SCENARIO_VIRTIO_SUMMARY, &virtio_layout, NULL },
	{ "virtio-poor", SCENARIO_VIRTIO_POOR_SUMMARY, &virtio_poor_layout, NULL },
	{ "igb", SCENARIO_IGB_SUMMARY, &igb_layout, NULL },
	{ "vf", SCENARIO_VF_SUMMARY, &vf_layout, NULL },
	{ "two-guests", SCENARIO_TWO_GUESTS_SUMMARY, &two_guests_layout, NULL },
	{ NULL, NULL, NULL, NULL },
};

#define SCENARIO_COUNT ((int)(sizeof(scenarios) / sizeof(scenarios[0])) - 1)

_Static_assert(SCENARIO_MAX_POINTS <= LAB_MAX_POINTS, "a lab holds the points of any scenario");

const char *lab_scenario_name(int index)
{
	return index >= 0 && index < SCENARIO_COUNT ? scenarios[index].name : NULL;
}

const char *lab_scenario_summary(int index)
{
	return index >= 0 && index < SCENARIO_COUNT ? scenarios[index].summary : NULL;
}

const struct scenario *scenario_find(const char *name)
{
	const char *names[SCENARIO_COUNT], *near;

	if (!strcmp(name, "kvm")) /* what one says who wants a guest, whichever */
		name = "virtio";
	for (int i = 0; i < SCENARIO_COUNT; i++) {
		if (!strcmp(scenarios[i].name, name))
			return &scenarios[i];
		names[i] = scenarios[i].name;
	}
	near = nearest_name(name, names, SCENARIO_COUNT);
	if (near)
		error_set(EINVAL, "there is no lab scenario '%s'; did you mean '%s'?", name, near);
	else
		error_set(EINVAL, "there is no lab scenario '%s'; 'hopcap lab --help' lists those that are", name);
	return NULL;
}
