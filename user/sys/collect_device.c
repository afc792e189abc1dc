// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What sysfs says of the links of one namespace, as facts: the device below (bus, address, driver, NUMA node, SR-IOV), queues in
 * use, GRO and NAPI settings, flags of a tap.
 *
 * Read in a sysfs of the namespace's own (sysfs_mount.h). Without the right to mount one, /sys serves for the caller's namespace, for
 * those links that it shows the same number and address of. Files that doctor cites word by word are collect_files.c's. Called by
 * collect_links.c.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "sys/collect_scope.h"
#include "sys/sysfs_mount.h"

#define MAX_VFS 4096

/* One line of a file below a directory: 0 or -errno. */
static int read_line_at(int directory, const char *path, char *text, size_t size)
{
	int fd = openat(directory, path, O_RDONLY | O_CLOEXEC);
	ssize_t length;

	text[0] = '\0';
	if (fd < 0)
		return -errno;
	do
		length = read(fd, text, size - 1);
	while (length < 0 && errno == EINTR);
	if (length < 0)
		length = -errno;
	close(fd);
	text[length > 0 ? length : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return length < 0 ? (int)length : 0;
}

/* A number of a file, decimal or with 0x; FACTS_UNKNOWN. */
static int64_t number_at(int directory, const char *path)
{
	char text[32], *end;
	long long number;

	if (read_line_at(directory, path, text, sizeof(text)) || !text[0])
		return FACTS_UNKNOWN;
	errno = 0;
	number = strtoll(text, &end, strncmp(text, "0x", 2) ? 10 : 16);
	return errno || *end ? FACTS_UNKNOWN : number;
}

static int int_at(int directory, const char *path)
{
	int64_t number = number_at(directory, path);

	return number >= INT_MIN && number <= INT_MAX ? (int)number : FACTS_UNKNOWN;
}

/* Last part of where a symbolic link points: 0 or -errno, then "". */
static int target_name(int directory, const char *path, char *name, size_t size)
{
	char target[PATH_MAX];
	ssize_t length = readlinkat(directory, path, target, sizeof(target) - 1);
	const char *last;

	name[0] = '\0';
	if (length < 0)
		return -errno;
	target[length] = '\0';
	last = strrchr(target, '/');
	snprintf(name, size, "%s", last ? last + 1 : target);
	return 0;
}

/* Directories queues/rx-N and queues/tx-N are those in use. */
static void count_queues(int directory, struct facts_link *link)
{
	int fd = openat(directory, "queues", O_RDONLY | O_DIRECTORY | O_CLOEXEC), rx = 0, tx = 0;
	DIR *listing = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!listing) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((entry = readdir(listing))) {
		rx += !strncmp(entry->d_name, "rx-", 3);
		tx += !strncmp(entry->d_name, "tx-", 3);
	}
	closedir(listing);
	if (rx) /* none without CONFIG_RPS */
		link->rx_queues = rx;
	if (tx)
		link->tx_queues = tx;
}

static void read_virtual_function(int device, struct facts_link *link)
{
	char path[32], name[sizeof(link->bus_address)];

	if (target_name(device, "physfn", link->physfn_address, sizeof(link->physfn_address)))
		return;
	for (int i = 0; i < MAX_VFS; i++) {
		snprintf(path, sizeof(path), "physfn/virtfn%d", i);
		if (target_name(device, path, name, sizeof(name)))
			return;
		if (!strcmp(name, link->bus_address)) {
			link->vf_index = i;
			return;
		}
	}
}

static void read_pci(int device, struct facts_link *link)
{
	int64_t vendor = number_at(device, "vendor"), product = number_at(device, "device");

	link->pci_vendor = vendor > 0 && vendor <= UINT16_MAX ? (uint16_t)vendor : 0;
	link->pci_device = product > 0 && product <= UINT16_MAX ? (uint16_t)product : 0;
	if (collect_is_representor(link))
		return;
	read_virtual_function(device, link);
	link->vf_total = int_at(device, "sriov_totalvfs");
	link->vf_count = int_at(device, "sriov_numvfs");
}

static void read_device(int directory, struct facts_link *link)
{
	int device;

	if (target_name(directory, "device", link->bus_address, sizeof(link->bus_address))) {
		link->bus[0] = '\0'; /* a link without a device */
		return;
	}
	device = openat(directory, "device", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (device < 0)
		return;
	target_name(device, "subsystem", link->bus, sizeof(link->bus));
	if (!link->driver[0])
		target_name(device, "driver", link->driver, sizeof(link->driver));
	link->numa_node = int_at(device, "numa_node");
	if (link->numa_node < 0) /* virtio: the PCI device above */
		link->numa_node = int_at(device, "../numa_node");
	if (link->numa_node < 0)
		link->numa_node = FACTS_UNKNOWN;
	if (!strcmp(link->bus, "pci"))
		read_pci(device, link);
	close(device);
}

static void read_settings(int directory, struct facts_link *link)
{
	int flags;

	link->gro_flush_timeout_ns = number_at(directory, "gro_flush_timeout");
	link->napi_defer_hard_irqs = int_at(directory, "napi_defer_hard_irqs");
	flags = int_at(directory, "threaded");
	link->threaded_napi = flags >= 0 && flags <= 2 ? flags : FACTS_UNKNOWN; /* 2: busy polling */
	if (!strcmp(link->kind, "tun")) {
		flags = int_at(directory, "tun_flags");
		link->tun_flags = flags > 0 ? flags : link->tun_flags;
	}
}

/* Whether the directory shows this very link and not one of that name in another namespace. */
static int shows_same(int directory, const struct facts_link *link)
{
	char wanted[24], found[24];

	snprintf(wanted, sizeof(wanted), "%02x:%02x:%02x:%02x:%02x:%02x", link->address[0], link->address[1],
		 link->address[2], link->address[3], link->address[4], link->address[5]);
	return int_at(directory, "ifindex") == link->ifindex &&
	       (link->flags & 8 /* IFF_LOOPBACK */ ||
		(!read_line_at(directory, "address", found, sizeof(found)) && !strcmp(wanted, found)));
}

static void read_link(int sysfs, int is_own, struct facts_link *link)
{
	char path[64];
	int directory;

	snprintf(path, sizeof(path), "class/net/%s", link->name);
	directory = openat(sysfs, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (directory < 0)
		return;
	if (is_own || shows_same(directory, link)) {
		read_settings(directory, link);
		count_queues(directory, link);
		read_device(directory, link);
	}
	close(directory);
}

int collect_devices(const struct collect_scope *scope)
{
	int sysfs = sysfs_mount(), is_own = sysfs >= 0, code = sysfs;
	char label[96];

	if (!is_own && scope->netns == 0)
		sysfs = open("/sys", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (sysfs < 0) {
		code = facts_add_gap(scope->facts, "devices, queues and NAPI settings%s: cannot mount sysfs: %s%s",
				     collect_scope_label(scope, label, sizeof(label)), strerror(-code),
				     code == -EPERM ? " (run as root)" : "");
		return code ? error_set(ENOMEM, "out of memory for a gap") : 0;
	}
	for (int i = 0; i < scope->link_count; i++)
		read_link(sysfs, is_own, &scope->facts->links[scope->first_link + i]);
	close(sysfs);
	return 0;
}
