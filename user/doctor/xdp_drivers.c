// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of drivers; see xdp_drivers.h. */
#include "doctor/xdp_drivers.h"

#include <string.h>

#include "doctor/lookup.h"

#define RESET "resets all queues"
#define LINK_DOWN "takes the link down and up"

/* clang-format off */
static const struct xdp_driver drivers[] = {
	/* name          native redir frags  zc    mtu   target                   refuses                              silent attach */
	{ "virtio_net",  4010, 1, 6003, 6013, 3506, XDP_TARGET_WITH_PROGRAM, 0,                                         0, "" },
	{ "veth",        4019, 1, 5018, 0,    3506, XDP_TARGET_WITH_PEER,    0,                                         0, "takes software segmentation from the peer" },
	{ "tun",         4014, 1, 0,    0,    0,    XDP_TARGET_ALWAYS,       0,                                         0, "" },
	{ "ixgbe",       4012, 1, 0,    4020, 3050, XDP_TARGET_WITH_PROGRAM, XDP_REFUSES_LRO | XDP_REFUSES_VFS,         1, RESET },
	{ "ixgbevf",     4017, 0, 0,    0,    3050, XDP_TARGET_NEVER,        0,                                         1, RESET },
	{ "i40e",        4013, 1, 6004, 4020, 3046, XDP_TARGET_WITH_PROGRAM, 0,                                         0, LINK_DOWN },
	{ "iavf",        0,    0, 0,    0,    0,    XDP_TARGET_NEVER,        0,                                         0, "" },
	{ "ice",         5005, 1, 6003, 5005, 3046, XDP_TARGET_WITH_PROGRAM, 0,                                         0, RESET },
	{ "idpf",        6018, 1, 6018, 6018, 0,    XDP_TARGET_WITH_PROGRAM, 0,                                         0, RESET },
	{ "igb",         5010, 1, 0,    6014, 3046, XDP_TARGET_WITH_PROGRAM, 0,                                         0, LINK_DOWN },
	{ "igc",         5013, 1, 0,    5014, 1500, XDP_TARGET_WITH_PROGRAM, 0,                                         0, LINK_DOWN },
	{ "igbvf",       0,    0, 0,    0,    0,    XDP_TARGET_NEVER,        0,                                         0, "" },
	{ "e1000",       0,    0, 0,    0,    0,    XDP_TARGET_NEVER,        0,                                         0, "" },
	{ "e1000e",      0,    0, 0,    0,    0,    XDP_TARGET_NEVER,        0,                                         0, "" },
	{ "8139cp",      0,    0, 0,    0,    0,    XDP_TARGET_NEVER,        0,                                         0, "" },
	{ "pcnet32",     0,    0, 0,    0,    0,    XDP_TARGET_NEVER,        0,                                         0, "" },
	{ "r8169",       0,    0, 0,    0,    0,    XDP_TARGET_NEVER,        0,                                         0, "" },
	{ "ibmveth",     0,    0, 0,    0,    0,    XDP_TARGET_NEVER,        0,                                         0, "" },
	{ "ibmvnic",     0,    0, 0,    0,    0,    XDP_TARGET_NEVER,        0,                                         0, "" },
	{ "mlx5_core",   4009, 1, 5018, 5003, 3498, XDP_TARGET_WITH_PROGRAM, XDP_REFUSES_LRO | XDP_REFUSES_HW_GRO,      1, RESET },
	{ "mlx4_en",     4008, 1, 0,    0,    3498, XDP_TARGET_NEVER,        0,                                         1, RESET },
	{ "bnxt_en",     4011, 1, 5019, 0,    3502, XDP_TARGET_WITH_PROGRAM, 0,                                         1, RESET },
	{ "ena",         5006, 1, 0,    0,    3498, XDP_TARGET_WITH_PROGRAM, XDP_REFUSES_MOST_QUEUES,                   0, RESET },
	{ "gve",         6004, 1, 0,    6004, 2032, XDP_TARGET_WITH_PROGRAM, XDP_REFUSES_HW_GRO,                        0, RESET },
	{ "hv_netvsc",   5006, 1, 0,    0,    3506, XDP_TARGET_ALWAYS,       XDP_REFUSES_LRO,                           0, "" },
	{ "mana",        5017, 1, 0,    0,    3506, XDP_TARGET_ALWAYS,       0,                                         0, RESET },
	{ "vmxnet3",     6006, 1, 0,    0,    3494, XDP_TARGET_WITH_PROGRAM, 0,                                         0, "turns LRO off" },
	{ "vif",         5009, 1, 0,    0,    3840, XDP_TARGET_ALWAYS,       0,                                         0, RESET },
	{ "st_gmac",     5013, 1, 0,    5013, 1500, XDP_TARGET_WITH_PROGRAM, 0,                                         0, LINK_DOWN },
	{ "qede",        4010, 1, 0,    0,    0,    XDP_TARGET_ALWAYS,       0,                                         0, RESET },
	{ "sfc",         5005, 1, 0,    0,    3520, XDP_TARGET_ALWAYS,       0,                                         1, RESET },
	{ "nfp",         4010, 0, 0,    5018, 0,    XDP_TARGET_NEVER,        0,                                         0, RESET },
	{ "ionic",       6009, 1, 6009, 0,    3502, XDP_TARGET_ALWAYS,       0,                                         0, RESET },
	{ "fbnic",       6018, 0, 6018, 0,    0,    XDP_TARGET_NEVER,        0,                                         0, RESET },
	{ "tsnep",       6003, 1, 0,    6004, 0,    XDP_TARGET_ALWAYS,       0,                                         0, RESET },
	{ "atlantic",    5019, 1, 5019, 0,    0,    XDP_TARGET_ALWAYS,       0,                                         0, RESET },
	{ "mvneta",      5005, 1, 5018, 0,    3520, XDP_TARGET_ALWAYS,       0,                                         0, RESET },
};
/* clang-format on */

const struct xdp_driver *xdp_driver_find(const char *name)
{
	for (size_t i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++)
		if (!strcmp(drivers[i].name, name))
			return &drivers[i];
	return NULL;
}

static int has_since(int since, int kernel)
{
	return since > 0 && kernel >= since;
}

int xdp_has(const struct facts *facts, const struct facts_link *link, int bit)
{
	const struct xdp_driver *driver = xdp_driver_find(link->driver[0] ? link->driver : link->kind);
	int kernel = lookup_kernel(facts);

	if (link->xdp_features >= 0)
		return (link->xdp_features & bit) == bit;
	if (!driver || !kernel)
		return -1;
	switch (bit) {
	case XDP_BIT_BASIC:
		return has_since(driver->native_since, kernel);
	case XDP_BIT_REDIRECT:
		return driver->can_redirect && has_since(driver->native_since, kernel);
	case XDP_BIT_ZERO_COPY:
		return has_since(driver->zero_copy_since, kernel);
	case XDP_BIT_FRAGS:
		return has_since(driver->frags_since, kernel);
	case XDP_BIT_XMIT:
		if (driver->target == XDP_TARGET_WITH_PROGRAM && has_since(driver->native_since, kernel))
			return link->xdp_program_id != 0;
		return driver->target == XDP_TARGET_ALWAYS  ? has_since(driver->native_since, kernel)
		       : driver->target == XDP_TARGET_NEVER ? 0
							    : -1;
	default:
		return -1;
	}
}
