// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Links of a captured tree, from its /sys/class/net: as much of what netlink says of living links as sysfs holds, too.
 *
 * Owns: one row a file that is a member of a link, and the links between links (master, lower). Leaves to others: what is read of living
 * links in the same way (collect_device.c), files that findings cite (collect_files.c). Offloads, rings, XDP programs, tables are not
 * in sysfs: they stay unknown. Called by collect.c.
 */
#include "sys/collect.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/facts_fields.h"
#include "sys/collect_device.h"
#include "sys/file_tree.h"

#define TICK_MS 10 /* of the bridge's files */

struct number_row {
	const char *file; /* below the link's directory */
	size_t offset;
	int is_wide; /* int64_t, else int */
	int64_t min, max, scale;
};

#define INT_OF(file, member)                                                \
	{                                                                   \
		file, offsetof(struct facts_link, member), 0, 0, INT_MAX, 1 \
	}
#define FLAG_OF(file, member)                                         \
	{                                                             \
		file, offsetof(struct facts_link, member), 0, 0, 1, 1 \
	}
#define WIDE_OF(file, member, unit)                                                       \
	{                                                                                 \
		file, offsetof(struct facts_link, member), 1, 0, INT64_MAX / (unit), unit \
	}

/* clang-format off */
static const struct number_row numbers[] = {
	INT_OF("mtu", mtu_bytes),
	INT_OF("tx_queue_len", tx_queue_len),
	FLAG_OF("carrier", carrier),
	WIDE_OF("carrier_changes", carrier_changes, 1),
	{ "speed", offsetof(struct facts_link, speed_mbit_per_s), 1, 1, INT_MAX, 1 },
	INT_OF("netdev_group", group),
	INT_OF("bridge/stp_state", bridge.stp),
	FLAG_OF("bridge/vlan_filtering", bridge.vlan_filtering),
	{ "bridge/default_pvid", offsetof(struct facts_link, bridge.vlan_default_pvid), 0, 0, 4095, 1 },
	FLAG_OF("bridge/multicast_snooping", bridge.multicast_snooping),
	FLAG_OF("bridge/multicast_querier", bridge.multicast_querier),
	FLAG_OF("bridge/nf_call_iptables", bridge.nf_call_iptables),
	FLAG_OF("bridge/nf_call_ip6tables", bridge.nf_call_ip6tables),
	FLAG_OF("bridge/nf_call_arptables", bridge.nf_call_arptables),
	WIDE_OF("bridge/ageing_time", bridge.ageing_ms, TICK_MS),
	WIDE_OF("bridge/forward_delay", bridge.forward_delay_ms, TICK_MS),
	INT_OF("brport/state", port.state),
	FLAG_OF("brport/learning", port.learning),
	FLAG_OF("brport/unicast_flood", port.unicast_flood),
	FLAG_OF("brport/isolated", port.isolated),
	FLAG_OF("brport/hairpin_mode", port.hairpin),
};

static const struct {
	const char *file;
	size_t offset, size;
} texts[] = {
	{ "phys_switch_id", offsetof(struct facts_link, phys_switch_id), sizeof(((struct facts_link *)0)->phys_switch_id) },
	{ "phys_port_name", offsetof(struct facts_link, phys_port_name), sizeof(((struct facts_link *)0)->phys_port_name) },
};

static const char *const counters[] = {
	"rx_packets", "tx_packets", "rx_bytes", "tx_bytes", "rx_errors", "tx_errors", "rx_dropped", "tx_dropped", "multicast",
	"collisions", "rx_length_errors", "rx_over_errors", "rx_crc_errors", "rx_frame_errors", "rx_fifo_errors",
	"rx_missed_errors", "tx_aborted_errors", "tx_carrier_errors", "tx_fifo_errors", "tx_heartbeat_errors",
	"tx_window_errors", "rx_compressed", "tx_compressed", "rx_nohandler",
};
/* clang-format on */

struct reader {
	const struct file_tree *tree;
	struct facts *facts;
};

/* First line of a file of the link; 0 or -errno. */
static int read_line(const struct reader *reader, const char *name, const char *file, char *text, size_t size)
{
	char path[PATH_MAX];
	ssize_t length;

	snprintf(path, sizeof(path), "/sys/class/net/%s/%s", name, file);
	length = file_tree_read(reader->tree, path, text, size);
	text[strcspn(text, "\n")] = '\0';
	return length < 0 ? (int)length : 0;
}

/* Decimal or 0x…; -1 when it is none, or out of range. */
static int64_t read_number(const struct reader *reader, const char *name, const char *file, int64_t min, int64_t max)
{
	char text[64], *end;
	long long number;

	if (read_line(reader, name, file, text, sizeof(text)) < 0 || !text[0])
		return FACTS_UNKNOWN;
	errno = 0;
	number = strtoll(text, &end, strncmp(text, "0x", 2) ? 10 : 16);
	return errno || *end || number < min || number > max ? FACTS_UNKNOWN : number;
}

