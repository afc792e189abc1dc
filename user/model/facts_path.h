/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A path as discovery found it: ordered points and the hops between them, in facts' terms. Filled by discover/, read by
 * doctor/, cmd/ and report/. Pure data.
 */
#ifndef MODEL_FACTS_PATH_H
#define MODEL_FACTS_PATH_H

#include "model/facts.h"

#define FACTS_PATH_MAX_POINTS 64

enum facts_hop_kind {
	FACTS_HOP_WIRE,	  /* veth pair, patch */
	FACTS_HOP_BRIDGE, /* one bridge, its FDB decided (or a flood, then `note` says so) */
	FACTS_HOP_STACK,  /* upper to lower device of one stack: vlan, macvlan, bond, vxlan and its underlay */
	FACTS_HOP_GUEST,  /* tap to the guest's device: vhost or QEMU between */
	FACTS_HOP_OPAQUE, /* something we can't look into: a NIC's wire, OVS, a VIOS; `note` says what is missing */
	FACTS_HOP_CUT,	  /* cannot go on from here: `note` says why (port not forwarding, link down, loop, no route) */
};

struct facts_path_point {
	int netns, ifindex; /* 0: not in these facts (the far end of an opaque hop) */
	int is_out;	    /* 1 frames leave here towards the sink, 0 they come in */
	int is_inside_tunnel; /* 1: frames pass here wrapped by a tunnel: run, trace and load cannot tell them, leave it out */
	char text
		[96]; /* in the syntax of run, trace and load: "trunk0@ns:vios", ":in"/":out" only where it can't be derived */
};

struct facts_path_hop { /* hop i lies between points[i] and points[i + 1] */
	enum facts_hop_kind kind;
	char name[64]; /* "bridge sea0", "wire ent0-lpar0", "vhost of qemu 4711" */
	char note[240];
	int netns, ifindex; /* of the bridge or stack device; 0 none */
};

struct facts_path {
	int point_count;
	struct facts_path_point points[FACTS_PATH_MAX_POINTS];
	struct facts_path_hop hops[FACTS_PATH_MAX_POINTS];
	int is_complete; /* every hop known: fit for `run` */
	char why_incomplete[320];
	int way_count; /* as good ways as this one, itself included: 1 the only one, 0 none; more than 32 into one bridge are not counted */
};

/* "wire", "bridge", "stack", "guest", "opaque", "cut"; "unknown" past the end. */
const char *facts_hop_kind_name(enum facts_hop_kind kind);
/* 1: a point that run, trace and load can be given: an interface of these facts where frames pass bare. */
int facts_path_is_usable(const struct facts_path_point *point);
/* Adds ":in" or ":out" to the points' texts (names only until now) where `run`, given the usable points alone, would derive
 * another direction. */
void facts_path_add_directions(struct facts_path *path);
/* All of it as JSON: a new reference or NULL. */
struct json_t *facts_path_to_json(const struct facts_path *path);

#endif
