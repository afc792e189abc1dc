// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The verbs on another kernel: said as lines to its agent. Called through domain.h.
 *
 * A thread of its own reads what the agent says, so that the time at which an answer to a clock's question is heard is that of its arrival,
 * and so that both sides notice when the other one is gone whatever the rest of the program does: it sends a ping every BEAT_MS, and takes
 * silence of SILENCE_MS for the agent's death.
 *
 * At most two requests are open at a time: a stream that is being sent, and one that is asked meanwhile (from its tick). Asking is for one
 * thread only.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/undo.h"
#include "domain/domain.h"
#include "domain/lines.h"
#include "domain/message.h"
#include "domain/transport.h"
#include "port/pacer.h"

#define BEAT_MS 250
#define SILENCE_MS 4000 /* a machine that lends its CPUs out is silent for a while, too */
#define WRITE_MS 2000
#define CALL_MS 15000
#define GREET_MS 1000 /* then the greeting is said again: the agent may have come late */
#define GREETINGS 30
#define TICK_MS 10
#define MOST_GARBAGE 32	 /* lines that are no messages; … */
#define MOST_BANNER 4096 /* … before the greeting is answered */

struct pending {
	uint32_t id; /* 0: free */
	enum verb verb;
	void *reply;
	int done, code;
	char text[RUN_TEXT_BYTES];
	uint64_t sent_ns, heard_ns;
};

struct remote {
	struct domain domain;
	struct transport transport;
	struct line_reader reader;
	pthread_t thread;
	int has_thread, wake_fd;
	pthread_mutex_t lock, writing;
	pthread_cond_t answered;
	/* under lock */
	int lost, greeted;
	char why_lost[RUN_TEXT_BYTES];
	struct pending open[2];
	uint32_t last_id;
	/* of the thread */
	uint64_t heard_ns, beat_ns;
	int garbage;
	char complaint[256]; /* the last line of the command's standard error */
};

/* --- the thread --- */

/* Keeps the last line that is not empty. */
static void hear_complaints(struct remote *remote)
{
	char text[sizeof(remote->complaint)], *line, *rest = NULL;
	ssize_t got = read(remote->transport.complaints, text, sizeof(text) - 1);

	if (!got) {
		close(remote->transport.complaints);
		remote->transport.complaints = -1;
	}
	if (got <= 0)
		return;
	text[got] = 0;
	for (line = strtok_r(text, "\r\n", &rest); line; line = strtok_r(NULL, "\r\n", &rest)) {
		for (char *letter = line; *letter; letter++)
			if ((unsigned char)*letter < ' ' || *letter == 127)
				*letter = '?';
		snprintf(remote->complaint, sizeof(remote->complaint), "%s", line);
	}
}

static void lose(struct remote *remote, const char *why)
{
	struct pollfd wait = { .fd = remote->transport.complaints, .events = POLLIN };

	/* What the command has to say about its end may come a little after it. */
	while (remote->transport.complaints >= 0 && poll(&wait, 1, 200) > 0)
		hear_complaints(remote);
	pthread_mutex_lock(&remote->lock);
	if (!remote->lost)
		snprintf(remote->why_lost, sizeof(remote->why_lost), "domain %s: %s%s%s%s", remote->domain.name, why,
			 remote->complaint[0] ? "; its command said: \"" : "", remote->complaint,
			 remote->complaint[0] ? "\"" : "");
	remote->lost = 1;
	pthread_cond_broadcast(&remote->answered);
	pthread_mutex_unlock(&remote->lock);
}

static void deliver(struct remote *remote, const struct message *message, uint64_t now_ns)
{
	uint32_t id = message_id(message);

	pthread_mutex_lock(&remote->lock);
	for (int i = 0; i < 2; i++) {
		struct pending *pending = &remote->open[i];

		if (!id || pending->id != id || pending->done)
			continue;
		pending->code = message_take_reply(message, pending->verb, pending->reply);
		if (pending->code)
			snprintf(pending->text, sizeof(pending->text), "%s", error_text());
		pending->heard_ns = now_ns;
		pending->done = 1;
		pthread_cond_broadcast(&remote->answered);
	}
	pthread_mutex_unlock(&remote->lock);
}

