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

const struct scenario scenarios[] = {
	{ "sea", SCENARIO_SEA_SUMMARY, &sea_layout, &sea_dedicated_layout },
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
