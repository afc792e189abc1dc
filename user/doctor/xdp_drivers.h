/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What network drivers do with XDP: a table, one row a driver.
 *
 * Owns: since which kernel, which frame sizes, which settings make a driver refuse. Leaves to others: what this kernel says of
 * itself (facts' feature bits, which win where they are known), judging (checks_xdp.c, checks_mtu.c), what plan offers. Pure.
 *
 * Feature bits (NETDEV_XDP_ACT_*) say what a driver was written to do, not what it will do under the settings it has now: so both are
 * needed. Kernels are major * 1000 + minor. From reading kernel sources 6.1, 6.12, 6.18 and 7.1; distributors port back.
 */
#ifndef DOCTOR_XDP_DRIVERS_H
#define DOCTOR_XDP_DRIVERS_H

#include "model/facts.h"

enum { /* NETDEV_XDP_ACT_*; this copy, as headers may be older than the kernel */
       XDP_BIT_BASIC = 1,
       XDP_BIT_REDIRECT = 2,
       XDP_BIT_XMIT = 4,
       XDP_BIT_ZERO_COPY = 8,
       XDP_BIT_OFFLOAD = 16,
       XDP_BIT_FRAGS = 32,
       XDP_BIT_XMIT_FRAGS = 64,
};

enum { /* NETDEV_XDP_RX_METADATA_* */
       XDP_RX_TIMESTAMP = 1,
       XDP_RX_HASH = 2,
       XDP_RX_VLAN = 4,
};

enum { /* NETDEV_XSK_FLAGS_* */
       XDP_TX_TIMESTAMP = 1,
       XDP_TX_CHECKSUM = 2,
       XDP_TX_LAUNCH_TIME = 4,
};

enum xdp_target { /* may frames be redirected out of it? */
		  XDP_TARGET_NEVER,
		  XDP_TARGET_WITH_PROGRAM, /* only while a program is attached to it, too */
		  XDP_TARGET_WITH_PEER,	   /* veth: when the peer has a program or GRO */
		  XDP_TARGET_ALWAYS,
};

enum { /* what it refuses a native program with */
       XDP_REFUSES_LRO = 1,
       XDP_REFUSES_HW_GRO = 2,
       XDP_REFUSES_VFS = 4,	    /* while it has VFs */
       XDP_REFUSES_MOST_QUEUES = 8, /* more than half of the channels in use */
};

struct xdp_driver {
	const char *name;    /* as facts_link.driver says it */
	int native_since;    /* 0: never */
	int can_redirect;    /* XDP_REDIRECT out of a program there */
	int frags_since;     /* 0: never */
	int zero_copy_since; /* 0: never */
	int mtu_max_bytes;   /* with a program without frags, 4-KiB pages; 0: not known */
	enum xdp_target target;
	unsigned int refuses;
	int is_silent;	    /* refuses with a bare EINVAL, or explains itself in the kernel log only */
	const char *attach; /* what attaching does to traffic; "" nothing */
};

/* NULL: not in the table. */
const struct xdp_driver *xdp_driver_find(const char *name);
/* By bits where they are known, else by table and kernel: 1, 0, -1 unknown. */
int xdp_has(const struct facts *facts, const struct facts_link *link, int bit);

#endif
