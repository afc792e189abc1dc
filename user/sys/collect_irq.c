// SPDX-License-Identifier: GPL-2.0-or-later
/* Interrupts of links; see collect_irq.h. Called by collect_links.c, and for captured trees by whoever has read their links. */
#include "sys/collect_irq.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "sys/file_tree.h"
#include "sys/collect_scope.h"

#define MAX_TEXT_BYTES (64u << 20) /* 4096 CPUs with 1000 interrupts fill 45 MB */

/* Columns of the header: one a CPU. */
static int count_cpus(const char *line, const char *end)
{
	int count = 0;

	for (const char *at = line; at + 3 <= end; at++)
		count += !strncmp(at, "CPU", 3);
	return count;
}

/* The last column. Devices that share a line are listed with commas: "ehci_hcd:usb1, eth0". */
static void copy_name(const char *start, const char *end, struct facts_irq *irq)
{
	const char *name;

	while (end > start && isspace((unsigned char)end[-1]))
		end--;
	for (name = end; name > start; name--) {
		const char *before = name;

		if (!isspace((unsigned char)name[-1]))
			continue;
		while (before > start && isspace((unsigned char)before[-1]))
			before--;
		if (before == start || before[-1] != ',')
			break;
	}
	snprintf(irq->name, sizeof(irq->name), "%.*s", (int)(end - name), name);
}

/* " 38:   0   20180 PCI-MSIX-0000:00:03.0   1-edge   virtio2-input.0": 1, or 0 for lines without a number (NMI, LOC …). */
static int parse_line(const char *line, const char *end, int cpus, struct facts_irq *irq)
{
	char *after;
	long number = strtol(line, &after, 10);

	if (after == line || after >= end || *after != ':' || number < 0 || number > INT_MAX)
		return 0;
	line = after + 1;
	irq->number = (int)number;
	irq->count = 0;
	for (int cpu = 0; cpu < cpus; cpu++) {
		unsigned long long count = strtoull(line, &after, 10);

		if (after == line || after > end)
			return 0;
		irq->count += count;
		line = after;
	}
	copy_name(line, end, irq);
	return irq->name[0] != '\0';
}

static int compare_irqs(const void *left, const void *right)
{
	const struct facts_irq *a = left, *b = right;

	return (a->number > b->number) - (a->number < b->number);
}

int collect_parse_interrupts(const char *text, struct collect_irq_table *table)
{
	int room = 0, cpus = -1;

	*table = (struct collect_irq_table){ 0 };
	for (const char *line = text, *end; *line; line = *end ? end + 1 : end) {
		struct facts_irq irq = { 0 };

		end = strchrnul(line, '\n');
		if (cpus < 0) {
			cpus = count_cpus(line, end);
			continue;
		}
		if (!parse_line(line, end, cpus, &irq))
			continue;
		if (table->count == room) {
			struct facts_irq *larger;

			room = room ? 2 * room : 64;
			larger = realloc(table->irqs, (size_t)room * sizeof(*larger));
			if (!larger)
				return -ENOMEM;
			table->irqs = larger;
		}
		table->irqs[table->count++] = irq;
	}
	if (table->count > 1)
		qsort(table->irqs, (size_t)table->count, sizeof(*table->irqs), compare_irqs);
	return 0;
}

void collect_irq_table_free(struct collect_irq_table *table)
{
	free(table->irqs);
	*table = (struct collect_irq_table){ 0 };
}

/* First line of /proc/irq/N/FILE; "" when it cannot be read. */
static void read_affinity(const struct file_tree *tree, int number, const char *file, char *into, size_t size)
{
	char path[96];

	snprintf(path, sizeof(path), "/proc/irq/%d/%s", number, file);
	file_tree_read(tree, path, into, size);
	into[strcspn(into, "\n")] = '\0';
}

