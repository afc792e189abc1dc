// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `hopcap send`: the frame engine as a tool: frames out of one interface, and, when a sink is named, their ledger there.
 *
 * Owns: the command line, the order of things, the seconds. Leaves to others: sending (traffic/sender.c), counting
 * (traffic/sink.c), showing (traffic_output.c).
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/undo.h"
#include "base/units.h"
#include "cmd/command.h"
#include "cmd/endpoint.h"
#include "cmd/send_options.h"
#include "cmd/sink_kind.h"
#include "cmd/traffic_output.h"
#include "measure/cpu_cost.h"
#include "port/pacer.h"
#include "sys/netdev_features.h"
#include "sys/netns.h"
#include "traffic/announce.h"
#include "traffic/frame_mix.h"
#include "traffic/pcap_replay.h"
#include "traffic/rate.h"
#include "traffic/sender.h"
#include "traffic/sink.h"
#include "wire_test_frame.h"

#define DEFAULT_SECONDS 5
#define STAMP_ALL_BELOW_PPS 200000 /* below this rate the clock read of a stamp costs nothing that matters */
#define DEFAULT_STAMP_INTERVAL 64
#define RATE_TOLERANCE 0.001
#define RAMP_LAG_STEPS 2
#define UNCUT_RATIO 1.25    /* of bytes that came to those of as many frames; a super-frame of two has nearly 2 */
#define TICK_NS 5000000
#define QUIET_TICKS 20
#define PROBE_FRAMES 64
#define IDLE_NS 200000000
#define PATH_REST_NS 50000000
#define LEAST_TELLING_FRAMES 10
#define MAX_DRAIN_TICKS 400

/* Everything of one call. */
struct job {
	struct endpoint source, sink_point;
	int has_sink;
	struct frame_mix mix;
	struct pcap_replay replay;
	double mean_bytes;
	char mix_text[512];
	struct sender_config config;
	struct sender *sender;
	struct sink_config sink_config;
	struct sink *sink;
	struct sink_reading reading, before_reading;
	struct traffic_form form;
	struct port_sent total;
	struct proc_cpu_reading quiet, begin, end; /* before anything was sent, around sending */
	struct run_cpu_cost idle, cost;
	int has_cost;
	uint16_t run_tag;
};

static uint16_t choose_tag(void)
{
	uint16_t tag = (uint16_t)send_options.tag;

	while (!tag || tag == HOPCAP_PROBE_TAG)
		if (getrandom(&tag, sizeof(tag), 0) != sizeof(tag))
			tag = (uint16_t)time(NULL) | 1;
	return tag;
}

static int open_endpoints(struct job *job, char **points, int count)
{
	int code = endpoint_open(points[0], 1, send_options.force_uplink, &job->source);

	if (!code && job->source.text.hook_given)
		code = error_set(EINVAL, "point '%s' is the source: it has no hook", points[0]);
	job->has_sink = count == 2;
	if (!code && job->has_sink)
		code = endpoint_open(points[1], 1, send_options.force_uplink, &job->sink_point);
	return code;
}

/* Longest frame that the source's MTU lets through, tags included. */
static unsigned int longest_bytes(const struct job *job)
{
	return job->source.mtu_bytes + 14 + 4u * (unsigned int)send_options.vlan_count;
}

static int plan_sizes(struct job *job)
{
	struct sender_config *config = &job->config;
	unsigned int least = frame_min_bytes(&config->frame);
	char smallest[16];
	int code;

	snprintf(smallest, sizeof(smallest), "%u", least);
	code = frame_mix_parse(send_options.sizes ? send_options.sizes : smallest, least, HOPCAP_MAX_FRAME_BYTES, &job->mix);
	if (code)
		return code;
	for (unsigned int i = 0; i < job->mix.count; i++)
		if (job->mix.order[i] > longest_bytes(job))
			return error_set(EINVAL, "frames of %u bytes do not fit %s, whose MTU is %u", job->mix.order[i],
					 job->source.name, job->source.mtu_bytes);
	frame_mix_describe(&job->mix, job->mix_text, sizeof(job->mix_text));
	config->sizes = job->mix.order;
	config->size_count = (int)job->mix.count;
	job->mean_bytes = job->mix.mean_bytes;
	return 0;
}

