// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hopcap doctor: what will cap this machine's paths, before a frame is sent.
 *
 * Owns: the command line, joining facts, pasted text and a path, exit status. Leaves to others: collecting (sys/collect.h), finding the
 * path (discover/), judging (doctor/), showing (report/). Nothing is changed on the system.
 */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/nearest.h"
#include "cmd/command.h"
#include "cmd/doctor_probe.h"
#include "cmd/facts_source.h"
#include "cmd/terminal.h"
#include "discover/path_follow.h"
#include "doctor/doctor.h"
#include "model/json_document.h"
#include "model/point_syntax.h"
#include "report/findings_text.h"

#define MAX_TARGETS 64

static struct facts_source source;
static struct {
	int path, probe, force_uplink, json, all, list, markdown;
	const char *earlier, *explain;
	double seconds, goal_gbps;
} options;

static int add_evidence(const char *argument)
{
	return facts_source_add_evidence(&source, argument);
}

static int set_goal(const char *argument)
{
	char *end;

	options.goal_gbps = strtod(argument, &end);
	if (end == argument || *end || !(options.goal_gbps > 0) || options.goal_gbps > 1e5)
		return error_set(EINVAL, "'%s' is no rate in Gbit/s, such as 10 or 0.5", argument);
	return 0;
}

static const struct option_row rows[] = {
	{ "path", 'p', OPTION_FLAG, NULL, "judge the path between the two POINTs", &options.path, 0, 0 },
	{ "probe", 0, OPTION_FLAG, NULL,
	  "send frames of many sizes along the path (--path, or its points in order), and see which size each hop stops",
	  &options.probe, 0, 0 },
	{ "force-uplink", 0, OPTION_FLAG, NULL,
	  "with --probe: send even on the interface of the default route or this ssh session", &options.force_uplink, 0,
	  0 },
	{ "facts", 0, OPTION_TEXT, "FILE", "judge saved facts (hopcap facts --json); - is the standard input",
	  &source.file, 0, 0 },
	{ "earlier", 0, OPTION_TEXT, "FILE", "facts of the same machine some time ago, to compare counters with",
	  &options.earlier, 0, 0 },
	{ "seconds", 's', OPTION_SECONDS, "TIME", "look twice, that long apart, and judge how counters grew",
	  &options.seconds, 0, 0 },
	{ "sysroot", 0, OPTION_TEXT, "DIR", "read sys/ and proc/ below DIR, captured on another machine",
	  &source.sysroot, 0, 0 },
	{ "evidence", 'e', OPTION_CALL, "FILE", "add what FILE says: output of VIOS or ESXi tools; may be given again",
	  add_evidence, 0, 0 },
	{ "goal", 'g', OPTION_CALL, "GBPS", "what is to be carried, in Gbit/s: limits below it fail", set_goal, 0, 0 },
	{ "all", 'a', OPTION_FLAG, NULL, "show limits and unknowns whole, too", &options.all, 0, 0 },
	{ "json", 'j', OPTION_FLAG, NULL, "print findings as JSON", &options.json, 0, 0 },
	{ "explain", 0, OPTION_TEXT, "ID", "tell what a check is about, and what to do", &options.explain, 0, 0 },
	{ "list", 0, OPTION_FLAG, NULL, "list all checks", &options.list, 0, 0 },
	{ "markdown", 0, OPTION_FLAG, NULL, "with --list: the manual's text", &options.markdown, 0, 0 },
	{ NULL, 0, OPTION_FLAG, NULL, NULL, NULL, 0, 0 },
};

static int fail(int code)
{
	fprintf(stderr, "hopcap doctor: %s\n", error_text());
	return code == -EINTR ? EXIT_STATUS_FINDINGS : error_exit_status(code);
}

/* --- texts of checks ---------------------------------------------------------------------------------------------- */

static struct check_texts texts_of(const struct check *check)
{
	return (struct check_texts){
		check->id, check->title, check->why, check->remedy, check->effect, check->reference
	};
}

