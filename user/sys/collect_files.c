// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Files of sysfs and procfs as facts.
 *
 * Owns: going through the table (collect_file_rows.c), entering namespaces for what belongs to one, and the list of PCI devices above
 * the links. Leaves to others: reading (file_tree.c), what the files say (collect_machine.c and doctor/). Called by collect.c.
 *
 * sysfs shows the links of the namespace it was mounted in, so each namespace gets a mount of its own, without a path; who may not
 * mount sees those of /sys, as far as they are the same. /proc/net is that of the process; a thread's own is /proc/thread-self/net.
 */
#include "sys/collect.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "model/facts_fields.h"
#include "sys/collect_files.h"
#include "sys/file_tree.h"
#include "sys/sysfs_mount.h"

/* A hostile tree must not fill the memory; the largest machines stay below. */
#define MAX_FILES 262144
#define MAX_TOTAL_BYTES ((size_t)256 << 20)
#define MAX_PCI_DEVICES 4096
#define PROC_NET "/proc/net/"
#define OWN_PROC_NET "/proc/thread-self/net/"

struct files {
	struct facts *facts;
	const struct file_tree *proc, *sysfs; /* proc also serves /sys outside of class/net */
	const struct collect_file_row *row;
	int netns;
	size_t total_bytes;
	char (*pci)[16]; /* addresses, each once */
	int pci_count;
	char buffer[FACTS_MAX_FILE_BYTES + 1];
};

static int out_of_memory(void)
{
	return error_set(ENOMEM, "out of memory for files of sysfs and procfs");
}

/* A file that was cut ends with its last whole line. */
static void cut_line(char *text, size_t length, size_t size)
{
	char *last;

	if (length + 1 < size)
		return;
	last = memrchr(text, '\n', length);
	if (last)
		last[1] = '\0';
}

/* What is not there says something when it was asked for by its full name: a module that is not loaded, say. */
static int is_worth_recording(const struct collect_file_row *row, int error)
{
	if (error != ENOENT && error != ENOTDIR)
		return 1;
	return row->scope <= COLLECT_FILE_NETNS && !strchr(row->pattern, '*');
}

static int visit_file(const char *path, void *context)
{
	struct files *files = context;
	size_t size = files->row->max_bytes ? (size_t)files->row->max_bytes + 1 : sizeof(files->buffer);
	const struct file_tree *tree = strncmp(path, "/sys/class/net/", 15) ? files->proc : files->sysfs;
	char recorded[PATH_MAX];
	ssize_t length;

	if (files->facts->file_count >= MAX_FILES || files->total_bytes >= MAX_TOTAL_BYTES)
		return -E2BIG;
	length = file_tree_read(tree, path, files->buffer, size);
	if (!strncmp(path, OWN_PROC_NET, sizeof(OWN_PROC_NET) - 1))
		snprintf(recorded, sizeof(recorded), PROC_NET "%s", path + sizeof(OWN_PROC_NET) - 1);
	else
		snprintf(recorded, sizeof(recorded), "%s", path);
	if (length < 0) {
		if (!is_worth_recording(files->row, (int)-length))
			return 0;
		return facts_add_file(files->facts, files->netns, recorded, "", (int)-length);
	}
	cut_line(files->buffer, (size_t)length, size);
	files->total_bytes += (size_t)length;
	return facts_add_file(files->facts, files->netns, recorded, files->buffer, 0);
}

/* Most links are no bridges, ports, bonds or devices: whether there is such a directory is asked once for all rows of it. */
struct directory {
	char name[32]; /* "bridge"; "" none asked for yet */
	int is_there;
};

static int may_be_there(const struct file_tree *tree, const char *pattern, const char *link, struct directory *last)
{
	const char *below = strstr(pattern, "/%/");
	size_t length = below ? strcspn(below + 3, "/*") : 0;
	char path[128];

	if (!below || below[3 + length] != '/' || length >= sizeof(last->name))
		return 1;
	if (strlen(last->name) != length || strncmp(last->name, below + 3, length) != 0) {
		snprintf(last->name, sizeof(last->name), "%.*s", (int)length, below + 3);
		snprintf(path, sizeof(path), "%.*s/%s/%s", (int)(below - pattern), pattern, link, last->name);
		last->is_there = file_tree_exists(tree, path);
	}
	return last->is_there;
}

/* Rows of one scope. Only those of links need the sysfs of a namespace. */
static int visit_rows(struct files *files, enum collect_file_scope scope, const char *name)
{
	const struct file_tree *tree = scope == COLLECT_FILE_LINK ? files->sysfs : files->proc;
	struct directory last = { "", 0 };
	int result = 0;

	for (const struct collect_file_row *row = collect_file_rows; row->pattern && result == 0; row++) {
		const char *pattern = row->pattern;
		char own[256];

		if (row->scope != scope || !may_be_there(tree, pattern, name, &last))
			continue;
		files->row = row;
		if (!tree->is_captured && !strncmp(pattern, PROC_NET, sizeof(PROC_NET) - 1)) {
			snprintf(own, sizeof(own), OWN_PROC_NET "%s", pattern + sizeof(PROC_NET) - 1);
			pattern = own;
		}
		result = file_tree_glob(tree, pattern, name, visit_file, files);
	}
	return result;
}

/* --- PCI devices above a link --- */

static int is_pci_address(const char *text, size_t length)
{
	static const char form[] = "hhhh:hh:hh.h";

	if (length < sizeof(form) - 1 || length > 15)
		return 0;
	text += length - (sizeof(form) - 1); /* domains may have more digits */
	for (size_t i = 0; i < sizeof(form) - 1; i++)
		if (form[i] == 'h' ? !strchr("0123456789abcdef", text[i]) || !text[i] : text[i] != form[i])
			return 0;
	return 1;
}

