// SPDX-License-Identifier: GPL-2.0-or-later
/* Commands and sockets; see transport.h. Called by remote.c. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "domain/transport.h"

#define LEAVES_MS 3000 /* a command is given to end by itself, … */
#define TERM_MS 1000   /* … and then to end by SIGTERM */
#define POLL_MS 5

static int open_socket(const char *path, struct transport *transport)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd;

	if (!path[0] || strlen(path) >= sizeof(address.sun_path))
		return error_set(EINVAL, "unix:%s: the path of a socket has 1 to %zu characters", path,
				 sizeof(address.sun_path) - 1);
	strcpy(address.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return error_set(errno, "unix:%s: cannot open a socket: %s", path, strerror(errno));
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) || fcntl(fd, F_SETFL, O_NONBLOCK)) {
		int code = error_set(errno,
				     "unix:%s: cannot connect: %s; is the guest running, and does it have the port?",
				     path, strerror(errno));

		close(fd);
		return code;
	}
	*transport = (struct transport){ .in = fd, .out = fd, .complaints = -1 };
	return 0;
}

struct pipes {
	int input[2], output[2], complaints[2];
};

static void close_pipes(struct pipes *pipes)
{
	for (int *fd = (int *)pipes; fd < (int *)(pipes + 1); fd++)
		if (*fd >= 0)
			close(*fd);
}

static int make_pipes(struct pipes *pipes)
{
	memset(pipes, 0xff, sizeof(*pipes));
	if (pipe2(pipes->input, O_CLOEXEC) || pipe2(pipes->output, O_CLOEXEC) || pipe2(pipes->complaints, O_CLOEXEC) ||
	    fcntl(pipes->input[1], F_SETFL, O_NONBLOCK) || fcntl(pipes->output[0], F_SETFL, O_NONBLOCK) ||
	    fcntl(pipes->complaints[0], F_SETFL, O_NONBLOCK)) {
		int code = error_set(errno, "cannot make a pipe: %s", strerror(errno));

		close_pipes(pipes);
		return code;
	}
	return 0;
}

/* In the child. An interrupt at the terminal is for us: we undo what there is to undo, through the command. */
static void run_command(const struct pipes *pipes, const char *shell_text)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGINT, SIG_IGN);
	signal(SIGPIPE, SIG_DFL);
	if (dup2(pipes->input[0], 0) >= 0 && dup2(pipes->output[1], 1) >= 0 && dup2(pipes->complaints[1], 2) >= 0)
		execl("/bin/sh", "sh", "-c", shell_text, (char *)NULL);
	_exit(127);
}

static int open_command(const char *text, struct transport *transport)
{
	char shell_text[4096];
	struct pipes pipes;
	pid_t pid;
	int code;

	if (snprintf(shell_text, sizeof(shell_text), "exec %s", text) >= (int)sizeof(shell_text))
		return error_set(EINVAL, "'%.40s…': the command is too long", text);
	code = make_pipes(&pipes);
	if (code)
		return code;
	pid = fork();
	if (!pid)
		run_command(&pipes, shell_text);
	if (pid < 0) {
		code = error_set(errno, "'%s': cannot start it: %s", text, strerror(errno));
		close_pipes(&pipes);
		return code;
	}
	close(pipes.input[0]);
	close(pipes.output[1]);
	close(pipes.complaints[1]);
	*transport = (struct transport){
		.in = pipes.output[0], .out = pipes.input[1], .complaints = pipes.complaints[0], .pid = pid
	};
	return 0;
}

int transport_open(const char *text, struct transport *transport)
{
	if (!strncmp(text, "unix:", 5))
		return open_socket(text + 5, transport);
	if (!text[strspn(text, " \t")])
		return error_set(EINVAL, "a domain needs a command or unix:PATH");
	return open_command(text, transport);
}

static int has_ended(pid_t pid, int patience_ms)
{
	const struct timespec pause = { .tv_nsec = POLL_MS * 1000000 };

	for (;; patience_ms -= POLL_MS) {
		pid_t ended = waitpid(pid, NULL, WNOHANG);

		if (ended == pid || (ended < 0 && errno != EINTR))
			return 1;
		if (patience_ms <= 0)
			return 0;
		nanosleep(&pause, NULL);
	}
}

void transport_close(struct transport *transport)
{
	if (transport->out >= 0 && transport->out != transport->in)
		close(transport->out);
	if (transport->in >= 0)
		close(transport->in);
	if (transport->complaints >= 0)
		close(transport->complaints);
	transport->in = transport->out = transport->complaints = -1;
	if (transport->pid > 0 && !has_ended(transport->pid, LEAVES_MS)) {
		kill(transport->pid, SIGTERM);
		if (!has_ended(transport->pid, TERM_MS)) {
			kill(transport->pid, SIGKILL);
			has_ended(transport->pid, TERM_MS);
		}
	}
	transport->pid = 0;
}
