/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When to send, for ports that pace in user space.
 *
 * Theory. Planned departures are kept as a double of nanoseconds since the start of the stream, not since boot: a sum
 * of n intervals is then wrong by at most n * 2^-53 of its value (1e-6 of an interval in an hour at 10 Mpps), and does
 * not become coarser with the age of the machine. Lateness = actual - planned >= 0. A thread that was kept from running
 * for longer than PORT_SLIP_NS moves its plan ("slip") instead of catching up in a burst. The frames of a burst that
 * was asked for are planned for one instant, and are late by what those in front of them take; so a slip is looked for
 * at the start of a burst only.
 *
 * Ramp: at time t the rate is r * (1/10 + 9/10 * t/T), so the next departure follows after interval * T / (T/10 +
 * 9t/10). Replay: departures are those of a list, pass after pass. bpf/source_body.bpf.h does the first two in the
 * kernel.
 */
#ifndef PORT_PACER_H
#define PORT_PACER_H

#include <stdint.h>

#include "port/port.h"

struct pacer {
	int catch_up;
	double debt_ns;	    /* time that is still to be made up for */
	uint64_t start_ns;  /* CLOCK_MONOTONIC of the first frame's plan, moved by slips; 0: not started */
	double next_ns;	    /* planned departure of the next frame, since start_ns */
	double interval_ns; /* between bursts; 0: no pacing, unless there is a list */
	double ramp_ns;	    /* 0: none */
	unsigned int burst, burst_position;
	const uint64_t *departures_ns; /* a list, as in struct port_stream; NULL: none */
	unsigned int departure_count, departure;
	uint64_t pass_ns, passed_ns; /* length of a pass; start of the running one since start_ns */
};

uint64_t pacer_now_ns(void);
void pacer_start(struct pacer *pacer, const struct port_stream *stream);
/* How many frames (0…max) are due at now_ns; moves the plan on and accounts lateness, slips, first and last departure
 * in *sent. The caller hands them to the device at once: now_ns is taken for their departure. */
unsigned int pacer_due(struct pacer *pacer, uint64_t now_ns, unsigned int max, struct port_sent *sent);

#endif