static int plan_replay(struct job *job)
{
	struct pcap_replay *replay = &job->replay;
	int code = pcap_replay_read(send_options.pcap, send_options.pcap_frames ? REPLAY_FRAMES : REPLAY_SIZES, &job->config.frame, replay);

	if (code)
		return code;
	for (unsigned int i = 0; i < replay->count; i++)
		if (replay->templates[i].frame_bytes > longest_bytes(job))
			return error_set(EINVAL, "%s: frame %u has %u bytes and does not fit %s, whose MTU is %u", send_options.pcap, i + 1,
					 replay->templates[i].frame_bytes, job->source.name, job->source.mtu_bytes);
	pcap_replay_describe(replay, job->mix_text, sizeof(job->mix_text));
	send_options.port = "packet";
	job->config.replay = replay;
	job->mean_bytes = replay->mean_bytes;
	return 0;
}

static int plan_frames(struct job *job)
{
	struct sender_config *config = &job->config;
	const unsigned char *to = send_options.to_mac_given ? send_options.to_mac : job->sink_point.address;
	struct frame_spec *frame = &config->frame;
	int code;

	frame->run_tag = job->run_tag;
	frame->ipv6 = send_options.ipv6;
	frame->tag_count = (unsigned int)send_options.vlan_count;
	for (int i = 0; i < send_options.vlan_count; i++)
		frame->tags[i] = (struct frame_tag){ i + 1 < send_options.vlan_count ? 0x88a8 : 0x8100, send_options.vlan[i] };
	memcpy(frame->destination_mac, to, 6);
	memcpy(frame->source_mac, send_options.from_mac_given ? send_options.from_mac : job->source.address, 6);
	code = send_options.pcap ? plan_replay(job) : plan_sizes(job);
	if (!code)
		code = rate_to_pps(&send_options.rate, job->mean_bytes, job->source.line_bps, &config->pps);
	return code;
}

static void plan_sending(struct job *job)
{
	struct sender_config *config = &job->config;
	double pps = config->pps;

	snprintf(config->interface, sizeof(config->interface), "%s", job->source.interface);
	snprintf(config->netns, sizeof(config->netns), "%s", job->source.netns);
	config->workers = (int)send_options.workers;
	config->queue = send_options.queue < 0 ? 0 : (int)send_options.queue;
	config->cpu = (int)send_options.cpu;
	config->flows = (unsigned int)send_options.flows;
	config->burst = (unsigned int)send_options.burst;
	config->ramp_s = send_options.ramp_s;
	config->frames = (uint64_t)send_options.frames;
	config->busy_poll = send_options.busy_poll;
	config->qdisc = send_options.qdisc;
	config->super_bytes = (unsigned int)send_options.super_bytes;
	if (job->config.replay && pps <= 0 && job->replay.pass_ns)
		pps = 1e9 * job->replay.count / (double)job->replay.pass_ns;
	if (send_options.stamp >= 0)
		config->stamp_interval = (unsigned int)send_options.stamp;
	else
		config->stamp_interval = pps > 0 && pps <= STAMP_ALL_BELOW_PPS ? 1 : DEFAULT_STAMP_INTERVAL;
}

