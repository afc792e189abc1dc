// SPDX-License-Identifier: GPL-2.0-or-later
/* Bridges and their ports over rtnetlink; see bridge_links.h. Called by accel/. */
#include "sys/bridge_links.h"

#include <errno.h>
#include <string.h>

#include <linux/if_bridge.h>
#include <linux/if_link.h>
#include <linux/if_tun.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>

#include "sys/rtnl_message.h"
#include "sys/rtnl_parse.h"

#define CENTISECONDS 100.0 /* of the kernel's clock_t */
#define TUN_TYPE_TAP 2	   /* IFF_TAP, as IFLA_TUN_TYPE has it */

static uint32_t number(const struct nlattr *attribute)
{
	if (!attribute)
		return 0;
	if (nla_len(attribute) >= 4)
		return nla_get_u32(attribute);
	return nla_len(attribute) >= 1 ? nla_get_u8(attribute) : 0;
}

static void parse_bridge(struct nlattr *nest, struct bridge_link *link)
{
	struct nlattr *table[IFLA_BR_MAX + 1];

	link->is_bridge = 1;
	if (!nest || nla_parse_nested(table, IFLA_BR_MAX, nest, NULL) < 0)
		return;
	link->vlan_filtering = number(table[IFLA_BR_VLAN_FILTERING]) != 0;
	link->stp = (int)number(table[IFLA_BR_STP_STATE]);
	link->ageing_s = number(table[IFLA_BR_AGEING_TIME]) / CENTISECONDS;
	link->forward_delay_s = number(table[IFLA_BR_FORWARD_DELAY]) / CENTISECONDS;
	link->nf_call = number(table[IFLA_BR_NF_CALL_IPTABLES]) || number(table[IFLA_BR_NF_CALL_IP6TABLES]) ||
			number(table[IFLA_BR_NF_CALL_ARPTABLES]);
}

static void parse_port(struct nlattr *nest, struct bridge_link *link)
{
	struct nlattr *table[IFLA_BRPORT_MAX + 1];

	link->is_port = 1;
	link->learning = 1;
	if (!nest || nla_parse_nested(table, IFLA_BRPORT_MAX, nest, NULL) < 0)
		return;
	link->port_state = number(table[IFLA_BRPORT_STATE]);
	if (table[IFLA_BRPORT_LEARNING])
		link->learning = number(table[IFLA_BRPORT_LEARNING]) != 0;
	link->isolated = number(table[IFLA_BRPORT_ISOLATED]) != 0;
	link->locked = number(table[IFLA_BRPORT_LOCKED]) != 0;
	link->neigh_suppress = number(table[IFLA_BRPORT_NEIGH_SUPPRESS]) != 0;
	link->proxy_arp = number(table[IFLA_BRPORT_PROXYARP]) || number(table[IFLA_BRPORT_PROXYARP_WIFI]);
	link->vlan_tunnel = number(table[IFLA_BRPORT_VLAN_TUNNEL]) != 0;
	link->has_backup = number(table[IFLA_BRPORT_BACKUP_PORT]) != 0;
}

static void parse_tun(struct nlattr *nest, struct bridge_link *link)
{
	struct nlattr *table[IFLA_TUN_MAX + 1];

	if (!nest || nla_parse_nested(table, IFLA_TUN_MAX, nest, NULL) < 0)
		return;
	link->is_tap = number(table[IFLA_TUN_TYPE]) == TUN_TYPE_TAP;
	link->tap_vnet_header = number(table[IFLA_TUN_VNET_HDR]) != 0;
}

static int is_kind(const struct nlattr *attribute, const char *kind)
{
	return attribute && nla_len(attribute) > (int)strlen(kind) &&
	       !strncmp(nla_data(attribute), kind, strlen(kind) + 1);
}

int bridge_link_parse(struct nlmsghdr *message, struct bridge_link *link)
{
	struct nlattr *table[IFLA_MAX + 1], *info[IFLA_INFO_MAX + 1];
	int result;

	memset(link, 0, sizeof(*link));
	result = rtnl_parse_link(message, &link->link);
	if (result != 1)
		return result;
	if (nlmsg_parse(message, sizeof(struct ifinfomsg), table, IFLA_MAX, NULL) < 0)
		return -EBADMSG;
	link->promiscuity = number(table[IFLA_PROMISCUITY]);
	link->has_switch_id = table[IFLA_PHYS_SWITCH_ID] != NULL;
	if (!table[IFLA_LINKINFO] || nla_parse_nested(info, IFLA_INFO_MAX, table[IFLA_LINKINFO], NULL) < 0)
		return 1;
	if (is_kind(info[IFLA_INFO_KIND], "bridge"))
		parse_bridge(info[IFLA_INFO_DATA], link);
	if (is_kind(info[IFLA_INFO_KIND], "tun"))
		parse_tun(info[IFLA_INFO_DATA], link);
	if (is_kind(info[IFLA_INFO_SLAVE_KIND], "bridge"))
		parse_port(info[IFLA_INFO_SLAVE_DATA], link);
	return 1;
}

static int parse_link(struct nlmsghdr *message, void *element)
{
	return bridge_link_parse(message, element);
}

int bridge_links_list(struct bridge_link **links)
{
	void *elements;
	int count = rtnl_links_dump(sizeof(**links), parse_link, &elements);

	*links = elements;
	return count;
}
