// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Workers that send; see sender.h. Called by cmd/send.c. What a worker's thread does is send_worker.c.
 */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <linux/if_packet.h>
#include <sys/socket.h>

#include "base/error.h"
#include "port/ports.h"
#include "sys/netns.h"
#include "traffic/send_worker.h"
#include "traffic/sender.h"

#define ANNOUNCEMENTS 3
#define IPV6_BYTES 40
#define ANNOUNCE_PAUSE_NS 2000000
#define PATH_DRAIN_NS 20000000 /* the longest queue of a path should be empty before the end is announced */

struct worker {
	struct send_worker send;
	struct port_template templates[PORT_MAX_TEMPLATES];
	unsigned char *frames;
};

struct sender {
	struct sender_config config;
	int ifindex;
	atomic_int stop, go;
	char description[256];
	struct worker workers[SENDER_MAX_WORKERS];
};

static int make_templates(struct sender *sender, struct worker *worker, int index)
{
	const struct sender_config *config = &sender->config;
	unsigned char *frame;
	int code;

	if (config->replay)
		return 0;
	worker->frames = calloc((size_t)config->size_count, HOPCAP_MAX_FRAME_BYTES);
	if (!worker->frames)
		return error_set(ENOMEM, "out of memory for %d frames", config->size_count);
	frame = worker->frames;
	for (int i = 0; i < config->size_count; i++, frame += HOPCAP_MAX_FRAME_BYTES) {
		struct frame_spec spec = config->frame;

		spec.frame_bytes = config->sizes[i];
		spec.stream = (uint8_t)index;
		code = frame_check(&spec);
		if (code)
			return code;
		worker->templates[i] = frame_template(&spec, frame);
		if (spec.frame_bytes > worker->send.ops->max_frame_bytes)
			return error_set(EINVAL, "%s: frames of %u bytes do not fit port %s, which carries up to %u",
					 config->interface, spec.frame_bytes, run_port_name(config->port),
					 worker->send.ops->max_frame_bytes);
	}
	return 0;
}

static void plan(struct sender *sender, struct worker *worker, int index)
{
	const struct sender_config *config = &sender->config;
	uint64_t share = config->frames / (uint64_t)config->workers,
		 rest = config->frames % (uint64_t)config->workers;

	worker->send.stream = (struct port_stream){
		.templates = worker->templates,
		.template_count = (unsigned int)config->size_count,
		.flows = config->flows ? config->flows : 1,
		.interval_ns = config->pps > 0 ? 1e9 * config->workers / config->pps : 0,
		.burst = config->burst,
		.ramp_s = config->ramp_s,
		.frames = config->frames ? share + ((uint64_t)index < rest) : UINT64_MAX,
		.stamp_interval = config->stamp_interval,
		.catch_up = 1,
		.stop = &sender->stop,
	};
	if (!config->replay)
		return;
	worker->send.stream.templates = config->replay->templates;
	worker->send.stream.template_count = config->replay->count;
	if (config->pps <= 0 && config->replay->pass_ns) {
		worker->send.stream.departures_ns = config->replay->departures_ns;
		worker->send.stream.pass_ns = config->replay->pass_ns;
	}
}

static int open_worker(struct sender *sender, int index)
{
	const struct sender_config *config = &sender->config;
	const struct port_config port = { .interface = config->interface,
					  .ifindex = sender->ifindex,
					  .queue = config->queue + index,
					  .busy_poll = config->busy_poll,
					  .qdisc = config->qdisc,
					  .no_clones = config->no_clones,
					  .queues = (unsigned int)config->workers,
					  .super_bytes = config->super_bytes };
	struct worker *worker = &sender->workers[index];
	int code;

	worker->send.netns = config->netns;
	worker->send.go = &sender->go;
	worker->send.cpu = config->cpu < 0 ? -1 : config->cpu + index;
	worker->send.ops = port_ops_of(config->port);
	if (!worker->send.ops)
		return error_set(EINVAL, "port %s is not built into this version", run_port_name(config->port));
	code = make_templates(sender, worker, index);
	if (!code)
		code = worker->send.ops->open(&port, &worker->send.port);
	if (!code)
		plan(sender, worker, index);
	return code;
}

static void describe(struct sender *sender)
{
	const struct worker *worker = &sender->workers[0];
	const char *got = worker->send.ops->describe ? worker->send.ops->describe(worker->send.port) : run_port_name(sender->config.port);

	snprintf(sender->description, sizeof(sender->description), "%s", got);
}

int sender_open(const struct sender_config *config, struct sender **result)
{
	struct sender *sender = calloc(1, sizeof(*sender));
	struct netns_token token;
	int code;

	if (!sender)
		return error_set(ENOMEM, "%s: out of memory", config->interface);
	sender->config = *config;
	code = netns_enter(config->netns, &token);
	if (!code) {
		sender->ifindex = (int)if_nametoindex(config->interface);
		if (!sender->ifindex)
			code = error_set(ENODEV, "%s: no such interface", config->interface);
		for (int i = 0; !code && i < config->workers; i++)
			code = open_worker(sender, i);
		netns_leave(&token);
	}
	if (code) {
		sender_close(sender);
		return code;
	}
	describe(sender);
	*result = sender;
	return 0;
}

