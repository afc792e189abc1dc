// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hopcap plan: the other ways that this machine could offer between two points, with the commands that set them up. Nothing is
 * executed.
 */
#include <errno.h>
#include <jansson.h>

#include "base/error.h"
#include "cmd/command.h"
#include "cmd/facts_source.h"
#include "cmd/terminal.h"
#include "discover/path_follow.h"
#include "doctor/plan.h"
#include "model/json_document.h"
#include "report/plan_text.h"

static struct facts_source source;
static int wants_json;

static int add_evidence(const char *argument)
{
	return facts_source_add_evidence(&source, argument);
}

static const struct option_row rows[] = {
	{ "facts", 0, OPTION_TEXT, "FILE", "plan for saved facts (hopcap facts --json); - is the standard input",
	  &source.file, 0, 0 },
	{ "sysroot", 0, OPTION_TEXT, "DIR", "read sys/ and proc/ below DIR, captured on another machine",
	  &source.sysroot, 0, 0 },
	{ "evidence", 'e', OPTION_CALL, "FILE", "add what FILE says: output of VIOS or ESXi tools; may be given again",
	  add_evidence, 0, 0 },
	{ "json", 'j', OPTION_FLAG, NULL, "print the plan as JSON", &wants_json, 0, 0 },
	{ NULL, 0, OPTION_FLAG, NULL, NULL, NULL, 0, 0 },
};

static int fail(int code)
{
	fprintf(stderr, "hopcap plan: %s\n", error_text());
	return error_exit_status(code);
}

static int show(const struct plan *plan)
{
	struct report_style style = terminal_style(stdout);
	struct json_t *document;
	int result;

	if (!wants_json)
		return plan_text(plan, stdout, &style);
	document = plan_to_json(plan);
	result = document ? json_document_print(document, stdout) : -ENOMEM;
	json_decref(document);
	return result < 0 ? error_set(ENOMEM, "no memory to print the plan") : 0;
}

static int run_plan(int count, char **positional)
{
	static struct facts_path path;
	struct facts *facts = NULL;
	struct finding_list findings = { 0 };
	struct plan plan = { 0 };
	struct doctor_request request = { .path = &path };
	int result = count == 2 ? facts_source_check(&source)
				: error_set(EINVAL, "plan takes two points, the source and the sink of the path");

	if (result == 0)
		result = facts_source_load(&source, &facts);
	if (result == 0)
		result = path_follow(facts, positional[0], positional[1], &path);
	request.facts = facts;
	if (result == 0)
		result = doctor_examine(&request, &findings);
	if (result == 0)
		result = plan_make(&request, &findings, &plan);
	if (result == 0)
		result = show(&plan);
	plan_free(&plan);
	finding_list_free(&findings);
	facts_free(facts);
	return result < 0 ? fail(result) : EXIT_STATUS_FINE;
}

const struct command command_plan = {
	.name = "plan",
	.arguments = "SOURCE SINK",
	.summary = "list other ways to build a path, with the commands for each",
	.details =
		"From what is known of this machine: virtual functions, vhost, more queues, MTU 9000, XDP past a bridge, and\n"
		"so on; for each the commands that set it up, what is missing, and what it should change. Nothing is executed:\n"
		"set one up, and measure both with hopcap run.",
	.options = rows,
	.run = run_plan,
};
