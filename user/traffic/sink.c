// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sinks; see sink.h. Called by cmd/send.c, cmd/sink.c.
 *
 * A sink in the kernel is a hop probe that drops: its counters and ledger live in maps, so reading disturbs nobody and nothing
 * is copied. A sink in user space is sink_xsk.c.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "probe/hop_probe.h"
#include "sys/netns.h"
#include "traffic/sink.h"
#include "traffic/sink_xsk.h"

struct sink {
	struct sink_config config;
	int stopped;
	struct hop_probe *probe; /* one of these two */
	struct sink_threads *threads;
	char description[160];
};

static int is_user_space(enum sink_kind kind)
{
	return kind == SINK_AF_XDP_ZC || kind == SINK_AF_XDP_COPY;
}

static void describe(struct sink *sink, const char *mode)
{
	const struct sink_config *config = &sink->config;

	snprintf(sink->description, sizeof(sink->description), "%s in the kernel (%s), %d stream%s%s", config->pass ? "counts" : "sink",
		 mode, config->streams, config->streams > 1 ? "s" : "", config->verify ? ", payload compared" : "");
}

static int open_probe(struct sink *sink)
{
	const struct sink_config *config = &sink->config;
	const struct hop_arming arming = { .run_tag = config->run_tag,
					   .streams = config->streams,
					   .sink = 1,
					   .drop = !config->pass,
					   .verify = config->verify,
					   .learn = !config->run_tag };
	struct run_point point = { .hook = RUN_HOOK_SINK, .direction = RUN_DIRECTION_IN };
	const char *mode;
	int code;

	snprintf(point.name, sizeof(point.name), "%s%s%s", config->interface, config->netns[0] ? "@ns:" : "", config->netns);
	snprintf(point.interface, sizeof(point.interface), "%s", config->interface);
	snprintf(point.netns, sizeof(point.netns), "%s", config->netns);
	strcpy(point.mode, config->kind == SINK_TC ? "tcx" : config->kind == SINK_XDP ? "native" : "generic");
	code = hop_probe_open_streams(&point, config->streams, &sink->probe);
	if (!code)
		code = hop_probe_arm_as(sink->probe, &arming);
	if (!code)
		code = hop_probe_attach(sink->probe, &mode);
	if (!code)
		describe(sink, mode);
	return code;
}

static int open_threads(struct sink *sink)
{
	struct netns_token token;
	int code = netns_enter(sink->config.netns, &token);

	if (code)
		return code;
	code = sink_threads_open(&sink->config, &sink->threads);
	netns_leave(&token);
	return code;
}

int sink_open(const struct sink_config *config, struct sink **result)
{
	struct sink *sink = calloc(1, sizeof(*sink));
	int code;

	if (!sink)
		return error_set(ENOMEM, "%s: out of memory", config->interface);
	sink->config = *config;
	if (config->streams < 1 || config->streams > LEDGER_MAX_STREAMS)
		code = error_set(EINVAL, "%d streams: 1 to %d have ledgers", config->streams, LEDGER_MAX_STREAMS);
	else if (is_user_space(config->kind))
		code = open_threads(sink);
	else
		code = open_probe(sink);
	if (code) {
		sink_close(sink);
		return code;
	}
	*result = sink;
	return 0;
}

static int read_probe(struct sink *sink, struct sink_reading *reading)
{
	static _Thread_local struct hop_reading probe; /* histograms are large */
	int code = hop_probe_read(sink->probe, &probe);

	memset(reading, 0, sizeof(*reading));
	if (code)
		return code;
	reading->frames = probe.total.test_frames;
	reading->bytes = probe.total.test_bytes;
	reading->other_frames = probe.total.other_frames;
	reading->other_bytes = probe.total.other_bytes;
	reading->run_tag = probe.run_tag;
	reading->begun_streams = probe.begun_streams;
	for (int i = 0; i < LEDGER_MAX_STREAMS; i++)
		reading->beyond_frames[i] = probe.total.beyond_frames[i];
	for (int i = 0; i < sink->config.streams; i++) {
		reading->streams[i] = probe.streams[i];
		reading->frames -= probe.streams[i].corrupted;
	}
	reading->latency_ns = probe.path_ns;
	reading->gap_ns = probe.gap_ns;
	reading->stamped = probe.total.stamped;
	reading->stamp_errors = probe.total.stamp_errors;
	reading->jitter_ns = probe.jitter_count ? (double)probe.jitter_sum_ns / (double)probe.jitter_count : 0;
	reading->first_ns = probe.first_ns;
	reading->last_ns = probe.last_ns;
	memcpy(reading->cpu_frames, probe.cpu_frames, sizeof(reading->cpu_frames));
	for (unsigned int i = 0; i < SINK_MAX_QUEUES && i < HOPCAP_SINK_QUEUES; i++)
		reading->queue_frames[i] = probe.total.queue_frames[i];
	return sink->stopped ? 0 : hop_probe_alive(sink->probe);
}

int sink_read(struct sink *sink, struct sink_reading *reading)
{
	return sink->threads ? sink_threads_read(sink->threads, reading) : read_probe(sink, reading);
}

void sink_stop(struct sink *sink)
{
	struct netns_token token;

	if (sink->probe)
		hop_probe_detach(sink->probe);
	else if (!netns_enter(sink->config.netns, &token)) {
		sink_threads_stop(sink->threads);
		netns_leave(&token);
	}
	sink->stopped = 1;
}

const char *sink_describe(const struct sink *sink)
{
	return sink->threads ? sink_threads_describe(sink->threads) : sink->description;
}

void sink_close(struct sink *sink)
{
	struct netns_token token;

	if (!sink)
		return;
	hop_probe_close(sink->probe);
	if (sink->threads && !netns_enter(sink->config.netns, &token)) {
		sink_threads_close(sink->threads);
		netns_leave(&token);
	}
	free(sink);
}
