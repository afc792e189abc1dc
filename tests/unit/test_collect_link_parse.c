// SPDX-License-Identifier: GPL-2.0-or-later
/* RTM_NEWLINK to facts: what stands where for each kind of link, what a sparse message leaves unknown, and that no cut or damaged
 * message is read past its end. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <linux/if.h>
#include <linux/if_bonding.h>
#include <linux/if_bridge.h>
#include <linux/if_link.h>
#include <linux/if_tun.h>
#include <linux/rtnetlink.h>

#include "netlink_message.h"
#include "sys/collect_link_parse.h"

#define NETNS 3

/* A message with a name, of a kind whose data the caller adds: open nests in `data` and `info`. */
struct building {
	struct nl_msg *message;
	struct nlattr *info, *data;
};

static struct building begin(const char *kind)
{
	const struct ifinfomsg header = { .ifi_index = 7, .ifi_flags = IFF_UP | IFF_LOWER_UP };
	struct building building = { .message = message_start(RTM_NEWLINK, &header, sizeof(header)) };

	nla_put_string(building.message, IFLA_IFNAME, "link0");
	nla_put_u32(building.message, IFLA_LINK, 2);
	building.info = message_nest(building.message, IFLA_LINKINFO);
	nla_put_string(building.message, IFLA_INFO_KIND, kind);
	building.data = message_nest(building.message, IFLA_INFO_DATA);
	return building;
}

static struct nlmsghdr *end(struct building *building)
{
	nla_nest_end(building->message, building->data);
	nla_nest_end(building->message, building->info);
	return message_finish(building->message);
}

/* Facts that hold the one link of a message, which is freed. */
static struct facts *parse(struct nlmsghdr *message, int *netnsid)
{
	struct facts *facts = facts_new();

	assert_non_null(facts);
	assert_int_equal(collect_parse_link(message, facts, NETNS, netnsid), 1);
	assert_int_equal(facts->link_count, 1);
	free(message);
	return facts;
}

static struct nlmsghdr *device(void)
{
	const struct ifinfomsg header = { .ifi_index = 7, .ifi_flags = IFF_UP | IFF_LOWER_UP };
	const struct rtnl_link_stats64 stats = { .rx_packets = 11, .tx_packets = 1ULL << 40, .rx_nohandler = 9 };
	const unsigned char address[6] = { 2, 0, 0, 0, 0, 9 }, switch_id[4] = { 0xde, 0xad, 0, 1 };
	struct nl_msg *building = message_start(RTM_NEWLINK, &header, sizeof(header));
	struct nlattr *nest;

	nla_put_string(building, IFLA_IFNAME, "nic0");
	nla_put(building, IFLA_ADDRESS, sizeof(address), address);
	nla_put(building, IFLA_PERM_ADDRESS, sizeof(address), address);
	nla_put_u32(building, IFLA_MTU, 1500);
	nla_put_u32(building, IFLA_MIN_MTU, 68);
	nla_put_u32(building, IFLA_MAX_MTU, 9702);
	nla_put_u8(building, IFLA_OPERSTATE, 6);
	nla_put_u8(building, IFLA_CARRIER, 1);
	nla_put_u32(building, IFLA_CARRIER_CHANGES, 4);
	nla_put_u32(building, IFLA_TXQLEN, 1000);
	nla_put_u32(building, IFLA_NUM_RX_QUEUES, 1);
	nla_put_u32(building, IFLA_NUM_TX_QUEUES, 8);
	nla_put_u32(building, IFLA_GROUP, 5);
	nla_put_u32(building, IFLA_MASTER, 3);
	nla_put(building, IFLA_PHYS_SWITCH_ID, sizeof(switch_id), switch_id);
	nla_put_string(building, IFLA_PHYS_PORT_NAME, "p0");
	nla_put(building, IFLA_STATS64, sizeof(stats), &stats);
	nest = message_nest(building, IFLA_XDP);
	nla_put_u8(building, IFLA_XDP_ATTACHED, XDP_ATTACHED_MULTI);
	nla_put_u32(building, IFLA_XDP_HW_PROG_ID, 9);
	nla_put_u32(building, IFLA_XDP_DRV_PROG_ID, 8);
	nla_nest_end(building, nest);
	return message_finish(building);
}