static int count_checks(void)
{
	int tables, count = 0;
	const struct check_table *const *table = doctor_tables(&tables);

	for (int i = 0; i < tables; i++)
		count += table[i]->count;
	return count;
}

static int list_checks(void)
{
	int tables, count = 0, result;
	const struct check_table *const *table = doctor_tables(&tables);
	struct check_texts *texts = calloc((size_t)count_checks() + 1, sizeof(*texts));

	if (!texts)
		return error_set(ENOMEM, "no memory for the list of checks");
	for (int i = 0; i < tables; i++)
		for (int j = 0; j < table[i]->count; j++)
			texts[count++] = texts_of(&table[i]->checks[j]);
	result = options.markdown ? check_text_manual(texts, count, stdout) : check_text_list(texts, count, stdout);
	free(texts);
	return result;
}

static int unknown_check(void)
{
	int tables, count = 0;
	const struct check_table *const *table = doctor_tables(&tables);
	const char **names = calloc((size_t)count_checks() + 1, sizeof(*names)), *near;
	int result;

	for (int i = 0; names && i < tables; i++)
		for (int j = 0; j < table[i]->count; j++)
			names[count++] = table[i]->checks[j].id;
	near = names ? nearest_name(options.explain, names, count) : NULL;
	result = near ? error_set(EINVAL, "there is no check '%s'; did you mean '%s'?", options.explain, near)
		      : error_set(EINVAL, "there is no check '%s'; hopcap doctor --list names them", options.explain);
	free(names);
	return result;
}

static int explain_check(void)
{
	const struct check *check = doctor_check_find(options.explain);
	struct report_style style = terminal_style(stdout);
	struct check_texts texts;

	if (!check)
		return unknown_check();
	texts = texts_of(check);
	return check_text_explain(&texts, stdout, &style);
}

/* --- judging ------------------------------------------------------------------------------------------------------ */

static int find_target(const struct facts *facts, const char *text, struct doctor_target *target)
{
	struct point_text point;
	const struct facts_link *link;
	int result = point_parse(text, &point);

	if (result < 0)
		return result;
	target->netns = facts_netns_named(facts, point.netns);
	if (target->netns < 0)
		return error_set(ENODEV, "%s: there is no namespace %s", text, point.netns);
	link = facts_link_named(facts, target->netns, point.interface);
	if (!link)
		return error_set(ENODEV, "%s: there is no interface %s%s%s", text, point.interface,
				 point.netns[0] ? " in namespace " : "", point.netns);
	target->ifindex = link->ifindex;
	return 0;
}

static int wait_a_while(void)
{
	struct timespec left = { (time_t)options.seconds,
				 (long)((options.seconds - (double)(time_t)options.seconds) * 1e9) };

	while (nanosleep(&left, &left) < 0)
		if (errno != EINTR)
			return error_set(errno, "cannot wait: %s", strerror(errno));
	return 0;
}

static int collect(struct facts **facts, struct facts **earlier)
{
	struct facts_source before = source;
	int result;

	if (options.seconds > 0) {
		before.evidence_count = 0;
		result = facts_source_load(&before, earlier);
		if (result == 0)
			result = wait_a_while();
		if (result < 0)
			return result;
	} else if (options.earlier) {
		before = (struct facts_source){ .file = options.earlier };
		result = facts_source_load(&before, earlier);
		if (result < 0)
			return result;
	}
	return facts_source_load(&source, facts);
}

static int examine(int count, char **points, const struct facts *facts, const struct facts *earlier,
		   struct finding_list *findings)
{
	static struct facts_path path;
	static struct path_sizes sizes;
	struct doctor_target targets[MAX_TARGETS];
	struct doctor_request request = {
		.facts = facts, .earlier = earlier, .goal_gbps = options.goal_gbps, .targets = targets
	};
	int result = options.path ? path_follow(facts, points[0], points[1], &path) : 0;

