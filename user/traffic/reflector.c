// SPDX-License-Identifier: GPL-2.0-or-later
/* Reflectors; see reflector.h. Called by cmd/reflect.c. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/error.h"
#include "map_reflect.h"
#include "reflect_tc.skel.h"
#include "reflect_xdp.skel.h"
#include "sys/bpf_attach.h"
#include "sys/link_state.h"
#include "sys/netns.h"
#include "sys/rtnl.h"
#include "traffic/reflector.h"
#include "traffic/reflector_xsk.h"

struct reflector {
	struct reflector_config config;
	int ifindex;
	struct reflect_xdp_bpf *xdp; /* one of these three */
	struct reflect_tc_bpf *tc;
	struct reflector_threads *threads;
	const struct bpf_map *control, *counters;
	struct bpf_attachment attachment;
	char description[160];
};

static int set_control(struct reflector *reflector)
{
	const struct reflect_control control = { .ifindex = (__u32)reflector->ifindex,
						 .run_tag = reflector->config.run_tag };
	__u32 zero = 0;

	if (bpf_map_update_elem(bpf_map__fd(reflector->control), &zero, &control, BPF_ANY))
		return error_set(errno, "%s: cannot tell the reflector what to do: %s", reflector->config.interface,
				 strerror(errno));
	return 0;
}

static int load(struct reflector *reflector, int *program_fd)
{
	if (reflector->config.kind == SINK_TC) {
		reflector->tc = reflect_tc_bpf__open_and_load();
		if (!reflector->tc)
			return -errno;
		reflector->control = reflector->tc->maps.reflect_control;
		reflector->counters = reflector->tc->maps.reflect_counters;
		*program_fd = bpf_program__fd(reflector->tc->progs.reflect_tc);
		return 0;
	}
	reflector->xdp = reflect_xdp_bpf__open_and_load();
	if (!reflector->xdp)
		return -errno;
	reflector->control = reflector->xdp->maps.reflect_control;
	reflector->counters = reflector->xdp->maps.reflect_counters;
	*program_fd = bpf_program__fd(reflector->xdp->progs.reflect_xdp);
	return 0;
}

static int attach(struct reflector *reflector)
{
	const struct reflector_config *config = &reflector->config;
	int program_fd, code = load(reflector, &program_fd);

	if (code)
		return error_set(-code, "%s: cannot load the reflector: %s; root (CAP_BPF, CAP_NET_ADMIN) is needed",
				 config->interface, strerror(-code));
	code = set_control(reflector);
	if (code)
		return code;
	if (config->kind == SINK_TC)
		code = bpf_attach_tc(program_fd, config->interface, config->netns, reflector->ifindex, 1,
				     &reflector->attachment);
	else
		code = bpf_attach_xdp(program_fd, config->interface, reflector->ifindex, config->kind == SINK_XDP,
				      &reflector->attachment);
	snprintf(reflector->description, sizeof(reflector->description), "reflects by %s",
		 config->kind == SINK_TC ? "tc" : config->kind == SINK_XDP ? "native XDP" : "generic XDP");
	return code;
}

static int open_here(struct reflector *reflector)
{
	const struct reflector_config *config = &reflector->config;
	struct rtnl_link link;
	int code;

	if (config->kind == SINK_AF_XDP_ZC || config->kind == SINK_AF_XDP_COPY)
		return reflector_threads_open(config, &reflector->threads);
	code = rtnl_link_get(config->interface, &link);
	if (code)
		return code == -ENODEV ? error_set(ENODEV, "%s: no such interface", config->interface) : code;
	reflector->ifindex = link.ifindex;
	return attach(reflector);
}

int reflector_open(const struct reflector_config *config, struct reflector **result)
{
	struct reflector *reflector = calloc(1, sizeof(*reflector));
	struct netns_token token;
	int code;

	if (!reflector)
		return error_set(ENOMEM, "%s: out of memory", config->interface);
	reflector->config = *config;
	code = netns_enter(config->netns, &token);
	if (!code) {
		code = open_here(reflector);
		netns_leave(&token);
	}
	if (code) {
		reflector_close(reflector);
		return code;
	}
	*result = reflector;
	return 0;
}

int reflector_read(struct reflector *reflector, struct reflector_counts *counts)
{
	int cpus = libbpf_num_possible_cpus();
	struct reflect_counters *each;
	__u32 zero = 0;

	memset(counts, 0, sizeof(*counts));
	if (reflector->threads)
		return reflector_threads_read(reflector->threads, counts);
	each = calloc((size_t)cpus, sizeof(*each));
	if (!each)
		return error_set(ENOMEM, "out of memory");
	if (bpf_map_lookup_elem(bpf_map__fd(reflector->counters), &zero, each)) {
		free(each);
		return error_set(errno, "%s: cannot read the reflector: %s", reflector->config.interface, strerror(errno));
	}
	for (int cpu = 0; cpu < cpus; cpu++) {
		counts->frames += each[cpu].frames;
		counts->bytes += each[cpu].bytes;
		counts->probes += each[cpu].probes;
		counts->again += each[cpu].again;
	}
	free(each);
	return link_state_check(reflector->config.interface, reflector->config.netns, reflector->ifindex);
}

const char *reflector_describe(const struct reflector *reflector)
{
	return reflector->threads ? reflector_threads_describe(reflector->threads) : reflector->description;
}

void reflector_close(struct reflector *reflector)
{
	struct netns_token token;

	if (!reflector)
		return;
	if (!netns_enter(reflector->config.netns, &token)) {
		bpf_detach(&reflector->attachment);
		reflector_threads_close(reflector->threads);
		netns_leave(&token);
	}
	reflect_xdp_bpf__destroy(reflector->xdp);
	reflect_tc_bpf__destroy(reflector->tc);
	free(reflector);
}
