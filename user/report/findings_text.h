/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Findings of the doctor as text, and the texts of its checks.
 */
#ifndef REPORT_FINDINGS_TEXT_H
#define REPORT_FINDINGS_TEXT_H

#include <stdio.h>

#include "model/finding.h"
#include "report/report.h"

/* In order of rank: fail and warn whole; info and unknown in one line a check, or whole with is_all. The same list gives the same
 * bytes. 0, or -errno with error text when the stream cannot be written to. */
int findings_text(const struct finding_list *list, FILE *stream, const struct report_style *style, int is_all);

/* What a check's row says, for --explain, --list and the manual. */
struct check_texts {
	const char *id, *title, *why, *remedy, *effect, *reference;
};

/* One check, whole. */
int check_text_explain(const struct check_texts *check, FILE *stream, const struct report_style *style);
/* A line a check, under headings of `reference`. */
int check_text_list(const struct check_texts *checks, int count, FILE *stream);
/* The manual's chapter of checks, as Markdown. */
int check_text_manual(const struct check_texts *checks, int count, FILE *stream);

#endif
