// SPDX-License-Identifier: GPL-2.0-or-later
/* Two AF_XDP queues in one memory; see xsk_pair.h. Called by accel/forward.c and accel/forward_loop.c. */
#include "port/xsk_pair.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "base/error.h"
#include "port/xsk_explain.h"
#include "port/xsk_socket.h"
#include "sys/link_channels.h"
#include "sys/link_settings.h"
#include "sys/netns.h"
#include "sys/rtnl.h"

#define SMALL_CHUNK_BYTES 2048u
#define LARGE_CHUNK_BYTES 4096u
#define CHUNK_HEADROOM_BYTES 256u /* the kernel's */
#define FRAME_OVER_MTU_BYTES 26u  /* Ethernet header, two tags, FCS */

unsigned int xsk_pair_mtu(void)
{
	return LARGE_CHUNK_BYTES - CHUNK_HEADROOM_BYTES - FRAME_OVER_MTU_BYTES;
}

/* One line of what failed; runs in the namespace of the interface. */
static int explain(const struct xsk_pair *pair, const struct xsk_pair_place *place, unsigned int queue,
		   enum xsk_step step, int code)
{
	char driver[32] = "", text[512];
	struct xsk_facts facts = { .step = step,
				   .code = code,
				   .interface = place->interface,
				   .driver = driver,
				   .zero_copy = pair->zero_copy,
				   .transmit = 1,
				   .queue = queue,
				   .mtu_bytes = place->mtu_bytes,
				   .chunk_bytes = pair->chunk_bytes,
				   .bytes = pair->memory.bytes };
	struct rlimit limit;
	struct rtnl_link link;

	link_channels(place->interface, &facts.receive_queues, &facts.transmit_queues);
	link_driver(place->interface, driver, sizeof(driver));
	facts.features_known = !netdev_features_get(place->interface, place->ifindex, &facts.features);
	facts.virtio_known = !link_virtio_features(place->interface, place->ifindex, &facts.virtio_features);
	if (!rtnl_link_get_index(place->ifindex, &link))
		facts.program_id = link.xdp_program_id;
	else
		facts.is_gone = 1;
	facts.memlock_bytes = getrlimit(RLIMIT_MEMLOCK, &limit) || limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX
												   : limit.rlim_cur;
	xsk_explain(&facts, text, sizeof(text));
	return error_set(code ? code : EOPNOTSUPP, "%s", text);
}

static int get_mode(const struct xsk_pair_end *end, int *zero_copy)
{
	struct xdp_options options = { 0 };
	socklen_t length = sizeof(options);

	if (getsockopt(end->fd, SOL_XDP, XDP_OPTIONS, &options, &length))
		return -errno;
	*zero_copy = (options.flags & XDP_OPTIONS_ZEROCOPY) != 0;
	return 0;
}

/* Runs in the namespace of the interface. */
static int bind_end(struct xsk_pair *pair, const struct xsk_pair_place *place, unsigned int queue, int index)
{
	const struct xsk_socket_config config = { .rx_size = XSK_PAIR_ENTRIES,
						  .tx_size = XSK_PAIR_ENTRIES,
						  .libxdp_flags = XSK_LIBXDP_FLAGS__INHIBIT_PROG_LOAD,
						  .bind_flags = (pair->zero_copy ? XDP_ZEROCOPY : XDP_COPY) |
								XDP_USE_NEED_WAKEUP };
	struct xsk_pair_end *end = &pair->ends[index];
	int zero_copy = 0, code;

	snprintf(end->interface, sizeof(end->interface), "%s", place->interface);
	code = xsk_socket__create_shared(&end->socket, place->interface, queue, pair->memory.umem, &end->receive,
					 &end->transmit, &end->fill, &end->completion, &config);
	if (code)
		return explain(pair, place, queue, XSK_STEP_BIND, -code);
	if (!index)
		pair->memory.has_rings = 0;
	end->fd = xsk_socket__fd(end->socket);
	fcntl(end->fd, F_SETFD, FD_CLOEXEC);
	code = get_mode(end, &zero_copy);
	if (!code && zero_copy != pair->zero_copy)
		return explain(pair, place, queue, XSK_STEP_MODE, 0);
	xsk_socket_set_copy_limits(end->fd, XSK_PAIR_ENTRIES, pair->chunk_bytes);
	if (!code && pair->busy_poll) {
		code = xsk_socket_set_busy_poll(end->fd);
		if (code)
			return explain(pair, place, queue, XSK_STEP_BUSY_POLL, -code);
	}
	return code ? explain(pair, place, queue, XSK_STEP_BIND, -code) : 0;
}

static int open_end(struct xsk_pair *pair, const struct xsk_pair_place *place, unsigned int queue, int index)
{
	struct netns_token token;
	int code = netns_enter(place->netns, &token);

	if (code)
		return code;
	if (!index) {
		code = xsk_memory_register(&pair->memory, pair->chunk_bytes, XSK_PAIR_ENTRIES, &pair->ends[0].fill,
					   &pair->ends[0].completion);
		if (code)
			code = explain(pair, place, queue,
				       code == -EAFNOSUPPORT || code == -EPERM ? XSK_STEP_SOCKET : XSK_STEP_REGISTER,
				       -code);
	}
	if (!code)
		code = bind_end(pair, place, queue, index);
	netns_leave(&token);
	return code;
}

