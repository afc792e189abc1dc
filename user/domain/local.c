// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The verbs on this kernel: thin wrappers of probe/, traffic/ and sys/. Called through domain.h, by measure/ or by agent.c.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "base/error.h"
#include "domain/local.h"
#include "domain/machine_watch.h"
#include "domain/pinned.h"
#include "sys/bpf_attach.h"
#include "sys/link_settings.h"
#include "sys/netns.h"
#include "sys/uplink.h"
#include "traffic/announce.h"

struct local {
	struct domain domain;
	struct hop_probe *probes[DOMAIN_MAX_PROBES];
	struct source *source;
	struct machine_watch *watch;
	struct drop_trace *drops;
};

/* --- interfaces --- */

static void copy_link(const struct rtnl_link *from, const char *name, struct domain_link *link)
{
	struct rtnl_link master;
	int refused = uplink_guard(name, from);

	memset(link, 0, sizeof(*link));
	if (refused) {
		link->uplink = -refused;
		snprintf(link->uplink_text, sizeof(link->uplink_text), "%s", error_text());
	}
	link->ifindex = from->ifindex;
	memcpy(link->kind, from->kind, sizeof(link->kind));
	if (from->kind[0])
		snprintf(link->driver, sizeof(link->driver), "%s", from->kind);
	else
		link_driver(from->name, link->driver, sizeof(link->driver));
	memcpy(link->address, from->address, sizeof(link->address));
	link->mtu_bytes = from->mtu_bytes;
	link->flags = from->flags;
	link->master_ifindex = from->master_ifindex;
	link->peer_ifindex = from->peer_ifindex;
	link->peer_netnsid = from->peer_netnsid;
	if (from->master_ifindex && !rtnl_link_get_index(from->master_ifindex, &master))
		memcpy(link->master, master.name, sizeof(link->master));
	if (from->xdp_program_id)
		bpf_program_label(from->xdp_program_id, link->xdp, sizeof(link->xdp));
	link->rx_dropped = from->rx_dropped;
	link->tx_dropped = from->tx_dropped;
}

static int do_link(struct local *local, const void *request, void *reply)
{
	const struct verb_place *place = request;
	struct domain_link *link = reply;
	struct netns_token token;
	struct rtnl_link found;
	struct stat info;
	int code = netns_enter(place->netns, &token);

	(void)local;
	if (code)
		return code;
	code = rtnl_link_get(place->interface, &found);
	if (!code) {
		copy_link(&found, place->name, link);
		link->netns_inode = stat("/proc/thread-self/ns/net", &info) ? 0 : (unsigned int)info.st_ino;
	}
	netns_leave(&token);
	return code;
}

static int do_queues(struct local *local, const void *request, void *reply)
{
	const struct verb_place *place = request;
	struct verb_queues_reply *queues = reply;
	struct netns_token token;
	struct rtnl_link link;
	int code = netns_enter(place->netns, &token);

	(void)local;
	queues->count = 0;
	if (code)
		return code;
	code = rtnl_link_get(place->interface, &link);
	if (!code)
		code = rtnl_qdisc_list(link.ifindex, queues->list, DOMAIN_MAX_QUEUES);
	netns_leave(&token);
	if (code < 0)
		return code;
	queues->count = code;
	return 0;
}

static int do_cpu(struct local *local, const void *request, void *reply)
{
	const struct verb_cpu *cpu = request;

	(void)local;
	*(struct verb_cpu_reply *)reply = (struct verb_cpu_reply){ .usable = source_cpu_usable(cpu->wanted),
								   .other = source_other_cpu(cpu->avoid) };
	return 0;
}

static int do_announce(struct local *local, const void *request, void *reply)
{
	const struct verb_announce *wanted = request;
	struct domain_link link;
	int code = do_link(local, &wanted->place, &link);

	(void)reply;
	return code ? code
		    : announce(wanted->place.interface, wanted->place.netns, link.ifindex, wanted->own, wanted->other);
}

/* --- hop probes --- */

static int do_probe_open(struct local *local, const void *request, void *reply)
{
	const struct verb_probe_open *wanted = request;
	struct run_point point = { .direction = (enum run_direction)wanted->direction };
	int handle = 0, code;

	while (handle < DOMAIN_MAX_PROBES && local->probes[handle])
		handle++;
	if (handle == DOMAIN_MAX_PROBES)
		return error_set(ENOSPC, "%s: more than %d probes", wanted->place.name, DOMAIN_MAX_PROBES);
	memcpy(point.name, wanted->place.name, sizeof(point.name));
	memcpy(point.interface, wanted->place.interface, sizeof(point.interface));
	memcpy(point.netns, wanted->place.netns, sizeof(point.netns));
	memcpy(point.mode, wanted->mode, sizeof(point.mode));
	code = hop_probe_open(&point, &local->probes[handle]);
	((struct verb_handle *)reply)->handle = handle;
	return code;
}

