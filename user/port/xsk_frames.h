/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The frames of one stream, written into AF_XDP memory once, and who has them.
 *
 * Owns: laying templates out over chunks, free lists, which frame a returned chunk belongs to. Leaves to others: rings
 * and system calls (xsk_transmit.c), what is written into a frame (numbering.h). Pure: memory in, memory out; no
 * allocation, no lock. One thread.
 *
 * Theory. Frame n of a stream is made of template n mod T with source port + n mod F. Each template gets the same
 * number of frames, P, on a stack of its own; a frame of B bytes takes ceil(B / chunk) chunks that lie one behind the
 * other, and is free again when all of them came back (a driver may return them apart). So
 *     outstanding chunks + chunks of free frames = chunks of all frames            (always)
 * and a chunk is written to only while its frame is free. Stacks, not queues: the frame that came back last is the one
 * still in the cache. Frames of one chunk start at different places in their chunks, since lines at the same place of
 * 2-KiB chunks would share two sets of the first-level cache.
 */
#ifndef PORT_XSK_FRAMES_H
#define PORT_XSK_FRAMES_H

#include "port/numbering.h"
#include "port/port.h"

#define XSK_MAX_TRANSMIT_CHUNKS 4096
#define XSK_MAX_PARTS 16 /* chunks of one frame; the kernel takes 17 */

struct xsk_template {
	struct numbering numbering;
	unsigned int frame_bytes, parts; /* parts: chunks */
	unsigned int free_count;
};

struct xsk_frame {
	uint32_t offset;		 /* in the area, of the first byte */
	uint8_t template_index, missing; /* chunks that did not come back yet */
};

struct xsk_frames {
	/* given */
	unsigned char *area;	/* address 0 of the registered memory */
	uint64_t first_address; /* of the first chunk that is ours */
	unsigned int chunk_bytes, chunk_shift, chunks;
	/* of the stream */
	unsigned int template_count, per_template, flows;
	unsigned int next_template, next_flow;
	unsigned int outstanding; /* chunks that the kernel has */
	struct xsk_template templates[PORT_MAX_TEMPLATES];
	struct xsk_frame frames[XSK_MAX_TRANSMIT_CHUNKS];
	uint16_t stacks[XSK_MAX_TRANSMIT_CHUNKS]; /* template t: from t * per_template on */
	uint16_t frame_of_chunk[XSK_MAX_TRANSMIT_CHUNKS];
};

/* chunk_bytes is a power of two; chunks at most XSK_MAX_TRANSMIT_CHUNKS. */
void xsk_frames_init(struct xsk_frames *frames, unsigned char *area, uint64_t first_address, unsigned int chunk_bytes,
		     unsigned int chunks);
/* Lays out a stream; nothing may be outstanding. 0, -EBUSY when something is, -EMSGSIZE when a template needs more than
 * max_parts chunks or all of them do not fit, -EINVAL when a template has no test header, or not where it says. No
 * error text. */
int xsk_frames_prepare(struct xsk_frames *frames, const struct port_stream *stream, unsigned int max_parts);
/* Chunks that the next frame takes: 0 when no frame of its template is free. */
unsigned int xsk_frames_next_parts(const struct xsk_frames *frames);
/* Takes the next frame, whose xsk_frames_next_parts() is not 0, and numbers it; origin_ns 0: not stamped. */
const struct xsk_frame *xsk_frames_take(struct xsk_frames *frames, uint32_t sequence, uint64_t origin_ns);
/* A chunk came back. 0, or -EINVAL for an address that is not ours or that the kernel did not have. */
int xsk_frames_give_back(struct xsk_frames *frames, uint64_t address);

/* Whether an address lies in our chunks. */
static inline int xsk_frames_owns(const struct xsk_frames *frames, uint64_t address)
{
	return address - frames->first_address < (uint64_t)frames->chunks << frames->chunk_shift;
}

#endif