static int open_once(const struct xsk_pair_place places[2], unsigned int queue, int zero_copy, int busy_poll,
		     struct xsk_pair **result)
{
	unsigned int mtu = places[0].mtu_bytes > places[1].mtu_bytes ? places[0].mtu_bytes : places[1].mtu_bytes;
	struct xsk_pair *pair = calloc(1, sizeof(*pair));
	int code = 0;

	if (!pair)
		return error_set(ENOMEM, "%s: out of memory", places[0].interface);
	pair->zero_copy = zero_copy;
	pair->busy_poll = busy_poll;
	pair->chunk_bytes = mtu + FRAME_OVER_MTU_BYTES + CHUNK_HEADROOM_BYTES > SMALL_CHUNK_BYTES ? LARGE_CHUNK_BYTES
												  : SMALL_CHUNK_BYTES;
	if (xsk_memory_map(&pair->memory, (size_t)XSK_PAIR_CHUNKS * pair->chunk_bytes))
		code = error_set(ENOMEM, "%s: no memory for AF_XDP frames", places[0].interface);
	pair->area = pair->memory.area;
	for (int i = 0; i < 2 && !code; i++)
		code = open_end(pair, &places[i], queue, i);
	if (code) {
		xsk_pair_close(pair);
		return code;
	}
	for (unsigned int i = 0; i < XSK_PAIR_CHUNKS; i++)
		pair->free_chunks[pair->free_count++] = (uint64_t)i * pair->chunk_bytes;
	pair->ends[0].unfilled = pair->ends[1].unfilled = XSK_PAIR_ENTRIES;
	xsk_pair_recycle(pair);
	*result = pair;
	return 0;
}

/* A failed bind spoils what was registered, so each try starts anew. */
int xsk_pair_open(const struct xsk_pair_place places[2], unsigned int queue, int zero_copy, int busy_poll,
		  struct xsk_pair **result)
{
	const struct timespec pause = { .tv_nsec = XSK_RELEASE_PAUSE_NS };
	int code = open_once(places, queue, zero_copy, busy_poll, result);

	for (int tries = 0; code == -EBUSY && tries < XSK_RELEASE_TRIES; tries++) {
		nanosleep(&pause, NULL);
		code = open_once(places, queue, zero_copy, busy_poll, result);
	}
	return code;
}

/* The socket that the memory was registered through goes last. */
void xsk_pair_close(struct xsk_pair *pair)
{
	if (!pair)
		return;
	for (int i = 1; i >= 0; i--)
		if (pair->ends[i].socket)
			xsk_socket__delete(pair->ends[i].socket);
	xsk_memory_unregister(&pair->memory);
	xsk_memory_unmap(&pair->memory);
	free(pair);
}

static void collect(struct xsk_pair *pair, struct xsk_pair_end *end)
{
	uint32_t index, count;

	if (!end->outstanding)
		return;
	count = xsk_ring_cons__peek(&end->completion, XSK_PAIR_ENTRIES, &index);
	for (uint32_t i = 0; i < count; i++)
		pair->free_chunks[pair->free_count++] = *xsk_ring_cons__comp_addr(&end->completion, index + i) &
							~(uint64_t)(pair->chunk_bytes - 1);
	xsk_ring_cons__release(&end->completion, count);
	end->outstanding -= count;
}

static void fill(struct xsk_pair *pair, struct xsk_pair_end *end)
{
	uint32_t index, count = end->unfilled < pair->free_count ? end->unfilled : pair->free_count;

	if (!count || xsk_ring_prod__reserve(&end->fill, count, &index) != count)
		return;
	for (uint32_t i = 0; i < count; i++)
		*xsk_ring_prod__fill_addr(&end->fill, index + i) = pair->free_chunks[--pair->free_count];
	xsk_ring_prod__submit(&end->fill, count);
	end->unfilled -= count;
}

void xsk_pair_recycle(struct xsk_pair *pair)
{
	collect(pair, &pair->ends[0]);
	collect(pair, &pair->ends[1]);
	fill(pair, &pair->ends[0]);
	fill(pair, &pair->ends[1]);
}

static int is_gone(int code)
{
	return code == ENXIO || code == ENETDOWN || code == ENODEV || code == EBADF;
}

static int gone(const struct xsk_pair_end *end)
{
	return error_set(ENETDOWN, "%s: AF_XDP stopped: the interface went down, or is gone", end->interface);
}

int xsk_pair_kick(struct xsk_pair *pair, int index)
{
	struct xsk_pair_end *end = &pair->ends[index];

	if (!end->outstanding || (!pair->busy_poll && !xsk_ring_prod__needs_wakeup(&end->transmit)))
		return 0;
	/* What it could not take is still there, and is tried again. */
	if (sendto(end->fd, NULL, 0, MSG_DONTWAIT, NULL, 0) < 0 && is_gone(errno))
		return gone(end);
	return 0;
}

int xsk_pair_wake(struct xsk_pair *pair, int index)
{
	struct xsk_pair_end *end = &pair->ends[index];

	if (!pair->busy_poll && !xsk_ring_prod__needs_wakeup(&end->fill))
		return 0;
	if (recvfrom(end->fd, NULL, 0, MSG_DONTWAIT, NULL, NULL) < 0 && is_gone(errno))
		return gone(end);
	return 0;
}

uint64_t xsk_pair_lost(const struct xsk_pair *pair, int index)
{
	struct xdp_statistics statistics = { 0 };
	socklen_t length = sizeof(statistics);

	if (getsockopt(pair->ends[index].fd, SOL_XDP, XDP_STATISTICS, &statistics, &length))
		return 0;
	return statistics.rx_dropped + statistics.rx_ring_full;
}
