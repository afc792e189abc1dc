/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of the reasons why a frame went to the bridge (map_bridge.h). Pure. */
#ifndef ACCEL_REASONS_H
#define ACCEL_REASONS_H

#include "map_bridge.h"

/* "source_unknown": for JSON and people; never NULL. */
const char *bridge_reason_name(enum bridge_reason reason);

#endif