static void test_device(void **state)
{
	const struct facts_link *link;
	struct facts *facts;
	int netnsid;

	(void)state;
	facts = parse(device(), &netnsid);
	link = &facts->links[0];
	assert_int_equal(netnsid, COLLECT_NETNSID_NONE);
	assert_int_equal(link->netns, NETNS);
	assert_int_equal(link->ifindex, 7);
	assert_string_equal(link->name, "nic0");
	assert_string_equal(link->kind, "");
	assert_int_equal(link->address[5], 9);
	assert_int_equal(link->permanent_address[5], 9);
	assert_int_equal(link->flags, IFF_UP | IFF_LOWER_UP);
	assert_int_equal(link->mtu_bytes, 1500);
	assert_int_equal(link->min_mtu_bytes, 68);
	assert_int_equal(link->max_mtu_bytes, 9702);
	assert_int_equal(link->operstate, 6);
	assert_int_equal(link->carrier, 1);
	assert_int_equal(link->carrier_changes, 4);
	assert_int_equal(link->tx_queue_len, 1000);
	assert_int_equal(link->rx_queues, 1);
	assert_int_equal(link->tx_queues, FACTS_UNKNOWN); /* room for eight, who knows how many are used */
	assert_int_equal(link->group, 5);
	assert_int_equal(link->master_ifindex, 3);
	assert_int_equal(link->lower_ifindex, 0);
	assert_int_equal(link->lower_netns, -1);
	assert_string_equal(link->phys_switch_id, "dead0001");
	assert_string_equal(link->phys_port_name, "p0");
	assert_int_equal(link->xdp_mode, XDP_ATTACHED_MULTI);
	assert_int_equal(link->xdp_program_id, 8); /* the driver's counts most */
	assert_int_equal(facts_counter_of(link, "rx_packets"), 11);
	assert_true(facts_counter_of(link, "tx_packets") == 1LL << 40);
	assert_int_equal(facts_counter_of(link, "rx_nohandler"), 9);
	assert_int_equal(link->port.state, FACTS_UNKNOWN);
	facts_free(facts);
}

static void test_few_words(void **state)
{
	const struct ifinfomsg header = { .ifi_index = 1 }, no_number = { .ifi_index = 0 };
	struct nl_msg *building = message_start(RTM_NEWLINK, &header, sizeof(header));
	const struct facts_link *link;
	struct nlmsghdr *message;
	struct facts *facts;
	int netnsid;

	(void)state;
	nla_put(building, IFLA_IFNAME, 20, "abcdefghijklmnopqrstuvwxyz"); /* too long, and no zero at its end */
	nla_put_u32(building, IFLA_MAX_MTU, 0);
	nla_put(building, IFLA_ADDRESS, 4, "abcd"); /* of a tunnel */
	nla_put_u16(building, IFLA_OPERSTATE, 6);   /* a width that is not ours to judge */
	nla_put(building, IFLA_MTU, 3, "abc");
	facts = parse(message_finish(building), &netnsid);
	link = &facts->links[0];
	assert_string_equal(link->name, "abcdefghijklmno");
	assert_int_equal(link->max_mtu_bytes, FACTS_UNKNOWN);
	assert_int_equal(link->mtu_bytes, FACTS_UNKNOWN);
	assert_int_equal(link->operstate, 6);
	assert_int_equal(link->carrier, FACTS_UNKNOWN);
	assert_int_equal(link->counter_count, 0);
	message = message_finish(message_start(RTM_NEWLINK, &header, sizeof(header)));
	assert_int_equal(collect_parse_link(message, facts, NETNS, &netnsid), -EBADMSG); /* no name */
	message->nlmsg_type = RTM_DELLINK;
	assert_int_equal(collect_parse_link(message, facts, NETNS, &netnsid), 0);
	free(message);
	building = message_start(RTM_NEWLINK, &no_number, sizeof(no_number));
	nla_put_string(building, IFLA_IFNAME, "nic0");
	message = message_finish(building);
	assert_int_equal(collect_parse_link(message, facts, NETNS, &netnsid), -EBADMSG);
	assert_int_equal(facts->link_count, 1);
	free(message);
	facts_free(facts);
}

