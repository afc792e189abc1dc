// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The other end of a veth; see veth_peer.h. Called by accel/.
 *
 * The kernel names the peer's namespace by a number of ours for it (IFLA_LINK_NETNSID). RTM_GETNSID turns a descriptor into that
 * number, so the namespaces that have names are tried one after the other.
 */
#include "sys/veth_peer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>


#include "base/error.h"
#include "sys/netns.h"
#include "sys/rtnl_message.h"

static int is_number(const char *path, int number)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), is_it;

	if (fd < 0)
		return 0;
	is_it = rtnl_netns_number(fd) == number;
	close(fd);
	return is_it;
}

/* The name of the namespace that has this number here: 0 or -ENOENT. */
static int find_name(int number, int home_fd, char *name, size_t size)
{
	char **names, path[PATH_MAX];
	int count = netns_list("", &names), result = -ENOENT;

	for (int i = 0; i < count && result; i++) {
		snprintf(path, sizeof(path), "/run/netns/%s", names[i]);
		if (!is_number(path, number))
			continue;
		snprintf(name, size, "%s", names[i]);
		result = 0;
	}
	if (count > 0)
		netns_list_free(names, count);
	if (result && home_fd >= 0 && rtnl_netns_number(home_fd) == number) { /* it need not have a name */
		name[0] = '\0';
		result = 0;
	}
	return result;
}

int veth_peer_enter(const struct veth_peer *peer, int home_fd, struct netns_token *token)
{
	token->home_fd = -1;
	if (peer->netns[0] || home_fd < 0)
		return netns_enter(peer->netns, token);
	token->home_fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	if (token->home_fd >= 0 && !setns(home_fd, CLONE_NEWNET))
		return 0;
	if (token->home_fd >= 0)
		close(token->home_fd);
	token->home_fd = -1;
	return error_set(errno, "cannot enter the network namespace of %s: %s", peer->name, strerror(errno));
}

int veth_peer_find(const char *netns, int home_fd, const struct rtnl_link *link, struct veth_peer *peer)
{
	struct netns_token token;
	struct rtnl_link other;
	int result = 0;

	memset(peer, 0, sizeof(*peer));
	if (link->peer_ifindex <= 0)
		return -ENOENT;
	if (link->peer_netnsid < 0)
		snprintf(peer->netns, sizeof(peer->netns), "%s", netns);
	else
		result = find_name(link->peer_netnsid, home_fd, peer->netns, sizeof(peer->netns));
	if (!result)
		result = veth_peer_enter(peer, home_fd, &token);
	if (result)
		return result;
	result = rtnl_link_get_index(link->peer_ifindex, &other);
	netns_leave(&token);
	if (!result)
		memcpy(peer->name, other.name, sizeof(peer->name));
	return result;
}
