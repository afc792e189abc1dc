/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A CPU cost as text: the number, then where the time went, by CPU and by thread.
 */
#ifndef REPORT_CPU_COST_TEXT_H
#define REPORT_CPU_COST_TEXT_H

#include "model/cpu_cost.h"
#include "report/page.h"

/* Prints under a heading of its own. Errors of the stream are the caller's to look for. */
void cpu_cost_text(const struct page *page, const struct run_cpu_cost *cost);

#endif
