// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What only sysfs says of links, or says best; see collect_device.h.
 *
 * Of a living namespace it is read in a sysfs of the namespace's own (sysfs_mount.h). Without the right to mount one, /sys serves for the caller's namespace, for
 * those links that it shows the same number and address of. Files that doctor cites word by word are collect_files.c's. Called by
 * collect_links.c and collect_sysfs_links.c.
 */
#include "sys/collect_device.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/if.h>

#include "base/error.h"
#include "sys/collect_scope.h"
#include "sys/sysfs_mount.h"

#define MAX_VFS 4096

/* A file of the link: below its directory in /sys/class/net. */
static const char *path_of(const struct facts_link *link, const char *file, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "/sys/class/net/%s/%s", link->name, file);
	return path;
}

/* A number between 0 and max, decimal or with 0x; FACTS_UNKNOWN. */
static int64_t read_number(const struct file_tree *tree, const struct facts_link *link, const char *file, int64_t max)
{
	char path[PATH_MAX], text[32], *end;
	long long number;

	if (file_tree_read(tree, path_of(link, file, path), text, sizeof(text)) <= 0)
		return FACTS_UNKNOWN;
	errno = 0;
	number = strtoll(text, &end, strncmp(text, "0x", 2) ? 10 : 16);
	return errno || end == text || (*end && *end != '\n') || number < 0 || number > max ? FACTS_UNKNOWN : number;
}

static int read_int(const struct file_tree *tree, const struct facts_link *link, const char *file)
{
	return (int)read_number(tree, link, file, INT_MAX);
}

/* Last part of where a symbolic link points: 0; -errno, and `name` as it was. */
static int read_target(const struct file_tree *tree, const struct facts_link *link, const char *file, char *name,
		       size_t size)
{
	char path[PATH_MAX], target[PATH_MAX];
	int code = file_tree_link(tree, path_of(link, file, path), target, sizeof(target));
	const char *last;

	if (code < 0)
		return code;
	last = strrchr(target, '/');
	snprintf(name, size, "%s", last ? last + 1 : target);
	return 0;
}

/* Directories queues/rx-N and queues/tx-N are those in use. None of rx without CONFIG_RPS. */
static void count_queues(const struct file_tree *tree, struct facts_link *link)
{
	char path[PATH_MAX];
	int rx = 0, tx = 0;
	struct dirent *entry;
	DIR *listing;

	if (file_tree_directory(tree, path_of(link, "queues", path), &listing) < 0)
		return;
	while ((entry = readdir(listing))) {
		rx += !strncmp(entry->d_name, "rx-", 3);
		tx += !strncmp(entry->d_name, "tx-", 3);
	}
	closedir(listing);
	if (rx)
		link->rx_queues = rx;
	if (tx)
		link->tx_queues = tx;
}

/* A VF finds its number among those of its PF. */
static void read_virtual_function(const struct file_tree *tree, struct facts_link *link)
{
	char file[32], name[sizeof(link->bus_address)];

	if (read_target(tree, link, "device/physfn", link->physfn_address, sizeof(link->physfn_address)))
		return;
	for (int i = 0; i < MAX_VFS; i++) {
		snprintf(file, sizeof(file), "device/physfn/virtfn%d", i);
		if (read_target(tree, link, file, name, sizeof(name)))
			return;
		if (!strcmp(name, link->bus_address)) {
			link->vf_index = i;
			return;
		}
	}
}

static void read_pci(const struct file_tree *tree, struct facts_link *link)
{
	int64_t vendor = read_number(tree, link, "device/vendor", UINT16_MAX);
	int64_t product = read_number(tree, link, "device/device", UINT16_MAX);

	link->pci_vendor = vendor > 0 ? (uint16_t)vendor : 0;
	link->pci_device = product > 0 ? (uint16_t)product : 0;
	if (collect_is_representor(link))
		return;
	read_virtual_function(tree, link);
	link->vf_total = read_int(tree, link, "device/sriov_totalvfs");
	link->vf_count = read_int(tree, link, "device/sriov_numvfs");
}

static void read_device(const struct file_tree *tree, struct facts_link *link)
{
	int code = read_target(tree, link, "device", link->bus_address, sizeof(link->bus_address));

	if (code == -ENOENT) /* a link without a device, whatever ethtool said of a bus */
		link->bus[0] = link->bus_address[0] = '\0';
	if (code < 0)
		return;
	read_target(tree, link, "device/subsystem", link->bus, sizeof(link->bus));
	if (!link->driver[0])
		read_target(tree, link, "device/driver", link->driver, sizeof(link->driver));
	link->numa_node = read_int(tree, link, "device/numa_node");
	if (link->numa_node < 0) /* virtio: the PCI device above */
		link->numa_node = read_int(tree, link, "device/../numa_node");
	if (!strcmp(link->bus, "pci"))
		read_pci(tree, link);
}

void collect_device_of(const struct file_tree *tree, struct facts_link *link)
{
	int flags;

	link->gro_flush_timeout_ns = read_number(tree, link, "gro_flush_timeout", INT64_MAX);
	link->napi_defer_hard_irqs = read_int(tree, link, "napi_defer_hard_irqs");
	link->threaded_napi = (int)read_number(tree, link, "threaded", 2); /* 2: busy polling */
	if (!link->kind[0] || !strcmp(link->kind, "tun")) {
		flags = read_int(tree, link, "tun_flags");
		link->tun_flags = flags > 0 ? flags : link->tun_flags;
	}
	count_queues(tree, link);
	read_device(tree, link);
}

/* Whether the tree shows this very link and not one of that name in another namespace. */
static int shows_same(const struct file_tree *tree, const struct facts_link *link)
{
	char wanted[24], found[24], path[PATH_MAX];

	if (read_int(tree, link, "ifindex") != link->ifindex)
		return 0;
	if (link->flags & IFF_LOOPBACK)
		return 1;
	snprintf(wanted, sizeof(wanted), "%02x:%02x:%02x:%02x:%02x:%02x\n", link->address[0], link->address[1],
		 link->address[2], link->address[3], link->address[4], link->address[5]);
	return file_tree_read(tree, path_of(link, "address", path), found, sizeof(found)) > 0 && !strcmp(wanted, found);
}

int collect_devices(const struct collect_scope *scope)
{
	int mount = sysfs_mount();
	struct file_tree tree;
	char label[96];

	if (mount >= 0)
		file_tree_of_mount(&tree, mount, "/sys");
	else if (scope->netns != 0 || file_tree_open(&tree, NULL) < 0)
		return facts_add_gap(scope->facts, "devices, queues and NAPI settings%s: cannot mount sysfs: %s%s",
				     collect_scope_label(scope, label, sizeof(label)), strerror(-mount),
				     mount == -EPERM ? " (run as root)" : "") < 0
			       ? error_set(ENOMEM, "out of memory for a gap")
			       : 0;
	for (int i = 0; i < scope->link_count; i++) {
		struct facts_link *link = &scope->facts->links[scope->first_link + i];

		if (mount >= 0 || shows_same(&tree, link))
			collect_device_of(&tree, link);
	}
	file_tree_close(&tree);
	return 0;
}
