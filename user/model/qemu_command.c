// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The options of a QEMU command line that matter to a network path, and how NICs and back ends are joined. See qemu_command.h;
 * splitting one argument is qemu_command_parts.c's. Options are a table, one row each.
 */
#include "model/qemu_command.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/qemu_command_parts.h"

#define MAX_PARTS 4096

/* --- options ------------------------------------------------------------------------------------------------------ */

/* What the guest gets when nothing is said: x86 machines have an emulated Intel NIC, others mostly virtio. */
static const char *default_nic(const struct qemu_command *command)
{
	const char *slash = strrchr(command->program, '/'), *name = slash ? slash + 1 : command->program;

	return strstr(name, "x86_64") || strstr(name, "i386") || !strcmp(name, "kvm") || !strcmp(name, "qemu-kvm")
		       ? "e1000"
		       : "";
}

static struct qemu_part *split_new(struct qemu_command *command, enum qemu_part_kind kind, const char *option,
				   const char *argument, const char *implied, int *result)
{
	struct qemu_part *part = qemu_add_part(command, kind, option, argument);

	*result = part ? qemu_split(part, argument, implied) : -ENOMEM;
	if (*result && part) {
		qemu_free_part(part);
		command->part_count--;
	}
	return *result ? NULL : part;
}

static int hub_number(const struct qemu_command *command, const struct qemu_part *part, const char *name)
{
	int64_t hub = qemu_number(command, part, name);

	return hub >= 0 && hub <= 0xffff ? (int)hub : 0;
}

static int take_netdev(struct qemu_command *command, const char *option, const char *argument)
{
	int result;
	struct qemu_part *part = split_new(command, QEMU_BACKEND, option, argument, "type", &result);

	if (part && !strcmp(part->type, "hubport"))
		part->hub = hub_number(command, part, "hubid");
	return result;
}

/* model= of a NIC in the old forms. */
static int set_model(struct qemu_command *command, struct qemu_part *part)
{
	const char *model = qemu_own_value(part, "model");

	return qemu_set_text(&part->type, model ? model : default_nic(command));
}

static int take_net(struct qemu_command *command, const char *option, const char *argument)
{
	int result, is_nic;
	struct qemu_part *part = split_new(command, QEMU_BACKEND, option, argument, "type", &result);

	if (!part)
		return result;
	is_nic = !strcmp(part->type, "nic");
	if (!strcmp(part->type, "none")) {
		qemu_free_part(part);
		command->part_count--;
		return 0;
	}
	part->is_legacy = 1;
	part->hub = hub_number(command, part, "vlan");
	if (!is_nic)
		return 0;
	part->kind = QEMU_NIC;
	if (qemu_own_value(part, "netdev"))
		part->hub = -1;
	return set_model(command, part);
}

/* -nic is both ends at once; they know each other by an id that nobody else can have. */
static int take_nic(struct qemu_command *command, const char *option, const char *argument)
{
	char joint[32];
	int result;
	struct qemu_part *backend = split_new(command, QEMU_BACKEND, option, argument, "type", &result), *nic;

	if (!backend)
		return result;
	if (!strcmp(backend->type, "none")) {
		qemu_free_part(backend);
		command->part_count--;
		return 0;
	}
	if (!backend->id[0]) {
		snprintf(joint, sizeof(joint), "#nic%d", command->part_count);
		if (qemu_set_text(&backend->id, joint))
			return -ENOMEM;
	}
	nic = split_new(command, QEMU_NIC, option, argument, "type", &result);
	if (!nic)
		return result;
	backend = nic - 1; /* the array may have moved */
	result = qemu_add_setting(nic, "netdev", backend->id);
	return result ? result : set_model(command, nic);
}

static int is_nic_driver(const struct qemu_part *part)
{
	static const char *const drivers[] = { "virtio-net", "e1000", "rtl8139", "vmxnet3", "ne2k_",	 "pcnet",
					       "i82",	     "tulip", "usb-net", "igb",	    "spapr-vlan" };

	for (unsigned int i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++)
		if (!strncmp(part->type, drivers[i], strlen(drivers[i])))
			return 1;
	return qemu_own_value(part, "netdev") != NULL;
}

