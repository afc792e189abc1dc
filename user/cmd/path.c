// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `hopcap path`: the points between two interfaces, or all interfaces as a tree.
 *
 * Owns: the command line, where facts come from, which stream gets what: the points go to the standard output, on one line, so that
 * `hopcap run $(hopcap path A B)` works; hops and what is missing go to the standard error. Leaves to others: collecting
 * (sys/collect.h), finding (discover/), showing (report/).
 */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "cmd/command.h"
#include "cmd/terminal.h"
#include "discover/path_follow.h"
#include "discover/tree.h"
#include "model/facts_json.h"
#include "model/json_document.h"
#include "model/run.h"
#include "report/path_text.h"
#include "sys/collect.h"

static struct {
	const char *facts, *sysroot;
	int tree, json, quiet;
} options;

static const struct option_row rows[] = {
	{ "tree", 't', OPTION_FLAG, NULL, "show all namespaces and what hangs together in them, instead of a path",
	  &options.tree, 0, 0 },
	{ "json", 'j', OPTION_FLAG, NULL, "print points and hops as JSON", &options.json, 0, 0 },
	{ "quiet", 'q', OPTION_FLAG, NULL, "print the points only", &options.quiet, 0, 0 },
	{ "facts", 0, OPTION_TEXT, "FILE",
	  "read saved facts (`hopcap facts --json`) instead of this machine; - is the standard input", &options.facts,
	  0, 0 },
	{ "sysroot", 0, OPTION_TEXT, "DIR", "read sysfs and procfs of another machine, captured in DIR",
	  &options.sysroot, 0, 0 },
	{ NULL, 0, OPTION_FLAG, NULL, NULL, NULL, 0, 0 },
};

static int fail(int code)
{
	fprintf(stderr, "hopcap path: %s\n", error_text());
	return error_exit_status(code);
}

static int load_facts(struct facts **facts)
{
	struct collect_request request = { .sysroot = options.sysroot };

	return options.facts ? facts_json_load(options.facts, facts) : collect_facts(&request, facts);
}

static int print_json(const struct facts_path *path)
{
	struct json_t *document = facts_path_to_json(path);
	int code = document ? json_document_print(document, stdout) : -ENOMEM;

	json_decref(document);
	return code ? error_set(ENOMEM, "no memory to print the path") : 0;
}

/* What makes `run` refuse a path that is complete. */
static void print_hints(const struct facts_path *path)
{
	int usable = 0;

	for (int i = 0; i < path->point_count; i++)
		usable += facts_path_is_usable(&path->points[i]);
	if (usable > RUN_MAX_POINTS)
		fprintf(stderr, "run takes %d points, and these are %d: leave some of the middle out\n", RUN_MAX_POINTS,
			usable);
}

static void print_points(const struct facts_path *path)
{
	int printed = 0;

	for (int i = 0; i < path->point_count; i++)
		if (facts_path_is_usable(&path->points[i]))
			printf("%s%s", printed++ ? " " : "", path->points[i].text);
	putchar('\n');
}

static void print_gaps(const struct facts *facts)
{
	int count = 0, first = -1;

	for (int i = 0; i < facts->netns_count; i++) {
		if (facts->netns[i].could_enter)
			continue;
		first = count++ ? first : i;
	}
	if (count)
		fprintf(stderr, "%d namespace%s not looked into: %s%s\n", count, count == 1 ? " was" : "s were",
			facts->netns[first].why_not, count == 1 ? "" : ", and more like it");
}

static int show_path(const struct facts *facts, char **ends)
{
	static struct facts_path path;
	int code = path_follow(facts, ends[0], ends[1], &path);

	if (code == -ENODEV && !options.quiet)
		print_gaps(facts);
	if (code)
		return fail(code);
	if (options.json) {
		code = print_json(&path);
		if (code)
			return fail(code);
	} else {
		struct report_style style = terminal_style(stderr);

		if (!options.quiet) {
			report_path(&path, stderr, &style);
			print_hints(&path);
			if (!path.is_complete)
				print_gaps(facts);
		}
		fflush(stderr);
		print_points(&path);
	}
	return path.is_complete ? EXIT_STATUS_FINE : EXIT_STATUS_FINDINGS;
}

static int show_tree(const struct facts *facts)
{
	struct report_style style = terminal_style(stdout);
	struct facts_tree tree;
	int code = tree_build(facts, &tree);

	if (!code)
		report_tree(&tree, stdout, &style);
	tree_free(&tree);
	return code ? fail(code) : EXIT_STATUS_FINE;
}

static int check_arguments(int count)
{
	if (options.facts && options.sysroot)
		return error_set(EINVAL, "--facts and --sysroot: give one of them");
	if (options.tree && count)
		return error_set(EINVAL, "--tree shows everything: it takes no points");
	if (options.tree && (options.json || options.quiet))
		return error_set(EINVAL,
				 "--tree is for reading; hopcap facts --json has everything that it is made of");
	if (!options.tree && count != 2)
		return error_set(EINVAL, "give two points, SOURCE and SINK, or --tree");
	return 0;
}

static int run_command(int count, char **ends)
{
	struct facts *facts = NULL;
	int code = check_arguments(count), status;

	if (!code)
		code = load_facts(&facts);
	if (code)
		return fail(code);
	status = options.tree ? show_tree(facts) : show_path(facts, ends);
	facts_free(facts);
	return status;
}

const struct command command_path = {
	.name = "path",
	.arguments = "SOURCE SINK | --tree",
	.summary = "find the points between two interfaces, or show how all of them hang together",
	.details =
		"SOURCE and SINK are points: INTERFACE[@ns:NAMESPACE]. Frames are followed from the one to the other as this kernel would\n"
		"send them: through veth pairs into other namespaces, by the FDB of each bridge, up and down stacks of VLAN, macvlan, VXLAN and\n"
		"bonds, to the guest behind a tap. The points are printed as run, trace and load take them: hopcap run $(hopcap path A B).\n"
		"What lies between them is told on the standard error, also where the path is cut or cannot be seen.\n"
		"Without root only one's own namespace is seen. Nothing is sent and nothing changed.\n"
		"Exit status: 0 the path is complete, 1 it is cut or a part cannot be seen, 2 usage, 3 the environment lacks something.",
	.options = rows,
	.run = run_command,
};
