// SPDX-License-Identifier: GPL-2.0-or-later
/* The agent's loop and the host's side of it, each against an other side that is not what it should be. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "domain/agent.h"
#include "domain/domain.h"
#include "domain/message.h"
#include "port/pacer.h"

#define HELLO "{\"id\":1,\"verb\":\"hello\",\"protocol\":1,\"version\":\"x\",\"nonce\":\"n\"}\n"

/* --- the agent --- */

struct served {
	int fds[2]; /* ours, the agent's */
	pthread_t thread;
	int code;
	char buffer[70000];
	size_t used;
};

static void *serve(void *argument)
{
	struct served *served = argument;

	served->code = agent_serve(served->fds[1], served->fds[1]);
	shutdown(served->fds[1], SHUT_RDWR);
	return NULL;
}

static void start(struct served *served)
{
	memset(served, 0, sizeof(*served));
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, served->fds), 0);
	assert_int_equal(pthread_create(&served->thread, NULL, serve, served), 0);
}

static int finish(struct served *served)
{
	shutdown(served->fds[0], SHUT_WR);
	pthread_join(served->thread, NULL);
	close(served->fds[0]);
	close(served->fds[1]);
	return served->code;
}

static void say(struct served *served, const char *text, size_t length)
{
	while (length) {
		ssize_t written = write(served->fds[0], text, length);

		assert_true(written > 0);
		text += written;
		length -= (size_t)written;
	}
}

/* The agent's next line, within 10 s; "" at the end. */
static const char *hear(struct served *served, char *line, size_t size)
{
	for (;;) {
		char *end = memchr(served->buffer, '\n', served->used);
		struct pollfd wait = { .fd = served->fds[0], .events = POLLIN };
		ssize_t got;

		if (end) {
			size_t length = (size_t)(end - served->buffer);

			snprintf(line, size, "%.*s", (int)length, served->buffer);
			memmove(served->buffer, end + 1, served->used - length - 1);
			served->used -= length + 1;
			return line;
		}
		assert_int_equal(poll(&wait, 1, 10000), 1);
		got = read(served->fds[0], served->buffer + served->used, sizeof(served->buffer) - served->used);
		if (got <= 0)
			return "";
		served->used += (size_t)got;
	}
}

static const char *ask(struct served *served, const char *request, char *line, size_t size)
{
	say(served, request, strlen(request));
	return hear(served, line, size);
}

static void agent_answers_what_it_is_asked(void **state)
{
	struct served *served = calloc(1, sizeof(*served));
	char line[1000];

	(void)state;
	start(served);
	assert_non_null(strstr(ask(served, "{\"id\":3,\"verb\":\"ping\"}\n", line, sizeof(line)), "\"error\"")); /* hello first */
	assert_non_null(strstr(ask(served, HELLO, line, sizeof(line)), "\"nonce\":\"n\""));
	assert_string_equal(ask(served, "{\"id\":4,\"verb\":\"ping\"}\n", line, sizeof(line)), "{\"id\":4}");
	assert_non_null(strstr(ask(served, "{\"id\":5,\"verb\":\"clock\"}\n", line, sizeof(line)), "\"returned_ns\""));
	assert_string_equal(ask(served, "{\"id\":6,\"verb\":\"bye\"}\n", line, sizeof(line)), "{\"id\":6}");
	assert_int_equal(finish(served), 0);
	free(served);
}