static int take_device(struct qemu_command *command, const char *option, const char *argument)
{
	int result;
	struct qemu_part *part = split_new(command, QEMU_NIC, option, argument, "driver", &result);

	if (!part)
		return result;
	if (!strncmp(part->type, "vfio-", 5)) {
		part->kind = QEMU_PASSTHROUGH;
	} else if (!is_nic_driver(part)) {
		qemu_free_part(part);
		command->part_count--;
	}
	return 0;
}

static int take_chardev(struct qemu_command *command, const char *option, const char *argument)
{
	int result;

	split_new(command, QEMU_CHARDEV, option, argument, "backend", &result);
	return result;
}

static int take_object(struct qemu_command *command, const char *option, const char *argument)
{
	int result;
	struct qemu_part *part = split_new(command, QEMU_MEMORY, option, argument, "qom-type", &result);

	if (part && strncmp(part->type, "memory-backend-", 15)) {
		qemu_free_part(part);
		command->part_count--;
	}
	return result;
}

static int take_memory_path(struct qemu_command *command, const char *option, const char *argument)
{
	struct qemu_part *part = qemu_add_part(command, QEMU_MEMORY, option, argument);
	int result = part ? qemu_set_text(&part->type, "mem-path") : -ENOMEM;

	return result ? result : qemu_add_setting(part, "mem-path", argument);
}

/* "kvm:tcg" tries one after the other: the first counts. */
static int add_accelerator(struct qemu_command *command, const char *option, const char *argument, const char *name)
{
	struct qemu_part *part = qemu_add_part(command, QEMU_ACCELERATOR, option, argument);
	char first[32];

	snprintf(first, sizeof(first), "%.*s", (int)strcspn(name, ":,"), name);
	return part ? qemu_set_text(&part->type, first) : -ENOMEM;
}

static int take_machine(struct qemu_command *command, const char *option, const char *argument)
{
	int result;
	struct qemu_part *part = split_new(command, QEMU_MACHINE, option, argument, "type", &result);
	char *accelerator;

	if (!part || !qemu_own_value(part, "accel"))
		return result;
	accelerator = strdup(qemu_own_value(part, "accel"));
	result = accelerator ? add_accelerator(command, option, argument, accelerator) : -ENOMEM;
	free(accelerator);
	return result;
}

static int take_accelerator(struct qemu_command *command, const char *option, const char *argument)
{
	int result;
	struct qemu_part *part = split_new(command, QEMU_ACCELERATOR, option, argument, "accel", &result);

	return part ? qemu_set_text(&part->type, qemu_own_value(part, "accel")) : result;
}

static int take_enable_kvm(struct qemu_command *command, const char *option, const char *argument)
{
	return add_accelerator(command, option, argument, "kvm");
}

/* "driver.property=value", or driver=,property=,value= */
static int take_global(struct qemu_command *command, const char *option, const char *argument)
{
	struct qemu_part *part = qemu_add_part(command, QEMU_GLOBAL, option, argument);
	const char *equals = strchr(argument, '='),
		   *dot = equals ? memchr(argument, '.', (size_t)(equals - argument)) : NULL;
	char name[64];
	int result;

	if (!part)
		return -ENOMEM;
	if (dot) {
		snprintf(name, sizeof(name), "%.*s", (int)(dot - argument), argument);
		result = qemu_set_text(&part->type, name);
		snprintf(name, sizeof(name), "%.*s", (int)(equals - dot - 1), dot + 1);
		return result ? result : qemu_add_setting(part, name, equals + 1);
	}
	result = qemu_split(part, argument, "driver");
	if (!result && qemu_own_value(part, "property"))
		result = qemu_add_setting(part, qemu_own_value(part, "property"), qemu_own_value(part, "value"));
	return result;
}

