// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The clone generator, for frames that do not fit one page: at tc egress of the source's interface it turns one large
 * frame, sent by user space as a trigger, into many test frames that share its payload.
 *
 * Owns: cloning, and the bytes of each clone's UDP and test header; pacing is in source_body.bpf.h. Leaves to others:
 * sending triggers, attaching it (user/port/packet.c).
 *
 * Theory. Making a 9000-byte frame in user space costs a copy and three pages each, 2 to 4 us: a path of 1 us would
 * never be loaded. A clone shares the payload; writing its header gives the trigger a new head of its own, for which
 * the kernel copies the linear part, which is the headers alone if user space sends it so. Clones leave
 * through the same hook, so they carry a mark and are let by. The trigger itself is dropped at the end: it is no test
 * frame. One call makes at most ROUNDS frames, so that it neither holds its CPU for long nor outlives the trial by more
 * than that.
 */
#include <linux/pkt_cls.h>

#include "source_body.bpf.h"

#define ROUNDS 256
#define NUMBERED_BYTES (UDP_PORT_BEHIND + HOPCAP_TEST_HEADER_BYTES)

SEC("tc")
int source_clone(struct __sk_buff *skb)
{
	struct source_template *template = &source_control.templates[0];
	__u32 offset;
	__u64 now_ns;
	void *header;

	if (skb->mark != source_control.trigger_mark)
		return TC_ACT_UNSPEC;
	offset = template->header_offset;
	if (offset < UDP_PORT_BEHIND || offset > HOPCAP_TEMPLATE_BYTES - HOPCAP_TEST_HEADER_BYTES ||
	    bpf_skb_pull_data(skb, skb->len < HOPCAP_TEMPLATE_BYTES ? skb->len : HOPCAP_TEMPLATE_BYTES))
		return TC_ACT_SHOT;
	skb->mark = HOPCAP_MARK_CLONE;
	header = template->bytes + offset; /* numbered in place: nobody else reads it meanwhile */
	for (int i = 0; i < ROUNDS && source_state.sent < source_control.frames; i++) {
		if (!may_depart(&source_control, &source_state, &now_ns))
			continue;
		write_stamp(header, 0); /* what the one before it carried */
		*(__u8 *)(header + HOPCAP_OFFSET_FLAGS) = 0;
		number_frame(header, template, &source_control, &source_state, now_ns);
		if (bpf_skb_store_bytes(skb, offset - UDP_PORT_BEHIND, header - UDP_PORT_BEHIND, NUMBERED_BYTES, 0))
			break;
		/* What the device refuses was offered, and is lost. */
		if (bpf_clone_redirect(skb, source_control.ifindex, 0))
			source_state.refused++;
		frame_left(&source_control, &source_state);
	}
	return TC_ACT_SHOT;
}

char _license[] SEC("license") = "GPL";
