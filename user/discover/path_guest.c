// SPDX-License-Identifier: GPL-2.0-or-later
/* What is behind a tap; see path_guest.h. */
#include "discover/path_guest.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "model/qemu_command.h"

static int read_address(const char *text, uint8_t address[6])
{
	unsigned int bytes[6];

	if (sscanf(text, "%2x:%2x:%2x:%2x:%2x:%2x", &bytes[0], &bytes[1], &bytes[2], &bytes[3], &bytes[4], &bytes[5]) !=
	    6)
		return 0;
	for (int i = 0; i < 6; i++)
		address[i] = (uint8_t)bytes[i];
	return 1;
}

/* libvirt gives a tap the guest's address with fe in front, and a macvtap the whole. */
static int is_address_of(const uint8_t guest[6], const struct facts_link *link)
{
	return !memcmp(guest, link->address, 6) ||
	       (link->address[0] == 0xfe && !memcmp(guest + 1, link->address + 1, 5));
}

static int is_macvtap(const struct facts_link *link)
{
	return !strcmp(link->kind, "macvtap") || !strcmp(link->kind, "ipvtap");
}

static const struct qemu_part *back_end_named(const struct qemu_command *command, const char *interface)
{
	const struct qemu_part *part = NULL;

	while ((part = qemu_next(command, part, QEMU_BACKEND))) {
		const char *name = qemu_value(command, part, "ifname");

		if (name && !strcmp(name, interface))
			return part;
	}
	return NULL;
}

static const struct qemu_part *nic_with_address(const struct qemu_command *command, const struct facts_link *link)
{
	const struct qemu_part *part = NULL;
	uint8_t address[6];

	while ((part = qemu_next(command, part, QEMU_NIC)))
		if (read_address(qemu_mac(command, part), address) && is_address_of(address, link))
			return part;
	return NULL;
}

/* The one back end that has a tap and does not say which; NULL when there are several. */
static const struct qemu_part *only_nameless_tap(const struct qemu_command *command)
{
	const struct qemu_part *part = NULL, *only = NULL;

	while ((part = qemu_next(command, part, QEMU_BACKEND))) {
		if ((strcmp(part->type, "tap") && strcmp(part->type, "bridge")) || qemu_value(command, part, "ifname"))
			continue;
		if (only)
			return NULL;
		only = part;
	}
	return only;
}

/* What the kernel knows of vhost decides where it is known: QEMU goes on without it when it was refused. */
static const char *name_back_end(const struct qemu_command *command, const struct facts_process *process,
				 const struct qemu_part *nic, const struct qemu_part *back_end)
{
	if (nic && qemu_hub_of(command, nic) >= 0)
		return "hub";
	if (back_end && !qemu_wants_vhost(command, back_end))
		return "user space";
	return process->vhost_net == 0 ? "user space" : "vhost";
}

/* 1 when the command line tells of the link. */
static int match_command(const struct path_graph *graph, int link, int process_index, struct path_guest *guest)
{
	const struct facts_process *process = &graph->facts->processes[process_index];
	const struct facts_link *tap = path_link(graph, link);
	const struct qemu_part *back_end = NULL, *nic;
	struct qemu_command *command;
	int code = qemu_command_parse(process->argument_count, process->arguments, &command);

	if (code)
		return code == -ENOMEM ? code : 0;
	if (!is_macvtap(tap))
		back_end = back_end_named(command, tap->name);
	nic = back_end ? qemu_nic_of(command, back_end) : nic_with_address(command, tap);
	if (!back_end && nic)
		back_end = qemu_backend_of(command, nic);
	if (!back_end && !is_macvtap(tap)) {
		back_end = only_nameless_tap(command);
		nic = back_end ? qemu_nic_of(command, back_end) : NULL;
	}
	if (back_end || nic) {
		guest->process = process_index;
		guest->is_qemu = 1;
		guest->back_end = name_back_end(command, process, nic, back_end);
		guest->queues = back_end ? qemu_queue_pairs(command, back_end) : 0;
		if (nic) {
			snprintf(guest->device, sizeof(guest->device), "%s", nic->type);
			guest->has_address = read_address(qemu_mac(command, nic), guest->address);
		}
	}
	qemu_command_free(command);
	return back_end || nic;
}

int path_guest_find(const struct path_graph *graph, int link, struct path_guest *guest)
{
	const struct facts *facts = graph->facts;
	int code = 0;

	*guest = (struct path_guest){ .process = graph->family[link] == PATH_TAP ? graph->holder[link] : PATH_NONE,
				      .back_end = "user space" };
	if (guest->process >= 0 && facts->processes[guest->process].is_qemu)
		code = match_command(graph, link, guest->process, guest);
	if (!is_macvtap(path_link(graph, link)))
		return code < 0 ? code : 0;
	for (int i = 0; i < facts->process_count && code == 0; i++)
		if (facts->processes[i].is_qemu)
			code = match_command(graph, link, i, guest);
	return code < 0 ? code : 0;
}
