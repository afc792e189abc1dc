// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Live frames: the kernel runs our generator program in a loop and sends what it redirects (BPF_F_TEST_XDP_LIVE_FRAMES).
 *
 * Owns: loading bpf/source_xdp.bpf.c, one long BPF_PROG_TEST_RUN call a trial. Leaves to others: the
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
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/error.h"
#include "port/generator.h"
#include "port/port.h"
#include "source_xdp.skel.h"

#define LIVE_MAX_FRAME_BYTES 3408 /* one 4 KiB page less headroom and the kernel's bookkeeping */
#define REPEAT_LIMIT 2000000000u

struct port {
	struct source_xdp_bpf *program;
	struct generator generator;
	int ifindex;
};

static void live_close(struct port *port)
{
	if (!port)
		return;
	generator_close(&port->generator);
	source_xdp_bpf__destroy(port->program);
	free(port);
}

static int live_open(const struct port_config *config, struct port **result)
{
	const char *interface = config->interface;
	struct port *port = calloc(1, sizeof(*port));
	int code;

	if (!port)
		return error_set(ENOMEM, "%s: out of memory", interface);
	port->ifindex = config->ifindex;
	port->program = source_xdp_bpf__open_and_load();
	if (port->program)
		code = generator_open(&port->generator, interface, config->ifindex, port->program->maps.source_control,
				      port->program->maps.source_state);
	else
		code = error_set(errno, "%s: cannot load the live-frame generator: %s; root and kernel 5.18 are needed",
				 interface, strerror(errno));
	if (code) {
		live_close(port);
		return code;
	}
	*result = port;
	return 0;
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
	struct xdp_md context = { .data_end = stream->templates->frame_bytes, .ingress_ifindex = port->ifindex };
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = stream->templates->frame, .data_size_in = stream->templates->frame_bytes,
		    .ctx_in = &context, .ctx_size_in = sizeof(context), .repeat = REPEAT_LIMIT,
		    .flags = BPF_F_TEST_XDP_LIVE_FRAMES, .batch_size = batch_for(stream->interval_ns));
	int result = 0;

	generator_start(&port->generator, stream);
	while (!atomic_load(stream->stop) && generator_frames(&port->generator) < stream->frames) {
		result = bpf_prog_test_run_opts(bpf_program__fd(port->program->progs.source_live), &options);
		if (result && result != -EINTR && result != -EAGAIN)
			break;
		result = 0;
	}
	generator_result(&port->generator, sent);
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
