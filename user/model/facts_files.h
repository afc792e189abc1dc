/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files of procfs and sysfs that facts hold as text: the collector reads what stands here, checks look up what stands here.
 *
 * Owns: the patterns and their scopes. Leaves to others: reading (sys/collect_files.c), judging (doctor/). Pure data.
 *
 * A pattern has one %s or %d, or none, by its scope; facts_file.path is the pattern filled in. A file that is not there is
 * recorded with its errno, so that "absent" and "not allowed" can be told apart.
 */
#ifndef MODEL_FACTS_FILES_H
#define MODEL_FACTS_FILES_H

enum facts_file_scope {
	FACTS_FILE_MACHINE, /* once, netns 0; no argument */
	FACTS_FILE_NETNS,   /* in each namespace; no argument */
	FACTS_FILE_CPU,	    /* each CPU (%d), netns 0 */
	FACTS_FILE_CSTATE,  /* each idle state (%d) of CPU 0, netns 0 */
	FACTS_FILE_NUMA,    /* each NUMA node (%d), netns 0 */
	FACTS_FILE_PCI,	    /* each PCI device of a link, and each bridge above it (%s: "0000:03:00.0"), netns 0 */
	FACTS_FILE_VIRTIO,  /* each virtio device of a link (%s: "virtio0"), netns 0 */
	FACTS_FILE_VIO,	    /* each device on the vio bus (%s: "30000002"), netns 0 */
	FACTS_FILE_LINK,    /* each link (%s: name), in its namespace */
	FACTS_FILE_BOND,    /* each bond (%s: name), in its namespace */
	FACTS_FILE_RX_QUEUE, /* each receive queue of a link that has a device or is a tun, at most 64 (%s: name, %d: queue) */
	FACTS_FILE_TX_QUEUE, /* the same for transmit queues */
};

struct facts_file_pattern {
	enum facts_file_scope scope;
	const char *pattern;
};

/* The table; *count gets its length. */
const struct facts_file_pattern *facts_file_patterns(int *count);

#define FACTS_PATH_CMDLINE "/proc/cmdline"
#define FACTS_PATH_STAT "/proc/stat"
#define FACTS_PATH_SOFTNET "/proc/net/softnet_stat"
#define FACTS_PATH_SNMP "/proc/net/snmp"
#define FACTS_PATH_NETSTAT "/proc/net/netstat"
#define FACTS_PATH_PCI "/sys/bus/pci/devices/%s/"
#define FACTS_PATH_VIRTIO_FEATURES "/sys/bus/virtio/devices/%s/features"
#define FACTS_PATH_CLOCKSOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"

#endif
