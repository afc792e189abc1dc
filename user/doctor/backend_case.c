// SPDX-License-Identifier: GPL-2.0-or-later
/* Processes, their NICs and taps; see backend_case.h. */
#include "doctor/backend_case.h"

#include <stdlib.h>
#include <string.h>

int backend_is_qemu(const struct check_context *context)
{
	return context->process->is_qemu && context->process->argument_count > 0;
}

struct qemu_command *backend_command(struct check_context *context)
{
	const struct facts_process *process = context->process;
	struct qemu_command *command = NULL;
	int result = qemu_command_parse(process->argument_count, process->arguments, &command);

	if (result)
		context->error = result;
	return command;
}

static const struct facts_link *link_of(const struct facts *facts, const struct facts_tun_holder *tun)
{
	if (tun->netns >= 0)
		return facts_link_named(facts, tun->netns, tun->interface);
	for (int netns = 0; netns < facts->netns_count; netns++) {
		const struct facts_link *link = facts_link_named(facts, netns, tun->interface);

		if (link)
			return link;
	}
	return NULL;
}

/* By the name on the command line; a descriptor that was handed over has none, and only a single one can be told. */
static const struct facts_link *tap_of(const struct check_context *context, const struct qemu_command *command,
				       const struct qemu_part *backend)
{
	const struct facts_process *process = context->process;
	const char *name = qemu_value(command, backend, "ifname");

	if (strcmp(backend->type, "tap") && strcmp(backend->type, "bridge"))
		return NULL;
	if (!name && process->tun_count == 1)
		return link_of(context->facts, &process->tuns[0]);
	for (int i = 0; name && i < process->tun_count; i++)
		if (!strcmp(process->tuns[i].interface, name))
			return link_of(context->facts, &process->tuns[i]);
	return name ? facts_link_named(context->facts, 0, name) : NULL;
}

void backend_for_each_nic(struct check_context *context, backend_judge *judge)
{
	struct qemu_command *command = backend_command(context);
	struct backend_case backend = { .command = command };

	while (command && (backend.nic = qemu_next(command, backend.nic, QEMU_NIC))) {
		backend.backend = qemu_backend_of(command, backend.nic);
		backend.hub = qemu_hub_of(command, backend.nic);
		backend.tap = backend.backend ? tap_of(context, command, backend.backend) : NULL;
		judge(context, &backend);
	}
	qemu_command_free(command);
}

const char *backend_quote(const struct qemu_part *part)
{
	return check_text("\"%.300s%s\"", part->token, strlen(part->token) > 300 ? "…" : "");
}

const char *backend_remedy(const struct backend_case *backend)
{
	const char *name = backend->backend ? qemu_value(backend->command, backend->backend, "ifname") : NULL;
	const char *mac = qemu_mac(backend->command, backend->nic);

	return check_text("-netdev tap,id=net0,ifname=%.15s,script=no,downscript=no,vhost=on -device "
			  "virtio-net-pci,netdev=net0%s%.17s",
			  name		 ? name
			  : backend->tap ? backend->tap->name
					 : "TAP",
			  *mac ? ",mac=" : "", mac);
}

int backend_is_virtio_tap(const struct backend_case *backend)
{
	return backend->backend && qemu_is_virtio(backend->nic) &&
	       (!strcmp(backend->backend->type, "tap") || !strcmp(backend->backend->type, "bridge"));
}

const struct facts_process *backend_holder(const struct facts *facts, const struct facts_link *tap)
{
	for (int i = 0; i < facts->process_count; i++)
		for (int k = 0; k < facts->processes[i].tun_count; k++)
			if (!strcmp(facts->processes[i].tuns[k].interface, tap->name) &&
			    link_of(facts, &facts->processes[i].tuns[k]) == tap)
				return &facts->processes[i];
	return NULL;
}

static double uptime_s(const struct facts *facts)
{
	const struct facts_file *file = facts_file_at(facts, 0, "/proc/uptime");

	return file && !file->error ? strtod(file->text, NULL) : 0;
}

const struct facts_process *backend_earlier(const struct check_context *context, double *seconds)
{
	if (!context->earlier)
		return NULL;
	*seconds = uptime_s(context->facts) - uptime_s(context->earlier);
	if (!(*seconds > 0) || uptime_s(context->earlier) <= 0)
		return NULL;
	for (int i = 0; i < context->earlier->process_count; i++)
		if (context->earlier->processes[i].pid == context->process->pid)
			return &context->earlier->processes[i];
	return NULL;
}
