/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `hopcap run --bypass` puts in the place of a hop. Joins measure/ and accel/, which do not see each other.
 */
#ifndef CMD_RUN_BYPASS_H
#define CMD_RUN_BYPASS_H

#include "accel/accel.h"
#include "accel/forward.h"
#include "measure/bypass.h"

enum run_bypass_way { RUN_BYPASS_FAST_PATH, RUN_BYPASS_FORWARD };

/* Lives as long as the run. */
struct run_bypass_job {
	struct bypass_means means;
	struct accel_request request;
	struct bypass_hop hop;
	char ports[40];
	struct accel *accel;
	struct forward *forward;
};

/* Text behind --bypass= (NULL: none) to a way: 0 or -EINVAL with error text. */
int run_bypass_parse(const char *text, enum run_bypass_way *way);
/* Nothing is touched before the run starts it. */
const struct bypass_means *run_bypass_open(struct run_bypass_job *job, enum run_bypass_way way, int set_offloads,
					   int force_uplink);

#endif
