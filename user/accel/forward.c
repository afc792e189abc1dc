// SPDX-License-Identifier: GPL-2.0-or-later
/* The user-space forwarder; see forward.h. Called by cmd/accel_forward.c and cmd/run_bypass.c. */
#include "accel/forward.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accel/forward_loop.h"
#include "accel/forward_port.h"
#include "base/error.h"
#include "base/undo.h"
#include "sys/cpu_affinity.h"

struct forward_thread {
	struct forward_worker worker;
	pthread_t thread;
	int started, cpu;
	atomic_int result; /* the error text is there before it is */
	char why[256];
};

struct forward {
	struct forward_port ports[2];
	struct forward_table table;
	_Atomic unsigned int max_bytes[2];
	atomic_int stop;
	int undo_mark, thread_count, zero_copy, busy_poll;
	char text[160];
	struct forward_thread *threads[HOPCAP_FORWARD_QUEUES];
};

static void *forward_thread(void *argument)
{
	struct forward_thread *thread = argument;
	int code;

	cpu_pin_thread(thread->cpu);
	code = forward_loop(&thread->worker);
	if (code)
		snprintf(thread->why, sizeof(thread->why), "%s", error_text());
	atomic_store(&thread->result, code);
	return NULL;
}

/* A bridge whose port this is gets none of its frames any more. */
static int check_bridges(const struct forward *forward)
{
	const struct forward_port *a = &forward->ports[0], *b = &forward->ports[1];
	const struct forward_port *port = a->bridge[0] ? a : b;

	if (a->link.link.ifindex == b->link.link.ifindex && !strcmp(a->netns, b->netns))
		return error_set(EINVAL, "%s: two interfaces are needed, not one twice", a->interface);
	if (!port->bridge[0])
		return 0;
	if (strcmp(a->bridge, b->bridge) || strcmp(a->netns, b->netns))
		return error_set(
			EOPNOTSUPP,
			"%s: is a port of bridge %s, whose other ports would be cut off from it; give two ports of one "
			"bridge, or interfaces of none",
			port->interface, port->bridge);
	if (port->bridge_ports > 2)
		return error_set(
			EOPNOTSUPP,
			"%s: bridge %s has %d ports, and the others would be cut off; 'hopcap accel start %s' is for those",
			port->interface, port->bridge, port->bridge_ports, port->bridge);
	return 0;
}

static int check_queues(const struct forward *forward)
{
	const struct forward_port *a = &forward->ports[0], *b = &forward->ports[1];

	if (a->receive_queues != b->receive_queues)
		return error_set(
			EOPNOTSUPP,
			"%s has %u receive queues and %s %u: a queue is forwarded to the one of its number; make them as "
			"many: ethtool -L INTERFACE combined N",
			a->interface, a->receive_queues, b->interface, b->receive_queues);
	if (a->receive_queues > a->transmit_queues || b->receive_queues > b->transmit_queues)
		return error_set(EOPNOTSUPP,
				 "%s: it has fewer transmit queues than receive queues; make them as many: ethtool -L",
				 a->receive_queues > a->transmit_queues ? a->interface : b->interface);
	if (a->receive_queues > HOPCAP_FORWARD_QUEUES)
		return error_set(EOPNOTSUPP, "%s: more than %d queues; make them fewer: ethtool -L", a->interface,
				 HOPCAP_FORWARD_QUEUES);
	return 0;
}

static int open_pair(struct forward *forward, unsigned int queue, struct forward_thread *thread)
{
	struct xsk_pair_place places[2];

	for (int i = 0; i < 2; i++)
		places[i] = (struct xsk_pair_place){ .interface = forward->ports[i].interface,
						     .netns = forward->ports[i].netns,
						     .ifindex = forward->ports[i].link.link.ifindex,
						     .mtu_bytes = forward->ports[i].link.link.mtu_bytes };
	return xsk_pair_open(places, queue, forward->zero_copy, forward->busy_poll, &thread->worker.pair);
}

/* A worker: its pair of queues, frames steered there, its thread. */
static int add_worker(struct forward *forward, int cpu)
{
	struct forward_thread *thread = calloc(1, sizeof(*thread));
	unsigned int queue = (unsigned int)forward->thread_count;
	int code;

	if (!thread)
		return error_set(ENOMEM, "out of memory");
	forward->threads[forward->thread_count++] = thread;
	thread->cpu = cpu < 0 ? -1 : cpu + (int)queue;
	code = open_pair(forward, queue, thread);
	if (code)
		return code;
	thread->worker.table = &forward->table;
	thread->worker.max_bytes = forward->max_bytes;
	thread->worker.stop = &forward->stop;
	code = pthread_create(&thread->thread, NULL, forward_thread, thread);
	if (code)
		return error_set(code, "cannot start a thread that forwards: %s", strerror(code));
	thread->started = 1;
	for (int i = 0; i < 2 && !code; i++)
		code = forward_port_steer(&forward->ports[i], thread->worker.pair->ends[i].socket, queue);
	return code;
}