static int open_sink(struct job *job)
{
	struct sink_config *config = &job->sink_config;
	int code;

	if (!job->has_sink)
		return 0;
	*config = (struct sink_config){ .run_tag = job->run_tag,
					.streams = (int)send_options.workers,
					.verify = send_options.verify,
					.cpu = -1,
					.busy_poll = send_options.busy_poll };
	snprintf(config->interface, sizeof(config->interface), "%s", job->sink_point.interface);
	snprintf(config->netns, sizeof(config->netns), "%s", job->sink_point.netns);
	code = sink_kind_choose(send_options.kind, &job->sink_point, config);
	job->config.no_clones = config->kind == SINK_XDP_GENERIC;
	if (!code && job->sink_point.ifindex != job->source.ifindex)
		code = announce(config->interface, config->netns, job->sink_point.ifindex, job->sink_point.address,
				job->source.address);
	return code ? code : sink_open_kind(config, !send_options.kind && !job->sink_point.text.hook_given, &job->sink);
}

/* A few frames by one port: do they arrive? Without a sink nobody can tell, and what the port says has to do. */
static int try_port(struct job *job, enum run_port port, int *arrives)
{
	struct sender_config config = job->config;
	struct sink_reading before = { 0 }, after = { 0 };
	const struct timespec pause = { .tv_nsec = TICK_NS };
	struct sender *sender;
	int code;

	*arrives = !job->sink;
	config.port = port;
	config.frames = PROBE_FRAMES;
	config.pps = 10000;
	config.burst = 1;
	config.ramp_s = 0;
	config.workers = 1;
	config.frame.run_tag = HOPCAP_PROBE_TAG;
	code = sender_open(&config, &sender);
	if (code || !job->sink) {
		if (!code)
			sender_close(sender);
		return code;
	}
	code = sink_read(job->sink, &before);
	if (!code)
		code = sender_start(sender);
	for (int tick = 0, quiet = 0; !code && !*arrives && tick < MAX_DRAIN_TICKS && quiet < QUIET_TICKS && !undo_interrupted(); tick++) {
		nanosleep(&pause, NULL);
		code = sink_read(job->sink, &after);
		*arrives = after.other_frames - before.other_frames >= PROBE_FRAMES / 2;
		quiet = sender_done(sender) ? quiet + 1 : 0;
	}
	sender_stop(sender);
	sender_close(sender);
	return code;
}

/*
 * Live frames are accepted by a device that then drops them all: one that cannot take redirected frames, such as a veth
 * whose other end has neither an XDP program nor GRO. Known since kernel 6.3; before, only a sink tells.
 */
static int check_live(const struct job *job)
{
	struct netdev_features features;
	struct netns_token token;
	int code = netns_enter(job->source.netns, &token);

	if (code)
		return code;
	code = netdev_features_get(job->source.interface, job->source.ifindex, &features);
	netns_leave(&token);
	if (code || (features.xdp & NETDEV_XDP_NDO_XMIT))
		return 0;
	return error_set(EOPNOTSUPP, "%s: live frames would all be dropped, since the device takes no redirected frames now: %s",
			 job->source.name,
			 job->source.is_veth ? "switch GRO on at its other end (ethtool -K PEER gro on), use a sink of kind xdp there, or another --port" :
					       "attach an XDP program to it first, or use another --port");
}

static int choose_port(struct job *job)
{
	static const enum run_port order[] = { RUN_PORT_AF_XDP_ZC, RUN_PORT_LIVE, RUN_PORT_AF_XDP_COPY, RUN_PORT_PACKET };
	char why[400] = "";
	int code, arrives;

	for (unsigned int i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		const char *name = run_port_name(order[i]);
		size_t used = strlen(why);

		if (send_options.port && strcmp(send_options.port, "auto")) {
			if (strcmp(send_options.port, name))
				continue;
			job->config.port = order[i];
			return order[i] == RUN_PORT_LIVE ? check_live(job) : 0;
		}
		if (undo_interrupted())
			return error_set(EINTR, "interrupted");
		if (send_options.port == NULL || !strcmp(send_options.port, "auto")) {
			code = order[i] == RUN_PORT_LIVE ? check_live(job) : 0;
			if (!code)
				code = try_port(job, order[i], &arrives);
			if (undo_interrupted())
				continue;
			if (!code && arrives) {
				job->config.port = order[i];
				if (!send_options.json_lines)
					fprintf(stderr, "port %s%s%s\n", name, why[0] ? "; " : "", why);
				return 0;
			}
			snprintf(why + used, sizeof(why) - used, "%snot %s: %s", used ? "; " : "", name,
				 code ? error_text() : "no frame arrives");
		}
	}
	if (send_options.port && strcmp(send_options.port, "auto"))
		return error_set(EINVAL, "unknown port '%s'; auto, af_xdp_zc, live, af_xdp_copy and packet are known", send_options.port);
	if (undo_interrupted())
		return error_set(EINTR, "interrupted");
	return error_set(EHOSTUNREACH, "%s: no way of sending gets frames to %s%s: %s", job->source.name, job->sink_point.name,
			 job->sink_point.ifindex == job->source.ifindex ? ", which takes `hopcap reflect` at the other end" : "", why);
}