static int add_pci(struct files *files, const char *address, size_t length)
{
	char name[16];

	snprintf(name, sizeof(name), "%.*s", (int)length, address);
	for (int i = 0; i < files->pci_count; i++)
		if (!strcmp(files->pci[i], name))
			return 0;
	if (files->pci_count == MAX_PCI_DEVICES)
		return 0;
	if ((files->pci_count & (files->pci_count - 1)) == 0) {
		size_t room = files->pci_count ? 2 * (size_t)files->pci_count : 1;
		char(*larger)[16] = realloc(files->pci, room * sizeof(*larger));

		if (!larger)
			return -ENOMEM;
		files->pci = larger;
	}
	strcpy(files->pci[files->pci_count++], name);
	return 0;
}

/* Puts an address in front of the list of those above the device: the way is read from the root down. What does not fit is far away. */
static void add_parent(struct facts_link *link, const char *address, size_t length)
{
	char rest[sizeof(link->bus_parents)];

	if (strlen(link->bus_address) == length && !strncmp(link->bus_address, address, length))
		return;
	strcpy(rest, link->bus_parents);
	snprintf(link->bus_parents, sizeof(link->bus_parents), "%.*s%s%s", (int)length, address, rest[0] ? " " : "",
		 rest);
}

/* "../../devices/pci0000:00/0000:00:1c.0/0000:03:00.0/net/eth0": the devices from the root complex down. Recorded as the text of the
 * link, too: it is the evidence. */
static int note_pci_path(struct files *files, struct facts_link *link)
{
	char path[64], target[PATH_MAX];
	int result;

	snprintf(path, sizeof(path), "/sys/class/net/%s", link->name);
	if (file_tree_link(files->sysfs, path, target, sizeof(target)) < 0 || strstr(target, "/virtual/"))
		return 0;
	result = facts_add_file(files->facts, files->netns, path, target, 0);
	link->bus_parents[0] = '\0';
	for (const char *part = target; *part && result == 0;) {
		size_t length = strcspn(part, "/");

		if (is_pci_address(part, length)) {
			add_parent(link, part, length);
			result = add_pci(files, part, length);
		}
		part += length + (part[length] == '/');
	}
	return result;
}

/* --- namespaces --- */

/* Without a mount of its own: whether /sys shows this very link. */
static int is_shown(const struct files *files, const struct facts_link *link)
{
	char path[64], text[24];

	if (files->sysfs != files->proc || files->sysfs->is_captured)
		return 1;
	snprintf(path, sizeof(path), "/sys/class/net/%s/ifindex", link->name);
	return file_tree_read(files->sysfs, path, text, sizeof(text)) > 0 && atoi(text) == link->ifindex;
}

static int read_namespace(struct files *files, int netns)
{
	struct facts *facts = files->facts;
	int result;

	files->netns = netns;
	result = visit_rows(files, COLLECT_FILE_NETNS, "");
	for (int i = 0; i < facts->link_count && result == 0; i++) {
		struct facts_link *link = &facts->links[i];

		if (link->netns != netns || !link->name[0] || !is_shown(files, link))
			continue;
		result = note_pci_path(files, link);
		if (result == 0)
			result = visit_rows(files, COLLECT_FILE_LINK, link->name);
	}
	return result;
}

static int enter_and_read(struct files *files, int netns)
{
	struct netns_token token;
	struct file_tree mounted;
	int mount, result;

	if (collect_enter(&files->facts->netns[netns], &token) < 0)
		return facts_add_gap(files->facts, "files of namespace %s: %s", files->facts->netns[netns].name,
				     error_text());
	mount = sysfs_mount();
	if (mount >= 0) {
		file_tree_of_mount(&mounted, mount, "/sys");
		files->sysfs = &mounted;
		result = read_namespace(files, netns);
		file_tree_close(&mounted);
		files->sysfs = files->proc;
	} else if (netns == 0) {
		result = read_namespace(files, netns);
	} else {
		result = facts_add_gap(files->facts, "files of namespace %s: cannot mount its sysfs: %s",
				       files->facts->netns[netns].name, strerror(-mount));
	}
	netns_leave(&token);
	return result;
}

static int read_all(struct files *files)
{
	int result = visit_rows(files, COLLECT_FILE_MACHINE, "");

	if (files->proc->is_captured && result == 0)
		result = read_namespace(files, 0);
	for (int i = 0; !files->proc->is_captured && i < files->facts->netns_count && result == 0; i++)
		if (files->facts->netns[i].could_enter)
			result = enter_and_read(files, i);
	files->netns = 0;
	for (int i = 0; i < files->pci_count && result == 0; i++)
		result = visit_rows(files, COLLECT_FILE_PCI, files->pci[i]);
	return result;
}

int collect_files(const char *sysroot, struct facts *facts)
{
	struct files *files = calloc(1, sizeof(*files));
	struct file_tree tree;
	int result;

	if (!files)
		return out_of_memory();
	result = file_tree_open(&tree, sysroot);
	if (result < 0) {
		free(files);
		return result;
	}
	files->facts = facts;
	files->proc = files->sysfs = &tree;
	result = read_all(files);
	if (result == -E2BIG)
		result = facts_add_gap(facts, "files: more than %d, or more than %zu MiB; the rest was not read",
				       MAX_FILES, MAX_TOTAL_BYTES >> 20);
	file_tree_close(&tree);
	free(files->pci);
	free(files);
	return result < 0 ? out_of_memory() : 0;
}
