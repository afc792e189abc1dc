// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Live frames: the kernel runs our generator program in a loop and sends what it redirects
 * (BPF_F_TEST_XDP_LIVE_FRAMES).
 *
 * Owns: loading bpf/source_xdp.bpf.c, choosing its program, one long BPF_PROG_TEST_RUN call a trial. Leaves to others:
 * the signal that ends the call and its handler (SIGUSR1, traffic/source.c), whether frames arrive: a redirect that
 * fails inside the kernel is a frame sent and lost, and is counted by the difference to the first point.
 *
 * A fresh call sets up a page pool, so a trial is one call; its repeat count ends it when all frames are sent and is a
 * safety limit else. The kernel ends the call with EINTR when a signal comes; nothing else does. A batch is flushed to
 * the device at its end, up to batch x 0.1 us after the program has let a frame go, and the program cannot see that: at
 * 1 Mpps the gaps at the sink were 0.98 to 1.02 us (p50, p90) with batches of 1 or 2, 0.92 to 1.26 us with 8, and bursts
 * with 64. Batches of 1 keep 3 Mpps, those of 2 and 4 4 Mpps.
 *
 * Each port has its own program and memory: several ports may send on one interface at once, from a CPU each.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/error.h"
#include "map_source.h"
#include "histogram_layout.h"
#include "port/generator.h"
#include "port/numbering.h"
#include "port/port.h"
#include "source_xdp.skel.h"
#include "sys/link_watch.h"

#define LIVE_MAX_FRAME_BYTES 3408 /* one 4 KiB page less headroom and the kernel's bookkeeping */
#define REPEAT_LIMIT 2000000000u
#define GONE_AFTER_DOWN_MS 100
#define SHORTEST_RUN_NS 20 /* a run that sends nothing takes longer */
#define PLAIN_HEADER_OFFSET 42
#define SMOOTH_LEAST_NS 2000
#define SMOOTH_LEAST_INTERVAL_NS 500
#define BATCH_FULL_RATE 128 /* 3 % over 64; 256 would be 1 % more, and fill a veth ring at one go */

struct port {
	char interface[16];
	int ifindex;
	struct source_xdp_bpf *program;
	struct generator generator;
	struct link_watch watch;
	unsigned char page[LIVE_MAX_FRAME_BYTES]; /* what a fresh page of the running stream holds */
};

static void live_close(struct port *port)
{
	if (!port)
		return;
	link_watch_close(&port->watch);
	source_xdp_bpf__destroy(port->program);
	free(port);
}

static int load(struct port *port)
{
	__u32 zero = 0, ifindex = (__u32)port->ifindex;

	port->program = source_xdp_bpf__open_and_load();
	if (!port->program)
		return error_set(errno, "%s: cannot load the live-frame generator: %s; root and kernel 5.18 are needed",
				 port->interface, strerror(errno));
	if (!port->program->bss)
		return error_set(ENOMEM, "%s: cannot map the generator's memory", port->interface);
	port->generator = (struct generator){ .control = &port->program->bss->source_control,
					      .state = &port->program->bss->source_state,
					      .lateness = port->program->bss->source_lateness,
					      .ifindex = port->ifindex };
	if (bpf_map__update_elem(port->program->maps.source_device, &zero, sizeof(zero), &ifindex, sizeof(ifindex),
				 BPF_ANY))
		return error_set(errno, "%s: live frames cannot be sent into this interface: %s", port->interface,
				 strerror(errno));
	return 0;
}

static int live_open(const struct port_config *config, struct port **result)
{
	struct port *port = calloc(1, sizeof(*port));
	int code;

	if (!port)
		return error_set(ENOMEM, "%s: out of memory", config->interface);
	strncpy(port->interface, config->interface, sizeof(port->interface) - 1);
	port->ifindex = config->ifindex;
	port->watch.socket = -1;
	code = link_watch_open(&port->watch, port->interface, port->ifindex);
	if (!code)
		code = load(port);
	if (code) {
		live_close(port);
		return code;
	}
	*result = port;
	return 0;
}

static int is_even(const struct port_stream *stream)
{
	return stream->interval_ns > 0 && stream->burst <= 1;
}

/* Runs of the program a batch: as few as the rate allows. */
static __u32 batch_for(const struct port_stream *stream)
{
	static const struct {
		double interval_ns; /* at least */
		__u32 runs;
	} batches[] = { { 2000, 1 }, { 1000, 2 }, { 400, 4 }, { 200, 8 } };

	if (!is_even(stream))
		return BATCH_FULL_RATE;
	for (unsigned int i = 0; i < sizeof(batches) / sizeof(batches[0]); i++)
		if (stream->interval_ns >= batches[i].interval_ns)
			return batches[i].runs;
	return 64;
}

