/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From SOURCE to SINK: the ordered points and the hops between them, read from facts.
 *
 * Owns: the question (which link, which direction, which address), what is added at the ends (guests behind taps), loops, whether the
 * path is complete. Leaves to others: finding the way (path_connect.h). Pure: no system is asked. Called by cmd/path.c and whoever
 * has facts and wants a path.
 */
#ifndef DISCOVER_PATH_FOLLOW_H
#define DISCOVER_PATH_FOLLOW_H

#include "model/facts.h"
#include "model/facts_path.h"

/*
 * source, sink: points (model/point_syntax.h; ":out"/":in" is obeyed, hooks are not used). 0 with *path filled, also when the path is
 * cut: path->is_complete and why_incomplete say so. -EINVAL (syntax, both the same), -ENODEV (no such interface or namespace in the
 * facts) or -ENOMEM with error text.
 *
 * The first point is the source and the last one the sink, but for a guest's device, which stands outside of a tap at either
 * end (hop FACTS_HOP_GUEST or FACTS_HOP_OPAQUE, a point with ifindex 0).
 */
int path_follow(const struct facts *facts, const char *source, const char *sink, struct facts_path *path);

#endif
