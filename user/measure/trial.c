// SPDX-License-Identifier: GPL-2.0-or-later
/* Trials; see trial.h. */
#include <errno.h>
#include <stdio.h>
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

/* Adds the point to what is known of a failure, where that only names its domain. */
static int at_point(const struct bench *bench, int index, int code)
{
	char text[RUN_TEXT_BYTES];

	if (code != -ENOTCONN)
		return code;
	snprintf(text, sizeof(text), "%s", error_text());
	return error_set(ENOTCONN, "%s: %s", bench->run->points[index].name, text);
}

static int open_probe(struct bench *bench, int index, const struct run_point *point, struct domain_probe **probe,
		      char mode[16])
{
	int code = domain_probe_open(bench->path.domain[index], point, probe);

	return at_point(bench, index, code ? code : domain_probe_attach(*probe, mode));
}

/* A driver may refuse native XDP although its point was made for it; tc is the honest second best, unless the user chose. */
static int try_hook(struct bench *bench, int index)
{
	struct run_point *point = &bench->run->points[index];
	char mode[16];
	int code = open_probe(bench, index, point, &bench->probes[index], mode);

	if (code && code != -ENOTCONN && strcmp(point->mode, "tcx") && !bench->path.hook_given[index]) {
		domain_probe_close(bench->probes[index]);
		bench->probes[index] = NULL;
		strcpy(point->mode, "tcx");
		if (point->hook == RUN_HOOK_XDP)
			point->hook = RUN_HOOK_TC;
		code = open_probe(bench, index, point, &bench->probes[index], mode);
	}
	if (code)
		return code;
	strcpy(point->mode, mode);
	domain_probe_detach(bench->probes[index]);
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
	if (!open_probe(bench, index, &point, &bench->xdp_probes[index], NULL)) {
		domain_probe_detach(bench->xdp_probes[index]);
		return;
	}
	domain_probe_close(bench->xdp_probes[index]);
	bench->xdp_probes[index] = NULL;
}

static int open_source(struct bench *bench)
{
	const struct run *run = bench->run;
	int sink = run->point_count - 1, code;
	struct source_place place = { .cpu = bench->source_cpu, .run_tag = bench->run_tag };

	strcpy(place.interface, run->points[0].interface);
	strcpy(place.netns, run->points[0].netns);
	memcpy(place.source_mac, bench->path.links[0].address, 6);
	memcpy(place.destination_mac, bench->path.links[sink].address, 6);
	for (int i = 1; i <= sink; i++) /* generic XDP does not see clones, which tc has redirected */
		place.no_clones |= !strcmp(run->points[i].mode, "generic");
	code = domain_source_open(bench->path.domain[0], &place);
	if (!code)
		bench->source_domain = bench->path.domain[0];
	return at_point(bench, 0, code);
}

int bench_open(struct bench *bench, struct run *run, int source_cpu)
{
	int sink = run->point_count - 1, code;

	bench->run = run;
	bench->source_cpu = source_cpu;
	bench->run_tag = random_run_tag();
	bench->readings = calloc(RUN_MAX_POINTS, sizeof(*bench->readings));
	if (!bench->readings)
		return error_set(ENOMEM, "out of memory");
	code = clocks_open(run, &bench->path, &bench->clocks);
	if (!code)
		code = open_source(bench);
	for (int i = 1; !code && i <= sink; i++)
		code = try_hook(bench, i);
	for (int i = 1; !code && i <= sink; i++)
		try_xdp_probe(bench, i);
	return code ? code : clock_frames_open(bench, &bench->frames);
}

void bench_close(struct bench *bench)
{
	clock_frames_close(bench->frames);
	bench->frames = NULL;
	for (int i = 0; i < RUN_MAX_POINTS; i++) {
		domain_probe_close(bench->probes[i]);
		domain_probe_close(bench->xdp_probes[i]);
		bench->probes[i] = bench->xdp_probes[i] = bench->active[i] = NULL;
	}
	if (bench->source_domain)
		domain_source_close(bench->source_domain);
	bench->source_domain = NULL;
	clocks_close(bench->clocks);
	bench->clocks = NULL;
	free(bench->readings);
	bench->readings = NULL;
}

static struct domain_probe *wanted_probe(const struct bench *bench, const struct trial_request *request, int index)
{
	int is_sink = index == request->sink_point;

	if (!is_sink && (index > request->sink_point || !(request->probes & 1u << index)))
		return NULL;
	if (request->port == RUN_PORT_LIVE && !request->without_xdp && bench->xdp_probes[index] &&
	    (is_sink || index == 1))
		return bench->xdp_probes[index];
	return bench->probes[index];
}

