// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of the parts of a CPU cost; see cpu_cost.h. */
#include "model/cpu_cost.h"

const char *run_cost_who_name(enum run_cost_who who)
{
	static const char *const names[RUN_COST_WHO_COUNT] = {
		"own", "napi", "ksoftirqd", "vhost", "kworker", "kernel", "other",
	};

	return (unsigned int)who < RUN_COST_WHO_COUNT ? names[who] : "unknown";
}

const char *run_cost_billing_name(enum run_cost_billing billing)
{
	return billing == RUN_COST_BILLED_TO_THREAD ? "to_thread"
	       : billing == RUN_COST_BILLED_APART   ? "apart"
						    : "unknown";
}
