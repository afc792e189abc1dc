// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A sink in user space; see sink_xsk.h. Called by sink.c.
 *
 * Owns: what a thread counts. Each thread has counters and a ledger track of its own; the windows of the ledgers are shared, so
 * that a duplicate is found even when it comes by another queue. A reader in another thread may see counts of a frame that is
 * being counted, one by one: counters only grow, and are exact once the frames have stopped.
 *
 * The clock is read once a batch, and only when a frame of it is stamped: the batch was taken from the ring at once.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "port/pacer.h"
#include "port/receiver.h"
#include "sys/cpu_affinity.h"
#include "traffic/frame_parse.h"
#include "traffic/sink_check.h"
#include "traffic/sink_xsk.h"
#include "wire_test_frame.h"

#define ORIGIN_MASK 0xffffffffffffull /* 48 bits */
#define LATEST_NS 0xffffffffull

struct taking {
	struct sink_threads *all;
	const struct receiver_ops *ops;
	struct receiver *receiver;
	pthread_t thread;
	int cpu, started, result;
	char error[256];
	uint64_t bytes, other_frames, other_bytes;
	uint64_t stamped, stamp_errors, first_ns, last_ns, jitter_sum_ns, jitter_count, before_latency_ns;
	int has_before;
	struct histogram latency_ns, gap_ns;
	struct ledger_track tracks[LEDGER_MAX_STREAMS];
};

struct sink_threads {
	struct sink_config config;
	int count;
	atomic_int stop;
	atomic_uint run_tag; /* 0: that of the first frame */
	struct ledger *ledgers[LEDGER_MAX_STREAMS];
	struct taking takings[SINK_MAX_QUEUES];
};

static void take_stamp(struct taking *taking, const struct parsed_frame *parsed, uint64_t now_ns)
{
	uint64_t latency_ns = (now_ns - parsed->origin_ns) & ORIGIN_MASK, difference_ns;

	if (latency_ns > LATEST_NS || latency_ns < parsed->last_ns) {
		taking->stamp_errors++;
		return;
	}
	histogram_record(&taking->latency_ns, (uint32_t)latency_ns);
	if (taking->has_before) {
		uint64_t gap_ns = now_ns - taking->last_ns;

		difference_ns = latency_ns > taking->before_latency_ns ? latency_ns - taking->before_latency_ns
								      : taking->before_latency_ns - latency_ns;
		taking->jitter_sum_ns += difference_ns;
		taking->jitter_count++;
		histogram_record(&taking->gap_ns, gap_ns > LATEST_NS ? (uint32_t)LATEST_NS : (uint32_t)gap_ns);
	} else {
		taking->first_ns = now_ns;
	}
	taking->has_before = 1;
	taking->before_latency_ns = latency_ns;
	taking->last_ns = now_ns;
	taking->stamped++;
}

/* A frame of our tag that cannot be what a source of ours made. */
static int is_corrupted(const struct receive_frame *frame, const struct parsed_frame *parsed, int verify)
{
	return !sink_check_headers(frame->data, frame->bytes, parsed) ||
	       (verify && !sink_check_payload(frame->data, frame->data_bytes, parsed));
}

/* While no tag is known, that of the first sound frame of a stream is taken. */
static int is_counted(struct sink_threads *all, const struct receive_frame *frame, const struct parsed_frame *parsed)
{
	unsigned int none = 0;

	if (!atomic_load_explicit(&all->run_tag, memory_order_relaxed) && !(parsed->flags & HOPCAP_FRAME_END) &&
	    parsed->run_tag != HOPCAP_PROBE_TAG &&
	    !is_corrupted(frame, parsed, 0))
		atomic_compare_exchange_strong(&all->run_tag, &none, parsed->run_tag);
	return parsed->run_tag == atomic_load_explicit(&all->run_tag, memory_order_relaxed) &&
	       parsed->stream < all->config.streams;
}

static void take(void *context, const struct receive_frame *frames, unsigned char *send_back, unsigned int count)
{
	struct taking *taking = context;
	struct sink_threads *all = taking->all;
	uint64_t now_ns = 0;

	for (unsigned int i = 0; i < count; i++) {
		const struct receive_frame *frame = &frames[i];
		struct parsed_frame parsed;
		struct ledger_track *track;

		send_back[i] = 0;
		if (!frame_parse(frame->data, frame->data_bytes, &parsed) || !is_counted(all, frame, &parsed)) {
			taking->other_frames++;
			taking->other_bytes += frame->bytes;
			continue;
		}
		track = &taking->tracks[parsed.stream];
		if (parsed.flags & HOPCAP_FRAME_END) {
			ledger_track_end(all->ledgers[parsed.stream], track, parsed.sequence);
			continue;
		}
		if (is_corrupted(frame, &parsed, all->config.verify)) {
			track->corrupted++;
			continue;
		}
		taking->bytes += frame->bytes;
		ledger_track_add(all->ledgers[parsed.stream], track, parsed.sequence);
		if (!(parsed.flags & HOPCAP_FRAME_STAMP))
			continue;
		if (!now_ns)
			now_ns = pacer_now_ns();
		take_stamp(taking, &parsed, now_ns);
	}
}