static int arrange_probes(struct bench *bench, const struct trial_request *request)
{
	for (int i = 1; i < bench->run->point_count; i++) {
		struct domain_probe *wanted = wanted_probe(bench, request, i);
		const int is_sink = i == request->sink_point;
		const struct hop_arming arming = { .run_tag = bench->run_tag,
						   .first_stream = bench->stream,
						   .streams = 1,
						   .sink = is_sink,
						   .drop = is_sink,
						   .clock_offset_ns = clocks_offset_ns(bench->clocks, i) };
		int code;

		if (bench->active[i] && bench->active[i] != wanted)
			domain_probe_detach(bench->active[i]);
		bench->active[i] = NULL;
		if (!wanted)
			continue;
		code = domain_probe_attach(wanted, NULL);
		if (!code)
			code = domain_probe_arm(wanted, &arming);
		if (code)
			return at_point(bench, i, code);
		bench->active[i] = wanted;
	}
	return 0;
}

static void wait_for_last(struct domain_probe *sink, uint64_t sent)
{
	const struct timespec pause = { .tv_nsec = POLL_NS };
	uint64_t before = 0;

	for (int polls = 0, quiet = 0; polls < MAX_POLLS && quiet < QUIET_POLLS; polls++) {
		uint64_t count = domain_probe_count(sink);

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
		code = domain_probe_read(bench->active[i], reading);
		if (code)
			return at_point(bench, i, code);
		/* A duplicate is counted in `duplicates`; conservation is about distinct frames. */
		trial->points[i] =
			(int64_t)(reading->total.test_frames - (i == sink ? reading->streams[0].duplicates : 0));
	}
	trial->duplicates = (int64_t)bench->readings[sink].streams[0].duplicates;
	trial->reordered = (int64_t)bench->readings[sink].streams[0].reordered;
	return run_trial_conserve(bench->run, trial);
}

/* What is to be done while frames are sent. */
struct meanwhile {
	const struct trial_request *request;
	struct clocks *clocks;
};

static void tick(void *context)
{
	struct meanwhile *meanwhile = context;

	if (meanwhile->request->with_clocks)
		clocks_meanwhile(meanwhile->clocks);
	if (meanwhile->request->tick)
		meanwhile->request->tick(meanwhile->request->tick_context);
}

/* On a machine that is busy enough the source may not run at all in its time: that says nothing about the path. */
static int send_stream(struct bench *bench, const struct trial_request *request, struct port_sent *sent,
		       double *elapsed_s)
{
	const struct source_stream stream = { .port = request->port,
					      .frame_bytes = request->frame_bytes,
					      .stream = bench->stream,
					      .pps = request->pps,
					      .duration_s = request->duration_s,
					      .frames = request->frames,
					      .stamp_interval = request->stamp_interval };
	struct meanwhile meanwhile = { request, bench->clocks };
	int is_busy = request->tick || (request->with_clocks && bench->clocks);

	for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
		int code = domain_source_send(bench->source_domain, &stream, is_busy ? tick : NULL, &meanwhile, sent,
					      elapsed_s);

		if (code)
			return at_point(bench, 0, code);
		if (sent->frames || undo_interrupted())
			return 0;
	}
	return error_set(EBUSY,
			 "%s: the source sent nothing in %d attempts of %.2f s: is CPU %s taken by something else?",
			 bench->run->points[0].name, MAX_ATTEMPTS, request->duration_s,
			 run_cpu_name(bench->run, bench->source_cpu).text);
}

static int run_once(struct bench *bench, const struct trial_request *request, struct run_trial **result)
{
	struct run_trial *trial;
	struct port_sent sent;
	double elapsed_s;
	int code = 0;

	if (undo_interrupted())
		return error_set(EINTR, "interrupted");
	if (request->with_clocks)
		code = clock_frames_exchange(bench->frames);
	bench->stream++;
	if (!code && request->with_clocks)
		code = clocks_before(bench->clocks, request->duration_s);
	if (!code)
		code = arrange_probes(bench, request);
	if (!code)
		code = send_stream(bench, request, &sent, &elapsed_s);
	if (code)
		return code;
	wait_for_last(bench->active[request->sink_point], sent.frames);
	if (undo_interrupted())
		return error_set(EINTR, "interrupted");
	if (request->with_clocks)
		code = clocks_over(bench->clocks);
	if (code)
		return code;
	trial = run_add_trial(bench->run);
	if (!trial)
		return error_set(ENOMEM, "out of memory");
	record_request(request, &sent, elapsed_s, trial);
	code = read_probes(bench, request->sink_point, trial);
	*result = trial;
	if (code || !request->with_clocks)
		return code;
	code = clock_frames_exchange(bench->frames);
	clocks_settle(bench->clocks);
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
	return error_set(
		EHOSTUNREACH,
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
