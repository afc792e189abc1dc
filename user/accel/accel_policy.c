// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the bridge fast path may take; see accel_policy.h. Called by accel.c, fdb_follow.c, port_facts.c; no system calls.
 *
 * Of the reasons against a port the one is told that must be done away with first; the order of the checks is that.
 */
#include "accel/accel_policy.h"

#include <string.h>

#include <linux/if_ether.h>
#include <linux/neighbour.h>

#define TAG_BYTES 4
#define SHORTEST_AGEING_S 3.0
#define LONGEST_REFRESH_S 60.0

static const struct {
	const char *name, *text;
	int can_be_set;
} refusals[] = {
	[ACCEL_FINE] = { "fine", "uses the fast path", 0 },
	[ACCEL_BRIDGE_GONE] = { "bridge_gone", "the bridge is gone", 0 },
	[ACCEL_BRIDGE_DOWN] = { "bridge_down", "the bridge is down", 0 },
	[ACCEL_BRIDGE_VLAN_FILTERING] = { "vlan_filtering",
					  "the bridge filters by VLAN, which the fast path does not judge", 0 },
	[ACCEL_BRIDGE_PROMISCUOUS] = { "promiscuous",
				       "somebody wants to see all frames of the bridge (a macvlan on it, tcpdump): they go through it",
				       0 },
	[ACCEL_BRIDGE_NF_CALL] = { "nf_call",
				   "bridged frames go through iptables here; if that is not wanted: sysctl -w "
				   "net.bridge.bridge-nf-call-iptables=0 net.bridge.bridge-nf-call-ip6tables=0 "
				   "net.bridge.bridge-nf-call-arptables=0",
				   0 },
	[ACCEL_BRIDGE_NF_RULES] = { "nf_rules",
				    "nftables or ebtables have chains for bridged frames, which the fast path would bypass",
				    0 },
	[ACCEL_BRIDGE_PROXY] = { "proxy", "a port of the bridge answers or suppresses neighbour discovery", 0 },
	[ACCEL_BRIDGE_AGEING] = { "ageing", "the bridge forgets stations in less than 3 s", 0 },
	[ACCEL_NOT_ASKED] = { "not_asked", "not among --ports, or this machine's uplink (--force-uplink)", 0 },
	[ACCEL_NO_PORT] = { "no_port", "is no port of the bridge; of a bond give the bond, not its slave", 0 },
	[ACCEL_PORT_DOWN] = { "down", "is down or has no carrier", 0 },
	[ACCEL_PORT_STATE] = { "state", "does not forward (spanning tree)", 0 },
	[ACCEL_PORT_SWITCH] = { "switch", "belongs to a switch that forwards by itself", 0 },
	[ACCEL_PORT_VLAN_TUNNEL] = { "vlan_tunnel", "maps VLANs to tunnels", 0 },
	[ACCEL_PORT_BACKUP] = { "backup_port", "has a backup port", 0 },
	[ACCEL_PORT_SLOTS] = { "slots", "is one port too many: 256 have room", 0 },
	[ACCEL_PORT_FAILED] = { "failed", "the kernel refuses the program or the device", 0 },
	[ACCEL_PORT_XDP] = { "foreign_xdp", "an XDP program of somebody else is attached and stays", 0 },
	[ACCEL_PORT_LEARNING] = { "learning_off", "does not learn", 0 },
	[ACCEL_PORT_LOCKED] = { "locked", "is locked: only authorised stations may send", 0 },
	[ACCEL_PORT_INGRESS_TC] = { "ingress_tc", "tc filters or programs look at what comes in", 0 },
	[ACCEL_PORT_UPPER] = { "upper", "an interface on top of it (VLAN, MACsec) takes some of its frames", 0 },
	[ACCEL_PORT_TAP_HEADER] = { "tap_header",
				    "its guest may leave checksums and segmentation to the host (virtio header), which XDP loses; start "
				    "the guest with a tap without virtio header (vnet_hdr=off)",
				    0 },
	[ACCEL_PORT_PEER_HIDDEN] = { "peer_hidden",
				     "its other end is in a namespace without a name, so nobody can say whether it leaves checksums to "
				     "the device, which XDP loses",
				     0 },
	[ACCEL_PORT_PEER_CHECKSUM] = { "peer_checksum",
				       "its other end leaves checksums to the device, which XDP loses: ethtool -K PEER tx off, or "
				       "--set-offloads",
				       1 },
	[ACCEL_PORT_PEER_TAG] = { "peer_tag",
				  "its other end leaves VLAN tags to the device, which XDP loses: ethtool -K PEER txvlan off "
				  "tx-vlan-stag-hw-insert off, or --set-offloads",
				  1 },
	[ACCEL_PORT_TAG_STRIPPED] = { "tag_stripped",
				      "takes VLAN tags off, which XDP loses: ethtool -K PORT rxvlan off, or --set-offloads",
				      1 },
	[ACCEL_PORT_NO_NATIVE] = { "no_native_xdp", "its driver runs no XDP programs", 0 },
	[ACCEL_PORT_EGRESS_TC] = { "egress_tc", "tc filters or programs look at what leaves", 0 },
	[ACCEL_PORT_QDISC] = { "qdisc", "its queueing discipline shapes or sorts what leaves", 0 },
	[ACCEL_PORT_NO_XMIT] = { "no_xmit", "its driver takes no redirected frames", 0 },
	[ACCEL_PORT_PEER_NO_GRO] = { "peer_no_gro",
				     "a veth takes redirected frames only when GRO is on at its other end: ethtool -K PEER gro on, or "
				     "--set-offloads",
				     1 },
	[ACCEL_PORT_SLAVE] = { "slave", "belongs to a bond, team or VRF, which would get no frame any more; give that, or take it out", 0 },
	[ACCEL_PORT_MTU] = { "mtu", "its MTU takes frames of several buffers, which the forwarder does not: lower it to 3400", 0 },
};