/* NULL with error text when nothing is open under the handle that every request about probes begins with. */
static struct hop_probe *probe_of(struct local *local, const void *request)
{
	int handle = ((const struct verb_handle *)request)->handle;
	struct hop_probe *probe = handle >= 0 && handle < DOMAIN_MAX_PROBES ? local->probes[handle] : NULL;

	if (!probe)
		error_set(EBADF, "there is no probe %d", handle);
	return probe;
}

static int do_probe_attach(struct local *local, const void *request, void *reply)
{
	struct hop_probe *probe = probe_of(local, request);
	struct verb_attach_reply *attached = reply;
	const char *mode = "";
	int code = probe ? hop_probe_attach(probe, &mode) : -EBADF;

	snprintf(attached->mode, sizeof(attached->mode), "%s", mode);
	return code;
}

static int do_probe_detach(struct local *local, const void *request, void *reply)
{
	struct hop_probe *probe = probe_of(local, request);

	(void)reply;
	if (!probe)
		return -EBADF;
	hop_probe_detach(probe);
	return 0;
}

static int do_probe_arm(struct local *local, const void *request, void *reply)
{
	struct hop_probe *probe = probe_of(local, request);

	(void)reply;
	return probe ? hop_probe_arm_as(probe, &((const struct verb_arm *)request)->arming) : -EBADF;
}

static int do_probe_count(struct local *local, const void *request, void *reply)
{
	struct hop_probe *probe = probe_of(local, request);

	if (!probe)
		return -EBADF;
	((struct verb_frames *)reply)->frames = hop_probe_count(probe);
	return 0;
}

static int do_probe_read(struct local *local, const void *request, void *reply)
{
	struct hop_probe *probe = probe_of(local, request);

	return probe ? hop_probe_read(probe, reply) : -EBADF;
}

static int do_probe_close(struct local *local, const void *request, void *reply)
{
	struct hop_probe *probe = probe_of(local, request);

	(void)reply;
	if (!probe)
		return -EBADF;
	hop_probe_close(probe);
	local->probes[((const struct verb_handle *)request)->handle] = NULL;
	return 0;
}

/* --- the source --- */

static int no_source(void)
{
	return error_set(EBADF, "there is no source");
}

static int do_source_open(struct local *local, const void *request, void *reply)
{
	(void)reply;
	if (local->source)
		return error_set(EBUSY, "there is a source already");
	return source_open(request, &local->source);
}

static int do_source_usable(struct local *local, const void *request, void *reply)
{
	const struct verb_usable *wanted = request;
	struct verb_usable_reply *answer = reply;
	const char *why_not = "";

	if (!local->source)
		return no_source();
	answer->usable = source_port_usable(local->source, (enum run_port)wanted->port, wanted->frame_bytes, &why_not);
	snprintf(answer->why_not, sizeof(answer->why_not), "%s", why_not);
	return 0;
}

static int do_source_cpu(struct local *local, const void *request, void *reply)
{
	(void)reply;
	if (!local->source)
		return no_source();
	source_set_cpu(local->source, ((const struct verb_number *)request)->number);
	return 0;
}

static int do_source_stop(struct local *local, const void *request, void *reply)
{
	(void)request;
	(void)reply;
	if (!local->source)
		return no_source();
	source_stop(local->source);
	return 0;
}

static int do_source_close(struct local *local, const void *request, void *reply)
{
	(void)request;
	(void)reply;
	source_close(local->source);
	local->source = NULL;
	return 0;
}

static int send_stream(struct domain *domain, const struct source_stream *stream, void (*tick)(void *context),
		       void *context, struct verb_send_reply *reply)
{
	struct local *local = (struct local *)domain;

	if (!local->source)
		return no_source();
	return source_send(local->source, stream, tick, context, &reply->sent, &reply->elapsed_s);
}

/* --- evidence --- */

static int do_watch_begin(struct local *local, const void *request, void *reply)
{
	(void)request;
	(void)reply;
	machine_watch_cancel(local->watch);
	local->watch = machine_watch_begin();
	return local->watch ? 0 : -EIO; /* with its text */
}

static int do_watch_end(struct local *local, const void *request, void *reply)
{
	(void)request;
	if (!local->watch)
		return error_set(EBADF, "nothing is watched");
	machine_watch_end(local->watch, reply);
	local->watch = NULL;
	return 0;
}

static int do_drops_begin(struct local *local, const void *request, void *reply)
{
	const struct verb_drops_begin *wanted = request;

	(void)reply;
	drop_trace_cancel(local->drops);
	local->drops = drop_trace_begin(wanted->run_tag, wanted->stream);
	return local->drops ? 0 : -EOPNOTSUPP; /* with its text */
}

