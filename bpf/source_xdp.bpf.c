// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The live-frame generator: run in a loop by BPF_PROG_TEST_RUN with BPF_F_TEST_XDP_LIVE_FRAMES, it turns a recycled
 * page into the next test frame and redirects it into the device, or drops the page when no departure is due yet.
 *
 * Owns: the bytes of each frame; pacing is in source_body.bpf.h. Leaves to others: calling it, ending the call,
 * choosing the program, knowing whether frames arrive (user/port/live.c).
 *
 * Theory. The kernel fills a page once, when it is taken fresh, and afterwards resets its bounds only: a page comes
 * back with whatever the path wrote into it (a router's time to live, a hop's stamp, an encapsulation in the room in
 * front). So all header bytes are written anew. A mark that says "still ours" would not do: who changes an address
 * leaves it alone. What lies behind the header is not written, and a path that writes into payload would spoil it for
 * the frames to come. A page is as long as the longest frame; shorter ones are cut from it, never grown, since growing
 * clears the payload. Payload byte i is i & 0xff in frames of every size, so it is right wherever the cut falls.
 *
 * Two programs. source_live_plain is for one template, one flow, IPv4 without tags: all offsets are constants. Frames
 * up to state->next_event leave as the template is, with a sequence: that costs a copy of 60 bytes. A stamp, the end of
 * the stream and each departure of a paced stream are events, and stand out of line. When every frame of an unpaced
 * stream is stamped, SHARED_STAMP frames have one reading of the clock, which costs more than half a frame. They lie in
 * one bulk of 16 that the kernel hands to the device at once; so their origin is early by no more than the making of
 * three frames (0.15 us).
 */
#include "source_body.bpf.h"

#define PLAIN_HEADER_OFFSET 42
#define SHARED_STAMP 4 /* a power of two that divides every batch */

struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} source_device SEC(".maps");

/* The kernel takes a device that goes away out of the map, so that frames are not counted which went nowhere. */
static __always_inline int send(struct source_state *state)
{
	int action = bpf_redirect_map(&source_device, 0, XDP_DROP);

	if (action == XDP_REDIRECT)
		return 1;
	state->gone = 1;
	return 0;
}

static __always_inline void write_plain(void *data)
{
	const __u64 *from = (const __u64 *)source_control.templates[0].bytes;
	__u64 *to = data;

#pragma unroll
	for (int i = 0; i < HOPCAP_MIN_FRAME_BYTES / 8; i++)
		to[i] = from[i];
	*(__u32 *)(to + HOPCAP_MIN_FRAME_BYTES / 8) = 0; /* last */
	*(__be32 *)(data + PLAIN_HEADER_OFFSET + HOPCAP_OFFSET_SEQUENCE) = bpf_htonl((__u32)source_state.sent);
}

/* The sequence of the event after this frame. */
static __always_inline __u64 next_event(const struct source_control *control, const struct source_state *state)
{
	__u64 next = state->sent + 1;

	if (control->interval_fp)
		return next;
	if (control->stamp_mask == HOPCAP_STAMP_NONE)
		return control->frames;
	next = (state->sent | (control->stamp_mask ? control->stamp_mask : SHARED_STAMP - 1)) + 1;
	return next < control->frames ? next : control->frames;
}

/* A frame that is an event. */
static __noinline int plain_event(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data;
	void *data_end = (void *)(long)ctx->data_end;
	struct source_control *control = &source_control;
	struct source_state *state = &source_state;
	__u64 now_ns, origin_ns;

	if (data + HOPCAP_MIN_FRAME_BYTES > data_end)
		return XDP_ABORTED;
	if (!may_depart(control, state, &now_ns) || !send(state))
		return XDP_DROP;
	origin_ns = stamp_time(control, state, now_ns);
	if (!control->stamp_mask && !control->interval_fp) /* for the frames up to the next event as well */
		write_stamp(control->templates[0].bytes + PLAIN_HEADER_OFFSET, origin_ns);
	write_plain(data);
	if (origin_ns)
		write_stamp(data + PLAIN_HEADER_OFFSET, origin_ns);
	state->next_event = next_event(control, state);
	state->sent++;
	return XDP_REDIRECT;
}

SEC("xdp")
int source_live_plain(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data;
	void *data_end = (void *)(long)ctx->data_end;

	if (data + HOPCAP_MIN_FRAME_BYTES > data_end)
		return XDP_ABORTED;
	if (source_state.sent >= source_state.next_event)
		return plain_event(ctx);
	if (!send(&source_state))
		return XDP_DROP;
	write_plain(data);
	source_state.sent++;
	return XDP_REDIRECT;
}

SEC("xdp")
int source_live(struct xdp_md *ctx)
{
	const struct source_template *template;
	void *data = (void *)(long)ctx->data;
	void *data_end = (void *)(long)ctx->data_end;
	__u32 offset, page_bytes = data_end - data;
	__u64 *to = data, now_ns;
	const __u64 *from;
	void *header;

	template = &source_control.templates[source_state.template_next & (HOPCAP_SOURCE_TEMPLATES - 1)];
	from = (const __u64 *)template->bytes;
	offset = template->header_offset - UDP_PORT_BEHIND;
	if (data + HOPCAP_TEMPLATE_BYTES > data_end ||
	    offset > HOPCAP_TEMPLATE_BYTES - HOPCAP_TEST_HEADER_BYTES - UDP_PORT_BEHIND)
		return XDP_ABORTED;
	barrier_var(offset); /* the verifier wants a test of the very pointer that is used */
	header = data + offset;
	if (header + UDP_PORT_BEHIND + HOPCAP_TEST_HEADER_BYTES > data_end)
		return XDP_ABORTED;
	if (!may_depart(&source_control, &source_state, &now_ns) || !send(&source_state))
		return XDP_DROP;
#pragma unroll
	for (int i = 0; i < HOPCAP_TEMPLATE_BYTES / 8; i++)
		to[i] = from[i];
	number_frame(header + UDP_PORT_BEHIND, template, &source_control, &source_state, now_ns);
	if (template->frame_bytes != page_bytes &&
	    bpf_xdp_adjust_tail(ctx, (int)template->frame_bytes - (int)page_bytes))
		return XDP_ABORTED;
	frame_left(&source_control, &source_state);
	return XDP_REDIRECT;
}

char _license[] SEC("license") = "GPL";
