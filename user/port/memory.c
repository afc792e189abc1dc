// SPDX-License-Identifier: GPL-2.0-or-later
/* The in-memory pair; see memory.h. Called by tests of traffic/ and measure/, through port_ops and receiver_ops. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "port/memory.h"
#include "port/numbering.h"
#include "port/pacer.h"

#define DEFAULT_SLOTS 1024
#define MAX_SLOTS 65536
#define BATCH 64
#define LOOKS 64 /* at a full or empty ring, before the CPU is given away */
#define LINE_BYTES 64

struct ring {
	_Alignas(LINE_BYTES) atomic_uint written;
	_Alignas(LINE_BYTES) atomic_uint read;
	_Alignas(LINE_BYTES) atomic_int writer, reader; /* taken */
	_Atomic uint64_t refused;
	unsigned int slots, slot_bytes;
	unsigned int *lengths;
	unsigned char *bytes;
};

struct memory_pair {
	struct memory_pair *next;
	char name[16];
	struct memory_config config;
	struct ring rings[2]; /* there, back */
};

struct port {
	struct memory_pair *pair;
	struct ring *ring;
	struct numbering numbering[PORT_MAX_TEMPLATES];
	int has_held;
	unsigned int held_bytes;
	uint64_t refused;	     /* frames of this stream, for want of room */
	unsigned char *frame, *held; /* being made; waiting for the next one to pass */
	char text[64];
};

struct receiver {
	struct memory_pair *pair;
	struct ring *ring, *back;
	int has_back; /* we are the writer of back */
	_Atomic uint64_t returned, return_refused;
	char text[64];
	struct receive_frame frames[BATCH];
	unsigned char send_back[BATCH];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct memory_pair *pairs;

static struct memory_pair *find_pair(const char *name)
{
	struct memory_pair *pair;

