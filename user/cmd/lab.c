// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hopcap lab up|down|list|status: labs that stay, to look at, to run on by hand, to try other tools in.
 *
 * Owns: the words on the command line and the tables printed. Leaves to others: labs themselves (lab/).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/if.h>

#include "base/error.h"
#include "base/nearest.h"
#include "base/undo.h"
#include "cmd/command.h"
#include "lab/lab.h"
#include "lab/scenario.h"
#include "sys/netns.h"
#include "sys/rtnl.h"

static unsigned int option_mtu;
static int option_dedicated, option_all;
static const char *option_segmentation, *option_kernel;

static const struct option_row lab_options[] = {
	{ .name = "mtu",
	  .kind = OPTION_BYTES,
	  .argument = "BYTES",
	  .help = "up: MTU of all interfaces, 1500 to 9000 (1500)",
	  .target = &option_mtu,
	  .min = LAB_MIN_MTU_BYTES,
	  .max = LAB_MAX_MTU_BYTES },
	{ .name = "dedicated",
	  .kind = OPTION_FLAG,
	  .help = "up: the same ends without the hops between them, for comparison",
	  .target = &option_dedicated },
	{ .name = "segmentation",
	  .kind = OPTION_TEXT,
	  .argument = "on|off",
	  .help = "up: segmentation offload (TSO, GSO) at all ends (on); off: no unit is larger than the MTU",
	  .target = &option_segmentation },
	{ .name = "kernel",
	  .kind = OPTION_TEXT,
	  .argument = "VERSION",
	  .help = "up: kernel of guests, as in 6.12 (" LAB_DEFAULT_KERNEL ")",
	  .target = &option_kernel },
	{ .name = "all", .kind = OPTION_FLAG, .help = "down: every lab that is up", .target = &option_all },
	{ .name = NULL },
};

static int fail(int result)
{
	fprintf(stderr, "hopcap lab: %s\n", error_text());
	return error_exit_status(result);
}

static int refuse_up_options(const char *action)
{
	if (option_mtu || option_dedicated || option_segmentation || option_kernel)
		return error_set(EINVAL,
				 "--mtu, --dedicated, --segmentation and --kernel are for 'lab up', not for 'lab %s'",
				 action);
	return 0;
}

static int refuse_all(const char *action)
{
	return option_all ? error_set(EINVAL, "--all is for 'lab down', not for 'lab %s'", action) : 0;
}

/* --- up ----------------------------------------------------------------------------------------------------------- */

static int request_from_options(struct lab_options *options)
{
	memset(options, 0, sizeof(*options));
	options->mtu_bytes = option_mtu ? option_mtu : LAB_MIN_MTU_BYTES;
	if (option_kernel && strlen(option_kernel) >= sizeof(options->kernel))
		return error_set(EINVAL, "'%s' is no kernel: say its version, as in 6.12", option_kernel);
	if (option_kernel)
		strcpy(options->kernel, option_kernel);
	options->dedicated = option_dedicated;
	if (option_segmentation && !strcmp(option_segmentation, "off"))
		options->segmentation_off = 1;
	else if (option_segmentation && strcmp(option_segmentation, "on"))
		return error_set(EINVAL, "--segmentation is on or off, not '%s'", option_segmentation);
	return 0;
}

/* The last line is what `hopcap run` takes. */
static void print_lab(const struct lab *lab)
{
	char domain[LAB_DOMAIN_BYTES];

	printf("lab %s\n", lab->id);
	if (lab->guest_count)
		printf("%s run%s on %s%s\n", lab->guest_count > 1 ? "guests" : "guest", lab->guest_count > 1 ? "" : "s",
		       lab->accelerator,
		       strcmp(lab->accelerator, "kvm") ? ", emulated: rates compare with each other only" : "");
	for (int i = 0; i < lab->point_count; i++) {
		const struct lab_point *point = &lab->points[i];

		printf("%s%s%s%s", i ? " " : "", point->guest[0] ? point->name : point->interface,
		       point->guest[0] ? "" : "@ns:", point->guest[0] ? "" : point->netns);
	}
	for (int i = 0; i < lab->guest_count; i++)
		printf(" --domain %s", lab_guest_domain(lab, i, domain));
	printf("\n");
}