/* source_control.smooth_ns: two intervals, but for what the flush of a batch takes. */
static __u32 smooth_for(const struct port_stream *stream)
{
	double limit_ns = 2 * stream->interval_ns;

	if (!stream->catch_up || !is_even(stream) || stream->interval_ns < SMOOTH_LEAST_INTERVAL_NS)
		return 0;
	if (limit_ns < SMOOTH_LEAST_NS)
		limit_ns = SMOOTH_LEAST_NS;
	return limit_ns < PORT_SLIP_NS ? (__u32)limit_ns : PORT_SLIP_NS;
}

/* Runs that are enough for the frames that are left, so that a short stream ends its call by itself. */
static __u32 repeat_for(const struct port_stream *stream, uint64_t sent)
{
	double left = (double)(stream->frames - sent), runs = left;

	if (stream->interval_ns > 0)
		runs += left * stream->interval_ns / SHORTEST_RUN_NS + stream->ramp_s * 1e9 / SHORTEST_RUN_NS;
	return runs < REPEAT_LIMIT ? (__u32)runs + 1 : REPEAT_LIMIT;
}

static int is_plain(const struct port_stream *stream)
{
	return stream->template_count == 1 && stream->flows <= 1 &&
	       stream->templates->header_offset == PLAIN_HEADER_OFFSET &&
	       !numbering_of(stream->templates).checksum_base;
}

/* The page of a stream: its longest frame, at least as long as the headers that are written. Returns its length. */
static unsigned int make_page(struct port *port, const struct port_stream *stream, int plain)
{
	const struct port_template *longest = generator_longest(stream);
	unsigned int bytes = longest->frame_bytes;

	memcpy(port->page, longest->frame, bytes);
	while (!plain && bytes < HOPCAP_TEMPLATE_BYTES)
		port->page[bytes++] = 0;
	return bytes;
}

static int run(struct port *port, const struct port_stream *stream, int plain, unsigned int page_bytes)
{
	int fd = bpf_program__fd(plain ? port->program->progs.source_live_plain : port->program->progs.source_live);
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = port->page, .data_size_in = page_bytes,
		    .flags = BPF_F_TEST_XDP_LIVE_FRAMES, .batch_size = batch_for(stream));
	enum link_event event;
	uint64_t sent = 0;

	while (!atomic_load(stream->stop) && sent < stream->frames && !port->generator.state->gone &&
	       link_watch_event(&port->watch, 0) == LINK_STAYS) {
		int code;

		options.repeat = (int)repeat_for(stream, sent);
		port->generator.state->next_event = sent;
		code = bpf_prog_test_run_opts(fd, &options);
		sent = generator_frames(&port->generator);
		if (code && code != -EINTR && code != -EAGAIN)
			return error_set(-code, "%s: cannot send live frames: %s", port->interface, strerror(-code));
	}
	event = link_watch_event(&port->watch, GONE_AFTER_DOWN_MS);
	if (event == LINK_DOWN)
		return error_set(ENETDOWN, "%s: the interface went down after %llu frames", port->interface,
				 (unsigned long long)sent);
	if (event == LINK_GONE || port->generator.state->gone)
		return error_set(ENODEV, "%s: the interface went away after %llu frames", port->interface,
				 (unsigned long long)sent);
	return 0;
}

static int live_send(struct port *port, const struct port_stream *stream, struct port_sent *sent)
{
	int plain, code;

	memset(sent, 0, sizeof(*sent));
	code = generator_check(stream, port->interface);
	if (code)
		return code;
	if (generator_longest(stream)->frame_bytes > LIVE_MAX_FRAME_BYTES)
		return error_set(EINVAL, "%s: live frames have at most %d bytes", port->interface,
				 LIVE_MAX_FRAME_BYTES);
	plain = is_plain(stream);
	generator_start(&port->generator, stream, smooth_for(stream));
	code = link_watch_arm(&port->watch, SIGUSR1);
	if (!code)
		code = run(port, stream, plain, make_page(port, stream, plain));
	link_watch_disarm(&port->watch);
	generator_result(&port->generator, stream, sent);
	return code;
}

static const char *live_describe(const struct port *port)
{
	(void)port;
	return "live frames, made in the kernel";
}

static uint64_t live_progress(const struct port *port)
{
	return generator_frames(&port->generator);
}

const struct port_ops port_live = {
	.kind = RUN_PORT_LIVE,
	.max_frame_bytes = LIVE_MAX_FRAME_BYTES,
	.open = live_open,
	.send = live_send,
	.close = live_close,
	.describe = live_describe,
	.progress = live_progress,
};
