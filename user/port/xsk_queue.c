// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Opening queues for AF_XDP; theory and invariants in xsk_queue.h. Called by xsk_transmit.c and xsk_receive.c.
 *
 * Built on libxdp 1.3.1. What it lacks is done with bare calls: asking which mode was got (XDP_OPTIONS), the transmit
 * budget, busy polling, close-on-exec, and unmapping what it leaves behind when a bind fails.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <linux/if_link.h>

#include "base/error.h"
#include "port/xsk_memory.h"
#include "port/xsk_queue.h"
#include "port/xsk_socket.h"
#include "sys/link_channels.h"
#include "sys/link_settings.h"
#include "sys/rtnl.h"

/* Newer than the oldest supported headers. */
#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71
#endif

#define COPY_CHUNK_BYTES 2048 /* holds an MTU of 1500 and leaves more of the cache to frames */
#define LARGE_CHUNK_BYTES 4096
#define CHUNK_HEADROOM_BYTES 256
#define FRAME_OVER_MTU_BYTES 26

struct registration {
	struct registration *next;
	struct xsk_memory memory;
	uint64_t netns;
	int ifindex, zero_copy;
	unsigned int capacity, count; /* queues */
	unsigned int users;
	struct xsk_queue *queues[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct registration *registrations;

static int read_netns(uint64_t *cookie)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), code = 0;
	socklen_t length = sizeof(*cookie);

	if (fd < 0 || getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, cookie, &length))
		code = error_set(errno, "cannot tell one network namespace from another: %s", strerror(errno));
	if (fd >= 0)
		close(fd);
	return code;
}

int xsk_queue_error(const struct xsk_queue *queue, enum xsk_step step, int code)
{
	struct xsk_facts facts = {
		.step = step,
		.code = code,
		.interface = queue->interface,
		.driver = queue->driver,
		.zero_copy = queue->zero_copy,
		.transmit = queue->users[XSK_SIDE_TRANSMIT],
		.queue = queue->queue,
		.receive_queues = queue->receive_queues,
		.transmit_queues = queue->transmit_queues,
		.features_known = queue->features_known,
		.features = queue->features,
		.chunk_bytes = queue->chunk_bytes,
	};
	struct rlimit limit;
	struct rtnl_link link;
	char text[512];
	int result;

	if (queue->memory)
		facts.bytes = queue->memory->bytes;
	facts.memlock_bytes = getrlimit(RLIMIT_MEMLOCK, &limit) || limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX
												   : limit.rlim_cur;
	/* An interface that is being deleted goes down first; the answer comes when it is gone. */
	result = rtnl_link_get_index(queue->ifindex, &link);
	facts.is_gone = result == -ENODEV;
	if (!result) {
		facts.mtu_bytes = link.mtu_bytes;
		facts.program_id = link.xdp_program_id;
		facts.program_is_generic = link.xdp_mode == XDP_ATTACHED_SKB;
	}
	facts.virtio_known = !link_virtio_features(queue->interface, queue->ifindex, &facts.virtio_features);
	xsk_explain(&facts, text, sizeof(text));
	/* A driver's EINVAL is no mistake of the user's, but for a queue that does not exist. */
	if (step == XSK_STEP_BIND && code == EINVAL && queue->queue < queue->receive_queues)
		code = EOPNOTSUPP;
	return error_set(code ? code : EOPNOTSUPP, "%s", text);
}

/* What is to be known of the interface before its queue is bound. */
static int inspect(struct xsk_queue *queue)
{
	struct rtnl_link link;
	int code = rtnl_link_get_index(queue->ifindex, &link);

	if (!code)
		code = link_channels(queue->interface, &queue->receive_queues, &queue->transmit_queues);
	if (code)
		return code;
	if (link_driver(queue->interface, queue->driver, sizeof(queue->driver)) || !queue->driver[0])
		snprintf(queue->driver, sizeof(queue->driver), "%s", link.kind[0] ? link.kind : "(unknown)");
	queue->features_known = !netdev_features_get(queue->interface, queue->ifindex, &queue->features);
	queue->chunk_bytes = queue->zero_copy || link.mtu_bytes + FRAME_OVER_MTU_BYTES + CHUNK_HEADROOM_BYTES >
							 COPY_CHUNK_BYTES
				     ? LARGE_CHUNK_BYTES
				     : COPY_CHUNK_BYTES;
	return 0;
}

