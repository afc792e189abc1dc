// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Making, changing and removing links over rtnetlink. See rtnl.h.
 *
 * Owns: the requests. Leaves to others: registering them on the undo stack before they are made (the caller does).
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <linux/if.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>

#include "base/error.h"
#include "sys/rtnl.h"
#include "sys/rtnl_message.h"

static int out_of_memory(struct nl_msg *request, const char *name)
{
	nlmsg_free(request);
	return error_set(ENOMEM, "%s: out of memory for a netlink message", name);
}

/* Sends a request about the interface `name`; `what` completes "cannot …". */
static int change(struct nl_msg *request, const char *name, const char *what)
{
	char reason[RTNL_REASON_BYTES];
	int result = rtnl_message_exchange(request, NULL, NULL, reason);

	if (result == -ENODEV)
		return error_set(ENODEV, "%s: cannot %s: there is no such interface here", name, what);
	if (result == -EPERM)
		return error_set(EPERM, "%s: cannot %s: call hopcap as root (CAP_NET_ADMIN)", name, what);
	if (result < 0)
		return error_set(-result, "%s: cannot %s: %s", name, what, reason);
	return 0;
}

/* Request about an existing interface, known by name. NULL with error text when out of memory. */
static struct nl_msg *message_for(int type, const char *name, unsigned int flags, unsigned int changed)
{
	struct ifinfomsg header = { .ifi_family = AF_UNSPEC, .ifi_flags = flags, .ifi_change = changed };
	struct nl_msg *request = rtnl_message_new(type, NLM_F_REQUEST, &header, sizeof(header));

	if (request && nla_put_string(request, IFLA_IFNAME, name) < 0) {
		out_of_memory(request, name);
		return NULL;
	}
	return request;
}

static int check_name(const char *name)
{
	if (!*name || strlen(name) >= IFNAMSIZ || strpbrk(name, "/ :\t\n") || !strcmp(name, ".") || !strcmp(name, ".."))
		return error_set(EINVAL, "'%s' cannot name an interface: 1 to %d characters, no space, colon or slash",
				 name, IFNAMSIZ - 1);
	return 0;
}

static struct nl_msg *message_to_create(const char *name)
{
	struct ifinfomsg header = { .ifi_family = AF_UNSPEC };
	int flags = NLM_F_REQUEST | NLM_F_CREATE | NLM_F_EXCL;
	struct nl_msg *request = rtnl_message_new(RTM_NEWLINK, flags, &header, sizeof(header));

	if (request && nla_put_string(request, IFLA_IFNAME, name) < 0) {
		out_of_memory(request, name);
		return NULL;
	}
	return request;
}

static int put_one_queue(struct nl_msg *request, unsigned int mtu_bytes)
{
	return nla_put_u32(request, IFLA_MTU, mtu_bytes) || nla_put_u32(request, IFLA_NUM_TX_QUEUES, 1) ||
	       nla_put_u32(request, IFLA_NUM_RX_QUEUES, 1);
}

/* IFLA_INFO_DATA of a veth: one attribute that holds a whole link message, the peer's. */
static int put_veth_peer(struct nl_msg *request, const char *peer, int peer_netns_fd, unsigned int mtu_bytes)
{
	struct ifinfomsg header = { .ifi_family = AF_UNSPEC };
	struct nlattr *data = nla_nest_start(request, IFLA_INFO_DATA), *nest;

	nest = data ? nla_nest_start(request, VETH_INFO_PEER) : NULL;
	if (!nest || nlmsg_append(request, &header, sizeof(header), NLMSG_ALIGNTO) < 0 ||
	    nla_put_string(request, IFLA_IFNAME, peer) < 0 || put_one_queue(request, mtu_bytes))
		return -ENOMEM;
	if (peer_netns_fd >= 0 && nla_put_u32(request, IFLA_NET_NS_FD, (uint32_t)peer_netns_fd) < 0)
		return -ENOMEM;
	nla_nest_end(request, nest);
	nla_nest_end(request, data);
	return 0;
}