	pthread_mutex_lock(&lock);
	for (pair = pairs; pair && strcmp(pair->name, name); pair = pair->next)
		;
	pthread_mutex_unlock(&lock);
	return pair;
}

static void free_pair(struct memory_pair *pair)
{
	for (int i = 0; i < 2; i++) {
		free(pair->rings[i].lengths);
		free(pair->rings[i].bytes);
	}
	free(pair);
}

static int ring_init(struct ring *ring, unsigned int slots, unsigned int slot_bytes)
{
	ring->slots = slots;
	ring->slot_bytes = slot_bytes;
	ring->lengths = calloc(slots, sizeof(*ring->lengths));
	ring->bytes = malloc((size_t)slots * slot_bytes);
	return ring->lengths && ring->bytes ? 0 : -ENOMEM;
}

int memory_pair_open(const struct memory_config *config, struct memory_pair **result)
{
	unsigned int slots = config->slots ? config->slots : DEFAULT_SLOTS;
	unsigned int bytes = config->max_frame_bytes ? config->max_frame_bytes : HOPCAP_MAX_FRAME_BYTES;
	struct memory_pair *pair;

	if (!config->name || !config->name[0] || strlen(config->name) >= sizeof(pair->name))
		return error_set(EINVAL, "a pair in memory needs a name of 1 to 15 bytes");
	if (slots > MAX_SLOTS || (slots & (slots - 1)) || bytes > HOPCAP_MAX_FRAME_BYTES)
		return error_set(EINVAL,
				 "%s: a ring in memory has a power of two of slots, at most %d, of at most %d bytes",
				 config->name, MAX_SLOTS, HOPCAP_MAX_FRAME_BYTES);
	if (find_pair(config->name))
		return error_set(EEXIST, "%s: there is a pair in memory of that name", config->name);
	pair = aligned_alloc(_Alignof(struct memory_pair), sizeof(*pair));
	if (!pair)
		return error_set(ENOMEM, "%s: out of memory", config->name);
	memset(pair, 0, sizeof(*pair));
	strcpy(pair->name, config->name);
	pair->config = *config;
	pair->config.name = pair->name;
	if (ring_init(&pair->rings[0], slots, bytes) || ring_init(&pair->rings[1], slots, bytes)) {
		free_pair(pair);
		return error_set(ENOMEM, "%s: out of memory", config->name);
	}
	pthread_mutex_lock(&lock);
	pair->next = pairs;
	pairs = pair;
	pthread_mutex_unlock(&lock);
	*result = pair;
	return 0;
}

void memory_pair_close(struct memory_pair *pair)
{
	struct memory_pair **link = &pairs;

	if (!pair)
		return;
	pthread_mutex_lock(&lock);
	while (*link != pair)
		link = &(*link)->next;
	*link = pair->next;
	pthread_mutex_unlock(&lock);
	free_pair(pair);
}

/* Copies a frame into the next slot: 1, or 0 when the ring is full. */
static int ring_put(struct ring *ring, const unsigned char *frame, unsigned int bytes)
{
	unsigned int written = atomic_load_explicit(&ring->written, memory_order_relaxed);
	unsigned int slot = written & (ring->slots - 1);

	if (written - atomic_load_explicit(&ring->read, memory_order_acquire) == ring->slots)
		return 0;
	memcpy(ring->bytes + (size_t)slot * ring->slot_bytes, frame, bytes);
	ring->lengths[slot] = bytes;
	atomic_store_explicit(&ring->written, written + 1, memory_order_release);
	return 1;
}

static int claim(atomic_int *taken)
{
	int free_state = 0;

	return atomic_compare_exchange_strong(taken, &free_state, 1);
}

/* The ring that a configuration means. */
static int choose(const struct port_config *config, struct memory_pair **pair, struct ring **ring)
{
	*pair = find_pair(config->interface);
	if (!*pair)
		return error_set(ENODEV, "%s: there is no pair in memory of that name", config->interface);
	if (config->queue < 0 || config->queue > 1)
		return error_set(EINVAL, "%s: queue %d: a pair in memory has 0, the way there, and 1, the way back",
				 config->interface, config->queue);
	*ring = &(*pair)->rings[config->queue];
	return 0;
}

static void memory_port_close(struct port *port)
{
	if (!port)
		return;
	if (port->ring)
		atomic_store(&port->ring->writer, 0);
	free(port->frame);
	free(port->held);
	free(port);
}

static int memory_port_open(const struct port_config *config, struct port **result)
{
	struct memory_pair *pair;
	struct ring *ring;
	struct port *port;
	int code = choose(config, &pair, &ring);

	if (code)
		return code;
	if (!claim(&ring->writer))
		return error_set(EBUSY, "%s: somebody else sends into queue %d", config->interface, config->queue);
	port = calloc(1, sizeof(*port));
	if (port) {
		port->pair = pair;
		port->ring = ring;
		port->frame = malloc(ring->slot_bytes);
		port->held = malloc(ring->slot_bytes);
	} else {
		atomic_store(&ring->writer, 0);
	}
	if (!port || !port->frame || !port->held) {
		memory_port_close(port);
		return error_set(ENOMEM, "%s: out of memory", config->interface);
	}
	snprintf(port->text, sizeof(port->text), "memory %s, queue %d, %u slots", pair->name, config->queue,
		 ring->slots);
	*result = port;
	return 0;
}

static const char *memory_port_describe(const struct port *port)
{
	return port->text;
}

/* Puts one frame, as often as there is patience: 1, or 0 when it was refused or the stream was stopped. */
static int put(struct port *port, const unsigned char *frame, unsigned int bytes, const struct port_stream *stream)
{
	for (unsigned int looks = 1; !ring_put(port->ring, frame, bytes); looks++) {
		if (port->pair->config.lossy) {
			atomic_fetch_add_explicit(&port->ring->refused, 1, memory_order_relaxed);
			return 0;
		}
		if (atomic_load_explicit(stream->stop, memory_order_relaxed))
			return 0;
		if (looks % LOOKS == 0)
			sched_yield();
	}
	return 1;
}

/* Puts a frame of the stream: 1, or 0 when the stream was stopped while it waited. A refused one was offered. */
static int offer(struct port *port, const unsigned char *frame, unsigned int bytes, const struct port_stream *stream)
{
	int passed = put(port, frame, bytes, stream);

	if (passed || !port->pair->config.lossy)
		return passed;
	port->refused++;
	return 1;
}

/* Lets a frame meet its fate: 1, or 0 when the stream was stopped while it waited. */
static int deliver(struct port *port, uint64_t number, unsigned int bytes, const struct port_stream *stream)
{
	const struct memory_config *config = &port->pair->config;
	enum memory_fate fate = MEMORY_PASS;

	if (config->fate && port->ring == &port->pair->rings[0])
		fate = config->fate(config->context, number);
	if (fate == MEMORY_LOSE)
		return 1;
	if (fate == MEMORY_SWAP && !port->has_held) {
		memcpy(port->held, port->frame, bytes);
		port->held_bytes = bytes;
		port->has_held = 1;
		return 1;
	}
	if (!offer(port, port->frame, bytes, stream))
		return 0;
	if (fate == MEMORY_DOUBLE)
		put(port, port->frame, bytes, stream);
	if (port->has_held)
		offer(port, port->held, port->held_bytes, stream);
	port->has_held = 0;
	return 1;
}

static int prepare(struct port *port, const struct port_stream *stream)
{
	if (!stream->template_count || stream->template_count > PORT_MAX_TEMPLATES)
		return error_set(EINVAL, "%s: %u templates: 1 to %d are needed", port->pair->name,
				 stream->template_count, PORT_MAX_TEMPLATES);
	for (unsigned int i = 0; i < stream->template_count; i++) {
		if (stream->templates[i].frame_bytes > port->ring->slot_bytes)
			return error_set(EMSGSIZE, "%s: a frame of %u bytes does not fit slots of %u", port->pair->name,
					 stream->templates[i].frame_bytes, port->ring->slot_bytes);
		if (stream->templates[i].header_offset < NUMBERING_PORT_BEHIND ||
		    stream->templates[i].header_offset > stream->templates[i].frame_bytes ||
		    stream->templates[i].frame_bytes - stream->templates[i].header_offset < HOPCAP_TEST_HEADER_BYTES)
			return error_set(EINVAL, "%s: template %u has no test header", port->pair->name, i);
		port->numbering[i] = numbering_of(&stream->templates[i]);
	}
	port->has_held = 0;
	port->refused = 0;
	return 0;
}

static void send_one(struct port *port, const struct port_stream *stream, uint64_t now_ns, struct port_sent *sent)
{
	unsigned int index = (unsigned int)(sent->frames % stream->template_count);
	int stamped = stream->stamp_interval && !(sent->frames & (stream->stamp_interval - 1));
	unsigned int bytes = stream->templates[index].frame_bytes, flows = stream->flows ? stream->flows : 1;

	memcpy(port->frame, stream->templates[index].frame, bytes);
	numbering_write(port->frame, &port->numbering[index], (uint32_t)sent->frames, (uint32_t)(sent->frames % flows),
			stamped ? now_ns : 0);
	if (!deliver(port, sent->frames, bytes, stream))
		return;
	sent->frames++;
	sent->bytes += bytes;
}

static int memory_send(struct port *port, const struct port_stream *stream, struct port_sent *sent)
{
	struct pacer pacer;
	int code;

	memset(sent, 0, sizeof(*sent));
	code = prepare(port, stream);
	if (code)
		return code;
	pacer_start(&pacer, stream);
	while (!atomic_load_explicit(stream->stop, memory_order_relaxed) && sent->frames < stream->frames) {
		uint64_t now_ns = pacer_now_ns(), left = stream->frames - sent->frames;
		unsigned int due = pacer_due(&pacer, now_ns, left < BATCH ? (unsigned int)left : BATCH, sent);

		for (; due && !atomic_load_explicit(stream->stop, memory_order_relaxed); due--)
			send_one(port, stream, now_ns, sent);
	}
	if (port->has_held)
		offer(port, port->held, port->held_bytes, stream);
	port->has_held = 0;
	sent->refused = port->refused;
	return 0;
}

static void memory_receiver_close(struct receiver *receiver)
{
	if (!receiver)
		return;
	atomic_store(&receiver->ring->reader, 0);
	if (receiver->has_back)
		atomic_store(&receiver->back->writer, 0);
	free(receiver);
}

static int memory_receiver_open(const struct port_config *config, struct receiver **result)
{
	struct receiver *receiver;
	struct memory_pair *pair;
	struct ring *ring;
	int code = choose(config, &pair, &ring);

	if (code)
		return code;
	if (!claim(&ring->reader))
		return error_set(EBUSY, "%s: somebody else receives from queue %d", config->interface, config->queue);
	receiver = calloc(1, sizeof(*receiver));
	if (!receiver) {
		atomic_store(&ring->reader, 0);
		return error_set(ENOMEM, "%s: out of memory", config->interface);
	}
	receiver->pair = pair;
	receiver->ring = ring;
	receiver->back = &pair->rings[!config->queue];
	snprintf(receiver->text, sizeof(receiver->text), "memory %s, queue %d, %u slots", pair->name, config->queue,
		 ring->slots);
	*result = receiver;
	return 0;
}

static const char *memory_receiver_describe(const struct receiver *receiver)
{
	return receiver->text;
}

static void send_back(struct receiver *receiver, const struct receive_frame *frame)
{
	if (!receiver->has_back)
		receiver->has_back = claim(&receiver->back->writer);
	if (receiver->has_back && ring_put(receiver->back, frame->data, frame->bytes))
		atomic_fetch_add_explicit(&receiver->returned, 1, memory_order_relaxed);
	else
		atomic_fetch_add_explicit(&receiver->return_refused, 1, memory_order_relaxed);
}

static unsigned int take_batch(struct receiver *receiver, receive_function take, void *context)
{
	struct ring *ring = receiver->ring;
	unsigned int read = atomic_load_explicit(&ring->read, memory_order_relaxed);
	unsigned int count = atomic_load_explicit(&ring->written, memory_order_acquire) - read;

	if (!count)
		return 0;
	if (count > BATCH)
		count = BATCH;
	for (unsigned int i = 0; i < count; i++) {
		unsigned int slot = (read + i) & (ring->slots - 1);

		receiver->frames[i].data = ring->bytes + (size_t)slot * ring->slot_bytes;
		receiver->frames[i].bytes = receiver->frames[i].data_bytes = ring->lengths[slot];
		receiver->send_back[i] = 0;
	}
	take(context, receiver->frames, receiver->send_back, count);
	for (unsigned int i = 0; i < count; i++)
		if (receiver->send_back[i])
			send_back(receiver, &receiver->frames[i]);
	atomic_store_explicit(&ring->read, read + count, memory_order_release);
	return count;
}

static int memory_receive(struct receiver *receiver, atomic_int *stop, receive_function take, void *context)
{
	unsigned int looks = 0, end;

	while (!atomic_load_explicit(stop, memory_order_acquire)) {
		if (take_batch(receiver, take, context))
			looks = 0;
		else if (++looks % LOOKS == 0)
			sched_yield();
	}
	/* What was put before the stop still counts. */
	end = atomic_load_explicit(&receiver->ring->written, memory_order_acquire);
	while ((int)(end - atomic_load_explicit(&receiver->ring->read, memory_order_relaxed)) > 0)
		take_batch(receiver, take, context);
	return 0;
}

static void memory_statistics(struct receiver *receiver, struct receive_statistics *statistics)
{
	memset(statistics, 0, sizeof(*statistics));
	statistics->ring_full = atomic_load_explicit(&receiver->ring->refused, memory_order_relaxed);
	statistics->returned = atomic_load_explicit(&receiver->returned, memory_order_relaxed);
	statistics->return_refused = atomic_load_explicit(&receiver->return_refused, memory_order_relaxed);
}

const struct port_ops port_memory = {
	.kind = RUN_PORT_PACKET,
	.max_frame_bytes = HOPCAP_MAX_FRAME_BYTES,
	.open = memory_port_open,
	.send = memory_send,
	.close = memory_port_close,
	.describe = memory_port_describe,
};

const struct receiver_ops receiver_memory = {
	.kind = RUN_PORT_PACKET,
	.open = memory_receiver_open,
	.receive = memory_receive,
	.statistics = memory_statistics,
	.describe = memory_receiver_describe,
	.close = memory_receiver_close,
};