static void test_peer_elsewhere(void **state)
{
	const int32_t numbers[] = { 4, -1, -7 };
	const int expected[] = { 4, -1, -1 };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct building building = begin("veth");
		struct facts *facts;
		int netnsid;

		nla_nest_end(building.message, building.data);
		nla_nest_end(building.message, building.info);
		nla_put_s32(building.message, IFLA_LINK_NETNSID, numbers[i]);
		facts = parse(message_finish(building.message), &netnsid);
		assert_int_equal(netnsid, expected[i]);
		assert_string_equal(facts->links[0].kind, "veth");
		assert_int_equal(facts->links[0].lower_ifindex, 2);
		assert_int_equal(facts->links[0].lower_netns, -1); /* until somebody knows which one is meant */
		facts_free(facts);
	}
}

static struct nlmsghdr *bridge(void)
{
	struct building building = begin("bridge");

	nla_put_u32(building.message, IFLA_BR_STP_STATE, 1);
	nla_put_u32(building.message, IFLA_BR_AGEING_TIME, 30000);
	nla_put_u32(building.message, IFLA_BR_FORWARD_DELAY, 1500);
	nla_put_u8(building.message, IFLA_BR_VLAN_FILTERING, 1);
	nla_put_u16(building.message, IFLA_BR_VLAN_DEFAULT_PVID, 12);
	nla_put_u8(building.message, IFLA_BR_MCAST_SNOOPING, 0);
	nla_put_u8(building.message, IFLA_BR_NF_CALL_IPTABLES, 1);
	return end(&building);
}

static void test_bridge(void **state)
{
	struct facts *facts;
	int netnsid;

	(void)state;
	facts = parse(bridge(), &netnsid);
	assert_int_equal(facts->links[0].bridge.stp, 1);
	assert_int_equal(facts->links[0].bridge.ageing_ms, 300000);
	assert_int_equal(facts->links[0].bridge.forward_delay_ms, 15000);
	assert_int_equal(facts->links[0].bridge.vlan_filtering, 1);
	assert_int_equal(facts->links[0].bridge.vlan_default_pvid, 12);
	assert_int_equal(facts->links[0].bridge.multicast_snooping, 0);
	assert_int_equal(facts->links[0].bridge.multicast_querier, FACTS_UNKNOWN);
	assert_int_equal(facts->links[0].bridge.nf_call_iptables, 1);
	assert_int_equal(facts->links[0].bridge.nf_call_ip6tables, FACTS_UNKNOWN);
	facts_free(facts);
}

static struct nlmsghdr *slave(const char *kind)
{
	const struct ifinfomsg header = { .ifi_index = 7 };
	struct nl_msg *building = message_start(RTM_NEWLINK, &header, sizeof(header));
	struct nlattr *info, *data;

	nla_put_string(building, IFLA_IFNAME, "port0");
	info = message_nest(building, IFLA_LINKINFO);
	nla_put_string(building, IFLA_INFO_SLAVE_KIND, kind);
	data = message_nest(building, IFLA_INFO_SLAVE_DATA);
	if (!strcmp(kind, "bridge")) {
		nla_put_u8(building, IFLA_BRPORT_STATE, BR_STATE_FORWARDING);
		nla_put_u8(building, IFLA_BRPORT_LEARNING, 0);
		nla_put_u8(building, IFLA_BRPORT_UNICAST_FLOOD, 1);
		nla_put_u8(building, IFLA_BRPORT_MODE, 1);
		nla_put_u8(building, IFLA_BRPORT_ISOLATED, 0);
	} else {
		nla_put_u8(building, IFLA_BOND_SLAVE_STATE, BOND_STATE_BACKUP);
	}
	nla_nest_end(building, data);
	nla_nest_end(building, info);
	return message_finish(building);
}

static void test_slaves(void **state)
{
	struct facts *facts;
	int netnsid;

	(void)state;
	facts = parse(slave("bridge"), &netnsid);
	assert_int_equal(facts->links[0].port.state, BR_STATE_FORWARDING);
	assert_int_equal(facts->links[0].port.learning, 0);
	assert_int_equal(facts->links[0].port.unicast_flood, 1);
	assert_int_equal(facts->links[0].port.hairpin, 1);
	assert_int_equal(facts->links[0].port.isolated, 0);
	assert_int_equal(facts->links[0].port.vlan_tunnel, FACTS_UNKNOWN);
	assert_int_equal(facts->links[0].bond_is_active, FACTS_UNKNOWN);
	facts_free(facts);
	facts = parse(slave("bond"), &netnsid);
	assert_int_equal(facts->links[0].bond_is_active, 0);
	assert_int_equal(facts->links[0].port.state, FACTS_UNKNOWN);
	facts_free(facts);
}

