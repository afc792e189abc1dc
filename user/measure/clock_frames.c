// SPDX-License-Identifier: GPL-2.0-or-later
/* Exchanges by test frames; theory in clock_frames.h. Called by measure/trial.c and measure/run.c. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/undo.h"
#include "measure/clock_frames.h"
#include "measure/median.h"
#include "measure/trial.h"
#include "port/pacer.h"

#define ROUNDS 6	     /* before and after a trial */
#define FRAME_PPS 1000	     /* paced, so that its departure is noted */
#define SEND_S 0.009	     /* that a stream of one frame is given */
#define ARRIVES_NS 200000000 /* a frame that is later than this is lost */
#define PAUSE_NS 100000
#define MOST_LOST 4 /* frames in a row of one direction, then it is given up */
#define MOST_HALVES 256

/* Times of one frame at the points where they are wanted, by the clocks of their kernels; 0: not known. */
struct passage {
	int64_t at_ns[RUN_MAX_POINTS];
};

/* How the path crosses from our kernel to another one, and back. */
struct crossing {
	int kernel;
	int out_hop,
		back_hop; /* hops of the path that a frame crosses forwards; 0: crossed only by driving the path backwards */
	int has_left;
	struct clock_sample sample; /* t1 and t2 while has_left */
	uint64_t exchanges;
	int half_count;
	double halves_ns[MOST_HALVES], bounds_ns[MOST_HALVES];
	char why_not[RUN_TEXT_BYTES]; /* "": frames are exchanged */
};

struct direction {
	struct domain *domain; /* where its source is */
	struct domain_probe *probes[RUN_MAX_POINTS];
	int wanted[RUN_MAX_POINTS];    /* points whose times are wanted */
	int source, sink;	       /* points */
	uint64_t seen[RUN_MAX_POINTS]; /* frames at each point since it was armed */
	int is_used, lost;
	char why_not[RUN_TEXT_BYTES];
};

struct clock_frames {
	struct bench *bench;
	struct hop_reading *reading;
	struct direction forward, back;
	int has_source; /* of the way back */
	int crossing_count;
	struct crossing crossings[DOMAINS_MAX];
};

/* --- what is to be read --- */

static void find_crossing(struct clock_frames *frames, int kernel)
{
	const struct clocks *clocks = frames->bench->clocks;
	struct crossing *crossing = &frames->crossings[frames->crossing_count++];

	*crossing = (struct crossing){ .kernel = kernel };
	for (int hop = 1; hop < frames->bench->run->point_count; hop++) {
		int from = clocks_kernel(clocks, hop - 1), to = clocks_kernel(clocks, hop);

		if (!crossing->out_hop && clocks_is_local(clocks, from) && to == kernel)
			crossing->out_hop = hop;
		if (!crossing->back_hop && from == kernel && clocks_is_local(clocks, to))
			crossing->back_hop = hop;
	}
	if (!crossing->out_hop && !crossing->back_hop)
		snprintf(crossing->why_not, sizeof(crossing->why_not),
			 "no point of this kernel stands beside one of it");
}

static int goes_back(const struct crossing *crossing)
{
	return !crossing->why_not[0] && !(crossing->out_hop && crossing->back_hop);
}

static void want_hop(struct direction *direction, int hop)
{
	if (hop)
		direction->wanted[hop - 1] = direction->wanted[hop] = 1;
}

static void choose_points(struct clock_frames *frames)
{
	for (int i = 0; i < frames->crossing_count; i++) {
		const struct crossing *crossing = &frames->crossings[i];

		if (crossing->why_not[0])
			continue;
		frames->forward.is_used = 1;
		want_hop(&frames->forward, crossing->out_hop);
		want_hop(&frames->forward, crossing->back_hop);
		if (!goes_back(crossing))
			continue;
		frames->back.is_used = 1;
		want_hop(&frames->back, crossing->out_hop);
		want_hop(&frames->back, crossing->back_hop);
	}
}

/* --- the way back --- */

/* One of these: 0; a reason why not, which is kept; or a lost domain, which ends the run. */
static int give_up(struct direction *direction, int code)
{
	direction->is_used = 0;
	snprintf(direction->why_not, sizeof(direction->why_not), "%s", error_text());
	return code == -ENOTCONN || code == -ENOMEM ? code : 0;
}

