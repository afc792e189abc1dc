/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is behind a tap or macvtap: the process that holds it and, when that is QEMU, the guest's device. Owns: matching a tap with a NIC
 * of a command line. Leaves to others: reading command lines (model/qemu_command.h). Called by path_follow.c and tree.c.
 */
#ifndef DISCOVER_PATH_GUEST_H
#define DISCOVER_PATH_GUEST_H

#include "discover/path_graph.h"

struct path_guest {
	int process;	    /* index into facts->processes; -1 none is known */
	int is_qemu;	    /* and its command line tells the device */
	char device[48];    /* "virtio-net-pci"; "" unknown */
	uint8_t address[6]; /* of the guest's device */
	int has_address;
	int queues;	      /* of the back end; 0 unknown */
	const char *back_end; /* "vhost", "hub", "user space" */
};

/* 0, or -ENOMEM with error text; a link that nobody holds has process -1. */
int path_guest_find(const struct path_graph *graph, int link, struct path_guest *guest);

#endif