static int lab_up(int count, char **words)
{
	struct lab_options options;
	struct lab lab;
	int result = refuse_all("up");

	if (!result && count != 1)
		result = error_set(EINVAL,
				   count ? "'lab up' takes one scenario: hopcap lab up %s"
					 : "which scenario? for example: hopcap lab up %s",
				   lab_scenario_name(0));
	if (!result)
		result = request_from_options(&options);
	if (!result)
		result = undo_catch_signals();
	if (!result)
		result = lab_build(words[0], &options, &lab);
	if (result < 0)
		return fail(result);
	result = lab_keep(&lab);
	if (result < 0) {
		int status = fail(result);

		undo_run_to(lab.undo_mark);
		return status;
	}
	print_lab(&lab);
	return EXIT_STATUS_FINE;
}

/* --- down --------------------------------------------------------------------------------------------------------- */

static const char *scenario_of(const char *word)
{
	if (!strcmp(word, "kvm"))
		return scenario_find(word)->name;
	for (int i = 0; lab_scenario_name(i); i++)
		if (!strcmp(word, lab_scenario_name(i)))
			return word;
	return NULL;
}

static int remove_one(const char *id)
{
	int result = lab_remove(id);

	if (!result)
		printf("lab %s removed\n", id);
	return result;
}

/* All labs, or those of a scenario. Goes on after a failure and returns the first. */
static int remove_many(const char *scenario)
{
	struct lab *labs;
	int count = lab_list(&labs), removed = 0, status = EXIT_STATUS_FINE;

	if (count < 0)
		return fail(count);
	for (int i = 0; i < count; i++) {
		int result;

		if (scenario && strcmp(labs[i].scenario, scenario))
			continue;
		removed++;
		result = remove_one(labs[i].id);
		if (result < 0)
			status = fail(result);
	}
	free(labs);
	if (!removed)
		printf("no lab%s%s is up\n", scenario ? " " : "", scenario ? scenario : "");
	return status;
}

static int lab_down(int count, char **words)
{
	int result = refuse_up_options("down");

	if (!result && (option_all ? count != 0 : count != 1))
		result = error_set(EINVAL, "'lab down' takes an id, a scenario or --all");
	if (!result && !option_all && !scenario_of(words[0]))
		result = remove_one(words[0]);
	else if (!result)
		return remove_many(option_all ? NULL : scenario_of(words[0]));
	return result < 0 ? fail(result) : EXIT_STATUS_FINE;
}

/* --- list --------------------------------------------------------------------------------------------------------- */

/* Points whose namespace somebody else has deleted. */
static int count_lost_points(const struct lab *lab)
{
	int lost = 0;

	for (int i = 0; i < lab->point_count; i++)
		lost += !netns_exists(lab->points[i].netns);
	return lost;
}

static void print_lab_line(const struct lab *lab)
{
	int lost = count_lost_points(lab);

	printf("%-6s  %-8s  %5u  %-9s  %-12s  %6d", lab->id, lab->scenario, lab->options.mtu_bytes,
	       lab->options.dedicated ? "yes" : "no", lab->options.segmentation_off ? "off" : "on", lab->point_count);
	if (lost)
		printf("  broken: %d point%s lost their namespace; remove it: hopcap lab down %s", lost,
		       lost > 1 ? "s" : "", lab->id);
	printf("\n");
}

static int lab_list_print(int count, char **words)
{
	struct lab *labs;
	int result = refuse_up_options("list");

	(void)words;
	if (!result)
		result = refuse_all("list");
	if (!result && count)
		result = error_set(EINVAL, "'lab list' takes no argument; 'hopcap lab status ID' tells about one lab");
	if (!result)
		result = lab_list(&labs);
	if (result < 0)
		return fail(result);
	if (result == 0) {
		printf("no lab is up\n");
		return EXIT_STATUS_FINE;
	}
	printf("%-6s  %-8s  %5s  %-9s  %-12s  %6s\n", "id", "scenario", "MTU", "dedicated", "segmentation", "points");
	for (int i = 0; i < result; i++)
		print_lab_line(&labs[i]);
	free(labs);
	return EXIT_STATUS_FINE;
}

/* --- status ------------------------------------------------------------------------------------------------------- */

static const char *name_of_index(const struct rtnl_link *links, int count, int ifindex)
{
	for (int i = 0; i < count; i++)
		if (links[i].ifindex == ifindex)
			return links[i].name;
	return "-";
}

static const char *state_of(const struct rtnl_link *link)
{
	if (!(link->flags & IFF_UP))
		return "down";
	if (!(link->flags & IFF_LOWER_UP))
		return "no carrier";
	return link->bridge_port_state[0] ? link->bridge_port_state : "up";
}

