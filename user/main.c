// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The command table.
 *
 * Owns: finding the command, its --help, usage errors, the last undo and the last flush of stdout. Leaves to others: what a
 * command does (cmd/). A command that changes anything calls undo_catch_signals() before it does.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/nearest.h"
#include "base/undo.h"
#include "cmd/command.h"
#include "cmd/terminal.h"
#include "sys/undo_actions.h"

static const struct command *const commands[] = {
	&command_run,  &command_send,	&command_sink,	 &command_reflect, &command_accel,   &command_report,
	&command_path, &command_doctor, &command_plan,	 &command_facts,   &command_lab,     &command_cleanup,
	&command_load, &command_stat,	&command_unload, &command_clock,   &command_compare, &command_agent,
};

#define COMMAND_COUNT ((int)(sizeof(commands) / sizeof(commands[0])))

static const struct command *find_command(const char *name)
{
	for (int i = 0; i < COMMAND_COUNT; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

static void print_overview(FILE *stream)
{
	fprintf(stream, "hopcap finds the hop that caps a network path, and proves it.\n\n"
			"Usage: hopcap COMMAND [OPTION…] [ARGUMENT…]\n\nCommands:\n");
	for (int i = 0; i < COMMAND_COUNT; i++)
		fprintf(stream, "  %-9s %s\n", commands[i]->name, commands[i]->summary);
	fprintf(stream, "  %-9s %s\n\n", "help", "print the help of a command");
	fprintf(stream,
		"hopcap COMMAND --help tells more; hopcap --version prints the version.\n"
		"Exit status: 0 fine, 1 findings or a goal missed, 2 usage, 3 the environment lacks something, 4 internal.\n");
}

static void print_command_help(const struct command *command)
{
	printf("Usage: hopcap %s [OPTION…]%s%s\n\n%s\n", command->name,
	       command->arguments && *command->arguments ? " " : "", command->arguments ? command->arguments : "",
	       command->summary);
	if (command->details)
		printf("\n%s\n", command->details);
	printf("\nOptions:\n");
	options_print_help(stdout, command->options);
}

static int unknown_command(const char *name)
{
	const char *names[COMMAND_COUNT + 1], *near;

	for (int i = 0; i < COMMAND_COUNT; i++)
		names[i] = commands[i]->name;
	names[COMMAND_COUNT] = "help";
	near = nearest_name(name, names, COMMAND_COUNT + 1);
	if (near)
		fprintf(stderr, "hopcap: unknown command '%s'; did you mean '%s'?\n", name, near);
	else
		fprintf(stderr, "hopcap: unknown command '%s'; see hopcap --help\n", name);
	return EXIT_STATUS_USAGE;
}

static int print_help_of(int argc, char **argv)
{
	const struct command *command;

	if (argc < 3) {
		print_overview(stdout);
		return EXIT_STATUS_FINE;
	}
	command = find_command(argv[2]);
	if (!command)
		return unknown_command(argv[2]);
	print_command_help(command);
	return EXIT_STATUS_FINE;
}

static int run_command(const struct command *command, int argc, char **argv)
{
	int wants_help, count = options_parse(command->options, argc - 1, argv + 1, &wants_help), status;

	if (count < 0) {
		fprintf(stderr, "hopcap %s: %s\nSee hopcap %s --help.\n", command->name, error_text(), command->name);
		return EXIT_STATUS_USAGE;
	}
	if (wants_help) {
		print_command_help(command);
		return EXIT_STATUS_FINE;
	}
	status = command->run(count, argv + 2);
	/* A command undoes its own changes; this is for those it left behind by mistake or after a failure. */
	if (undo_run_all()) {
		fprintf(stderr,
			"hopcap %s: not everything could be undone: %s\n"
			"Try again with hopcap cleanup.\n",
			command->name, error_text());
		if (status == EXIT_STATUS_FINE || status == EXIT_STATUS_FINDINGS)
			status = EXIT_STATUS_ENVIRONMENT;
	}
	return status;
}

static int dispatch(int argc, char **argv)
{
	const struct command *command;

	if (argc < 2) {
		print_overview(stderr);
		return EXIT_STATUS_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help"))
		return print_help_of(argc, argv);
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		printf("hopcap %s\n", HOPCAP_VERSION);
		return EXIT_STATUS_FINE;
	}
	if (argv[1][0] == '-') {
		fprintf(stderr, "hopcap: unknown option '%s'; options follow the command. See hopcap --help.\n",
			argv[1]);
		return EXIT_STATUS_USAGE;
	}
	command = find_command(argv[1]);
	return command ? run_command(command, argc, argv) : unknown_command(argv[1]);
}

int main(int argc, char **argv)
{
	int status, signal_number, result;

	undo_set_handlers(undo_action_handlers);
	signal_number = undo_finish(&result);
	if (signal_number) {
		if (result)
			fprintf(stderr, "hopcap: not everything could be undone: %s\nTry again with hopcap cleanup.\n",
				error_text());
		return 128 + signal_number;
	}
	signal(SIGPIPE, SIG_IGN); /* `hopcap run | head` must still undo everything */
	status = dispatch(argc, argv);
	errno = 0;
	if ((fflush(stdout) || ferror(stdout)) && (status == EXIT_STATUS_FINE || status == EXIT_STATUS_FINDINGS)) {
		if (terminal_reader_gone(stdout)) /* `hopcap … | head -1`: the reader has had enough */
			return EXIT_STATUS_FINE;
		fprintf(stderr, "hopcap: cannot write the output: %s\n", strerror(errno ? errno : EIO));
		status = EXIT_STATUS_ENVIRONMENT;
	}
	return status; /* another status: the command has said what went wrong */
}