/* 0, or -1 when there is nothing more to hear. */
static int hear(struct remote *remote)
{
	int got = line_reader_fill(&remote->reader, remote->transport.in), more;
	uint64_t now_ns = pacer_now_ns();
	char *line, why[160];
	size_t length;

	if (got == -EAGAIN)
		return 0;
	if (got <= 0) {
		lose(remote, "the agent is gone");
		return -1;
	}
	remote->heard_ns = now_ns;
	while ((more = line_reader_next(&remote->reader, &line, &length)) != 0) {
		struct message *message = more > 0 ? message_read(line, length) : NULL;

		if (message)
			deliver(remote, message, now_ns);
		else if (++remote->garbage > (remote->greeted ? MOST_GARBAGE : MOST_BANNER)) {
			snprintf(why, sizeof(why), "the agent talks nonsense: %.120s",
				 more > 0 ? error_text() : "endless lines");
			lose(remote, why);
			return -1;
		}
		message_free(message);
	}
	return 0;
}

/* A ping is answered with id 0, which nobody waits for. */
static void beat(struct remote *remote, uint64_t now_ns)
{
	static const char ping[] = "{\"id\":0,\"verb\":\"ping\"}\n";

	if (!remote->greeted || now_ns - remote->beat_ns < BEAT_MS * 1000000ull ||
	    pthread_mutex_trylock(&remote->writing))
		return;
	remote->beat_ns = now_ns;
	line_write(remote->transport.out, ping, sizeof(ping) - 1, BEAT_MS); /* that it fails is heard */
	pthread_mutex_unlock(&remote->writing);
}

static void *listen(void *argument)
{
	struct remote *remote = argument;

	for (;;) {
		struct pollfd ready[3] = { { .fd = remote->wake_fd, .events = POLLIN },
					   { .fd = remote->transport.in, .events = POLLIN },
					   { .fd = remote->transport.complaints, .events = POLLIN } };
		int count = poll(ready, 3, BEAT_MS);
		uint64_t now_ns = pacer_now_ns();

		if (count > 0 && ready[0].revents)
			return NULL;
		if (count > 0 && ready[2].revents)
			hear_complaints(remote);
		if (count > 0 && ready[1].revents && hear(remote))
			return NULL;
		if (count <= 0 && remote->greeted && now_ns - remote->heard_ns > SILENCE_MS * 1000000ull) {
			lose(remote, "the agent has been silent for 4 s");
			return NULL;
		}
		beat(remote, now_ns);
	}
}

/* --- asking --- */

static int is_lost(struct remote *remote)
{
	int lost;

	pthread_mutex_lock(&remote->lock);
	lost = remote->lost;
	if (lost)
		error_set(ENOTCONN, "%s", remote->why_lost);
	pthread_mutex_unlock(&remote->lock);
	return lost;
}

static int write_request(struct remote *remote, struct pending *pending, const void *request)
{
	size_t length;
	char *line = message_print_request(pending->id, pending->verb, request, &length);
	int code;

	if (!line)
		return -ENOMEM;
	pthread_mutex_lock(&remote->writing);
	pending->sent_ns = pacer_now_ns();
	code = line_write(remote->transport.out, line, length, WRITE_MS);
	pthread_mutex_unlock(&remote->writing);
	free(line);
	if (!code || is_lost(remote))
		return code ? -ENOTCONN : 0;
	return error_set(ENOTCONN, "domain %s: the agent takes no more requests: %s", remote->domain.name,
			 strerror(-code));
}

/* Waits for up to `ms`; 1 when the answer is there or never will be. */
static int wait_for(struct remote *remote, const struct pending *pending, int ms)
{
	struct timespec until;
	int over = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += ms / 1000;
	until.tv_nsec += ms % 1000 * 1000000l;
	if (until.tv_nsec >= 1000000000) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000;
	}
	pthread_mutex_lock(&remote->lock);
	while (!pending->done && !remote->lost && !over)
		over = pthread_cond_timedwait(&remote->answered, &remote->lock, &until);
	over = pending->done || remote->lost;
	pthread_mutex_unlock(&remote->lock);
	return over;
}

