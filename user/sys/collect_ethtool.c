// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What ethtool knows of the links of one namespace, as facts: driver, offloads, queues, rings, moderation, pause frames, line,
 * the driver's own counters.
 *
 * By ioctl, one row a question. A driver that has no answer leaves things unknown; a refusal for want of rights becomes one gap a
 * question. Called by collect_links.c.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/ethtool.h>
#include <linux/if.h>

#include "base/error.h"
#include "sys/collect_scope.h"
#include "sys/ethtool_call.h"

#define MAX_STRINGS 65536
#define ADDRESS_ROOM 32 /* the longest hardware address of any device */

/*
 * ETHTOOL_GSTRINGS and ETHTOOL_GSTATS write as many entries as the driver has at that moment, whatever room the caller said that
 * there is. Somebody who changes the number of queues between the question "how many" and this one must not overrun us.
 */
#define ROOM_FOR(count) (2 * (size_t)(count) + 1024)

struct reader {
	int fd;
	struct ethtool_gstrings *feature_names; /* the same for all links; NULL until asked */
};

/* malloc'ed names of one set; NULL with *result when there are none. */
static struct ethtool_gstrings *read_strings(int fd, const char *name, enum ethtool_stringset set, int *result)
{
	struct {
		struct ethtool_sset_info info;
		__u32 count;
	} request = { .info = { .cmd = ETHTOOL_GSSET_INFO, .sset_mask = 1ULL << set } };
	struct ethtool_gstrings *strings;

	*result = ethtool_call_on(fd, name, &request);
	if (*result >= 0 && (!request.info.sset_mask || request.count == 0 || request.count > MAX_STRINGS))
		*result = -EOPNOTSUPP;
	if (*result < 0)
		return NULL;
	strings = calloc(1, sizeof(*strings) + ROOM_FOR(request.count) * ETH_GSTRING_LEN);
	if (!strings) {
		*result = -ENOMEM;
		return NULL;
	}
	strings->cmd = ETHTOOL_GSTRINGS;
	strings->string_set = set;
	strings->len = request.count;
	*result = ethtool_call_on(fd, name, strings);
	if (*result >= 0 && strings->len <= ROOM_FOR(request.count))
		return strings;
	*result = *result < 0 ? *result : -EPROTO;
	free(strings);
	return NULL;
}

static void string_at(const struct ethtool_gstrings *strings, size_t index, char *into, size_t size)
{
	snprintf(into, size, "%.*s", ETH_GSTRING_LEN, (const char *)&strings->data[index * ETH_GSTRING_LEN]);
}

static int count_of(__u64 number)
{
	return number <= INT_MAX ? (int)number : INT_MAX;
}

static int read_driver(struct reader *reader, struct facts_link *link)
{
	struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };
	int code = ethtool_call_on(reader->fd, link->name, &info);

	if (code < 0)
		return code;
	snprintf(link->driver, sizeof(link->driver), "%.*s", (int)sizeof(info.driver), info.driver);
	snprintf(link->driver_version, sizeof(link->driver_version), "%.*s", (int)sizeof(info.version), info.version);
	if (strncmp(info.fw_version, "N/A", 4))
		snprintf(link->firmware, sizeof(link->firmware), "%.*s", (int)sizeof(info.fw_version), info.fw_version);
	/* sysfs, read later, says it better; where it cannot be read, an address of this form is a PCI device's. */
	if (strchr(info.bus_info, ':') && !link->kind[0]) {
		snprintf(link->bus, sizeof(link->bus), "pci");
		snprintf(link->bus_address, sizeof(link->bus_address), "%.*s", (int)sizeof(info.bus_info),
			 info.bus_info);
	}
	return 0;
}

static int add_features(const struct ethtool_gstrings *names, const struct ethtool_gfeatures *states,
			struct facts_link *link)
{
	for (__u32 bit = 0; bit < names->len; bit++) {
		const struct ethtool_get_features_block *block = &states->features[bit / 32];
		const __u32 mask = 1u << bit % 32;
		struct facts_feature *feature;

		if (!names->data[bit * ETH_GSTRING_LEN]) /* a bit that has no name means nothing */
			continue;
		feature = facts_add_feature(link);
		if (!feature)
			return -ENOMEM;
		string_at(names, bit, feature->name, sizeof(feature->name));
		feature->on = (block->active & mask) != 0;
		feature->fixed = !(block->available & mask) || block->never_changed & mask;
	}
	return 0;
}

