// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Asking a domain; see domain.h. Called by measure/ and cmd/.
 *
 * Puts what is asked into the verbs' structs, and CPU numbers of the run into those of the kernel and back.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "domain/domain.h"

struct domain_probe {
	struct domain *domain;
	int handle;
};

static int call(struct domain *domain, enum verb verb, const void *request, void *reply)
{
	return domain->ops->call(domain, verb, request, reply);
}

static int to_own_cpu(const struct domain *domain, int cpu)
{
	return cpu < 0 ? -1 : cpu - domain->first_cpu;
}

static int to_run_cpu(const struct domain *domain, int cpu)
{
	return cpu < 0 ? -1 : cpu + domain->first_cpu;
}

/* --- the set --- */

void domain_close(struct domain *domain)
{
	if (domain)
		domain->ops->close(domain);
}

int domain_is_local(const struct domain *domain)
{
	return !strcmp(domain->name, "local");
}

int domain_is_same_kernel(const struct domain *a, const struct domain *b)
{
	return a == b || (a->boot[0] && !strcmp(a->boot, b->boot));
}

int domains_open(struct domains *domains)
{
	int code = domain_open_local(&domains->list[0]);

	domains->count = !code;
	return code;
}

static int check_name(const char *name, size_t length)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";

	if (!length || length > 31 || strspn(name, letters) < length)
		return error_set(EINVAL, "'%.*s' is no name of a domain: up to 31 letters, digits, '-', '_' and '.'",
				 (int)length, name);
	if ((length == 2 && !strncmp(name, "ns", 2)) || (length == 5 && !strncmp(name, "local", 5)))
		return error_set(EINVAL, "a domain cannot be called '%.*s'", (int)length, name);
	return 0;
}

/* Those of a kernel that is known already, or the next ones. */
static int first_cpu_of(const struct domains *domains, const struct domain *added)
{
	int next = 0;

	for (int i = 0; i < domains->count; i++) {
		const struct domain *known = domains->list[i];

		if (domain_is_same_kernel(known, added))
			return known->first_cpu;
		if (known->first_cpu + known->cpus > next)
			next = known->first_cpu + known->cpus;
	}
	return next;
}

int domains_add(struct domains *domains, const char *definition)
{
	const char *equals = strchr(definition, '=');
	struct domain *added;
	char name[RUN_NAME_BYTES];
	size_t length;
	int code;

	if (!equals)
		return error_set(EINVAL, "'%s': a domain is NAME=COMMAND or NAME=unix:PATH", definition);
	length = (size_t)(equals - definition);
	code = check_name(definition, length);
	if (code)
		return code;
	memcpy(name, definition, length);
	name[length] = 0;
	for (int i = 0; i < domains->count; i++)
		if (!strcmp(domains->list[i]->name, name))
			return error_set(EINVAL, "domain '%s' is given twice", name);
	if (domains->count == DOMAINS_MAX)
		return error_set(EINVAL, "at most %d domains", DOMAINS_MAX - 1);
	code = domain_open_remote(name, equals + 1, &domains->list[domains->count]);
	if (code)
		return code;
	added = domains->list[domains->count];
	added->first_cpu = first_cpu_of(domains, added);
	domains->count++;
	return 0;
}

struct domain *domains_find(const struct domains *domains, const char *name)
{
	for (int i = 0; i < domains->count; i++)
		if (!strcmp(domains->list[i]->name, name))
			return domains->list[i];
	error_set(EINVAL,
		  "unknown domain '%s'; say how it is reached: --domain %s='ssh root@HOST hopcap agent --stdio'", name,
		  name);
	return NULL;
}

void domains_close(struct domains *domains)
{
	while (domains->count)
		domain_close(domains->list[--domains->count]);
}

/* --- interfaces --- */

static struct verb_place place_of(const struct run_point *point)
{
	struct verb_place place = { 0 };

	memcpy(place.name, point->name, sizeof(place.name));
	memcpy(place.interface, point->interface, sizeof(place.interface));
	memcpy(place.netns, point->netns, sizeof(place.netns));
	return place;
}

int domain_link(struct domain *domain, const struct run_point *point, struct domain_link *link)
{
	const struct verb_place place = place_of(point);

	return call(domain, VERB_LINK, &place, link);
}

int domain_queues(struct domain *domain, const struct run_point *point, struct verb_queues_reply *queues)
{
	const struct verb_place place = place_of(point);
	int code = call(domain, VERB_QUEUES, &place, queues);

	return code ? code : queues->count;
}

int domain_announce(struct domain *domain, const struct run_point *point, const unsigned char own[6],
		    const unsigned char other[6])
{
	struct verb_announce request = { .place = place_of(point) };

	memcpy(request.own, own, 6);
	memcpy(request.other, other, 6);
	return call(domain, VERB_ANNOUNCE, &request, NULL);
}

/* --- hop probes --- */

int domain_probe_open(struct domain *domain, const struct run_point *point, struct domain_probe **result)
{
	struct verb_probe_open request = { .place = place_of(point), .direction = (int)point->direction };
	struct domain_probe *probe = calloc(1, sizeof(*probe));
	struct verb_handle reply;
	int code;

	if (!probe)
		return error_set(ENOMEM, "%s: out of memory", point->name);
	memcpy(request.mode, point->mode, sizeof(request.mode));
	code = call(domain, VERB_PROBE_OPEN, &request, &reply);
	if (code) {
		free(probe);
		return code;
	}
	*probe = (struct domain_probe){ domain, reply.handle };
	*result = probe;
	return 0;
}