static struct pending *begin(struct remote *remote, int slot, enum verb verb, void *reply)
{
	struct pending *pending = &remote->open[slot];

	pthread_mutex_lock(&remote->lock);
	if (!++remote->last_id)
		remote->last_id = 1;
	*pending = (struct pending){ .id = remote->last_id, .verb = verb, .reply = reply };
	pthread_mutex_unlock(&remote->lock);
	return pending;
}

static int finish(struct remote *remote, struct pending *pending)
{
	struct pending answer;

	pthread_mutex_lock(&remote->lock);
	answer = *pending;
	pending->id = 0;
	pthread_mutex_unlock(&remote->lock);
	if (!answer.done && is_lost(remote))
		return -ENOTCONN;
	if (!answer.done)
		return error_set(ETIMEDOUT, "domain %s: no answer to '%s'", remote->domain.name,
				 verb_forms[answer.verb].name);
	if (!answer.code)
		return 0;
	if (answer.code == -EBADMSG)
		return error_set(EPROTO, "domain %s: the answer to '%s' cannot be read: %s", remote->domain.name,
				 verb_forms[answer.verb].name, answer.text);
	return error_set(answer.code == -ENOTCONN ? EIO : -answer.code, "%s", answer.text);
}

/* A request that could not be written has no answer to wait for. */
static int give_up(struct remote *remote, struct pending *pending, int code)
{
	pthread_mutex_lock(&remote->lock);
	pending->id = 0;
	pthread_mutex_unlock(&remote->lock);
	return code;
}

static int ask(struct remote *remote, enum verb verb, const void *request, void *reply, int ms)
{
	struct pending *pending;
	int code;

	if (is_lost(remote))
		return -ENOTCONN;
	pending = begin(remote, 0, verb, reply);
	code = write_request(remote, pending, request);
	if (!code)
		wait_for(remote, pending, ms);
	return code ? give_up(remote, pending, code) : finish(remote, pending);
}

static int call(struct domain *domain, enum verb verb, const void *request, void *reply)
{
	return ask((struct remote *)domain, verb, request, reply, CALL_MS);
}

static int send_stream(struct domain *domain, const struct source_stream *stream, void (*tick)(void *context),
		       void *context, struct verb_send_reply *reply)
{
	struct remote *remote = (struct remote *)domain;
	uint64_t last_ns = pacer_now_ns() + (uint64_t)((stream->duration_s + CALL_MS / 1000) * 1e9);
	struct pending *pending;
	int code, stopped = 0;

	if (is_lost(remote))
		return -ENOTCONN;
	pending = begin(remote, 1, VERB_SOURCE_SEND, reply);
	code = write_request(remote, pending, stream);
	while (!code && pacer_now_ns() < last_ns && !wait_for(remote, pending, TICK_MS)) {
		if (undo_interrupted() && !stopped) {
			stopped = 1;
			ask(remote, VERB_SOURCE_STOP, NULL, NULL, CALL_MS);
		}
		if (tick)
			tick(context);
	}
	return code ? give_up(remote, pending, code) : finish(remote, pending);
}

int domain_exchange(struct domain *domain, int64_t times_ns[4])
{
	struct remote *remote = (struct remote *)domain;
	struct verb_clock_reply reply;
	int code;

	if (domain_is_local(domain))
		return error_set(EINVAL, "the local clock is not exchanged");
	code = call(domain, VERB_CLOCK, NULL, &reply);
	if (code)
		return code;
	times_ns[0] = (int64_t)remote->open[0].sent_ns;
	times_ns[1] = reply.arrived_ns;
	times_ns[2] = reply.returned_ns;
	times_ns[3] = (int64_t)remote->open[0].heard_ns;
	return 0;
}

/* --- beginning and end --- */