	if (options.probe && result == 0) {
		result = doctor_probe(facts, &path, points, count, options.force_uplink, &sizes);
		request.sizes = &sizes;
		if (result == 0 && sizes.why_not[0])
			fprintf(stderr, "not probed: %s\n", sizes.why_not);
	}
	if (path.point_count)
		request.path = &path;
	for (int i = 0; !request.path && i < count && result == 0; i++)
		result = find_target(facts, points[i], &targets[request.target_count++]);
	return result < 0 ? result : doctor_examine(&request, findings);
}

static int print_json(const struct finding_list *findings)
{
	struct json_t *document = finding_list_to_json(findings);
	int result = document ? json_document_print(document, stdout) : -ENOMEM;

	json_decref(document);
	return result < 0 ? error_set(ENOMEM, "no memory to print the findings") : 0;
}

static int show(const struct facts *facts, const struct finding_list *findings)
{
	struct report_style style = terminal_style(stdout);
	int result = options.json ? print_json(findings) : findings_text(findings, stdout, &style, options.all);

	if (result < 0)
		return fail(result);
	if (!options.json)
		for (int i = 0; i < facts->gap_count; i++)
			fprintf(stderr, "not read: %s\n", facts->gaps[i].text);
	for (int i = 0; i < findings->count; i++)
		if (findings->findings[i].severity <= FINDING_WARN)
			return EXIT_STATUS_FINDINGS;
	return EXIT_STATUS_FINE;
}

static int check_arguments(int count)
{
	if (options.markdown && !options.list)
		return error_set(EINVAL, "--markdown goes with --list");
	if (options.path && count != 2)
		return error_set(EINVAL, "--path takes two points, its source and its sink");
	if (options.probe && count < 2)
		return error_set(EINVAL,
				 "--probe sends frames along a path: --path SOURCE SINK, or its points, source first");
	if (options.probe && (source.file || source.sysroot))
		return error_set(EINVAL,
				 "--probe sends frames on this machine: it does not go with --facts or --sysroot");
	if (options.probe && geteuid() != 0)
		return error_set(EPERM, "--probe needs root: loading BPF programs and sending raw frames take CAP_BPF, "
					"CAP_NET_ADMIN and CAP_NET_RAW");
	if (options.force_uplink && !options.probe)
		return error_set(EINVAL, "--force-uplink goes with --probe");
	if (count > MAX_TARGETS)
		return error_set(EINVAL, "more than %d points", MAX_TARGETS);
	if (options.seconds > 3600)
		return error_set(EINVAL, "--seconds: an hour is the most");
	if (options.seconds > 0 && (options.earlier || source.file || source.sysroot))
		return error_set(
			EINVAL, "--seconds looks at this machine: it does not go with --facts, --sysroot or --earlier");
	return facts_source_check(&source);
}

static int run_doctor(int count, char **positional)
{
	struct facts *facts = NULL, *earlier = NULL;
	struct finding_list findings = { 0 };
	int result = check_arguments(count), status;

	if (result < 0)
		return fail(result);
	if (options.list || options.explain) {
		result = options.list ? list_checks() : explain_check();
		return result < 0 ? fail(result) : EXIT_STATUS_FINE;
	}
	result = collect(&facts, &earlier);
	if (result == 0)
		result = examine(count, positional, facts, earlier, &findings);
	status = result < 0 ? fail(result) : show(facts, &findings);
	finding_list_free(&findings);
	facts_free(facts);
	facts_free(earlier);
	return status;
}

const struct command command_doctor = {
	.name = "doctor",
	.arguments = "[POINT…] | --path SOURCE SINK | --probe PATH…",
	.summary = "say what will cap a path, before a frame is sent",
	.details =
		"Examines the interfaces named, those of the path between two points, or all that are up: MTU, bridges,\n"
		"offloads, queues, rate limits, XDP, back ends of guests, CPUs. A finding quotes what was read, the rule,\n"
		"one command, and what should change. Nothing is changed by the doctor, and nothing sent but with --probe.\n\n"
		"Exit status 1: something fails or costs. Counters need two looks: --seconds 5 while the load runs.",
	.options = rows,
	.run = run_doctor,
};
