// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * BPF programs at the links of one namespace, as facts: names of XDP programs, programs at tcx (Linux 6.6), which rtnetlink does
 * not list, and what XDP the drivers declare (netdev family, Linux 6.3). Called by collect_links.c.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "sys/collect_scope.h"
#include "sys/netdev_features.h"
#include "sys/program_name.h"

/* include/uapi/linux/bpf.h of kernel 6.6 */
#define COMMAND_PROG_QUERY 16
#define ATTACH_TYPE_TCX_INGRESS 46
#define ATTACH_TYPE_TCX_EGRESS 47

#define MAX_TCX_PROGRAMS 64 /* what the kernel allows at one hook (BPF_MPROG_MAX) */

/* Numbers of the programs at one hook, in their order. Returns how many, or -errno: EINVAL before 6.6. Debian 12's libbpf does not
 * know this form of the question. */
static int tcx_query(int ifindex, int ingress, uint32_t ids[MAX_TCX_PROGRAMS])
{
	struct {
		uint32_t ifindex, attach_type, flags, attach_flags;
		uint64_t program_ids;
		uint32_t count, padding;
		uint64_t program_flags, link_ids, link_flags, revision;
	} query = {
		.ifindex = (uint32_t)ifindex,
		.attach_type = ingress ? ATTACH_TYPE_TCX_INGRESS : ATTACH_TYPE_TCX_EGRESS,
		.program_ids = (uint64_t)(uintptr_t)ids,
		.count = MAX_TCX_PROGRAMS,
	};

	if (syscall(SYS_bpf, COMMAND_PROG_QUERY, &query, sizeof(query)) < 0)
		return -errno;
	return query.count > MAX_TCX_PROGRAMS ? MAX_TCX_PROGRAMS : (int)query.count;
}

static int add_tcx(struct facts_link *link, int ingress)
{
	uint32_t ids[MAX_TCX_PROGRAMS];
	int count = tcx_query(link->ifindex, ingress, ids);

	for (int i = 0; i < count; i++) {
		struct facts_filter *filter = facts_add_filter(link);

		if (!filter)
			return -ENOMEM;
		filter->ingress = ingress;
		snprintf(filter->kind, sizeof(filter->kind), "tcx");
		(void)program_name(ids[i], filter->name, sizeof(filter->name));
	}
	return count < 0 ? count : 0;
}

static void set_features(struct facts_link *link, const struct netdev_features *features)
{
	link->xdp_features = (int64_t)features->xdp;
	link->xdp_rx_metadata = (int64_t)features->receive_metadata;
	link->xsk_features = (int64_t)features->transmit;
	if (features->zero_copy_segments)
		link->xdp_zc_max_segments = (int)features->zero_copy_segments;
}

/* What a kernel does not know or the user may not ask is asked of the first link only. */
struct answers {
	int features, tcx, names;
};

static int collect_link_programs(struct facts_link *link, struct answers *answers)
{
	struct netdev_features features;

	if (link->xdp_program_id) {
		int code = program_name(link->xdp_program_id, link->xdp_program_name, sizeof(link->xdp_program_name));

		if (code == -EPERM)
			answers->names = code;
	}
	if (!answers->features) {
		int code = netdev_features_get(link->name, link->ifindex, &features);

		if (!code)
			set_features(link, &features);
		answers->features = code == -EOPNOTSUPP ? code : 0;
	}
	for (int ingress = 0; ingress <= 1 && !answers->tcx; ingress++) {
		int code = add_tcx(link, ingress);

		if (code == -ENOMEM)
			return error_set(ENOMEM, "%s: out of memory for its programs", link->name);
		answers->tcx = code == -ENODEV ? 0 : code;
	}
	return 0;
}

int collect_programs(const struct collect_scope *scope)
{
	struct answers answers = { 0 };
	char label[96];
	int code = 0;

	for (int i = 0; i < scope->link_count && !code; i++)
		code = collect_link_programs(&scope->facts->links[scope->first_link + i], &answers);
	if (code)
		return code;
	collect_scope_label(scope, label, sizeof(label));
	if (answers.tcx == -EPERM &&
	    facts_add_gap(scope->facts, "tcx programs%s: Operation not permitted (run as root)", label) < 0)
		return error_set(ENOMEM, "out of memory for a gap");
	if (answers.names == -EPERM &&
	    facts_add_gap(scope->facts, "names of XDP programs%s: Operation not permitted (run as root)", label) < 0)
		return error_set(ENOMEM, "out of memory for a gap");
	return 0;
}
