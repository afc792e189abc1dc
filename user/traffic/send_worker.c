// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sending threads; see send_worker.h. Called by traffic/sender.c, traffic/source.c.
 *
 * A stream is ended by a flag for ports that loop in user space and by SIGUSR1 for live frames, whose loop is inside the kernel and
 * ends with EINTR.
 */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "port/pacer.h"
#include "sys/cpu_affinity.h"
#include "sys/netns.h"
#include "traffic/send_worker.h"

static void wake_up(int signal)
{
	(void)signal; /* it only has to interrupt a system call */
}

static void wait_for_go(const struct send_worker *worker)
{
	while (worker->go && !atomic_load(worker->go) && !atomic_load(worker->stream.stop))
		sched_yield();
}

static void *send_thread(void *argument)
{
	struct send_worker *worker = argument;
	struct netns_token token;

	cpu_pin_thread(worker->cpu);
	worker->result = netns_enter(worker->netns, &token);
	wait_for_go(worker);
	atomic_store(&worker->begin_ns, pacer_now_ns());
	if (!worker->result) {
		worker->result = worker->ops->send(worker->port, &worker->stream, &worker->sent);
		worker->end_ns = pacer_now_ns();
		netns_leave(&token);
	}
	if (worker->result)
		snprintf(worker->error, sizeof(worker->error), "%s", error_text());
	atomic_store(&worker->done, 1);
	return NULL;
}

int send_worker_start(struct send_worker *worker)
{
	const struct sigaction action = { .sa_handler = wake_up };
	int code;

	memset(&worker->sent, 0, sizeof(worker->sent));
	atomic_store(&worker->begin_ns, 0);
	worker->end_ns = 0;
	worker->result = 0;
	atomic_store(&worker->done, 0);
	sigaction(SIGUSR1, &action, NULL);
	code = pthread_create(&worker->thread, NULL, send_thread, worker);
	if (code)
		return error_set(code, "cannot start a thread that sends: %s", strerror(code));
	worker->started = 1;
	return 0;
}

int send_worker_done(const struct send_worker *worker)
{
	return !worker->started || atomic_load(&worker->done);
}

void send_worker_wake(const struct send_worker *worker)
{
	if (!send_worker_done(worker))
		pthread_kill(worker->thread, SIGUSR1);
}

int send_worker_join(struct send_worker *worker)
{
	if (worker->started)
		pthread_join(worker->thread, NULL);
	worker->started = 0;
	return worker->result ? error_set(-worker->result, "%s", worker->error) : 0;
}

uint64_t send_worker_frames(const struct send_worker *worker)
{
	if (worker->ops->progress && worker->port && worker->started && !atomic_load(&worker->done))
		return worker->ops->progress(worker->port);
	return __atomic_load_n(&worker->sent.frames, __ATOMIC_RELAXED);
}