static int print_namespace(const char *name)
{
	struct netns_token token;
	struct rtnl_link *links = NULL;
	int count, result = netns_enter(name, &token);

	if (result < 0)
		return result;
	count = rtnl_link_list(&links);
	netns_leave(&token);
	for (int i = 0; i < count; i++) {
		const struct rtnl_link *link = &links[i];

		if (link->flags & IFF_LOOPBACK)
			continue;
		printf("  %-18s  %-9s  %-10s  %5u  %-8s  %12llu  %12llu  %10llu\n", name, link->name, state_of(link),
		       link->mtu_bytes, name_of_index(links, count, link->master_ifindex),
		       (unsigned long long)link->rx_frames, (unsigned long long)link->tx_frames,
		       (unsigned long long)(link->rx_dropped + link->tx_dropped));
	}
	free(links);
	return count < 0 ? count : 0;
}

static int print_status(const struct lab *lab)
{
	char **names;
	int count = lab_netns_list(lab->id, &names), result = 0;

	if (count < 0)
		return count;
	printf("lab %s: %s%s, MTU %u, segmentation offload %s", lab->id, lab->scenario,
	       lab->options.dedicated ? " dedicated" : "", lab->options.mtu_bytes,
	       lab->options.segmentation_off ? "off" : "on");
	if (lab->path_cpu >= 0)
		printf(", path on CPU %d", lab->path_cpu);
	printf("\n  %-18s  %-9s  %-10s  %5s  %-8s  %12s  %12s  %10s\n", "namespace", "interface", "state", "MTU",
	       "master", "rx frames", "tx frames", "dropped");
	for (int i = 0; i < count && !result; i++)
		result = print_namespace(names[i]);
	netns_list_free(names, count);
	for (int i = 0; i < lab->point_count; i++)
		if (!netns_exists(lab->points[i].netns))
			printf("  %-18s  %-9s  gone\n", lab->points[i].netns, lab->points[i].interface);
	return result;
}

static int lab_status(int count, char **words)
{
	struct lab *labs = NULL, one;
	int labs_count = 0, result = refuse_up_options("status");

	if (!result)
		result = refuse_all("status");
	if (!result && count > 1)
		result = error_set(EINVAL, "'lab status' takes one id, or none for all labs");
	if (!result && count == 1) {
		result = lab_load(words[0], &one);
		if (!result)
			result = print_status(&one);
		return result < 0 ? fail(result) : EXIT_STATUS_FINE;
	}
	if (!result)
		result = labs_count = lab_list(&labs);
	if (labs_count == 0 && !result)
		printf("no lab is up\n");
	for (int i = 0; i < labs_count && result >= 0; i++)
		result = print_status(&labs[i]);
	free(labs);
	return result < 0 ? fail(result) : EXIT_STATUS_FINE;
}

/* --- the command -------------------------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	int (*run)(int count, char **words); /* what follows the name; returns an exit status */
} actions[] = {
	{ "up", lab_up },
	{ "down", lab_down },
	{ "list", lab_list_print },
	{ "status", lab_status },
};

#define ACTION_COUNT ((int)(sizeof(actions) / sizeof(actions[0])))

static int run_lab(int count, char **positional)
{
	const char *names[ACTION_COUNT], *near;

	if (count == 0)
		return fail(error_set(EINVAL, "say up, down, list or status; 'hopcap lab --help' tells more"));
	for (int i = 0; i < ACTION_COUNT; i++) {
		if (!strcmp(positional[0], actions[i].name))
			return actions[i].run(count - 1, positional + 1);
		names[i] = actions[i].name;
	}
	near = nearest_name(positional[0], names, ACTION_COUNT);
	if (near)
		return fail(error_set(EINVAL, "there is no 'lab %s'; did you mean 'lab %s'?", positional[0], near));
	return fail(error_set(EINVAL, "there is no 'lab %s'; say up, down, list or status", positional[0]));
}

const struct command command_lab = {
	.name = "lab",
	.arguments = "up SCENARIO | down ID|SCENARIO|--all | list | status [ID]",
	.summary = "make and remove test networks of namespaces that stay until removed",
	.details = "'up' prints the lab's id and its points in the syntax that 'hopcap run' takes. 'list' tells\n"
		   "which labs are up, 'status' what their interfaces count. 'hopcap run --lab SCENARIO' makes a\n"
		   "lab of its own and removes it afterwards.\n\n" SCENARIO_HELP,
	.options = lab_options,
	.run = run_lab,
};
