// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of reasons; see reasons.h. Called by accel_status.c and tests. */
#include "accel/reasons.h"

static const char *const names[] = {
	[BRIDGE_REASON_MULTICAST] = "multicast",
	[BRIDGE_REASON_CONTROL] = "control",
	[BRIDGE_REASON_BAD_SOURCE] = "bad_source",
	[BRIDGE_REASON_SOURCE_UNKNOWN] = "source_unknown",
	[BRIDGE_REASON_SOURCE_MOVED] = "source_moved",
	[BRIDGE_REASON_UNKNOWN] = "unknown",
	[BRIDGE_REASON_SAME_PORT] = "same_port",
	[BRIDGE_REASON_SOURCE_PORT] = "source_port",
	[BRIDGE_REASON_TARGET_PORT] = "target_port",
	[BRIDGE_REASON_ISOLATED] = "isolated",
	[BRIDGE_REASON_TOO_LONG] = "too_long",
	[BRIDGE_REASON_BUFFERS] = "buffers",
	[BRIDGE_REASON_SHORT] = "short",
};

_Static_assert(sizeof(names) / sizeof(names[0]) == BRIDGE_REASONS, "a name for each reason");

const char *bridge_reason_name(enum bridge_reason reason)
{
	return reason < BRIDGE_REASONS ? names[reason] : "?";
}
