// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Neighbours of links, and what stands inside files; see lookup.h.
 */
#include "doctor/lookup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- links -------------------------------------------------------------------------------------------------------- */

const struct facts_link *lookup_lower(const struct check_context *context, const struct facts_link *link)
{
	return link->lower_ifindex && link->lower_netns >= 0
		       ? facts_link_at(context->facts, link->lower_netns, link->lower_ifindex)
		       : NULL;
}

const struct facts_link *lookup_master(const struct check_context *context, const struct facts_link *link)
{
	return link->master_ifindex ? facts_link_at(context->facts, link->netns, link->master_ifindex) : NULL;
}

const struct facts_link *lookup_physical_function(const struct check_context *context, const struct facts_link *link)
{
	if (!link->physfn_address[0])
		return NULL;
	for (int i = 0; i < context->facts->link_count; i++)
		if (!strcmp(context->facts->links[i].bus_address, link->physfn_address))
			return &context->facts->links[i];
	return NULL;
}

const struct facts_link *lookup_port(const struct check_context *context, const struct facts_link *master,
				     const struct facts_link *after)
{
	const struct facts_link *end = context->facts->links + context->facts->link_count, *link;

	/* Links are sorted by namespace: the ports stand among those around their bridge. */
	if (after) {
		link = after + 1;
	} else {
		link = master;
		while (link > context->facts->links && link[-1].netns == master->netns)
			link--;
	}
	for (; link < end && link->netns == master->netns; link++)
		if (link->master_ifindex == master->ifindex)
			return link;
	return NULL;
}

int lookup_is_one_of(const struct facts_link *link, const char *words)
{
	const char *name = link->driver[0] ? link->driver : link->kind;
	size_t length = strlen(name);

	for (const char *word = words; length && *word;) {
		size_t width = strcspn(word, " ");

		if (width == length && !strncmp(word, name, width))
			return 1;
		word += width;
		word += strspn(word, " ");
	}
	return 0;
}

int lookup_is_hardware(const struct facts_link *link)
{
	return link->bus[0] && !link->kind[0];
}

int lookup_forwards(const struct check_context *context, const struct facts_link *link)
{
	const struct facts_link *master = lookup_master(context, link);

	if (master && (!strcmp(master->kind, "bridge") || !strcmp(master->kind, "openvswitch")))
		return 1;
	return facts_number_at(context->facts, link->netns, "/proc/sys/net/ipv4/ip_forward") > 0;
}

int lookup_netns_is_examined(const struct check_context *context, int netns)
{
	for (int i = 0; i < context->link_count; i++)
		if (context->facts->links[context->links[i]].netns == netns)
			return 1;
	return 0;
}

/* --- numbers ------------------------------------------------------------------------------------------------------ */

int lookup_kernel(const struct facts *facts)
{
	const char *text = facts->kernel + strcspn(facts->kernel, "0123456789");
	int major, minor;

	if (sscanf(text, "%d.%d", &major, &minor) != 2 || major < 0 || major > 1000 || minor < 0 || minor > 999)
		return 0;
	return major * 1000 + minor;
}

int lookup_virtio_bit(const struct check_context *context, const struct facts_link *link, int bit)
{
	char path[128];
	const struct facts_file *file;

	if (strcmp(link->driver, "virtio_net"))
		return -1;
	snprintf(path, sizeof(path), LOOKUP_VIRTIO_FEATURES, link->name);
	file = facts_file_at(context->facts, link->netns, path);
	if (!file || file->error || (size_t)bit >= strlen(file->text))
		return -1;
	return file->text[bit] == '1';
}

/* The column of `name` in the line of names, then the same column of the line of values that follows it. */
static int64_t value_of_pair(const char *names, const char *values, const char *name)
{
	size_t length = strlen(name);

	while (*names && *names != '\n' && *values && *values != '\n') {
		size_t name_width = strcspn(names, " \n"), value_width = strcspn(values, " \n");

		if (name_width == length && !strncmp(names, name, length))
			return strtoll(values, NULL, 10);
		names += name_width;
		names += *names == ' ';
		values += value_width;
		values += *values == ' ';
	}
	return FACTS_UNKNOWN;
}

