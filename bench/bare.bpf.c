// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The least that can be done: what the kernel itself allows, for others to be compared with.
 *
 * bare_live hands the page it is run on to an interface and does nothing else; bare_drop counts a frame and drops it; bare_redirect
 * hands each frame that comes in to another interface.
 * Loaded and attached by bare.c; used by tools/bench.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

const volatile __u32 target_ifindex;

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} dropped SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} target SEC(".maps");

SEC("xdp")
int bare_redirect(struct xdp_md *ctx __attribute__((unused)))
{
	return bpf_redirect_map(&target, 0, 0);
}

SEC("xdp")
int bare_live(struct xdp_md *ctx __attribute__((unused)))
{
	return bpf_redirect(target_ifindex, 0);
}

SEC("xdp")
int bare_drop(struct xdp_md *ctx __attribute__((unused)))
{
	__u32 zero = 0;
	__u64 *count = bpf_map_lookup_elem(&dropped, &zero);

	if (count)
		(*count)++;
	return XDP_DROP;
}

char _license[] SEC("license") = "GPL";
