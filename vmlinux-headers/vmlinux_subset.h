/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The few kernel records that our tracing programs read, and of those only the members they read. Offsets are taken from the
 * running kernel's BTF when a program is loaded (preserve_access_index), so order and size here mean nothing.
 */
#ifndef HOPCAP_VMLINUX_SUBSET_H
#define HOPCAP_VMLINUX_SUBSET_H

#include <linux/types.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct ns_common {
	unsigned int inum;
};

struct net {
	struct ns_common ns;
};

typedef struct {
	struct net *net;
} possible_net_t;

struct net_device {
	int ifindex;
	possible_net_t nd_net;
};

struct sk_buff {
	struct net_device *dev;
	unsigned char *head;
	__u16 mac_header;
};

#pragma clang attribute pop

#endif
