// SPDX-License-Identifier: GPL-2.0-or-later
/* The forwarding loop; see forward_loop.h. Called by forward.c, one thread a worker. */
#include "accel/forward_loop.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <time.h>

#include <linux/if_ether.h>

#include "port/pacer.h"

#define BATCH 64
#define LOOKS 256 /* at empty rings, before the clock is read */
#define SPIN_NS \
	1000000 /* looking on for so long: waking a sleeper costs the one who wakes it more than a microsecond */
#define SLEEP_MS 50

static void grow(_Atomic uint64_t *count, uint64_t by)
{
	atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + by, memory_order_relaxed);
}

/* NULL: the frame goes across; else what it counts as. */
static _Atomic uint64_t *stays(struct forward_worker *worker, int from, const unsigned char *frame, unsigned int bytes)
{
	static const unsigned char link_local[5] = { 0x01, 0x80, 0xc2, 0x00, 0x00 };
	struct forward_lane *lane = &worker->lanes[from];

	if (bytes < ETH_HLEN)
		return &lane->control;
	if (!(frame[ETH_ALEN] & 1))
		forward_table_learn(worker->table, forward_table_address(frame + ETH_ALEN), from, worker->second);
	if (frame[0] & 1)
		return !memcmp(frame, link_local, sizeof(link_local)) && frame[5] && frame[5] < 0x10 ? &lane->control
												     : NULL;
	if (forward_table_side(worker->table, forward_table_address(frame), worker->second) == from)
		return &lane->local;
	return bytes > atomic_load_explicit(&worker->max_bytes[!from], memory_order_relaxed) ? &lane->too_long : NULL;
}

/* One batch from one side to the other: the descriptor moves, the bytes stay. Returns how many frames there were. */
static unsigned int forward_batch(struct forward_worker *worker, int from)
{
	struct xsk_pair *pair = worker->pair;
	struct xsk_pair_end *in = &pair->ends[from], *out = &pair->ends[!from];
	struct forward_lane *lane = &worker->lanes[from];
	uint32_t index, to = 0, sent = 0, count = xsk_ring_cons__peek(&in->receive, BATCH, &index), room;
	uint64_t bytes = 0;

	if (!count)
		return 0;
	room = xsk_prod_nb_free(&out->transmit, count);
	if (room > count)
		room = count;
	xsk_ring_prod__reserve(&out->transmit, room, &to);
	for (uint32_t i = 0; i < count; i++) {
		const struct xdp_desc *frame = xsk_ring_cons__rx_desc(&in->receive, index + i);
		_Atomic uint64_t *why = stays(worker, from, pair->area + frame->addr, frame->len);

		bytes += frame->len;
		if (!why && sent < room) {
			*xsk_ring_prod__tx_desc(&out->transmit, to + sent++) =
				(struct xdp_desc){ frame->addr, frame->len, 0 };
			continue;
		}
		grow(why ? why : &lane->no_room, 1);
		pair->free_chunks[pair->free_count++] = frame->addr & ~(uint64_t)(pair->chunk_bytes - 1);
	}
	out->transmit.cached_prod -= room - sent; /* what was reserved and is not needed */
	xsk_ring_prod__submit(&out->transmit, sent);
	xsk_ring_cons__release(&in->receive, count);
	out->outstanding += sent;
	in->unfilled += count;
	grow(&lane->received, count);
	grow(&lane->bytes, bytes);
	grow(&lane->forwarded, sent);
	return count;
}

/* Nothing came: looks on, then sleeps until something does. */
static int idle(struct forward_worker *worker, unsigned int *looks, uint64_t *since_ns)
{
	struct pollfd wait[2] = { { .fd = worker->pair->ends[0].fd, .events = POLLIN },
				  { .fd = worker->pair->ends[1].fd, .events = POLLIN } };
	int code = xsk_pair_wake(worker->pair, 0);
	uint64_t now_ns;

	if (!code)
		code = xsk_pair_wake(worker->pair, 1);
	if (code || worker->pair->busy_poll || ++*looks % LOOKS)
		return code;
	now_ns = pacer_now_ns();
	worker->second = (unsigned int)(now_ns / 1000000000);
	if (!*since_ns)
		*since_ns = now_ns;
	if (now_ns - *since_ns < SPIN_NS || worker->pair->ends[0].outstanding || worker->pair->ends[1].outstanding)
		sched_yield();
	else
		poll(wait, 2, SLEEP_MS);
	return 0;
}

int forward_loop(struct forward_worker *worker)
{
	unsigned int looks = 0, rounds = 0;
	uint64_t since_ns = 0;
	int code = 0;

	while (!code && !atomic_load_explicit(worker->stop, memory_order_relaxed)) {
		unsigned int count = forward_batch(worker, 0) + forward_batch(worker, 1);

		code = xsk_pair_kick(worker->pair, 0);
		if (!code)
			code = xsk_pair_kick(worker->pair, 1);
		xsk_pair_recycle(worker->pair);
		if (!code && !count)
			code = idle(worker, &looks, &since_ns);
		if (count)
			looks = since_ns = 0;
		if (!(++rounds % 1024))
			worker->second = (unsigned int)(pacer_now_ns() / 1000000000);
	}
	return code;
}
