// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `hopcap accel`: frames past a bridge, or from one interface to another in its place.
 *
 * Owns: the command line, what is printed. Leaves to others: the process that stays (accel/accel_daemon.c), the fast path
 * (accel/accel.c), the user-space forwarder (accel_forward.c).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "accel/accel_daemon.h"
#include "base/error.h"
#include "base/nearest.h"
#include "cmd/accel_forward.h"
#include "cmd/accel_output.h"
#include "cmd/command.h"
#include "model/point_syntax.h"

static struct {
	const char *ports;
	int set_offloads, force_uplink, json, busy_poll, copy_only;
	double seconds;
	long cpu;
} options = { .cpu = -1 };

static const struct option_row rows[] = {
	{ "ports", 'p', OPTION_TEXT, "LIST",
	  "start: only these ports, separated by commas; each must be usable (default: all that are, also "
	  "those that join later)",
	  &options.ports, 0, 0 },
	{ "set-offloads", 0, OPTION_FLAG, NULL,
	  "start, forward: change offloads that stand in the way (checksums and tags left to the device, GRO at a "
	  "veth's other end); undone at the end",
	  &options.set_offloads, 0, 0 },
	{ "force-uplink", 0, OPTION_FLAG, NULL, "start, forward: also ports that carry the default route or this ssh session",
	  &options.force_uplink, 0, 0 },
	{ "json", 'j', OPTION_FLAG, NULL, "status: JSON, an array of bridges; forward: the result as JSON", &options.json, 0, 0 },
	{ "seconds", 't', OPTION_SECONDS, "S", "forward: how long (default: until interrupted)", &options.seconds, 0, 0 },
	{ "busy-poll", 0, OPTION_FLAG, NULL, "forward: poll the drivers instead of sleeping (takes a CPU whole)",
	  &options.busy_poll, 0, 0 },
	{ "copy", 0, OPTION_FLAG, NULL, "forward: no zero-copy, even where both drivers can", &options.copy_only, 0, 0 },
	{ "cpu", 0, OPTION_INTEGER, "N", "forward: CPU of the first worker, the next ones beside it (default: any)",
	  &options.cpu, 0, 4095 },
	{ NULL, 0, OPTION_FLAG, NULL, NULL, NULL, 0, 0 },
};

static int parse_name(const char *text, struct accel_name *name)
{
	struct point_text point;
	int code = point_parse(text, &point);

	if (code)
		return code;
	if (point.direction_given || point.hook_given)
		return error_set(EINVAL, "'%s': a bridge has no direction and no hook: BRIDGE[@ns:NAMESPACE]", text);
	memset(name, 0, sizeof(*name));
	snprintf(name->bridge, sizeof(name->bridge), "%s", point.interface);
	snprintf(name->netns, sizeof(name->netns), "%s", point.netns);
	return 0;
}

static int start(int count, char **bridges)
{
	struct accel_request request = { .ports = options.ports,
					 .set_offloads = options.set_offloads,
					 .force_uplink = options.force_uplink };
	struct accel_name name;
	json_t *status = NULL;
	pid_t pid;
	int code;

	if (count != 1)
		return error_set(EINVAL, "give the one bridge whose frames are to go past it");
	code = parse_name(bridges[0], &name);
	if (code)
		return code;
	request.bridge = name.bridge;
	request.netns = name.netns;
	pid = accel_daemon_start(&request);
	if (pid < 0)
		return pid;
	printf("%s: fast path on, held by process %d; 'hopcap accel stop %s' ends it\n", bridges[0], (int)pid,
	       bridges[0]);
	if (!accel_daemon_status(&name, &status))
		accel_print_refusals(status);
	json_decref(status);
	return 0;
}

/* One bridge's status, printed or added to the array. */
static int show(const struct accel_name *name, json_t *array)
{
	json_t *status = NULL;
	int code = accel_daemon_status(name, &status);

	if (code)
		return code;
	if (array)
		return json_array_append_new(array, status) ? error_set(ENOMEM, "out of memory") : 0;
	accel_print(status);
	json_decref(status);
	return 0;
}

