/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Views of a run. A writer reads the model and writes a stream; it has no other effect.
 */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include <stdio.h>

#include "model/run.h"

struct report_style {
	int colour; /* 1: ANSI colours */
	int width;  /* columns that may be used; 0: 100 */
};

/* The text report: path, hop table, throughput, latency, cost, observer, verdict. The same run and style give the same
 * bytes, whatever the locale. 0, or -errno with error text when the stream cannot be written to. */
int report_text(const struct run *run, FILE *stream, const struct report_style *style);

#endif
