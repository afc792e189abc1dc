// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Steers test frames to the AF_XDP socket of the queue that they came on; all other frames go on to the stack.
 *
 * Owns: the choice, and the count of test frames on queues without a socket. A socket hears one queue only, so with RSS
 * over more queues than sockets some frames come where nobody listens: they are not lost in silence. Leaves to others:
 * who puts sockets into the map (user/port/xsk_steer.c). Test frames of any run are steered; the reader knows its own
 * tag.
 *
 * Multi-buffer aware, so that a jumbo MTU does not refuse it; the test header lies in the first buffer.
 * bpf_redirect_map() looks the socket up and answers with its flags when there is none, which saves a look-up of our
 * own.
 */
#include "map_steer.h"
#include "parse.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_XSKMAP);
	__uint(max_entries, HOPCAP_STEER_QUEUES);
	__type(key, __u32);
	__type(value, __u32);
} steer_sockets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, HOPCAP_STEER_QUEUES);
	__type(key, __u32);
	__type(value, __u64);
} steer_unbound SEC(".maps");

SEC("xdp.frags")
int steer_xdp(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data;
	void *data_end = (void *)(long)ctx->data_end;
	__u32 queue = ctx->rx_queue_index;
	struct test_frame frame;
	__u64 *unbound;
	int action;

	if (!parse_plain_test_frame(data, data_end, &frame) && !parse_test_frame(data, data_end, &frame))
		return XDP_PASS;
	if (unlikely(!header_run_tag(frame.header)))
		return XDP_PASS;
	action = bpf_redirect_map(&steer_sockets, queue, XDP_PASS);
	if (likely(action == XDP_REDIRECT))
		return action;
	if (queue >= HOPCAP_STEER_QUEUES)
		queue = HOPCAP_STEER_QUEUES - 1;
	unbound = bpf_map_lookup_elem(&steer_unbound, &queue);
	if (unbound)
		(*unbound)++;
	return XDP_PASS;
}

char _license[] SEC("license") = "GPL";