static int open_source_back(struct clock_frames *frames)
{
	const struct bench *bench = frames->bench;
	struct direction *back = &frames->back;
	const struct run_point *point = &bench->run->points[back->source];
	struct source_place place = { .cpu = -1, .run_tag = bench->run_tag, .no_clones = 1 };
	char why_not[RUN_TEXT_BYTES];
	int code;

	if (bench->path.domain[back->source] == bench->source_domain)
		return error_set(EBUSY, "the domain of its sink holds the source already, and has one");
	strcpy(place.interface, point->interface);
	strcpy(place.netns, point->netns);
	memcpy(place.source_mac, bench->path.links[back->source].address, 6);
	memcpy(place.destination_mac, bench->path.links[back->sink].address, 6);
	back->domain = bench->path.domain[back->source];
	code = domain_source_open(back->domain, &place);
	if (code)
		return code;
	frames->has_source = 1;
	code = domain_source_usable(back->domain, RUN_PORT_PACKET, HOPCAP_MIN_FRAME_BYTES, why_not);
	if (code > 0)
		return 0;
	return code ? code : error_set(EOPNOTSUPP, "%s cannot send: %s", point->name, why_not);
}

/* A probe for the other direction, at tc: there it is beside whatever else is there. */
static int open_probe_back(struct clock_frames *frames, int index)
{
	struct run_point point = frames->bench->run->points[index];

	point.direction = point.direction == RUN_DIRECTION_IN ? RUN_DIRECTION_OUT : RUN_DIRECTION_IN;
	if (index == frames->back.sink)
		point.direction = RUN_DIRECTION_IN;
	strcpy(point.mode, "tcx");
	return domain_probe_open(frames->bench->path.domain[index], &point, &frames->back.probes[index]);
}

static int open_back(struct clock_frames *frames)
{
	struct direction *back = &frames->back;
	int code = open_source_back(frames);

	for (int i = 0; !code && i < back->source; i++)
		if (back->wanted[i] || i == back->sink)
			code = open_probe_back(frames, i);
	return code ? give_up(back, code) : 0;
}

int clock_frames_open(struct bench *bench, struct clock_frames **result)
{
	struct clock_frames *frames;
	int last = bench->run->point_count - 1, code = 0;

	*result = NULL;
	if (!bench->clocks)
		return 0;
	frames = calloc(1, sizeof(*frames));
	if (frames)
		frames->reading = calloc(1, sizeof(*frames->reading));
	if (!frames || !frames->reading) {
		free(frames);
		return error_set(ENOMEM, "out of memory");
	}
	*result = frames;
	frames->bench = bench;
	frames->forward.domain = bench->source_domain;
	frames->forward.sink = frames->back.source = last;
	for (int kernel = 0; kernel < clocks_kernel_count(bench->clocks); kernel++)
		if (!clocks_is_local(bench->clocks, kernel))
			find_crossing(frames, kernel);
	choose_points(frames);
	for (int i = 1; i <= last; i++)
		frames->forward.probes[i] = bench->probes[i];
	if (frames->back.is_used)
		code = open_back(frames);
	return code;
}

void clock_frames_close(struct clock_frames *frames)
{
	if (!frames)
		return;
	for (int i = 0; i < RUN_MAX_POINTS; i++)
		domain_probe_close(frames->back.probes[i]);
	if (frames->has_source)
		domain_source_close(frames->back.domain);
	free(frames->reading);
	free(frames);
}

/* --- one frame --- */

static int arm(struct clock_frames *frames, struct direction *direction)
{
	int code = 0;

	memset(direction->seen, 0, sizeof(direction->seen));
	for (int i = 0; !code && i < frames->bench->run->point_count; i++) {
		const struct hop_arming arming = { .run_tag = frames->bench->run_tag,
						   .first_stream = frames->bench->stream,
						   .streams = 1,
						   .sink = i == direction->sink,
						   .drop = i == direction->sink };

		if (i == direction->source || !(direction->wanted[i] || i == direction->sink))
			continue;
		code = domain_probe_attach(direction->probes[i], NULL);
		if (!code)
			code = domain_probe_arm(direction->probes[i], &arming);
	}
	return code;
}

