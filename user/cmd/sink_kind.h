/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which kind of sink a user means, and opening it. Called by cmd/send.c, cmd/sink.c. */
#ifndef CMD_SINK_KIND_H
#define CMD_SINK_KIND_H

#include "cmd/endpoint.h"
#include "traffic/sink.h"

/* From --kind (may be NULL) or the point's hook; SINK_XDP by default. 0 or -EINVAL with error text. */
int sink_kind_choose(const char *kind, const struct endpoint *point, struct sink_config *config);
/* Opens it; may_fall_back: where native XDP cannot be had, tc does. 0 or -errno with error text. */
int sink_open_kind(struct sink_config *config, int may_fall_back, struct sink **sink);

#endif
