/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Scenarios as data. Adding one: a row in scenario.c and its line in SCENARIO_HELP. Used by lab/ and, for the help,
 * by cmd/lab.c.
 */
#ifndef LAB_SCENARIO_H
#define LAB_SCENARIO_H

#include "model/run.h"

#define SCENARIO_SEA_SUMMARY \
	"partition, hypervisor switch, VIOS with a Shared Ethernet Adapter, outside world (PowerVM)"

#define SCENARIO_VIRTIO_SUMMARY "guest with virtio-net, tap, bridge, veth, outside world; `kvm` is the same"
#define SCENARIO_VIRTIO_POOR_SUMMARY "the same on QEMU's legacy hub, without offloads: what to avoid"
#define SCENARIO_IGB_SUMMARY "guest with an igb NIC: native XDP and zero-copy of a physical NIC's driver"
#define SCENARIO_VF_SUMMARY "guest on a virtual function (igbvf): generic XDP only"
#define SCENARIO_TWO_GUESTS_SUMMARY "guest, tap, bridge, tap, guest"

#define SCENARIO_HELP                                                                                                       \
	"Scenarios:\n"                                                                                                      \
	"  sea          " SCENARIO_SEA_SUMMARY "\n"                                                                         \
	"  virtio       " SCENARIO_VIRTIO_SUMMARY "\n"                                                                      \
	"  virtio-poor  " SCENARIO_VIRTIO_POOR_SUMMARY "\n"                                                                 \
	"  igb          " SCENARIO_IGB_SUMMARY "\n"                                                                         \
	"  vf           " SCENARIO_VF_SUMMARY "\n"                                                                          \
	"  two-guests   " SCENARIO_TWO_GUESTS_SUMMARY "\n"                                                                  \
	"Those with guests need QEMU and a kernel, which tools/guest-packages fetches (nothing is installed); a guest is\n" \
	"emulated where KVM does not run it."

/* Arrays end at the first entry without a name. */
#define SCENARIO_MAX_NETNS 5
#define SCENARIO_MAX_WIRES 5
#define SCENARIO_MAX_BRIDGES 4
#define SCENARIO_MAX_PORTS 4
#define SCENARIO_MAX_POINTS 8
#define SCENARIO_MAX_TAPS 2
#define SCENARIO_MAX_GUESTS 2
#define SCENARIO_MAX_DEVICE_WORDS 12

struct scenario_place {
	const char *interface;
	const char *role; /* which namespace: "lpar"; of points also a guest's name */
};

struct scenario_wire { /* a veth pair */
	struct scenario_place ends[2];
};

struct scenario_tap { /* its other end is a guest's NIC */
	struct scenario_place place;
	int several_queues;
};

struct scenario_guest {
	const char *name;
	const char *role;				    /* namespace that QEMU runs in */
	const char *start;				    /* command in the guest before it is ready; NULL none */
	const char *devices[SCENARIO_MAX_DEVICE_WORDS + 1]; /* QEMU's arguments for NIC and back end */
};

struct scenario_bridge {
	struct scenario_place place;
	const char *ports[SCENARIO_MAX_PORTS + 1];
};

struct scenario_point {
	struct scenario_place place;
	enum run_direction direction;
};

struct scenario_layout {
	const char *roles[SCENARIO_MAX_NETNS + 1];
	struct scenario_wire wires[SCENARIO_MAX_WIRES + 1];
	struct scenario_tap taps[SCENARIO_MAX_TAPS + 1];
	struct scenario_guest guests[SCENARIO_MAX_GUESTS + 1];
	struct scenario_bridge bridges[SCENARIO_MAX_BRIDGES + 1];
	struct scenario_point points[SCENARIO_MAX_POINTS + 1]; /* source first */
	/* Ends that receive frames on the way to the sink: GRO on. */
	struct scenario_place receivers[SCENARIO_MAX_WIRES + 1];
	struct scenario_place threaded; /* where the path begins to run on its own CPU; none in labs of guests */
};

struct scenario {
	const char *name, *summary;
	const struct scenario_layout *layout;
	const struct scenario_layout
		*dedicated; /* the same without what is suspected; NULL when there is no such thing */
};

extern const struct scenario scenarios[]; /* ends with name NULL */

/* NULL with error text that names those that there are. */
const struct scenario *scenario_find(const char *name);

#endif
