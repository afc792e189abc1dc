// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `hopcap agent`: does on this kernel what a `hopcap run` on another one asks for.
 *
 * Owns: the command line. Leaves to others: serving (domain/agent.c).
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/undo.h"
#include "cmd/command.h"
#include "domain/agent.h"

static struct {
	int stdio, remove_self;
} options;

static const struct option_row rows[] = {
	{ "stdio", 0, OPTION_FLAG, NULL, "talk through standard input and output: the only way there is",
	  &options.stdio, 0, 0 },
	{ "remove-self", 0, OPTION_FLAG, NULL, "remove this program's file first: it was copied here by --push",
	  &options.remove_self, 0, 0 },
	{ NULL, 0, OPTION_FLAG, NULL, NULL, NULL, 0, 0 },
};

/* A copy made by --push: /tmp/hopcap-XXXXXX/hopcap, and its directory. Nothing else is removed. */
static void remove_copy(void)
{
	char path[PATH_MAX], *slash;
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

	path[length > 0 ? length : 0] = 0;
	slash = strrchr(path, '/');
	if (strncmp(path, "/tmp/hopcap-", 12) || !slash || strcmp(slash, "/hopcap") || unlink(path))
		return;
	*slash = 0;
	rmdir(path);
}

static int run_agent(int count, char **positional)
{
	int code;

	(void)positional;
	if (count || !options.stdio) {
		fprintf(stderr,
			"hopcap agent: it is started by `hopcap run --domain NAME='... hopcap agent --stdio'`\n");
		return EXIT_STATUS_USAGE;
	}
	if (options.remove_self)
		remove_copy();
	if (geteuid() != 0) {
		fprintf(stderr,
			"hopcap agent: needs root: loading BPF programs and sending raw frames take CAP_BPF, CAP_NET_ADMIN and "
			"CAP_NET_RAW\n");
		return EXIT_STATUS_ENVIRONMENT;
	}
	code = undo_catch_signals();
	if (!code)
		code = agent_serve(STDIN_FILENO, STDOUT_FILENO);
	if (code)
		fprintf(stderr, "hopcap agent: %s\n", error_text());
	return error_exit_status(code);
}

const struct command command_agent = {
	.name = "agent",
	.arguments = "--stdio",
	.summary = "serve a run on another kernel (it starts this by itself)",
	.details =
		"It reads requests and writes answers, one JSON object a line, and undoes everything when the other side says so,\n"
		"is gone, or has been silent for 1.6 s.",
	.options = rows,
	.run = run_agent,
};