static int read_sink(struct job *job)
{
	return job->sink ? sink_read(job->sink, &job->reading) : 0;
}

/*
 * Frames of one size were sent, and what came is longer: super-frames that nothing on the way has cut. A sink at tc or of kind
 * xdp-generic sees each as one frame, and what it says of loss is wrong. To be asked when nothing moves any more.
 */
static int check_cut(const struct job *job)
{
	const struct sink_reading *reading = &job->reading;
	uint64_t came = reading->frames;

	if (!job->sink || !send_options.super_bytes)
		return 0;
	for (int i = 0; i < job->config.workers; i++)
		came += reading->streams[i].corrupted; /* with --verify that is all of them */
	if ((double)reading->bytes <= UNCUT_RATIO * (double)came * job->mean_bytes)
		return 0;
	return error_set(EOPNOTSUPP,
			 "%s: super-frames arrive here uncut and count as one frame each, so what is called lost may have come: use a "
			 "sink of kind xdp or af_xdp_copy, in front of which they are cut",
			 job->sink_point.name);
}

static struct traffic_state state_of(const struct job *job, double elapsed_s)
{
	return (struct traffic_state){ .elapsed_s = elapsed_s,
				       .sends = 1,
				       .sinks = job->sink != NULL,
				       .sent_frames = sender_frames(job->sender),
				       .frame_bytes = job->mean_bytes,
				       .reading = job->sink ? &job->reading : NULL,
				       .from_start = 1,
				       .streams = job->config.workers };
}

/* What the machine does without us, for a moment; a cost that cannot be had is left out. */
static void watch_idle(struct job *job)
{
	const struct timespec pause = { .tv_nsec = IDLE_NS };

	if (proc_cpu_read(&job->quiet))
		return;
	nanosleep(&pause, NULL);
	job->has_cost = !proc_cpu_read(&job->begin);
	if (!job->has_cost)
		return;
	job->has_cost = !cpu_cost_compute(&job->quiet, &job->begin, 0, &job->idle);
}

static void watch_cost(struct job *job)
{
	if (!job->has_cost)
		return;
	job->has_cost = !proc_cpu_read(&job->end) && !cpu_cost_compute(&job->begin, &job->end, job->total.frames, &job->cost);
	if (job->has_cost)
		cpu_cost_set_idle(&job->cost, &job->idle);
}

/* A sink elsewhere wants to know that it was there from the start; one that is named here was armed before, and knows. */
static void announce_begin(struct job *job)
{
	if (sender_announce_begin(job->sender) && !send_options.json_lines)
		fprintf(stderr, "hopcap send: %s\n", error_text());
}