static int read_features(struct reader *reader, struct facts_link *link)
{
	struct ethtool_gfeatures *states;
	size_t blocks;
	int code = 0;

	if (!reader->feature_names)
		reader->feature_names = read_strings(reader->fd, link->name, ETH_SS_FEATURES, &code);
	if (!reader->feature_names)
		return code;
	blocks = (reader->feature_names->len + 31) / 32;
	states = calloc(1, sizeof(*states) + blocks * sizeof(states->features[0]));
	if (!states)
		return -ENOMEM;
	states->cmd = ETHTOOL_GFEATURES;
	states->size = (__u32)blocks;
	code = ethtool_call_on(reader->fd, link->name, states);
	if (code >= 0)
		code = add_features(reader->feature_names, states, link);
	free(states);
	return code;
}

/* A channel serves one direction, or both. */
static int read_channels(struct reader *reader, struct facts_link *link)
{
	struct ethtool_channels channels = { .cmd = ETHTOOL_GCHANNELS };
	int code = ethtool_call_on(reader->fd, link->name, &channels);

	if (code < 0)
		return code;
	link->rx_queues = count_of((__u64)channels.rx_count + channels.combined_count);
	link->tx_queues = count_of((__u64)channels.tx_count + channels.combined_count);
	link->rx_queues_max = count_of((__u64)channels.max_rx + channels.max_combined);
	link->tx_queues_max = count_of((__u64)channels.max_tx + channels.max_combined);
	return 0;
}

static int read_rings(struct reader *reader, struct facts_link *link)
{
	struct ethtool_ringparam rings = { .cmd = ETHTOOL_GRINGPARAM };
	int code = ethtool_call_on(reader->fd, link->name, &rings);

	if (code < 0)
		return code;
	if (rings.rx_max_pending) {
		link->rx_ring = count_of(rings.rx_pending);
		link->rx_ring_max = count_of(rings.rx_max_pending);
	}
	if (rings.tx_max_pending) {
		link->tx_ring = count_of(rings.tx_pending);
		link->tx_ring_max = count_of(rings.tx_max_pending);
	}
	return 0;
}

static int read_moderation(struct reader *reader, struct facts_link *link)
{
	struct ethtool_coalesce coalesce = { .cmd = ETHTOOL_GCOALESCE };
	int code = ethtool_call_on(reader->fd, link->name, &coalesce);

	if (code < 0)
		return code;
	link->rx_usecs = count_of(coalesce.rx_coalesce_usecs);
	link->tx_usecs = count_of(coalesce.tx_coalesce_usecs);
	link->adaptive_rx = coalesce.use_adaptive_rx_coalesce != 0;
	link->adaptive_tx = coalesce.use_adaptive_tx_coalesce != 0;
	return 0;
}

static int read_pause(struct reader *reader, struct facts_link *link)
{
	struct ethtool_pauseparam pause = { .cmd = ETHTOOL_GPAUSEPARAM };
	int code = ethtool_call_on(reader->fd, link->name, &pause);

	if (code < 0)
		return code;
	link->pause_rx = pause.rx_pause != 0;
	link->pause_tx = pause.tx_pause != 0;
	link->pause_auto = pause.autoneg != 0;
	return 0;
}

static int read_eee(struct reader *reader, struct facts_link *link)
{
	struct ethtool_eee eee = { .cmd = ETHTOOL_GEEE };
	int code = ethtool_call_on(reader->fd, link->name, &eee);

	if (code >= 0)
		link->eee = eee.eee_active != 0;
	return code;
}

/* Asked twice: first for the length of the masks behind the struct, then with room for them. What veth and tun say of speed and
 * duplex is made up, and a bridge's is that of its ports: links that are software have none. */
static int read_line(struct reader *reader, struct facts_link *link)
{
	struct {
		struct ethtool_link_settings settings;
		uint32_t masks[3 * 127];
	} request = { .settings.cmd = ETHTOOL_GLINKSETTINGS };
	int code, words;

	if (link->kind[0])
		return 0;
	code = ethtool_call_on(reader->fd, link->name, &request);
	words = -request.settings.link_mode_masks_nwords;
	if (code < 0 || words <= 0 || words > 127)
		return code;
	memset(&request, 0, sizeof(request));
	request.settings.cmd = ETHTOOL_GLINKSETTINGS;
	request.settings.link_mode_masks_nwords = (int8_t)words;
	code = ethtool_call_on(reader->fd, link->name, &request);
	if (code < 0)
		return code;
	if (request.settings.speed != (uint32_t)SPEED_UNKNOWN && request.settings.speed)
		link->speed_mbit_per_s = request.settings.speed;
	if (request.settings.duplex <= DUPLEX_FULL)
		link->duplex = request.settings.duplex;
	link->autonegotiation = request.settings.autoneg == AUTONEG_ENABLE;
	return 0;
}