static int bind_queue(struct xsk_queue *queue, struct xsk_umem *umem, int with_segments)
{
	const struct xsk_socket_config config = {
		.rx_size = queue->entries,
		.tx_size = queue->entries,
		.libxdp_flags = XSK_LIBXDP_FLAGS__INHIBIT_PROG_LOAD,
		.bind_flags = (queue->zero_copy ? XDP_ZEROCOPY : XDP_COPY) | XDP_USE_NEED_WAKEUP |
			      (with_segments ? XDP_USE_SG : 0),
	};

	return xsk_socket__create_shared(&queue->socket, queue->interface, queue->queue, umem, &queue->receive,
					 &queue->transmit, &queue->fill, &queue->completion, &config);
}

/* The first queue of a registration. A failed bind spoils what was registered, so each try starts anew. 0 or -errno,
 * *step says what failed. */
static int bind_first(struct registration *registration, struct xsk_queue *queue, enum xsk_step *step)
{
	const struct timespec pause = { .tv_nsec = XSK_RELEASE_PAUSE_NS };
	int segments = queue->zero_copy ? queue->features.zero_copy_segments > 1 : 1, code, tries = 0;

	for (;;) {
		*step = XSK_STEP_REGISTER;
		code = xsk_memory_register(&registration->memory, queue->chunk_bytes, queue->entries, &queue->fill,
					   &queue->completion);
		if (code == -EAFNOSUPPORT || code == -EPERM)
			*step = XSK_STEP_SOCKET;
		if (code)
			return code;
		*step = XSK_STEP_BIND;
		code = bind_queue(queue, registration->memory.umem, segments);
		if (!code) {
			queue->multi_buffer = segments;
			registration->memory.has_rings = 0;
			return 0;
		}
		xsk_memory_unregister(&registration->memory);
		if (code == -EBUSY && tries++ < XSK_RELEASE_TRIES)
			nanosleep(&pause, NULL);
		else if (code == -EINVAL && segments) /* before Linux 6.6 the flag is unknown */
			segments = 0;
		else
			return code;
	}
}

static int check_mode(struct xsk_queue *queue)
{
	struct xdp_options options = { 0 };
	socklen_t length = sizeof(options);

	if (getsockopt(queue->fd, SOL_XDP, XDP_OPTIONS, &options, &length))
		return xsk_queue_error(queue, XSK_STEP_BIND, errno);
	if (queue->zero_copy && !(options.flags & XDP_OPTIONS_ZEROCOPY))
		return xsk_queue_error(queue, XSK_STEP_MODE, 0);
	return 0;
}

static void fill_all(struct xsk_queue *queue)
{
	uint32_t index;

	if (xsk_ring_prod__reserve(&queue->fill, queue->receive_chunks, &index) != queue->receive_chunks)
		return; /* cannot be: the ring is new and as large */
	for (unsigned int i = 0; i < queue->receive_chunks; i++)
		*xsk_ring_prod__fill_addr(&queue->fill, index + i) =
			queue->receive_address + (uint64_t)i * queue->chunk_bytes;
	xsk_ring_prod__submit(&queue->fill, queue->receive_chunks);
}

static size_t queue_bytes(const struct xsk_queue *queue)
{
	return (size_t)queue->chunk_bytes * (queue->entries + queue->receive_chunks);
}

/* Binds a queue in a free place of a registration. */
static int add_queue(struct registration *registration, struct xsk_queue *queue)
{
	uint64_t address = registration->count * queue_bytes(queue);
	enum xsk_step step = XSK_STEP_BIND;
	int code;

	queue->memory = &registration->memory;
	queue->area = registration->memory.area;
	if (registration->count) {
		queue->multi_buffer = registration->queues[0]->multi_buffer;
		code = bind_queue(queue, registration->memory.umem, queue->multi_buffer);
	} else {
		code = bind_first(registration, queue, &step);
	}
	if (code)
		return xsk_queue_error(queue, step, -code);
	queue->fd = xsk_socket__fd(queue->socket);
	fcntl(queue->fd, F_SETFD, FD_CLOEXEC);
	code = check_mode(queue);
	if (code)
		return code;
	queue->budget = xsk_socket_set_copy_limits(queue->fd, queue->entries, queue->chunk_bytes);
	queue->max_parts = !queue->multi_buffer ? 1
			   : queue->zero_copy	? queue->features.zero_copy_segments
						: XSK_MAX_PARTS;
	xsk_frames_init(&queue->frames, queue->area, address, queue->chunk_bytes, queue->entries);
	queue->receive_address = address + (uint64_t)queue->entries * queue->chunk_bytes;
	/* For a port alone, too: some drivers fail, or starve the stack, with nothing to receive into. */
	fill_all(queue);
	registration->queues[registration->count++] = queue;
	return 0;
}

