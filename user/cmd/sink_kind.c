// SPDX-License-Identifier: GPL-2.0-or-later
/* Kinds of sinks; see sink_kind.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "cmd/sink_kind.h"

static const struct {
	const char *name;
	enum sink_kind kind;
} kinds[] = {
	{ "xdp", SINK_XDP },
	{ "xdp-generic", SINK_XDP_GENERIC },
	{ "tc", SINK_TC },
	{ "af_xdp_zc", SINK_AF_XDP_ZC },
	{ "af_xdp_copy", SINK_AF_XDP_COPY },
};

int take_options_check(const struct take_options *options)
{
	const char *given = options->queue >= 0 ? "--queue" : options->queues ? "--queues" : options->cpu >= 0 ? "--cpu" : "--busy-poll";

	if (options->queue < 0 && !options->queues && options->cpu < 0 && !options->busy_poll)
		return 0;
	if (options->kind && !strncmp(options->kind, "af_xdp_", 7))
		return 0;
	return error_set(EINVAL, "%s belongs to --kind af_xdp_zc and af_xdp_copy; %s in the kernel serves all queues, on their CPUs", given,
			 options->kind ? options->kind : "what counts");
}

int sink_kind_choose(const char *kind, const struct endpoint *point, struct sink_config *config)
{
	const char *mode = point->text.hook_given ? point->text.mode : "";

	if (point->text.direction_given && point->text.direction == RUN_DIRECTION_OUT)
		return error_set(EINVAL, "%s: a sink takes frames in; leave out :out", point->name);
	config->kind = !strcmp(mode, "tcx") ? SINK_TC : !strcmp(mode, "generic") ? SINK_XDP_GENERIC : SINK_XDP;
	if (!kind)
		return 0;
	if (point->text.hook_given)
		return error_set(EINVAL, "%s: give the hook in the point or with --kind, not both", point->name);
	for (unsigned int i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i].name, kind))
			continue;
		config->kind = kinds[i].kind;
		return 0;
	}
	return error_set(EINVAL, "unknown kind of sink '%s'; xdp, xdp-generic, tc, af_xdp_zc and af_xdp_copy are known", kind);
}

int sink_open_kind(struct sink_config *config, int may_fall_back, struct sink **sink)
{
	int code = sink_open(config, sink);

	if (!code || !may_fall_back || config->kind != SINK_XDP || code == -ENODEV || code == -EPERM)
		return code;
	fprintf(stderr, "%s; counting at tc instead, behind it: only what gets that far is seen\n", error_text());
	config->kind = SINK_TC;
	return sink_open(config, sink);
}