int64_t lookup_protocol_counter(const struct facts *facts, int netns, const char *path, const char *group,
				const char *name)
{
	const struct facts_file *file = facts_file_at(facts, netns, path);
	size_t length = strlen(group);

	if (!file || file->error)
		return FACTS_UNKNOWN;
	for (const char *line = file->text; *line;) {
		const char *next = strchr(line, '\n');

		if (!next)
			break;
		next++;
		if (!strncmp(line, group, length) && line[length] == ':' && !strncmp(next, group, length))
			return value_of_pair(line, next, name);
		line = next;
	}
	return FACTS_UNKNOWN;
}

const struct facts *lookup_earlier(const struct check_context *context, int netns, int *earlier_netns)
{
	*earlier_netns = context->earlier && netns >= 0 && netns < context->facts->netns_count
				 ? facts_netns_named(context->earlier, context->facts->netns[netns].name)
				 : -1;
	return *earlier_netns >= 0 ? context->earlier : NULL;
}

int64_t lookup_protocol_growth(const struct check_context *context, int netns, const char *path, const char *group,
			       const char *name, int *since_boot)
{
	int earlier_netns;
	const struct facts *earlier = lookup_earlier(context, netns, &earlier_netns);
	int64_t now = lookup_protocol_counter(context->facts, netns, path, group, name), then = FACTS_UNKNOWN;

	if (earlier)
		then = lookup_protocol_counter(earlier, earlier_netns, path, group, name);
	*since_boot = then < 0 || then > now;
	return *since_boot || now < 0 ? now : now - then;
}

/* --- sets of CPUs ------------------------------------------------------------------------------------------------- */

static void add_cpu(struct lookup_cpus *cpus, unsigned long cpu)
{
	if (cpu < LOOKUP_MAX_CPUS)
		cpus->words[cpu / 64] |= 1ULL << (cpu % 64);
}

int lookup_cpu_list(const char *text, struct lookup_cpus *cpus)
{
	memset(cpus, 0, sizeof(*cpus));
	while (*text) {
		char *end;
		unsigned long first, last;

		first = last = strtoul(text, &end, 10);
		if (end == text)
			break;
		if (*end == '-') {
			text = end + 1;
			last = strtoul(text, &end, 10);
			if (end == text)
				break;
		}
		for (unsigned long cpu = first; cpu <= last && cpu < LOOKUP_MAX_CPUS; cpu++)
			add_cpu(cpus, cpu);
		text = end + (*end == ',');
		if (*end && *end != ',' && *end != '\n')
			break;
		if (!*text || *text == '\n')
			return 0;
	}
	memset(cpus, 0, sizeof(*cpus));
	return -1;
}

int lookup_cpu_mask(const char *text, struct lookup_cpus *cpus)
{
	size_t length = strcspn(text, "\n");
	unsigned long cpu = 0;

	memset(cpus, 0, sizeof(*cpus));
	if (!length)
		return -1;
	for (size_t i = length; i > 0; i--) {
		char digit[2] = { text[i - 1], '\0' }, *end;
		unsigned long bits;

		if (digit[0] == ',')
			continue;
		bits = strtoul(digit, &end, 16);
		if (*end || digit[0] == ' ') {
			memset(cpus, 0, sizeof(*cpus));
			return -1;
		}
		for (int bit = 0; bit < 4; bit++, cpu++)
			if (bits & (1UL << bit))
				add_cpu(cpus, cpu);
	}
	return 0;
}

int lookup_cpu_count(const struct lookup_cpus *cpus)
{
	int count = 0;

	for (size_t i = 0; i < sizeof(cpus->words) / sizeof(cpus->words[0]); i++)
		count += __builtin_popcountll(cpus->words[i]);
	return count;
}

int lookup_cpu_is_in(const struct lookup_cpus *cpus, int cpu)
{
	return cpu >= 0 && cpu < LOOKUP_MAX_CPUS && (cpus->words[cpu / 64] >> (cpu % 64) & 1);
}

int lookup_node_of_cpu(const struct check_context *context, int cpu)
{
	for (int node = 0; node < 256; node++) {
		struct lookup_cpus cpus;
		char path[80];
		const struct facts_file *file;

		snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/cpulist", node);
		file = facts_file_at(context->facts, 0, path);
		if (!file || file->error) {
			if (node > 8)
				break; /* numbers may have holes, not large ones */
			continue;
		}
		if (!lookup_cpu_list(file->text, &cpus) && lookup_cpu_is_in(&cpus, cpu))
			return node;
	}
	return -1;
}
