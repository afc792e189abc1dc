// SPDX-License-Identifier: GPL-2.0-or-later
/* Departure plan in user space; theory in pacer.h. Called by port/packet.c and port/xsk.c. Pure but for pacer_now_ns. */
#include <time.h>

#include "port/pacer.h"

uint64_t pacer_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void pacer_start(struct pacer *pacer, double interval_ns)
{
	pacer->interval_ns = interval_ns;
	pacer->next_ns = 0;
}

unsigned int pacer_due(struct pacer *pacer, uint64_t now_ns, unsigned int max, struct port_sent *sent)
{
	double now = (double)now_ns;
	unsigned int due = 0;

	if (pacer->interval_ns <= 0)
		return max;
	if (pacer->next_ns <= 0)
		pacer->next_ns = now;
	while (due < max && pacer->next_ns <= now) {
		double late_ns = now - pacer->next_ns;

		if (late_ns > PORT_SLIP_NS) {
			sent->slips++;
			sent->slipped_ns += (uint64_t)late_ns;
			pacer->next_ns = now;
		}
		sent->late_sum_ns += (uint64_t)late_ns;
		if (late_ns > (double)sent->late_max_ns)
			sent->late_max_ns = (uint64_t)late_ns;
		pacer->next_ns += pacer->interval_ns;
		due++;
	}
	return due;
}
