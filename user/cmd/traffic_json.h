/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON lines of `send`, `sink` and `reflect`: one object a line on the standard output; see traffic_output.h. */
#ifndef CMD_TRAFFIC_JSON_H
#define CMD_TRAFFIC_JSON_H

#include "cmd/traffic_output.h"

void traffic_json_interval(const struct traffic_state *now, const struct traffic_state *before);
void traffic_json_result(const struct traffic_result *result);

#endif
