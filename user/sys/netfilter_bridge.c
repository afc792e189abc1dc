// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Packet filters on bridged frames; see netfilter_bridge.h. Called by accel/.
 *
 * Two lists are asked. nfnetlink_hook knows every function at a hook, ebtables' too, but is a module of its own that need not be
 * there. nf_tables knows its base chains; ebtables of today is made of them. What neither can be asked for counts as not there.
 */
#include "sys/netfilter_bridge.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <netinet/in.h> /* before the kernel's, which then leaves out what both define */
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>

#include "base/error.h"

#define SUBSYSTEM_HOOK 12 /* NFNL_SUBSYS_HOOK, Linux 5.14 */
#define HOOK_GET 0
enum { HOOK_NUMBER = 1, HOOK_FUNCTION = 4, HOOK_ATTRIBUTES = 6 };
#define BRIDGE_HOOKS 6 /* prerouting … brouting */
#define ANSWER_BYTES 32768

/* Sends a dump and reads its answers; found is set by visit. 0, or -errno without error text. */
static int dump(int fd, int type, int hook, int (*visit)(struct nlmsghdr *message))
{
	struct {
		struct nlmsghdr header;
		struct nfgenmsg family;
		struct nlattr attribute;
		uint32_t hook;
	} request = { .header = { .nlmsg_len = sizeof(request),
				  .nlmsg_type = (uint16_t)type,
				  .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
		      .family = { .nfgen_family = NFPROTO_BRIDGE, .version = NFNETLINK_V0 },
		      .attribute = { .nla_len = NLA_HDRLEN + 4, .nla_type = HOOK_NUMBER },
		      .hook = __builtin_bswap32((uint32_t)hook) };
	static __thread char answer[ANSWER_BYTES] __attribute__((aligned(NLMSG_ALIGNTO)));
	int found = 0;

	if (hook < 0)
		request.header.nlmsg_len = NLMSG_LENGTH(sizeof(struct nfgenmsg));
	if (send(fd, &request, request.header.nlmsg_len, 0) < 0)
		return -errno;
	for (;;) {
		struct nlmsghdr *message = (struct nlmsghdr *)answer;
		int left = (int)recv(fd, answer, sizeof(answer), 0);

		if (left < 0 && errno == EINTR)
			continue;
		if (left < 0)
			return -errno;
		for (; NLMSG_OK(message, left); message = NLMSG_NEXT(message, left)) {
			if (message->nlmsg_type == NLMSG_DONE)
				return found;
			if (message->nlmsg_type == NLMSG_ERROR)
				return message->nlmsg_len < NLMSG_LENGTH(sizeof(int)) ? -EBADMSG
										      : *(int *)NLMSG_DATA(message);
			found |= visit(message);
		}
	}
}

/* A hook that is not one of br_netfilter's: it has them in each namespace with a bridge, whatever its settings. */
static int visit_hook(struct nlmsghdr *message)
{
	struct nlattr *function = nlmsg_find_attr(message, sizeof(struct nfgenmsg), HOOK_FUNCTION);

	return !function || nla_len(function) < 6 || strncmp(nla_data(function), "br_nf_", 6) != 0;
}

static int visit_chain(struct nlmsghdr *message)
{
	return nlmsg_find_attr(message, sizeof(struct nfgenmsg), NFTA_CHAIN_HOOK) != NULL;
}

int netfilter_bridge_rules(void)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER), found = 0, code = 0;
	const struct timeval limit = { .tv_sec = 2 };

	if (fd < 0 && (errno == EPROTONOSUPPORT || errno == EAFNOSUPPORT))
		return 0; /* a kernel without netfilter */
	if (fd < 0)
		return error_set(errno, "cannot ask for packet filters: %s", strerror(errno));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	for (int hook = 0; hook < BRIDGE_HOOKS && !found && code >= 0; hook++) {
		code = dump(fd, SUBSYSTEM_HOOK << 8 | HOOK_GET, hook, visit_hook);
		found |= code > 0;
	}
	if (!found) {
		code = dump(fd, NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETCHAIN, -1, visit_chain);
		found |= code > 0;
	}
	close(fd);
	/* EINVAL, EOPNOTSUPP: this kernel has no such list. */
	if (code < 0 && code != -EINVAL && code != -EOPNOTSUPP && code != -ENOENT)
		return error_set(-code, "cannot ask for packet filters: %s", strerror(-code));
	return found;
}

int netfilter_bridge_calls(void)
{
	static const char *const settings[] = { "/proc/sys/net/bridge/bridge-nf-call-iptables",
						"/proc/sys/net/bridge/bridge-nf-call-ip6tables",
						"/proc/sys/net/bridge/bridge-nf-call-arptables" };
	int calls = 0;

	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		int fd = open(settings[i], O_RDONLY | O_CLOEXEC);
		char digit = '0';

		if (fd < 0)
			continue;
		calls |= read(fd, &digit, 1) == 1 && digit != '0';
		close(fd);
	}
	return calls;
}
