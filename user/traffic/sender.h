/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A sender: one stream a worker, each worker a thread with a port of its own (a queue, a CPU), all of one run tag.
 *
 * Owns: threads, the ports they send through, starting and ending them, the frames that announce the end. Leaves to others:
 * when to stop and what to show (cmd/send.c). `hopcap run` has one source and many trials: traffic/source.h.
 */
#ifndef TRAFFIC_SENDER_H
#define TRAFFIC_SENDER_H

#include "model/run.h"
#include "port/port.h"
#include "traffic/frame.h"
#include "traffic/pcap_replay.h"

#define SENDER_MAX_WORKERS 8 /* as many as a sink has ledgers */

struct sender_config {
	char interface[16], netns[RUN_NAME_BYTES];
	enum run_port port;
	int workers;		     /* 1…SENDER_MAX_WORKERS; worker w sends stream w */
	int queue;		     /* AF_XDP: of the first worker; the others have the next ones */
	int cpu;		     /* of the first worker; the others next to it, -1: not pinned */
	struct frame_spec frame;     /* of all frames but for size and stream */
	const unsigned int *sizes;   /* frame_bytes of the templates, in order */
	int size_count;
	unsigned int flows, burst;
	double pps;		     /* of all workers together; 0: as fast as it goes */
	double ramp_s;
	uint64_t frames;	     /* of all workers together; 0: no limit but time */
	unsigned int stamp_interval; /* a power of two; 0: no frame is stamped */
	int busy_poll, qdisc, no_clones;
	unsigned int super_bytes;
	const struct pcap_replay *replay; /* instead of sizes, by AF_PACKET and one worker; NULL: none. Lives as long as the sender */
};

struct sender;

/* Opens the ports. 0 or -errno with error text. */
int sender_open(const struct sender_config *config, struct sender **sender);
/* One line: what was got. */
const char *sender_describe(const struct sender *sender);
/* Lets the workers go. 0 or -errno with error text. */
int sender_start(struct sender *sender);
/* Frames so far; any time. */
uint64_t sender_frames(const struct sender *sender);
/* All workers have ended by themselves. */
int sender_done(const struct sender *sender);
/* Ends the workers and waits for them. 0, or the first -errno of a worker with its error text; results are there in either case. */
int sender_stop(struct sender *sender);
/* What a worker sent, and the time from its first to its last departure. Valid after sender_stop. */
const struct port_sent *sender_result(const struct sender *sender, int worker, double *elapsed_s);
/* Before sender_start(): tells sinks that each stream begins, several times, so that they know that they saw it from the start. 0 or
 * -errno with error text. */
int sender_announce_begin(struct sender *sender);
/* After sender_stop(): tells sinks how many frames each stream had, several times. 0 or -errno with error text. */
int sender_announce(struct sender *sender);
void sender_close(struct sender *sender);

#endif