_Static_assert(sizeof(refusals) / sizeof(refusals[0]) == ACCEL_REFUSALS, "a line for each refusal");

const char *accel_policy_text(enum accel_refusal refusal)
{
	return refusal < ACCEL_REFUSALS ? refusals[refusal].text : "?";
}

const char *accel_policy_name(enum accel_refusal refusal)
{
	return refusal < ACCEL_REFUSALS ? refusals[refusal].name : "?";
}

int accel_policy_can_be_set(enum accel_refusal refusal)
{
	return refusal < ACCEL_REFUSALS && refusals[refusal].can_be_set;
}

enum accel_refusal accel_policy_bridge(const struct accel_bridge_facts *facts)
{
	if (!facts->is_there)
		return ACCEL_BRIDGE_GONE;
	if (facts->vlan_filtering)
		return ACCEL_BRIDGE_VLAN_FILTERING;
	if (facts->nf_call)
		return ACCEL_BRIDGE_NF_CALL;
	if (facts->nf_rules > 0)
		return ACCEL_BRIDGE_NF_RULES;
	if (facts->has_proxy)
		return ACCEL_BRIDGE_PROXY;
	if (facts->ageing_s < SHORTEST_AGEING_S)
		return ACCEL_BRIDGE_AGEING;
	if (facts->is_promiscuous)
		return ACCEL_BRIDGE_PROMISCUOUS;
	return facts->is_up ? ACCEL_FINE : ACCEL_BRIDGE_DOWN;
}

static enum accel_refusal in_both_roles(const struct accel_port_facts *facts)
{
	if (!facts->is_asked)
		return ACCEL_NOT_ASKED;
	if (!facts->is_member)
		return ACCEL_NO_PORT;
	if (facts->has_switch_id)
		return ACCEL_PORT_SWITCH;
	if (facts->vlan_tunnel)
		return ACCEL_PORT_VLAN_TUNNEL;
	if (facts->has_backup)
		return ACCEL_PORT_BACKUP;
	if (!facts->has_slot)
		return ACCEL_PORT_SLOTS;
	if (facts->has_failed)
		return ACCEL_PORT_FAILED;
	if (!facts->is_up || !facts->has_carrier)
		return ACCEL_PORT_DOWN;
	return facts->is_forwarding ? ACCEL_FINE : ACCEL_PORT_STATE;
}

/* What would be lost of a frame that comes in: what stands beside it, not in it. */
static enum accel_refusal lost_on_the_way_in(const struct accel_port_facts *facts)
{
	if (facts->is_tap && facts->tap_vnet_header)
		return ACCEL_PORT_TAP_HEADER;
	if (facts->is_veth && facts->peer_is_hidden)
		return ACCEL_PORT_PEER_HIDDEN;
	if (facts->is_veth && facts->peer_checksum)
		return ACCEL_PORT_PEER_CHECKSUM;
	if (facts->is_veth && facts->peer_tag)
		return ACCEL_PORT_PEER_TAG;
	if (!facts->is_veth && !facts->is_tap && facts->strips_tags)
		return ACCEL_PORT_TAG_STRIPPED;
	return ACCEL_FINE;
}

