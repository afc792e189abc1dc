// SPDX-License-Identifier: GPL-2.0-or-later
/* Reasons why AF_XDP could not be had; see xsk_explain.h. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "port/xsk_explain.h"

#define HEADROOM_BYTES 256
#define VIRTIO_ACCESS_PLATFORM 33
#define VIRTIO_RING_RESET 40
#define FRAME_OVER_MTU_BYTES 26 /* Ethernet header, two tags, FCS */

/* What a driver that declares zero-copy may still want; from the drivers' own sources and their bug trackers. */
static const struct {
	const char *driver, *wants;
} driver_rules[] = {
	{ "virtio_net",
	  "virtio_net needs guest offloads off or switchable (a device with guest_tso4, guest_tso6, guest_ufo or "
	  "guest_csum and without ctrl_guest_offloads refuses), mergeable buffers, and free queue pairs for XDP" },
	{ "ixgbe", "ixgbe needs SR-IOV and DCB off, LRO off, and a frame that fits its ring's buffer" },
	{ "i40e", "i40e needs an MTU that fits one buffer and a device that is not being reset" },
	{ "ice",
	  "ice needs its DDP package loaded, free transmit queues for XDP (fewer channels: ethtool -L), legacy-rx off" },
	{ "igc", "igc needs an MTU of at most 1500" },
	{ "igb", "igb needs an MTU that fits one buffer" },
	{ "mlx5_core",
	  "mlx5 needs LRO and hardware GRO off (ethtool -K IF lro off rx-gro-hw off); the reason stands in dmesg" },
	{ "gve",
	  "gve needs hardware GRO and header split off, as many receive as transmit queues, at most half of what it "
	  "could have, and chunks that hold its largest MTU" },
	{ "ena", "ena needs an MTU of at most 3498 and at most half of its channels; the reason stands in dmesg" },
	{ "bnxt_en",
	  "bnxt needs combined channels, header-data split off and spare transmit rings; the reason stands in dmesg" },
	{ "stmmac", "stmmac needs an MTU of at most 1500 and chunks of 2048 bytes or more" },
};

struct text {
	char *buffer;
	size_t size, used;
};

static void __attribute__((format(printf, 2, 3))) add(struct text *text, const char *format, ...)
{
	va_list arguments;
	int length;

	if (text->used >= text->size)
		return;
	va_start(arguments, format);
	length = vsnprintf(text->buffer + text->used, text->size - text->used, format, arguments);
	va_end(arguments);
	if (length > 0)
		text->used += (size_t)length;
}

unsigned int xsk_zero_copy_mtu(unsigned int chunk_bytes)
{
	unsigned int room = chunk_bytes > HEADROOM_BYTES ? (chunk_bytes - HEADROOM_BYTES) / 128 * 128 : 0;

	return room > FRAME_OVER_MTU_BYTES ? room - FRAME_OVER_MTU_BYTES : 0;
}

static const char *driver_wants(const char *driver)
{
	for (size_t i = 0; i < sizeof(driver_rules) / sizeof(driver_rules[0]); i++)
		if (!strcmp(driver_rules[i].driver, driver))
			return driver_rules[i].wants;
	return NULL;
}

static void explain_register(const struct xsk_facts *facts, struct text *text)
{
	add(text, "%s: cannot register %llu bytes of memory for AF_XDP: ", facts->interface,
	    (unsigned long long)facts->bytes);
	if (facts->code != ENOBUFS) {
		add(text, "%s", strerror(facts->code));
		return;
	}
	if (facts->memlock_bytes == UINT64_MAX)
		add(text, "the kernel has no room for it");
	else
		add(text, "only %llu may be locked (`ulimit -l` says %llu)", (unsigned long long)facts->memlock_bytes,
		    (unsigned long long)(facts->memlock_bytes / 1024));
	add(text, "; run it with CAP_IPC_LOCK or `ulimit -l %llu`",
	    (unsigned long long)((facts->bytes + 1023) / 1024));
}

/* Whether the reason lies in the queue, whatever the mode. */
static int explain_queue(const struct xsk_facts *facts, struct text *text)
{
	unsigned int receive = facts->receive_queues, transmit = facts->transmit_queues;

	if (!facts->is_gone && (receive || transmit) && facts->queue >= (facts->transmit ? transmit : receive)) {
		add(text, "there is no queue %u: it has %u for receiving and %u for sending, numbered from 0",
		    facts->queue, receive, transmit);
		return 1;
	}
	if (facts->code == EBUSY) {
		add(text, "another AF_XDP socket holds this queue; end that program, or take another queue");
		return 1;
	}
	if (facts->is_gone || facts->code == ENODEV || facts->code == ENXIO) {
		add(text, "the interface is gone");
		return 1;
	}
	if (facts->code == ENETDOWN) {
		add(text, "the interface is down: `ip link set %s up`", facts->interface);
		return 1;
	}
	if (facts->code == EPERM) {
		add(text, "CAP_NET_RAW is needed");
		return 1;
	}
	return 0;
}

static int virtio_lacks(const struct xsk_facts *facts, int bit)
{
	return facts->virtio_known && !(facts->virtio_features >> bit & 1);
}

