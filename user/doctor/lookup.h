/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What judges look up in facts: neighbours of a link, numbers inside files, lists of CPUs. Pure.
 *
 * Owns: reading structure out of what the kernel prints (netstat's pairs of lines, CPU lists, virtio's feature string, kernel
 * versions). Leaves to others: judging (doctor/checks_*.c), the facts themselves (model/facts.h).
 */
#ifndef DOCTOR_LOOKUP_H
#define DOCTOR_LOOKUP_H

#include "doctor/check.h"

/* Files that several judges read, as sys/collect_file_rows.c names them. */
#define LOOKUP_STAT "/proc/stat"
#define LOOKUP_SOFTNET "/proc/net/softnet_stat"
#define LOOKUP_SNMP "/proc/net/snmp"
#define LOOKUP_NETSTAT "/proc/net/netstat"
#define LOOKUP_CLOCKSOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"
#define LOOKUP_PCI "/sys/bus/pci/devices/%s/"
#define LOOKUP_VIRTIO_FEATURES "/sys/class/net/%s/device/features"

/* --- links; NULL when they are not among the facts --- */
const struct facts_link *lookup_lower(const struct check_context *context, const struct facts_link *link);
const struct facts_link *lookup_master(const struct check_context *context, const struct facts_link *link);
/* The PF of a VF. */
const struct facts_link *lookup_physical_function(const struct check_context *context, const struct facts_link *link);
/* The next link whose master is `master` after `after` (NULL: the first). */
const struct facts_link *lookup_port(const struct check_context *context, const struct facts_link *master,
				     const struct facts_link *after);
/* 1 when the driver (or, of a device without one, the kind) is one of the words. */
int lookup_is_one_of(const struct facts_link *link, const char *words);
/* A device that frames leave the machine by (a bus behind it), up, not a VF's representor. */
int lookup_is_hardware(const struct facts_link *link);
/* 1 when frames are forwarded through the link: a port of a bridge, or its namespace routes. */
int lookup_forwards(const struct check_context *context, const struct facts_link *link);
/* 1 when a link of that namespace is examined. */
int lookup_netns_is_examined(const struct check_context *context, int netns);

/* --- numbers --- */
/* 6001 for "6.1.0-18-amd64" or "Linux 6.1…"; 0 unknown. */
int lookup_kernel(const struct facts *facts);
/* Bit of the negotiated features of a virtio device: 1, 0, -1 unknown. */
int lookup_virtio_bit(const struct check_context *context, const struct facts_link *link, int bit);
/* "TcpExt", "TCPMTUPFail" of /proc/net/netstat or snmp; -1 unknown. */
int64_t lookup_protocol_counter(const struct facts *facts, int netns, const char *path, const char *group,
				const char *name);
int64_t lookup_protocol_growth(const struct check_context *context, int netns, const char *path, const char *group,
			       const char *name, int *since_boot);
/* The facts that counters are compared with, and the same namespace there; NULL when there are none. */
const struct facts *lookup_earlier(const struct check_context *context, int netns, int *earlier_netns);

/* --- sets of CPUs --- */
#define LOOKUP_MAX_CPUS 4096
struct lookup_cpus {
	uint64_t words[LOOKUP_MAX_CPUS / 64];
};
/* "0-3,8". 0, or -1 when it is no list (cpus is empty then). */
int lookup_cpu_list(const char *text, struct lookup_cpus *cpus);
/* "00000000,0000000f", as rps_cpus has it. */
int lookup_cpu_mask(const char *text, struct lookup_cpus *cpus);
int lookup_cpu_count(const struct lookup_cpus *cpus);
int lookup_cpu_is_in(const struct lookup_cpus *cpus, int cpu);
/* NUMA node of a CPU; -1 unknown. */
int lookup_node_of_cpu(const struct check_context *context, int cpu);

#endif