static struct verb_handle handle_of(const struct domain_probe *probe)
{
	return (struct verb_handle){ probe->handle };
}

void domain_probe_close(struct domain_probe *probe)
{
	struct verb_handle handle;

	if (!probe)
		return;
	handle = handle_of(probe);
	call(probe->domain, VERB_PROBE_CLOSE, &handle, NULL);
	free(probe);
}

int domain_probe_attach(struct domain_probe *probe, char mode[16])
{
	const struct verb_handle handle = handle_of(probe);
	struct verb_attach_reply reply;
	int code = call(probe->domain, VERB_PROBE_ATTACH, &handle, &reply);

	if (!code && mode)
		memcpy(mode, reply.mode, sizeof(reply.mode));
	return code;
}

void domain_probe_detach(struct domain_probe *probe)
{
	const struct verb_handle handle = handle_of(probe);

	call(probe->domain, VERB_PROBE_DETACH, &handle, NULL);
}

int domain_probe_arm(struct domain_probe *probe, const struct hop_arming *arming)
{
	const struct verb_arm request = { .handle = probe->handle, .arming = *arming };

	return call(probe->domain, VERB_PROBE_ARM, &request, NULL);
}

uint64_t domain_probe_count(struct domain_probe *probe)
{
	const struct verb_handle handle = handle_of(probe);
	struct verb_frames reply;

	return call(probe->domain, VERB_PROBE_COUNT, &handle, &reply) ? 0 : reply.frames;
}

int domain_probe_read(struct domain_probe *probe, struct hop_reading *reading)
{
	const struct verb_handle handle = handle_of(probe);
	int code = call(probe->domain, VERB_PROBE_READ, &handle, reading);

	if (!code)
		reading->cpu = to_run_cpu(probe->domain, reading->cpu);
	return code;
}

/* --- the source --- */

int domain_source_open(struct domain *domain, const struct source_place *place)
{
	struct source_place request = *place;

	request.cpu = to_own_cpu(domain, place->cpu);
	return call(domain, VERB_SOURCE_OPEN, &request, NULL);
}

void domain_source_close(struct domain *domain)
{
	call(domain, VERB_SOURCE_CLOSE, NULL, NULL);
}

int domain_source_usable(struct domain *domain, enum run_port port, unsigned int frame_bytes, char *why_not)
{
	const struct verb_usable request = { .port = (int)port, .frame_bytes = frame_bytes };
	struct verb_usable_reply reply = { 0 };
	int code = call(domain, VERB_SOURCE_USABLE, &request, &reply);

	memcpy(why_not, reply.why_not, sizeof(reply.why_not));
	return code ? code : reply.usable;
}

int domain_source_set_cpu(struct domain *domain, int cpu)
{
	const struct verb_number request = { to_own_cpu(domain, cpu) };

	return call(domain, VERB_SOURCE_CPU, &request, NULL);
}

int domain_source_send(struct domain *domain, const struct source_stream *stream, void (*tick)(void *context),
		       void *context, struct port_sent *sent, double *elapsed_s)
{
	struct verb_send_reply reply;
	int code;

	memset(&reply, 0, sizeof(reply));
	code = domain->ops->send(domain, stream, tick, context, &reply);
	*sent = reply.sent;
	*elapsed_s = reply.elapsed_s;
	return code;
}

int domain_cpu(struct domain *domain, int wanted, int avoid, int *usable, int *other)
{
	const struct verb_cpu request = { to_own_cpu(domain, wanted), to_own_cpu(domain, avoid) };
	struct verb_cpu_reply reply;
	int code;

	*usable = 0;
	*other = -1;
	if (wanted >= 0 && request.wanted < 0)
		return 0; /* of another domain */
	code = call(domain, VERB_CPU, &request, &reply);
	if (code)
		return code;
	*usable = reply.usable;
	*other = to_run_cpu(domain, reply.other);
	return 0;
}

/* --- evidence --- */

int domain_watch_begin(struct domain *domain)
{
	return call(domain, VERB_WATCH_BEGIN, NULL, NULL);
}

int domain_watch_end(struct domain *domain, struct domain_machine *machine)
{
	int code = call(domain, VERB_WATCH_END, NULL, machine);

	if (code)
		return code;
	for (int i = 0; i < machine->cpu_count; i++)
		machine->cpus[i].cpu = to_run_cpu(domain, machine->cpus[i].cpu);
	for (int i = 0; i < machine->hog_count; i++)
		machine->hogs[i].cpu = to_run_cpu(domain, machine->hogs[i].cpu);
	return 0;
}

int domain_drops_begin(struct domain *domain, uint16_t run_tag, uint8_t stream)
{
	const struct verb_drops_begin request = { run_tag, stream };

	return call(domain, VERB_DROPS_BEGIN, &request, NULL);
}

int domain_drops_end(struct domain *domain, struct verb_drops_reply *drops)
{
	return call(domain, VERB_DROPS_END, NULL, drops);
}