/* Sends for its time; 0 or -errno of the sink. */
static int send_for_its_time(struct job *job)
{
	double seconds = send_options.seconds > 0 ? send_options.seconds : DEFAULT_SECONDS, elapsed_s = 0, next_s = 1;
	const struct timespec pause = { .tv_nsec = TICK_NS };
	struct traffic_state before, now;
	uint64_t begin_ns;
	int code;

	if (!job->sink)
		announce_begin(job);
	begin_ns = pacer_now_ns();
	code = sender_start(job->sender);
	if (send_options.frames && send_options.seconds <= 0)
		seconds = INFINITY;
	before = state_of(job, 0);
	before.reading = job->sink ? &job->before_reading : NULL;
	while (!code && !sender_done(job->sender) && !undo_interrupted() && !traffic_unread(&job->form)) {
		elapsed_s = (double)(pacer_now_ns() - begin_ns) / 1e9;
		if (elapsed_s >= seconds)
			break;
		if (elapsed_s >= next_s) {
			code = read_sink(job);
			now = state_of(job, elapsed_s);
			traffic_interval(&job->form, &now, &before);
			job->before_reading = job->reading;
			before = now;
			if (before.reading)
				before.reading = &job->before_reading;
			next_s = floor(elapsed_s) + 1;
		}
		nanosleep(&pause, NULL);
	}
	return code;
}

/* Until the last frame has come: all are there, or none has come for a while. */
static int drain(struct job *job)
{
	const struct timespec pause = { .tv_nsec = TICK_NS };
	uint64_t before = 0;
	int code = 0;

	for (int tick = 0, quiet = 0; job->sink && !code && tick < MAX_DRAIN_TICKS && quiet < QUIET_TICKS; tick++) {
		code = read_sink(job);
		if (job->reading.frames >= job->total.frames)
			break;
		quiet = job->reading.frames == before ? quiet + 1 : 0;
		before = job->reading.frames;
		nanosleep(&pause, NULL);
	}
	return code;
}

/* After a failure: what has arrived until now, once nothing moves any more. The first error is the one to tell. */
static void rest(struct job *job)
{
	const struct timespec pause = { .tv_nsec = PATH_REST_NS };

	if (!job->sink)
		return;
	nanosleep(&pause, NULL);
	sink_stop(job->sink);
	read_sink(job);
}

static void add_up(struct job *job, struct traffic_result *result)
{
	struct port_sent *total = &job->total;

	for (int i = 0; i < job->config.workers; i++) {
		double elapsed_s;
		const struct port_sent *sent = sender_result(job->sender, i, &elapsed_s);
		/* n frames have n - 1 gaps; only a plan tells first and last departure exactly */
		uint64_t counted = sent->frames && sent->last_ns ? sent->frames - 1 : sent->frames;

		result->stream_sent[i] = sent->frames;
		result->sending_s = fmax(result->sending_s, elapsed_s);
		result->achieved_pps += elapsed_s > 0 ? (double)counted / elapsed_s : 0;
		total->frames += sent->frames;
		total->bytes += sent->bytes;
		total->refused += sent->refused;
		total->late_sum_ns += sent->late_sum_ns;
		total->late_max_ns = sent->late_max_ns > total->late_max_ns ? sent->late_max_ns : total->late_max_ns;
		total->slips += sent->slips;
		total->slipped_ns += sent->slipped_ns;
		total->behind_sum_ns += sent->behind_sum_ns;
		histogram_merge(&total->lateness_ns, &sent->lateness_ns);
	}
}

/* The mean rate of what was planned for so long: a ramp climbs from a tenth of its rate to all of it (port/pacer.c). */
static double planned_pps(const struct job *job, double sending_s)
{
	double ramp_s = send_options.ramp_s, pps = job->config.pps;

	if (ramp_s <= 0 || pps <= 0 || sending_s <= 0)
		return pps;
	if (sending_s < ramp_s)
		return pps * (0.1 + 0.45 * sending_s / ramp_s);
	return pps * (1 - 0.45 * ramp_s / sending_s);
}

/* Bursts are no exception: from first to last departure, k of them take the time of k - 1. */
static int missed_rate(const struct job *job, const struct traffic_result *result)
{
	double tolerance = RATE_TOLERANCE;

	if (!job->total.frames)
		return 0;
	if (send_options.ramp_s > 0) /* each step has the rate of its begin: ln(10) / 2 of them are missing at the end */
		tolerance += RAMP_LAG_STEPS * (double)(send_options.burst * job->config.workers) / (double)job->total.frames;
	return result->asked_pps > 0 && result->achieved_pps < (1 - tolerance) * result->asked_pps &&
	       job->total.frames >= LEAST_TELLING_FRAMES;
}