static int add_irq(const struct file_tree *tree, struct facts_link *link, const struct facts_irq *irq)
{
	struct facts_irq *added = facts_add_irq(link);

	if (!added)
		return -ENOMEM;
	*added = *irq;
	read_affinity(tree, irq->number, "smp_affinity_list", added->affinity, sizeof(added->affinity));
	read_affinity(tree, irq->number, "effective_affinity_list", added->effective, sizeof(added->effective));
	return 0;
}

/* Those that a directory of a device names and somebody has asked for. */
static int add_listed(const struct file_tree *tree, const char *above, struct facts_link *link,
		      const struct collect_irq_table *table)
{
	char path[PATH_MAX], *listed;
	struct dirent *entry;
	DIR *directory;
	int code = 0;

	listed = calloc((size_t)table->count + 1, 1);
	if (!listed)
		return -ENOMEM;
	snprintf(path, sizeof(path), "/sys/bus/%s/devices/%s%s/msi_irqs", link->bus, link->bus_address, above);
	file_tree_directory(tree, path, &directory);
	while (directory && (entry = readdir(directory))) {
		const struct facts_irq key = { .number = atoi(entry->d_name) }, *found;

		found = bsearch(&key, table->irqs, (size_t)table->count, sizeof(key), compare_irqs);
		if (found && isdigit((unsigned char)entry->d_name[0]))
			listed[found - table->irqs] = 1;
	}
	if (directory)
		closedir(directory);
	for (int i = 0; i < table->count && !code; i++)
		if (listed[i])
			code = add_irq(tree, link, &table->irqs[i]);
	free(listed);
	return code;
}

/* "eth0", "eth0-TxRx-3", "virtio0-input.0" belong to eth0 and virtio0; "eth01" does not. */
static int is_named_after(const char *name, const char *owner)
{
	size_t length = strlen(owner);

	return length > 0 && !strncmp(name, owner, length) && (name[length] == '\0' || name[length] == '-');
}

static int add_named(const struct file_tree *tree, struct facts_link *link, const struct collect_irq_table *table)
{
	int code = 0;

	for (int i = 0; i < table->count && !code; i++)
		if (is_named_after(table->irqs[i].name, link->bus_address) ||
		    is_named_after(table->irqs[i].name, link->name))
			code = add_irq(tree, link, &table->irqs[i]);
	return code;
}

static int add_irqs(const struct file_tree *tree, struct facts_link *link, const struct collect_irq_table *table)
{
	int code = add_listed(tree, "", link, table);

	if (!code && !link->irq_count && !strcmp(link->bus, "virtio"))
		code = add_listed(tree, "/..", link, table);
	if (!code && !link->irq_count)
		code = add_named(tree, link, table);
	return code;
}

static int wants_irqs(const struct facts_link *link)
{
	return link->bus[0] && !link->irq_count && !collect_is_representor(link);
}

int collect_irqs(const char *sysroot, struct facts *facts)
{
	struct collect_irq_table table = { 0 };
	struct file_tree tree;
	char *text;
	int code, wanted = 0;

	for (int i = 0; i < facts->link_count; i++)
		wanted |= wants_irqs(&facts->links[i]);
	if (!wanted)
		return 0;
	code = file_tree_open(&tree, sysroot);
	if (code)
		return code;
	code = file_tree_read_all(&tree, "/proc/interrupts", MAX_TEXT_BYTES, &text);
	if (code < 0 && code != -ENOMEM)
		code = facts_add_gap(facts, "interrupts: cannot read /proc/interrupts: %s", strerror(-code));
	else if (text)
		code = collect_parse_interrupts(text, &table);
	for (int i = 0; table.count && i < facts->link_count && !code; i++)
		if (wants_irqs(&facts->links[i]))
			code = add_irqs(&tree, &facts->links[i], &table);
	collect_irq_table_free(&table);
	file_tree_close(&tree);
	free(text);
	return code < 0 ? error_set(ENOMEM, "out of memory for interrupts") : 0;
}