/* What the trial before had attached stays. */
static void disarm(struct clock_frames *frames, struct direction *direction)
{
	for (int i = 0; i < frames->bench->run->point_count; i++)
		if (direction->probes[i] && i != direction->source && (direction->wanted[i] || i == direction->sink) &&
		    direction->probes[i] != frames->bench->active[i])
			domain_probe_detach(direction->probes[i]);
}

static int arrives(struct domain_probe *sink, uint64_t before)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	uint64_t end_ns = pacer_now_ns() + ARRIVES_NS;

	while (domain_probe_count(sink) <= before) {
		if (pacer_now_ns() > end_ns || undo_interrupted())
			return 0;
		nanosleep(&pause, NULL);
	}
	return 1;
}

/* 1: the frame arrived, and its times are there; 0: it did not; -errno. */
static int send_frame(struct clock_frames *frames, struct direction *direction, struct passage *passage)
{
	const struct source_stream stream = { .port = RUN_PORT_PACKET,
					      .frame_bytes = HOPCAP_MIN_FRAME_BYTES,
					      .stream = frames->bench->stream,
					      .pps = FRAME_PPS,
					      .duration_s = SEND_S,
					      .frames = 1,
					      .stamp_interval = 1 };
	uint64_t before = domain_probe_count(direction->probes[direction->sink]);
	struct port_sent sent;
	double elapsed_s;
	int code = domain_source_send(direction->domain, &stream, NULL, NULL, &sent, &elapsed_s);

	memset(passage, 0, sizeof(*passage));
	if (code || sent.frames != 1)
		return code;
	if (!arrives(direction->probes[direction->sink], before))
		return 0;
	passage->at_ns[direction->source] = (int64_t)sent.first_ns;
	for (int i = 0; i < frames->bench->run->point_count; i++) {
		if (i == direction->source || !direction->wanted[i])
			continue;
		code = domain_probe_read(direction->probes[i], frames->reading);
		if (code)
			return code;
		/* Two since the last look: one was thought to be lost, so whose time this is is not known. */
		if (frames->reading->total.test_frames == direction->seen[i] + 1)
			passage->at_ns[i] = (int64_t)frames->reading->last_ns;
		direction->seen[i] = frames->reading->total.test_frames;
	}
	return 1;
}

/* --- exchanges --- */

static void leave(struct crossing *crossing, int64_t from_ns, int64_t to_ns)
{
	crossing->sample = (struct clock_sample){ .t1 = from_ns, .t2 = to_ns };
	crossing->has_left = from_ns && to_ns;
}

static void come_back(struct clock_frames *frames, struct crossing *crossing, int64_t from_ns, int64_t to_ns)
{
	struct clock_sample *sample = &crossing->sample;
	int code;

	if (!crossing->has_left || !from_ns || !to_ns)
		return;
	crossing->has_left = 0;
	sample->t3 = from_ns;
	sample->t4 = to_ns;
	code = clocks_add(frames->bench->clocks, crossing->kernel, sample);
	if (code < 0)
		return; /* not in the order of time: a probe has counted somebody else's frame */
	crossing->exchanges++;
	if (code || crossing->half_count == MOST_HALVES)
		return;
	crossing->halves_ns[crossing->half_count] = (double)((sample->t4 - sample->t1) - (sample->t3 - sample->t2)) / 2;
	crossing->bounds_ns[crossing->half_count++] = CLOCK_RATE_LIMIT * (double)(sample->t3 - sample->t2) / 2 + 1;
}

static void use_forward(struct clock_frames *frames, const struct passage *passage)
{
	for (int hop = 1; hop < frames->bench->run->point_count; hop++)
		for (int i = 0; i < frames->crossing_count; i++) {
			struct crossing *crossing = &frames->crossings[i];

			if (hop == crossing->back_hop)
				come_back(frames, crossing, passage->at_ns[hop - 1], passage->at_ns[hop]);
			if (hop == crossing->out_hop)
				leave(crossing, passage->at_ns[hop - 1], passage->at_ns[hop]);
		}
}

