// SPDX-License-Identifier: GPL-2.0-or-later
/* Trials; see trial.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/error.h"
#include "base/undo.h"
#include "measure/trial.h"

#define POLL_NS 1000000
#define MAX_ATTEMPTS 5
#define LEAST_TELLING_FRAMES 64
#define QUIET_POLLS 20 /* the last frame has come when nothing was counted for so many polls … */
#define MAX_POLLS 2000 /* … and a queue that has not drained by then counts as loss */

/* Never 0; a new one each run, so that frames of a run that was killed are not counted in this one. */
static uint16_t random_run_tag(void)
{
	uint16_t tag = 0;

	while (!tag || tag == HOPCAP_PROBE_TAG)
		if (getrandom(&tag, sizeof(tag), 0) != sizeof(tag))
			tag = (uint16_t)time(NULL) | 1;
	return tag;
}

/* A driver may refuse native XDP although its point was made for it; tc is the honest second best, unless the user chose. */
static int try_hook(struct bench *bench, int index)
{
	struct run_point *point = &bench->run->points[index];
	const char *mode;
	int code = hop_probe_open(point, &bench->probes[index]);

	if (!code)
		code = hop_probe_attach(bench->probes[index], &mode);
	if (code && strcmp(point->mode, "tcx") && !bench->path.hook_given[index]) {
		hop_probe_close(bench->probes[index]);
		bench->probes[index] = NULL;
		strcpy(point->mode, "tcx");
		if (point->hook == RUN_HOOK_XDP)
			point->hook = RUN_HOOK_TC;
		code = hop_probe_open(point, &bench->probes[index]);
		if (!code)
			code = hop_probe_attach(bench->probes[index], &mode);
	}
	if (code)
		return code;
	if (mode != point->mode)
		strcpy(point->mode, mode);
	hop_probe_detach(bench->probes[index]);
	return 0;
}

/* The probe for live frames at an incoming tc point; that it cannot be had is no error. */
static void try_xdp_probe(struct bench *bench, int index)
{
	struct run_point point = bench->run->points[index];
	int is_tc = strcmp(point.mode, "native") && strcmp(point.mode, "generic");

	if (point.direction != RUN_DIRECTION_IN || !is_tc || bench->path.hook_given[index])
		return;
	strcpy(point.mode, "native");
	if (!hop_probe_open(&point, &bench->xdp_probes[index]) && !hop_probe_attach(bench->xdp_probes[index], NULL)) {
		hop_probe_detach(bench->xdp_probes[index]);
		return;
	}
	hop_probe_close(bench->xdp_probes[index]);
	bench->xdp_probes[index] = NULL;
}

int bench_open(struct bench *bench, struct run *run, int source_cpu)
{
	int sink = run->point_count - 1, code;
	struct source_place place = { .cpu = source_cpu };

	bench->run = run;
	bench->source_cpu = source_cpu;
	bench->run_tag = random_run_tag();
	bench->readings = calloc(RUN_MAX_POINTS, sizeof(*bench->readings));
	if (!bench->readings)
		return error_set(ENOMEM, "out of memory");
	strcpy(place.interface, run->points[0].interface);
	strcpy(place.netns, run->points[0].netns);
	memcpy(place.source_mac, bench->path.address[0], 6);
	memcpy(place.destination_mac, bench->path.address[sink], 6);
	place.run_tag = bench->run_tag;
	for (int i = 1; i <= sink; i++) /* generic XDP does not see clones, which tc has redirected */
		place.no_clones |= !strcmp(run->points[i].mode, "generic");
	code = source_open(&place, &bench->source);
	for (int i = 1; !code && i <= sink; i++)
		code = try_hook(bench, i);
	for (int i = 1; !code && i <= sink; i++)
		try_xdp_probe(bench, i);
	return code;
}

void bench_close(struct bench *bench)
{
	for (int i = 0; i < RUN_MAX_POINTS; i++) {
		hop_probe_close(bench->probes[i]);
		hop_probe_close(bench->xdp_probes[i]);
		bench->probes[i] = bench->xdp_probes[i] = bench->active[i] = NULL;
	}
	source_close(bench->source);
	bench->source = NULL;
	free(bench->readings);
	bench->readings = NULL;
}

static struct hop_probe *wanted_probe(const struct bench *bench, const struct trial_request *request, int index)
{
	int is_sink = index == request->sink_point;

	if (!is_sink && (index > request->sink_point || !(request->probes & 1u << index)))
		return NULL;
	if (request->port == RUN_PORT_LIVE && !request->without_xdp && bench->xdp_probes[index] && (is_sink || index == 1))
		return bench->xdp_probes[index];
	return bench->probes[index];
}

static int arrange_probes(struct bench *bench, const struct trial_request *request)
{
	for (int i = 1; i < bench->run->point_count; i++) {
		struct hop_probe *wanted = wanted_probe(bench, request, i);
		int code;

		if (bench->active[i] && bench->active[i] != wanted)
			hop_probe_detach(bench->active[i]);
		bench->active[i] = NULL;
		if (!wanted)
			continue;
		code = hop_probe_attach(wanted, NULL);
		if (!code)
			code = hop_probe_arm(wanted, bench->run_tag, bench->stream, i == request->sink_point);
		if (code)
			return code;
		bench->active[i] = wanted;
	}
	return 0;
}

