// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The clone generator, for frames that do not fit one page: at tc egress of the source's interface it turns one large frame,
 * sent by user space as a trigger, into many test frames that share its payload.
 *
 * Owns: cloning, and the bytes of each clone's test header; pacing is in source_body.bpf.h. Leaves to others: sending
 * triggers, attaching it (user/port/packet.c).
 *
 * Theory. Making a 9000-byte frame in user space costs a copy and three pages each, 2 to 4 us: a path of 1 us would never be
 * loaded. A clone shares the payload; writing its header gives the trigger a new head of its own, for which the kernel copies
 * the linear part. AF_PACKET keeps that to the headers in frames over a page only; so a trigger is made larger than a
 * page where the interface lets it, and is cut to the length of the frames here. Clones leave through the same hook, so they carry a mark and are let by.
 * The trigger itself is dropped at the end: it is no test frame. One call makes at most ROUNDS frames, so that it neither
 * holds its CPU for long nor outlives the trial by more than that.
 */
#include <linux/pkt_cls.h>

#include "source_body.bpf.h"

#define ROUNDS 256
#define LINEAR_BYTES 64

SEC("tc")
int source_clone(struct __sk_buff *skb)
{
	struct source_control *control;
	struct source_state *state;
	__u32 zero = 0, offset;
	__u64 now_ns;
	void *header;

	if (skb->mark != HOPCAP_MARK_TRIGGER)
		return TC_ACT_UNSPEC;
	control = bpf_map_lookup_elem(&source_control, &zero);
	state = bpf_map_lookup_elem(&source_state, &zero);
	if (!control || !state)
		return TC_ACT_SHOT;
	offset = control->header_offset;
	if (offset > HOPCAP_TEMPLATE_BYTES - HOPCAP_TEST_HEADER_BYTES ||
	    bpf_skb_pull_data(skb, skb->len < LINEAR_BYTES ? skb->len : LINEAR_BYTES))
		return TC_ACT_SHOT;
	if (skb->len != control->frame_bytes && bpf_skb_change_tail(skb, control->frame_bytes, 0))
		return TC_ACT_SHOT;
	skb->mark = HOPCAP_MARK_CLONE;
	header = control->template_bytes + offset; /* numbered in place: nobody else reads it meanwhile */
	for (int i = 0; i < ROUNDS && state->sent < control->frames; i++) {
		if (!may_depart(control, state, &now_ns))
			continue;
		*(__u8 *)(header + HOPCAP_OFFSET_FLAGS) = 0;
		number_header(header, control, state, now_ns);
		if (bpf_skb_store_bytes(skb, offset, header, HOPCAP_TEST_HEADER_BYTES, 0))
			break;
		bpf_clone_redirect(skb, control->ifindex, 0); /* what the device refuses was offered, and is lost */
		state->sent++;
	}
	return TC_ACT_SHOT;
}

char _license[] SEC("license") = "GPL";
