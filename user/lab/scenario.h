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

#define SCENARIO_HELP \
	"Scenarios:\n" \
	"  sea  " SCENARIO_SEA_SUMMARY

/* Arrays end at the first entry without a name. */
#define SCENARIO_MAX_NETNS 5
#define SCENARIO_MAX_WIRES 5
#define SCENARIO_MAX_BRIDGES 4
#define SCENARIO_MAX_PORTS 4
#define SCENARIO_MAX_POINTS 8

struct scenario_place {
	const char *interface;
	const char *role; /* which namespace: "lpar" */
};

struct scenario_wire { /* a veth pair */
	struct scenario_place ends[2];
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
	struct scenario_bridge bridges[SCENARIO_MAX_BRIDGES + 1];
	struct scenario_point points[SCENARIO_MAX_POINTS + 1]; /* source first */
	/* Ends that receive frames on the way to the sink: GRO on. */
	struct scenario_place receivers[SCENARIO_MAX_WIRES + 1];
	struct scenario_place threaded; /* where the path begins to run on its own CPU */
};

struct scenario {
	const char *name, *summary;
	const struct scenario_layout *layout;
	const struct scenario_layout *dedicated; /* the same without what is suspected */
};

extern const struct scenario scenarios[]; /* ends with name NULL */

/* NULL with error text that names those that there are. */
const struct scenario *scenario_find(const char *name);

#endif
