// SPDX-License-Identifier: GPL-2.0-or-later
/* Drop reasons; see drop_trace.h. Called by domain/local.c around the trial just above capacity. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "base/error.h"
#include "drop_trace.skel.h"
#include "map_drop.h"
#include "probe/drop_trace.h"

struct drop_trace {
	struct drop_trace_bpf *program;
	uint16_t run_tag;
};

static void set_control(struct drop_trace *trace, uint16_t run_tag, uint8_t stream)
{
	struct drop_control control = { .run_tag = run_tag, .stream = stream };
	__u32 zero = 0;

	bpf_map_update_elem(bpf_map__fd(trace->program->maps.drop_control), &zero, &control, BPF_ANY);
}

struct drop_trace *drop_trace_begin(uint16_t run_tag, uint8_t stream)
{
	struct drop_trace *trace = calloc(1, sizeof(*trace));
	int code = trace ? 0 : -ENOMEM;

	if (!code) {
		trace->program = drop_trace_bpf__open_and_load();
		code = trace->program ? drop_trace_bpf__attach(trace->program) : -errno;
	}
	if (code) {
		drop_trace_cancel(trace);
		error_set(-code, "no drop reasons: cannot trace skb:kfree_skb: %s", strerror(-code));
		return NULL;
	}
	set_control(trace, run_tag, stream);
	return trace;
}

void drop_trace_cancel(struct drop_trace *trace)
{
	if (!trace)
		return;
	drop_trace_bpf__destroy(trace->program);
	free(trace);
}

/* "QDISC_DROP" for the number, as the running kernel names it. */
static void reason_name(const struct btf *btf, __u32 reason, char *name, size_t size)
{
	static const char prefix[] = "SKB_DROP_REASON_";
	int id = btf ? btf__find_by_name_kind(btf, "skb_drop_reason", BTF_KIND_ENUM) : -ENOENT;
	const struct btf_type *type = id > 0 ? btf__type_by_id(btf, (__u32)id) : NULL;

	snprintf(name, size, "reason %u", reason);
	for (int i = 0; type && i < btf_vlen(type); i++) {
		const struct btf_enum *value = &btf_enum(type)[i];
		const char *text = btf__name_by_offset(btf, value->name_off);

		if ((__u32)value->val != reason || !text)
			continue;
		if (!strncmp(text, prefix, sizeof(prefix) - 1))
			text += sizeof(prefix) - 1;
		else if (!strncmp(text, "SKB_", 4))
			text += 4;
		snprintf(name, size, "%s", text);
		return;
	}
}

int drop_trace_end(struct drop_trace *trace, struct drop_count *counts, int max)
{
	int map = bpf_map__fd(trace->program->maps.drop_counts), found = 0;
	struct btf *btf = btf__load_vmlinux_btf();
	struct drop_key key, next, *previous = NULL;

	set_control(trace, 0, 0);
	if (libbpf_get_error(btf))
		btf = NULL;
	while (found < max && !bpf_map_get_next_key(map, previous, &next)) {
		struct drop_count *drop = &counts[found];
		__u64 count;

		key = next;
		previous = &key;
		if (bpf_map_lookup_elem(map, &next, &count) || !count)
			continue;
		*drop = (struct drop_count){ .ifindex = next.ifindex, .netns_inode = next.netns, .count = count };
		reason_name(btf, next.reason, drop->reason, sizeof(drop->reason));
		found++;
	}
	btf__free(btf);
	drop_trace_cancel(trace);
	return found;
}
