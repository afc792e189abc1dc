// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hopcap cleanup: undoes what processes left that were killed, and removes namespaces and records that nobody owns.
 *
 * Owns: what is printed. Leaves to others: undoing (base/undo.c), telling what is left over of labs (lab/lab_stray.c).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/undo.h"
#include "cmd/command.h"
#include "domain/pinned.h"
#include "lab/lab.h"

static int option_dry_run, option_labs, option_probes;

static const struct option_row cleanup_options[] = {
	{ .name = "dry-run",
	  .letter = 'n',
	  .kind = OPTION_FLAG,
	  .help = "only tell what would be done",
	  .target = &option_dry_run },
	{ .name = "labs",
	  .kind = OPTION_FLAG,
	  .help = "also remove labs that 'hopcap lab up' made",
	  .target = &option_labs },
	{ .name = "probes",
	  .kind = OPTION_FLAG,
	  .help = "also remove probes that 'hopcap load' left",
	  .target = &option_probes },
	{ .name = NULL },
};

static int lines, first_failure;

/* One line for one thing; a failure goes to stderr with its reason. */
static void tell(int result, const char *subject, const char *argument, const char *done, const char *planned)
{
	lines++;
	if (result < 0) {
		fprintf(stderr, "hopcap cleanup: %s %s: %s\n", subject, argument, error_text());
		if (!first_failure)
			first_failure = result;
		return;
	}
	printf("%s %s: %s\n", subject, argument, option_dry_run ? planned : done);
}

static void tell_record(int pid, const char *kind, const char *argument, int result)
{
	char subject[128];

	snprintf(subject, sizeof(subject), "process %d (gone): %s", pid, kind);
	tell(result, subject, argument, "undone", "would be undone");
}

static void tell_stray(const char *what, const char *name, int result)
{
	if (!strcmp(what, "record"))
		tell(result, "record of lab", name, "removed, its namespaces are gone",
		     "would be removed, its namespaces are gone");
	else
		tell(result, what, name, "removed, it belonged to nobody", "would be removed, it belongs to nobody");
}

static int remove_labs(void)
{
	struct lab *labs;
	int count = lab_list(&labs);

	for (int i = 0; i < count; i++)
		tell(option_dry_run ? 0 : lab_remove(labs[i].id), "lab", labs[i].id, "removed", "would be removed");
	free(labs);
	return count < 0 ? count : 0;
}

/* Loaded probes whose interface is gone belong to nobody; the others stay on purpose. */
static int remove_probes(void)
{
	int count = option_probes ? pinned_unload("", "") : pinned_unload_gone();

	if (count > 0) {
		printf("loaded probes: %d removed%s\n", count, option_probes ? "" : ", their interfaces are gone");
		lines++;
	}
	return count < 0 ? count : 0;
}

/* What has no line of its own: a step that could not be done at all. */
static void tell_failure(int result)
{
	if (result >= 0)
		return;
	fprintf(stderr, "hopcap cleanup: %s\n", error_text());
	if (!first_failure)
		first_failure = result;
}

static int run_cleanup(int count, char **positional)
{
	if (count) {
		fprintf(stderr,
			"hopcap cleanup: it takes no argument, not '%s'; one lab is removed by 'hopcap lab down'\n",
			positional[0]);
		return EXIT_STATUS_USAGE;
	}
	tell_failure(undo_catch_signals());
	tell_failure(option_dry_run ? undo_list_dead(tell_record) : undo_cleanup_dead(tell_record));
	if (option_labs)
		tell_failure(remove_labs());
	if (!option_dry_run)
		tell_failure(remove_probes());
	tell_failure(lab_remove_strays(option_dry_run, tell_stray));
	if (!lines && !first_failure)
		printf("nothing to clean up\n");
	return error_exit_status(first_failure);
}

const struct command command_cleanup = {
	.name = "cleanup",
	.arguments = "",
	.summary = "undo what killed runs left behind",
	.details =
		"Every change that hopcap makes is recorded before it is made. This undoes the changes of\n"
		"processes that are gone, and removes namespaces named as those of labs that belong to no lab and\n"
		"no running process. What running processes hold is left alone.",
	.options = cleanup_options,
	.run = run_cleanup,
};
