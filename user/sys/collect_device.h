/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What sysfs says of a link, as facts: the device below (bus, address, driver, PCI numbers, NUMA node, SR-IOV), queues in use, GRO and
 * NAPI settings, flags of a tap.
 */
#ifndef SYS_COLLECT_DEVICE_H
#define SYS_COLLECT_DEVICE_H

#include "model/facts.h"
#include "sys/file_tree.h"

/* Reads /sys/class/net/NAME of the tree for a link that has its name, and its phys_switch_id and phys_port_name where it has some.
 * What is missing or out of range stays unknown. */
void collect_device_of(const struct file_tree *tree, struct facts_link *link);

#endif
