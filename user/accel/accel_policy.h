/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the bridge fast path may take: which bridges, which ports in which role, which entries of the forwarding table. Pure.
 *
 * Owns: the reasons against, as a table with what to do about each. Leaves to others: gathering the facts (port_facts.c), doing
 * (fast_path.c). A fact that is not known speaks against.
 */
#ifndef ACCEL_POLICY_H
#define ACCEL_POLICY_H

#include <stddef.h>

#include "sys/bridge_fdb.h"

/* Why something stays with the bridge; ACCEL_FINE: nothing speaks against. Texts: accel_policy_text(). */
enum accel_refusal {
	ACCEL_FINE,
	/* of the bridge: everything stays with it */
	ACCEL_BRIDGE_GONE,
	ACCEL_BRIDGE_DOWN,
	ACCEL_BRIDGE_VLAN_FILTERING,
	ACCEL_BRIDGE_PROMISCUOUS,
	ACCEL_BRIDGE_NF_CALL,
	ACCEL_BRIDGE_NF_RULES,
	ACCEL_BRIDGE_PROXY,
	ACCEL_BRIDGE_AGEING,
	/* of a port, in both roles */
	ACCEL_NOT_ASKED,
	ACCEL_NO_PORT,
	ACCEL_PORT_DOWN,
	ACCEL_PORT_STATE,
	ACCEL_PORT_SWITCH,
	ACCEL_PORT_VLAN_TUNNEL,
	ACCEL_PORT_BACKUP,
	ACCEL_PORT_SLOTS,
	ACCEL_PORT_FAILED,
	/* as a source: frames that come in here */
	ACCEL_PORT_XDP,
	ACCEL_PORT_LEARNING,
	ACCEL_PORT_LOCKED,
	ACCEL_PORT_INGRESS_TC,
	ACCEL_PORT_UPPER,
	ACCEL_PORT_TAP_HEADER,
	ACCEL_PORT_PEER_HIDDEN,
	ACCEL_PORT_PEER_CHECKSUM,
	ACCEL_PORT_PEER_TAG,
	ACCEL_PORT_TAG_STRIPPED,
	ACCEL_PORT_NO_NATIVE,
	/* as a target: frames that leave here */
	ACCEL_PORT_EGRESS_TC,
	ACCEL_PORT_QDISC,
	ACCEL_PORT_NO_XMIT,
	ACCEL_PORT_PEER_NO_GRO,
	/* of an interface of the user-space forwarder */
	ACCEL_PORT_SLAVE,
	ACCEL_PORT_MTU,
	ACCEL_REFUSALS
};

/* Facts of a bridge. */
struct accel_bridge_facts {
	int is_there, is_up, vlan_filtering;
	int is_promiscuous; /* somebody wants to see all frames: macvlan on it, tcpdump */
	int nf_call;	    /* br_netfilter hands its frames to iptables & Co., by a setting of namespace or bridge */
	int nf_rules;	    /* 1 hooks of the bridge family, 0 none, -1 cannot be told (counts as none: old kernels) */
	int has_proxy;	    /* a port answers or suppresses neighbour discovery for others */
	double ageing_s;
};

/* Facts of a port. Flags: 1 yes, 0 no, -1 unknown. */
struct accel_port_facts {
	int is_asked;  /* the user wants it to be used */
	int is_member; /* of the bridge */
	int is_up, has_carrier, is_forwarding;
	unsigned int mtu_bytes;
	int has_switch_id, vlan_tunnel, has_backup, isolated;
	int has_slot;	 /* 0: more ports than slots */
	int has_failed;	 /* the program could not be attached or the device not be entered */
	int foreign_xdp; /* somebody else's program */
	int learning, locked;
	int ingress_tc, egress_tc; /* filters or tcx programs */
	int qdisc_is_policy;	   /* its queueing discipline shapes or sorts */
	int other_master;	   /* it belongs to something else than a bridge: bond, team, VRF */
	int has_upper;		   /* an interface on top of it takes some of its frames before the bridge does */
	int is_tap, tap_vnet_header;
	int is_veth, peer_is_hidden; /* hidden: its other end is in a namespace that we cannot enter */
	int peer_checksum, peer_tag; /* the other end leaves checksums, VLAN tags to the device */
	int peer_gro;
	int strips_tags; /* a NIC that takes tags off incoming frames */
	int native, xmit,
		xmit_buffers; /* what the driver declares: XDP programs, being a redirect's target, with several buffers */
};

struct accel_port_verdict {
	enum accel_refusal source, target; /* ACCEL_FINE: it may have this role */
};

enum accel_refusal accel_policy_bridge(const struct accel_bridge_facts *facts);
struct accel_port_verdict accel_policy_port(const struct accel_port_facts *facts, enum accel_refusal bridge);
/* Whether the user-space forwarder may take all frames of an interface, and send there. most_mtu: what it can carry. */
enum accel_refusal accel_policy_forward(const struct accel_port_facts *facts, unsigned int most_mtu);
/* Whether a look-up of the bridge would find this entry and send the frame out of a port, for as long as the entry stands. */
int accel_policy_entry(const struct bridge_fdb_entry *entry, int bridge_ifindex);
/* Whether the entry ages: then it must be refreshed. */
int accel_policy_ages(const struct bridge_fdb_entry *entry);
/* How often an ageing entry in use is refreshed, seconds. */
double accel_policy_refresh_s(double ageing_s, int stp, double forward_delay_s);
/* Whether a queueing discipline of this kind is one that nobody would miss. */
int accel_policy_qdisc_is_plain(const char *kind);
/* Longest frame that a bridge lets out of a port of this MTU, with Ethernet header and a tag. */
unsigned int accel_policy_max_bytes(unsigned int mtu_bytes);

/* One line: what speaks against it and what to do. `name`: short, for JSON ("peer_checksum"). */
const char *accel_policy_text(enum accel_refusal refusal);
const char *accel_policy_name(enum accel_refusal refusal);
/* Whether --set-offloads does away with it. */
int accel_policy_can_be_set(enum accel_refusal refusal);

#endif