static int read_target(const struct reader *reader, const char *name, const char *link, char *last, size_t size)
{
	char path[PATH_MAX], target[PATH_MAX], *slash;
	int result;

	snprintf(path, sizeof(path), "/sys/class/net/%s/%s", name, link);
	result = file_tree_link(reader->tree, path, target, sizeof(target));
	if (result < 0)
		return result;
	slash = strrchr(target, '/');
	snprintf(last, size, "%s", slash ? slash + 1 : target);
	return 0;
}

static int has_directory(const struct reader *reader, const char *name, const char *directory)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "/sys/class/net/%s/%s", name, directory);
	return file_tree_exists(reader->tree, path);
}

/* Files of a directory that most links lack are not asked for one by one. */
static void read_numbers(const struct reader *reader, struct facts_link *link)
{
	static const char *const directories[] = { "device", "bridge", "brport" };
	int is_there[3];

	for (int i = 0; i < 3; i++)
		is_there[i] = has_directory(reader, link->name, directories[i]);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		const struct number_row *row = &numbers[i];
		int64_t value;
		int small, is_missing = 0;

		for (int k = 0; k < 3; k++)
			is_missing |= !is_there[k] && !strncmp(row->file, directories[k], 6);
		value = is_missing ? FACTS_UNKNOWN : read_number(reader, link->name, row->file, row->min, row->max);
		if (value == FACTS_UNKNOWN)
			continue;
		value *= row->scale;
		small = (int)value;
		memcpy((char *)link + row->offset, row->is_wide ? (void *)&value : (void *)&small,
		       row->is_wide ? sizeof(value) : sizeof(small));
	}
}

static void read_texts(const struct reader *reader, struct facts_link *link)
{
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		read_line(reader, link->name, texts[i].file, (char *)link + texts[i].offset, texts[i].size);
}

static void read_address(const struct reader *reader, struct facts_link *link)
{
	unsigned int bytes[6];
	char text[64];

	if (read_line(reader, link->name, "address", text, sizeof(text)) < 0 ||
	    sscanf(text, "%2x:%2x:%2x:%2x:%2x:%2x", &bytes[0], &bytes[1], &bytes[2], &bytes[3], &bytes[4], &bytes[5]) !=
		    6)
		return;
	for (int i = 0; i < 6; i++)
		link->address[i] = (uint8_t)bytes[i];
}

static void read_states(const struct reader *reader, struct facts_link *link)
{
	/* IF_OPER_* by the names of sysfs. */
	static const char *const states[] = { "unknown", "notpresent", "down", "lowerlayerdown",
					      "testing", "dormant",    "up" };
	char text[64];
	int64_t number;

	if (read_line(reader, link->name, "operstate", text, sizeof(text)) == 0)
		for (int i = 0; i < 7; i++)
			if (!strcmp(text, states[i]))
				link->operstate = i;
	if (read_line(reader, link->name, "duplex", text, sizeof(text)) == 0)
		link->duplex = !strcmp(text, "full") ? 1 : !strcmp(text, "half") ? 0 : FACTS_UNKNOWN;
	/* The file holds the user's flags: running is told by carrier. */
	number = read_number(reader, link->name, "flags", 0, UINT32_MAX);
	link->flags = number < 0 ? 0 : (uint32_t)number;
	if ((link->flags & 1) && link->carrier == 1)
		link->flags |= 0x40;
}

/* "DEVTYPE=bridge" of uevent; a tap has none, but flags; a veth neither. */
static void read_kind(const struct reader *reader, struct facts_link *link)
{
	char path[PATH_MAX], text[1024], *line;

	snprintf(path, sizeof(path), "/sys/class/net/%s/uevent", link->name);
	if (file_tree_read(reader->tree, path, text, sizeof(text)) > 0) {
		line = strstr(text, "DEVTYPE=");
		if (line && (line == text || line[-1] == '\n')) {
			line += strlen("DEVTYPE=");
			snprintf(link->kind, sizeof(link->kind), "%.*s", (int)strcspn(line, "\n"), line);
		}
	}
	if (link->tun_flags >= 0)
		strcpy(link->kind, "tun");
	else if (read_line(reader, link->name, "bonding/mode", text, sizeof(text)) == 0)
		strcpy(link->kind, "bond");
	else if (read_line(reader, link->name, "bridge/bridge_id", text, sizeof(text)) == 0)
		strcpy(link->kind, "bridge");
	if (!strcmp(link->kind, "bond")) { /* "802.3ad 4" */
		if (sscanf(text, "%23s", link->bond_mode) != 1)
			link->bond_mode[0] = '\0';
		if (read_line(reader, link->name, "bonding/xmit_hash_policy", text, sizeof(text)) < 0 ||
		    sscanf(text, "%23s", link->bond_hash) != 1)
			link->bond_hash[0] = '\0';
	}
	if (!strcmp(link->kind, "wlan") || !strcmp(link->kind, "wwan"))
		link->kind[0] = '\0'; /* a device, not a link that software makes */
}

