/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A path and a tree of links as text. Called by cmd/path.c. */
#ifndef REPORT_PATH_TEXT_H
#define REPORT_PATH_TEXT_H

#include <stdio.h>

#include "model/facts_path.h"
#include "model/facts_tree.h"
#include "report/report.h"

/* Points and hops, what is missing. Failures stay with the stream. */
void report_path(const struct facts_path *path, FILE *stream, const struct report_style *style);
void report_tree(const struct facts_tree *tree, FILE *stream, const struct report_style *style);

#endif
