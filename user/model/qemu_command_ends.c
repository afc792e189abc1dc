// SPDX-License-Identifier: GPL-2.0-or-later
/* Questions about a parsed command line: values, who is joined with whom, what a back end wants. See qemu_command.h. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "model/qemu_command.h"
#include "model/qemu_command_parts.h"

const struct qemu_part *qemu_next(const struct qemu_command *command, const struct qemu_part *part,
				  enum qemu_part_kind kind)
{
	int i = part ? (int)(part - command->parts) + 1 : 0;

	for (; i < command->part_count; i++)
		if (command->parts[i].kind == kind)
			return &command->parts[i];
	return NULL;
}

/* --- values ------------------------------------------------------------------------------------------------------- */

const char *qemu_value(const struct qemu_command *command, const struct qemu_part *part, const char *name)
{
	const struct qemu_part *global = NULL;
	const char *value = qemu_own_value(part, name), *found = NULL;

	if (value || part->kind != QEMU_NIC || !part->type[0])
		return value;
	while ((global = qemu_next(command, global, QEMU_GLOBAL)))
		if (!strcmp(global->type, part->type) && qemu_own_value(global, name))
			found = qemu_own_value(global, name);
	return found;
}

int qemu_switch(const struct qemu_command *command, const struct qemu_part *part, const char *name, int otherwise)
{
	static const struct {
		const char *word;
		int is_on;
	} words[] = { { "on", 1 },  { "yes", 1 }, { "true", 1 },  { "y", 1 },
		      { "off", 0 }, { "no", 0 },  { "false", 0 }, { "n", 0 } };
	const char *value = qemu_value(command, part, name);

	for (unsigned int i = 0; value && i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(value, words[i].word))
			return words[i].is_on;
	return otherwise;
}

int64_t qemu_number(const struct qemu_command *command, const struct qemu_part *part, const char *name)
{
	const char *value = qemu_value(command, part, name);
	unsigned long long number;
	int shift = 0;
	char *end;

	if (!value || !isdigit((unsigned char)*value))
		return -1;
	number = strtoull(value, &end, 0);
	switch (*end) {
	case 'k':
	case 'K':
		shift = 10;
		break;
	case 'm':
	case 'M':
		shift = 20;
		break;
	case 'g':
	case 'G':
		shift = 30;
		break;
	case 0:
		break;
	default:
		return -1;
	}
	return number > (unsigned long long)(INT64_MAX >> shift) ? -1 : (int64_t)(number << shift);
}

/* --- who is joined with whom ---------------------------------------------------------------------------------------- */

static const struct qemu_part *backend_by_id(const struct qemu_command *command, const char *id)
{
	const struct qemu_part *part = NULL;

	while ((part = qemu_next(command, part, QEMU_BACKEND)))
		if (*id && !strcmp(part->id, id))
			return part;
	return NULL;
}

/* In the hub itself, or named by a port of the hub (`-netdev hubport,…,netdev=`). */
static int is_in_hub(const struct qemu_command *command, const struct qemu_part *backend, int hub)
{
	const struct qemu_part *port = NULL;

	if (backend->hub == hub)
		return 1;
	while ((port = qemu_next(command, port, QEMU_BACKEND))) {
		const char *behind = port->hub == hub ? qemu_own_value(port, "netdev") : NULL;

		if (behind && backend->id[0] && !strcmp(behind, backend->id))
			return 1;
	}
	return 0;
}

int qemu_hub_of(const struct qemu_command *command, const struct qemu_part *nic)
{
	const char *netdev = qemu_own_value(nic, "netdev");
	const struct qemu_part *direct = netdev ? backend_by_id(command, netdev) : NULL;

	if (direct)
		return direct->hub;
	return nic->hub;
}

const struct qemu_part *qemu_backend_of(const struct qemu_command *command, const struct qemu_part *nic)
{
	const char *netdev = qemu_own_value(nic, "netdev");
	const struct qemu_part *direct = netdev ? backend_by_id(command, netdev) : NULL, *part = NULL;
	int hub = qemu_hub_of(command, nic);

	if (hub < 0)
		return direct;
	while ((part = qemu_next(command, part, QEMU_BACKEND)))
		if (strcmp(part->type, "hubport") && is_in_hub(command, part, hub))
			return part;
	return NULL;
}

const struct qemu_part *qemu_nic_of(const struct qemu_command *command, const struct qemu_part *backend)
{
	const struct qemu_part *nic = NULL;

	while ((nic = qemu_next(command, nic, QEMU_NIC)))
		if (qemu_backend_of(command, nic) == backend)
			return nic;
	return NULL;
}

/* --- ends ----------------------------------------------------------------------------------------------------------- */

int qemu_is_virtio(const struct qemu_part *nic)
{
	return !strncmp(nic->type, "virtio", 6);
}

const char *qemu_mac(const struct qemu_command *command, const struct qemu_part *nic)
{
	const char *mac = qemu_value(command, nic, "mac");

	if (!mac)
		mac = qemu_value(command, nic, "macaddr");
	return mac ? mac : "";
}

int qemu_queue_pairs(const struct qemu_command *command, const struct qemu_part *backend)
{
	static const char *const lists[] = { "fds", "vhostfds" };
	int64_t queues = qemu_number(command, backend, "queues");

	if (queues > 0 && queues <= 1024)
		return (int)queues;
	for (unsigned int i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		const char *list = qemu_own_value(backend, lists[i]);
		int count = 1;

		if (!list || !*list)
			continue;
		for (; *list; list++)
			count += *list == ':';
		return count;
	}
	return 1;
}

int qemu_wants_vhost(const struct qemu_command *command, const struct qemu_part *backend)
{
	static const char *const signs[] = { "vhostfd", "vhostfds" };

	if (!strncmp(backend->type, "vhost-", 6))
		return 1;
	if (qemu_own_value(backend, "vhost"))
		return qemu_switch(command, backend, "vhost", 0);
	for (unsigned int i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
		if (qemu_own_value(backend, signs[i]))
			return 1;
	return qemu_switch(command, backend, "vhostforce", 0);
}