static void *take_thread(void *argument)
{
	struct taking *taking = argument;

	cpu_pin_thread(taking->cpu);
	taking->result = taking->ops->receive(taking->receiver, &taking->all->stop, take, taking);
	if (taking->result)
		snprintf(taking->error, sizeof(taking->error), "%s", error_text());
	return NULL;
}

static int open_one(struct sink_threads *threads, int index, int ifindex)
{
	const struct sink_config *config = &threads->config;
	struct taking *taking = &threads->takings[index];
	const struct port_config port = { .interface = config->interface,
					  .ifindex = ifindex,
					  .queue = config->queue + index,
					  .busy_poll = config->busy_poll };
	int code;

	taking->all = threads;
	taking->ops = config->kind == SINK_AF_XDP_ZC ? &receiver_xsk_zero_copy : &receiver_xsk_copy;
	taking->cpu = config->cpu < 0 ? -1 : config->cpu + index;
	code = taking->ops->open(&port, &taking->receiver);
	if (code)
		return code;
	threads->count++;
	code = pthread_create(&taking->thread, NULL, take_thread, taking);
	if (code)
		return error_set(code, "cannot start a thread that counts: %s", strerror(code));
	taking->started = 1;
	return 0;
}

int sink_threads_open(const struct sink_config *config, int ifindex, int queues, struct sink_threads **result)
{
	struct sink_threads *threads = calloc(1, sizeof(*threads));
	int code = 0;

	if (!threads)
		return error_set(ENOMEM, "%s: out of memory", config->interface);
	threads->config = *config;
	atomic_store(&threads->run_tag, config->run_tag);
	for (int i = 0; !code && i < config->streams; i++) {
		threads->ledgers[i] = ledger_open();
		if (!threads->ledgers[i])
			code = error_set(ENOMEM, "%s: no memory for %d ledgers", config->interface, config->streams);
	}
	for (int i = 0; !code && i < queues; i++)
		code = open_one(threads, i, ifindex);
	if (code) {
		sink_threads_close(threads);
		return code;
	}
	*result = threads;
	return 0;
}

static void add(struct sink_threads *threads, const struct taking *taking, int index, struct sink_reading *reading)
{
	struct receive_statistics statistics = { 0 };
	uint64_t frames = 0;

	reading->bytes += taking->bytes;
	reading->other_frames += taking->other_frames;
	reading->other_bytes += taking->other_bytes;
	reading->stamped += taking->stamped;
	reading->stamp_errors += taking->stamp_errors;
	histogram_merge(&reading->latency_ns, &taking->latency_ns);
	histogram_merge(&reading->gap_ns, &taking->gap_ns);
	if (taking->first_ns && (!reading->first_ns || taking->first_ns < reading->first_ns))
		reading->first_ns = taking->first_ns;
	if (taking->last_ns > reading->last_ns)
		reading->last_ns = taking->last_ns;
	for (int stream = 0; stream < threads->config.streams; stream++) {
		frames += taking->tracks[stream].frames;
		ledger_counts_add(&reading->streams[stream], &taking->tracks[stream], NULL,
				  ledger_base(threads->ledgers[stream]));
	}
	reading->frames += frames;
	reading->queue_frames[(threads->config.queue + index) % SINK_MAX_QUEUES] += frames;
	taking->ops->statistics(taking->receiver, &statistics);
	reading->dropped += statistics.dropped;
	reading->ring_full += statistics.ring_full;
	reading->fill_empty += statistics.fill_empty;
	reading->unbound = statistics.unbound;
}

int sink_threads_read(struct sink_threads *threads, struct sink_reading *reading)
{
	uint64_t jitter_sum_ns = 0, jitter_count = 0;
	int code = 0;

	memset(reading, 0, sizeof(*reading));
	reading->run_tag = (uint16_t)atomic_load(&threads->run_tag);
	for (int i = 0; i < threads->count; i++) {
		const struct taking *taking = &threads->takings[i];

		add(threads, taking, i, reading);
		jitter_sum_ns += taking->jitter_sum_ns;
		jitter_count += taking->jitter_count;
		if (taking->result && !code)
			code = error_set(-taking->result, "%s", taking->error);
	}
	reading->jitter_ns = jitter_count ? (double)jitter_sum_ns / (double)jitter_count : 0;
	return code;
}

const char *sink_threads_describe(const struct sink_threads *threads)
{
	const struct taking *first = &threads->takings[0];

	return first->ops->describe(first->receiver);
}

void sink_threads_stop(struct sink_threads *threads)
{
	atomic_store(&threads->stop, 1);
	for (int i = 0; i < threads->count; i++) {
		if (threads->takings[i].started)
			pthread_join(threads->takings[i].thread, NULL);
		threads->takings[i].started = 0;
	}
}

void sink_threads_close(struct sink_threads *threads)
{
	if (!threads)
		return;
	sink_threads_stop(threads);
	for (int i = 0; i < threads->count; i++) {
		threads->takings[i].ops->close(threads->takings[i].receiver);
	}
	for (int i = 0; i < LEDGER_MAX_STREAMS; i++)
		ledger_close(threads->ledgers[i]);
	free(threads);
}
