// SPDX-License-Identifier: GPL-2.0-or-later
/* The other kernels of a command; see domain_options.h. Called by cmd/run.c and cmd/load.c. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "cmd/domain_options.h"
#include "domain/transport.h"

int domain_option_push;

static struct {
	int count;
	const char *definitions[DOMAINS_MAX - 1];
} given;

int domain_option_add(const char *definition)
{
	if (given.count == DOMAINS_MAX - 1)
		return error_set(EINVAL, "at most %d domains", DOMAINS_MAX - 1);
	if (!strchr(definition, '='))
		return error_set(EINVAL, "'%s': a domain is NAME=COMMAND or NAME=unix:PATH", definition);
	given.definitions[given.count++] = definition;
	return 0;
}

static int add(struct domains *domains, const char *definition)
{
	const char *transport = strchr(definition, '=') + 1;
	char pushed[4096], command[3584];
	int code;

	if (!domain_option_push || !strncmp(transport, "unix:", 5))
		return domains_add(domains, definition);
	code = transport_push(transport, command, sizeof(command));
	if (code)
		return code;
	snprintf(pushed, sizeof(pushed), "%.*s=%s", (int)(transport - 1 - definition), definition, command);
	return domains_add(domains, pushed);
}

int domain_options_open(struct domains *domains)
{
	int code = domains_open(domains);

	if (!code && domain_option_push && !given.count)
		code = error_set(EINVAL, "--push belongs to --domain");
	for (int i = 0; !code && i < given.count; i++)
		code = add(domains, given.definitions[i]);
	return code;
}