static void end_registration(struct registration *registration)
{
	struct registration **link = &registrations;

	while (*link && *link != registration)
		link = &(*link)->next;
	if (*link)
		*link = registration->next;
	/* The socket that it was registered through goes last. */
	while (registration->count) {
		struct xsk_queue *queue = registration->queues[--registration->count];

		xsk_socket__delete(queue->socket);
		free(queue);
	}
	xsk_memory_unregister(&registration->memory);
	xsk_memory_unmap(&registration->memory);
	free(registration);
}

static int new_registration(const struct xsk_queue *queue, unsigned int capacity, struct registration **result)
{
	struct registration *registration =
		calloc(1, sizeof(*registration) + capacity * sizeof(registration->queues[0]));

	if (!registration || xsk_memory_map(&registration->memory, capacity * queue_bytes(queue))) {
		free(registration);
		return error_set(ENOMEM, "%s: no memory for AF_XDP frames (%zu bytes)", queue->interface,
				 capacity * queue_bytes(queue));
	}
	registration->netns = queue->netns;
	registration->ifindex = queue->ifindex;
	registration->zero_copy = queue->zero_copy;
	registration->capacity = capacity;
	registration->next = registrations;
	registrations = registration;
	*result = registration;
	return 0;
}

static int is_like(const struct registration *registration, const struct xsk_queue *queue)
{
	const struct xsk_queue *first = registration->queues[0];

	return registration->netns == queue->netns && registration->ifindex == queue->ifindex &&
	       registration->zero_copy == queue->zero_copy && registration->count < registration->capacity &&
	       first->entries == queue->entries && first->chunk_bytes == queue->chunk_bytes;
}

/* Opens a queue that this process does not have yet. */
static int open_queue(struct xsk_queue *wanted, unsigned int capacity, struct xsk_queue **result)
{
	struct registration *registration = registrations;
	struct xsk_queue *queue;
	int code = inspect(wanted);

	if (code)
		return code;
	if (wanted->queue >= (wanted->users[XSK_SIDE_TRANSMIT] ? wanted->transmit_queues : wanted->receive_queues))
		return xsk_queue_error(wanted, XSK_STEP_BIND, EINVAL);
	queue = malloc(sizeof(*queue));
	if (!queue)
		return error_set(ENOMEM, "%s: out of memory", wanted->interface);
	*queue = *wanted;
	while (registration && !is_like(registration, queue))
		registration = registration->next;
	if (!registration)
		code = new_registration(queue, capacity, &registration);
	if (!code)
		code = add_queue(registration, queue);
	if (code) {
		xsk_socket__delete(queue->socket);
		free(queue);
		if (registration && !registration->count)
			end_registration(registration);
		return code;
	}
	*result = queue;
	return 0;
}

static struct xsk_queue *find_queue(const struct xsk_queue *wanted, struct registration **owner)
{
	for (*owner = registrations; *owner; *owner = (*owner)->next)
		if ((*owner)->netns == wanted->netns && (*owner)->ifindex == wanted->ifindex)
			for (unsigned int i = 0; i < (*owner)->count; i++)
				if ((*owner)->queues[i]->queue == wanted->queue)
					return (*owner)->queues[i];
	return NULL;
}

/* Joins a queue that this process has already: the other side of it, or an idle one. */
static int join_queue(const struct xsk_queue *queue, const struct xsk_queue *wanted, enum xsk_side side)
{
	if (queue->zero_copy != wanted->zero_copy)
		return error_set(EBUSY,
				 "%s: queue %u is open as AF_XDP %s here; both sides of a queue have the same mode",
				 queue->interface, queue->queue, queue->zero_copy ? "zero-copy" : "copy");
	if (queue->users[side] || (side == XSK_SIDE_TRANSMIT && atomic_load(&queue->transmit_taken)))
		return error_set(EBUSY, "%s: this process %s on queue %u already; take another queue", queue->interface,
				 queue->users[side] && side == XSK_SIDE_RECEIVE ? "receives" : "sends", queue->queue);
	return 0;
}

static int set_busy_poll(struct xsk_queue *queue)
{
	int code = xsk_socket_set_busy_poll(queue->fd);

	if (code)
		return xsk_queue_error(queue, XSK_STEP_BUSY_POLL, -code);
	queue->busy_poll = 1;
	return 0;
}

