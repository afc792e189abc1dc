/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which kind of sink a user means, the options that belong to it, and opening it. Called by cmd/send.c, sink.c, reflect.c. */
#ifndef CMD_SINK_KIND_H
#define CMD_SINK_KIND_H

#include "base/options.h"
#include "cmd/endpoint.h"
#include "traffic/sink.h"

/* What `sink` and `reflect` are told of how to take frames. Filled by options_parse(). */
struct take_options {
	const char *kind;
	long queue, queues, cpu; /* -1, 0, -1: not given */
	int busy_poll;
};

#define TAKE_OPTIONS_NONE { .queue = -1, .cpu = -1 }
/* Option rows of a struct take_options. */
#define TAKE_KIND_ROW(options, default_kind)                                                                                   \
	{ "kind", 'k', OPTION_TEXT, "KIND", "xdp, xdp-generic, tc, af_xdp_zc or af_xdp_copy (default " default_kind ")",         \
	  &(options).kind, 0, 0 }
#define TAKE_QUEUE_ROWS(options)                                                                                               \
	{ "queue", 0, OPTION_INTEGER, "N", "AF_XDP: first queue (default 0)", &(options).queue, 0, 4095 },                       \
	{ "queues", 0, OPTION_INTEGER, "N", "AF_XDP: how many queues, a thread each (default: all)", &(options).queues, 1,        \
	  SINK_MAX_QUEUES },                                                                                                     \
	{ "cpu", 0, OPTION_INTEGER, "N", "AF_XDP: CPU of the first thread", &(options).cpu, 0, 4095 },                           \
	{ "busy-poll", 0, OPTION_FLAG, NULL, "AF_XDP: the threads drive the device themselves (preferred busy polling)",         \
	  &(options).busy_poll, 0, 0 }

/* Whether what was given belongs to the kind: 0 or -EINVAL with error text. */
int take_options_check(const struct take_options *options);
/* From --kind (may be NULL) or the point's hook; SINK_XDP by default. 0 or -EINVAL with error text. */
int sink_kind_choose(const char *kind, const struct endpoint *point, struct sink_config *config);
/* Opens it; may_fall_back: where native XDP cannot be had, tc does. 0 or -errno with error text. */
int sink_open_kind(struct sink_config *config, int may_fall_back, struct sink **sink);

#endif
