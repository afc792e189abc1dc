/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames of a capture, as a stream: read into memory, pcap or pcapng, with libpcap.
 *
 * Two uses.
 * - REPLAY_SIZES: sizes and timing of the capture, headers and payload ours. Every frame is a test frame, so ledger and
 *   latency work as they do for any stream. Frames smaller than a test frame can be are raised to its smallest size.
 *   Carrying our header inside the capture's own frames was decided against: probes know a test frame by its UDP port
 *   and tag, and neither a TCP segment nor an ARP request can hold these and still be what it was.
 * - REPLAY_FRAMES: the frames as they are. They are counted where they leave; no ledger, no latency.
 * Both keep the times of the capture, or a rate when the user of port_stream sets interval_ns and leaves departures_ns
 * NULL. Several passes follow each other at the mean distance of frames.
 *
 * Limits: PORT_MAX_REPLAY frames, REPLAY_MAX_BYTES of captured data, Ethernet only. AF_PACKET is the port that sends
 * captures.
 */
#ifndef TRAFFIC_PCAP_REPLAY_H
#define TRAFFIC_PCAP_REPLAY_H

#include <stddef.h>

#include "port/port.h"
#include "traffic/frame.h"

#define REPLAY_MAX_BYTES (512u << 20)

enum replay_use { REPLAY_SIZES, REPLAY_FRAMES };

struct pcap_replay {
	struct port_template *templates; /* of every frame, in the order of the file */
	uint64_t *departures_ns;	 /* since the first frame; never decreasing */
	unsigned int count;		 /* 1…PORT_MAX_REPLAY */
	uint64_t pass_ns;	/* length of one pass; 0: all frames carry one time, so the capture gives no timing */
	unsigned int raised;	/* REPLAY_SIZES: frames that had to be made longer */
	unsigned int backwards; /* frames whose time was before that of the one in front: sent together with it */
	double mean_bytes;	/* of the frames as they will leave, without FCS */
	unsigned char *bytes;	/* what templates point into */
};

/*
 * Reads all of a file. spec gives REPLAY_SIZES its headers (frame_bytes is not looked at); it may be NULL for
 * REPLAY_FRAMES. 0, or -errno with error text that names file, frame, offset and reason: it cannot be opened, is no
 * capture, is cut off in the middle, is empty, is not Ethernet, has frames that were captured in part (REPLAY_FRAMES)
 * or are too long, is over the limits. To be freed in either case.
 */
int pcap_replay_read(const char *file, enum replay_use use, const struct frame_spec *spec, struct pcap_replay *replay);
void pcap_replay_free(struct pcap_replay *replay);
/* One line: frames, sizes, duration, mean rate, what was changed. Returns buffer. */
const char *pcap_replay_describe(const struct pcap_replay *replay, char *buffer, size_t size);

#endif
