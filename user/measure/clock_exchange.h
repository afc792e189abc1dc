/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Exchanges with another kernel's clock over the control channel, added to what is known of it.
 */
#ifndef MEASURE_CLOCK_EXCHANGE_H
#define MEASURE_CLOCK_EXCHANGE_H

#include "domain/domain.h"
#include "measure/clock_align.h"

#define CLOCK_EXCHANGES 24	    /* before and after a time that is to be known well */
#define CLOCK_MEANWHILE_NS 20000000 /* between exchanges during it, … */
#define CLOCK_MEANWHILE 2	    /* … each time so many: the second one finds both sides awake */

/* `times` exchanges one after the other; *stepped is set to 1 when one of them proves that a clock stepped, and stays as it is otherwise.
 * 0 or -errno with error text. */
int clock_exchange(struct domain *domain, struct clock_align *align, int times, int *stepped);

#endif
