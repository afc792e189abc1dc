/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a driver declares of XDP and AF_XDP: the kernel's generic netlink family "netdev" (Linux 6.3 and newer).
 *
 * Owns: asking and reading the answer. No released libbpf reports all of it, so the bytes are read here. Leaves to
 * others: what follows from it. A declaration is no verdict: a driver with the zero-copy bit may refuse zero-copy for
 * its MTU, its channels or its offloads (port/xsk_explain.h). Bits change when programs come and go: ask anew, keep
 * nothing.
 */
#ifndef SYS_NETDEV_FEATURES_H
#define SYS_NETDEV_FEATURES_H

#include <stddef.h>
#include <stdint.h>

/* netdev_features.xdp */
#define NETDEV_XDP_BASIC 0x01u	   /* native programs: abort, drop, pass, tx */
#define NETDEV_XDP_REDIRECT 0x02u  /* native programs may redirect */
#define NETDEV_XDP_NDO_XMIT 0x04u  /* others may redirect to it */
#define NETDEV_XDP_ZERO_COPY 0x08u /* AF_XDP zero-copy; takes effect with BASIC and REDIRECT only */
#define NETDEV_XDP_HW_OFFLOAD 0x10u
#define NETDEV_XDP_RX_SG 0x20u /* programs see frames of several buffers */
#define NETDEV_XDP_NDO_XMIT_SG 0x40u

/* netdev_features.transmit: what a frame's metadata may ask of the driver (Linux 6.8) */
#define NETDEV_TRANSMIT_TIMESTAMP 0x1u
#define NETDEV_TRANSMIT_CHECKSUM 0x2u
#define NETDEV_TRANSMIT_LAUNCH_TIME 0x4u

/* netdev_features.receive_metadata: what a device-bound program may ask of a frame */
#define NETDEV_RECEIVE_TIMESTAMP 0x1u
#define NETDEV_RECEIVE_HASH 0x2u
#define NETDEV_RECEIVE_VLAN 0x4u

struct netdev_features {
	uint64_t xdp;			 /* NETDEV_XDP_* */
	uint64_t receive_metadata;	 /* NETDEV_RECEIVE_* */
	uint64_t transmit;		 /* NETDEV_TRANSMIT_* */
	unsigned int zero_copy_segments; /* buffers that a zero-copy frame may have; 0: not said (no zero-copy) */
};

/* Of one interface in the caller's namespace. 0, -EOPNOTSUPP when the kernel has no such family (before 6.3), or
 * -errno, all with error text. */
int netdev_features_get(const char *interface, int ifindex, struct netdev_features *features);

/* "BASIC REDIRECT RX_SG", "none"; unknown bits in hexadecimal. Return buffer. */
const char *netdev_features_xdp_names(uint64_t bits, char *buffer, size_t size);
const char *netdev_features_transmit_names(uint64_t bits, char *buffer, size_t size);

/*
 * Readers of what the kernel sent: pure, nothing in the bytes is trusted. The answer to request `sequence` is looked
 * for among the messages. 0; the kernel's own error (-ENOENT: there is no such family or interface); -ENOMSG when no
 * message answers the request; -EBADMSG when a length in one of them is wrong.
 */
int netdev_features_parse_family(const void *bytes, size_t size, uint32_t sequence, uint16_t *family);
int netdev_features_parse(const void *bytes, size_t size, uint32_t sequence, uint16_t family, int ifindex,
			  struct netdev_features *features);

#endif