/* virtio_net maps the memory through the DMA interface and resets the queue to bind it; a device may offer neither. */
static int explain_virtio(const struct xsk_facts *facts, struct text *text)
{
	if (strcmp(facts->driver, "virtio_net"))
		return 0;
	if (facts->code == EINVAL && virtio_lacks(facts, VIRTIO_ACCESS_PLATFORM))
		add(text,
		    "its virtio device has not VIRTIO_F_ACCESS_PLATFORM, without which frames are not mapped for it; start the "
		    "guest with iommu_platform=on,disable-legacy=on, or use AF_XDP copy");
	else if (facts->code == ENOENT && virtio_lacks(facts, VIRTIO_RING_RESET))
		add(text,
		    "its virtio device cannot reset a single queue (VIRTIO_F_RING_RESET); start the guest with queue_reset=on "
		    "and a machine type of 7.2 or newer (vhost-user back ends do not have it), or use AF_XDP copy");
	else
		return 0;
	return 1;
}

static void explain_zero_copy(const struct xsk_facts *facts, struct text *text)
{
	const uint64_t needed = NETDEV_XDP_BASIC | NETDEV_XDP_REDIRECT | NETDEV_XDP_ZERO_COPY;
	const char *wants = driver_wants(facts->driver);
	unsigned int segments = facts->features.zero_copy_segments;
	char names[128], missing[128];

	if (facts->features_known && (facts->features.xdp & needed) != needed) {
		add(text, "its driver %s does not declare %s (it has: %s); use AF_XDP copy", facts->driver,
		    netdev_features_xdp_names(needed & ~facts->features.xdp, missing, sizeof(missing)),
		    netdev_features_xdp_names(facts->features.xdp, names, sizeof(names)));
	} else if (segments < 2 && facts->mtu_bytes > xsk_zero_copy_mtu(facts->chunk_bytes)) {
		add(text,
		    "its MTU of %u is too large for a chunk: one of %u bytes holds frames of MTU %u, and this driver "
		    "takes one chunk a frame; lower the MTU or use AF_XDP copy",
		    facts->mtu_bytes, facts->chunk_bytes, xsk_zero_copy_mtu(facts->chunk_bytes));
	} else if (facts->program_id && facts->program_is_generic) {
		add(text, "a generic XDP program (id %u) is attached, and zero-copy needs a native one; detach it",
		    facts->program_id);
	} else if (explain_virtio(facts, text)) {
		return;
	} else if (facts->code == ENOENT) {
		add(text,
		    "this receive queue has no page pool (virtio_net with big packets: mergeable buffers are off)");
	} else if (!facts->features_known && facts->code == EOPNOTSUPP) {
		add(text, "its driver %s has no zero-copy in this kernel; use AF_XDP copy", facts->driver);
	} else if (wants) {
		add(text, "%s; %s", strerror(facts->code), wants);
	} else {
		add(text, "its driver %s declares it, but refuses now: %s; the reason may stand in dmesg",
		    facts->driver, strerror(facts->code));
	}
}

static void explain_send(const struct xsk_facts *facts, struct text *text)
{
	add(text, "%s: AF_XDP cannot send on queue %u: ", facts->interface, facts->queue);
	if (facts->is_gone || (facts->code == ENXIO && !facts->zero_copy))
		add(text, "the interface is gone");
	else if (facts->code == ENETDOWN)
		add(text, "the interface went down");
	else if ((facts->code == EINVAL || facts->code == ENXIO) && facts->zero_copy && !facts->program_id)
		add(text, "no XDP program is attached, and this driver sends from XDP's rings, which come with one");
	else
		add(text, "%s", strerror(facts->code));
}

const char *xsk_explain(const struct xsk_facts *facts, char *buffer, size_t size)
{
	struct text text = { .buffer = buffer, .size = size };
	const char *mode = facts->zero_copy ? "zero-copy" : "copy";

	switch (facts->step) {
	case XSK_STEP_SOCKET:
		add(&text, "%s: cannot open an AF_XDP socket: %s%s", facts->interface, strerror(facts->code),
		    facts->code == EAFNOSUPPORT ? "; this kernel was built without CONFIG_XDP_SOCKETS"
		    : facts->code == EPERM	? "; CAP_NET_RAW is needed"
						: "");
		break;
	case XSK_STEP_REGISTER:
		explain_register(facts, &text);
		break;
	case XSK_STEP_BUSY_POLL:
		add(&text, "%s: cannot have preferred busy polling: %s%s", facts->interface, strerror(facts->code),
		    facts->code == EPERM ? "; CAP_NET_ADMIN is needed" : "");
		break;
	case XSK_STEP_SEND:
		explain_send(facts, &text);
		break;
	case XSK_STEP_MODE:
		add(&text, "%s: queue %u was bound without zero-copy although it was asked for; use AF_XDP copy",
		    facts->interface, facts->queue);
		break;
	case XSK_STEP_BIND:
		add(&text, "%s: no AF_XDP %s on queue %u: ", facts->interface, mode, facts->queue);
		if (explain_queue(facts, &text))
			break;
		if (facts->zero_copy)
			explain_zero_copy(facts, &text);
		else
			add(&text, "%s", strerror(facts->code));
		break;
	}
	return buffer;
}