static void close_remote(struct domain *domain)
{
	struct remote *remote = (struct remote *)domain;
	const uint64_t one = 1;

	if (remote->has_thread) {
		if (remote->greeted && !is_lost(remote))
			ask(remote, VERB_BYE, NULL, NULL, WRITE_MS);
		if (write(remote->wake_fd, &one, sizeof(one)) == sizeof(one))
			pthread_join(remote->thread, NULL);
	}
	transport_close(&remote->transport);
	line_reader_close(&remote->reader);
	if (remote->wake_fd >= 0)
		close(remote->wake_fd);
	pthread_mutex_destroy(&remote->lock);
	pthread_mutex_destroy(&remote->writing);
	pthread_cond_destroy(&remote->answered);
	free(remote);
}

static int start_thread(struct remote *remote)
{
	pthread_condattr_t attributes;
	int code;

	pthread_mutex_init(&remote->lock, NULL);
	pthread_mutex_init(&remote->writing, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&remote->answered, &attributes);
	pthread_condattr_destroy(&attributes);
	remote->wake_fd = eventfd(0, EFD_CLOEXEC);
	code = line_reader_open(&remote->reader, MESSAGE_MAX_BYTES);
	if (!code && remote->wake_fd < 0)
		code = error_set(errno, "cannot make an event descriptor: %s", strerror(errno));
	remote->heard_ns = remote->beat_ns = pacer_now_ns();
	if (!code) {
		code = -pthread_create(&remote->thread, NULL, listen, remote);
		remote->has_thread = !code;
		if (code)
			error_set(-code, "cannot start a thread: %s", strerror(-code));
	}
	return code;
}

/* What was on the line before the answer is not ours: a banner, the rest of an earlier session. */
static int greet(struct remote *remote)
{
	struct verb_hello hello = { .protocol = DOMAIN_PROTOCOL, .version = HOPCAP_VERSION };
	struct verb_hello_reply reply;
	uint64_t nonce = 0;
	int code = -ETIMEDOUT;

	if (getrandom(&nonce, sizeof(nonce), 0) != sizeof(nonce))
		nonce = pacer_now_ns();
	snprintf(hello.nonce, sizeof(hello.nonce), "%016llx", (unsigned long long)nonce);
	for (int i = 0; i < GREETINGS && code == -ETIMEDOUT && !undo_interrupted(); i++)
		code = ask(remote, VERB_HELLO, &hello, &reply, GREET_MS);
	if (undo_interrupted())
		return error_set(EINTR, "interrupted");
	if (code)
		return code;
	if (strcmp(reply.nonce, hello.nonce) || reply.protocol != DOMAIN_PROTOCOL)
		return error_set(EPROTO, "domain %s: the agent (hopcap %s) does not speak our protocol",
				 remote->domain.name, reply.version);
	memcpy(remote->domain.kernel, reply.kernel, sizeof(remote->domain.kernel));
	memcpy(remote->domain.machine, reply.machine, sizeof(remote->domain.machine));
	memcpy(remote->domain.boot, reply.boot, sizeof(remote->domain.boot));
	remote->domain.cpus = reply.cpus;
	remote->garbage = 0;
	remote->greeted = 1;
	return 0;
}

int domain_open_remote(const char *name, const char *transport, struct domain **domain)
{
	static const struct domain_ops ops = { call, send_stream, close_remote };
	struct remote *remote = calloc(1, sizeof(*remote));
	int code;

	if (!remote)
		return error_set(ENOMEM, "out of memory");
	remote->domain.ops = &ops;
	snprintf(remote->domain.name, sizeof(remote->domain.name), "%s", name);
	code = transport_open(transport, &remote->transport);
	if (code) {
		free(remote);
		return code;
	}
	code = start_thread(remote);
	if (!code)
		code = greet(remote);
	if (code) {
		char text[RUN_TEXT_BYTES];

		snprintf(text, sizeof(text), "%s", error_text());
		close_remote(&remote->domain);
		return error_set(-code, "%s", text);
	}
	*domain = &remote->domain;
	return 0;
}
