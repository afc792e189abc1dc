/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs side by side as one table.
 */
#ifndef REPORT_COMPARE_TEXT_H
#define REPORT_COMPARE_TEXT_H

#include <stdio.h>

#include "model/comparison.h"
#include "report/report.h"

/* comparison_finish() has been called. 0, or -errno with error text when the stream cannot be written to. */
int compare_text(const struct comparison *comparison, FILE *stream, const struct report_style *style);

#endif