static void agent_answers_nonsense(void **state)
{
	static const char *const nonsense[] = {
		"\n",
		"x\n",
		"{\"id\":9}\n",
		"{\"id\":9,\"verb\":\"reboot\"}\n",
		"{\"id\":9,\"verb\":\"ping\",\"more\":1}\n",
		"{\"id\":9,\"verb\":\"probe-read\",\"handle\":3}\n",
		"{\"id\":9,\"verb\":\"probe-read\",\"handle\":48}\n",
		"{\"id\":9,\"verb\":\"source-stop\"}\n",
		"{\"id\":9,\"verb\":\"source-cpu\",\"number\":1}\n",
		"{\"id\":9,\"verb\":\"watch-end\"}\n",
		"{\"id\":9,\"verb\":\"drops-end\"}\n",
		"{\"id\":9,\"verb\":\"link\",\"name\":\"x\",\"interface\":\"nosuch0\",\"netns\":\"../..\"}\n",
		"{\"id\":9,\"verb\":\"source-send\",\"port\":0,\"frame_bytes\":60,\"stream\":0,\"pps\":0,\"duration_s\":1,\"frames\":1,"
		"\"stamp_interval\":0}\n",
	};
	struct served *served = calloc(1, sizeof(*served));
	char line[1000], *endless = malloc(MESSAGE_MAX_BYTES * 3);

	(void)state;
	start(served);
	ask(served, HELLO, line, sizeof(line));
	for (size_t i = 0; i < sizeof(nonsense) / sizeof(nonsense[0]); i++)
		if (!strstr(ask(served, nonsense[i], line, sizeof(line)), "\"error\""))
			fail_msg("'%s' was answered by '%s'", nonsense[i], line);
	memset(endless, 'a', MESSAGE_MAX_BYTES * 3);
	endless[MESSAGE_MAX_BYTES * 3 - 1] = '\n';
	say(served, endless, MESSAGE_MAX_BYTES * 3);
	assert_non_null(strstr(hear(served, line, sizeof(line)), "\"error\""));
	assert_string_equal(ask(served, "{\"id\":10,\"verb\":\"ping\"}\n", line, sizeof(line)), "{\"id\":10}");
	say(served, "{\"id\":11,\"ve", 12); /* half a line, then the end */
	assert_int_equal(finish(served), -EPIPE);
	free(endless);
	free(served);
}

static void agent_leaves_a_silent_host(void **state)
{
	struct served *served = calloc(1, sizeof(*served));
	uint64_t begin_ns;
	char line[1000];

	(void)state;
	start(served);
	ask(served, HELLO, line, sizeof(line));
	begin_ns = pacer_now_ns();
	assert_string_equal(hear(served, line, sizeof(line)), "");
	assert_true(pacer_now_ns() - begin_ns >= AGENT_SILENCE_MS * 900000ull);
	assert_int_equal(finish(served), -ETIMEDOUT);
	free(served);
}

/* --- the host --- */

/* An agent that greets rightly and then says `text` to the next request. */
struct impostor {
	int listener;
	const char *before, *text;
	pthread_t thread;
	char directory[40], path[60];
};

static void answer_hello(int fd, const char *request)
{
	struct message *message = message_read(request, strcspn(request, "\n"));
	struct verb_hello_reply reply = { .protocol = DOMAIN_PROTOCOL, .version = "x", .kernel = "k", .machine = "m", .cpus = 2 };
	struct verb_hello hello;
	size_t length;
	char *line;

	assert_non_null(message);
	assert_int_equal(message_take_request(message, VERB_HELLO, &hello), 0);
	memcpy(reply.nonce, hello.nonce, sizeof(reply.nonce));
	line = message_print_reply(message_id(message), VERB_HELLO, &reply, &length);
	assert_int_equal(write(fd, line, length), (ssize_t)length);
	free(line);
	message_free(message);
}

static void *pretend(void *argument)
{
	struct impostor *impostor = argument;
	int fd = accept(impostor->listener, NULL, NULL), answered = 0;
	char request[5000];
	ssize_t got;

	if (write(fd, impostor->before, strlen(impostor->before)) < 0)
		return NULL;
	while ((got = read(fd, request, sizeof(request) - 1)) > 0) {
		request[got] = 0;
		if (strstr(request, "\"hello\""))
			answer_hello(fd, strstr(request, "{"));
		else if (strstr(request, "\"clock\"") && !answered++ && impostor->text &&
			 write(fd, impostor->text, strlen(impostor->text)) < 0)
			break;
		else if (!impostor->text)
			break;
	}
	close(fd);
	return NULL;
}