static void wait_for_last(const struct hop_probe *sink, uint64_t sent)
{
	const struct timespec pause = { .tv_nsec = POLL_NS };
	uint64_t before = 0;

	for (int polls = 0, quiet = 0; polls < MAX_POLLS && quiet < QUIET_POLLS; polls++) {
		uint64_t count = hop_probe_count(sink);

		if (count >= sent)
			return;
		quiet = count == before ? quiet + 1 : 0;
		before = count;
		nanosleep(&pause, NULL);
	}
}

static void record_request(const struct trial_request *request, const struct port_sent *sent, double elapsed_s,
			   struct run_trial *trial)
{
	trial->purpose = request->purpose;
	trial->sink_point = request->sink_point;
	trial->asked_pps = request->pps;
	trial->frame_bytes = request->frame_bytes;
	trial->port = request->port;
	trial->stamp_interval = (int)request->stamp_interval;
	trial->duration_s = elapsed_s;
	trial->sent = (int64_t)sent->frames;
	trial->offered_pps = elapsed_s > 0 ? (double)sent->frames / elapsed_s : 0;
	trial->slips = (int64_t)sent->slips;
	if (request->pps > 0 && sent->frames) {
		trial->lateness_mean_ns = (double)sent->late_sum_ns / (double)sent->frames;
		trial->lateness_max_ns = (double)sent->late_max_ns;
	}
}

static int read_probes(struct bench *bench, int sink, struct run_trial *trial)
{
	trial->points[0] = trial->sent;
	for (int i = 1; i <= sink; i++) {
		struct hop_reading *reading = &bench->readings[i];
		int code;

		if (!bench->active[i])
			continue;
		code = hop_probe_read(bench->active[i], reading);
		if (code)
			return code;
		/* A duplicate is counted in `duplicates`; conservation is about distinct frames. */
		trial->points[i] = (int64_t)(reading->total.test_frames - (i == sink ? reading->streams[0].duplicates : 0));
	}
	trial->duplicates = (int64_t)bench->readings[sink].streams[0].duplicates;
	trial->reordered = (int64_t)bench->readings[sink].streams[0].reordered;
	return run_trial_conserve(bench->run, trial);
}

static int run_once(struct bench *bench, const struct trial_request *request, struct run_trial **result)
{
	struct source_stream stream = { .port = request->port,
					.frame_bytes = request->frame_bytes,
					.pps = request->pps,
					.duration_s = request->duration_s,
					.frames = request->frames,
					.stamp_interval = request->stamp_interval };
	struct run_trial *trial;
	struct port_sent sent;
	double elapsed_s;
	int code;

	if (undo_interrupted())
		return error_set(EINTR, "interrupted");
	stream.stream = ++bench->stream;
	code = arrange_probes(bench, request);
	if (code)
		return code;
	/* On a machine that is busy enough the source may not run at all in its time: that says nothing about the path. */
	for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
		code = source_send(bench->source, &stream, request->tick, request->tick_context, &sent, &elapsed_s);
		if (code)
			return code;
		if (sent.frames || undo_interrupted())
			break;
	}
	if (!sent.frames && !undo_interrupted())
		return error_set(
			EBUSY,
			"%s: the source sent nothing in %d attempts of %.2f s: is CPU %d taken by something else?",
			bench->run->points[0].name, MAX_ATTEMPTS, request->duration_s, bench->source_cpu);
	wait_for_last(bench->active[request->sink_point], sent.frames);
	if (undo_interrupted())
		return error_set(EINTR, "interrupted");
	trial = run_add_trial(bench->run);
	if (!trial)
		return error_set(ENOMEM, "out of memory");
	record_request(request, &sent, elapsed_s, trial);
	code = read_probes(bench, request->sink_point, trial);
	*result = trial;
	return code;
}

/*
 * Frames arrived when the run began; that none at all does any more is no rate to measure but a path that was taken apart. A
 * CPU that was lent out for the whole of a trial looks the same, so it is tried again first.
 */
int trial_run(struct bench *bench, const struct trial_request *request, struct run_trial **result)
{
	const struct run_point *sink = &bench->run->points[request->sink_point];

	for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
		int code = run_once(bench, request, result);

		if (code || (*result)->received > 0 || (*result)->sent < LEAST_TELLING_FRAMES ||
		    request->purpose == RUN_PURPOSE_DELIVERY)
			return code;
	}
	return error_set(EHOSTUNREACH,
			 "the path stopped delivering during the run: of %lld frames none arrives at %s any more; was something "
			 "on it changed?",
			 (long long)(*result)->sent, sink->name);
}

double trial_loss_ratio(const struct run_trial *trial)
{
	return trial->sent > 0 ? 1 - (double)trial->received / (double)trial->sent : 1;
}

double trial_passed_pps(const struct run_trial *trial)
{
	return trial->duration_s > 0 ? (double)trial->received / trial->duration_s : 0;
}