static struct nlmsghdr *vxlan(void)
{
	const unsigned char local6[16] = { 0xfd, [15] = 1 };
	struct building building = begin("vxlan");

	nla_put_u32(building.message, IFLA_VXLAN_ID, 77);
	nla_put_u32(building.message, IFLA_VXLAN_LINK, 5);
	nla_put_u32(building.message, IFLA_VXLAN_GROUP, htonl(0x0a000002));
	nla_put(building.message, IFLA_VXLAN_LOCAL6, sizeof(local6), local6);
	nla_put_u16(building.message, IFLA_VXLAN_PORT, htons(4789));
	return end(&building);
}

static void test_kinds_with_a_lower_device(void **state)
{
	struct building building = begin("vlan");
	struct facts *facts;
	int netnsid;

	(void)state;
	nla_put_u16(building.message, IFLA_VLAN_ID, 100);
	nla_put_u16(building.message, IFLA_VLAN_PROTOCOL, htons(0x88a8));
	facts = parse(end(&building), &netnsid);
	assert_int_equal(facts->links[0].vlan_id, 100);
	assert_int_equal(facts->links[0].vlan_protocol, 0x88a8);
	assert_int_equal(facts->links[0].lower_ifindex, 2);
	assert_int_equal(facts->links[0].lower_netns, NETNS);
	facts_free(facts);
	building = begin("macvtap");
	nla_put_u32(building.message, IFLA_MACVLAN_MODE, MACVLAN_MODE_PASSTHRU);
	facts = parse(end(&building), &netnsid);
	assert_string_equal(facts->links[0].macvlan_mode, "passthru");
	facts_free(facts);
	facts = parse(vxlan(), &netnsid);
	assert_int_equal(facts->links[0].vxlan_id, 77);
	assert_int_equal(facts->links[0].lower_ifindex, 5);
	assert_string_equal(facts->links[0].vxlan_remote, "10.0.0.2");
	assert_string_equal(facts->links[0].vxlan_local, "fd00::1");
	assert_int_equal(facts->links[0].vxlan_port, 4789);
	facts_free(facts);
}

static void test_bond_and_tun(void **state)
{
	struct building building = begin("bond");
	struct facts *facts;
	int netnsid;

	(void)state;
	nla_put_u8(building.message, IFLA_BOND_MODE, BOND_MODE_8023AD);
	nla_put_u8(building.message, IFLA_BOND_XMIT_HASH_POLICY, BOND_XMIT_POLICY_LAYER34);
	facts = parse(end(&building), &netnsid);
	assert_string_equal(facts->links[0].bond_mode, "802.3ad");
	assert_string_equal(facts->links[0].bond_hash, "layer3+4");
	assert_int_equal(facts->links[0].tun_flags, FACTS_UNKNOWN);
	facts_free(facts);
	building = begin("bond");
	nla_put_u8(building.message, IFLA_BOND_MODE, 200);
	facts = parse(end(&building), &netnsid);
	assert_string_equal(facts->links[0].bond_mode, "");
	facts_free(facts);
	building = begin("tun");
	nla_put_u8(building.message, IFLA_TUN_TYPE, IFF_TAP);
	nla_put_u8(building.message, IFLA_TUN_PI, 0);
	nla_put_u8(building.message, IFLA_TUN_VNET_HDR, 1);
	nla_put_u8(building.message, IFLA_TUN_MULTI_QUEUE, 1);
	facts = parse(end(&building), &netnsid);
	assert_int_equal(facts->links[0].tun_flags, IFF_TAP | IFF_NO_PI | IFF_VNET_HDR | IFF_MULTI_QUEUE);
	facts_free(facts);
}

