/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON lines of `send`, `sink` and `reflect`: one object a line on the standard output; see traffic_output.h. */
#ifndef CMD_TRAFFIC_JSON_H
#define CMD_TRAFFIC_JSON_H

#include "cmd/traffic_output.h"
#include "traffic/reflector.h"

/* What a reflector has done so far, or in all. */
struct reflected {
	double elapsed_s, pps;	   /* pps: since the last line, of the result in all */
	struct reflector_counts counts;
	int is_result, interrupted;
	const char *error;	   /* as struct traffic_result */
};

void traffic_json_reflected(const struct reflected *now);
void traffic_json_interval(const struct traffic_state *now, const struct traffic_state *before);
void traffic_json_result(const struct traffic_result *result);

#endif