/* Devices with one queue mostly do not know the question. */
static int read_udp_hash(struct reader *reader, struct facts_link *link)
{
	struct ethtool_rxnfc request = { .cmd = ETHTOOL_GRXFH, .flow_type = UDP_V4_FLOW };
	int code = ethtool_call_on(reader->fd, link->name, &request);

	if (code >= 0)
		link->udp4_hash_ports = (request.data & (RXH_L4_B_0_1 | RXH_L4_B_2_3)) != 0;
	return code;
}

static int is_counted(const struct facts_link *link, int counters, const char *name)
{
	for (int i = 0; i < counters; i++)
		if (!strcmp(link->counters[i].name, name))
			return 1;
	return 0;
}

/* Where a driver has a name of IFLA_STATS64, that one stands already and is what `ip -s link` shows. */
static int add_statistics(const struct ethtool_gstrings *names, const struct ethtool_stats *values,
			  struct facts_link *link)
{
	const int standard = link->counter_count;

	for (__u32 i = 0; i < names->len && i < values->n_stats; i++) {
		struct facts_counter *counter;
		char name[sizeof(counter->name)];

		string_at(names, i, name, sizeof(name));
		if (!name[0] || is_counted(link, standard, name))
			continue;
		counter = facts_add_counter(link);
		if (!counter)
			return -ENOMEM;
		memcpy(counter->name, name, sizeof(name));
		counter->value = values->data[i];
	}
	return 0;
}

static int read_statistics(struct reader *reader, struct facts_link *link)
{
	struct ethtool_stats *values;
	int code;
	struct ethtool_gstrings *names = read_strings(reader->fd, link->name, ETH_SS_STATS, &code);

	if (!names)
		return code;
	values = calloc(1, sizeof(*values) + ROOM_FOR(names->len) * sizeof(values->data[0]));
	code = -ENOMEM;
	if (values) {
		values->cmd = ETHTOOL_GSTATS;
		values->n_stats = names->len;
		code = ethtool_call_on(reader->fd, link->name, values);
		if (code >= 0)
			code = add_statistics(names, values, link);
	}
	free(values);
	free(names);
	return code;
}

static int read_permanent_address(struct reader *reader, struct facts_link *link)
{
	struct {
		struct ethtool_perm_addr address;
		unsigned char bytes[ADDRESS_ROOM];
	} request = { .address = { .cmd = ETHTOOL_GPERMADDR, .size = ADDRESS_ROOM } };
	int code = ethtool_call_on(reader->fd, link->name, &request);

	if (code >= 0 && request.address.size == sizeof(link->permanent_address))
		memcpy(link->permanent_address, request.bytes, sizeof(link->permanent_address));
	return code;
}

static const struct question {
	const char *what;
	int (*read)(struct reader *reader, struct facts_link *link);
} questions[] = {
	{ "drivers", read_driver },
	{ "offloads", read_features },
	{ "queues", read_channels },
	{ "descriptor rings", read_rings },
	{ "interrupt moderation", read_moderation },
	{ "pause frames", read_pause },
	{ "energy-efficient Ethernet", read_eee },
	{ "line speeds", read_line },
	{ "receive hashes", read_udp_hash },
	{ "drivers' counters", read_statistics },
	{ "permanent addresses", read_permanent_address },
};

/* One question about all links; -ENOMEM or -errno of a gap. */
static int ask(const struct question *question, struct reader *reader, const struct collect_scope *scope)
{
	int refused = 0;
	char label[96];

	for (int i = 0; i < scope->link_count; i++) {
		int code = question->read(reader, &scope->facts->links[scope->first_link + i]);

		if (code == -ENOMEM)
			return code;
		refused = code == -EPERM || code == -EACCES ? code : refused;
	}
	if (!refused)
		return 0;
	return facts_add_gap(scope->facts, "%s%s: %s (run as root)", question->what,
			     collect_scope_label(scope, label, sizeof(label)), strerror(-refused));
}

int collect_ethtool(const struct collect_scope *scope)
{
	struct reader reader = { .fd = ethtool_socket() };
	char label[96];
	int code = 0;

	if (reader.fd < 0) {
		code = facts_add_gap(scope->facts, "drivers and offloads%s: no socket: %s",
				     collect_scope_label(scope, label, sizeof(label)), strerror(-reader.fd));
	} else {
		for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]) && !code; i++)
			code = ask(&questions[i], &reader, scope);
		close(reader.fd);
	}
	free(reader.feature_names);
	return code < 0 ? error_set(ENOMEM, "out of memory for what ethtool says") : 0;
}