static void add_vf(struct nl_msg *building, uint32_t number, int knows_switches)
{
	struct ifla_vf_mac address = { .vf = number, .mac = { 2, 2, 2, 2, 2, (unsigned char)number } };
	struct ifla_vf_vlan vlan = { .vf = number, .vlan = 10, .qos = 3 };
	struct ifla_vf_rate rate = { .vf = number, .min_tx_rate = 0, .max_tx_rate = 2500 };
	struct ifla_vf_spoofchk spoof = { .vf = number, .setting = knows_switches ? 1 : UINT32_MAX };
	struct ifla_vf_link_state link_state = { .vf = number, .link_state = IFLA_VF_LINK_STATE_DISABLE };
	struct ifla_vf_trust trust = { .vf = number, .setting = 0 };
	struct nlattr *nest = message_nest(building, IFLA_VF_INFO);

	nla_put(building, IFLA_VF_MAC, sizeof(address), &address);
	nla_put(building, IFLA_VF_VLAN, sizeof(vlan), &vlan);
	nla_put(building, IFLA_VF_RATE, sizeof(rate), &rate);
	nla_put(building, IFLA_VF_SPOOFCHK, sizeof(spoof), &spoof);
	nla_put(building, IFLA_VF_LINK_STATE, sizeof(link_state), &link_state);
	if (knows_switches)
		nla_put(building, IFLA_VF_TRUST, sizeof(trust), &trust);
	nla_nest_end(building, nest);
}

static struct nlmsghdr *physical_function(void)
{
	const struct ifinfomsg header = { .ifi_index = 7 };
	struct nl_msg *building = message_start(RTM_NEWLINK, &header, sizeof(header));
	struct nlattr *list;

	nla_put_string(building, IFLA_IFNAME, "pf0");
	list = message_nest(building, IFLA_VFINFO_LIST);
	add_vf(building, 0, 1);
	add_vf(building, 1, 0);
	nla_nest_end(building, list);
	return message_finish(building);
}

static void test_virtual_functions(void **state)
{
	const struct facts_vf *vfs;
	struct facts *facts;
	int netnsid;

	(void)state;
	facts = parse(physical_function(), &netnsid);
	assert_int_equal(facts->links[0].vf_info_count, 2);
	vfs = facts->links[0].vfs;
	assert_int_equal(vfs[1].index, 1);
	assert_int_equal(vfs[1].address[5], 1);
	assert_int_equal(vfs[0].max_tx_mbit_per_s, 2500);
	assert_int_equal(vfs[0].min_tx_mbit_per_s, 0);
	assert_int_equal(vfs[0].vlan, 10);
	assert_int_equal(vfs[0].qos, 3);
	assert_int_equal(vfs[0].spoof_check, 1);
	assert_int_equal(vfs[0].trust, 0);
	assert_int_equal(vfs[0].link_state, IFLA_VF_LINK_STATE_DISABLE);
	assert_int_equal(vfs[0].rss_query, FACTS_UNKNOWN);
	assert_int_equal(vfs[1].spoof_check, FACTS_UNKNOWN); /* the driver does not say */
	assert_int_equal(vfs[1].trust, FACTS_UNKNOWN);
	facts_free(facts);
}

/* VLANs 5, 7 to 9 untagged, and a PVID (0: none); count 0: a port in no VLAN at all. */
static struct nlmsghdr *port_vlans(int family, uint16_t pvid, size_t count)
{
	const struct ifinfomsg header = { .ifi_family = (unsigned char)family, .ifi_index = 7 };
	const struct bridge_vlan_info vlans[] = {
		{ .vid = 5 },
		{ .vid = 7, .flags = BRIDGE_VLAN_INFO_RANGE_BEGIN | BRIDGE_VLAN_INFO_UNTAGGED },
		{ .vid = 9, .flags = BRIDGE_VLAN_INFO_RANGE_END | BRIDGE_VLAN_INFO_UNTAGGED },
		{ .vid = pvid, .flags = pvid ? BRIDGE_VLAN_INFO_PVID | BRIDGE_VLAN_INFO_UNTAGGED : 0 },
	};
	struct nl_msg *building = message_start(RTM_NEWLINK, &header, sizeof(header));
	struct nlattr *nest;

	nla_put_u32(building, IFLA_MASTER, 3);
	if (count) {
		nest = message_nest(building, IFLA_AF_SPEC);
		for (size_t i = 0; i < count; i++)
			nla_put(building, IFLA_BRIDGE_VLAN_INFO, sizeof(vlans[i]), &vlans[i]);
		nla_nest_end(building, nest);
	}
	return message_finish(building);
}

