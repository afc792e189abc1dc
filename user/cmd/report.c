// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hopcap report: a saved run, printed again.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "cmd/command.h"
#include "cmd/terminal.h"
#include "model/model_json.h"
#include "report/report.h"

static const char *format = "text";

static const struct option_row options[] = {
	{ .name = "format",
	  .letter = 'f',
	  .kind = OPTION_TEXT,
	  .argument = "FORMAT",
	  .help = "text (default) or json",
	  .target = &format },
	{ .name = NULL },
};

static int fail(int status)
{
	fprintf(stderr, "hopcap report: %s\n", error_text());
	return status;
}

static int print_text(const struct run *run)
{
	struct report_style style = terminal_style(stdout);

	return report_text(run, stdout, &style);
}

static int print_json(const struct run *run)
{
	return run_json_save(run, "-");
}

static int run_report(int count, char **positional)
{
	int (*print)(const struct run *run) = strcmp(format, "json") == 0 ? print_json : print_text;
	struct run *run;
	int result;

	if (strcmp(format, "text") != 0 && strcmp(format, "json") != 0) {
		error_set(EINVAL, "there is no format '%s'; text and json are known", format);
		return fail(EXIT_STATUS_USAGE);
	}
	if (count != 1) {
		error_set(EINVAL, "report takes one FILE, written by hopcap run --json FILE");
		return fail(EXIT_STATUS_USAGE);
	}
	run = run_json_load(positional[0]);
	if (!run)
		return fail(error_exit_status(-errno));
	result = print(run);
	run_free(run);
	return result < 0 ? fail(error_exit_status(result)) : EXIT_STATUS_FINE;
}

const struct command command_report = {
	.name = "report",
	.arguments = "FILE",
	.summary = "print a saved run again",
	.details = "FILE was written by `hopcap run --json FILE`; - is the standard input. The text is the same, byte\n"
		   "for byte, as the run itself printed into a pipe. Needs no privileges.",
	.options = options,
	.run = run_report,
};