static enum accel_refusal as_source(const struct accel_port_facts *facts)
{
	if (facts->foreign_xdp)
		return ACCEL_PORT_XDP;
	if (!facts->learning)
		return ACCEL_PORT_LEARNING;
	if (facts->locked)
		return ACCEL_PORT_LOCKED;
	if (facts->ingress_tc)
		return ACCEL_PORT_INGRESS_TC;
	if (facts->has_upper)
		return ACCEL_PORT_UPPER;
	if (!facts->native)
		return ACCEL_PORT_NO_NATIVE;
	return lost_on_the_way_in(facts);
}

static enum accel_refusal as_target(const struct accel_port_facts *facts)
{
	if (facts->egress_tc)
		return ACCEL_PORT_EGRESS_TC;
	if (facts->qdisc_is_policy)
		return ACCEL_PORT_QDISC;
	if (facts->is_veth && facts->xmit <= 0)
		return facts->peer_gro == 0 ? ACCEL_PORT_PEER_NO_GRO : ACCEL_PORT_NO_XMIT;
	return facts->xmit > 0 ? ACCEL_FINE : ACCEL_PORT_NO_XMIT;
}

struct accel_port_verdict accel_policy_port(const struct accel_port_facts *facts, enum accel_refusal bridge)
{
	struct accel_port_verdict verdict = { bridge, bridge };

	if (bridge == ACCEL_FINE)
		verdict.source = verdict.target = in_both_roles(facts);
	if (verdict.source == ACCEL_FINE)
		verdict = (struct accel_port_verdict){ as_source(facts), as_target(facts) };
	return verdict;
}

/* Whatever looks at frames between interface and stack sees none any more, so there must be nobody. */
enum accel_refusal accel_policy_forward(const struct accel_port_facts *facts, unsigned int most_mtu)
{
	if (!facts->is_up || !facts->has_carrier)
		return ACCEL_PORT_DOWN;
	if (facts->has_switch_id)
		return ACCEL_PORT_SWITCH;
	if (facts->other_master)
		return ACCEL_PORT_SLAVE;
	if (facts->foreign_xdp)
		return ACCEL_PORT_XDP;
	if (facts->ingress_tc)
		return ACCEL_PORT_INGRESS_TC;
	if (facts->egress_tc)
		return ACCEL_PORT_EGRESS_TC;
	if (facts->qdisc_is_policy)
		return ACCEL_PORT_QDISC;
	if (facts->has_upper)
		return ACCEL_PORT_UPPER;
	if (!facts->native)
		return ACCEL_PORT_NO_NATIVE;
	if (facts->mtu_bytes > most_mtu)
		return ACCEL_PORT_MTU;
	return lost_on_the_way_in(facts);
}

int accel_policy_entry(const struct bridge_fdb_entry *entry, int bridge_ifindex)
{
	/* PERMANENT: the bridge's own. Flags that newer kernels add (locked, …) say something that we do not know. */
	return !entry->is_gone && !entry->vlan && entry->bridge_ifindex == bridge_ifindex &&
	       entry->port_ifindex != bridge_ifindex && !(entry->state & NUD_PERMANENT) &&
	       (entry->state & (NUD_NOARP | NUD_REACHABLE | NUD_STALE)) && !entry->more_flags &&
	       !(entry->address[0] & 1);
}

int accel_policy_ages(const struct bridge_fdb_entry *entry)
{
	return !(entry->state & (NUD_NOARP | NUD_PERMANENT)) && !(entry->flags & NTF_EXT_LEARNED);
}

double accel_policy_refresh_s(double ageing_s, int stp, double forward_delay_s)
{
	/* After a change of topology stations are forgotten within the forward delay. */
	double shortest = stp && forward_delay_s > 0 && forward_delay_s < ageing_s ? forward_delay_s : ageing_s;

	return shortest / 3 < LONGEST_REFRESH_S ? shortest / 3 : LONGEST_REFRESH_S;
}

int accel_policy_qdisc_is_plain(const char *kind)
{
	static const char *const plain[] = { "noqueue", "mq", "pfifo_fast", "pfifo", "bfifo", "fq_codel", "fq" };

	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		if (!strcmp(kind, plain[i]))
			return 1;
	return 0;
}

unsigned int accel_policy_max_bytes(unsigned int mtu_bytes)
{
	return mtu_bytes + ETH_HLEN + TAG_BYTES;
}
