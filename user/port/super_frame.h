/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * GSO super-frames: many test frames as one socket buffer of up to 64 KB, cut to frames by the device or, where it
 * cannot, by the kernel just in front of it. Pure.
 *
 * Theory. UDP segmentation (VIRTIO_NET_HDR_GSO_UDP_L4, kernel 6.2) repeats the headers up to UDP in front of every
 * gso_size bytes of payload, with lengths and checksums of each segment's own. Our test header is payload, so a
 * super-frame carries one at the start of each gso_size bytes, numbered: after cutting, each segment is the test frame
 * that would have been sent alone. All have one size, that of the template; all frames of one super-frame are of one
 * flow. TCP segmentation would cut likewise, but test frames are UDP, and no probe would know them. The checksum field
 * holds the pseudo-header's sum, and the device or kernel completes it for every segment: so these frames carry a UDP
 * checksum also over IPv4, and IPv4 identifications that count up.
 */
#ifndef PORT_SUPER_FRAME_H
#define PORT_SUPER_FRAME_H

#include <linux/virtio_net.h>

#include "port/port.h"

#define SUPER_FRAME_MAX_BYTES 65535
/* The kernel's UDP_MAX_SEGMENTS, which it checks since 6.6: 128, and 64 before 6.11. */
#define SUPER_FRAME_MAX_FRAMES 128
#define SUPER_FRAME_SURE_FRAMES 64

#ifndef VIRTIO_NET_HDR_GSO_UDP_L4
#define VIRTIO_NET_HDR_GSO_UDP_L4 5
#endif

struct super_frame {
	struct virtio_net_hdr offload; /* in front of the bytes, as PACKET_VNET_HDR wants it */
	unsigned char bytes[SUPER_FRAME_MAX_BYTES];
} __attribute__((packed));

/* Test frames that fit a super-frame of so many bytes (without FCS), at most SUPER_FRAME_MAX_FRAMES; 0: none does, or the template has
 * no test header. */
unsigned int super_frame_capacity(const struct port_template *template, unsigned int super_bytes);
/* Fills headers, payload and offload for `count` frames (1…capacity) that are not numbered yet. Returns the bytes
 * behind offload. */
unsigned int super_frame_build(struct super_frame *super, const struct port_template *template, unsigned int count);
/* Numbers its frames first_sequence…first_sequence+count-1; every stamp_interval-th is stamped with origin_ns. */
void super_frame_number(struct super_frame *super, const struct port_template *template, unsigned int count,
			uint64_t first_sequence, uint32_t flow, uint32_t stamp_interval, uint64_t origin_ns);

#endif