static int take_smp(struct qemu_command *command, const char *option, const char *argument)
{
	int result;
	struct qemu_part *part = split_new(command, QEMU_SMP, option, argument, "cpus", &result);
	int64_t cpus;

	if (!part)
		return result;
	cpus = qemu_number(command, part, "cpus");
	if (cpus < 0) { /* only the topology */
		static const char *const levels[] = { "sockets", "dies", "clusters", "cores", "threads" };

		cpus = 1;
		for (unsigned int i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
			int64_t count = qemu_number(command, part, levels[i]);

			cpus *= count > 0 && count < 4096 ? count : 1;
			cpus = cpus < 65536 ? cpus : 65536;
		}
	}
	command->vcpus = cpus > 0 && cpus <= 65536 ? (int)cpus : -1;
	return 0;
}

static const struct {
	const char *name;
	int has_argument;
	int (*take)(struct qemu_command *command, const char *option, const char *argument);
} options[] = {
	{ "netdev", 1, take_netdev },	      { "net", 1, take_net },	      { "nic", 1, take_nic },
	{ "device", 1, take_device },	      { "chardev", 1, take_chardev }, { "object", 1, take_object },
	{ "machine", 1, take_machine },	      { "M", 1, take_machine },	      { "accel", 1, take_accelerator },
	{ "global", 1, take_global },	      { "smp", 1, take_smp },	      { "mem-path", 1, take_memory_path },
	{ "enable-kvm", 0, take_enable_kvm },
};

static void complain(struct qemu_command *command, const char *option, const char *argument, const char *why)
{
	if (!command->problem[0])
		snprintf(command->problem, sizeof(command->problem), "%s %.100s: %s", option, argument, why);
}

static int take_option(struct qemu_command *command, int count, char *const *arguments, int *i)
{
	const char *option = arguments[*i], *name = option + 1 + (option[1] == '-'), *argument;
	int result;

	for (unsigned int k = 0; k < sizeof(options) / sizeof(options[0]); k++) {
		if (strcmp(options[k].name, name))
			continue;
		if (options[k].has_argument && *i + 1 >= count) {
			complain(command, option, "", "its argument is missing");
			return 0;
		}
		if (command->part_count >= MAX_PARTS) {
			complain(command, option, "", "too many options");
			return 0;
		}
		argument = options[k].has_argument ? arguments[++*i] : "";
		result = options[k].take(command, option, argument);
		if (result == -EINVAL) {
			complain(command, option, argument, "not understood");
			result = 0;
		}
		return result;
	}
	return 0;
}

/* The last accelerator given counts; without one it is TCG, but programs called kvm bring their own default. */
static void decide_kvm(struct qemu_command *command)
{
	const struct qemu_part *part = NULL, *last = NULL;
	const char *slash = strrchr(command->program, '/'), *name = slash ? slash + 1 : command->program;

	while ((part = qemu_next(command, part, QEMU_ACCELERATOR)))
		last = part;
	command->is_kvm = last ? !strcmp(last->type, "kvm") : !strcmp(name, "kvm") || !strcmp(name, "qemu-kvm");
}

int qemu_command_parse(int count, char *const *arguments, struct qemu_command **command)
{
	struct qemu_command *parsed;
	int result = 0;

	*command = NULL;
	if (count <= 0)
		return error_set(EINVAL, "a QEMU command line is empty");
	parsed = calloc(1, sizeof(*parsed));
	if (!parsed)
		return -ENOMEM;
	parsed->vcpus = 1;
	parsed->program = strdup(arguments[0]);
	if (!parsed->program)
		result = -ENOMEM;
	for (int i = 1; i < count && !result; i++)
		if (arguments[i][0] == '-' && arguments[i][1])
			result = take_option(parsed, count, arguments, &i);
	if (result) {
		qemu_command_free(parsed);
		return result;
	}
	decide_kvm(parsed);
	*command = parsed;
	return 0;
}

void qemu_command_free(struct qemu_command *command)
{
	if (!command)
		return;
	for (int i = 0; i < command->part_count; i++)
		qemu_free_part(&command->parts[i]);
	free(command->parts);
	free(command->program);
	free(command);
}
