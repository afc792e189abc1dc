// SPDX-License-Identifier: GPL-2.0-or-later
/* Exchanges; see clock_exchange.h. Called by measure/clocks.c and cmd/clock.c. */
#include <errno.h>

#include "base/error.h"
#include "measure/clock_exchange.h"

int clock_exchange(struct domain *domain, struct clock_align *align, int times, int *stepped)
{
	int code = 0;

	for (int i = 0; code >= 0 && i < times; i++) {
		struct clock_sample sample;
		int64_t times_ns[4];

		code = domain_exchange(domain, times_ns);
		if (code)
			return code;
		sample = (struct clock_sample){ times_ns[0], times_ns[1], times_ns[2], times_ns[3] };
		code = clock_align_add(align, &sample);
		if (code > 0)
			*stepped = 1;
	}
	return code < 0 ? error_set(EPROTO, "domain %s: its clock does not run forward", domain->name) : 0;
}
