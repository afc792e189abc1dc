// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reflecting in user space; see reflector_xsk.h. The frame stays where it was received: only addresses, the mark and, where in
 * use, the UDP checksum change, and the receiver sends it back out of its queue.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "port/receiver.h"
#include "sys/cpu_affinity.h"
#include "traffic/frame_parse.h"
#include "traffic/reflector_xsk.h"
#include "wire_test_frame.h"

struct reflecting {
	const struct reflector_config *config;
	const struct receiver_ops *ops;
	struct receiver *receiver;
	pthread_t thread;
	int cpu, started;
	atomic_int *stop;
	_Atomic uint64_t frames, bytes, again;
	int result;
	char error[256];
};

struct reflector_threads {
	struct reflector_config config;
	int count;
	atomic_int stop;
	struct reflecting threads[SINK_MAX_QUEUES];
};

static void take(void *context, const struct receive_frame *frames, unsigned char *send_back, unsigned int count)
{
	struct reflecting *reflecting = context;
	uint64_t done = 0, bytes = 0;

	for (unsigned int i = 0; i < count; i++) {
		struct parsed_frame parsed;

		send_back[i] = 0;
		if (!frame_parse(frames[i].data, frames[i].data_bytes, &parsed) ||
		    (reflecting->config->run_tag && parsed.run_tag != reflecting->config->run_tag))
			continue;
		if (parsed.flags & HOPCAP_FRAME_REFLECTED) {
			reflecting->again++;
			continue;
		}
		frame_turn_round(frames[i].data, &parsed);
		send_back[i] = 1;
		done++;
		bytes += frames[i].bytes;
	}
	atomic_store_explicit(&reflecting->frames, reflecting->frames + done, memory_order_relaxed);
	atomic_store_explicit(&reflecting->bytes, reflecting->bytes + bytes, memory_order_relaxed);
}

static void *reflect_thread(void *argument)
{
	struct reflecting *reflecting = argument;

	cpu_pin_thread(reflecting->cpu);
	reflecting->result = reflecting->ops->receive(reflecting->receiver, reflecting->stop, take, reflecting);
	if (reflecting->result)
		snprintf(reflecting->error, sizeof(reflecting->error), "%s", error_text());
	return NULL;
}

static int open_one(struct reflector_threads *threads, int index, int ifindex)
{
	const struct reflector_config *config = &threads->config;
	struct reflecting *one = &threads->threads[index];
	const struct port_config port = { .interface = config->interface,
					  .ifindex = ifindex,
					  .queue = config->queue + index,
					  .busy_poll = config->busy_poll };
	int code;

	one->config = config;
	one->ops = config->kind == SINK_AF_XDP_ZC ? &receiver_xsk_zero_copy : &receiver_xsk_copy;
	one->cpu = config->cpu < 0 ? -1 : config->cpu + index;
	one->stop = &threads->stop;
	code = one->ops->open(&port, &one->receiver);
	if (code)
		return code;
	threads->count++;
	code = pthread_create(&one->thread, NULL, reflect_thread, one);
	if (code)
		return error_set(code, "cannot start a thread that reflects: %s", strerror(code));
	one->started = 1;
	return 0;
}

int reflector_threads_open(const struct reflector_config *config, int ifindex, int queues,
			   struct reflector_threads **result)
{
	struct reflector_threads *threads = calloc(1, sizeof(*threads));
	int code = 0;

	if (!threads)
		return error_set(ENOMEM, "%s: out of memory", config->interface);
	threads->config = *config;
	for (int i = 0; !code && i < queues; i++)
		code = open_one(threads, i, ifindex);
	if (code) {
		reflector_threads_close(threads);
		return code;
	}
	*result = threads;
	return 0;
}

int reflector_threads_read(struct reflector_threads *threads, struct reflector_counts *counts)
{
	int code = 0;

	for (int i = 0; i < threads->count; i++) {
		const struct reflecting *one = &threads->threads[i];

		counts->frames += one->frames;
		counts->bytes += one->bytes;
		counts->again += one->again;
		counts->queue_frames[i] = one->frames;
		if (one->result && !code)
			code = error_set(-one->result, "%s", one->error);
	}
	return code;
}

const char *reflector_threads_describe(const struct reflector_threads *threads)
{
	const struct reflecting *one = &threads->threads[0];

	return one->ops->describe(one->receiver);
}

void reflector_threads_close(struct reflector_threads *threads)
{
	if (!threads)
		return;
	atomic_store(&threads->stop, 1);
	for (int i = 0; i < threads->count; i++) {
		if (threads->threads[i].started)
			pthread_join(threads->threads[i].thread, NULL);
		threads->threads[i].ops->close(threads->threads[i].receiver);
	}
	free(threads);
}