static void use_back(struct clock_frames *frames, const struct passage *passage)
{
	for (int hop = frames->bench->run->point_count - 1; hop; hop--)
		for (int i = 0; i < frames->crossing_count; i++) {
			struct crossing *crossing = &frames->crossings[i];

			if (!goes_back(crossing))
				continue;
			if (hop == crossing->out_hop)
				come_back(frames, crossing, passage->at_ns[hop], passage->at_ns[hop - 1]);
			if (hop == crossing->back_hop)
				leave(crossing, passage->at_ns[hop], passage->at_ns[hop - 1]);
		}
}

/* One frame of a direction; 0 also when it is lost. */
static int exchange_one(struct clock_frames *frames, struct direction *direction,
			void (*use)(struct clock_frames *frames, const struct passage *passage))
{
	struct passage passage;
	int code;

	if (!direction->is_used)
		return 0;
	code = send_frame(frames, direction, &passage);
	if (code < 0)
		return give_up(direction, code);
	use(frames, &passage);
	direction->lost = code ? 0 : direction->lost + 1;
	if (direction->lost < MOST_LOST)
		return 0;
	error_set(EHOSTUNREACH, "no test frame goes from %s to %s", frames->bench->run->points[direction->source].name,
		  frames->bench->run->points[direction->sink].name);
	return give_up(direction, -EHOSTUNREACH);
}

int clock_frames_exchange(struct clock_frames *frames)
{
	int code = 0;

	if (!frames || !frames->forward.is_used)
		return 0;
	frames->bench->stream++;
	for (int i = 0; i < frames->crossing_count; i++)
		frames->crossings[i].has_left = 0;
	code = arm(frames, &frames->forward);
	if (code)
		code = give_up(&frames->forward, code);
	if (!code && frames->back.is_used) {
		code = arm(frames, &frames->back);
		code = code ? give_up(&frames->back, code) : 0;
	}
	for (int round = 0; !code && round < ROUNDS && frames->forward.is_used && !undo_interrupted(); round++) {
		code = exchange_one(frames, &frames->forward, use_forward);
		if (!code)
			code = exchange_one(frames, &frames->back, use_back);
	}
	if (code)
		return code;
	disarm(frames, &frames->forward);
	disarm(frames, &frames->back);
	return 0;
}

/* --- what came out --- */

static const char *why_none(const struct clock_frames *frames, const struct crossing *crossing)
{
	return crossing->why_not[0]	    ? crossing->why_not
	       : frames->forward.why_not[0] ? frames->forward.why_not
	       : goes_back(crossing)	    ? frames->back.why_not
					    : "";
}

static void record(const struct clock_frames *frames, const struct crossing *crossing, struct run_domain *listed)
{
	double halves_ns[MOST_HALVES], bounds_ns[MOST_HALVES];
	int count = crossing->half_count;

	snprintf(listed->frames_note, sizeof(listed->frames_note), "%s", why_none(frames, crossing));
	listed->frame_exchanges = crossing->exchanges;
	if (!count)
		return;
	memcpy(halves_ns, crossing->halves_ns, sizeof(halves_ns));
	memcpy(bounds_ns, crossing->bounds_ns, sizeof(bounds_ns));
	listed->crossing_out_hop = crossing->out_hop ? crossing->out_hop : crossing->back_hop;
	listed->crossing_back_hop = crossing->back_hop ? crossing->back_hop : crossing->out_hop;
	listed->crossing_half_min_ns = halves_ns[0];
	for (int i = 1; i < count; i++)
		if (halves_ns[i] < listed->crossing_half_min_ns)
			listed->crossing_half_min_ns = halves_ns[i];
	listed->crossing_half_ns = median(halves_ns, count);
	listed->crossing_bound_ns = median(bounds_ns, count);
}

void clock_frames_record(const struct clock_frames *frames, struct run *run)
{
	for (int c = 0; frames && c < frames->crossing_count; c++) {
		const char *name = clocks_kernel_name(frames->bench->clocks, frames->crossings[c].kernel);

		for (int i = 0; i < run->domain_count; i++)
			if (!strcmp(run->domains[i].name, name))
				record(frames, &frames->crossings[c], &run->domains[i]);
	}
}
