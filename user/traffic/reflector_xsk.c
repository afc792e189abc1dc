// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reflecting in user space; see reflector_xsk.h. The frame stays where it was received: only addresses, the mark and, where in
 * use, the UDP checksum change, and the receiver sends it back out of its queue.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "traffic/frame_parse.h"
#include "traffic/queue_workers.h"
#include "traffic/reflector_xsk.h"
#include "wire_test_frame.h"

struct reflecting {
	uint16_t run_tag;
	_Atomic uint64_t frames, bytes, probes, again; /* written by one thread */
};

struct reflector_threads {
	struct queue_workers *workers;
	struct reflecting reflecting[SINK_MAX_QUEUES];
};

static void grow(_Atomic uint64_t *count, uint64_t by)
{
	atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + by, memory_order_relaxed);
}

static void take(void *context, const struct receive_frame *frames, unsigned char *send_back, unsigned int count)
{
	struct reflecting *reflecting = context;
	uint64_t done = 0, bytes = 0, probes = 0, again = 0;

	for (unsigned int i = 0; i < count; i++) {
		struct parsed_frame parsed;

		send_back[i] = 0;
		if (!frame_parse(frames[i].data, frames[i].data_bytes, &parsed) ||
		    (reflecting->run_tag && parsed.run_tag != reflecting->run_tag))
			continue;
		if (parsed.flags & HOPCAP_FRAME_REFLECTED) {
			again++;
			continue;
		}
		frame_turn_round(frames[i].data, &parsed);
		send_back[i] = 1;
		if (parsed.run_tag == HOPCAP_PROBE_TAG || parsed.flags & HOPCAP_FRAME_END) {
			probes++;
			continue;
		}
		done++;
		bytes += frames[i].bytes;
	}
	grow(&reflecting->frames, done);
	grow(&reflecting->bytes, bytes);
	grow(&reflecting->probes, probes);
	grow(&reflecting->again, again);
}

int reflector_threads_open(const struct reflector_config *config, struct reflector_threads **result)
{
	struct reflector_threads *threads = calloc(1, sizeof(*threads));
	struct queue_workers_config workers = { .interface = config->interface,
						.zero_copy = config->kind == SINK_AF_XDP_ZC,
						.queue = config->queue,
						.queues = config->queues,
						.cpu = config->cpu,
						.busy_poll = config->busy_poll,
						.take = take,
						.context_bytes = sizeof(struct reflecting) };
	int code;

	if (!threads)
		return error_set(ENOMEM, "%s: out of memory", config->interface);
	for (int i = 0; i < SINK_MAX_QUEUES; i++)
		threads->reflecting[i].run_tag = config->run_tag;
	workers.contexts = threads->reflecting;
	code = queue_workers_open(&workers, &threads->workers);
	if (code) {
		reflector_threads_close(threads);
		return code;
	}
	*result = threads;
	return 0;
}

int reflector_threads_read(struct reflector_threads *threads, struct reflector_counts *counts)
{
	for (int i = 0; i < queue_workers_count(threads->workers); i++) {
		const struct reflecting *one = &threads->reflecting[i];

		counts->frames += one->frames;
		counts->bytes += one->bytes;
		counts->probes += one->probes;
		counts->again += one->again;
		counts->queue_frames[i] = one->frames;
	}
	return queue_workers_result(threads->workers);
}

const char *reflector_threads_describe(const struct reflector_threads *threads)
{
	return queue_workers_describe(threads->workers);
}

void reflector_threads_close(struct reflector_threads *threads)
{
	if (!threads)
		return;
	queue_workers_close(threads->workers);
	free(threads);
}
