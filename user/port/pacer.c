// SPDX-License-Identifier: GPL-2.0-or-later
/* Departure plan in user space; theory in pacer.h. Called by port/packet.c and port/xsk.c. Pure but for
 * pacer_now_ns. */
#include <string.h>
#include <time.h>

#include "port/pacer.h"

#define CATCH_UP 0.125 /* of a step, while there is time to make up for; as in bpf/source_body.bpf.h */

uint64_t pacer_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void pacer_start(struct pacer *pacer, const struct port_stream *stream)
{
	unsigned int burst = stream->burst ? stream->burst : 1;

	memset(pacer, 0, sizeof(*pacer));
	if (stream->departures_ns) {
		pacer->departures_ns = stream->departures_ns;
		pacer->departure_count = stream->template_count;
		pacer->pass_ns = stream->pass_ns;
		pacer->burst = 1;
		return;
	}
	pacer->burst = burst;
	pacer->catch_up = stream->catch_up;
	pacer->interval_ns = stream->interval_ns > 0 ? stream->interval_ns * burst : 0;
	pacer->ramp_ns = stream->ramp_s > 0 ? stream->ramp_s * 1e9 : 0;
}

/* Moves the plan from one departure to the next one. */
static void advance(struct pacer *pacer)
{
	double step_ns = pacer->interval_ns, gain_ns;

	if (pacer->departures_ns) {
		if (++pacer->departure == pacer->departure_count) {
			pacer->departure = 0;
			pacer->passed_ns += pacer->pass_ns;
		}
		pacer->next_ns = (double)(pacer->passed_ns + pacer->departures_ns[pacer->departure]);
		return;
	}
	if (++pacer->burst_position < pacer->burst)
		return;
	pacer->burst_position = 0;
	if (pacer->next_ns < pacer->ramp_ns)
		step_ns = pacer->interval_ns * pacer->ramp_ns / (pacer->ramp_ns * 0.1 + pacer->next_ns * 0.9);
	gain_ns = pacer->debt_ns < step_ns * CATCH_UP ? pacer->debt_ns : step_ns * CATCH_UP;
	pacer->debt_ns -= gain_ns;
	pacer->next_ns += step_ns - gain_ns;
}

static void account(struct port_sent *sent, uint64_t late_ns, uint64_t now_ns)
{
	sent->late_sum_ns += late_ns;
	if (late_ns > sent->late_max_ns)
		sent->late_max_ns = late_ns;
	histogram_record(&sent->lateness_ns, late_ns > UINT32_MAX ? UINT32_MAX : (uint32_t)late_ns);
	if (!sent->first_ns)
		sent->first_ns = now_ns;
	sent->last_ns = now_ns;
}

unsigned int pacer_due(struct pacer *pacer, uint64_t now_ns, unsigned int max, struct port_sent *sent)
{
	unsigned int due = 0;

	if (pacer->interval_ns <= 0 && !pacer->departures_ns)
		return max;
	if (!pacer->start_ns)
		pacer->start_ns = now_ns;
	while (due < max) {
		double late_ns = (double)(int64_t)(now_ns - pacer->start_ns) - pacer->next_ns;

		if (late_ns < 0)
			break;
		sent->behind_sum_ns += (uint64_t)(late_ns + pacer->debt_ns);
		if (late_ns > PORT_SLIP_NS && !pacer->burst_position) {
			sent->slips++;
			sent->slipped_ns += (uint64_t)late_ns;
			pacer->start_ns += (uint64_t)late_ns;
			if (pacer->catch_up)
				pacer->debt_ns += late_ns;
		}
		account(sent, (uint64_t)late_ns, now_ns);
		advance(pacer);
		due++;
	}
	return due;
}
