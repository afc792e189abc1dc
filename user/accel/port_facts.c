// SPDX-License-Identifier: GPL-2.0-or-later
/* Facts of a bridge and its ports; see port_facts.h. Called by accel_ports.c. */
#include "accel/port_facts.h"

#include <errno.h>
#include <string.h>

#include <linux/if.h>
#include <linux/if_bridge.h>
#include <linux/pkt_sched.h>

#include "base/error.h"
#include "base/undo.h"
#include "sys/bpf_attach.h"
#include "sys/link_features.h"
#include "sys/link_settings.h"
#include "sys/netdev_features.h"
#include "sys/netfilter_bridge.h"
#include "sys/netns.h"

#define MAX_QDISCS 64

/* By the names of the kernel; a device has some of them. */
static const char *const checksum_features[] = { "tx-checksum-ip-generic", "tx-checksum-ipv4",	   "tx-checksum-ipv6",
						 "tx-checksum-sctp",	   "tx-checksum-fcoe-crc", NULL };
static const char *const insert_features[] = { "tx-vlan-hw-insert", "tx-vlan-stag-hw-insert", NULL };
static const char *const strip_features[] = { "rx-vlan-hw-parse", "rx-vlan-stag-hw-parse", NULL };

/* Drivers that take redirected frames, for kernels that do not say (before 6.3). */
static const char *const xmit_drivers[] = { "tun", "virtio_net", "i40e",      "ice",	 "ixgbe",
					    "igb", "igc",	 "mlx5_core", "bnxt_en", "ena",
					    "sfc", "mvneta",	 "dpaa2-eth", "stmmac",	 NULL };

void port_facts_of_bridge(const struct bridge_link *links, int count, int bridge_ifindex,
			  struct accel_bridge_facts *facts)
{
	facts->is_there = facts->has_proxy = 0;
	for (int i = 0; i < count; i++) {
		const struct bridge_link *link = &links[i];

		if (link->link.master_ifindex == bridge_ifindex && link->is_port)
			facts->has_proxy |= link->neigh_suppress || link->proxy_arp;
		if (link->link.ifindex != bridge_ifindex || !link->is_bridge)
			continue;
		facts->is_there = 1;
		facts->is_up = (link->link.flags & IFF_UP) != 0;
		facts->vlan_filtering = link->vlan_filtering;
		facts->is_promiscuous = link->promiscuity > 0;
		facts->ageing_s = link->ageing_s;
		facts->nf_call = link->nf_call;
	}
}

int port_facts_ask_bridge(struct accel_bridge_facts *facts)
{
	int rules = netfilter_bridge_rules();

	if (rules < 0)
		return rules;
	facts->nf_rules = rules;
	facts->nf_call |= netfilter_bridge_calls();
	return 0;
}

/* An interface that stands on this one; the other end of a veth names it, too, and is none. */
static int has_upper(const struct bridge_link *links, int count, const struct bridge_link *port)
{
	for (int i = 0; i < count; i++)
		if (links[i].link.peer_ifindex == port->link.ifindex && links[i].link.peer_netnsid < 0 &&
		    links[i].link.ifindex != port->link.ifindex && strcmp(links[i].link.kind, "veth"))
			return 1;
	return 0;
}

void port_facts_of_link(const struct bridge_link *links, int count, const struct bridge_link *link, int bridge_ifindex,
			int own_program, struct accel_port_facts *facts)
{
	facts->is_member = link->is_port && link->link.master_ifindex == bridge_ifindex;
	facts->is_up = (link->link.flags & IFF_UP) != 0;
	facts->has_carrier = (link->link.flags & IFF_RUNNING) != 0;
	facts->is_forwarding = link->port_state == BR_STATE_FORWARDING;
	facts->mtu_bytes = link->link.mtu_bytes;
	facts->has_switch_id = link->has_switch_id;
	facts->vlan_tunnel = link->vlan_tunnel;
	facts->has_backup = link->has_backup;
	facts->isolated = link->isolated;
	facts->learning = link->learning;
	facts->locked = link->locked;
	facts->foreign_xdp = link->link.xdp_program_id != 0 && !own_program;
	facts->other_master = link->link.master_ifindex && !link->is_port;
	facts->has_upper = has_upper(links, count, link);
	facts->is_tap = link->is_tap;
	facts->tap_vnet_header = link->tap_vnet_header;
	facts->is_veth = !strcmp(link->link.kind, "veth");
}

/* 1 when one of them is on, 0 or -errno. */
static int any_on(const char *name, const char *const *features)
{
	int on = 0;

	for (; *features && on == 0; features++)
		on = link_feature_get(name, *features);
	return on;
}