static int wish(const struct port_config *config, int zero_copy, enum xsk_side side, struct xsk_queue *wanted)
{
	unsigned int entries = config->ring_entries ? config->ring_entries : XSK_DEFAULT_ENTRIES;

	memset(wanted, 0, sizeof(*wanted));
	if (config->queue < 0 || config->queue >= XSK_MAX_QUEUES)
		return error_set(EINVAL, "%s: %d is no queue; queues are numbered from 0, AF_XDP takes up to %d here",
				 config->interface, config->queue, XSK_MAX_QUEUES);
	if (entries < XSK_MIN_ENTRIES || entries > XSK_MAX_TRANSMIT_CHUNKS || (entries & (entries - 1)))
		return error_set(EINVAL, "%s: a ring of %u entries: a power of two from %d to %d is needed",
				 config->interface, entries, XSK_MIN_ENTRIES, XSK_MAX_TRANSMIT_CHUNKS);
	strncpy(wanted->interface, config->interface, sizeof(wanted->interface) - 1);
	wanted->ifindex = config->ifindex;
	wanted->queue = (unsigned int)config->queue;
	wanted->zero_copy = zero_copy;
	wanted->entries = entries;
	wanted->receive_chunks = 2 * entries;
	wanted->users[side] = 1;
	return read_netns(&wanted->netns);
}

static void leave(struct xsk_queue *queue, struct registration *registration, enum xsk_side side)
{
	queue->users[side] = 0;
	if (side == XSK_SIDE_TRANSMIT || !queue->users[XSK_SIDE_TRANSMIT])
		atomic_store(&queue->transmit_taken, 0);
	if (!--registration->users)
		end_registration(registration);
}

int xsk_queue_open(const struct port_config *config, int zero_copy, enum xsk_side side, struct xsk_queue **result)
{
	unsigned int capacity = config->queues > 1 ? config->queues : 1;
	struct registration *registration;
	struct xsk_queue *queue, *wanted;
	int code;

	wanted = malloc(sizeof(*wanted));
	if (!wanted)
		return error_set(ENOMEM, "%s: out of memory", config->interface);
	code = wish(config, zero_copy, side, wanted);
	if (code) {
		free(wanted);
		return code;
	}
	pthread_mutex_lock(&lock);
	queue = find_queue(wanted, &registration);
	code = queue ? join_queue(queue, wanted, side)
		     : open_queue(wanted, capacity < XSK_MAX_QUEUES ? capacity : XSK_MAX_QUEUES, &queue);
	if (!code) {
		find_queue(wanted, &registration);
		queue->users[side] = 1;
		registration->users++;
		if (side == XSK_SIDE_TRANSMIT)
			atomic_store(&queue->transmit_taken, 1);
		if (config->busy_poll)
			code = set_busy_poll(queue);
		if (code)
			leave(queue, registration, side);
	}
	pthread_mutex_unlock(&lock);
	free(wanted);
	if (!code)
		*result = queue;
	return code;
}

void xsk_queue_close(struct xsk_queue *queue, enum xsk_side side)
{
	struct registration *registration;

	pthread_mutex_lock(&lock);
	if (find_queue(queue, &registration) == queue)
		leave(queue, registration, side);
	pthread_mutex_unlock(&lock);
}

int xsk_queue_claim_transmit(struct xsk_queue *queue)
{
	int free_state = 0;

	return atomic_compare_exchange_strong(&queue->transmit_taken, &free_state, 2) || free_state == 2;
}

const char *xsk_queue_describe(const struct xsk_queue *queue, enum xsk_side side, char *buffer, size_t size)
{
	char names[96], metadata[160] = "";
	int is_sending = side == XSK_SIDE_TRANSMIT;

	if (is_sending && queue->features_known)
		snprintf(metadata, sizeof(metadata), ", transmit metadata offered by the driver: %s (not used)",
			 netdev_features_transmit_names(queue->features.transmit, names, sizeof(names)));
	else if (is_sending)
		snprintf(metadata, sizeof(metadata), ", transmit metadata: this kernel does not say");
	snprintf(buffer, size, "AF_XDP %s, queue %u of %u, %u chunks of %u bytes in %s pages, need_wakeup%s%s",
		 queue->zero_copy ? "zero-copy" : "copy", queue->queue,
		 is_sending ? queue->transmit_queues : queue->receive_queues,
		 is_sending ? queue->entries : queue->receive_chunks, queue->chunk_bytes,
		 queue->memory->huge_pages ? "huge" : "normal", queue->busy_poll ? ", preferred busy polling" : "",
		 queue->multi_buffer ? ", multi-buffer" : ", single-buffer");
	if (is_sending && !queue->zero_copy)
		snprintf(buffer + strlen(buffer), size - strlen(buffer), ", %u frames a call", queue->budget);
	snprintf(buffer + strlen(buffer), size - strlen(buffer), "%s", metadata);
	return buffer;
}
