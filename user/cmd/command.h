/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a subcommand is: one row for the command table in main.c, option rows for parsing and help.
 */
#ifndef CMD_COMMAND_H
#define CMD_COMMAND_H

#include "base/options.h"

struct command {
	const char *name;
	const char *arguments;		  /* for the usage line: "PATH… | --lab NAME" */
	const char *summary;		  /* one line */
	const char *details;		  /* paragraphs for --help, may be NULL */
	const struct option_row *options; /* ends with name NULL */
	/* Parsed option values are in the rows' targets. positional[0…count-1]. Returns an exit status. */
	int (*run)(int count, char **positional);
};

extern const struct command command_run, command_send, command_sink, command_reflect, command_accel, command_report,
	command_path, command_doctor, command_plan, command_facts, command_lab, command_cleanup, command_agent,
	command_load, command_stat, command_unload, command_clock, command_compare;

#endif
