// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Facts: creation, growth, order, look-ups, freeing. What the structs hold is told by the rows of facts_fields.c.
 *
 * Called by: sys/collect_*.c and doctor/evidence_*.c, which fill; discover/, doctor/, cmd/ and report/, which look up.
 */
#include "model/facts.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/facts_fields.h"

struct facts *facts_new(void)
{
	struct facts *facts = calloc(1, sizeof(*facts));

	if (!facts)
		return NULL;
	if (facts_record_init(facts_fields, facts) < 0 || !facts_add_netns(facts)) {
		facts_free(facts);
		return NULL;
	}
	return facts;
}

void facts_free(struct facts *facts)
{
	if (!facts)
		return;
	facts_record_free(facts_fields, facts);
	free(facts->links_by_name);
	free(facts);
}

/* One function a row: ADD(singular, struct of the element, struct that owns the array, the array, its count). */
#define ADD(singular, element, owner, array, count)                                          \
	struct element *facts_add_##singular(struct owner *owner)                            \
	{                                                                                    \
		return facts_array_add(&owner->array, &owner->count, sizeof(struct element), \
				       facts_##singular##_fields);                           \
	}

ADD(netns, facts_netns, facts, netns, netns_count)
ADD(fdb, facts_fdb, facts, fdb, fdb_count)
ADD(address, facts_address, facts, addresses, address_count)
ADD(route, facts_route, facts, routes, route_count)
ADD(neighbour, facts_neighbour, facts, neighbours, neighbour_count)
ADD(process, facts_process, facts, processes, process_count)
ADD(claim, facts_claim, facts, claims, claim_count)
ADD(feature, facts_feature, facts_link, features, feature_count)
ADD(counter, facts_counter, facts_link, counters, counter_count)
ADD(qdisc, facts_qdisc, facts_link, qdiscs, qdisc_count)
ADD(filter, facts_filter, facts_link, filters, filter_count)
ADD(vf, facts_vf, facts_link, vfs, vf_info_count)
ADD(irq, facts_irq, facts_link, irqs, irq_count)
ADD(tun, facts_tun_holder, facts_process, tuns, tun_count)
ADD(thread, facts_thread, facts_process, threads, thread_count)

struct facts_link *facts_add_link(struct facts *facts)
{
	free(facts->links_by_name);
	facts->links_by_name = NULL;
	return facts_array_add(&facts->links, &facts->link_count, sizeof(*facts->links), facts_link_fields);
}

int facts_set_text(char **text, const char *value)
{
	char *copy = strdup(value ? value : "");

	if (!copy)
		return -ENOMEM;
	free(*text);
	*text = copy;
	return 0;
}

int facts_add_argument(struct facts_process *process, const char *argument)
{
	char **added =
		facts_array_add(&process->arguments, &process->argument_count, sizeof(char *), facts_argument_fields);

	return added ? facts_set_text(added, argument) : -ENOMEM;
}

int facts_add_file(struct facts *facts, int netns, const char *path, const char *text, int error)
{
	struct facts_file *file =
		facts_array_add(&facts->files, &facts->file_count, sizeof(*facts->files), facts_file_fields);
	size_t length;

	if (!file || facts_set_text(&file->path, path) < 0 || facts_set_text(&file->text, text) < 0)
		return -ENOMEM;
	length = strlen(file->text);
	if (length > 0 && file->text[length - 1] == '\n')
		file->text[length - 1] = '\0';
	file->netns = netns;
	file->error = error;
	return 0;
}

int facts_add_gap(struct facts *facts, const char *format, ...)
{
	struct facts_gap *gap =
		facts_array_add(&facts->gaps, &facts->gap_count, sizeof(*facts->gaps), facts_gap_fields);
	va_list arguments;
	char *text;
	int length;

	if (!gap)
		return -ENOMEM;
	va_start(arguments, format);
	length = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (length < 0)
		return -ENOMEM;
	free(gap->text);
	gap->text = text;
	return 0;
}

static int compare_ints(int left, int right)
{
	return (left > right) - (left < right);
}

static int compare_links(const void *left, const void *right)
{
	const struct facts_link *a = left, *b = right;

	return a->netns != b->netns ? compare_ints(a->netns, b->netns) : compare_ints(a->ifindex, b->ifindex);
}

static int compare_files(const void *left, const void *right)
{
	const struct facts_file *a = left, *b = right;

	return a->netns != b->netns ? compare_ints(a->netns, b->netns) : strcmp(a->path, b->path);
}

static int compare_names(const void *left, const void *right)
{
	const struct facts_link *a = *(const struct facts_link *const *)left,
				*b = *(const struct facts_link *const *)right;

	return a->netns != b->netns ? compare_ints(a->netns, b->netns) : strcmp(a->name, b->name);
}

void facts_sort(struct facts *facts)
{
	if (facts->link_count > 1)
		qsort(facts->links, (size_t)facts->link_count, sizeof(*facts->links), compare_links);
	if (facts->file_count > 1)
		qsort(facts->files, (size_t)facts->file_count, sizeof(*facts->files), compare_files);
	free(facts->links_by_name);
	facts->links_by_name = NULL;
	if (facts->link_count > 0)
		facts->links_by_name = calloc((size_t)facts->link_count, sizeof(struct facts_link *));
	if (!facts->links_by_name) /* none, or out of memory: facts_link_named() then goes through all */
		return;
	for (int i = 0; i < facts->link_count; i++)
		facts->links_by_name[i] = &facts->links[i];
	qsort(facts->links_by_name, (size_t)facts->link_count, sizeof(struct facts_link *), compare_names);
}

const struct facts_link *facts_link_at(const struct facts *facts, int netns, int ifindex)
{
	const struct facts_link key = { .netns = netns, .ifindex = ifindex };

	if (facts->link_count == 0)
		return NULL;
	return bsearch(&key, facts->links, (size_t)facts->link_count, sizeof(*facts->links), compare_links);
}

const struct facts_link *facts_link_named(const struct facts *facts, int netns, const char *name)
{
	struct facts_link key = { .netns = netns };
	const struct facts_link *wanted = &key;
	struct facts_link **found;

	if (strlen(name) >= sizeof(key.name))
		return NULL;
	if (!facts->links_by_name) {
		for (int i = 0; i < facts->link_count; i++)
			if (facts->links[i].netns == netns && !strcmp(facts->links[i].name, name))
				return &facts->links[i];
		return NULL;
	}
	strcpy(key.name, name);
	found = bsearch(&wanted, facts->links_by_name, (size_t)facts->link_count, sizeof(*found), compare_names);
	return found ? *found : NULL;
}

const struct facts_file *facts_file_at(const struct facts *facts, int netns, const char *path)
{
	const struct facts_file key = { .netns = netns, .path = (char *)(uintptr_t)path };

	if (facts->file_count == 0)
		return NULL;
	return bsearch(&key, facts->files, (size_t)facts->file_count, sizeof(*facts->files), compare_files);
}

const struct facts_file *facts_files_below(const struct facts *facts, int netns, const char *prefix, int *count)
{
	const struct facts_file key = { .netns = netns, .path = (char *)(uintptr_t)prefix };
	size_t length = strlen(prefix);
	int low = 0, high = facts->file_count;

	while (low < high) {
		int middle = low + (high - low) / 2;

		if (compare_files(&facts->files[middle], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (high = low; high < facts->file_count; high++)
		if (facts->files[high].netns != netns || strncmp(facts->files[high].path, prefix, length) != 0)
			break;
	*count = high - low;
	return *count ? &facts->files[low] : NULL;
}

int facts_netns_named(const struct facts *facts, const char *name)
{
	for (int i = 0; i < facts->netns_count; i++)
		if (!strcmp(facts->netns[i].name, name))
			return i;
	return -1;
}

int64_t facts_counter_of(const struct facts_link *link, const char *name)
{
	for (int i = 0; i < link->counter_count; i++)
		if (!strcmp(link->counters[i].name, name))
			return link->counters[i].value > INT64_MAX ? INT64_MAX : (int64_t)link->counters[i].value;
	return FACTS_UNKNOWN;
}

int facts_feature_of(const struct facts_link *link, const char *name, int *fixed)
{
	for (int i = 0; i < link->feature_count; i++) {
		if (strcmp(link->features[i].name, name) != 0)
			continue;
		if (fixed)
			*fixed = link->features[i].fixed;
		return link->features[i].on;
	}
	return FACTS_UNKNOWN;
}

int64_t facts_number_at(const struct facts *facts, int netns, const char *path)
{
	const struct facts_file *file = facts_file_at(facts, netns, path);
	const char *text;
	char *end;
	int64_t number;

	if (!file || file->error)
		return FACTS_UNKNOWN;
	text = file->text + strspn(file->text, " \t");
	/* Octal is nobody's meaning: "010" is ten. */
	errno = 0;
	number = strtoll(text, &end, !strncasecmp(text, "0x", 2) ? 16 : 10);
	if (end == text || errno || end[strspn(end, " \t\n")])
		return FACTS_UNKNOWN;
	return number;
}