int rtnl_veth_create(const char *name, const char *peer, const char *peer_netns, unsigned int mtu_bytes)
{
	int peer_netns_fd = -1, result = check_name(name);
	struct nl_msg *request;
	char path[PATH_MAX];
	struct nlattr *info;

	if (!result)
		result = check_name(peer);
	if (result < 0)
		return result;
	request = message_to_create(name);
	if (!request)
		return -ENOMEM;
	if (peer_netns && *peer_netns) {
		snprintf(path, sizeof(path), "/run/netns/%s", peer_netns);
		peer_netns_fd = open(path, O_RDONLY | O_CLOEXEC);
		if (peer_netns_fd < 0) {
			nlmsg_free(request);
			return error_set(errno, "%s: cannot open network namespace '%s' for its peer %s: %s", name,
					 peer_netns, peer, strerror(errno));
		}
	}
	info = put_one_queue(request, mtu_bytes) ? NULL : nla_nest_start(request, IFLA_LINKINFO);
	if (!info || nla_put_string(request, IFLA_INFO_KIND, "veth") < 0 ||
	    put_veth_peer(request, peer, peer_netns_fd, mtu_bytes) < 0) {
		result = out_of_memory(request, name);
	} else {
		nla_nest_end(request, info);
		result = change(request, name, "make the veth pair");
	}
	if (peer_netns_fd >= 0)
		close(peer_netns_fd);
	return result;
}

int rtnl_bridge_create(const char *name, unsigned int mtu_bytes)
{
	struct nlattr *info, *data = NULL;
	struct nl_msg *request;
	int result = check_name(name);

	if (result < 0)
		return result;
	request = message_to_create(name);
	if (!request)
		return -ENOMEM;
	info = nla_put_u32(request, IFLA_MTU, mtu_bytes) < 0 ? NULL : nla_nest_start(request, IFLA_LINKINFO);
	if (info && nla_put_string(request, IFLA_INFO_KIND, "bridge") == 0)
		data = nla_nest_start(request, IFLA_INFO_DATA);
	if (!data || nla_put_u32(request, IFLA_BR_STP_STATE, 0) < 0 ||
	    nla_put_u32(request, IFLA_BR_FORWARD_DELAY, 0) < 0 || nla_put_u8(request, IFLA_BR_MCAST_SNOOPING, 0) < 0)
		return out_of_memory(request, name);
	nla_nest_end(request, data);
	nla_nest_end(request, info);
	return change(request, name, "make the bridge");
}

int rtnl_link_delete(const char *name)
{
	struct nl_msg *request = message_for(RTM_DELLINK, name, 0, 0);

	return request ? change(request, name, "delete the interface") : -ENOMEM;
}

int rtnl_link_set_master(const char *name, const char *bridge)
{
	struct rtnl_link master = { 0 };
	struct nl_msg *request;
	int result = 0;

	if (bridge && *bridge)
		result = rtnl_link_get(bridge, &master);
	if (result < 0)
		return result;
	request = message_for(RTM_NEWLINK, name, 0, 0);
	if (!request)
		return -ENOMEM;
	if (nla_put_u32(request, IFLA_MASTER, (uint32_t)master.ifindex) < 0)
		return out_of_memory(request, name);
	return change(request, name, master.ifindex ? "make it a port of the bridge" : "take it out of its bridge");
}

int rtnl_link_set_up(const char *name)
{
	struct nl_msg *request = message_for(RTM_NEWLINK, name, IFF_UP, IFF_UP);

	return request ? change(request, name, "set it up") : -ENOMEM;
}

int rtnl_link_set_mtu(const char *name, unsigned int mtu_bytes)
{
	struct nl_msg *request = message_for(RTM_NEWLINK, name, 0, 0);
	char what[32];

	if (!request)
		return -ENOMEM;
	if (nla_put_u32(request, IFLA_MTU, mtu_bytes) < 0)
		return out_of_memory(request, name);
	snprintf(what, sizeof(what), "set MTU %u", mtu_bytes);
	return change(request, name, what);
}
