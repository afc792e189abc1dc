// SPDX-License-Identifier: GPL-2.0-or-later
/* Any bytes as the command line of a QEMU that holds a tap. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/facts.h"
#include "model/qemu_command.h"
#include "targets.h"

#define MAX_ARGUMENTS 200

static void check_command(const struct qemu_command *command)
{
	const struct qemu_part *part = NULL;

	FUZZ_PROMISE(command->vcpus == -1 || command->vcpus >= 1);
	while ((part = qemu_next(command, part, QEMU_NIC))) {
		const struct qemu_part *backend = qemu_backend_of(command, part);

		FUZZ_PROMISE(part->token[0] && part->type && part->id && qemu_mac(command, part));
		FUZZ_PROMISE(!backend || (backend->kind == QEMU_BACKEND && qemu_nic_of(command, backend)));
		FUZZ_PROMISE(qemu_number(command, part, "vectors") >= -1);
	}
	while ((part = qemu_next(command, part, QEMU_BACKEND))) {
		FUZZ_PROMISE(qemu_queue_pairs(command, part) >= 1);
		FUZZ_PROMISE(qemu_wants_vhost(command, part) == 0 || qemu_wants_vhost(command, part) == 1);
	}
}

/* The link and the process that the doctor looks at. */
static int add_guest(struct facts *facts, char *const *arguments, int count)
{
	struct facts_link *link = facts_add_link(facts);
	struct facts_process *process = facts_add_process(facts);
	struct facts_tun_holder *tun = process ? facts_add_tun(process) : NULL;

	if (!link || !tun)
		return -ENOMEM;
	link->ifindex = 2;
	link->flags = 1;
	strcpy(link->name, "tap0");
	strcpy(link->kind, "tun");
	link->tun_flags = 0x1002;
	link->mtu_bytes = 1500;
	process->is_qemu = 1;
	process->pid = 4711;
	strcpy(tun->interface, "tap0");
	for (int i = 0; i < count; i++)
		if (facts_add_argument(process, arguments[i]))
			return -ENOMEM;
	return 0;
}

int fuzz_qemu(const uint8_t *data, size_t size)
{
	char *arguments[MAX_ARGUMENTS], *text = malloc(size + 1);
	struct facts *facts = facts_new();
	struct qemu_command *command = NULL;
	int count = 0, result;

	if (text && facts) {
		memcpy(text, data, size);
		text[size] = 0;
		for (size_t at = 0; at <= size && count < MAX_ARGUMENTS; at += strlen(text + at) + 1)
			arguments[count++] = text + at;
		result = qemu_command_parse(count, arguments, &command);
		FUZZ_PROMISE((result == 0 && command) || (result == -ENOMEM && !command));
		if (command)
			check_command(command);
		if (!add_guest(facts, arguments, count)) {
			facts_sort(facts);
			fuzz_examine(facts);
		}
	}
	qemu_command_free(command);
	facts_free(facts);
	free(text);
	return 0;
}
