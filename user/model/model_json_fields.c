// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The rows of run.json, and the few rules that writing and reading share.
 *
 * Order matters twice: it is the order in the file, and the reader goes through it from the top, so that `path` comes
 * before everything that is as long as the path, and `trials` before what points at a trial.
 */
#include "model/model_json_fields.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* A row is a line. */
/* clang-format off */

/* The offset of a member; does not compile when the member is not of that type. */
#define MEMBER(type, member, expected)                                                                          \
	(offsetof(type, member) +                                                                               \
	 0 * sizeof(char[__builtin_types_compatible_p(__typeof__(((type *)0)->member), expected) ? 1 : -1]))
#define MEMBER_BYTES(type, member) sizeof(((type *)0)->member)

#define NUMBER(type, member, more) \
	{ .name = #member, .kind = FIELD_NUMBER, .flags = (more), .offset = MEMBER(type, member, double) }
#define COUNT(type, member, more) \
	{ .name = #member, .kind = FIELD_COUNT, .flags = (more), .offset = MEMBER(type, member, int64_t) }
#define UNSIGNED(type, member, more) \
	{ .name = #member, .kind = FIELD_UNSIGNED, .flags = (more), .offset = MEMBER(type, member, uint64_t) }
#define INT(type, member, more, low, high)                                                              \
	{ .name = #member, .kind = FIELD_INT, .flags = (more), .offset = MEMBER(type, member, int),     \
	  .min = (low), .max = (high) }
#define INT_OR_NULL(type, member, more, low, high, null_is)                                                       \
	{ .name = #member, .kind = FIELD_INT, .flags = (more) | FIELD_NULLABLE, .offset = MEMBER(type, member, int), \
	  .min = (low), .max = (high), .unknown = (null_is) }
#define UINT(type, member, more)                                                                              \
	{ .name = #member, .kind = FIELD_UINT, .flags = (more), .offset = MEMBER(type, member, unsigned int), \
	  .max = INT_MAX }
#define BOOL(type, member, more) \
	{ .name = #member, .kind = FIELD_BOOL, .flags = (more), .offset = MEMBER(type, member, int) }
#define ENUM(type, member, which)                                                                             \
	{ .name = #member, .kind = FIELD_ENUM, .offset = MEMBER(type, member, enum run_##which),              \
	  .names = &which##_names }
#define TEXT(type, member, more)                                                        \
	{ .name = #member, .kind = FIELD_TEXT, .flags = (more), .offset = offsetof(type, member), \
	  .size = MEMBER_BYTES(type, member) + 0 * sizeof(&((type *)0)->member[0]) }
#define POSITION(json_name, first) { .name = (json_name), .kind = FIELD_POSITION, .min = (first) }
#define OBJECT(json_name, more, at, rows) \
	{ .name = (json_name), .kind = FIELD_OBJECT, .flags = (more), .offset = (at), .fields = (rows) }
#define OBJECT_IF(json_name, more, at, present, rows)                                                                  \
	{ .name = (json_name), .kind = FIELD_OBJECT, .flags = (more) | FIELD_NULLABLE, .offset = (at),         \
	  .fields = (rows), .present_offset = MEMBER(struct run, present, int) }
#define ARRAY(type, member, more, count, rows)                                                                        \
	{ .name = #member, .kind = FIELD_ARRAY, .flags = (more), .offset = offsetof(type, member),                    \
	  .size = MEMBER_BYTES(type, member[0]), .fields = (rows), .count_offset = MEMBER(type, count, int),          \
	  .capacity = (int)(MEMBER_BYTES(type, member) / MEMBER_BYTES(type, member[0])) }
#define ARRAY_ALONG(type, member, more, along, rows)                                               \
	{ .name = #member, .kind = FIELD_ARRAY, .flags = (more), .offset = offsetof(type, member), \
	  .size = MEMBER_BYTES(type, member[0]), .fields = (rows), .length = (along) }
#define END { .name = NULL }

#define NAMES(which, last)                                                               \
	static const char *which##_name(int value)                                       \
	{                                                                                \
		return run_##which##_name((enum run_##which)value);                      \
	}                                                                                \
	static const struct field_names which##_names = { which##_name, (last) + 1 }

NAMES(hook, RUN_HOOK_SINK);
NAMES(direction, RUN_DIRECTION_OUT);
NAMES(hop_kind, RUN_HOP_OPAQUE);
NAMES(port, RUN_PORT_PACKET);
NAMES(limit, RUN_LIMIT_SOURCE);
NAMES(verdict_kind, RUN_VERDICT_SOURCE_LIMITED);
NAMES(cause, RUN_CAUSE_SOURCE);
NAMES(purpose, RUN_PURPOSE_BYPASS);

/* Rows of arrays of plain numbers: no name. */
static const struct field frame_counts[] = { { .name = "", .kind = FIELD_COUNT }, END };
static const struct field cpu_numbers[] = {
	{ .name = "", .kind = FIELD_INT, .flags = FIELD_NULLABLE, .max = INT_MAX, .unknown = -1 }, END
};

static const struct field point_fields[] = {
	TEXT(struct run_point, name, 0),
	TEXT(struct run_point, interface, 0),
	TEXT(struct run_point, domain, 0),
	TEXT(struct run_point, netns, 0),
	ENUM(struct run_point, hook, hook),
	TEXT(struct run_point, mode, 0),
	ENUM(struct run_point, direction, direction),
	UINT(struct run_point, mtu_bytes, FIELD_OPTIONAL),
	TEXT(struct run_point, driver, FIELD_OPTIONAL),
	END
};

static const struct field hop_fields[] = {
	POSITION("index", 1),
	ENUM(struct run_hop, kind, hop_kind),
	TEXT(struct run_hop, name, 0),
	POSITION("from", 0),
	POSITION("to", 1),
	END
};

static const struct field domain_fields[] = {
	TEXT(struct run_domain, name, 0),
	TEXT(struct run_domain, kernel, 0),
	TEXT(struct run_domain, machine, 0),
	INT(struct run_domain, first_cpu, 0, 0, INT_MAX),
	INT(struct run_domain, cpu_count, 0, 0, INT_MAX),
	NUMBER(struct run_domain, clock_offset_ns, FIELD_OPTIONAL | FIELD_SIGNED),
	NUMBER(struct run_domain, clock_bound_ns, FIELD_OPTIONAL),
	NUMBER(struct run_domain, clock_linear_ns, FIELD_OPTIONAL),
	NUMBER(struct run_domain, clock_spread_ns, FIELD_OPTIONAL),
	NUMBER(struct run_domain, clock_drift_ppm, FIELD_OPTIONAL | FIELD_SIGNED),
	NUMBER(struct run_domain, round_trip_ns, FIELD_OPTIONAL),
	INT(struct run_domain, clock_steps, FIELD_OPTIONAL, 0, INT_MAX),
	UNSIGNED(struct run_domain, clock_exchanges, FIELD_OPTIONAL),
	UNSIGNED(struct run_domain, frame_exchanges, FIELD_OPTIONAL),
	TEXT(struct run_domain, frames_note, FIELD_OPTIONAL),
	INT(struct run_domain, crossing_out_hop, FIELD_OPTIONAL, 0, RUN_MAX_HOPS),
	INT(struct run_domain, crossing_back_hop, FIELD_OPTIONAL, 0, RUN_MAX_HOPS),
	NUMBER(struct run_domain, crossing_half_min_ns, FIELD_OPTIONAL | FIELD_SIGNED),
	NUMBER(struct run_domain, crossing_half_ns, FIELD_OPTIONAL | FIELD_SIGNED),
	NUMBER(struct run_domain, crossing_bound_ns, FIELD_OPTIONAL),
	END
};

static const struct field path_fields[] = {
	ARRAY(struct run, points, 0, point_count, point_fields),
	ARRAY_ALONG(struct run, hops, 0, LENGTH_HOPS, hop_fields),
	END
};

static const struct field source_fields[] = {
	ENUM(struct run_source, port, port),
	TEXT(struct run_source, why, 0),
	NUMBER(struct run_source, ceiling_pps, 0),
	INT_OR_NULL(struct run_source, cpu, FIELD_OPTIONAL, 0, INT_MAX, -1),
	BOOL(struct run_source, self_clocked, FIELD_OPTIONAL),
	END
};

static const struct field size_fields[] = {
	UINT(struct run_size, frame_bytes, 0),
	ENUM(struct run_size, port, port),
	BOOL(struct run_size, delivered, 0),
	INT(struct run_size, last_seen_point, FIELD_IN_PATH, 0, INT_MAX),
	END
};

static const struct field cut_fields[] = {
	INT(struct run_cut, point, FIELD_IN_PATH, 1, INT_MAX),
	NUMBER(struct run_cut, lower_pps, 0),
	NUMBER(struct run_cut, upper_pps, 0),
	NUMBER(struct run_cut, gbps, 0),
	ENUM(struct run_cut, limited_by, limit),
	END
};

static const struct field service_fields[] = {
	INT(struct run_service, point, FIELD_IN_PATH, 1, INT_MAX),
	UINT(struct run_service, frame_bytes, 0),
	ENUM(struct run_service, port, port),
	NUMBER(struct run_service, pps, 0),
	NUMBER(struct run_service, low_pps, 0),
	NUMBER(struct run_service, high_pps, 0),
	NUMBER(struct run_service, offered_pps, 0),
	NUMBER(struct run_service, source_ns, 0),
	NUMBER(struct run_service, cpu_ns, FIELD_OPTIONAL),
	NUMBER(struct run_service, cpu_low_ns, FIELD_OPTIONAL),
	INT(struct run_service, trials, 0, 0, INT_MAX),
	INT_OR_NULL(struct run_service, cpu, 0, 0, INT_MAX, -1),
	BOOL(struct run_service, self_clocked, 0),
	END
};

static const struct field share_fields[] = {
	POSITION("hop", 1),
	NUMBER(struct run_hop_share, service_ns, FIELD_SIGNED),
	NUMBER(struct run_hop_share, error_ns, 0),
	INT_OR_NULL(struct run_hop_share, cpu, 0, 0, INT_MAX, -1),
	BOOL(struct run_hop_share, same_cpu_as_previous, 0),
	END
};

static const struct field bounds_fields[] = {
	NUMBER(struct run_throughput_bounds, lower_pps, 0),
	NUMBER(struct run_throughput_bounds, upper_pps, 0),
	NUMBER(struct run_throughput_bounds, loss_ratio, FIELD_RATIO),
	NUMBER(struct run_throughput_bounds, loss_goal, FIELD_OPTIONAL | FIELD_RATIO),
	BOOL(struct run_throughput_bounds, irregular, FIELD_OPTIONAL),
	NUMBER(struct run_throughput_bounds, conditional_pps, FIELD_OPTIONAL),
	NUMBER(struct run_throughput_bounds, exceed_ratio, FIELD_OPTIONAL | FIELD_RATIO),
	NUMBER(struct run_throughput_bounds, width, FIELD_OPTIONAL | FIELD_RATIO),
	NUMBER(struct run_throughput_bounds, final_trial_s, FIELD_OPTIONAL),
	NUMBER(struct run_throughput_bounds, duration_sum_s, FIELD_OPTIONAL),
	BOOL(struct run_throughput_bounds, no_lower, FIELD_OPTIONAL),
	BOOL(struct run_throughput_bounds, no_upper, FIELD_OPTIONAL),
	BOOL(struct run_throughput_bounds, wide, FIELD_OPTIONAL),
	BOOL(struct run_throughput_bounds, contradiction, FIELD_OPTIONAL),
	BOOL(struct run_throughput_bounds, source_limited, FIELD_OPTIONAL),
	END
};

static const struct field throughput_fields[] = {
	OBJECT("ndr", 0, offsetof(struct run, ndr), bounds_fields),
	OBJECT("pdr", 0, offsetof(struct run, pdr), bounds_fields),
	ARRAY(struct run, goals, FIELD_OPTIONAL, goal_count, bounds_fields),
	INT(struct run, search_trials, FIELD_OPTIONAL, 0, INT_MAX),
	NUMBER(struct run, search_trial_s, FIELD_OPTIONAL),
	END
};

static const struct field rfc2544_step_fields[] = {
	NUMBER(struct run_rfc2544_step, percent, 0),
	NUMBER(struct run_rfc2544_step, offered_pps, 0),
	NUMBER(struct run_rfc2544_step, loss_ratio, FIELD_RATIO),
	END
};

static const struct field rfc2544_size_fields[] = {
	UINT(struct run_rfc2544_size, frame_bytes, 0),
	ENUM(struct run_rfc2544_size, port, port),
	NUMBER(struct run_rfc2544_size, max_pps, 0),
	NUMBER(struct run_rfc2544_size, throughput_pps, 0),
	NUMBER(struct run_rfc2544_size, lossy_pps, 0),
	INT(struct run_rfc2544_size, throughput_trials, 0, 0, INT_MAX),
	INT(struct run_rfc2544_size, latency_repetitions, 0, 0, INT_MAX),
	NUMBER(struct run_rfc2544_size, latency_pps, 0),
	UNSIGNED(struct run_rfc2544_size, latency_frames, 0),
	UNSIGNED(struct run_rfc2544_size, latency_lost, 0),
	NUMBER(struct run_rfc2544_size, latency_mean_ns, 0),
	NUMBER(struct run_rfc2544_size, latency_median_ns, 0),
	NUMBER(struct run_rfc2544_size, latency_p999_ns, 0),
	NUMBER(struct run_rfc2544_size, latency_min_ns, 0),
	NUMBER(struct run_rfc2544_size, latency_max_ns, 0),
	ARRAY(struct run_rfc2544_size, steps, 0, step_count, rfc2544_step_fields),
	BOOL(struct run_rfc2544_size, loss_clean, 0),
	INT(struct run_rfc2544_size, bursts, 0, 0, INT_MAX),
	NUMBER(struct run_rfc2544_size, burst_frames, 0),
	NUMBER(struct run_rfc2544_size, burst_min_frames, 0),
	NUMBER(struct run_rfc2544_size, burst_max_frames, 0),
	NUMBER(struct run_rfc2544_size, burst_deviation_frames, 0),
	NUMBER(struct run_rfc2544_size, burst_pps, 0),
	NUMBER(struct run_rfc2544_size, buffer_ns, 0),
	BOOL(struct run_rfc2544_size, burst_unbounded, 0),
	END
};

static const struct field rfc2544_fields[] = {
	BOOL(struct run_rfc2544, by_the_rfc, 0),
	NUMBER(struct run_rfc2544, trial_s, 0),
	NUMBER(struct run_rfc2544, stream_s, 0),
	NUMBER(struct run_rfc2544, burst_s, 0),
	NUMBER(struct run_rfc2544, settle_s, 0),
	NUMBER(struct run_rfc2544, pause_s, 0),
	NUMBER(struct run_rfc2544, resolution, FIELD_RATIO),
	ARRAY(struct run_rfc2544, sizes, 0, size_count, rfc2544_size_fields),
	END
};

#define PERCENTILES                                      \
	UNSIGNED(struct run_percentiles, count, 0),      \
	NUMBER(struct run_percentiles, min_ns, 0),       \
	NUMBER(struct run_percentiles, p50_ns, 0),       \
	NUMBER(struct run_percentiles, p90_ns, 0),       \
	NUMBER(struct run_percentiles, p99_ns, 0),       \
	NUMBER(struct run_percentiles, p999_ns, 0),      \
	NUMBER(struct run_percentiles, max_ns, 0),       \
	NUMBER(struct run_percentiles, bound_ns, 0),     \
	END

static const struct field hop_percentiles_fields[] = { POSITION("hop", 1), PERCENTILES };
static const struct field path_percentiles_fields[] = { PERCENTILES };

static const struct field latency_fields[] = {
	TEXT(struct run_latency, load, 0),
	NUMBER(struct run_latency, rate_pps, 0),
	UINT(struct run_latency, frame_bytes, FIELD_OPTIONAL),
	ARRAY_ALONG(struct run_latency, hops, 0, LENGTH_HOPS, hop_percentiles_fields),
	OBJECT("path", 0, offsetof(struct run_latency, path), path_percentiles_fields),
	END
};

#define COST                                                                               \
	NUMBER(struct run_cost, ns_per_frame, FIELD_SIGNED),                               \
	NUMBER(struct run_cost, ns_per_byte, FIELD_SIGNED),                                \
	NUMBER(struct run_cost, r2, FIELD_SIGNED),                                         \
	NUMBER(struct run_cost, ns_per_frame_error, FIELD_OPTIONAL),                       \
	NUMBER(struct run_cost, ns_per_byte_error, FIELD_OPTIONAL),                        \
	END

static const struct field cost_fields[] = { INT(struct run_cost, hop, FIELD_IN_PATH, 1, INT_MAX), COST };
static const struct field path_cost_fields[] = { COST };

static const struct field drop_fields[] = {
	TEXT(struct run_drop, reason, 0),
	TEXT(struct run_drop, interface, FIELD_OPTIONAL),
	UNSIGNED(struct run_drop, count, 0),
	END
};

static const struct field trial_fields[] = {
	ENUM(struct run_trial, purpose, purpose),
	INT(struct run_trial, sink_point, FIELD_IN_PATH, 1, INT_MAX),
	NUMBER(struct run_trial, asked_pps, FIELD_OPTIONAL),
	NUMBER(struct run_trial, offered_pps, 0),
	NUMBER(struct run_trial, duration_s, 0),
	UINT(struct run_trial, frame_bytes, 0),
	ENUM(struct run_trial, port, port),
	INT(struct run_trial, stamp_interval, 0, 0, INT_MAX),
	COUNT(struct run_trial, sent, 0),
	ARRAY_ALONG(struct run_trial, points, 0, LENGTH_POINTS, frame_counts),
	ARRAY_ALONG(struct run_trial, lost, 0, LENGTH_HOPS, frame_counts),
	COUNT(struct run_trial, received, FIELD_OPTIONAL),
	ARRAY(struct run_trial, drops, 0, drop_count, drop_fields),
	COUNT(struct run_trial, duplicates, 0),
	COUNT(struct run_trial, reordered, 0),
	NUMBER(struct run_trial, lateness_mean_ns, FIELD_OPTIONAL | FIELD_SIGNED),
	NUMBER(struct run_trial, lateness_max_ns, FIELD_OPTIONAL | FIELD_SIGNED),
	COUNT(struct run_trial, slips, FIELD_OPTIONAL),
	END
};

static const struct field queue_fields[] = {
	INT(struct run_queue, point, FIELD_IN_PATH, 0, INT_MAX),
	TEXT(struct run_queue, interface, 0),
	TEXT(struct run_queue, kind, 0),
	UNSIGNED(struct run_queue, rate_bytes_per_s, 0),
	UNSIGNED(struct run_queue, drops, 0),
	UNSIGNED(struct run_queue, overlimits, 0),
	UNSIGNED(struct run_queue, backlog_bytes, 0),
	UNSIGNED(struct run_queue, backlog_frames, 0),
	END
};

static const struct field cpu_fields[] = {
	INT(struct run_cpu, cpu, 0, 0, INT_MAX),
	NUMBER(struct run_cpu, busy, 0),
	NUMBER(struct run_cpu, softirq, 0),
	NUMBER(struct run_cpu, system, 0),
	NUMBER(struct run_cpu, user, 0),
	NUMBER(struct run_cpu, steal, 0),
	END
};

static const struct field hog_fields[] = {
	INT(struct run_hog, cpu, 0, 0, INT_MAX),
	INT(struct run_hog, pid, 0, 0, INT_MAX),
	TEXT(struct run_hog, command, 0),
	NUMBER(struct run_hog, share, 0),
	END
};

static const struct field pressure_fields[] = {
	INT_OR_NULL(struct run_pressure, trial, FIELD_IN_TRIALS, 0, INT_MAX, -1),
	ARRAY(struct run_pressure, queues, 0, queue_count, queue_fields),
	ARRAY(struct run_pressure, cpus, 0, cpu_count, cpu_fields),
	ARRAY(struct run_pressure, hogs, 0, hog_count, hog_fields),
	ARRAY_ALONG(struct run_pressure, serving_cpu, 0, LENGTH_POINTS, cpu_numbers),
	END
};

static const struct field observer_fields[] = {
	NUMBER(struct run_observer, throughput_ratio, 0),
	NUMBER(struct run_observer, low_ratio, FIELD_OPTIONAL),
	NUMBER(struct run_observer, high_ratio, FIELD_OPTIONAL),
	NUMBER(struct run_observer, ns_per_frame, FIELD_SIGNED),
	INT(struct run_observer, pairs, 0, 0, INT_MAX),
	END
};

static const struct field bypass_fields[] = {
	INT_OR_NULL(struct run_bypass, hop, FIELD_IN_PATH, 1, INT_MAX, 0),
	TEXT(struct run_bypass, way, FIELD_OPTIONAL),
	TEXT(struct run_bypass, why_not, FIELD_OPTIONAL),
	NUMBER(struct run_bypass, capacity_pps, 0),
	NUMBER(struct run_bypass, with_hop_pps, FIELD_OPTIONAL),
	NUMBER(struct run_bypass, ratio, 0),
	NUMBER(struct run_bypass, low_ratio, FIELD_OPTIONAL),
	NUMBER(struct run_bypass, high_ratio, FIELD_OPTIONAL),
	INT(struct run_bypass, pairs, FIELD_OPTIONAL, 0, INT_MAX),
	{ .name = "limited_by", .kind = FIELD_ENUM, .flags = FIELD_OPTIONAL,
	  .offset = MEMBER(struct run_bypass, limited_by, enum run_limit), .names = &limit_names },
	NUMBER(struct run_bypass, cpu_saved_s, FIELD_OPTIONAL | FIELD_SIGNED),
	NUMBER(struct run_bypass, idle_ns, FIELD_OPTIONAL),
	NUMBER(struct run_bypass, with_hop_idle_ns, FIELD_OPTIONAL),
	END
};

static const struct field mtu_gain_fields[] = {
	UINT(struct run_mtu_gain, small_bytes, 0),
	UINT(struct run_mtu_gain, large_bytes, 0),
	NUMBER(struct run_mtu_gain, measured_ratio, 0),
	NUMBER(struct run_mtu_gain, model_ratio, FIELD_SIGNED),
	NUMBER(struct run_mtu_gain, model_gbps, FIELD_SIGNED),
	END
};

static const struct field finding_fields[] = {
	TEXT(struct run_finding, id, 0),
	TEXT(struct run_finding, severity, 0),
	TEXT(struct run_finding, interface, 0),
	TEXT(struct run_finding, evidence, 0),
	TEXT(struct run_finding, rule, 0),
	TEXT(struct run_finding, fix, 0),
	TEXT(struct run_finding, effect, 0),
	TEXT(struct run_finding, explains, FIELD_OPTIONAL),
	END
};

static const struct field evidence_fields[] = {
	TEXT(struct run_evidence, name, 0),
	INT_OR_NULL(struct run_evidence, hop, FIELD_IN_PATH, 1, INT_MAX, 0),
	TEXT(struct run_evidence, text, 0),
	END
};

static const struct field verdict_fields[] = {
	ENUM(struct run_verdict, kind, verdict_kind),
	INT_OR_NULL(struct run_verdict, hop, FIELD_IN_PATH, 1, INT_MAX, 0),
	INT_OR_NULL(struct run_verdict, second_hop, FIELD_OPTIONAL | FIELD_IN_PATH, 1, INT_MAX, 0),
	ENUM(struct run_verdict, cause, cause),
	NUMBER(struct run_verdict, confidence, FIELD_RATIO),
	TEXT(struct run_verdict, sentence, 0),
	ARRAY(struct run_verdict, evidence, 0, evidence_count, evidence_fields),
	END
};

static void *grow_trials(struct run *run)
{
	return run_add_trial(run);
}

const struct field run_json_fields[] = {
	{ .name = "schema", .kind = FIELD_CONSTANT, .constant = RUN_JSON_SCHEMA },
	TEXT(struct run, created, FIELD_OPTIONAL),
	TEXT(struct run, version, FIELD_OPTIONAL),
	TEXT(struct run, kernel, FIELD_OPTIONAL),
	TEXT(struct run, machine, FIELD_OPTIONAL),
	TEXT(struct run, lab, FIELD_OPTIONAL),
	UINT(struct run, primary_bytes, 0),
	NUMBER(struct run, loss_goal, FIELD_OPTIONAL | FIELD_RATIO),
	NUMBER(struct run, rate_limit_asked_pps, FIELD_OPTIONAL),
	NUMBER(struct run, measuring_s, FIELD_OPTIONAL),
	OBJECT("path", 0, 0, path_fields),
	ARRAY(struct run, domains, FIELD_OPTIONAL, domain_count, domain_fields),
	OBJECT("source", 0, offsetof(struct run, source), source_fields),
	ARRAY(struct run, sizes, FIELD_OPTIONAL, size_count, size_fields),
	ARRAY(struct run, cuts, 0, cut_count, cut_fields),
	ARRAY(struct run, services, FIELD_OPTIONAL, service_count, service_fields),
	ARRAY(struct run, shares, FIELD_OPTIONAL | FIELD_ALL_HOPS, share_count, share_fields),
	OBJECT_IF("throughput", 0, 0, has_throughput, throughput_fields),
	OBJECT_IF("rfc2544", FIELD_OPTIONAL, offsetof(struct run, rfc2544), has_rfc2544, rfc2544_fields),
	ARRAY(struct run, latency, 0, latency_count, latency_fields),
	ARRAY(struct run, cost, 0, cost_count, cost_fields),
	OBJECT("path_cost", FIELD_OPTIONAL, offsetof(struct run, path_cost), path_cost_fields),
	OBJECT_IF("observer", 0, offsetof(struct run, observer), has_observer, observer_fields),
	OBJECT_IF("bypass", 0, offsetof(struct run, bypass), has_bypass, bypass_fields),
	OBJECT_IF("mtu_gain", FIELD_OPTIONAL, offsetof(struct run, mtu_gain), has_mtu_gain, mtu_gain_fields),
	{ .name = "trials", .kind = FIELD_ARRAY, .offset = MEMBER(struct run, trials, struct run_trial *),
	  .size = sizeof(struct run_trial), .fields = trial_fields,
	  .count_offset = MEMBER(struct run, trial_count, int), .capacity = RUN_JSON_MAX_TRIALS, .grow = grow_trials },
	OBJECT("pressure", FIELD_OPTIONAL, offsetof(struct run, pressure), pressure_fields),
	ARRAY(struct run, findings, 0, finding_count, finding_fields),
	OBJECT("verdict", 0, offsetof(struct run, verdict), verdict_fields),
	END
};

/* clang-format on */

const char *json_place_print(const struct json_place *place, char *buffer, size_t size)
{
	const struct json_place *chain[16];
	size_t used = 0;
	int depth = 0;

	for (; place && depth < 16; place = place->parent)
		chain[depth++] = place;
	buffer[0] = '\0';
	while (depth > 0 && used < size) {
		place = chain[--depth];
		if (place->name)
			used += (size_t)snprintf(buffer + used, size - used, "%s%s", used ? "." : "", place->name);
		else
			used += (size_t)snprintf(buffer + used, size - used, "[%d]", place->index);
	}
	return buffer;
}

int field_array_count(const struct run *run, const struct field *field, const void *base)
{
	int count;

	if (field->length == LENGTH_POINTS)
		return run->point_count;
	if (field->length == LENGTH_HOPS)
		return run->point_count > 0 ? run->point_count - 1 : 0;
	memcpy(&count, (const char *)base + field->count_offset, sizeof(count));
	return count;
}

void *field_array_elements(const struct field *field, const void *base)
{
	const char *member = (const char *)base + field->offset;
	void *elements;

	if (!field->grow)
		return (void *)(uintptr_t)member;
	memcpy(&elements, member, sizeof(elements));
	return elements;
}

const char *field_check_integer(const struct run *run, const struct field *field, int64_t value)
{
	if (value < field->min)
		return value < 0 ? "is negative" : "is too small";
	if (field->kind != FIELD_COUNT && field->kind != FIELD_UNSIGNED && value > field->max)
		return "is too large";
	if ((field->flags & FIELD_IN_PATH) && value >= run->point_count)
		return "lies beyond the end of the path";
	if ((field->flags & FIELD_IN_TRIALS) && value >= run->trial_count)
		return "is not the number of a trial";
	return NULL;
}

const char *field_check_number(const struct field *field, double value)
{
	if (value < 0 && !(field->flags & FIELD_SIGNED))
		return "is negative";
	if (value > 1 && (field->flags & FIELD_RATIO))
		return "is larger than 1";
	return NULL;
}
