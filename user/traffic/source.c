// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The source of a run; see source.h. What its thread does is send_worker.c. Called by measure/.
 */
#include <errno.h>
#include <net/if.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/undo.h"
#include "port/pacer.h"
#include "port/ports.h"
#include "sys/netns.h"
#include "traffic/frame.h"
#include "traffic/send_worker.h"
#include "traffic/source.h"

#define TICK_NS 10000000
#define XSK_ONE_BUFFER_BYTES 3840

#define PORT_COUNT (RUN_PORT_PACKET + 1)

struct source {
	struct source_place place;
	int ifindex;
	struct port *ports[PORT_COUNT];
	/* the stream that is being sent */
	struct send_worker worker;
	unsigned char frame[HOPCAP_MAX_FRAME_BYTES];
	struct port_template template;
	atomic_int stop, stopped; /* stopped: by source_stop() */
};

int source_open(const struct source_place *place, struct source **result)
{
	struct netns_token token;
	struct source *source;
	int code = netns_enter(place->netns, &token);

	if (code)
		return code;
	source = calloc(1, sizeof(*source));
	if (source) {
		source->place = *place;
		source->ifindex = (int)if_nametoindex(place->interface);
	}
	netns_leave(&token);
	if (!source)
		return error_set(ENOMEM, "%s: out of memory", place->interface);
	if (!source->ifindex) {
		free(source);
		return error_set(ENODEV, "%s: no such interface", place->interface);
	}
	*result = source;
	return 0;
}

void source_close(struct source *source)
{
	struct netns_token token;
	int entered;

	if (!source)
		return;
	entered = !netns_enter(source->place.netns, &token);
	for (unsigned int i = 0; i < PORT_COUNT; i++)
		if (source->ports[i])
			port_ops_of((enum run_port)i)->close(source->ports[i]);
	if (entered)
		netns_leave(&token);
	free(source);
}

static int open_port(struct source *source, enum run_port kind)
{
	struct port_config config;
	struct netns_token token;
	int code;

	if (source->ports[kind])
		return 0;
	code = netns_enter(source->place.netns, &token);
	if (code)
		return code;
	config = (struct port_config){ .interface = source->place.interface, .ifindex = source->ifindex,
					.no_clones = source->place.no_clones };
	code = port_ops_of(kind)->open(&config, &source->ports[kind]);
	netns_leave(&token);
	return code;
}

int source_port_usable(struct source *source, enum run_port port, unsigned int frame_bytes, const char **why_not)
{
	const struct port_ops *ops = port_ops_of(port);

	*why_not = "not built into this version";
	if (!ops)
		return 0;
	*why_not = "frames of this size do not fit one of its buffers";
	if (frame_bytes > ops->max_frame_bytes)
		return 0;
	*why_not = "frames of several buffers are copied one by one; AF_PACKET's clones are faster";
	if (port == RUN_PORT_AF_XDP_COPY && frame_bytes > XSK_ONE_BUFFER_BYTES)
		return 0;
	if (open_port(source, port)) {
		*why_not = error_text();
		return 0;
	}
	*why_not = "";
	return 1;
}

void source_stop(struct source *source)
{
	atomic_store(&source->stopped, 1);
}

void source_set_cpu(struct source *source, int cpu)
{
	source->place.cpu = cpu;
}

int source_cpu_usable(int cpu)
{
	cpu_set_t set;

	return cpu >= 0 && cpu < CPU_SETSIZE && !sched_getaffinity(0, sizeof(set), &set) && CPU_ISSET(cpu, &set);
}

int source_other_cpu(int cpu)
{
	for (int other = 0; other < CPU_SETSIZE; other++)
		if (other != cpu && source_cpu_usable(other))
			return other;
	return -1;
}

static void prepare(struct source *source, const struct source_stream *stream, const struct port_ops *ops)
{
	struct frame_spec spec = { .frame_bytes = stream->frame_bytes,
				   .run_tag = source->place.run_tag,
				   .stream = stream->stream };

	memcpy(spec.source_mac, source->place.source_mac, 6);
	memcpy(spec.destination_mac, source->place.destination_mac, 6);
	atomic_store(&source->stop, 0);
	source->worker.ops = ops;
	source->worker.port = source->ports[ops->kind];
	source->worker.netns = source->place.netns;
	source->worker.cpu = source->place.cpu;
	source->template = (struct port_template){ .frame = source->frame,
						    .frame_bytes = stream->frame_bytes,
						    .header_offset = frame_build(&spec, source->frame) };
	source->template.udp_offset = source->template.header_offset - 8;
	source->worker.stream = (struct port_stream){
		.templates = &source->template,
		.template_count = 1,
		.flows = 1,
		.interval_ns = stream->pps > 0 ? 1e9 / stream->pps : 0,
		.frames = stream->frames ? stream->frames : UINT32_MAX,
		.stamp_interval = stream->stamp_interval,
		.stop = &source->stop,
	};
}

int source_send(struct source *source, const struct source_stream *stream, void (*tick)(void *context), void *context,
		struct port_sent *sent, double *elapsed_s)
{
	const struct timespec pause = { .tv_nsec = TICK_NS }, short_pause = { .tv_nsec = 200000 };
	const struct port_ops *ops = port_ops_of(stream->port);
	struct send_worker *worker = &source->worker;
	int code;

	memset(sent, 0, sizeof(*sent));
	*elapsed_s = 0;
	if (!ops || stream->frame_bytes > ops->max_frame_bytes)
		return error_set(EINVAL, "%s: port %s cannot send frames of %u bytes", source->place.interface,
				 run_port_name(stream->port), stream->frame_bytes);
	code = open_port(source, stream->port);
	if (code)
		return code;
	prepare(source, stream, ops);
	code = send_worker_start(worker);
	if (code)
		return code;
	while (!send_worker_done(worker)) {
		uint64_t now_ns = pacer_now_ns(), begin_ns = atomic_load(&worker->begin_ns);
		uint64_t deadline_ns = (begin_ns ? begin_ns : now_ns) + (uint64_t)(stream->duration_s * 1e9);

		if (now_ns >= deadline_ns || undo_interrupted() || atomic_load(&source->stopped)) {
			atomic_store(&source->stop, 1);
			send_worker_wake(worker);
			nanosleep(&short_pause, NULL);
			continue;
		}
		if (tick)
			tick(context);
		nanosleep(deadline_ns - now_ns < TICK_NS ? &short_pause : &pause, NULL);
	}
	code = send_worker_join(worker);
	*sent = worker->sent;
	if (worker->end_ns > worker->begin_ns)
		*elapsed_s = (double)(worker->end_ns - worker->begin_ns) / 1e9;
	return code;
}
