// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The bridge's fast path: takes a frame at one port of a bridge and hands it to another, past the stack, when it is beyond doubt
 * what the bridge would do with it. Every other frame goes on to the bridge, counted by reason.
 *
 * Owns: the decision about one frame. Leaves to others: what stands in the maps (user/accel/), what is learned (the bridge).
 *
 * What is beyond doubt. A unicast frame between two stations whose places the bridge knows, from the port where it knows the sender,
 * to another port that is forwarding, and no longer than the bridge would let out there. For such a frame the bridge refreshes
 * the sender's entry and sends the frame out of the one port, unchanged, tags and all (without VLAN filtering it has one
 * table for all tags). User space sets the flags of ports that have no policy beside that.
 *
 * No frame to a wrong port. The table is the bridge's own, followed by notifications. What can move it under our eyes is a frame from
 * a station at another port, whatever kind of frame (often a broadcast); it comes by here, so the entry is made void here, before the
 * bridge learns, and frames to that station go to the bridge until user space has heard where it is. (A port that runs no program
 * of ours, a target only, is heard of by notification.) Removed entries are a notification late: the frame
 * then reaches the port where the station was, as it would have a moment before. No program learns, so none learns wrongly.
 *
 * None doubled. A frame is redirected or passed, never both. None lost: it is passed when the target's slot is empty (the kernel
 * empties it when a device goes), and devices are checked for xmit before they get a slot. What a full queue refuses is lost, as
 * behind the bridge.
 *
 * Entries stay alive although the bridge does not see these frames: `seen` tells user space who still sends, and it
 * refreshes these entries with NTF_USE, which is the bridge's own learning without a frame. (A frame to the stack now and then would do it,
 * too, but it is overtaken by those behind it, or overtakes those in the bulk queue.)
 *
 * Order within a flow. In one NAPI poll redirected frames wait in a bulk queue of 16 and passed ones in GRO's list, so a flow that changes
 * its way in mid-poll is reordered. Hence a CPU works on a snapshot: entries carry their change and its epoch, and a CPU adopts a new
 * epoch only between two polls, when both queues are empty; bridge_poll_end counts polls. Where frames come without NAPI
 * (tap), or the tracepoint cannot be had, the second tick of the clock does it: a poll is shorter, and nothing stays old. Moved
 * stations and changes of ports (down, isolated, MTU) do not wait for that: being right comes before being in order.
 *
 * The last decision is remembered for the next frame of the same two stations, which saves both look-ups in a burst.
 */
#include "bridge_tables.bpf.h"

const volatile __u32 port_slot = 0;

/* The whole decision, remembered in the lane when it is to go. */
static __always_inline int decide(const struct ethhdr *ethernet, __u32 own, struct bridge_lane *lane,
				  struct bridge_cpu *cpu, struct bridge_control *control, __u32 urgent)
{
	struct bridge_port *port, *target_port;
	struct bridge_station *station;
	int reason, source;
	__u32 target;

	reason = check_source_address(ethernet);
	if (reason != ALL_GO)
		return reason;
	source = check_source(ethernet, own, cpu, control); /* of every frame that the bridge would learn from */
	reason = check_destination(ethernet);
	if (reason != ALL_GO)
		return reason;
	port = bpf_map_lookup_elem(&bridge_ports, &own);
	if (!port || !(READ_ONCE(port->flags) & HOPCAP_BRIDGE_PORT_SOURCE))
		return BRIDGE_REASON_SOURCE_PORT;
	if (source != ALL_GO)
		return source;
	station = find_station(ethernet->h_dest);
	target = station ? slot_of(station, cpu->epoch) : HOPCAP_BRIDGE_NO_PORT;
	if (target == HOPCAP_BRIDGE_NO_PORT)
		return BRIDGE_REASON_UNKNOWN;
	if (target == own)
		return BRIDGE_REASON_SAME_PORT;
	target_port = bpf_map_lookup_elem(&bridge_ports, &target);
	if (!target_port || !(READ_ONCE(target_port->flags) & HOPCAP_BRIDGE_PORT_TARGET))
		return BRIDGE_REASON_TARGET_PORT;
	lane->target_flags = READ_ONCE(target_port->flags);
	if (lane->target_flags & port->flags & HOPCAP_BRIDGE_PORT_ISOLATED)
		return BRIDGE_REASON_ISOLATED;
	lane->max_bytes = READ_ONCE(target_port->max_bytes);
	lane->addresses_head = *(__u64 *)ethernet;
	lane->addresses_tail = *(__u32 *)((void *)ethernet + 8);
	lane->epoch = cpu->epoch;
	lane->urgent = urgent;
	lane->target = target + 1;
	return ALL_GO;
}

static __always_inline int to_stack(struct bridge_lane *lane, int reason)
{
	if (reason >= 0 && reason < BRIDGE_REASONS)
		lane->stack[reason]++;
	return XDP_PASS;
}

SEC("xdp.frags")
int bridge_xdp(struct xdp_md *ctx)
{
	void *data_end = (void *)(long)ctx->data_end, *data = (void *)(long)ctx->data;
	__u32 own = port_slot, zero = 0, urgent, bytes;
	struct bridge_lane *lane = bpf_map_lookup_elem(&bridge_lanes, &own);
	struct bridge_cpu *cpu = bpf_map_lookup_elem(&bridge_cpus, &zero);
	struct bridge_control *control = bpf_map_lookup_elem(&bridge_control, &zero);
	struct ethhdr *ethernet = data;
	int reason;

	if (unlikely(!lane || !cpu || !control))
		return XDP_PASS;
	if (unlikely((void *)(ethernet + 1) > data_end))
		return to_stack(lane, BRIDGE_REASON_SHORT);
	adopt_epoch(cpu, control);
	urgent = READ_ONCE(control->urgent);
	if (unlikely(lane->addresses_head != *(__u64 *)data || lane->addresses_tail != *(__u32 *)(data + 8) ||
		     lane->epoch != cpu->epoch || lane->urgent != urgent || !lane->target)) {
		lane->target = 0;
		reason = decide(ethernet, own, lane, cpu, control, urgent);
		if (reason != ALL_GO)
			return to_stack(lane, reason);
	}
	if (unlikely(is_control(ethernet->h_proto)))
		return to_stack(lane, BRIDGE_REASON_CONTROL);
	bytes = (__u32)bpf_xdp_get_buff_len(ctx);
	if (unlikely(bytes > lane->max_bytes))
		return to_stack(lane, BRIDGE_REASON_TOO_LONG);
	if (unlikely(bytes != (__u32)(data_end - data) && !(lane->target_flags & HOPCAP_BRIDGE_PORT_BUFFERS)))
		return to_stack(lane, BRIDGE_REASON_BUFFERS);
	if (unlikely(bpf_redirect_map(&bridge_targets, lane->target - 1, XDP_PASS) != XDP_REDIRECT))
		return to_stack(lane, BRIDGE_REASON_TARGET_PORT);
	lane->frames++;
	lane->bytes += bytes;
	return XDP_REDIRECT;
}

/* A poll of this CPU has ended: what it passed and what it redirected has left (the bulk queue is flushed within it). */
SEC("raw_tp/napi_poll")
int bridge_poll_end(void *ctx __attribute__((unused)))
{
	__u32 zero = 0;
	struct bridge_cpu *cpu = bpf_map_lookup_elem(&bridge_cpus, &zero);

	if (cpu)
		cpu->polls++;
	return 0;
}

char _license[] SEC("license") = "GPL";
