// SPDX-License-Identifier: GPL-2.0-or-later
/* JSON lines; see traffic_json.h. Called by traffic_output.c. */
#include <math.h>
#include <stdio.h>

#include <jansson.h>

#include "cmd/traffic_json.h"

static void set_count(json_t *object, const char *name, uint64_t count)
{
	json_object_set_new(object, name, json_integer((json_int_t)count));
}

static void set_number(json_t *object, const char *name, double value)
{
	if (isfinite(value))
		json_object_set_new(object, name, json_real(value));
}

static void print_line(json_t *object)
{
	json_dumpf(object, stdout, JSON_COMPACT | JSON_REAL_PRECISION(10));
	putchar('\n');
	fflush(stdout);
	json_decref(object);
}

static json_t *quantiles(const struct histogram *histogram)
{
	json_t *object = json_object();

	set_count(object, "count", histogram_count(histogram));
	if (!histogram_count(histogram))
		return object;
	set_count(object, "min", histogram_min(histogram));
	set_count(object, "p50", histogram_quantile(histogram, 0.5));
	set_count(object, "p90", histogram_quantile(histogram, 0.9));
	set_count(object, "p99", histogram_quantile(histogram, 0.99));
	set_count(object, "p999", histogram_quantile(histogram, 0.999));
	set_count(object, "max", histogram_max(histogram));
	set_number(object, "mean", histogram_mean(histogram));
	return object;
}

void traffic_json_interval(const struct traffic_state *now, const struct traffic_state *before)
{
	json_t *object = json_pack("{s:s, s:f}", "event", "interval", "elapsed_s", now->elapsed_s);
	double seconds = now->elapsed_s - before->elapsed_s;

	if (now->sends) {
		set_count(object, "sent", now->sent_frames);
		set_number(object, "sent_pps", (double)(now->sent_frames - before->sent_frames) / seconds);
	}
	if (now->sinks) {
		const struct sink_reading *reading = now->reading;
		uint64_t duplicates = 0, reordered = 0;

		for (int i = 0; i < now->streams; i++) {
			duplicates += reading->streams[i].duplicates;
			reordered += reading->streams[i].reordered;
		}
		set_count(object, "received", reading->frames);
		set_number(object, "received_pps",
			   (double)(reading->frames - (before->reading ? before->reading->frames : 0)) / seconds);
		set_count(object, "lost", traffic_lost(now));
		set_count(object, "duplicates", duplicates);
		set_count(object, "reordered", reordered);
	}
	print_line(object);
}

static json_t *stream_object(const struct traffic_result *result, int stream)
{
	const struct ledger_counts *counts = &result->state.reading->streams[stream];
	struct traffic_span span = traffic_span(&result->state, stream, result->stream_sent[stream]);
	json_t *object = json_object(), *extents = json_array();

	if (span.end_known)
		set_count(object, "sent", span.to);
	set_count(object, "frames", counts->frames);
	set_count(object, "lost", ledger_lost_from(counts, span.from, span.to));
	set_count(object, "lost_from", span.from);
	json_object_set_new(object, "start_known", json_boolean(span.start_known));
	json_object_set_new(object, "end_known", json_boolean(span.end_known));
	if (counts->next)
		set_count(object, "lowest", counts->lowest);
	set_count(object, "duplicates", counts->duplicates);
	set_count(object, "reordered", counts->reordered);
	set_count(object, "late", counts->late);
	set_count(object, "corrupted", counts->corrupted);
	set_count(object, "next", counts->next);
	for (int i = 0; i < LEDGER_EXTENTS; i++)
		json_array_append_new(extents, json_integer((json_int_t)counts->extent[i]));
	json_object_set_new(object, "reorder_extent_log2", extents);
	return object;
}

static void add_sent(json_t *object, const struct traffic_result *result)
{
	const struct port_sent *sent = result->sent;

	json_object_set_new(object, "source", json_string(result->source));
	json_object_set_new(object, "port", json_string(result->source_got));
	set_count(object, "sent", sent->frames);
	set_count(object, "sent_bytes", sent->bytes);
	set_count(object, "refused", sent->refused);
	set_number(object, "seconds", result->sending_s);
	set_number(object, "pps", result->achieved_pps);
	set_number(object, "gbps", result->achieved_pps * result->state.frame_bytes * 8e-9);
	json_object_set_new(object, "source_limited", json_boolean(result->source_limited));
	if (result->asked_pps <= 0)
		return;
	set_number(object, "asked_pps", result->asked_pps);
	if (result->ramp_to_pps > 0)
		set_number(object, "ramp_to_pps", result->ramp_to_pps);
	json_object_set_new(object, "lateness_ns", quantiles(&sent->lateness_ns));
	set_number(object, "lateness_mean_ns", sent->frames ? (double)sent->late_sum_ns / (double)sent->frames : NAN);
	set_number(object, "behind_mean_ns", sent->frames ? (double)sent->behind_sum_ns / (double)sent->frames : NAN);
	set_count(object, "slips", sent->slips);
	set_count(object, "slipped_ns", sent->slipped_ns);
}