static void drop_workers(struct forward *forward)
{
	atomic_store(&forward->stop, 1);
	for (int i = 0; i < forward->thread_count; i++) {
		struct forward_thread *thread = forward->threads[i];

		if (thread->started)
			pthread_join(thread->thread, NULL);
		xsk_pair_close(thread->worker.pair);
		free(thread);
	}
	forward->thread_count = 0;
	atomic_store(&forward->stop, 0);
}

static int add_workers(struct forward *forward, int cpu)
{
	int code = 0;

	for (unsigned int i = 0; i < forward->ports[0].receive_queues && !code; i++)
		code = add_worker(forward, cpu);
	return code;
}

/* Zero-copy where both drivers say that they can; when it cannot be had after all, copy. */
static int open_workers(struct forward *forward, const struct forward_request *request)
{
	int code;

	forward->zero_copy = forward->ports[0].zero_copy && forward->ports[1].zero_copy && !request->copy_only;
	forward->busy_poll = request->busy_poll;
	code = add_workers(forward, request->cpu);
	if (code && forward->zero_copy) {
		drop_workers(forward);
		forward->zero_copy = 0;
		code = add_workers(forward, request->cpu);
	}
	return code;
}

static int set_up(struct forward *forward, const struct forward_request *request)
{
	int code = 0;

	for (int i = 0; i < 2 && !code; i++) {
		struct forward_port *port = &forward->ports[i];

		snprintf(port->interface, sizeof(port->interface), "%s", request->interface[i]);
		snprintf(port->netns, sizeof(port->netns), "%s", request->netns[i] ? request->netns[i] : "");
		code = forward_port_open(port, request->set_offloads, request->force_uplink);
		if (!code)
			forward->max_bytes[i] = accel_policy_max_bytes(port->link.link.mtu_bytes);
	}
	if (!code)
		code = check_bridges(forward);
	if (!code)
		code = check_queues(forward);
	for (int i = 0; i < 2 && !code; i++)
		code = forward_port_attach(&forward->ports[i]);
	return code ? code : open_workers(forward, request);
}

int forward_start(const struct forward_request *request, struct forward **result)
{
	struct forward *forward = calloc(1, sizeof(*forward));
	int code;

	if (!forward)
		return error_set(ENOMEM, "out of memory");
	forward->undo_mark = undo_mark();
	code = set_up(forward, request);
	if (code) {
		char why[512];

		snprintf(why, sizeof(why), "%s", error_text());
		forward_stop(forward);
		return error_set(-code, "%s", why);
	}
	snprintf(forward->text, sizeof(forward->text), "AF_XDP %s, %d pair%s of queues, %u-byte chunks%s",
		 forward->zero_copy ? "zero-copy" : "copy", forward->thread_count,
		 forward->thread_count == 1 ? "" : "s", forward->threads[0]->worker.pair->chunk_bytes,
		 forward->busy_poll ? ", preferred busy polling" : "");
	*result = forward;
	return 0;
}

int forward_check(struct forward *forward)
{
	for (int i = 0; i < 2; i++) {
		unsigned int max_bytes;
		int code = forward_port_check(&forward->ports[i], &max_bytes);

		if (code)
			return code;
		atomic_store(&forward->max_bytes[i], max_bytes);
	}
	for (int i = 0; i < forward->thread_count; i++) {
		int code = atomic_load(&forward->threads[i]->result);

		if (code)
			return error_set(-code, "%s", forward->threads[i]->why);
	}
	return 0;
}

static void add_lane(const struct forward_lane *lane, struct forward_counts *counts)
{
	counts->received += lane->received;
	counts->bytes += lane->bytes;
	counts->forwarded += lane->forwarded;
	counts->local += lane->local;
	counts->control += lane->control;
	counts->too_long += lane->too_long;
	counts->no_room += lane->no_room;
}

void forward_read(struct forward *forward, struct forward_counts counts[2])
{
	memset(counts, 0, 2 * sizeof(*counts));
	for (int side = 0; side < 2; side++) {
		uint64_t passed[FORWARD_PASSED_COUNT];

		for (int i = 0; i < forward->thread_count; i++) {
			add_lane(&forward->threads[i]->worker.lanes[side], &counts[side]);
			counts[side].lost += xsk_pair_lost(forward->threads[i]->worker.pair, side);
		}
		forward_port_passed(&forward->ports[side], passed);
		counts[side].to_stack = passed[FORWARD_PASSED_OWN];
		counts[side].unbound = passed[FORWARD_PASSED_NO_SOCKET];
	}
}

const char *forward_describe(const struct forward *forward)
{
	return forward->text;
}

/* Programs first: a frame that is steered to a socket that is gone would be lost. */
int forward_stop(struct forward *forward)
{
	int code;

	if (!forward)
		return 0;
	forward_port_close(&forward->ports[0]);
	forward_port_close(&forward->ports[1]);
	drop_workers(forward);
	code = undo_run_to(forward->undo_mark);
	free(forward);
	return code;
}
