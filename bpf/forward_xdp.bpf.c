// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Gives all frames of an interface to the AF_XDP socket of the queue that they came on, but for those that are addressed to this machine.
 *
 * Owns: that choice and its counts. Leaves to others: where frames go (user/accel/forward.c), sockets in the map. Not multi-buffer
 * aware on purpose: the forwarder moves frames of one buffer, so the kernel refuses an interface whose MTU needs more.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <bpf/bpf_helpers.h>

#include "map_forward.h"

/* First four and last two bytes of addresses; none: zeros, which no frame is sent to. */
const volatile __u32 own_head[HOPCAP_FORWARD_OWN] = { 0 };
const volatile __u16 own_tail[HOPCAP_FORWARD_OWN] = { 0 };

struct {
	__uint(type, BPF_MAP_TYPE_XSKMAP);
	__uint(max_entries, HOPCAP_FORWARD_QUEUES);
	__type(key, __u32);
	__type(value, __u32);
} forward_sockets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, FORWARD_PASSED_COUNT);
	__type(key, __u32);
	__type(value, __u64);
} forward_passed SEC(".maps");

static __always_inline int to_stack(__u32 why)
{
	__u64 *count = bpf_map_lookup_elem(&forward_passed, &why);

	if (count)
		(*count)++;
	return XDP_PASS;
}

SEC("xdp")
int forward_xdp(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data, *data_end = (void *)(long)ctx->data_end;

	if (data + ETH_HLEN > data_end)
		return XDP_PASS;
	for (int i = 0; i < HOPCAP_FORWARD_OWN; i++)
		if (*(__u32 *)data == own_head[i] && *(__u16 *)(data + 4) == own_tail[i])
			return to_stack(FORWARD_PASSED_OWN);
	if (bpf_redirect_map(&forward_sockets, ctx->rx_queue_index, XDP_PASS) == XDP_REDIRECT)
		return XDP_REDIRECT;
	return to_stack(FORWARD_PASSED_NO_SOCKET);
}

char _license[] SEC("license") = "GPL";