static json_t *spread(const uint64_t *frames, int count)
{
	json_t *object = json_object();
	char name[16];

	for (int i = 0; i < count; i++) {
		if (!frames[i])
			continue;
		snprintf(name, sizeof(name), "%d", i);
		set_count(object, name, frames[i]);
	}
	return object;
}

static void add_received(json_t *object, const struct traffic_result *result)
{
	const struct sink_reading *reading = result->state.reading;
	json_t *streams = json_array();
	uint64_t beyond;
	int needed;

	set_count(object, "streams_beyond", (uint64_t)traffic_beyond(reading, &beyond, &needed));
	set_count(object, "beyond_frames", beyond);
	json_object_set_new(object, "sink", json_string(result->sink));
	json_object_set_new(object, "sink_kind", json_string(result->sink_got));
	set_count(object, "frames", reading->frames);
	set_count(object, "bytes", reading->bytes);
	set_count(object, "other_frames", reading->other_frames - beyond);
	for (int i = 0; i < result->state.streams; i++)
		json_array_append_new(streams, stream_object(result, i));
	json_object_set_new(object, "streams", streams);
	json_object_set_new(object, "latency_ns", quantiles(&reading->latency_ns));
	json_object_set_new(object, "gap_ns", quantiles(&reading->gap_ns));
	set_count(object, "stamped", reading->stamped);
	set_count(object, "stamp_errors", reading->stamp_errors);
	set_number(object, "jitter_ns", reading->stamped ? reading->jitter_ns : NAN);
	if (reading->last_ns > reading->first_ns)
		set_number(object, "receiving_s", (double)(reading->last_ns - reading->first_ns) / 1e9);
	json_object_set_new(object, "queues", spread(reading->queue_frames, SINK_MAX_QUEUES));
	json_object_set_new(object, "cpus", spread(reading->cpu_frames, RUN_MAX_CPUS));
	json_object_set_new(object, "socket",
			    json_pack("{s:I, s:I, s:I, s:I}", "unbound", (json_int_t)reading->unbound, "dropped", (json_int_t)reading->dropped, "ring_full",
				      (json_int_t)reading->ring_full, "fill_empty", (json_int_t)reading->fill_empty));
}

static json_t *cost_object(const struct run_cpu_cost *cost)
{
	json_t *object = json_object(), *who = json_object(), *context = json_object(), *cpus = json_object();
	char name[16];

	set_number(object, "cpu_s", cost->cpu_s);
	set_number(object, "cpu_error_s", cost->cpu_error_s);
	set_number(object, "per_mframes_s", cost->per_mframes_s);
	set_number(object, "per_mframes_error_s", cost->per_mframes_error_s);
	if (cost->has_idle) {
		set_number(object, "above_idle_per_mframes_s", cost->above_idle_per_mframes_s);
		set_number(object, "above_idle_per_mframes_error_s", cost->above_idle_per_mframes_error_s);
	}
	set_number(context, "user_s", cost->split.user_s);
	set_number(context, "system_s", cost->split.system_s);
	set_number(context, "softirq_s", cost->split.softirq_s);
	set_number(context, "irq_s", cost->split.irq_s);
	set_number(context, "steal_s", cost->split.steal_s);
	json_object_set_new(object, "context", context);
	for (int i = 0; i < RUN_COST_WHO_COUNT; i++)
		set_number(who, run_cost_who_name((enum run_cost_who)i), cost->who_s[i]);
	json_object_set_new(object, "who_s", who);
	for (int i = 0; i < cost->cpu_count; i++) {
		snprintf(name, sizeof(name), "%d", cost->cpus[i].cpu);
		set_number(cpus, name, cost->cpus[i].busy_s);
	}
	json_object_set_new(object, "cpu_busy_s", cpus);
	return object;
}

/* How it ended: whatever the exit status says, too. */
static void add_end(json_t *object, int interrupted, const char *error)
{
	json_object_set_new(object, "interrupted", json_boolean(interrupted));
	json_object_set_new(object, "error", error ? json_string(error) : json_null());
}

void traffic_json_reflected(const struct reflected *now)
{
	json_t *object = json_pack("{s:s, s:f}", "event", now->is_result ? "result" : "interval", "elapsed_s",
				   now->elapsed_s);

	set_count(object, "reflected", now->counts.frames);
	set_count(object, "bytes", now->counts.bytes);
	set_number(object, "pps", now->pps);
	set_count(object, "probes", now->counts.probes);
	set_count(object, "again", now->counts.again);
	if (now->is_result)
		add_end(object, now->interrupted, now->error);
	print_line(object);
}

void traffic_json_result(const struct traffic_result *result)
{
	json_t *object = json_pack("{s:s, s:f, s:i}", "event", "result", "elapsed_s", result->state.elapsed_s, "run_tag",
				   (int)result->run_tag);

	add_end(object, result->interrupted, result->error);
	if (result->mix)
		json_object_set_new(object, "mix", json_string(result->mix));
	if (result->state.sends)
		add_sent(object, result);
	if (result->state.sinks)
		add_received(object, result);
	if (result->cost)
		json_object_set_new(object, "cost", cost_object(result->cost));
	print_line(object);
}
