/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `send`, `sink` and `reflect` show: one refreshing line a second on a terminal, JSON lines, and the result.
 *
 * Owns: text and JSON of one moment and of the end. Leaves to others: taking the readings. A JSON line is one object with
 * "event": "start", "interval" or "result"; numbers that are not known are left out.
 */
#ifndef CMD_TRAFFIC_OUTPUT_H
#define CMD_TRAFFIC_OUTPUT_H

#include "model/cpu_cost.h"
#include "port/port.h"
#include "traffic/sink.h"

struct traffic_state {
	double elapsed_s;	   /* since the start */
	int sends, sinks;	   /* which of the two halves there is */
	uint64_t sent_frames;	   /* so far */
	double frame_bytes;	   /* mean of what is sent */
	const struct sink_reading *reading;
	int streams;		   /* that the sink has ledgers for */
	int from_start;		   /* 1: the sink was there before the source began */
};

/* What is known of the two ends of a stream; where one is not, what was lost there cannot be told. */
struct traffic_span {
	uint64_t from;		   /* sequence from which loss is counted */
	uint64_t to;		   /* that behind the last one */
	int start_known, end_known;
};

struct traffic_result {
	struct traffic_state state;
	const char *source, *sink; /* points as written; NULL */
	const char *source_got, *sink_got; /* what port, what sink */
	const char *mix;	   /* sizes in words */
	uint16_t run_tag;
	double asked_pps;	   /* 0: as fast as it goes; of a ramp: the mean over the time that was sent */
	double ramp_to_pps;	   /* where a ramp ends; 0: no ramp */
	double achieved_pps;	   /* first to last departure, workers added */
	double sending_s;
	const struct port_sent *sent; /* summed over workers */
	uint64_t stream_sent[LEDGER_MAX_STREAMS]; /* of each worker; 0 unknown */
	const struct run_cpu_cost *cost; /* of the whole machine while frames were sent; NULL: not known */
	int source_limited;	   /* 1: less than was asked for left */
	int interrupted;	   /* 1: ended by a signal */
	const char *error;	   /* why it ended before its time; NULL: it did not */
};

/* form: what the user wants to see while it runs and at the end. */
struct traffic_form {
	int json_lines, live;	   /* live: a line that refreshes itself, on a terminal */
};

void traffic_interval(const struct traffic_form *form, const struct traffic_state *now, const struct traffic_state *before);
void traffic_clear(const struct traffic_form *form);
/* 1: JSON lines are written to a pipe that nobody reads any more, so there is no need to go on. */
int traffic_unread(const struct traffic_form *form);
/* Of one stream that sent so many frames; sent 0: not known, or said by the source at its end. */
struct traffic_span traffic_span(const struct traffic_state *state, int stream, uint64_t sent);
/* Frames lost of all streams as far as is known now. */
uint64_t traffic_lost(const struct traffic_state *state);
/* How many streams of the run have no ledger, and their frames; *streams_needed: as many ledgers as would take them in. */
int traffic_beyond(const struct sink_reading *reading, uint64_t *frames, int *streams_needed);
void traffic_result(const struct traffic_form *form, const struct traffic_result *result);

#endif
