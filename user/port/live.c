// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Live frames: the kernel runs our generator program in a loop and sends what it redirects (BPF_F_TEST_XDP_LIVE_FRAMES).
 *
 * Owns: loading bpf/source_xdp.bpf.c, filling its control map, one long BPF_PROG_TEST_RUN call a trial. Leaves to others: the
 * signal that ends the call (traffic/source.c), whether frames arrive: a redirect that fails inside the kernel is a frame
 * sent and lost, and is counted by the difference to the first point.
 *
 * A fresh call sets up a page pool, so a trial is one call; its repeat count is only a safety limit. The kernel ends the
 * call with EINTR when a signal comes; nothing else does. A batch is flushed to the device at its end, so a large batch at
 * a low rate would add up to batch x 0.1 us of delay; batches of one frame lose throughput above 2 Mpps.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/error.h"
#include "map_source.h"
#include "port/port.h"
#include "source_xdp.skel.h"

#define LIVE_MAX_FRAME_BYTES 3408 /* one 4 KiB page less headroom and the kernel's bookkeeping */
#define REPEAT_LIMIT 2000000000u

struct port {
	struct source_xdp_bpf *program;
	struct source_control *control;
	struct source_state *state;
	int ifindex;
};

static void live_close(struct port *port)
{
	if (!port)
		return;
	if (port->control)
		munmap(port->control, sizeof(*port->control));
	if (port->state)
		munmap(port->state, sizeof(*port->state));
	source_xdp_bpf__destroy(port->program);
	free(port);
}

static void *map_memory(const struct bpf_map *map, size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static int live_open(const char *interface, int ifindex, struct port **result)
{
	struct port *port = calloc(1, sizeof(*port));

	if (!port)
		return error_set(ENOMEM, "%s: out of memory", interface);
	port->ifindex = ifindex;
	port->program = source_xdp_bpf__open_and_load();
	if (!port->program) {
		int code = errno;

		live_close(port);
		return error_set(code, "%s: cannot load the live-frame generator: %s; root (CAP_BPF, CAP_NET_ADMIN) and kernel 5.18 are needed",
				 interface, strerror(code));
	}
	port->control = map_memory(port->program->maps.source_control, sizeof(*port->control));
	port->state = map_memory(port->program->maps.source_state, sizeof(*port->state));
	if (!port->control || !port->state) {
		live_close(port);
		return error_set(ENOMEM, "%s: cannot map the generator's memory", interface);
	}
	*result = port;
	return 0;
}

static void fill_control(struct port *port, const struct port_stream *stream)
{
	struct source_control *control = port->control;
	unsigned int copied = stream->frame_bytes < HOPCAP_TEMPLATE_BYTES ? stream->frame_bytes : HOPCAP_TEMPLATE_BYTES;

	memset(port->state, 0, sizeof(*port->state));
	memset(control, 0, sizeof(*control));
	memcpy(control->template_bytes, stream->frame, copied);
	control->interval_fp = (__u64)(stream->interval_ns * (double)(1 << HOPCAP_PACE_SHIFT));
	control->frames = stream->frames;
	control->ifindex = port->ifindex;
	control->stamp_mask = stream->stamp_interval ? stream->stamp_interval - 1 : HOPCAP_STAMP_NONE;
	control->header_offset = stream->header_offset;
	control->slip_ns = PORT_SLIP_NS;
}

static __u32 batch_for(double interval_ns)
{
	if (interval_ns <= 0)
		return 64;
	if (interval_ns >= 5000)
		return 1;
	return interval_ns >= 1000 ? 8 : 64;
}

static int live_send(struct port *port, const struct port_stream *stream, struct port_sent *sent)
{
	struct xdp_md context = { .data_end = stream->frame_bytes, .ingress_ifindex = port->ifindex };
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = stream->frame, .data_size_in = stream->frame_bytes,
		    .ctx_in = &context, .ctx_size_in = sizeof(context), .repeat = REPEAT_LIMIT,
		    .flags = BPF_F_TEST_XDP_LIVE_FRAMES, .batch_size = batch_for(stream->interval_ns));
	const volatile struct source_state *state = port->state;
	int result = 0;

	fill_control(port, stream);
	while (!atomic_load(stream->stop) && state->sent < stream->frames) {
		result = bpf_prog_test_run_opts(bpf_program__fd(port->program->progs.source_live), &options);
		if (result && result != -EINTR && result != -EAGAIN)
			break;
		result = 0;
	}
	sent->frames = state->sent;
	sent->late_sum_ns = state->late_sum_ns;
	sent->late_max_ns = state->late_max_ns;
	sent->slips = state->slips;
	sent->slipped_ns = state->slipped_ns;
	if (result)
		return error_set(-result, "live frames on interface %d: %s", port->ifindex, strerror(-result));
	return 0;
}

const struct port_ops port_live = {
	.kind = RUN_PORT_LIVE,
	.max_frame_bytes = LIVE_MAX_FRAME_BYTES,
	.open = live_open,
	.send = live_send,
	.close = live_close,
};
