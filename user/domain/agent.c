// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The agent's loop; see agent.h. Called by cmd/agent.c.
 *
 * One thread serves all requests in order. A stream is sent by a second one, so that clocks, counts and the host's death are noticed
 * meanwhile; its answer is written when it is over. Whatever a line holds, the answer is a line.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/error.h"
#include "base/undo.h"
#include "domain/agent.h"
#include "domain/lines.h"
#include "domain/local.h"
#include "domain/message.h"
#include "port/pacer.h"

#define POLL_MS 100
#define WRITE_MS 1500

struct sending {
	int running;
	uint32_t id;
	pthread_t thread;
	struct source_stream stream;
	struct verb_send_reply reply;
	int code;
	char text[RUN_TEXT_BYTES];
};

struct agent {
	int in, out, done_fd;
	struct domain *local;
	struct line_reader reader;
	struct sending sending;
	uint64_t arrived_ns, heard_ns;
	int greeted, leaves, broken;
	union verb_request request;
	union verb_reply reply;
};

static void write_line(struct agent *agent, char *line, size_t length)
{
	if (!line || line_write(agent->out, line, length, WRITE_MS))
		agent->broken = 1;
	free(line);
}

static void answer(struct agent *agent, uint32_t id, enum verb verb, const void *reply)
{
	size_t length;
	char *line = message_print_reply(id, verb, reply, &length);

	write_line(agent, line, length);
}

/* With the error text that stands. */
static void fail(struct agent *agent, uint32_t id, int code)
{
	size_t length;
	char *line = message_print_failure(id, code < 0 ? -code : EIO, error_text(), &length);

	write_line(agent, line, length);
}

/* --- sending --- */

static void *send_thread(void *argument)
{
	struct agent *agent = argument;
	struct sending *sending = &agent->sending;
	const uint64_t one = 1;

	sending->code = agent->local->ops->send(agent->local, &sending->stream, NULL, NULL, &sending->reply);
	if (sending->code)
		snprintf(sending->text, sizeof(sending->text), "%s", error_text());
	if (write(agent->done_fd, &one, sizeof(one)) != sizeof(one))
		sending->code = -EIO; /* an event descriptor takes its first count */
	return NULL;
}

static int begin_sending(struct agent *agent, uint32_t id)
{
	struct sending *sending = &agent->sending;
	const struct source_stream *stream = &agent->request.stream;
	const char *why_not;
	char text[RUN_TEXT_BYTES];
	int code;

	if (sending->running)
		return error_set(EBUSY, "a stream is being sent already");
	if (!domain_local_source(agent->local))
		return error_set(EBADF, "there is no source");
	if (!(stream->duration_s > 0 && stream->duration_s <= 3600) ||
	    stream->stamp_interval & (stream->stamp_interval - 1))
		return error_set(EINVAL, "a stream of impossible length or stamp interval");
	/* The port is opened here: the undo stack is this thread's. */
	if (!source_port_usable(domain_local_source(agent->local), stream->port, stream->frame_bytes, &why_not)) {
		snprintf(text, sizeof(text), "%s", why_not); /* it may be the error text itself */
		return error_set(EINVAL, "%s: %s", run_port_name(stream->port), text);
	}
	memset(sending, 0, sizeof(*sending));
	sending->stream = *stream;
	sending->id = id;
	code = pthread_create(&sending->thread, NULL, send_thread, agent);
	if (code)
		return error_set(code, "cannot start a thread: %s", strerror(code));
	sending->running = 1;
	return 0;
}

static void end_sending(struct agent *agent)
{
	struct sending *sending = &agent->sending;
	uint64_t count;

	pthread_join(sending->thread, NULL);
	if (read(agent->done_fd, &count, sizeof(count)) != sizeof(count))
		count = 0;
	sending->running = 0;
}

static void answer_sending(struct agent *agent)
{
	struct sending *sending = &agent->sending;

	end_sending(agent);
	if (sending->code) {
		error_set(-sending->code, "%s", sending->text);
		fail(agent, sending->id, sending->code);
	} else {
		answer(agent, sending->id, VERB_SOURCE_SEND, &sending->reply);
	}
}

/* --- serving --- */

static int greet(struct agent *agent)
{
	const struct verb_hello *hello = &agent->request.hello;
	struct verb_hello_reply *reply = &agent->reply.hello;

	if (hello->protocol != DOMAIN_PROTOCOL)
		return error_set(
			EPROTO,
			"the agent is hopcap %s, which speaks protocol %d, not %d of hopcap %.20s: use the same version",
			HOPCAP_VERSION, DOMAIN_PROTOCOL, hello->protocol, hello->version);
	reply->protocol = DOMAIN_PROTOCOL;
	snprintf(reply->version, sizeof(reply->version), "%s", HOPCAP_VERSION);
	memcpy(reply->nonce, hello->nonce, sizeof(reply->nonce));
	memcpy(reply->kernel, agent->local->kernel, sizeof(reply->kernel));
	memcpy(reply->machine, agent->local->machine, sizeof(reply->machine));
	memcpy(reply->boot, agent->local->boot, sizeof(reply->boot));
	reply->cpus = agent->local->cpus;
	agent->greeted = 1;
	return 0;
}

static void stop_sending(struct agent *agent)
{
	if (!agent->sending.running)
		return;
	source_stop(domain_local_source(agent->local));
	end_sending(agent);
}