static int read_counters(const struct reader *reader, struct facts_link *link)
{
	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
		struct facts_counter *counter;
		char file[64], text[64], *end;
		unsigned long long value;

		snprintf(file, sizeof(file), "statistics/%s", counters[i]);
		if (read_line(reader, link->name, file, text, sizeof(text)) < 0)
			continue;
		errno = 0;
		value = strtoull(text, &end, 10);
		if (errno || end == text || *end || text[0] == '-')
			continue;
		counter = facts_add_counter(link);
		if (!counter)
			return -ENOMEM;
		snprintf(counter->name, sizeof(counter->name), "%s", counters[i]);
		counter->value = value;
	}
	return 0;
}

static int read_link(const char *path, void *context)
{
	const struct reader *reader = context;
	const char *name = strrchr(path, '/') + 1;
	struct facts_link *link;
	int64_t ifindex;

	if (strlen(name) >= sizeof(link->name))
		return 0;
	ifindex = read_number(reader, name, "ifindex", 1, INT_MAX);
	if (ifindex < 0) /* bonding_masters, and what is no link */
		return 0;
	for (int i = 0; i < reader->facts->link_count; i++)
		if (reader->facts->links[i].ifindex == ifindex)
			return facts_add_gap(reader->facts, "%s: has the number of another link: it was left out",
					     name);
	if (reader->facts->link_count == FACTS_MAX_LINKS)
		return -E2BIG;
	link = facts_add_link(reader->facts);
	if (!link)
		return -ENOMEM;
	link->ifindex = (int)ifindex;
	strcpy(link->name, name);
	read_numbers(reader, link);
	read_texts(reader, link);
	collect_device_of(reader->tree, link);
	read_address(reader, link);
	read_states(reader, link);
	read_kind(reader, link);
	return read_counters(reader, link);
}

/* A tree that was put together may have a number twice. Sorted; an array of facts may shrink. */
static int drop_duplicates(struct facts *facts)
{
	int kept = 0, result = 0;

	for (int i = 0; i < facts->link_count; i++) {
		struct facts_link *link = &facts->links[i];

		if (kept > 0 && facts->links[kept - 1].ifindex == link->ifindex) {
			if (result == 0)
				result = facts_add_gap(facts, "%s: has the number of another link: it was left out",
						       link->name);
			facts_record_free(facts_link_fields, link);
			continue;
		}
		if (kept != i)
			facts->links[kept] = *link;
		kept++;
	}
	facts->link_count = kept;
	facts_sort(facts);
	return result;
}

/* When all links are there: who is above and below whom. */
static void join_links(const struct reader *reader, struct facts_link *link)
{
	const struct facts_link *other;
	char name[64];
	int64_t below;

	if (read_target(reader, link->name, "master", name, sizeof(name)) == 0) {
		other = facts_link_named(reader->facts, 0, name);
		link->master_ifindex = other ? other->ifindex : 0;
	}
	/* A veth whose peer is in another namespace has a number there: it may be that of a link here, and nobody tells. */
	below = read_number(reader, link->name, "iflink", 1, INT_MAX);
	if (below > 0 && below != link->ifindex) {
		link->lower_ifindex = (int)below;
		link->lower_netns = facts_link_at(reader->facts, 0, (int)below) ? 0 : FACTS_UNKNOWN;
	}
}

/* Of two ends of a veth pair each names the other. */
static void check_peers(struct facts *facts)
{
	for (int i = 0; i < facts->link_count; i++) {
		struct facts_link *link = &facts->links[i];
		const struct facts_link *peer = facts_link_at(facts, 0, link->lower_ifindex);

		if (!peer || link->kind[0] || link->bus[0])
			continue;
		if (peer->lower_ifindex == link->ifindex && !peer->kind[0])
			strcpy(link->kind, "veth");
	}
	for (int i = 0; i < facts->link_count; i++) {
		struct facts_link *link = &facts->links[i];
		const struct facts_link *peer = facts_link_at(facts, 0, link->lower_ifindex);

		if (peer && peer->lower_ifindex == link->ifindex && !strcmp(link->kind, "veth"))
			snprintf(link->driver, sizeof(link->driver), "veth");
	}
}

int collect_sysfs_links(const char *sysroot, struct facts *facts)
{
	struct file_tree tree;
	struct reader reader = { .tree = &tree, .facts = facts };
	int result = file_tree_open(&tree, sysroot);

	if (result < 0)
		return result;
	result = file_tree_glob(&tree, "/sys/class/net/*", "", read_link, &reader);
	if (result == -E2BIG)
		result = facts_add_gap(facts, "more than %d links: the rest was left out", FACTS_MAX_LINKS);
	if (result == 0 && facts->link_count == 0)
		result = facts_add_gap(facts, "links: %s/sys/class/net has none", sysroot);
	facts_sort(facts);
	if (result == 0)
		result = drop_duplicates(facts);
	for (int i = 0; i < facts->link_count && result == 0; i++)
		join_links(&reader, &facts->links[i]);
	check_peers(facts);
	file_tree_close(&tree);
	return result < 0 ? error_set(ENOMEM, "out of memory for links") : 0;
}