static int show_all(json_t *array)
{
	struct accel_name *names;
	int count = accel_daemon_list(&names), code = count < 0 ? count : 0;

	if (!count && !array)
		printf("no bridge has a fast path\n");
	for (int i = 0; i < count && !code; i++) {
		code = show(&names[i], array);
		if (code == -ENOENT) /* it has just ended */
			code = 0;
	}
	free(names);
	return code;
}

static int status(int count, char **bridges)
{
	json_t *array = options.json ? json_array() : NULL;
	struct accel_name name;
	int code = 0;

	if (!count)
		code = show_all(array);
	for (int i = 0; i < count && !code; i++) {
		code = parse_name(bridges[i], &name);
		if (!code)
			code = show(&name, array);
	}
	if (array && !code) {
		json_dumpf(array, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(10));
		putchar('\n');
	}
	json_decref(array);
	return code;
}

static int stop(int count, char **bridges)
{
	struct accel_name name;
	int code = 0;

	if (!count)
		return error_set(EINVAL,
				 "give the bridges whose fast path is to end; 'hopcap accel status' lists them");
	for (int i = 0; i < count && !code; i++) {
		code = parse_name(bridges[i], &name);
		if (!code)
			code = accel_daemon_stop(&name);
		if (!code)
			printf("%s: fast path off\n", bridges[i]);
	}
	return code;
}

static int forward(int count, char **interfaces)
{
	const struct accel_forward_options wanted = { .seconds = options.seconds,
						      .cpu = options.cpu,
						      .set_offloads = options.set_offloads,
						      .force_uplink = options.force_uplink,
						      .busy_poll = options.busy_poll,
						      .copy_only = options.copy_only,
						      .json = options.json };

	return accel_forward(&wanted, count, interfaces);
}

static const struct {
	const char *name;
	int (*act)(int count, char **bridges);
} actions[] = { { "start", start }, { "status", status }, { "stop", stop }, { "forward", forward } };

#define ACTION_COUNT ((int)(sizeof(actions) / sizeof(actions[0])))

static int unknown_action(const char *typed)
{
	const char *names[ACTION_COUNT], *near;

	for (int i = 0; i < ACTION_COUNT; i++)
		names[i] = actions[i].name;
	near = nearest_name(typed, names, ACTION_COUNT);
	if (near)
		return error_set(EINVAL, "there is no 'accel %s'; did you mean '%s'?", typed, near);
	return error_set(EINVAL, "there is no 'accel %s': it is start, status, stop or forward", typed);
}

static int accel_command(int count, char **positional)
{
	int action = 0, code = 0;

	if (!count)
		code = error_set(EINVAL, "say what: start, status, stop or forward");
	while (!code && action < ACTION_COUNT && strcmp(actions[action].name, positional[0]))
		action++;
	if (!code && action == ACTION_COUNT)
		code = unknown_action(positional[0]);
	if (!code && geteuid() != 0)
		code = error_set(EPERM, "needs root: BPF programs take CAP_BPF and CAP_NET_ADMIN");
	if (!code)
		code = actions[action].act(count - 1, positional + 1);
	if (code)
		fprintf(stderr, "hopcap accel: %s\n", error_text());
	return error_exit_status(code);
}

const struct command command_accel = {
	.name = "accel",
	.arguments = "start BRIDGE | status [BRIDGE…] | stop BRIDGE… | forward INTERFACE INTERFACE",
	.summary = "take frames between known stations of a Linux bridge past it, by XDP redirect; or forward in user space, by AF_XDP",
	.details =
		"BRIDGE is NAME[@ns:NAMESPACE]. What the bridge has learned decides: unicast frames between stations that it\n"
		"knows go from port to port without it; all others, and all doubts, are left to it. A process stays behind\n"
		"that follows its forwarding table; when it ends, in whatever way, the bridge is alone again.\n"
		"forward moves all frames between two interfaces through AF_XDP sockets, as a bridge of two ports would, until it is\n"
		"interrupted; frames for this machine itself go on to its stack.\n"
		"Exit status: 0 fine, 2 usage, 3 refused (one line says why and what to do).",
	.options = rows,
	.run = accel_command,
};
