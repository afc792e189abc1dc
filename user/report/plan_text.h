/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Alternatives to a path, as text. */
#ifndef REPORT_PLAN_TEXT_H
#define REPORT_PLAN_TEXT_H

#include <stdio.h>

#include "model/plan.h"
#include "report/report.h"

/* 0, or -errno with error text when the stream cannot be written to. */
int plan_text(const struct plan *plan, FILE *stream, const struct report_style *style);

#endif