static int finish(struct job *job, int code)
{
	int sending = sender_stop(job->sender), status = EXIT_STATUS_FINE;
	struct traffic_result result = { .source = job->source.name, .source_got = sender_describe(job->sender) };
	char why[512] = "";

	if (sending) {
		code = sending;
		snprintf(why, sizeof(why), "%s", error_text());
	} else if (code) {
		snprintf(why, sizeof(why), "%s", error_text());
	}
	add_up(job, &result);
	if (!code)
		code = drain(job);
	watch_cost(job);
	if (code)
		rest(job);
	if (!code && sender_announce(job->sender) && !send_options.json_lines)
		fprintf(stderr, "hopcap send: %s\n", error_text());
	if (!code)
		code = read_sink(job);
	if (!code)
		code = check_cut(job);
	if (code && !why[0])
		snprintf(why, sizeof(why), "%s", error_text());
	result.state = state_of(job, result.sending_s);
	result.state.sent_frames = job->total.frames;
	result.sink = job->sink ? job->sink_point.name : NULL;
	result.sink_got = job->sink ? sink_describe(job->sink) : NULL;
	result.mix = job->mix_text;
	result.run_tag = job->run_tag;
	result.asked_pps = planned_pps(job, result.sending_s);
	result.ramp_to_pps = send_options.ramp_s > 0 ? job->config.pps : 0;
	result.cost = job->has_cost ? &job->cost : NULL;
	result.sent = &job->total;
	result.source_limited = missed_rate(job, &result);
	result.interrupted = undo_interrupted() != 0;
	result.error = code ? why : NULL;
	traffic_result(&job->form, &result);
	if (result.source_limited || undo_interrupted())
		status = EXIT_STATUS_FINDINGS;
	if (code) {
		fprintf(stderr, "hopcap send: %s\n", why);
		status = error_exit_status(code);
	}
	return status;
}

static int send_command(int count, char **points)
{
	static struct job job; /* histograms are large */
	int code = send_options_check(count), status;

	job.run_tag = choose_tag();
	job.form = (struct traffic_form){ .json_lines = send_options.json_lines,
					  .live = !send_options.json_lines && isatty(STDOUT_FILENO) };
	if (!code)
		code = open_endpoints(&job, points, count);
	if (!code)
		code = plan_frames(&job);
	if (!code)
		code = undo_catch_signals();
	if (!code) {
		plan_sending(&job);
		code = open_sink(&job);
	}
	if (!code)
		code = choose_port(&job);
	if (!code)
		code = sender_open(&job.config, &job.sender);
	if (code) {
		fprintf(stderr, "hopcap send: %s\n", error_text());
		status = undo_interrupted() ? EXIT_STATUS_FINDINGS : error_exit_status(code);
	} else {
		watch_idle(&job);
		status = finish(&job, send_for_its_time(&job));
	}
	sender_close(job.sender);
	sink_close(job.sink);
	pcap_replay_free(&job.replay);
	proc_cpu_reading_free(&job.quiet);
	proc_cpu_reading_free(&job.begin);
	proc_cpu_reading_free(&job.end);
	return status;
}

const struct command command_send = {
	.name = "send",
	.arguments = "SOURCE [SINK]",
	.summary = "send test frames as fast as the driver goes, or at a rate, and count what arrives",
	.details =
		"SOURCE is INTERFACE[@ns:NAMESPACE]; SINK likewise, optionally with a hook (:xdp, :generic, :tc). Without SINK run\n"
		"`hopcap sink` on the machine that receives, and give its address with --to-mac.\n"
		"Exit status: 0 sent as asked, 1 the rate was not reached or interrupted, 2 usage, 3 the environment lacks something.",
	.options = send_rows,
	.run = send_command,
};
