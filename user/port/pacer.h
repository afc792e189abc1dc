/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When to send, for ports that pace in user space.
 *
 * Theory. Planned departure of frame n is start + n * interval (kept as a double sum over one trial: 1e9 ns at 2^-20 ns
 * resolution fits 53 bits). Lateness = actual - planned >= 0. A thread that was kept from running for longer than
 * PORT_SLIP_NS moves its plan ("slip") instead of catching up in a burst. bpf/source_xdp.bpf.c does the same in the kernel.
 */
#ifndef PORT_PACER_H
#define PORT_PACER_H

#include <stdint.h>

#include "port/port.h"

struct pacer {
	double next_ns;	    /* planned departure, CLOCK_MONOTONIC */
	double interval_ns; /* 0: no pacing */
};

uint64_t pacer_now_ns(void);
void pacer_start(struct pacer *pacer, double interval_ns);
/* How many frames (0…max) are due at now_ns; moves the plan on and accounts lateness and slips in *sent. */
unsigned int pacer_due(struct pacer *pacer, uint64_t now_ns, unsigned int max, struct port_sent *sent);

#endif
