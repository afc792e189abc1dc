// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counts dropped test frames by the kernel's reason and the device they were on, from the tracepoint skb:kfree_skb.
 *
 * Owns: its map of counts. Leaves to others: names of reasons (user/probe/drop_trace.c). It sees socket buffers only: a frame
 * that a full veth ring refuses while it is still an XDP frame passes no tracepoint of this kind. Attached for one trial,
 * since each drop costs it about 0.1 us.
 */
#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "map_drop.h"
#include "vmlinux_subset.h"
#include "wire_test_frame.h"

#define MAC_HEADER_UNSET 0xffff
#define TEST_HEADER_OFFSET 42 /* untagged IPv4, the frames that sources make */
#define UDP_PORT_OFFSET 36

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct drop_control);
} drop_control SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, HOPCAP_DROP_KEYS);
	__type(key, struct drop_key);
	__type(value, __u64);
} drop_counts SEC(".maps");

static __always_inline int is_ours(const struct sk_buff *skb, const struct drop_control *control)
{
	__u16 mac_header = BPF_CORE_READ(skb, mac_header), port = 0, run_tag = 0;
	const unsigned char *frame;
	__u8 stream = 0;

	if (!control->run_tag || mac_header == MAC_HEADER_UNSET)
		return 0;
	frame = BPF_CORE_READ(skb, head) + mac_header;
	bpf_probe_read_kernel(&run_tag, sizeof(run_tag), frame + TEST_HEADER_OFFSET + HOPCAP_OFFSET_RUN_TAG);
	if (run_tag != bpf_htons(control->run_tag))
		return 0;
	bpf_probe_read_kernel(&port, sizeof(port), frame + UDP_PORT_OFFSET);
	bpf_probe_read_kernel(&stream, sizeof(stream), frame + TEST_HEADER_OFFSET + HOPCAP_OFFSET_STREAM);
	return port == bpf_htons(HOPCAP_UDP_PORT) && stream == control->stream;
}

/* Arguments of the tracepoint: the buffer, the call site, the reason (kernel 5.17 and newer). */
SEC("raw_tp/kfree_skb")
int count_drop(struct bpf_raw_tracepoint_args *ctx)
{
	const struct sk_buff *skb = (const struct sk_buff *)ctx->args[0];
	struct drop_key key = { .reason = (__u32)ctx->args[2] };
	struct drop_control *control;
	const struct net_device *dev;
	__u64 one = 1, *count;
	__u32 zero = 0;

	control = bpf_map_lookup_elem(&drop_control, &zero);
	if (!control || !is_ours(skb, control))
		return 0;
	dev = BPF_CORE_READ(skb, dev);
	if (dev) {
		key.ifindex = BPF_CORE_READ(dev, ifindex);
		key.netns = BPF_CORE_READ(dev, nd_net.net, ns.inum);
	}
	count = bpf_map_lookup_elem(&drop_counts, &key);
	if (count)
		__sync_fetch_and_add(count, 1);
	else if (bpf_map_update_elem(&drop_counts, &key, &one, BPF_NOEXIST)) {
		count = bpf_map_lookup_elem(&drop_counts, &key);
		if (count)
			__sync_fetch_and_add(count, 1);
	}
	return 0;
}

char _license[] SEC("license") = "GPL";