static int restore(struct agent *agent)
{
	domain_local_restore(agent->local);
	return undo_run_all();
}

/* What the source's thread is using is not touched meanwhile. */
static int is_in_use(const struct agent *agent, enum verb verb)
{
	return agent->sending.running && (verb == VERB_SOURCE_OPEN || verb == VERB_SOURCE_USABLE ||
					  verb == VERB_SOURCE_CPU || verb == VERB_SOURCE_CLOSE);
}

/* 0 with the reply filled; 1 when it comes later. */
static int serve_verb(struct agent *agent, uint32_t id, enum verb verb)
{
	switch (verb) {
	case VERB_HELLO:
		return greet(agent);
	case VERB_PING:
		return 0;
	case VERB_CLOCK:
		agent->reply.clock.arrived_ns = (int64_t)agent->arrived_ns;
		agent->reply.clock.returned_ns = (int64_t)pacer_now_ns();
		return 0;
	case VERB_BYE:
		agent->leaves = 1;
		stop_sending(agent);
		return restore(agent);
	case VERB_RESTORE:
		stop_sending(agent);
		return restore(agent);
	case VERB_SOURCE_SEND: {
		int code = begin_sending(agent, id);

		return code ? code : 1;
	}
	default:
		if (is_in_use(agent, verb))
			return error_set(EBUSY, "not while a stream is being sent");
		return agent->local->ops->call(agent->local, verb, &agent->request, &agent->reply);
	}
}

static void serve_message(struct agent *agent, const struct message *message)
{
	int verb = message_verb(message), code = verb < 0 ? -EOPNOTSUPP : 0;
	uint32_t id = message_id(message);

	if (!code && !agent->greeted && verb != VERB_HELLO)
		code = error_set(EPROTO, "the first request is 'hello'");
	if (!code) {
		memset(&agent->request, 0, sizeof(agent->request));
		memset(&agent->reply, 0, sizeof(agent->reply));
		code = message_take_request(message, (enum verb)verb, &agent->request);
	}
	if (!code)
		code = serve_verb(agent, id, (enum verb)verb);
	if (code < 0)
		fail(agent, id, code);
	else if (!code)
		answer(agent, id, (enum verb)verb, &agent->reply);
}

/* 0, or -1 when the host is gone. */
static int hear(struct agent *agent)
{
	int got = line_reader_fill(&agent->reader, agent->in), more;
	char *line;
	size_t length;

	if (got == -EAGAIN)
		return 0;
	if (got <= 0)
		return -1;
	agent->arrived_ns = agent->heard_ns = pacer_now_ns();
	while (!agent->leaves && !agent->broken && (more = line_reader_next(&agent->reader, &line, &length)) != 0) {
		struct message *message = more > 0 ? message_read(line, length) : NULL;

		if (message)
			serve_message(agent, message);
		else if (more > 0)
			fail(agent, 0, -EBADMSG);
		else
			fail(agent, 0, error_set(EMSGSIZE, "a line of over %d bytes", MESSAGE_MAX_BYTES));
		message_free(message);
		agent->heard_ns = pacer_now_ns();
	}
	return 0;
}

static int serve(struct agent *agent)
{
	agent->heard_ns = pacer_now_ns();
	while (!agent->leaves && !undo_interrupted()) {
		struct pollfd ready[2] = { { .fd = agent->in, .events = POLLIN },
					   { .fd = agent->done_fd, .events = POLLIN } };
		int count = poll(ready, 2, POLL_MS);

		if (agent->broken)
			return error_set(EPIPE, "the host does not take answers any more");
		if (count > 0 && ready[1].revents)
			answer_sending(agent);
		if (count > 0 && ready[0].revents && hear(agent))
			return agent->greeted ? error_set(EPIPE, "the host is gone") : 0;
		if (!(count > 0 && ready[0].revents) && agent->greeted &&
		    pacer_now_ns() - agent->heard_ns > AGENT_SILENCE_MS * 1000000ull)
			return error_set(ETIMEDOUT, "the host has been silent for %d ms", AGENT_SILENCE_MS);
	}
	return 0;
}

static int open_agent(struct agent *agent)
{
	int code = line_reader_open(&agent->reader, MESSAGE_MAX_BYTES);

	agent->done_fd = eventfd(0, EFD_CLOEXEC);
	if (!code && agent->done_fd < 0)
		code = error_set(errno, "cannot make an event descriptor: %s", strerror(errno));
	if (!code && (fcntl(agent->in, F_SETFL, O_NONBLOCK) || fcntl(agent->out, F_SETFL, O_NONBLOCK)))
		code = error_set(errno, "cannot use the standard input and output: %s", strerror(errno));
	return code ? code : domain_open_local(&agent->local);
}

int agent_serve(int in, int out)
{
	struct agent *agent = calloc(1, sizeof(*agent));
	char text[RUN_TEXT_BYTES] = "";
	int code;

	if (!agent)
		return error_set(ENOMEM, "out of memory");
	agent->in = in;
	agent->out = out;
	code = open_agent(agent);
	if (!code)
		code = serve(agent);
	snprintf(text, sizeof(text), "%s", error_text());
	stop_sending(agent);
	domain_close(agent->local);
	line_reader_close(&agent->reader);
	if (agent->done_fd >= 0)
		close(agent->done_fd);
	free(agent);
	return code ? error_set(-code, "%s", text) : 0;
}