static int ask_tc(int ifindex, struct accel_port_facts *facts)
{
	struct rtnl_qdisc qdiscs[MAX_QDISCS];
	int count = rtnl_qdisc_list(ifindex, qdiscs, MAX_QDISCS);

	if (count < 0)
		return count;
	facts->ingress_tc = bpf_tcx_count(ifindex, 1) > 0;
	facts->egress_tc = bpf_tcx_count(ifindex, 0) > 0;
	facts->qdisc_is_policy = 0;
	for (int i = 0; i < count; i++) {
		int is_clsact = !strcmp(qdiscs[i].kind, "clsact");

		/* An empty one looks at nothing. One that cannot be read may hold anything. */
		facts->ingress_tc |= (is_clsact && rtnl_clsact_filters(ifindex, 1)) || !strcmp(qdiscs[i].kind, "ingress");
		facts->egress_tc |= is_clsact && rtnl_clsact_filters(ifindex, 0);
		if (qdiscs[i].parent == TC_H_ROOT)
			facts->qdisc_is_policy |= !accel_policy_qdisc_is_plain(qdiscs[i].kind);
	}
	return 0;
}

static int driver_takes_frames(const char *name)
{
	char driver[32];

	if (link_driver(name, driver, sizeof(driver)) < 0)
		return 0;
	for (const char *const *known = xmit_drivers; *known; known++)
		if (!strcmp(*known, driver))
			return 1;
	return 0;
}

static int ask_driver(const struct bridge_link *link, struct accel_port_facts *facts)
{
	struct netdev_features features;
	int code = netdev_features_get(link->link.name, link->link.ifindex, &features);

	if (code == -EOPNOTSUPP) { /* attaching will tell */
		facts->native = 1;
		facts->xmit = facts->is_veth ? facts->peer_gro > 0 : driver_takes_frames(link->link.name);
		facts->xmit_buffers = 0;
		return 0;
	}
	if (code)
		return code;
	facts->native = (features.xdp & (NETDEV_XDP_BASIC | NETDEV_XDP_REDIRECT)) ==
			(NETDEV_XDP_BASIC | NETDEV_XDP_REDIRECT);
	facts->xmit = (features.xdp & NETDEV_XDP_NDO_XMIT) != 0;
	facts->xmit_buffers = (features.xdp & NETDEV_XDP_NDO_XMIT_SG) != 0;
	return 0;
}

static int ask_peer(const struct port_place *place, const struct bridge_link *link, struct accel_port_facts *facts,
		    struct veth_peer *peer)
{
	struct netns_token token;
	int code = veth_peer_find(place->netns, place->home_fd, &link->link, peer);

	facts->peer_is_hidden = code != 0;
	facts->peer_gro = facts->peer_checksum = facts->peer_tag = -1;
	if (code || veth_peer_enter(peer, place->home_fd, &token)) {
		facts->peer_is_hidden = 1;
		peer->name[0] = '\0';
		return 0;
	}
	facts->peer_checksum = any_on(peer->name, checksum_features);
	facts->peer_tag = any_on(peer->name, insert_features);
	facts->peer_gro = link_get_gro(peer->name);
	netns_leave(&token);
	return 0;
}

int port_facts_ask(const struct port_place *place, const struct bridge_link *link, struct accel_port_facts *facts,
		   struct veth_peer *peer)
{
	int code = ask_tc(link->link.ifindex, facts);

	peer->name[0] = peer->netns[0] = '\0';
	if (!code && facts->is_veth)
		code = ask_peer(place, link, facts, peer);
	if (!code && !facts->is_veth)
		facts->strips_tags = any_on(link->link.name, strip_features) != 0;
	return code ? code : ask_driver(link, facts);
}

/* Switches off those of the features that are on. */
static int switch_off(const char *netns, const char *name, const char *const *features)
{
	int code = 0;

	for (; *features && code >= 0; features++) {
		code = link_feature_get(name, *features);
		if (code == 1)
			code = undo_push("feature", netns[0] ? netns : "-", name, *features, "1", NULL);
		else
			continue;
		if (!code)
			code = link_feature_set(name, *features, 0);
	}
	return code < 0 ? code : 0;
}

static int set_peer(const struct veth_peer *peer, const struct accel_port_facts *facts)
{
	int code = 0;

	if (facts->peer_checksum)
		code = switch_off(peer->netns, peer->name, checksum_features);
	if (!code && facts->peer_tag)
		code = switch_off(peer->netns, peer->name, insert_features);
	if (code || facts->peer_gro)
		return code;
	code = undo_push("gro", peer->netns[0] ? peer->netns : "-", peer->name, "0", NULL);
	return code ? code : link_set_gro(peer->name, 1);
}

int port_facts_set_offloads(const struct port_place *place, const struct bridge_link *link,
			    const struct veth_peer *peer, const struct accel_port_facts *facts)
{
	struct netns_token token;
	int code;

	if (!facts->is_veth)
		return facts->strips_tags && !facts->is_tap ? switch_off(place->netns, link->link.name, strip_features)
							    : 0;
	if (!peer->name[0])
		return 0;
	code = veth_peer_enter(peer, place->home_fd, &token);
	if (code)
		return code;
	code = set_peer(peer, facts);
	netns_leave(&token);
	return code;
}