static struct domain *meet(struct impostor *impostor, const char *before, const char *text)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct domain *domain = NULL;
	char transport[80];

	*impostor = (struct impostor){ .before = before, .text = text, .directory = "/tmp/hopcap-test-XXXXXX" };
	assert_non_null(mkdtemp(impostor->directory));
	snprintf(impostor->path, sizeof(impostor->path), "%s/socket", impostor->directory);
	strcpy(address.sun_path, impostor->path);
	impostor->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(impostor->listener, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(impostor->listener, 1), 0);
	assert_int_equal(pthread_create(&impostor->thread, NULL, pretend, impostor), 0);
	snprintf(transport, sizeof(transport), "unix:%s", impostor->path);
	if (domain_open_remote("guest", transport, &domain))
		fail_msg("%s", error_text());
	return domain;
}

static void part(struct impostor *impostor, struct domain *domain)
{
	domain_close(domain);
	pthread_join(impostor->thread, NULL);
	close(impostor->listener);
	unlink(impostor->path);
	rmdir(impostor->directory);
}

static void host_skips_a_banner(void **state)
{
	struct impostor impostor;
	struct domain *domain =
		meet(&impostor, "Welcome to guest!\n{\"id\":1}x\n", "{\"id\":2,\"arrived_ns\":5,\"returned_ns\":6}\n");
	int64_t times_ns[4];

	(void)state;
	if (domain_exchange(domain, times_ns))
		fail_msg("%s", error_text());
	assert_int_equal(times_ns[1], 5);
	assert_int_equal(times_ns[2], 6);
	assert_true(times_ns[3] >= times_ns[0]);
	part(&impostor, domain);
}

static void host_names_what_is_wrong(void **state)
{
	static const struct {
		const char *answer, *wanted;
		int code;
	} cases[] = {
		{ "{\"id\":2,\"arrived_ns\":5}\n", "cannot be read", -EPROTO },
		{ "{\"id\":2,\"arrived_ns\":5,\"returned_ns\":6,\"x\":0}\n", "cannot be read", -EPROTO },
		{ "{\"id\":2,\"arrived_ns\":9000000000000000000,\"returned_ns\":6}\n", "cannot be read", -EPROTO },
		{ "{\"id\":2,\"error\":22,\"text\":\"no\"}\n", "no", -EINVAL },
		{ "a\na\na\na\na\na\na\na\na\na\na\na\na\na\na\na\na\na\na\na\na\na\na\na\na\na\na\na\na\na\na\na\na\na\n", "nonsense", -ENOTCONN },
		{ NULL, "the agent is gone", -ENOTCONN },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct impostor impostor;
		struct domain *domain = meet(&impostor, "", cases[i].answer);
		int64_t times_ns[4];
		int code = domain_exchange(domain, times_ns);

		if (code != cases[i].code || !strstr(error_text(), cases[i].wanted))
			fail_msg("case %zu: %d: %s", i, code, error_text());
		if (code == -ENOTCONN) /* and stays so, at once */
			assert_int_equal(domain_exchange(domain, times_ns), -ENOTCONN);
		part(&impostor, domain);
	}
}

static void commands_that_fail_are_quoted(void **state)
{
	struct domain *domain;

	(void)state;
	assert_int_equal(domain_open_remote("vm", "sh -c 'echo no route to host >&2; exit 255'", &domain), -ENOTCONN);
	assert_non_null(strstr(error_text(), "domain vm"));
	assert_non_null(strstr(error_text(), "no route to host"));
	assert_int_equal(domain_open_remote("vm", "unix:/nonexistent/socket", &domain), -ENOENT);
	assert_int_equal(domain_open_remote("vm", " ", &domain), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agent_answers_what_it_is_asked), cmocka_unit_test(agent_answers_nonsense),
		cmocka_unit_test(agent_leaves_a_silent_host),	  cmocka_unit_test(host_skips_a_banner),
		cmocka_unit_test(host_names_what_is_wrong),	  cmocka_unit_test(commands_that_fail_are_quoted),
	};

	return cmocka_run_group_tests_name("agent", tests, NULL, NULL);
}
