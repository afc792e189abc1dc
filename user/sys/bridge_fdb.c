// SPDX-License-Identifier: GPL-2.0-or-later
/* Forwarding tables of bridges; see bridge_fdb.h. Called by accel/. */
#include "sys/bridge_fdb.h"

#include <errno.h>
#include <string.h>

#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>

#include "base/error.h"
#include "sys/nl_attribute.h"
#include "sys/rtnl_message.h"

#define ATTRIBUTE_FLAGS_EXT 15 /* NDA_FLAGS_EXT, Linux 5.16 */
#define ATTRIBUTES 16
#define TICKS_PER_SECOND 100 /* of the kernel's clock_t */

int bridge_fdb_parse(struct nlmsghdr *message, struct bridge_fdb_entry *entry)
{
	struct nlattr *table[ATTRIBUTES + 1];
	struct nda_cacheinfo cache = { 0 };
	struct ndmsg *header;

	memset(entry, 0, sizeof(*entry));
	if (message->nlmsg_type != RTM_NEWNEIGH && message->nlmsg_type != RTM_DELNEIGH)
		return 0;
	if (nlmsg_parse(message, sizeof(*header), table, ATTRIBUTES, NULL) < 0)
		return -EBADMSG;
	header = nlmsg_data(message);
	/* A device's own table (NTF_SELF) has no NDA_MASTER, or is told by the device itself. */
	if (header->ndm_family != AF_BRIDGE || !table[NDA_MASTER] || !table[NDA_LLADDR] ||
	    nla_len(table[NDA_LLADDR]) != (int)sizeof(entry->address) || header->ndm_flags & NTF_SELF)
		return 0;
	entry->is_gone = message->nlmsg_type == RTM_DELNEIGH;
	entry->bridge_ifindex = (int)nl_u32(table[NDA_MASTER]);
	entry->port_ifindex = header->ndm_ifindex;
	memcpy(entry->address, nla_data(table[NDA_LLADDR]), sizeof(entry->address));
	entry->vlan = nl_u16(table[NDA_VLAN]);
	entry->state = header->ndm_state;
	entry->flags = header->ndm_flags;
	entry->more_flags = nl_u32(table[ATTRIBUTE_FLAGS_EXT]);
	if (table[NDA_CACHEINFO])
		nla_memcpy(&cache, table[NDA_CACHEINFO], sizeof(cache));
	entry->idle_s = cache.ndm_updated / TICKS_PER_SECOND;
	return 1;
}

struct dump {
	int bridge_ifindex;
	int (*visit)(const struct bridge_fdb_entry *entry, void *context);
	void (*restart)(void *context);
	void *context;
};

static int visit_entry(struct nlmsghdr *message, void *context)
{
	struct bridge_fdb_entry entry;
	struct dump *dump = context;
	int result;

	if (!message) {
		dump->restart(dump->context);
		return 0;
	}
	result = bridge_fdb_parse(message, &entry);
	if (result != 1 || entry.bridge_ifindex != dump->bridge_ifindex)
		return result < 0 ? result : 0;
	return dump->visit(&entry, dump->context);
}

int bridge_fdb_dump(int bridge_ifindex, int (*visit)(const struct bridge_fdb_entry *entry, void *context),
		    void (*restart)(void *context), void *context)
{
	struct dump dump = { bridge_ifindex, visit, restart, context };
	struct ndmsg header = { .ndm_family = AF_BRIDGE };
	char reason[RTNL_REASON_BYTES];
	struct nl_msg *request;
	int result;

	request = rtnl_message_new(RTM_GETNEIGH, NLM_F_REQUEST | NLM_F_DUMP, &header, sizeof(header));
	if (!request)
		return -ENOMEM;
	if (nla_put_u32(request, NDA_MASTER, (uint32_t)bridge_ifindex) < 0) {
		nlmsg_free(request);
		return error_set(ENOMEM, "out of memory for a netlink message");
	}
	result = rtnl_message_exchange(request, visit_entry, &dump, reason);
	if (result < 0)
		return error_set(-result, "bridge number %d: cannot read its forwarding table: %s", bridge_ifindex,
				 reason);
	return 0;
}

/* -errno without error text. */
static int change(int type, int flags, const struct bridge_fdb_entry *entry, char reason[RTNL_REASON_BYTES])
{
	struct ndmsg header = { .ndm_family = AF_BRIDGE,
				.ndm_ifindex = entry->port_ifindex,
				.ndm_state = NUD_REACHABLE,
				.ndm_flags = (unsigned char)(NTF_MASTER | entry->flags) };
	struct nl_msg *request = rtnl_message_new(type, NLM_F_REQUEST | NLM_F_ACK | flags, &header, sizeof(header));

	reason[0] = '\0';
	if (!request || nla_put(request, NDA_LLADDR, 6, entry->address) < 0 ||
	    (entry->vlan && nla_put_u16(request, NDA_VLAN, (uint16_t)entry->vlan) < 0)) {
		nlmsg_free(request);
		return -ENOMEM;
	}
	return rtnl_message_exchange(request, NULL, NULL, reason);
}

int bridge_fdb_use(int port_ifindex, const unsigned char address[6])
{
	struct bridge_fdb_entry entry = { .port_ifindex = port_ifindex, .flags = NTF_USE };
	char reason[RTNL_REASON_BYTES];
	int result;

	memcpy(entry.address, address, sizeof(entry.address));
	result = change(RTM_NEWNEIGH, NLM_F_CREATE, &entry, reason);
	if (result < 0)
		return error_set(-result, "port number %d: cannot refresh a station: %s", port_ifindex, reason);
	return 0;
}

int bridge_fdb_delete(int port_ifindex, const unsigned char address[6], unsigned int vlan)
{
	struct bridge_fdb_entry entry = { .port_ifindex = port_ifindex, .vlan = vlan };
	char reason[RTNL_REASON_BYTES];
	int result;

	memcpy(entry.address, address, sizeof(entry.address));
	result = change(RTM_DELNEIGH, 0, &entry, reason);
	if (result < 0 && result != -ENOENT && result != -ENODEV)
		return error_set(-result, "port number %d: cannot remove a station: %s", port_ifindex, reason);
	return 0;
}
