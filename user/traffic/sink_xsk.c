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
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "port/pacer.h"
#include "traffic/frame_parse.h"
#include "traffic/queue_workers.h"
#include "traffic/sink_check.h"
#include "traffic/sink_xsk.h"
#include "wire_test_frame.h"

#define ORIGIN_MASK 0xffffffffffffull /* 48 bits */
#define LATEST_NS 0xffffffffull

struct taking {
	struct sink_threads *all;
	uint64_t bytes, other_frames, other_bytes, beyond_frames[LEDGER_MAX_STREAMS];
	uint64_t stamped, stamp_errors, first_ns, last_ns, jitter_sum_ns, jitter_count, before_latency_ns;
	int has_before;
	struct histogram latency_ns, gap_ns;
	struct ledger_track tracks[LEDGER_MAX_STREAMS];
};

struct sink_threads {
	struct sink_config config;
	struct queue_workers *workers;
	atomic_uint run_tag; /* 0: that of the first frame */
	atomic_uint begun;   /* run tag << 8 | bit s: stream s of it was announced to begin */
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

/* Remembers that a stream of this run, or of one that may become ours, begins; see announces_begin() in bpf/hop_body.bpf.h. */
static void note_begin(struct sink_threads *all, const struct receive_frame *frame, const struct parsed_frame *parsed)
{
	unsigned int tag = atomic_load(&all->run_tag), before = atomic_load(&all->begun), after;

	if (parsed->stream >= all->config.streams || parsed->run_tag == HOPCAP_PROBE_TAG || (tag && tag != parsed->run_tag) ||
	    is_corrupted(frame, parsed, 0))
		return;
	do {
		after = (before >> 8 == parsed->run_tag ? before : (unsigned int)parsed->run_tag << 8) | 1u << parsed->stream;
	} while (!atomic_compare_exchange_weak(&all->begun, &before, after));
}

static void count_other(struct taking *taking, const struct receive_frame *frame, const struct parsed_frame *parsed)
{
	taking->other_frames++;
	taking->other_bytes += frame->bytes;
	if (parsed && parsed->run_tag == atomic_load_explicit(&taking->all->run_tag, memory_order_relaxed) &&
	    parsed->stream >= taking->all->config.streams && !(parsed->flags & HOPCAP_FRAME_END))
		taking->beyond_frames[parsed->stream % LEDGER_MAX_STREAMS]++;
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
		if (!frame_parse(frame->data, frame->data_bytes, &parsed)) {
			count_other(taking, frame, NULL);
			continue;
		}
		if (parsed.flags & HOPCAP_FRAME_END && !parsed.sequence) {
			note_begin(all, frame, &parsed);
			continue;
		}
		if (!is_counted(all, frame, &parsed)) {
			count_other(taking, frame, &parsed);
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

int sink_threads_open(const struct sink_config *config, struct sink_threads **result)
{
	struct sink_threads *threads = calloc(1, sizeof(*threads));
	struct queue_workers_config workers = { .interface = config->interface,
						.zero_copy = config->kind == SINK_AF_XDP_ZC,
						.queue = config->queue,
						.queues = config->queues,
						.cpu = config->cpu,
						.busy_poll = config->busy_poll,
						.take = take,
						.context_bytes = sizeof(struct taking) };
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
	for (int i = 0; i < SINK_MAX_QUEUES; i++)
		threads->takings[i].all = threads;
	workers.contexts = threads->takings;
	if (!code)
		code = queue_workers_open(&workers, &threads->workers);
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
	for (int i = 0; i < LEDGER_MAX_STREAMS; i++)
		reading->beyond_frames[i] += taking->beyond_frames[i];
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
	queue_workers_statistics(threads->workers, index, &statistics);
	reading->dropped += statistics.dropped;
	reading->ring_full += statistics.ring_full;
	reading->fill_empty += statistics.fill_empty;
	reading->unbound = statistics.unbound;
}

int sink_threads_read(struct sink_threads *threads, struct sink_reading *reading)
{
	uint64_t jitter_sum_ns = 0, jitter_count = 0;
	unsigned int begun = atomic_load(&threads->begun);

	memset(reading, 0, sizeof(*reading));
	reading->run_tag = (uint16_t)atomic_load(&threads->run_tag);
	if (reading->run_tag && begun >> 8 == reading->run_tag)
		reading->begun_streams = begun & 0xff;
	for (int i = 0; i < queue_workers_count(threads->workers); i++) {
		const struct taking *taking = &threads->takings[i];

		add(threads, taking, i, reading);
		jitter_sum_ns += taking->jitter_sum_ns;
		jitter_count += taking->jitter_count;
	}
	reading->jitter_ns = jitter_count ? (double)jitter_sum_ns / (double)jitter_count : 0;
	return queue_workers_result(threads->workers);
}

const char *sink_threads_describe(const struct sink_threads *threads)
{
	return queue_workers_describe(threads->workers);
}

void sink_threads_stop(struct sink_threads *threads)
{
	queue_workers_stop(threads->workers);
}

void sink_threads_close(struct sink_threads *threads)
{
	if (!threads)
		return;
	queue_workers_close(threads->workers);
	for (int i = 0; i < LEDGER_MAX_STREAMS; i++)
		ledger_close(threads->ledgers[i]);
	free(threads);
}