static void expect_port_vlans(struct nlmsghdr *message, int pvid, const char *vlans, const char *untagged)
{
	struct facts_bridge_port found;
	int port, master;

	assert_int_equal(collect_parse_port_vlan(message, &port, &master, &found), 1);
	assert_int_equal(port, 7);
	assert_int_equal(master, 3);
	assert_int_equal(found.pvid, pvid);
	assert_string_equal(found.vlans, vlans);
	assert_string_equal(found.untagged, untagged);
	free(message);
}

static void test_port_vlan(void **state)
{
	const struct ifinfomsg header = { .ifi_family = AF_BRIDGE, .ifi_index = 7 };
	struct nl_msg *building = message_start(RTM_NEWLINK, &header, sizeof(header));
	struct facts_bridge_port found;
	struct nlmsghdr *message;
	struct nlattr *nest;
	int port, master;

	(void)state;
	expect_port_vlans(port_vlans(AF_BRIDGE, 42, 4), 42, "5,7-9,42", "7-9,42");
	expect_port_vlans(port_vlans(AF_BRIDGE, 0, 4), 0, "5,7-9", "7-9");
	expect_port_vlans(port_vlans(AF_BRIDGE, 0, 1), 0, "5", "none");
	expect_port_vlans(port_vlans(AF_BRIDGE, 0, 0), 0, "none", "");
	message = port_vlans(AF_UNSPEC, 42, 4);
	assert_int_equal(collect_parse_port_vlan(message, &port, &master, &found), 0);
	free(message);

	/* More ranges than there is room for: not known, rather than a part. */
	nla_put_u32(building, IFLA_MASTER, 3);
	nest = message_nest(building, IFLA_AF_SPEC);
	for (uint16_t vid = 1000; vid < 1100; vid += 2)
		nla_put(building, IFLA_BRIDGE_VLAN_INFO, sizeof(struct bridge_vlan_info),
			&(struct bridge_vlan_info){ .vid = vid });
	nla_nest_end(building, nest);
	expect_port_vlans(message_finish(building), 0, "", "none");
}

/* Whatever the bytes, texts end and the link can be used. */
static void parse_hostile(struct nlmsghdr *message, void *context)
{
	struct facts *facts = facts_new();
	struct facts_bridge_port found;
	int netnsid, port, master, code;

	(void)context;
	assert_non_null(facts);
	code = collect_parse_link(message, facts, NETNS, &netnsid);
	assert_true(code == 1 || code == 0 || code == -EBADMSG);
	assert_int_equal(facts->link_count, code == 1);
	if (code == 1) {
		assert_true(facts->links[0].ifindex > 0);
		assert_true(facts->links[0].lower_ifindex >= 0 && facts->links[0].master_ifindex >= 0);
		assert_non_null(memchr(facts->links[0].name, 0, sizeof(facts->links[0].name)));
		assert_non_null(memchr(facts->links[0].kind, 0, sizeof(facts->links[0].kind)));
	}
	if (collect_parse_port_vlan(message, &port, &master, &found) == 1) {
		assert_true(found.pvid >= 0 && found.pvid < 4095);
		assert_non_null(memchr(found.vlans, 0, sizeof(found.vlans)));
		assert_non_null(memchr(found.untagged, 0, sizeof(found.untagged)));
	}
	facts_free(facts);
}

static void test_cut_and_damaged_messages(void **state)
{
	struct nlmsghdr *messages[] = {
		device(), bridge(), vxlan(), slave("bridge"), physical_function(), port_vlans(AF_BRIDGE, 42, 4)
	};

	(void)state;
	for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); i++) {
		message_cut(messages[i], parse_hostile, NULL);
		message_damage(messages[i], 5000, parse_hostile, NULL);
		free(messages[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_device),	       cmocka_unit_test(test_few_words),
		cmocka_unit_test(test_peer_elsewhere), cmocka_unit_test(test_bridge),
		cmocka_unit_test(test_slaves),	       cmocka_unit_test(test_kinds_with_a_lower_device),
		cmocka_unit_test(test_bond_and_tun),   cmocka_unit_test(test_virtual_functions),
		cmocka_unit_test(test_port_vlan),      cmocka_unit_test(test_cut_and_damaged_messages),
	};

	return cmocka_run_group_tests_name("collect_link_parse", tests, NULL, NULL);
}