const char *sender_describe(const struct sender *sender)
{
	return sender->description;
}

int sender_start(struct sender *sender)
{
	int code = 0;

	for (int i = 0; !code && i < sender->config.workers; i++)
		code = send_worker_start(&sender->workers[i].send);
	if (!code)
		atomic_store(&sender->go, 1);
	return code;
}

uint64_t sender_frames(const struct sender *sender)
{
	uint64_t frames = 0;

	for (int i = 0; i < sender->config.workers; i++)
		frames += send_worker_frames(&sender->workers[i].send);
	return frames;
}

int sender_done(const struct sender *sender)
{
	for (int i = 0; i < sender->config.workers; i++)
		if (!send_worker_done(&sender->workers[i].send))
			return 0;
	return 1;
}

int sender_stop(struct sender *sender)
{
	const struct timespec pause = { .tv_nsec = 200000 };
	int code = 0;

	atomic_store(&sender->stop, 1);
	while (!sender_done(sender)) {
		for (int i = 0; i < sender->config.workers; i++)
			send_worker_wake(&sender->workers[i].send);
		nanosleep(&pause, NULL);
	}
	for (int i = sender->config.workers - 1; i >= 0; i--) { /* the first error is the one that stays */
		int result = send_worker_join(&sender->workers[i].send);

		code = result ? result : code;
	}
	return code;
}

const struct port_sent *sender_result(const struct sender *sender, int index, double *elapsed_s)
{
	const struct send_worker *worker = &sender->workers[index].send;
	uint64_t begin_ns = worker->begin_ns, end_ns = worker->end_ns;

	if (worker->sent.first_ns && worker->sent.last_ns > worker->sent.first_ns) {
		begin_ns = worker->sent.first_ns;
		end_ns = worker->sent.last_ns;
	}
	*elapsed_s = end_ns > begin_ns ? (double)(end_ns - begin_ns) / 1e9 : 0;
	return &worker->sent;
}

/* The first template of a worker as a frame that announces how many frames there are until now. */
static int announce_one(struct sender *sender, int index, int fd)
{
	const struct send_worker *worker = &sender->workers[index].send;
	const struct port_template *template = worker->stream.templates;
	struct sockaddr_ll address = { .sll_family = AF_PACKET, .sll_ifindex = sender->ifindex, .sll_halen = 6 };
	unsigned char frame[HOPCAP_MAX_FRAME_BYTES], *header;
	unsigned int udp = template->udp_offset;

	if (template->header_offset == PORT_NO_HEADER)
		return 0; /* a capture as it is: nobody keeps a ledger of it */
	memcpy(frame, template->frame, template->frame_bytes);
	header = frame + template->header_offset;
	port_number_frame(header, (uint32_t)worker->sent.frames, 0);
	header[HOPCAP_OFFSET_FLAGS] = HOPCAP_FRAME_END;
	if (sender->config.frame.ipv6)
		port_put_be(frame + udp + 6, frame_udp_checksum(frame, udp - IPV6_BYTES), 2);
	if (sendto(fd, frame, template->frame_bytes, 0, (struct sockaddr *)&address, sizeof(address)) < 0 &&
	    errno != ENOBUFS)
		return error_set(errno, "%s: cannot announce the stream: %s", sender->config.interface, strerror(errno));
	return 0;
}

static int announce_all(struct sender *sender)
{
	const struct timespec pause = { .tv_nsec = ANNOUNCE_PAUSE_NS };
	struct netns_token token;
	int code = netns_enter(sender->config.netns, &token), fd;

	if (code)
		return code;
	fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (fd < 0)
		code = error_set(errno, "%s: cannot open a packet socket: %s", sender->config.interface, strerror(errno));
	for (int round = 0; !code && round < ANNOUNCEMENTS; round++) {
		for (int i = 0; !code && i < sender->config.workers; i++)
			code = announce_one(sender, i, fd);
		nanosleep(&pause, NULL);
	}
	if (fd >= 0)
		close(fd);
	netns_leave(&token);
	return code;
}

int sender_announce_begin(struct sender *sender)
{
	return announce_all(sender);
}

int sender_announce(struct sender *sender)
{
	const struct timespec drain = { .tv_nsec = PATH_DRAIN_NS };

	nanosleep(&drain, NULL);
	return announce_all(sender);
}

void sender_close(struct sender *sender)
{
	struct netns_token token;
	int entered;

	if (!sender)
		return;
	sender_stop(sender);
	entered = !netns_enter(sender->config.netns, &token);
	for (int i = 0; i < SENDER_MAX_WORKERS; i++) {
		const struct send_worker *worker = &sender->workers[i].send;

		if (worker->port)
			worker->ops->close(worker->port);
		free(sender->workers[i].frames);
	}
	if (entered)
		netns_leave(&token);
	free(sender);
}
