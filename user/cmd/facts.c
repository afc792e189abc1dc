// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hopcap facts: what this machine, a captured tree or pasted text says about interfaces and what serves them.
 *
 * Nothing is judged (hopcap doctor does) and nothing changed.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "cmd/command.h"
#include "doctor/evidence.h"
#include "model/facts_json.h"
#include "report/facts_text.h"
#include "sys/collect.h"

#define MAX_EVIDENCE_FILES 64

static int wants_json;
static const char *sysroot;
static const char *evidence_files[MAX_EVIDENCE_FILES];
static int evidence_count;

static int add_evidence(const char *argument)
{
	if (evidence_count == MAX_EVIDENCE_FILES)
		return error_set(EINVAL, "--evidence: more than %d files", MAX_EVIDENCE_FILES);
	evidence_files[evidence_count++] = argument;
	return 0;
}

static const struct option_row options[] = {
	{ .name = "json",
	  .letter = 'j',
	  .kind = OPTION_FLAG,
	  .help = "print all facts as JSON, for saving and for doctor",
	  .target = &wants_json },
	{ .name = "sysroot",
	  .letter = 's',
	  .kind = OPTION_TEXT,
	  .argument = "DIR",
	  .help = "read sys/ and proc/ below DIR, captured on another machine, instead of this machine's",
	  .target = &sysroot },
	{ .name = "evidence",
	  .letter = 'e',
	  .kind = OPTION_CALL,
	  .argument = "FILE",
	  .help = "add what FILE says: output of VIOS or ESXi tools, its kind is recognised; may be given again",
	  .target = add_evidence },
	{ .name = NULL },
};

static int fail(int status)
{
	fprintf(stderr, "hopcap facts: %s\n", error_text());
	return status;
}

static int run_facts(int count, char **positional)
{
	struct collect_request request = { .sysroot = sysroot };
	struct facts *facts;
	int result;

	if (count > 0) {
		error_set(EINVAL, "facts takes no argument '%s'", positional[0]);
		return fail(EXIT_STATUS_USAGE);
	}
	result = collect_facts(&request, &facts);
	for (int i = 0; i < evidence_count && result == 0; i++)
		result = evidence_read(evidence_files[i], facts);
	if (result == 0)
		result = wants_json ? facts_json_save(facts, "-") : facts_text(facts, stdout);
	facts_free(facts);
	return result < 0 ? fail(error_exit_status(result)) : EXIT_STATUS_FINE;
}

const struct command command_facts = {
	.name = "facts",
	.arguments = "",
	.summary = "print what is known about interfaces and what serves them",
	.details =
		"Reads rtnetlink, ethtool, sysfs and procfs in all network namespaces of this kernel. Nothing is changed. Without\n"
		"root it reads what is open to anybody and says what was not.\n\n"
		"hopcap facts --json >machine.json saves all of it: what doctor finds on one machine can be found again on\n"
		"another. The file holds addresses, process arguments and the kernel's command line.",
	.options = options,
	.run = run_facts,
};
