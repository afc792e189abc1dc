// SPDX-License-Identifier: GPL-2.0-or-later
/* What `hopcap run --bypass` puts in the place of a hop; see run_bypass.h. Called by cmd/run.c. */
#include "cmd/run_bypass.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

static int start_fast_path(void *context, const struct bypass_hop *hop)
{
	struct run_bypass_job *job = context;

	job->hop = *hop;
	snprintf(job->ports, sizeof(job->ports), "%s,%s", hop->into, hop->out);
	job->request.bridge = job->hop.bridge;
	job->request.netns = job->hop.netns;
	job->request.ports = job->ports;
	job->request.one_way = 1; /* measured frames go one way, and a guest's tap may be a target only */
	return accel_start(&job->request, &job->accel);
}

static uint64_t fast_path_frames(void *context)
{
	return accel_frames(((struct run_bypass_job *)context)->accel);
}

static int stop_fast_path(void *context)
{
	struct run_bypass_job *job = context;
	struct accel *accel = job->accel;

	job->accel = NULL;
	return accel_stop(accel);
}

/* Both ports to user space. */
static int start_forward(void *context, const struct bypass_hop *hop)
{
	struct run_bypass_job *job = context;
	const struct forward_request request = { .interface = { hop->into, hop->out },
						 .netns = { hop->netns, hop->netns },
						 .set_offloads = job->request.set_offloads,
						 .force_uplink = job->request.force_uplink,
						 .cpu = -1 };

	return forward_start(&request, &job->forward);
}

static uint64_t forward_frames(void *context)
{
	struct forward_counts counts[2];

	forward_read(((struct run_bypass_job *)context)->forward, counts);
	return counts[0].forwarded + counts[1].forwarded;
}

static int stop_forward(void *context)
{
	struct run_bypass_job *job = context;
	struct forward *forward = job->forward;

	job->forward = NULL;
	return forward_stop(forward);
}

static const struct {
	const char *name;
	struct bypass_means means;
} ways[] = {
	[RUN_BYPASS_FAST_PATH] = { "fast",
				   { "the fast path", start_fast_path, fast_path_frames, stop_fast_path, NULL } },
	[RUN_BYPASS_FORWARD] = { "forward", { "the forwarder", start_forward, forward_frames, stop_forward, NULL } },
};

#define WAY_COUNT (sizeof(ways) / sizeof(ways[0]))

int run_bypass_parse(const char *text, enum run_bypass_way *way)
{
	*way = RUN_BYPASS_FAST_PATH;
	for (size_t i = 0; text && i < WAY_COUNT; i++) {
		if (!strcmp(text, ways[i].name)) {
			*way = (enum run_bypass_way)i;
			return 0;
		}
	}
	return text ? error_set(EINVAL, "'%s' is no way past a bridge; fast and forward are", text) : 0;
}

const struct bypass_means *run_bypass_open(struct run_bypass_job *job, enum run_bypass_way way, int set_offloads,
					   int force_uplink)
{
	memset(job, 0, sizeof(*job));
	job->means = ways[way].means;
	job->means.context = job;
	job->request.set_offloads = set_offloads;
	job->request.force_uplink = force_uplink;
	return &job->means;
}
