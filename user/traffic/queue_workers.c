// SPDX-License-Identifier: GPL-2.0-or-later
/* Threads that take frames; see queue_workers.h. Called by traffic/sink_xsk.c, traffic/reflector_xsk.c. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "sys/cpu_affinity.h"
#include "sys/link_channels.h"
#include "sys/rtnl.h"
#include "traffic/queue_workers.h"

struct queue_worker {
	struct queue_workers *all;
	struct receiver *receiver;
	void *context;
	pthread_t thread;
	int cpu, started;
	atomic_int result; /* the error text is there before it is */
	char error[256];
};

struct queue_workers {
	const struct receiver_ops *ops;
	receive_function take;
	int count;
	atomic_int stop;
	struct queue_worker workers[QUEUE_WORKERS_MAX];
};

static void *take_thread(void *argument)
{
	struct queue_worker *worker = argument;
	struct queue_workers *all = worker->all;
	int code;

	cpu_pin_thread(worker->cpu);
	code = all->ops->receive(worker->receiver, &all->stop, all->take, worker->context);
	if (code)
		snprintf(worker->error, sizeof(worker->error), "%s", error_text());
	atomic_store(&worker->result, code);
	return NULL;
}

/* How many queues to serve: those that were asked for, or all from the first one on. */
static int count_queues(const struct queue_workers_config *config, int *count)
{
	unsigned int receive, transmit;
	int code = link_channels(config->interface, &receive, &transmit);

	if (code)
		return code;
	*count = config->queues ? config->queues : (int)receive - config->queue;
	if (*count < 1)
		return error_set(EINVAL, "%s has %u receive queue%s, counted from 0, so there is no queue %d",
				 config->interface, receive, receive == 1 ? "" : "s", config->queue);
	if (*count > QUEUE_WORKERS_MAX)
		*count = QUEUE_WORKERS_MAX;
	return 0;
}

static int open_one(struct queue_workers *workers, const struct queue_workers_config *config, int ifindex)
{
	int index = workers->count, code;
	struct queue_worker *worker = &workers->workers[index];
	const struct port_config port = { .interface = config->interface,
					  .ifindex = ifindex,
					  .queue = config->queue + index,
					  .busy_poll = config->busy_poll };

	worker->all = workers;
	worker->context = (char *)config->contexts + (size_t)index * config->context_bytes;
	worker->cpu = config->cpu < 0 ? -1 : config->cpu + index;
	code = workers->ops->open(&port, &worker->receiver);
	if (code)
		return code;
	workers->count++;
	code = pthread_create(&worker->thread, NULL, take_thread, worker);
	if (code)
		return error_set(code, "cannot start a thread that takes frames: %s", strerror(code));
	worker->started = 1;
	return 0;
}

int queue_workers_open(const struct queue_workers_config *config, struct queue_workers **result)
{
	struct queue_workers *workers;
	struct rtnl_link link;
	int count = 0, code = rtnl_link_get(config->interface, &link);

	if (code)
		return code == -ENODEV ? error_set(ENODEV, "%s: no such interface", config->interface) : code;
	code = count_queues(config, &count);
	if (code)
		return code;
	workers = calloc(1, sizeof(*workers));
	if (!workers)
		return error_set(ENOMEM, "%s: out of memory", config->interface);
	workers->ops = config->zero_copy ? &receiver_xsk_zero_copy : &receiver_xsk_copy;
	workers->take = config->take;
	while (!code && workers->count < count)
		code = open_one(workers, config, link.ifindex);
	if (code) {
		queue_workers_close(workers);
		return code;
	}
	*result = workers;
	return 0;
}

int queue_workers_count(const struct queue_workers *workers)
{
	return workers->count;
}

int queue_workers_result(const struct queue_workers *workers)
{
	for (int i = 0; i < workers->count; i++) {
		const struct queue_worker *worker = &workers->workers[i];
		int result = atomic_load(&worker->result);

		if (result)
			return error_set(-result, "%s", worker->error);
	}
	return 0;
}

void queue_workers_statistics(const struct queue_workers *workers, int index, struct receive_statistics *statistics)
{
	workers->ops->statistics(workers->workers[index].receiver, statistics);
}

const char *queue_workers_describe(const struct queue_workers *workers)
{
	return workers->ops->describe(workers->workers[0].receiver);
}

void queue_workers_stop(struct queue_workers *workers)
{
	atomic_store(&workers->stop, 1);
	for (int i = 0; i < workers->count; i++) {
		if (workers->workers[i].started)
			pthread_join(workers->workers[i].thread, NULL);
		workers->workers[i].started = 0;
	}
}

void queue_workers_close(struct queue_workers *workers)
{
	if (!workers)
		return;
	queue_workers_stop(workers);
	for (int i = 0; i < workers->count; i++)
		workers->ops->close(workers->workers[i].receiver);
	free(workers);
}