static int do_drops_end(struct local *local, const void *request, void *reply)
{
	struct verb_drops_reply *drops = reply;

	(void)request;
	if (!local->drops)
		return error_set(EBADF, "no drops are traced");
	drops->count = drop_trace_end(local->drops, drops->list, DOMAIN_MAX_DROPS);
	local->drops = NULL;
	return 0;
}

/* --- probes that stay --- */

static int do_load(struct local *local, const void *request, void *reply)
{
	(void)local;
	(void)reply;
	return pinned_load(request);
}

static int do_stat(struct local *local, const void *request, void *reply)
{
	(void)local;
	(void)request;
	return pinned_stat(reply);
}

static int do_unload(struct local *local, const void *request, void *reply)
{
	const struct verb_unload *wanted = request;
	int count = pinned_unload(wanted->interface, wanted->netns);

	(void)local;
	if (count < 0)
		return count;
	((struct verb_number *)reply)->number = count;
	return 0;
}

/* --- the table --- */

static int do_restore(struct local *local, const void *request, void *reply)
{
	(void)request;
	(void)reply;
	domain_local_restore(&local->domain);
	return 0;
}

/* What has no row is the business of whoever asks: greeting, clocks and sending. */
static int (*const table[VERB_COUNT])(struct local *local, const void *request, void *reply) = {
	[VERB_LINK] = do_link,
	[VERB_QUEUES] = do_queues,
	[VERB_CPU] = do_cpu,
	[VERB_ANNOUNCE] = do_announce,
	[VERB_PROBE_OPEN] = do_probe_open,
	[VERB_PROBE_ATTACH] = do_probe_attach,
	[VERB_PROBE_DETACH] = do_probe_detach,
	[VERB_PROBE_ARM] = do_probe_arm,
	[VERB_PROBE_COUNT] = do_probe_count,
	[VERB_PROBE_READ] = do_probe_read,
	[VERB_PROBE_CLOSE] = do_probe_close,
	[VERB_SOURCE_OPEN] = do_source_open,
	[VERB_SOURCE_USABLE] = do_source_usable,
	[VERB_SOURCE_CPU] = do_source_cpu,
	[VERB_SOURCE_STOP] = do_source_stop,
	[VERB_SOURCE_CLOSE] = do_source_close,
	[VERB_WATCH_BEGIN] = do_watch_begin,
	[VERB_WATCH_END] = do_watch_end,
	[VERB_DROPS_BEGIN] = do_drops_begin,
	[VERB_DROPS_END] = do_drops_end,
	[VERB_LOAD] = do_load,
	[VERB_STAT] = do_stat,
	[VERB_UNLOAD] = do_unload,
	[VERB_RESTORE] = do_restore,
};

static int call(struct domain *domain, enum verb verb, const void *request, void *reply)
{
	if (!table[verb])
		return error_set(EOPNOTSUPP, "this kernel is not asked to '%s'", verb_forms[verb].name);
	return table[verb]((struct local *)domain, request, reply);
}

struct source *domain_local_source(struct domain *domain)
{
	return ((struct local *)domain)->source;
}

void domain_local_restore(struct domain *domain)
{
	struct local *local = (struct local *)domain;

	source_close(local->source);
	local->source = NULL;
	for (int i = 0; i < DOMAIN_MAX_PROBES; i++) {
		hop_probe_close(local->probes[i]);
		local->probes[i] = NULL;
	}
	machine_watch_cancel(local->watch);
	drop_trace_cancel(local->drops);
	local->watch = NULL;
	local->drops = NULL;
}

static void close_local(struct domain *domain)
{
	domain_local_restore(domain);
	free(domain);
}

static void read_boot(char boot[40])
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

	boot[0] = 0;
	if (!file)
		return;
	if (!fgets(boot, 40, file))
		boot[0] = 0;
	boot[strcspn(boot, "\n")] = 0;
	fclose(file);
}

int domain_open_local(struct domain **domain)
{
	static const struct domain_ops ops = { call, send_stream, close_local };
	struct local *local = calloc(1, sizeof(*local));
	struct utsname name;

	if (!local)
		return error_set(ENOMEM, "out of memory");
	local->domain.ops = &ops;
	strcpy(local->domain.name, "local");
	local->domain.cpus = libbpf_num_possible_cpus();
	if (local->domain.cpus < 1)
		local->domain.cpus = 1;
	read_boot(local->domain.boot);
	if (!uname(&name)) {
		snprintf(local->domain.kernel, sizeof(local->domain.kernel), "%.79s", name.release);
		snprintf(local->domain.machine, sizeof(local->domain.machine), "%.40s, %ld CPUs", name.machine,
			 sysconf(_SC_NPROCESSORS_ONLN));
	}
	*domain = &local->domain;
	return 0;
}
